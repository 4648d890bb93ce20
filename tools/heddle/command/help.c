/* help.c: the help of a command, from its table; see command.h. */
#include <string.h>

#include "command/command.h"

#define WIDTH 90
#define COLUMN 24 /* where texts of options begin */

void command_synopsis(const tool_command *command, char *synopsis, size_t size)
{
    bool options = false;
    (void)snprintf(synopsis, size, command->run == NULL ? " COMMAND" : "%s", "");
    for (uint32_t i = 0; i < command->option_count; i++) {
        const tool_option *option = &command->options[i];
        const size_t used = strlen(synopsis);
        if (!command_shows(command, option)) continue;
        if (!option_is_argument(option)) options = true;
        else
            (void)snprintf(synopsis + used, size - used, option->usual != NULL ? " [%s]" : " %s",
                           option->name);
    }
    const size_t used = strlen(synopsis);
    if (options || command->run == NULL) (void)snprintf(synopsis + used, size - used, " [options]");
}

static void print_words(const tool_word *words, FILE *to)
{
    int longest = 0;
    for (const tool_word *word = words; word->name != NULL; word++)
        if ((int)strlen(word->name) > longest) longest = (int)strlen(word->name);
    for (const tool_word *word = words; word->name != NULL; word++) {
        (void)fprintf(to, "      %-*s  ", longest, word->name);
        text_print(to, word->text, 8 + longest, 8 + longest, WIDTH);
    }
}

static void print_option(const tool_option *option, FILE *to)
{
    char sentence[TOOL_SENTENCE_MAX];
    const char *between = option->value == NULL ? "" : option->joined ? "[=" : " ";
    const int used = fprintf(to, "  %s%s%s%s", option->name, between,
                             option->value != NULL ? option->value : "", option->joined ? "]" : "");
    option_sentence(option, sentence);
    if (used > COLUMN - 1) (void)fprintf(to, "\n%*s", COLUMN, "");
    else (void)fprintf(to, "%*s", COLUMN - used, "");
    text_print(to, sentence, COLUMN, COLUMN, WIDTH);
    if (option->explained != NULL) print_words(option->explained, to);
}

static void print_options(const tool_command *command, bool arguments, FILE *to)
{
    bool any = false;
    for (uint32_t i = 0; i < command->option_count; i++) {
        const tool_option *option = &command->options[i];
        if (!command_shows(command, option) || option_is_argument(option) != arguments) continue;
        if (!any) (void)fprintf(to, arguments ? "\nArguments:\n" : "\nOptions:\n");
        any = true;
        print_option(option, to);
    }
}

/* Those under a head; all that are under none, for the tool itself. */
static void print_commands(const tool_command *head, FILE *to)
{
    const bool all = head->name[0] == 0;
    (void)fprintf(to, "\nCommands:\n");
    for (const tool_command *const *at = tool_commands; *at != NULL; at++) {
        const bool below = strchr((*at)->name, ' ') != NULL;
        if ((*at)->name[0] == 0 || (all ? below : !command_is_under(*at, head))) continue;
        (void)fprintf(to, "  %-*s  ", all ? 8 : 16, (*at)->name);
        text_print(to, (*at)->summary, all ? 12 : 20, all ? 12 : 20, WIDTH);
    }
}

void command_help(const tool_command *command, FILE *to)
{
    char synopsis[256];
    command_synopsis(command, synopsis, sizeof synopsis);
    (void)fprintf(to, "heddle%s%s%s\n%s\n", command->name[0] != 0 ? " " : "", command->name,
                  synopsis, command->summary);
    if (command->text != NULL) {
        (void)fputc('\n', to);
        text_print(to, command->text, 0, 0, WIDTH);
    }
    if (command->run == NULL) print_commands(command, to);
    print_options(command, true, to);
    print_options(command, false, to);
    if (command->after != NULL) {
        (void)fputc('\n', to);
        text_print(to, command->after, 0, 0, WIDTH);
    }
    if (command->examples != NULL) (void)fprintf(to, "\nExamples:\n%s", command->examples);
    if (command->run != NULL) (void)fprintf(to, "\nAn option is written --x VALUE or --x=VALUE.\n");
    if (command->run == NULL)
        (void)fprintf(to, "\n'heddle help%s%s COMMAND' or 'heddle%s%s COMMAND --help' says more.\n",
                      command->name[0] != 0 ? " " : "", command->name,
                      command->name[0] != 0 ? " " : "", command->name);
}
