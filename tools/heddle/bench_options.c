/* bench_options.c: the arguments of `heddle bench`: one reader for each option, in one list. */
#include "bench_options.h"

#include <heddle/heddle.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define KEYS_MAX (UINT64_C(1) << 40)

const char *const bench_op_names[BENCH_OPS] = {"build",    "insert", "find",
                                               "contains", "miss",   "erase"};

/* The place of `text` in `words`, or `count` when it is not there. */
static uint32_t word_index(const char *text, const char *const *words, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && strcmp(text, words[i]) != 0) i++;
    return i;
}

static bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 19) return false;
    *number = strtoull(text, &end, 10);
    return *end == '\0' && *number >= least && *number <= most;
}

/* Whether `text` is one of the numbers in the list, which ends with UINT32_MAX. */
static bool read_choice(const char *text, const uint32_t *choices, uint32_t *chosen)
{
    uint64_t number;
    if (!read_whole(text, 0, UINT32_MAX - 1, &number)) return false;
    for (; *choices != UINT32_MAX; choices++)
        if (*choices == number) {
            *chosen = *choices;
            return true;
        }
    return false;
}

typedef bool (*item_reader)(bench_options *options, const char *item);

/* Reads a list with commas in between; every item must be good, and there must be one. */
static bool read_list(bench_options *options, const char *text, item_reader read_item)
{
    char item[32];
    for (;;) {
        const size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof item) return false;
        memcpy(item, text, length);
        item[length] = '\0';
        if (!read_item(options, item)) return false;
        if (text[length] == '\0') return true;
        text += length + 1;
    }
}

static bool load_item(bench_options *o, const char *item)
{
    char *end;
    const double load = strtod(item, &end);
    if (*end != '\0' || !(load >= 0.1 && load <= 0.99) || o->load_count == BENCH_LIST_MAX)
        return false;
    o->loads[o->load_count++] = load;
    return true;
}

static bool op_item(bench_options *o, const char *item)
{
    const uint32_t op = word_index(item, bench_op_names, BENCH_OPS);
    if (op == BENCH_OPS || o->op_count == BENCH_LIST_MAX) return false;
    o->ops[o->op_count++] = op;
    return true;
}

static bool hit_item(bench_options *o, const char *item)
{
    uint64_t hit;
    if (!read_whole(item, 0, 100, &hit) || o->hit_count == BENCH_LIST_MAX) return false;
    o->hits[o->hit_count++] = (uint32_t)hit;
    return true;
}

static bool read_device(bench_options *o, const char *text)
{
    o->device = text;
    return text[0] != '\0';
}

static bool read_commit(bench_options *o, const char *text)
{
    o->commit = text;
    return strchr(text, '\n') == NULL;
}

static bool read_scheme(bench_options *o, const char *text)
{
    static const char *const names[] = {"auto", "cuckoo"}; /* in the order of HEDDLE_SCHEME_* */
    o->scheme = word_index(text, names, 2);
    return o->scheme < 2;
}

static bool read_format(bench_options *o, const char *text)
{
    static const char *const names[] = {"table", "csv", "json"};
    o->format = word_index(text, names, 3);
    return o->format < 3;
}

static bool read_bucket(bench_options *o, const char *text)
{
    static const uint32_t choices[] = {0, 1, 4, 8, 16, 32, UINT32_MAX};
    return read_choice(text, choices, &o->bucket);
}

static bool read_hashes(bench_options *o, const char *text)
{
    static const uint32_t choices[] = {0, 2, 3, 4, UINT32_MAX};
    return read_choice(text, choices, &o->hashes);
}

static bool read_key_bits(bench_options *o, const char *text)
{
    static const uint32_t choices[] = {32, 64, UINT32_MAX};
    return read_choice(text, choices, &o->key_bits);
}

static bool read_value_bits(bench_options *o, const char *text)
{
    static const uint32_t choices[] = {0, 32, 64, UINT32_MAX};
    return read_choice(text, choices, &o->value_bits);
}

static bool read_keys(bench_options *o, const char *text)
{
    return bench_read_count(text, &o->keys) && o->keys >= 1 && o->keys <= KEYS_MAX;
}

static bool read_seed(bench_options *o, const char *text)
{
    return read_whole(text, 0, UINT64_MAX, &o->seed);
}

static bool read_repeat(bench_options *o, const char *text)
{
    uint64_t repeat = 0;
    const bool good = read_whole(text, 1, BENCH_REPEAT_MAX, &repeat);
    o->repeat = (uint32_t)repeat;
    return good;
}

static bool read_loads(bench_options *o, const char *text)
{
    o->load_count = 0;
    return read_list(o, text, load_item);
}

static bool read_ops(bench_options *o, const char *text)
{
    o->op_count = 0;
    return read_list(o, text, op_item);
}

