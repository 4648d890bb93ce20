/* options.c: the options of `heddle shelf`; see command.h. */
#include "shelf/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "read.h"

static const char usage[] =
    "heddle shelf COMMAND DIRECTORY [options]\n"
    "\n"
    "A shelf is a table in a directory that may be larger than memory. Its keys, values and "
    "answers\n"
    "are files of numbers: raw little-endian ones, or NumPy's (.npy) of one dimension.\n"
    "\n"
    "  build     empty the shelf, made if it is not there, and insert --keys with --values\n"
    "  insert    insert --keys with --values\n"
    "  find      look --keys up; write their values to --values, flags to --found\n"
    "  count     how many values every key of --keys has, to --matches (64 bits)\n"
    "  erase     erase --keys; flags to --found\n"
    "  export    write all keys to --keys and their values to --values\n"
    "  stats     what the shelf is and holds\n"
    "  validate  check everything\n"
    "\n"
    "  --keys FILE        read; written by export\n"
    "  --values FILE      read by build and insert; written by find and export\n"
    "  --found FILE       written: a byte for every key, 1 or 0\n"
    "  --matches FILE     written\n"
    "  --memory BYTES     that calls keep to, such as 8Gi                [half of what is free]\n"
    "  --device NAME      auto, cpu, cpu:THREADS, cuda:N                 [auto]\n"
    "  --scratch DIR      where batches are sorted                       [the shelf's directory]\n"
    "  --policy NAME      keep, replace, add, min, max: of keys that are there already    [keep]\n"
    "of a shelf that build makes:\n"
    "  --container NAME   map, set, multimap, counter                    [map; set without "
    "--values]\n"
    "  --scheme NAME      auto, cuckoo, hashgraph, open, iceberg, bucket_list, slab       [auto]\n"
    "  --key-bits BITS    32, 64                                         [of the .npy file, or "
    "64]\n"
    "  --value-bits BITS  32, 64                                         [of the .npy file, or "
    "64]\n"
    "  --seed NUMBER      of the hash that divides the keys              [drawn]\n"
    "\n"
    "How far it is stands on stderr, if that is a terminal. A call that fails or is interrupted\n"
    "leaves the shelf as it was.\n";

void shelf_help(void) { (void)fputs(usage, stdout); }

static bool read_word(const char *text, const char *const *words, uint32_t count, uint32_t *word)
{
    *word = bench_read_word(text, words, count);
    return *word != count;
}

static bool read_bits(const char *text, uint32_t *bits)
{
    static const uint32_t choices[] = {32, 64, UINT32_MAX};
    return bench_read_choice(text, choices, bits);
}

/* Options that are texts; false when there is no such one. */
static bool read_text(const char *name, const char *value, shelf_options *o)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"--keys", &o->keys},       {"--values", &o->values}, {"--found", &o->found},
                 {"--matches", &o->matches}, {"--device", &o->device}, {"--scratch", &o->scratch}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].text = value;
            return true;
        }
    return false;
}

/* An option with a value; false when the value is bad, *known when there is such an option. */
static bool read_option(const char *name, const char *value, shelf_options *o, bool *known)
{
    static const char *const containers[] = {"", "map", "set", "multimap", "counter"};
    static const char *const schemes[] = {"auto",    "cuckoo",      "hashgraph", "open",
                                          "iceberg", "bucket_list", "slab"};
    static const char *const policies[] = {"keep", "replace", "add", "min", "max"};
    *known = true;
    if (*value == 0) return false;
    if (read_text(name, value, o)) return true;
    if (strcmp(name, "--container") == 0) return read_word(value, containers, 5, &o->container);
    if (strcmp(name, "--scheme") == 0) return read_word(value, schemes, 7, &o->scheme);
    if (strcmp(name, "--policy") == 0) return read_word(value, policies, 5, &o->policy);
    if (strcmp(name, "--key-bits") == 0) return read_bits(value, &o->key_bits);
    if (strcmp(name, "--value-bits") == 0) return read_bits(value, &o->value_bits);
    if (strcmp(name, "--memory") == 0) return bench_read_count(value, &o->memory) && o->memory != 0;
    if (strcmp(name, "--seed") == 0) return bench_read_whole(value, 1, UINT64_MAX, &o->seed);
    *known = false;
    return true;
}

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

/* The files that a command needs, and those that it takes. */
static int check_files(const shelf_options *o)
{
    const bool reads = o->command != SHELF_STATS && o->command != SHELF_VALIDATE;
    if (reads && o->keys == NULL) return tool_refuse("this needs --keys; try 'heddle help shelf'");
    if (!reads && (o->keys != NULL || o->values != NULL))
        return tool_refuse("this takes no files; try 'heddle help shelf'");
    if (o->found != NULL && o->command != SHELF_FIND && o->command != SHELF_ERASE)
        return tool_refuse("--found is for find and erase");
    if ((o->matches != NULL) != (o->command == SHELF_COUNT))
        return tool_refuse(o->matches != NULL ? "--matches is for count" : "count needs --matches");
    if (o->values != NULL && (o->command == SHELF_COUNT || o->command == SHELF_ERASE))
        return tool_refuse("count and erase take no --values");
    const int status = check_outside(o);
    return status == TOOL_OK ? check_different(o) : status;
}

static int read_all(int argc, char **argv, shelf_options *o)
{
    for (int i = 3; i < argc; i++) {
        char name[32];
        const char *equals = strchr(argv[i], '='), *value;
        const size_t length = equals != NULL ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        bool known = false;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), argv[i]);
        value = equals != NULL ? equals + 1 : i + 1 < argc ? argv[++i] : "";
        if (!read_option(name, value, o, &known))
            return tool_refuse("'%s' is no value for %s; try 'heddle help shelf'", value, name);
        if (!known) return tool_refuse("shelf has no option '%s'; try 'heddle help shelf'", name);
    }
    return check_files(o);
}

int shelf_command(int argc, char **argv)
{
    static const char *const commands[SHELF_COMMANDS] = {"build", "insert", "find",  "count",
                                                         "erase", "export", "stats", "validate"};
    shelf_options o;
    memset(&o, 0, sizeof o);
    o.device = "auto";
    if (argc < 3)
        return tool_refuse("shelf needs a command and a directory; try 'heddle help shelf'");
    if (!read_word(argv[1], commands, SHELF_COMMANDS, &o.command))
        return tool_refuse("there is no 'shelf %s'; try 'heddle help shelf'", argv[1]);
    o.directory = argv[2];
    const int status = read_all(argc, argv, &o);
    return status == TOOL_OK ? shelf_run(&o) : status;
}
