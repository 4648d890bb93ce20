/* commands.c: the list of commands; `heddle help`, from which manual pages and completions come. */
#include <string.h>

#include "bench/options.h"
#include "shelf/calls.h"
#include "tool.h"

/* What every command takes besides; these are answered before a command runs. */
static const tool_option common_options[] = {
    {"--help", .text = "says what a command takes; -h likewise"},
    {"--version", .text = "says the version; -V likewise"},
};

static const tool_command the_tool = {
    .name = "",
    .summary = "Hash tables for GPUs and CPUs: measure them, choose one, keep them in files.",
    .options = common_options,
    .option_count = 2,
    .after = TOOL_EXIT_STATUS,
};

static const tool_command bench = {
    .name = "bench",
    .summary = "measures a container beside the machine's own rate",
    .text = "'heddle bench --sweep' is 'heddle bench map --sweep'.",
};

static const tool_command shelf = {
    .name = "shelf",
    .summary = "tables in files, larger than memory, from column files",
    .text = "A shelf is a table in a directory that may be larger than memory. Its keys, values "
            "and answers are files "
            "of numbers: raw little-endian ones, or NumPy's (.npy) of one dimension.\n\n"
            "How far a call is stands on stderr, if that is a terminal. A call that fails or is "
            "interrupted leaves the "
            "shelf as it was.",
    .examples = "  heddle shelf build people.shelf --keys keys.npy --values rows.npy --memory 8Gi\n"
                "  heddle shelf find people.shelf --keys queries.npy --values answers.npy --found "
                "found.npy\n",
};

/* -------------------------------------------------------------------------------------------- help */

typedef struct help_options {
    bool manual, list;
    const char *shell;
    const char *words[2];
} help_options;

static const tool_option help_options_known[] = {
    {"COMMAND", .wants = "a command", .usual = "", .text = "the command, such as shelf",
     .read = option_text, .at = offsetof(help_options, words[0])},
    {"SUBCOMMAND", .wants = "a command", .usual = "", .text = "what follows it, such as build",
     .read = option_text, .at = offsetof(help_options, words[1])},
    {"--list", .text = "the names of all commands, a line each", .read = option_true,
     .at = offsetof(help_options, list)},
    {"--man", .text = "the command's manual page, as man reads it", .read = option_true,
     .at = offsetof(help_options, manual)},
    {"--completion", .value = "SHELL", .words = "bash zsh",
     .text = "a script that completes command lines", .read = option_text,
     .at = offsetof(help_options, shell)},
};

static int list_commands(void)
{
    for (const tool_command *const *at = tool_commands; *at != NULL; at++)
        (void)printf("%s\n", (*at)->name);
    return TOOL_OK;
}

/* "bench-map" is "bench map", as manual pages are called. */
static int show(help_options *o)
{
    char name[64], *words[2] = {name, (char *)(uintptr_t)o->words[1]};
    int count = o->words[0] == NULL ? 0 : o->words[1] == NULL ? 1 : 2, found;
    (void)snprintf(name, sizeof name, "%s", count > 0 ? o->words[0] : "");
    char *const dash = strchr(name, '-');
    if (count == 1 && dash != NULL) {
        *dash = 0;
        words[1] = dash + 1;
        count = 2;
    }
    const tool_command *command = command_find(count, words, &found);
    if (found != count)
        return tool_refuse("there is no help on '%s%s%s'; try 'heddle help'", o->words[0],
                           o->words[1] != NULL ? " " : "", o->words[1] != NULL ? o->words[1] : "");
    if (o->manual) command_manual(command, stdout);
    else command_help(command, stdout);
    return TOOL_OK;
}

static int help_command(const tool_command *command, int argc, char **argv)
{
    help_options o = {false, false, NULL, {NULL, NULL}};
    const int status = command_read(command, argc, argv, &o);
    if (status != TOOL_OK) return status;
    if (o.list) return list_commands();
    if (o.shell == NULL) return show(&o);
    if (strcmp(o.shell, "bash") == 0) complete_bash(stdout);
    else complete_zsh(stdout);
    return TOOL_OK;
}

static const tool_command help_page = {
    .name = "help",
    .summary = "what a command does and takes",
    .options = help_options_known,
    .option_count = sizeof help_options_known / sizeof help_options_known[0],
    .run = help_command,
    .examples = "  heddle help bench map\n"
                "  heddle help --man bench map | man -l -\n",
};

/* -------------------------------------------------------------------------------------- the list */

const tool_command *const tool_commands[] = {
    &the_tool,
    &info_page,
    &advise_page,
    &bench,
    &bench_subjects[BENCH_MAP],
    &bench_subjects[BENCH_SET],
    &bench_subjects[BENCH_MULTIMAP],
    &bench_subjects[BENCH_COUNTER],
    &bench_subjects[BENCH_GRAPH],
    &bench_subjects[BENCH_JOIN],
    &bench_subjects[BENCH_GROUP],
    &bench_subjects[BENCH_UNIQUE],
    &bench_subjects[BENCH_FILTER],
    &bench_subjects[BENCH_MIXTURES],
    &dist_page,
    &shelf_bench_page,
    &skew_page,
    &shelf,
    &shelf_pages[SHELF_BUILD],
    &shelf_pages[SHELF_INSERT],
    &shelf_pages[SHELF_FIND],
    &shelf_pages[SHELF_COUNT],
    &shelf_pages[SHELF_ERASE],
    &shelf_pages[SHELF_EXPORT],
    &shelf_pages[SHELF_STATS],
    &shelf_pages[SHELF_VALIDATE],
    &help_page,
    NULL,
};