static bool read_hits(bench_options *o, const char *text)
{
    o->hit_count = 0;
    return read_list(o, text, hit_item);
}

typedef struct option {
    const char *name;
    bool (*read)(bench_options *options, const char *text);
    const char *wants;
} option;

static const option options_known[] = {
    {"--device", read_device, "auto, cpu, cpu:THREADS, cuda or cuda:N"},
    {"--scheme", read_scheme, "auto or cuckoo"},
    {"--bucket", read_bucket, "0 (the library chooses), 1, 4, 8, 16 or 32"},
    {"--hashes", read_hashes, "0 (the library chooses), 2, 3 or 4"},
    {"--keys", read_keys, "a count from 1 to 2^40, like 2^24, 16M, 1e6"},
    {"--key-bits", read_key_bits, "32 or 64"},
    {"--value-bits", read_value_bits, "32 or 64 (0 in a set)"},
    {"--load", read_loads, "loads from 0.1 to 0.99 with commas in between"},
    {"--op", read_ops, "operations with commas in between: build insert find contains miss erase"},
    {"--hit", read_hits, "percentages from 0 to 100 with commas in between"},
    {"--repeat", read_repeat, "a number from 1 to 1000"},
    {"--seed", read_seed, "a number below 10^19"},
    {"--format", read_format, "table, csv or json"},
    {"--commit", read_commit, "one line of text"},
};
#define OPTIONS_KNOWN (sizeof options_known / sizeof options_known[0])

static const option *known_option(const char *text, size_t length)
{
    for (size_t i = 0; i < OPTIONS_KNOWN; i++)
        if (strlen(options_known[i].name) == length &&
            strncmp(options_known[i].name, text, length) == 0)
            return &options_known[i];
    return NULL;
}

/* Reads argv[*at], and the argument behind it when that is its value. */
static int read_argument(int argc, char **argv, int *at, bench_options *o)
{
    static const char *const containers[] = {"map", "set"};
    const char *text = argv[*at];
    const size_t length = strcspn(text, "=");
    const option *found = known_option(text, length);
    if (found != NULL) {
        const bool joined = text[length] == '=';
        if (!joined && *at + 1 == argc)
            return tool_refuse("bench: %s wants %s", found->name, found->wants);
        const char *value = joined ? text + length + 1 : argv[++*at];
        if (found->read(o, value)) return TOOL_OK;
        return tool_refuse("bench: %s wants %s, not '%s'", found->name, found->wants, value);
    }
    if (strcmp(text, "--no-verify") == 0)
        o->verify = false;
    else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)
        o->help = true;
    else if (word_index(text, containers, 2) < 2 && o->container == 0)
        o->container = text[0] == 'm' ? HEDDLE_CONTAINER_MAP : HEDDLE_CONTAINER_SET;
    else if (text[0] == '-')
        return tool_refuse("bench: there is no option '%s'; try 'heddle help bench'", text);
    else
        return tool_refuse("bench: expected map or set once, not '%s'", text);
    return TOOL_OK;
}

/* What only shows when all options are known. */
static int settle(bench_options *o)
{
    const bool set = o->container == HEDDLE_CONTAINER_SET;
    if (o->container == 0)
        return tool_refuse("bench: name a container: 'heddle bench map' or 'heddle bench set'");
    if (o->value_bits == UINT32_MAX) o->value_bits = set ? 0 : 32;
    if (set && o->value_bits != 0)
        return tool_refuse("bench: a set has no values, so no --value-bits");
    if (!set && o->value_bits == 0)
        return tool_refuse("bench: the values of a map have 32 or 64 bits, not 0");
    /* Half of all key values stay out of the table, for the queries that must miss. */
    if (o->key_bits == 32 && o->keys > UINT64_C(1) << 31)
        return tool_refuse(
            "bench: keys of 32 bits allow --keys up to 2^31, not %llu; use --key-bits 64",
            (unsigned long long)o->keys);
    if (o->op_count == 0)
        (void)read_ops(o,
                       set ? "build,insert,contains,miss,erase" : "build,insert,find,miss,erase");
    return TOOL_OK;
}

int bench_options_read(int argc, char **argv, bench_options *options)
{
    memset(options, 0, sizeof *options);
    options->device = "auto";
    options->key_bits = 32;
    options->value_bits = UINT32_MAX;
    options->repeat = 5;
    options->keys = UINT64_C(1) << 24;
    options->seed = 1;
    options->verify = true;
    (void)read_loads(options, "0.8");
    (void)read_hits(options, "100");
    for (int at = 1; at < argc; at++) {
        const int status = read_argument(argc, argv, &at, options);
        if (status != TOOL_OK) return status;
    }
    return options->help ? TOOL_OK : settle(options);
}
