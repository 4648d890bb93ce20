/* options.c: the options of `heddle bench dist`; see dist.h. */
#include "bench/dist/dist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"

static const char usage[] =
    "heddle bench dist [options]\n"
    "\n"
    "Builds a table of a cluster and finds all its keys, which are in memory of the first\n"
    "member's device or of the host, and the same with a single table, for every combination of "
    "the lists of\n"
    "members, scaling, distribution and duplicates. A row gives the rate in million rows/s,\n"
    "the time beside that of the single table (ratio), the rate beside that of the first\n"
    "number of members in the list (speedup), the shares of the four phases, and how much\n"
    "more than the mean the fullest member holds (imbalance, of keys) and was sent\n"
    "(row_imbalance). Joins take the rows as their left side and the same keys in another\n"
    "order as their right one, and fetch all pairs; group-bys add the values up. Their rows\n"
    "have the phases of the creation, and as keys the rows and groups of the result.\n"
    "\n"
    "  --op LIST          build,find,join,group; find builds, too                 [build,find]\n"
    "  --devices LIST     devices; one may be named again                         [cpu:1,cpu:1]\n"
    "  --members LIST     clusters of so many members, 1 to 1024: those of --devices in\n"
    "                     turn; under mpirun the first ranks                      [all, once]\n"
    "  --single NAME      device of the single table; none leaves it out. As many threads\n"
    "                     as all members together, or the GPU of the cluster, if not named\n"
    "  --container NAME   map, set, multimap, counter                             [map]\n"
    "  --scheme NAME      auto, cuckoo, hashgraph, open, iceberg, bucket_list     [auto]\n"
    "  --mode NAME        distributed, independent                                [distributed]\n"
    "  --keys COUNT       rows of all members together                            [2^24]\n"
    "  --scaling LIST     strong; weak: --keys are the rows of each member        [strong]\n"
    "  --key-bits BITS    32, 64                                                  [32]\n"
    "  --value-bits BITS  32, 64                                                  [32]\n"
    "  --duplicates LIST  rows of every key                                       [1]\n"
    "  --distribution LIST  uniform: every key as often as the others; zipf:S: key number k\n"
    "                     with a frequency as k^-S; hot or hot:PERCENT: half, or so many, of\n"
    "                     the rows have one key                                   [uniform]\n"
    "  --hot PERCENT      the same as --distribution hot:PERCENT; 0: uniform\n"
    "  --arrays NAME      device, host: the memory of keys, values and answers    [device]\n"
    "  --slice COUNT      keys of a member at a time; 0 lets the library choose   [0]\n"
    "  --repeat COUNT     timed runs; the medians count                           [5]\n"
    "  --seed NUMBER      of the keys                                             [1]\n"
    "  --model            holds a model of builds against what was measured, phase by phase,\n"
    "                     and prints what it says of other machines. It needs the single\n"
    "                     table; under mpirun every rank then has one of its own rows, and\n"
    "                     ratio goes by these\n"
    "  --no-verify        does not check the answers\n"
    "  --format NAME      table, csv                                              [table]\n";

void dist_help(void) { (void)fputs(usage, stdout); }

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

/* Names with commas in between. */
static bool read_ops(const char *text, bool *ops)
{
    static const char *const names[DIST_OPS] = {"build", "find", "join", "group"};
    memset(ops, 0, DIST_OPS * sizeof *ops);
    for (;;) {
        char name[16];
        const size_t length = strcspn(text, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 15 ? length : 15), text);
        const uint32_t op = bench_read_word(name, names, DIST_OPS);
        if (op == DIST_OPS) return false;
        ops[op] = true;
        if (text[length] == 0) break;
        text += length + 1;
    }
    ops[DIST_BUILD] = ops[DIST_FIND] = ops[DIST_BUILD] || ops[DIST_FIND];
    return true;
}

/* The items of lists, appended. */
static bool append_members(void *to, const char *item)
{
    dist_options *o = (dist_options *)to;
    return o->member_count < DIST_LIST_MAX &&
           bench_read_whole(item, 1, HEDDLE_CLUSTER_MEMBERS_MAX, &o->members[o->member_count++]);
}

