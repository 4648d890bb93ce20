/* options.c: the arguments of `heddle bench`: one reader for each option, in one list. */
#include "bench/options.h"

#include <heddle/heddle.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "tool.h"

#define ROWS_MAX (UINT64_C(1) << 40)

const char *const bench_sweep_names[BENCH_SWEEPS] = {"load", "bucket", "hashes",
                                                     "hit",  "keys",   "success"};
const char *const bench_type_names[BENCH_TYPES] = {"u32", "i32", "f32", "u64", "i64", "f64"};
static const char *const subject_names[BENCH_SUBJECTS] = {
    "map", "set", "graph", "join", "group", "unique", "filter", "multimap", "counter", "mixed"};

const char *bench_subject_name(const bench_options *options)
{
    return subject_names[options->subject];
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

static bool read_threshold(bench_options *o, const char *text)
{
    char *end;
    o->threshold = strtod(text, &end);
    return end != text && *end == '\0' && o->threshold > 0 && o->threshold <= 1;
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

static bool read_row_bits(bench_options *o, const char *text)
{
    static const uint32_t choices[] = {32, 64, UINT32_MAX};
    return bench_read_choice(text, choices, &o->row_bits);
}

static bool read_rows(const char *text, uint64_t *rows)
{
    return bench_read_count(text, rows) && *rows >= 1 && *rows <= ROWS_MAX;
}

static bool read_left(bench_options *o, const char *text) { return read_rows(text, &o->left); }
static bool read_right(bench_options *o, const char *text) { return read_rows(text, &o->right); }

static bool read_type(bench_options *o, const char *text)
{
    o->type = bench_read_word(text, bench_type_names, BENCH_TYPES) + 1;
    return o->type <= BENCH_TYPES;
}

/* Who takes an option. */
#define TABLES (1u << BENCH_MAP | 1u << BENCH_SET)
#define GRAPH (1u << BENCH_GRAPH)
#define MULTIMAP (1u << BENCH_MULTIMAP)
#define COUNTER (1u << BENCH_COUNTER)
#define SLOTS (TABLES | MULTIMAP | COUNTER)
#define GRAPHS (GRAPH | MULTIMAP)
#define JOIN (1u << BENCH_JOIN)
#define GROUP (1u << BENCH_GROUP)
#define UNIQUE (1u << BENCH_UNIQUE)
#define GROUPS (GROUP | UNIQUE)
#define RELATIONS (JOIN | GROUPS)
#define FILTER (1u << BENCH_FILTER)
#define MIXED (1u << BENCH_MIXTURES)
#define ALL (TABLES | GRAPHS | RELATIONS | FILTER | COUNTER | MIXED)

typedef struct option {
    const char *name;
    uint32_t subjects;
    bool (*read)(bench_options *options, const char *text); /* NULL: a list */
    uint32_t axis;                                          /* of the list */
    const char *wants;
} option;

static const option options_known[] = {
    {"--device", ALL, read_device, 0, "auto, cpu, cpu:THREADS, cuda or cuda:N"},
    {"--scheme", SLOTS, NULL, BENCH_AXIS_SCHEME,
     "auto, cuckoo, open, iceberg or slab; of multimaps open, hashgraph, bucket_list, slab, of "
     "counters cuckoo, open, iceberg, hashgraph, slab, or some with commas"},
    {"--threshold", TABLES, read_threshold, 0, "a number above 0, up to 1"},
    {"--bucket", SLOTS, NULL, BENCH_AXIS_BUCKET,
     "0 (the library chooses), 1, 4, 8, 16, 32, or some with commas"},
    {"--hashes", TABLES | FILTER, NULL, BENCH_AXIS_HASHES,
     "0 (the library chooses), 2, 3, 4, in a filter 1 to 16, or some with commas in between"},
    {"--bits-per-key", FILTER, NULL, BENCH_AXIS_BITS,
     "numbers from 1 to 512 with commas in between"},
    {"--keys", ALL, NULL, BENCH_AXIS_KEYS,
     "counts from 1 to 2^40, like 2^24, 16M, 1e6, with commas in between"},
    {"--left", JOIN, read_left, 0, "a count from 1 to 2^40"},
    {"--right", JOIN, read_right, 0, "a count from 1 to 2^40"},
    {"--copies", GRAPHS | JOIN | COUNTER, NULL, BENCH_AXIS_COPIES, "counts with commas in between"},
    {"--groups", GROUPS, NULL, BENCH_AXIS_GROUPS, "counts with commas in between"},
    {"--distribution", GRAPHS | RELATIONS | COUNTER, NULL, BENCH_AXIS_SKEW,
     "uniform, zipf:S with S from 0.01 to 10, equal, sequence, or some with commas"},
    {"--variant", GRAPHS, NULL, BENCH_AXIS_VARIANT,
     "regions, ordered, v1, v2, or some with commas; of a multimap regions, direct"},
    {"--bins", GRAPH, NULL, BENCH_AXIS_BINS, "counts from 1 to 65536 with commas in between"},
    {"--vertices", GRAPHS | COUNTER, NULL, BENCH_AXIS_VERTICES,
     "numbers from 0.125 to 4 with commas in between"},
    {"--workspace", GRAPH, NULL, BENCH_AXIS_WORKSPACE,
     "shares from 0.001 to 1 with commas in between"},
    {"--kind", JOIN, NULL, BENCH_AXIS_KIND,
     "inner, left, right, full, semi, anti, or some with commas"},
    {"--order", UNIQUE, NULL, BENCH_AXIS_ORDER, "unordered, first, or both with a comma"},
    {"--aggregate", GROUP, NULL, BENCH_AXIS_AGGREGATE,
     "count, sum, min, max, mean, or some with commas"},
    {"--type", GROUP, read_type, 0, "u32, i32, f32, u64, i64 or f64"},
    {"--key-bits", ALL, read_key_bits, 0, "32 or 64"},
    {"--value-bits", TABLES | GRAPHS | COUNTER | MIXED, read_value_bits, 0,
     "32 or 64 (0 in a set)"},
    {"--row-bits", RELATIONS, read_row_bits, 0, "32 or 64"},
    {"--batch", MIXED, NULL, BENCH_AXIS_BATCH, "counts with commas in between"},
    {"--updates", MIXED, NULL, BENCH_AXIS_UPDATES,
     "percentages from 0 to 100 with commas in between"},
    {"--load", SLOTS | MIXED, NULL, BENCH_AXIS_LOAD,
     "loads from 0.1 to 0.99 with commas in between"},
    {"--op", TABLES | GRAPHS | FILTER | COUNTER | MIXED, NULL, BENCH_AXIS_OP,
     "operations with commas in between: build insert find contains miss erase, and with a graph "
     "count retrieve query intersect, with a multimap count retrieve range add; build insert add "
     "find miss with a counter; add contains miss with a filter; mixed grow take with mixed"},
    {"--hit", TABLES | JOIN, NULL, BENCH_AXIS_HIT,
     "percentages from 0 to 100 with commas in between"},
    {"--repeat", ALL, read_repeat, 0, "a number from 1 to 1000"},
    {"--seed", ALL, read_seed, 0, "a number below 10^19"},
    {"--seeds", TABLES, read_seeds, 0, "a count from 1 to 10^6"},
    {"--format", ALL, read_format, 0, "table, csv or json"},
    {"--commit", ALL, read_commit, 0, "one line of text"},
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
    const uint32_t subject = bench_read_word(text, subject_names, BENCH_SUBJECTS);
    if (strcmp(text, "--sweep") == 0 || strncmp(text, "--sweep=", 8) == 0)
        return read_sweep(text, o);
    if (strcmp(text, "--no-verify") == 0) o->verify = false;
    else if (strcmp(text, "--count-only") == 0) o->count_only = true;
    else if (strcmp(text, "--with-keys") == 0) o->with_keys = true;
    else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) o->help = true;
    else if (subject < BENCH_SUBJECTS && o->subject == BENCH_SUBJECTS) o->subject = subject;
    else if (text[0] == '-')
        return tool_refuse("bench: there is no option '%s'; try 'heddle help bench'", text);
    else
        return tool_refuse(
            "bench: expected one of map, set, multimap, counter, graph, join, group, "
            "unique, filter, mixed once, not '%s'%s",
            text, o->sweeps != 0 ? "; sweeps are named as in --sweep=load,hit" : "");
    return TOOL_OK;
}

/* Reads argv[*at], and the argument behind it when that is its value. */
static int read_argument(int argc, char **argv, int *at, bench_options *o, uint64_t *given)
{
    const char *text = argv[*at];
    const size_t length = strcspn(text, "=");
    const option *found = known_option(text, length);
    if (found == NULL) return read_word(text, o);
    const bool joined = text[length] == '=';
    if (!joined && *at + 1 == argc)
        return tool_refuse("bench: %s wants %s", found->name, found->wants);
    const char *value = joined ? text + length + 1 : argv[++*at];
    *given |= UINT64_C(1) << (found - options_known);
    if (found->read != NULL ? found->read(o, value) : bench_axes_read(&o->axes, found->axis, value))
        return TOOL_OK;
    return tool_refuse("bench: %s wants %s, not '%s'", found->name, found->wants, value);
}

/* Refuses options that what is measured does not know. */
static int check_given(const bench_options *o, uint64_t given)
{
    const uint32_t subject = o->subject == BENCH_SUBJECTS ? BENCH_MAP : o->subject;
    for (size_t i = 0; i < OPTIONS_KNOWN; i++)
        if ((given >> i & 1) != 0 && (options_known[i].subjects >> subject & 1) == 0)
            return tool_refuse("bench: %s is not for a benchmark of %s", options_known[i].name,
                               subject_names[subject]);
    return TOOL_OK;
}

int bench_options_read(int argc, char **argv, bench_options *options)
{
    uint64_t given = 0;
    memset(options, 0, sizeof *options);
    options->subject = BENCH_SUBJECTS;
    options->device = "auto";
    options->key_bits = 32;
    options->value_bits = UINT32_MAX;
    options->type = HEDDLE_TYPE_U64;
    options->repeat = 5;
    options->seed = 1;
    options->verify = true;
    for (int at = 1; at < argc; at++) {
        const int status = read_argument(argc, argv, &at, options, &given);
        if (status != TOOL_OK) return status;
    }
    if (options->help) return TOOL_OK;
    const int status = check_given(options, given);
    return status == TOOL_OK ? bench_options_settle(options) : status;
}
