/* man.c: a command's manual page, from its table; see command.h. */
#include <ctype.h>
#include <heddle/heddle.h>
#include <string.h>

#include "command/command.h"

/* Text as roff reads it: no line of it is a request. */
static void print_text(FILE *to, const char *text)
{
    bool starts = true;
    for (; *text != 0; text++) {
        if (strncmp(text, "\n\n", 2) == 0) {
            (void)fputs("\n.PP\n", to);
            text++;
            starts = true;
            continue;
        }
        if (starts && (*text == '.' || *text == '\'')) (void)fputs("\\&", to);
        if (*text == '\\') (void)fputs("\\e", to);
        else if (*text == '-') (void)fputs("\\-", to);
        else if (*text == '^') (void)fputs("\\(ha", to);
        else if (*text == '\'') (void)fputs("\\(aq", to);
        else if (*text == '~') (void)fputs("\\(ti", to);
        else (void)fputc(*text, to);
        starts = *text == '\n';
    }
    (void)fputc('\n', to);
}

/* "heddle-bench-map", as pages are called. */
static void print_page_name(FILE *to, const char *name, bool loud)
{
    const char *parts[] = {"heddle", name[0] != 0 ? "-" : "", name};
    for (int i = 0; i < 3; i++)
        for (const char *at = parts[i]; *at != 0; at++) {
            if (*at == '-' || *at == ' ') (void)fputs("\\-", to);
            else (void)fputc(loud ? toupper((unsigned char)*at) : *at, to);
        }
}

static void print_words(const tool_word *words, FILE *to)
{
    (void)fputs(".RS\n", to);
    for (const tool_word *word = words; word->name != NULL; word++) {
        (void)fprintf(to, ".TP 12\n.B %s\n", word->name);
        print_text(to, word->text);
    }
    (void)fputs(".RE\n", to);
}

static void print_options(const tool_command *command, bool arguments, FILE *to)
{
    char sentence[TOOL_SENTENCE_MAX];
    bool any = false;
    for (uint32_t i = 0; i < command->option_count; i++) {
        const tool_option *option = &command->options[i];
        if (!command_shows(command, option) || option_is_argument(option) != arguments) continue;
        if (!any) (void)fprintf(to, ".SH %s\n", arguments ? "ARGUMENTS" : "OPTIONS");
        any = true;
        (void)fputs(".TP\n\\fB", to);
        for (const char *at = option->name; *at != 0; at++)
            (void)fprintf(to, "%s%c", *at == '-' ? "\\" : "", *at);
        (void)fputs("\\fR", to);
        if (option->value != NULL)
            (void)fprintf(to, option->joined ? "[=\\fI%s\\fR]" : " \\fI%s\\fR", option->value);
        (void)fputc('\n', to);
        option_sentence(option, sentence);
        print_text(to, sentence);
        if (option->explained != NULL) print_words(option->explained, to);
    }
}

static bool is_shown_under(const tool_command *command, const tool_command *head)
{
    if (head->name[0] != 0) return command_is_under(command, head);
    return command->name[0] != 0;
}

static void print_commands(const tool_command *head, FILE *to)
{
    (void)fputs(".SH COMMANDS\n", to);
    for (const tool_command *const *at = tool_commands; *at != NULL; at++) {
        if (!is_shown_under(*at, head)) continue;
        (void)fprintf(to, ".TP 20\n.B %s\n", (*at)->name);
        print_text(to, (*at)->summary);
    }
}

/* The pages above and below, and the tool's own. */
static void print_neighbours(const tool_command *command, FILE *to)
{
    const tool_command *const tool = tool_commands[0];
    bool any = false;
    (void)fputs(".SH SEE ALSO\n", to);
    for (const tool_command *const *at = tool_commands; *at != NULL; at++) {
        const bool above = command_is_under(command, *at);
        const bool below = command == tool ? *at != tool && strchr((*at)->name, ' ') == NULL
                                           : command_is_under(*at, command);
        if (!above && !below && (*at != tool || command == tool)) continue;
        (void)fputs(any ? ",\n.BR " : ".BR ", to);
        print_page_name(to, (*at)->name, false);
        (void)fputs(" (1)", to);
        any = true;
    }
    (void)fputc('\n', to);
}

void command_manual(const tool_command *command, FILE *to)
{
    char synopsis[256];
    command_synopsis(command, synopsis, sizeof synopsis);
    (void)fputs(".TH ", to);
    print_page_name(to, command->name, true);
    (void)fprintf(to, " 1 \"\" \"heddle %s\" \"Heddle\"\n.nh\n.ad l\n.SH NAME\n",
                  heddle_version_string());
    print_page_name(to, command->name, false);
    (void)fputs(" \\- ", to);
    print_text(to, command->summary);
    (void)fprintf(to, ".SH SYNOPSIS\n\\fBheddle%s%s\\fR%s\n", command->name[0] != 0 ? " " : "",
                  command->name, synopsis);
    if (command->text != NULL) {
        (void)fputs(".SH DESCRIPTION\n", to);
        print_text(to, command->text);
    }
    if (command->run == NULL) print_commands(command, to);
    print_options(command, true, to);
    print_options(command, false, to);
    if (command->after != NULL && command->name[0] != 0) {
        (void)fputs(".SH NOTES\n", to);
        print_text(to, command->after);
    }
    if (command->examples != NULL) {
        (void)fputs(".SH EXAMPLES\n.nf\n", to);
        print_text(to, command->examples);
        (void)fputs(".fi\n", to);
    }
    (void)fputs(".SH EXIT STATUS\n", to);
    print_text(to, &TOOL_EXIT_STATUS[strlen("Exit status: ")]);
    print_neighbours(command, to);
}