static bool append_duplicates(void *to, const char *item)
{
    dist_options *o = (dist_options *)to;
    uint64_t *last = &o->duplicates[o->duplicate_count];
    return o->duplicate_count++ < DIST_LIST_MAX && bench_read_count(item, last) && *last != 0;
}

static bool append_skew(void *to, const char *item)
{
    dist_options *o = (dist_options *)to;
    dist_skew *last = &o->skews[o->skew_count];
    char *rest = NULL;
    if (o->skew_count++ == DIST_LIST_MAX) return false;
    last->zipf = 0;
    last->hot = strcmp(item, "hot") == 0 ? DIST_HOT : 0;
    if (strncmp(item, "hot:", 4) == 0) return bench_read_whole(item + 4, 1, 99, &last->hot);
    if (last->hot != 0 || strcmp(item, "uniform") == 0) return true;
    if (strncmp(item, "zipf:", 5) != 0) return false;
    last->zipf = strtod(item + 5, &rest);
    return *rest == 0 && last->zipf >= 0.01 && last->zipf <= 10;
}

static bool append_scaling(void *to, const char *item)
{
    dist_options *o = (dist_options *)to;
    if (strcmp(item, "strong") == 0) o->strong = true;
    else if (strcmp(item, "weak") == 0) o->weak = true;
    else return false;
    return true;
}

static bool read_hot(const char *text, dist_options *o)
{
    o->skew_count = 1;
    o->skews[0].zipf = 0;
    return bench_read_whole(text, 0, 99, &o->skews[0].hot);
}

/* An option whose value is a list. */
static bool read_list(const char *name, const char *value, dist_options *o, bool *known)
{
    if (strcmp(name, "--members") == 0) {
        o->member_count = 0;
        return bench_read_list(value, append_members, o);
    }
    if (strcmp(name, "--duplicates") == 0) {
        o->duplicate_count = 0;
        return bench_read_list(value, append_duplicates, o);
    }
    if (strcmp(name, "--distribution") == 0) {
        o->skew_count = 0;
        return bench_read_list(value, append_skew, o);
    }
    if (strcmp(name, "--scaling") == 0) {
        o->strong = o->weak = false;
        return bench_read_list(value, append_scaling, o);
    }
    *known = false;
    return true;
}

/* An option that names one of a few words. */
static bool read_named(const char *name, const char *value, dist_options *o, bool *known)
{
    static const char *const containers[] = {"", "map", "set", "multimap", "counter"};
    static const char *const schemes[] = {"auto", "cuckoo",  "hashgraph",
                                          "open", "iceberg", "bucket_list"};
    static const char *const modes[] = {"distributed", "independent"};
    static const char *const formats[] = {"table", "csv"};
    static const char *const memories[] = {"device", "host"};
    uint32_t word = 0;
    bool good = true;
    if (strcmp(name, "--container") == 0) good = read_word(value, containers, 5, &o->container);
    else if (strcmp(name, "--scheme") == 0) good = read_word(value, schemes, 6, &o->scheme);
    else if (strcmp(name, "--mode") == 0) good = read_word(value, modes, 2, &o->mode);
    else if (strcmp(name, "--arrays") == 0) good = read_word(value, memories, 2, &o->arrays);
    else if (strcmp(name, "--format") == 0) {
        good = read_word(value, formats, 2, &word);
        o->csv = word == 1;
    } else *known = false;
    return good && o->container != 0;
}

