/* main.c: the `heddle` program: finds the command and hands over to it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    tool_say("%s: %s", what, reason[0] != '\0' ? reason : heddle_status_string(status));
    return TOOL_FAILED;
}

static void help(FILE *to)
{
    (void)fputs(
        "heddle: hash tables for GPU and CPU\n"
        "\n"
        "  heddle info               devices, memory, features, compiled tables\n"
        "  heddle bench map|set ...  measure a table against the machine's own roof\n"
        "  heddle bench multimap|counter|graph|join|group|unique ...  the same of keys "
        "that repeat\n"
        "  heddle bench filter ...   the same of a Bloom filter\n"
        "  heddle bench dist ...     tables over several devices beside a single one\n"
        "  heddle bench shelf ...    tables larger than the memory they are allowed\n"
        "  heddle bench --sweep      the same over loads, buckets, hashes, hits and sizes\n"
        "  heddle skew [DEVICE [LOG2 PAIRS]]  builds from keys that repeat\n"
        "  heddle advise map|set|multimap|counter|filter ...  which scheme, and why\n"
        "  heddle shelf build|insert|find|count|erase|export|stats|validate DIRECTORY ...\n"
        "                            tables in files, larger than memory, from column files\n"
        "  heddle help [bench|dist|shelf|bench-shelf]  this text, or all options of bench,\n"
        "                            of bench dist, of shelf, of bench shelf\n"
        "  heddle --version          the version\n"
        "\n"
        "Exit status: 0 done and verified, 1 failed or wrong, 2 refused.\n",
        to);
}

static int help_command(int argc, char **argv)
{
    if (argc <= 1) help(stdout);
    else if (argc == 2 && strcmp(argv[1], "bench") == 0) bench_help();
    else if (argc == 2 && strcmp(argv[1], "dist") == 0) dist_help();
    else if (argc == 2 && strcmp(argv[1], "shelf") == 0) shelf_help();
    else if (argc == 2 && strcmp(argv[1], "bench-shelf") == 0) shelf_bench_help();
    else return tool_refuse("there is no help on '%s'; try 'heddle help'", argv[1]);
    return TOOL_OK;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return TOOL_REFUSED;
    }
    const char *command = argv[1];
    if (strcmp(command, "info") == 0) return info_command(argc - 1, argv + 1);
    if (strcmp(command, "bench") == 0 && argc > 2 && strcmp(argv[2], "dist") == 0)
        return dist_command(argc - 2, argv + 2);
    if (strcmp(command, "bench") == 0 && argc > 2 && strcmp(argv[2], "shelf") == 0)
        return shelf_bench_command(argc - 2, argv + 2);
    if (strcmp(command, "shelf") == 0) return shelf_command(argc - 1, argv + 1);
    if (strcmp(command, "bench") == 0) return bench_command(argc - 1, argv + 1);
    if (strcmp(command, "skew") == 0) return skew_command(argc - 1, argv + 1);
    if (strcmp(command, "advise") == 0) return advise_command(argc - 1, argv + 1);
    if (strcmp(command, "help") == 0) return help_command(argc - 1, argv + 1);
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0) {
        help(stdout);
        return TOOL_OK;
    }
    if (strcmp(command, "--version") == 0) {
        (void)printf("heddle %s\n", heddle_version_string());
        return TOOL_OK;
    }
    return tool_refuse("there is no command '%s'; try 'heddle help'", command);
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
