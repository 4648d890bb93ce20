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

/* ----------------------------------------------------------------------------------------- readers */

/* tool_option.at is the place in bench_options, or for lists the axis. */
static bool read_axis(void *to, const tool_option *option, const char *text)
{
    return bench_axes_read(&((bench_options *)to)->axes, (uint32_t)option->at, text);
}

static bool read_commit(void *to, const tool_option *option, const char *text)
{
    return option_text(to, option, text) && strchr(text, '\n') == NULL;
}

static bool read_threshold(void *to, const tool_option *option, const char *text)
{
    bench_options *o = (bench_options *)to;
    char *end;
    (void)option;
    o->threshold = strtod(text, &end);
    return end != text && *end == '\0' && o->threshold > 0 && o->threshold <= 1;
}

static bool read_repeat(void *to, const tool_option *option, const char *text)
{
    uint64_t repeat = 0;
    const bool good = bench_read_whole(text, 1, BENCH_REPEAT_MAX, &repeat);
    (void)option;
    ((bench_options *)to)->repeat = (uint32_t)repeat;
    return good;
}

static bool read_seeds(void *to, const tool_option *option, const char *text)
{
    uint64_t seeds = 0;
    const bool good = bench_read_count(text, &seeds) && seeds >= 1 && seeds <= BENCH_SEEDS_MAX;
    (void)option;
    ((bench_options *)to)->seeds = (uint32_t)seeds;
    return good;
}

static bool read_rows(void *to, const tool_option *option, const char *text)
{
    return option_count(to, option, text) &&
           *(uint64_t *)(void *)((char *)to + option->at) <= ROWS_MAX;
}

static bool sweep_item(void *to, const char *item)
{
    const uint32_t sweep = bench_read_word(item, bench_sweep_names, BENCH_SWEEPS);
    *(uint32_t *)to |= UINT32_C(1) << sweep;
    return sweep < BENCH_SWEEPS;
}

static bool read_sweep(void *to, const tool_option *option, const char *text)
{
    bench_options *o = (bench_options *)to;
    (void)option;
    o->sweeps = *text == '\0' ? (UINT32_C(1) << BENCH_SWEEPS) - 1 : 0;
    return *text == '\0' || bench_read_list(text, sweep_item, &o->sweeps);
}

/* ----------------------------------------------------------------------------------------- options */

/* Who takes an option. */
#define MAP (1u << BENCH_MAP)
#define SET (1u << BENCH_SET)
#define TABLES (MAP | SET)
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

#define COUNTS "counts from 1 to 2^40, like 2^24, 16M, 16Mi or 1e6"
#define IN_AXIS(AXIS) .read = read_axis, .at = (AXIS)
#define AT(FIELD) .at = offsetof(bench_options, FIELD)
#define FOR(TAKERS) .takers = (TAKERS)

