/* main.c: the `heddle` program: finds the command and hands over to it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "progress.h"
#include "tool.h"

static void say(const char *format, va_list arguments)
{
    progress_hide();
    (void)fputs("heddle: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

void tool_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

int tool_refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return TOOL_REFUSED;
}

int tool_try(heddle_status status, const char *what)
{
    if (status == HEDDLE_OK) return TOOL_OK;
    const char *reason = heddle_last_error();
    if (reason[0] == '\0') reason = heddle_status_string(status);
    if (strstr(reason, what) != NULL) tool_say("%s", reason); /* a path is named once */
    else tool_say("%s: %s", what, reason);
    return TOOL_FAILED;
}

/* How many arguments the name of a command takes up, 0 if they are another's. */
static int name_length(const tool_command *command, int argc, char **argv)
{
    const char *rest = command->name;
    int words = 0;
    for (; *rest != '\0'; words++) {
        const size_t length = strcspn(rest, " ");
        if (words >= argc || strlen(argv[words]) != length ||
            strncmp(argv[words], rest, length) != 0)
            return 0;
        rest += length + (rest[length] == ' ');
    }
    return words;
}

const tool_command *command_find(int argc, char **argv, int *words)
{
    const tool_command *found = tool_commands[0]; /* the tool itself */
    *words = 0;
    for (const tool_command *const *at = tool_commands; *at != NULL; at++)
        if (name_length(*at, argc, argv) > *words) {
            *words = name_length(*at, argc, argv);
            found = *at;
        }
    return found;
}

static bool asks_for(int argc, char **argv, const char *name, const char *letter)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], name) == 0 || strcmp(argv[i], letter) == 0) return true;
    return false;
}

/* What follows a head is none of its commands. */
static int refuse_head(const tool_command *head, int argc, char **argv)
{
    char names[512] = "";
    const size_t length = strlen(head->name);
    if (length == 0) return tool_refuse("there is no command '%s'; try 'heddle help'", argv[0]);
    for (const tool_command *const *at = tool_commands; *at != NULL; at++)
        if (command_is_under(*at, head))
            (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                           names[0] != '\0' ? ", " : "", (*at)->name + length + 1);
    return tool_refuse("%s: name one of %s%s%s%s; try 'heddle help %s'", head->name, names,
                       argc > 0 ? ", not '" : "", argc > 0 ? argv[0] : "", argc > 0 ? "'" : "",
                       head->name);
}

static int run(int argc, char **argv)
{
    int words = 0;
    const tool_command *command = command_find(argc - 1, argv + 1, &words);
    if (argc < 2) {
        command_help(command, stderr);
        return TOOL_REFUSED;
    }
    argc -= words + 1;
    argv += words + 1;
    if (asks_for(argc, argv, "--help", "-h")) {
        command_help(command, stdout);
        return TOOL_OK;
    }
    if (asks_for(argc, argv, "--version", "-V")) {
        (void)printf("heddle %s\n", heddle_version_string());
        return TOOL_OK;
    }
    /* What is swept, if nothing is named. */
    if (strcmp(command->name, "bench") == 0 && argc > 0 && strncmp(argv[0], "--sweep", 7) == 0) {
        char *map[] = {"bench", "map"};
        command = command_find(2, map, &words);
    }
    if (command->run == NULL) return refuse_head(command, argc, argv);
    return command->run(command, argc + 1, argv - 1);
}

int main(int argc, char **argv)
{
    const int status = run(argc, argv);
    progress_hide();
    /* A full disk or a closed pipe must not look like success. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        tool_say("the output could not be written");
        return status == TOOL_OK ? TOOL_FAILED : status;
    }
    return status;
}
