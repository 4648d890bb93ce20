/* bench_options.c: the arguments of `heddle bench`: one reader for each option, in one list. */
#include "bench_options.h"

#include <heddle/heddle.h>
#include <string.h>

#include "bench_read.h"
#include "tool.h"

const char *const bench_sweep_names[BENCH_SWEEPS] = {"load", "bucket", "hashes",
                                                     "hit",  "keys",   "success"};

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
    o->scheme = bench_read_word(text, names, 2);
    return o->scheme < 2;
}

static bool read_format(bench_options *o, const char *text)
{
    static const char *const names[] = {"table", "csv", "json"};
    o->format = bench_read_word(text, names, 3);
    return o->format < 3;
}

static bool read_key_bits(bench_options *o, const char *text)
{
    static const uint32_t choices[] = {32, 64, UINT32_MAX};
    return bench_read_choice(text, choices, &o->key_bits);
}

static bool read_value_bits(bench_options *o, const char *text)
{
    static const uint32_t choices[] = {0, 32, 64, UINT32_MAX};
    return bench_read_choice(text, choices, &o->value_bits);
}

static bool read_seed(bench_options *o, const char *text)
{
    return bench_read_whole(text, 0, UINT64_MAX, &o->seed);
}

static bool read_repeat(bench_options *o, const char *text)
{
    uint64_t repeat = 0;
    const bool good = bench_read_whole(text, 1, BENCH_REPEAT_MAX, &repeat);
    o->repeat = (uint32_t)repeat;
    return good;
}

static bool read_seeds(bench_options *o, const char *text)
{
    uint64_t seeds = 0;
    const bool good = bench_read_count(text, &seeds) && seeds >= 1 && seeds <= BENCH_SEEDS_MAX;
    o->seeds = (uint32_t)seeds;
    return good;
}

static bool read_keys(bench_options *o, const char *text)
{
    return bench_axes_read(&o->axes, BENCH_AXIS_KEYS, text);
}

static bool read_buckets(bench_options *o, const char *text)
{
    return bench_axes_read(&o->axes, BENCH_AXIS_BUCKET, text);
}

static bool read_hashes(bench_options *o, const char *text)
{
    return bench_axes_read(&o->axes, BENCH_AXIS_HASHES, text);
}

static bool read_loads(bench_options *o, const char *text)
{
    return bench_axes_read(&o->axes, BENCH_AXIS_LOAD, text);
}

static bool read_ops(bench_options *o, const char *text)
{
    return bench_axes_read(&o->axes, BENCH_AXIS_OP, text);
}

static bool read_hits(bench_options *o, const char *text)
{
    return bench_axes_read(&o->axes, BENCH_AXIS_HIT, text);
}

typedef struct option {
    const char *name;
    bool (*read)(bench_options *options, const char *text);
    const char *wants;
} option;

static const option options_known[] = {
    {"--device", read_device, "auto, cpu, cpu:THREADS, cuda or cuda:N"},
    {"--scheme", read_scheme, "auto or cuckoo"},
    {"--bucket", read_buckets, "0 (the library chooses), 1, 4, 8, 16, 32, or some with commas"},
    {"--hashes", read_hashes, "0 (the library chooses), 2, 3, 4, or some with commas in between"},
    {"--keys", read_keys, "counts from 1 to 2^40, like 2^24, 16M, 1e6, with commas in between"},
    {"--key-bits", read_key_bits, "32 or 64"},
    {"--value-bits", read_value_bits, "32 or 64 (0 in a set)"},
    {"--load", read_loads, "loads from 0.1 to 0.99 with commas in between"},
    {"--op", read_ops, "operations with commas in between: build insert find contains miss erase"},
    {"--hit", read_hits, "percentages from 0 to 100 with commas in between"},
    {"--repeat", read_repeat, "a number from 1 to 1000"},
    {"--seed", read_seed, "a number below 10^19"},
    {"--seeds", read_seeds, "a count from 1 to 10^6"},
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

static bool sweep_item(void *to, const char *item)
{
    const uint32_t sweep = bench_read_word(item, bench_sweep_names, BENCH_SWEEPS);
    *(uint32_t *)to |= UINT32_C(1) << sweep;
    return sweep < BENCH_SWEEPS;
}

/* --sweep alone means all of them, so its list is never the next argument. */
static int read_sweep(const char *text, bench_options *o)
{
    const char *list = text + strlen("--sweep");
    if (list[0] == '\0') {
        o->sweeps = (UINT32_C(1) << BENCH_SWEEPS) - 1;
        return TOOL_OK;
    }
    o->sweeps = 0;
    if (bench_read_list(list + 1, sweep_item, &o->sweeps)) return TOOL_OK;
    return tool_refuse(
        "bench: --sweep= wants some of load, bucket, hashes, hit, keys, success with "
        "commas in between, not '%s'",
        list + 1);
}

/* What is no option with a value. */
static int read_word(const char *text, bench_options *o)
{
    static const char *const containers[] = {"map", "set"};
    if (strcmp(text, "--sweep") == 0 || strncmp(text, "--sweep=", 8) == 0)
        return read_sweep(text, o);
    if (strcmp(text, "--no-verify") == 0) o->verify = false;
    else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) o->help = true;
    else if (bench_read_word(text, containers, 2) < 2 && o->container == 0)
        o->container = text[0] == 'm' ? HEDDLE_CONTAINER_MAP : HEDDLE_CONTAINER_SET;
    else if (text[0] == '-')
        return tool_refuse("bench: there is no option '%s'; try 'heddle help bench'", text);
    else
        return tool_refuse("bench: expected map or set once, not '%s'%s", text,
                           o->sweeps != 0 ? "; sweeps are named as in --sweep=load,hit" : "");
    return TOOL_OK;
}

