/* options.c: the options of `heddle shelf`; see calls.h. */
#include "shelf/calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Who takes an option. */
#define BUILD (1u << SHELF_BUILD)
#define INSERT (1u << SHELF_INSERT)
#define FIND (1u << SHELF_FIND)
#define COUNT (1u << SHELF_COUNT)
#define ERASE (1u << SHELF_ERASE)
#define EXPORT (1u << SHELF_EXPORT)

#define AT(FIELD) .at = offsetof(shelf_options, FIELD)

static const tool_option options[] = {
    {"DIRECTORY", .wants = "a directory", .text = "the shelf", .read = option_text, AT(directory)},
    {"--keys", .value = "FILE", .wants = "a file", .text = "read: the keys; it is needed",
     .read = option_text, AT(keys), .takers = BUILD | INSERT | FIND | COUNT | ERASE},
    {"--keys", .value = "FILE", .wants = "a file", .text = "written: all keys; it is needed",
     .read = option_text, AT(keys), .takers = EXPORT},
    {"--values", .value = "FILE", .wants = "a file", .text = "read: the values of the keys",
     .read = option_text, AT(values), .takers = BUILD | INSERT},
    {"--values", .value = "FILE", .wants = "a file", .text = "written: the values of the keys",
     .read = option_text, AT(values), .takers = FIND | EXPORT},
    {"--found", .value = "FILE", .wants = "a file", .text = "written: a byte for every key, 1 or 0",
     .read = option_text, AT(found), .takers = FIND | ERASE},
    {"--matches", .value = "FILE", .wants = "a file",
     .text = "written: how many values every key has, in 64 bits; it is needed",
     .read = option_text, AT(matches), .takers = COUNT},
    {"--policy", .value = "NAME", .words = "keep replace add min max", .usual = "keep",
     .text = "what becomes of keys that are there already", .read = option_word, AT(policy),
     .takers = BUILD | INSERT},
    {"--container", .value = "NAME", .words = "map set multimap counter",
     .usual = "map; set without --values", .text = "container of a shelf that is made",
     .read = option_word, AT(container), .first = HEDDLE_CONTAINER_MAP, .takers = BUILD},
    {"--scheme", .value = "NAME", .words = "auto cuckoo hashgraph open iceberg bucket_list slab",
     .usual = "auto", .text = "scheme of a shelf that is made", .read = option_word, AT(scheme),
     .takers = BUILD},
    {"--key-bits", .value = "BITS", .words = "32 64", .usual = "of the .npy file, or 64",
     .text = "width of its keys", .read = option_bits, AT(key_bits), .takers = BUILD},
    {"--value-bits", .value = "BITS", .words = "32 64", .usual = "of the .npy file, or 64",
     .text = "width of its values", .read = option_bits, AT(value_bits), .takers = BUILD},
    {"--seed", .value = "NUMBER", .wants = "a number from 1 to 10^19", .usual = "drawn",
     .text = "of the hash that divides its keys", .read = option_number, AT(seed), .first = 1,
     .takers = BUILD},
    {"--memory", .value = "BYTES", .wants = "a count like 8Gi", .usual = "half of what is free",
     .text = "what the call keeps to", .read = option_count, AT(memory), .first = 1},
    {"--device", .value = "NAME", .words = "auto cpu cpu:THREADS cuda cuda:N", .usual = "auto",
     .text = "where it runs", .read = option_text, AT(device)},
    {"--scratch", .value = "DIR", .wants = "a directory", .usual = "the shelf's directory",
     .text = "where batches are sorted", .read = option_text, AT(scratch)},
};

static const char build_after[] = "A shelf that is there keeps its container, scheme, widths and "
                                  "seed. Options that say something else, and --seed, are refused.";