const tool_option bench_option_list[] = {
    {"--device", .value = "NAME", .words = "auto cpu cpu:THREADS cuda cuda:N", .usual = "auto",
     .text = "where it runs", .read = option_text, AT(device), FOR(ALL)},
    {"--keys", .value = "LIST", .usual = "2^24", .wants = COUNTS, .text = "keys",
     IN_AXIS(BENCH_AXIS_KEYS), FOR(ALL & ~MIXED & ~RELATIONS & ~GRAPHS & ~COUNTER)},
    {"--keys", .value = "LIST", .usual = "2^24", .wants = COUNTS, .text = "rows",
     IN_AXIS(BENCH_AXIS_KEYS), FOR(RELATIONS | GRAPHS | COUNTER)},
    {"--keys", .value = "LIST", .usual = "2^22", .wants = COUNTS, .text = "keys in the table",
     IN_AXIS(BENCH_AXIS_KEYS), FOR(MIXED)},
    {"--left", .value = "COUNT", .wants = COUNTS,
     .text = "rows of the left side, with --right and instead of --keys", .read = read_rows,
     AT(left), FOR(JOIN), .first = 1},
    {"--right", .value = "COUNT", .wants = COUNTS, .text = "rows of the right side",
     .read = read_rows, AT(right), FOR(JOIN), .first = 1},
    {"--op", .value = "LIST", .explained = bench_words_of_table,
     .usual = "build,insert,find,miss,erase", .text = "operations", IN_AXIS(BENCH_AXIS_OP),
     FOR(MAP)},
    {"--op", .value = "LIST", .explained = bench_words_of_table,
     .usual = "build,insert,contains,miss,erase", .text = "operations", IN_AXIS(BENCH_AXIS_OP),
     FOR(SET)},
    {"--op", .value = "LIST", .explained = bench_words_of_graph,
     .usual = "build,find,miss,count,retrieve,query,intersect,erase,insert", .text = "operations",
     IN_AXIS(BENCH_AXIS_OP), FOR(GRAPH)},
    {"--op", .value = "LIST", .explained = bench_words_of_multimap,
     .usual = "build,insert,add,find,miss,count,retrieve,erase", .text = "operations",
     IN_AXIS(BENCH_AXIS_OP), FOR(MULTIMAP)},
    {"--op", .value = "LIST", .explained = bench_words_of_counter,
     .usual = "build,insert,add,find,miss", .text = "operations", IN_AXIS(BENCH_AXIS_OP),
     FOR(COUNTER)},
    {"--op", .value = "LIST", .explained = bench_words_of_filter, .usual = "add,contains,miss",
     .text = "operations", IN_AXIS(BENCH_AXIS_OP), FOR(FILTER)},
    {"--op", .value = "LIST", .explained = bench_words_of_mixed, .usual = "mixed,grow,take",
     .text = "operations", IN_AXIS(BENCH_AXIS_OP), FOR(MIXED)},
    {"--scheme", .value = "NAME", .words = "auto cuckoo open iceberg slab", .usual = "auto",
     .text = "the scheme", IN_AXIS(BENCH_AXIS_SCHEME), FOR(TABLES)},
    {"--scheme", .value = "LIST", .words = "auto open hashgraph bucket_list slab", .usual = "open",
     .text = "schemes", IN_AXIS(BENCH_AXIS_SCHEME), FOR(MULTIMAP)},
    {"--scheme", .value = "LIST", .words = "auto cuckoo open iceberg hashgraph slab",
     .usual = "cuckoo", .text = "schemes", IN_AXIS(BENCH_AXIS_SCHEME), FOR(COUNTER)},
    {"--load", .value = "LIST", .usual = "0.8", .wants = "numbers from 0.1 to 0.99",
     .text = "filled shares of the slots", IN_AXIS(BENCH_AXIS_LOAD), FOR(SLOTS)},
    {"--load", .value = "LIST", .usual = "0.65", .wants = "numbers from 0.1 to 0.99",
     .text = "shares of the slots of slabs in use", IN_AXIS(BENCH_AXIS_LOAD), FOR(MIXED)},
    {"--bucket", .value = "LIST", .words = "0 1 4 8 16 32", .usual = "0",
     .text = "slots of a bucket; with 0 the library chooses", IN_AXIS(BENCH_AXIS_BUCKET),
     FOR(SLOTS)},
    {"--hashes", .value = "LIST", .words = "0 2 3 4", .usual = "0",
     .text = "hash functions; with 0 the library chooses", IN_AXIS(BENCH_AXIS_HASHES), FOR(TABLES)},
    {"--hashes", .value = "LIST", .usual = "0", .wants = "numbers from 0 to 16",
     .text = "hash functions; 0 takes the number with the fewest false positives",
     IN_AXIS(BENCH_AXIS_HASHES), FOR(FILTER)},
    {"--threshold", .value = "SHARE", .usual = "0.8", .wants = "a number above 0, up to 1",
     .text = "iceberg: how full the first bucket of a key gets before the key goes to another one",
     .read = read_threshold, AT(threshold), FOR(TABLES)},
    {"--bits-per-key", .value = "LIST", .usual = "16", .wants = "numbers from 1 to 512",
     .text = "bits of the filter for every key", IN_AXIS(BENCH_AXIS_BITS), FOR(FILTER)},
    {"--copies", .value = "LIST", .usual = "1", .wants = COUNTS,
     .text = "rows with the same key; there are keys / copies different ones",
     IN_AXIS(BENCH_AXIS_COPIES), FOR(GRAPHS)},
    {"--copies", .value = "LIST", .usual = "1", .wants = COUNTS,
     .text = "rows with the same key in a batch; there are keys / copies different ones",
     IN_AXIS(BENCH_AXIS_COPIES), FOR(COUNTER)},
    {"--copies", .value = "LIST", .usual = "1", .wants = COUNTS,
     .text = "rows of the right side with the same key; the left side has rows of the same keys",
     IN_AXIS(BENCH_AXIS_COPIES), FOR(JOIN)},
    {"--groups", .value = "LIST", .usual = "100,127,128,129,1000,1e4,1e5,1e6,50e6", .wants = COUNTS,
     .text = "different keys; what is more than the rows is left out", IN_AXIS(BENCH_AXIS_GROUPS),
     FOR(GROUPS)},
    {"--distribution", .value = "LIST", .explained = bench_words_of_distributions,
     .usual = "uniform", .text = "how often keys are there", IN_AXIS(BENCH_AXIS_SKEW),
     FOR(GRAPHS | RELATIONS | COUNTER)},
    {"--variant", .value = "LIST", .explained = bench_words_of_graph_variants, .usual = "regions",
     .text = "ways to build", IN_AXIS(BENCH_AXIS_VARIANT), FOR(GRAPH)},
    {"--variant", .value = "LIST", .explained = bench_words_of_multimap_variants,
     .usual = "regions", .text = "ways to insert", IN_AXIS(BENCH_AXIS_VARIANT), FOR(MULTIMAP)},
    {"--bins", .value = "LIST", .usual = "2^14", .wants = "counts from 1 to 65536",
     .text = "bins of v2", IN_AXIS(BENCH_AXIS_BINS), FOR(GRAPH)},
    {"--vertices", .value = "LIST", .usual = "1", .wants = "numbers from 0.125 to 4",
     .text = "hashgraph: lists for every key", IN_AXIS(BENCH_AXIS_VERTICES), FOR(GRAPHS | COUNTER)},
    {"--workspace", .value = "LIST", .usual = "memory of their own",
     .wants = "shares from 0.001 to 1",
     .text = "build and insert are given memory: these shares of what one pass uses; with less "
             "than 1 there are more passes, which are counted",
     IN_AXIS(BENCH_AXIS_WORKSPACE), FOR(GRAPH)},
    {"--batch", .value = "LIST", .usual = "2^20", .wants = COUNTS,
     .text = "operations of a batch, at most as many as keys", IN_AXIS(BENCH_AXIS_BATCH),
     FOR(MIXED)},
    {"--updates", .value = "LIST", .usual = "100,40,20", .wants = "numbers from 0 to 100",
     .text = "percent of them that insert new keys, or erase the oldest, half and half; of the "
             "others half find their key, half do not",
     IN_AXIS(BENCH_AXIS_UPDATES), FOR(MIXED)},
    {"--kind", .value = "LIST", .words = "inner left right full semi anti", .usual = "inner",
     .text = "kinds of joins", IN_AXIS(BENCH_AXIS_KIND), FOR(JOIN)},
    {"--hit", .value = "LIST", .usual = "100", .wants = "numbers from 0 to 100",
     .text = "percent of the queries of find and contains that are present; a row for each",
     IN_AXIS(BENCH_AXIS_HIT), FOR(TABLES)},
    {"--hit", .value = "LIST", .usual = "100", .wants = "numbers from 0 to 100",
     .text = "percent of the left rows whose keys the right side may have", IN_AXIS(BENCH_AXIS_HIT),
     FOR(JOIN)},
    {"--count-only", .value = NULL, .text = "the row count alone, without the pairs",
     .read = option_true, AT(count_only), FOR(JOIN)},
    {"--order", .value = "LIST", .explained = bench_words_of_orders, .usual = "unordered",
     .text = "order of the groups", IN_AXIS(BENCH_AXIS_ORDER), FOR(UNIQUE)},
    {"--ask", .value = "NAME", .words = "rows keys sizes first", .usual = "rows",
     .text = "keys alone, or with the sizes of groups, their first rows, or sizes and the group of "
             "every row",
     .read = option_word, AT(ask), FOR(UNIQUE)},
    {"--aggregate", .value = "LIST", .words = "count sum min max mean", .usual = "sum",
     .text = "what is made of the values of a group", IN_AXIS(BENCH_AXIS_AGGREGATE), FOR(GROUP)},
    {"--type", .value = "NAME", .words = "u32 i32 f32 u64 i64 f64", .usual = "u64",
     .text = "type of the values", .read = option_word, AT(type), FOR(GROUP), .first = 1},
    {"--with-keys", .value = NULL, .text = "the keys of the groups are asked for too",
     .read = option_true, AT(with_keys), FOR(GROUP)},
    {"--at-once", .value = NULL, .text = "the aggregate is named when the groups are made",
     .read = option_true, AT(at_once), FOR(GROUP)},
    {"--key-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of keys",
     .read = option_bits, AT(key_bits), FOR(ALL)},
    {"--value-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of values",
     .read = option_bits, AT(value_bits), FOR(MAP | GRAPHS | MIXED)},
    {"--value-bits", .value = "BITS", .words = "32 64", .usual = "32",
     .text = "width of the counts", .read = option_bits, AT(value_bits), FOR(COUNTER)},
    {"--row-bits", .value = "BITS", .words = "32 64", .usual = "what suffices",
     .text = "width of row numbers", .read = option_bits, AT(row_bits), FOR(RELATIONS)},
    {"--sweep", .value = "LIST", .explained = bench_words_of_sweeps,
     .text = "several benchmarks in a row; all of these where no list is given", .read = read_sweep,
     AT(sweeps), FOR(TABLES), .joined = true},
    {"--seeds", .value = "COUNT", .usual = "200", .wants = "a count from 1 to 10^6",
     .text = "seeds of the sweep of success", .read = read_seeds, AT(seeds), FOR(TABLES)},
    {"--repeat", .value = "COUNT", .usual = "5", .wants = "a number from 1 to 1000",
     .text = "timed runs, of which the median counts", .read = read_repeat, AT(repeat), FOR(ALL)},
    {"--seed", .value = "NUMBER", .usual = "1", .wants = "a number below 10^19",
     .text = "of the keys and the table; with 0 the table draws its own", .read = option_number,
     AT(seed), FOR(ALL)},
    {"--no-verify", .value = NULL, .text = "do not check the answers", .read = option_false,
     AT(verify), FOR(ALL)},
    {"--format", .value = "NAME", .words = "table csv json", .usual = "table",
     .text = "how rows are printed (json: an object a line)", .read = option_word, AT(format),
     FOR(ALL)},
    {"--commit", .value = "TEXT", .wants = "one line of text", .text = "written to the head of csv",
     .read = read_commit, AT(commit), FOR(ALL)},
};
_Static_assert(sizeof bench_option_list / sizeof bench_option_list[0] == BENCH_OPTION_COUNT,
               "options.h states their number");

void bench_options_usual(bench_options *options, uint32_t axis)
{
    for (uint32_t i = 0; i < BENCH_OPTION_COUNT; i++) {
        const tool_option *option = &bench_option_list[i];
        if (option->read == read_axis && option->at == axis &&
            (option->takers >> options->subject & 1) != 0)
            bench_axes_default(&options->axes, axis, option->usual);
    }
}

int bench_options_read(const tool_command *command, int argc, char **argv, bench_options *options)
{
    memset(options, 0, sizeof *options);
    for (options->subject = 0; command->bit != 1u << options->subject;) options->subject++;
    options->device = "auto";
    options->key_bits = 32;
    options->value_bits = UINT32_MAX;
    options->type = HEDDLE_TYPE_U64;
    options->repeat = 5;
    options->seed = 1;
    options->verify = true;
    const int status = command_read(command, argc, argv, options);
    return status == TOOL_OK ? bench_options_settle(options) : status;
}