/* Reads argv[*at], and the argument behind it when that is its value. */
static int read_argument(int argc, char **argv, int *at, bench_options *o)
{
    const char *text = argv[*at];
    const size_t length = strcspn(text, "=");
    const option *found = known_option(text, length);
    if (found == NULL) return read_word(text, o);
    const bool joined = text[length] == '=';
    if (!joined && *at + 1 == argc)
        return tool_refuse("bench: %s wants %s", found->name, found->wants);
    const char *value = joined ? text + length + 1 : argv[++*at];
    if (found->read(o, value)) return TOOL_OK;
    return tool_refuse("bench: %s wants %s, not '%s'", found->name, found->wants, value);
}

/* A plain benchmark measures one table, where no more are named. */
static void settle_axes(bench_options *o)
{
    bench_axes_default(&o->axes, BENCH_AXIS_KEYS, "2^24");
    bench_axes_default(&o->axes, BENCH_AXIS_BUCKET, "0");
    bench_axes_default(&o->axes, BENCH_AXIS_HASHES, "0");
    bench_axes_default(&o->axes, BENCH_AXIS_LOAD, "0.8");
    bench_axes_default(&o->axes, BENCH_AXIS_HIT, "100");
    bench_axes_default(&o->axes, BENCH_AXIS_OP,
                       o->container == HEDDLE_CONTAINER_SET ? "build,insert,contains,miss,erase"
                                                            : "build,insert,find,miss,erase");
}

static int settle_sweeps(bench_options *o)
{
    const bench_list *ops = &o->axes.list[BENCH_AXIS_OP];
    bool asks = ops->count == 0;
    for (uint32_t i = 0; i < ops->count; i++)
        asks |= ops->at[i] == BENCH_FIND || ops->at[i] == BENCH_CONTAINS;
    if (!asks && (o->sweeps >> BENCH_SWEEP_HIT & 1) != 0)
        return tool_refuse("bench: the sweep of hit measures find and contains, but --op has "
                           "neither; name the other sweeps");
    if (o->seeds != 0 && (o->sweeps >> BENCH_SWEEP_SUCCESS & 1) == 0)
        return tool_refuse("bench: --seeds is for --sweep=success alone");
    if (o->seeds == 0) o->seeds = 200;
    return TOOL_OK;
}

/* What only shows when all options are known. */
static int settle(bench_options *o)
{
    const bench_list *keys = &o->axes.list[BENCH_AXIS_KEYS];
    if (o->sweeps != 0 && o->container == 0) o->container = HEDDLE_CONTAINER_MAP;
    const bool set = o->container == HEDDLE_CONTAINER_SET;
    if (o->container == 0)
        return tool_refuse("bench: name a container: 'heddle bench map' or 'heddle bench set'");
    if (o->value_bits == UINT32_MAX) o->value_bits = set ? 0 : 32;
    if (set && o->value_bits != 0)
        return tool_refuse("bench: a set has no values, so no --value-bits");
    if (!set && o->value_bits == 0)
        return tool_refuse("bench: the values of a map have 32 or 64 bits, not 0");
    /* Half of all key values stay out of the table, for the queries that must miss. */
    if (o->key_bits == 32 && keys->count != 0 && bench_list_most(keys) > (double)(1u << 31))
        return tool_refuse(
            "bench: keys of 32 bits allow --keys up to 2^31, not %.0f; use --key-bits 64",
            bench_list_most(keys));
    if (o->sweeps == 0) settle_axes(o);
    return settle_sweeps(o);
}

int bench_options_read(int argc, char **argv, bench_options *options)
{
    memset(options, 0, sizeof *options);
    options->device = "auto";
    options->key_bits = 32;
    options->value_bits = UINT32_MAX;
    options->repeat = 5;
    options->seed = 1;
    options->verify = true;
    for (int at = 1; at < argc; at++) {
        const int status = read_argument(argc, argv, &at, options);
        if (status != TOOL_OK) return status;
    }
    return options->help ? TOOL_OK : settle(options);
}