/* An option with a value; false when the value is bad, *known when there is such an option. */
static bool read_option(const char *name, const char *value, dist_options *o, bool *known)
{
    bool good = true;
    *known = true;
    if (strcmp(name, "--devices") == 0) o->cluster = value;
    else if (strcmp(name, "--op") == 0) good = read_ops(value, o->ops);
    else if (strcmp(name, "--single") == 0) o->single = value;
    else if (strcmp(name, "--keys") == 0) good = bench_read_count(value, &o->keys) && o->keys != 0;
    else if (strcmp(name, "--key-bits") == 0) good = read_bits(value, &o->key_bits);
    else if (strcmp(name, "--value-bits") == 0) good = read_bits(value, &o->value_bits);
    else if (strcmp(name, "--hot") == 0) good = read_hot(value, o);
    else if (strcmp(name, "--slice") == 0) good = bench_read_count(value, &o->slice);
    else if (strcmp(name, "--repeat") == 0) good = bench_read_whole(value, 1, 1000, &o->repeat);
    else if (strcmp(name, "--seed") == 0) good = bench_read_whole(value, 0, UINT64_MAX, &o->seed);
    else good = read_list(name, value, o, known);
    if (*known) return good;
    *known = true;
    return read_named(name, value, o, known);
}

/* What a bad value should have been. */
static const char *wanted(const char *name)
{
    static const char *const words[][2] = {
        {"--members", "numbers from 1 to 1024"},
        {"--duplicates", "counts from 1 on"},
        {"--distribution",
         "uniform, zipf:S with S from 0.01 to 10, hot or hot:PERCENT with 1 to 99"},
        {"--scaling", "strong, weak"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(name, words[i][0]) == 0) return words[i][1];
    return NULL;
}

static int refuse_value(const char *name, const char *value)
{
    if (wanted(name) == NULL)
        return tool_refuse("'%s' is no value for %s; try 'heddle help dist'", value, name);
    return tool_refuse("'%s' is no value for %s, which takes %s, up to %d with commas in between",
                       value, name, wanted(name), DIST_LIST_MAX);
}

static bool read_switch(const char *name, dist_options *o)
{
    if (strcmp(name, "--model") == 0) o->model = true;
    else if (strcmp(name, "--no-verify") == 0) o->verify = false;
    else return false;
    return true;
}

static void set_defaults(dist_options *o)
{
    memset(o, 0, sizeof *o);
    o->cluster = "cpu:1,cpu:1";
    o->single = "";
    o->container = HEDDLE_CONTAINER_MAP;
    o->key_bits = o->value_bits = 32;
    o->keys = UINT64_C(1) << 24;
    o->duplicates[0] = o->duplicate_count = o->skew_count = 1;
    o->repeat = 5;
    o->seed = 1;
    o->strong = true;
    o->verify = o->ops[DIST_BUILD] = o->ops[DIST_FIND] = true;
}

/* What does not go together. */
static int check_options(const dist_options *o)
{
    for (uint32_t i = 0; i < o->duplicate_count; i++)
        if (o->duplicates[i] > o->keys)
            return tool_refuse("--duplicates %llu is more than all %llu rows",
                               (unsigned long long)o->duplicates[i], (unsigned long long)o->keys);
    for (uint32_t i = 0; i < o->skew_count; i++)
        if (o->ops[DIST_JOIN] && o->skews[i].zipf > 0)
            return tool_refuse(
                "a join of keys by Zipf's law has too many pairs; leave join out of --op");
    if (!o->model) return TOOL_OK;
    if (o->mode != HEDDLE_MODE_DISTRIBUTED || !o->ops[DIST_BUILD])
        return tool_refuse("--model is of builds in distributed mode");
    if (strcmp(o->single, "none") == 0)
        return tool_refuse("--model takes a member's rate from the single table; leave out "
                           "--single none");
    return TOOL_OK;
}

int dist_options_read(int argc, char **argv, dist_options *o)
{
    set_defaults(o);
    for (int i = 1; i < argc; i++) {
        char name[32];
        const char *equals = strchr(argv[i], '='), *value;
        const size_t length = equals != NULL ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        bool known = false;
        if (read_switch(argv[i], o)) continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), argv[i]);
        value = equals != NULL ? equals + 1 : i + 1 < argc ? argv[++i] : "";
        if (!read_option(name, value, o, &known) && known) return refuse_value(name, value);
        if (!known)
            return tool_refuse("bench dist has no option '%s'; try 'heddle help dist'", name);
    }
    return check_options(o);
}
