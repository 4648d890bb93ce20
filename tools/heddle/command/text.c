/* text.c: paragraphs in lines, and the words of an option in a sentence; see command.h. */
#include <string.h>

#include "command/command.h"

static void start_line(FILE *to, int margin) { (void)fprintf(to, "\n%*s", margin, ""); }

/* One paragraph, up to an empty line; returns its end. */
static const char *print_paragraph(FILE *to, const char *text, int column, int margin, int width)
{
    bool first = true;
    while (*text != 0 && strncmp(text, "\n\n", 2) != 0) {
        if (*text == '\n' && text[1] == ' ') { /* a line that stays as it is */
            const int length = (int)strcspn(text + 1, "\n");
            start_line(to, margin);
            (void)fprintf(to, "%.*s", length, text + 1);
            text += 1 + length;
            column = width;
            continue;
        }
        if (*text == ' ' || *text == '\n') {
            text++;
            continue;
        }
        const int length = (int)strcspn(text, " \n");
        if (!first && column + 1 + length > width) {
            start_line(to, margin);
            column = margin;
            first = true;
        }
        (void)fprintf(to, "%s%.*s", first ? "" : " ", length, text);
        column += length + !first;
        first = false;
        text += length;
    }
    return text;
}

void text_print(FILE *to, const char *text, int column, int margin, int width)
{
    for (;;) {
        text = print_paragraph(to, text, column, margin, width);
        if (*text == 0) break;
        while (*text == '\n') text++;
        (void)fputc('\n', to);
        start_line(to, margin);
        column = margin;
    }
    (void)fputc('\n', to);
}

static void append(char *text, size_t size, const char *more, size_t length)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%.*s", (int)length, more);
}

void option_words(const tool_option *option, const char *between, char words[TOOL_WORDS_MAX])
{
    words[0] = 0;
    for (const tool_word *word = option->explained; word != NULL && word->name != NULL; word++) {
        if (words[0] != 0) append(words, TOOL_WORDS_MAX, between, strlen(between));
        append(words, TOOL_WORDS_MAX, word->name, strlen(word->name));
    }
    for (const char *word = option->words; word != NULL && *word != 0;) {
        const size_t length = strcspn(word, " ");
        if (words[0] != 0) append(words, TOOL_WORDS_MAX, between, strlen(between));
        append(words, TOOL_WORDS_MAX, word, length);
        word += length + (word[length] == ' ');
    }
}

void option_sentence(const tool_option *option, char sentence[TOOL_SENTENCE_MAX])
{
    char words[TOOL_WORDS_MAX];
    const char *before = ": ", *after = "", *takes = words, *value = option->value;
    const bool usual = option->usual != NULL && option->usual[0] != 0;
    option_words(option, ", ", words);
    if (option->explained != NULL) words[0] = 0; /* they are listed below */
    else if (words[0] == 0 && value != NULL && strcmp(value, "FILE") != 0 &&
             strcmp(value, "DIR") != 0 && strcmp(value, "TEXT") != 0) {
        takes = option->wants;
        before = " (";
        after = ")";
    }
    if (takes[0] == 0) before = "";
    (void)snprintf(sentence, TOOL_SENTENCE_MAX, "%s%s%s%s%s%s%s", option->text, before, takes,
                   after, usual ? " [" : "", usual ? option->usual : "", usual ? "]" : "");
}