#define PAGE(PLACE, NAME, SUMMARY, AFTER)                                                          \
    [PLACE] = {.name = "shelf " NAME,                                                              \
               .summary = SUMMARY,                                                                 \
               .options = options,                                                                 \
               .option_count = sizeof options / sizeof options[0],                                 \
               .bit = 1u << (PLACE),                                                               \
               .after = AFTER,                                                                     \
               .run = shelf_command}

static int shelf_command(const tool_command *command, int argc, char **argv);

const tool_command shelf_pages[SHELF_COMMANDS] = {
    PAGE(SHELF_BUILD, "build", "empties the shelf, made if it is not there, and inserts",
         build_after),
    PAGE(SHELF_INSERT, "insert", "inserts keys with values", NULL),
    PAGE(SHELF_FIND, "find", "looks keys up, and writes their values", NULL),
    PAGE(SHELF_COUNT, "count", "how many values every key has", NULL),
    PAGE(SHELF_ERASE, "erase", "erases keys", NULL),
    PAGE(SHELF_EXPORT, "export", "writes all keys and their values", NULL),
    PAGE(SHELF_STATS, "stats", "what the shelf is and holds", NULL),
    PAGE(SHELF_VALIDATE, "validate", "checks everything", NULL),
};

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (a == NULL || b == NULL) return false;
    return strcmp(a, b) == 0 || (stat(a, &first) == 0 && stat(b, &second) == 0 &&
                                 first.st_dev == second.st_dev && first.st_ino == second.st_ino);
}

/* Whether the file at `path`, or what a link there leads to, lies in the directory. */
static bool lies_in(const char *path, const char *directory)
{
    char *const real = realpath(path, NULL);
    char *const folder = strdup(real != NULL ? real : path);
    bool lies = false;
    if (folder != NULL) {
        char *const slash = strrchr(folder, '/');
        if (slash != NULL) *(slash == folder ? slash + 1 : slash) = 0;
        lies = is_same_file(slash != NULL ? folder : ".", directory);
    }
    free(folder);
    free(real);
    return lies;
}

/* Files that are written do not become the shelf's own. */
static int check_outside(const shelf_options *o)
{
    const bool writes = o->command == SHELF_FIND || o->command == SHELF_COUNT ||
                        o->command == SHELF_ERASE || o->command == SHELF_EXPORT;
    const char *const files[] = {o->command == SHELF_EXPORT ? o->keys : NULL, o->values, o->found,
                                 o->matches};
    for (int i = 0; writes && i < 4; i++)
        if (files[i] != NULL && lies_in(files[i], o->directory))
            return tool_refuse("%s would be in %s, whose files are the shelf's own", files[i],
                               o->directory);
    return TOOL_OK;
}

/* A file that is written is emptied first. */
static int check_different(const shelf_options *o)
{
    const char *const files[] = {o->keys, o->values, o->found, o->matches};
    if (o->command == SHELF_BUILD || o->command == SHELF_INSERT) return TOOL_OK; /* all are read */
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (is_same_file(files[i], files[j]))
                return tool_refuse("%s and %s are one file", files[i], files[j]);
    return TOOL_OK;
}

/* The files that a command needs, and no more of them than it can do with. */
static int check_files(const shelf_options *o)
{
    const bool reads = o->command != SHELF_STATS && o->command != SHELF_VALIDATE;
    if (reads && o->keys == NULL) return tool_refuse("this needs --keys; try 'heddle help shelf'");
    if (o->matches == NULL && o->command == SHELF_COUNT)
        return tool_refuse("count needs --matches; try 'heddle help shelf count'");
    const int status = check_outside(o);
    return status == TOOL_OK ? check_different(o) : status;
}

static int shelf_command(const tool_command *command, int argc, char **argv)
{
    shelf_options o;
    memset(&o, 0, sizeof o);
    o.device = "auto";
    while (command->bit != 1u << o.command) o.command++;
    int status = command_read(command, argc, argv, &o);
    if (status == TOOL_OK) status = check_files(&o);
    return status == TOOL_OK ? shelf_run(&o) : status;
}
