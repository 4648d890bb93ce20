/* read.c: reads arguments by a command's table; see command.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "read.h"
#include "tool.h"

bool option_is_argument(const tool_option *option) { return option->name[0] != '-'; }

bool command_takes(const tool_command *command, const tool_option *option)
{
    return option->takers == 0 || (option->takers & command->bit) != 0;
}

bool command_shows(const tool_command *command, const tool_option *option)
{
    return command_takes(command, option) && option->text != NULL;
}

bool command_is_under(const tool_command *command, const tool_command *head)
{
    const size_t length = strlen(head->name);
    return head->run == NULL && strncmp(command->name, head->name, length) == 0 &&
           command->name[length] == ' ';
}

/* ----------------------------------------------------------------------------------------- readers */

static void *place(void *to, const tool_option *option) { return (char *)to + option->at; }

bool option_text(void *to, const tool_option *option, const char *text)
{
    *(const char **)place(to, option) = text;
    return *text != 0;
}

bool option_word(void *to, const tool_option *option, const char *text)
{
    const size_t length = strlen(text);
    uint32_t number = option->first;
    for (const tool_word *word = option->explained; word != NULL && word->name != NULL; word++) {
        if (strcmp(word->name, text) == 0) break;
        number++;
    }
    for (const char *word = option->words; word != NULL; number++) {
        if (strcspn(word, " ") == length && strncmp(word, text, length) == 0) break;
        word = strchr(word, ' ');
        if (word == NULL) return false;
        word++;
    }
    *(uint32_t *)place(to, option) = number;
    return true;
}

bool option_bits(void *to, const tool_option *option, const char *text)
{
    *(uint32_t *)place(to, option) = (uint32_t)strtoul(text, NULL, 10);
    return true; /* it is one of the words */
}

bool option_count(void *to, const tool_option *option, const char *text)
{
    uint64_t *const count = (uint64_t *)place(to, option);
    return bench_read_count(text, count) && *count >= option->first;
}

bool option_number(void *to, const tool_option *option, const char *text)
{
    return bench_read_whole(text, option->first, UINT64_MAX, (uint64_t *)place(to, option));
}

bool option_true(void *to, const tool_option *option, const char *text)
{
    (void)text;
    *(bool *)place(to, option) = true;
    return true;
}

bool option_false(void *to, const tool_option *option, const char *text)
{
    (void)text;
    *(bool *)place(to, option) = false;
    return true;
}

/* ------------------------------------------------------------------------------------------- words */

/* Whether text is the word; capitals at its end stand for anything. */
static bool is_word(const char *word, size_t word_length, const char *text, size_t length)
{
    size_t fixed = 0;
    while (fixed < word_length && !isupper((unsigned char)word[fixed])) fixed++;
    if (fixed < word_length) return length > fixed && strncmp(word, text, fixed) == 0;
    return word_length == length && strncmp(word, text, length) == 0;
}

static bool is_one_of(const tool_option *option, const char *text, size_t length)
{
    for (const tool_word *word = option->explained; word != NULL && word->name != NULL; word++)
        if (is_word(word->name, strlen(word->name), text, length)) return true;
    for (const char *word = option->words; word != NULL && *word != 0;) {
        const size_t word_length = strcspn(word, " ");
        if (is_word(word, word_length, text, length)) return true;
        word += word_length + (word[word_length] == ' ');
    }
    return false;
}

/* Whether the text, or every item of a list, is among the words, if there are any. */
static bool has_words(const tool_option *option, const char *text)
{
    const bool list = option->value != NULL && strcmp(option->value, "LIST") == 0;
    if (option->words == NULL && option->explained == NULL) return true;
    for (;;) {
        const size_t length = list ? strcspn(text, ",") : strlen(text);
        if (!is_one_of(option, text, length)) return false;
        if (text[length] == 0) return true;
        text += length + 1;
    }
}

/* --------------------------------------------------------------------------------------- arguments */

static int refuse_value(const tool_command *command, const tool_option *option, const char *text)
{
    const bool list = option->value != NULL && strcmp(option->value, "LIST") == 0;
    char words[TOOL_WORDS_MAX];
    option_words(option, ", ", words);
    return tool_refuse("%s: %s takes %s%s, not '%s'", command->name, option->name,
                       words[0] != 0 ? words : option->wants,
                       list ? ", with commas in between" : "", text);
}

/* `text` is NULL where no value is given. */
static int take(const tool_command *command, const tool_option *option, const char *text, void *to)
{
    const bool is_switch = option->value == NULL && !option_is_argument(option);
    if (is_switch && text != NULL)
        return tool_refuse("%s: %s takes no value", command->name, option->name);
    if (text == NULL) return option->read(to, option, "") ? TOOL_OK : TOOL_REFUSED;
    if (has_words(option, text) && option->read(to, option, text)) return TOOL_OK;
    return refuse_value(command, option, text);
}

/* The option with that name, or the argument with that place. */
static const tool_option *find(const tool_command *command, const char *name, size_t length,
                               uint32_t argument)
{
    for (uint32_t i = 0; i < command->option_count; i++) {
        const tool_option *option = &command->options[i];
        if (!command_takes(command, option)) continue;
        if (name == NULL && option_is_argument(option) && argument-- == 0) return option;
        if (name != NULL && strlen(option->name) == length &&
            strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

/* Reads argv[*at], and the argument behind it when that is its value. */
static int read_option(const tool_command *command, int argc, char **argv, int *at, void *to)
{
    const char *text = argv[*at];
    const size_t length = strcspn(text, "=");
    const tool_option *option = find(command, text, length, 0);
    char words[TOOL_WORDS_MAX];
    if (option == NULL)
        return tool_refuse("%s: there is no option '%s'; try 'heddle help %s'", command->name, text,
                           command->name);
    if (text[length] == '=') return take(command, option, text + length + 1, to);
    if (option->value == NULL || option->joined) return take(command, option, NULL, to);
    if (*at + 1 < argc) return take(command, option, argv[++*at], to);
    option_words(option, ", ", words);
    return tool_refuse("%s: %s is followed by %s", command->name, option->name,
                       words[0] != 0 ? words : option->wants);
}

int command_read(const tool_command *command, int argc, char **argv, void *to)
{
    uint32_t arguments = 0;
    int status = TOOL_OK;
    for (int at = 1; at < argc && status == TOOL_OK; at++) {
        if (argv[at][0] == '-') {
            status = read_option(command, argc, argv, &at, to);
            continue;
        }
        const tool_option *option = find(command, NULL, 0, arguments++);
        status = option != NULL
                     ? take(command, option, argv[at], to)
                     : tool_refuse("%s: there is one argument too many, '%s'; try 'heddle help %s'",
                                   command->name, argv[at], command->name);
    }
    const tool_option *missing = find(command, NULL, 0, arguments);
    if (status != TOOL_OK || missing == NULL || missing->usual != NULL) return status;
    char words[TOOL_WORDS_MAX];
    option_words(missing, ", ", words);
    return tool_refuse("%s: %s is missing%s%s; try 'heddle help %s'", command->name, missing->name,
                       words[0] != 0 ? ": " : "", words, command->name);
}
