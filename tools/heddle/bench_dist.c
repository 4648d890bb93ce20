/* bench_dist.c: the options of `heddle bench dist`; see bench_dist.h. */
#include "bench_dist.h"

#include <stdio.h>
#include <string.h>

#include "bench_read.h"

static const char usage[] =
    "heddle bench dist [options]\n"
    "\n"
    "Builds a table of a group and finds all its keys, in host memory or in that of the first "
    "member's\n"
    "device, and the same with a single table. A row gives the rate in million rows/s, the time "
    "beside\n"
    "that of the single table, the shares of the four phases, and how much more than the mean the "
    "fullest\n"
    "member holds (keys) and was sent (rows). Joins take the rows as their left side and the same "
    "keys "
    "in\n"
    "another order as their right one, and fetch all pairs; group-bys add the values up. Their "
    "rows "
    "have the\n"
    "phases of the creation, and as keys the rows and groups of the result.\n"
    "\n"
    "  --op LIST          build,find,join,group; find builds, too                  [build,find]\n"
    "  --group LIST       devices, with commas in between; one may be named again  [cpu:1,cpu:1]\n"
    "  --single NAME      device of the single table; none leaves it out           [as many "
    "threads,\n"
    "                     or the GPU of the group]\n"
    "  --container NAME   map, set, multimap, counter                              [map]\n"
    "  --scheme NAME      auto, cuckoo, hashgraph, open, iceberg, bucket_list      [auto]\n"
    "  --mode NAME        distributed, independent                                 [distributed]\n"
    "  --keys COUNT       rows of all members together                             [2^24]\n"
    "  --scaling NAME     strong; weak: rows of each member                        [strong]\n"
    "  --key-bits BITS    32, 64                                                   [32]\n"
    "  --value-bits BITS  32, 64                                                   [32]\n"
    "  --duplicates COUNT rows of every key                                        [1]\n"
    "  --hot PERCENT      of the rows have one key                                 [0]\n"
    "  --slice COUNT      keys of a member at a time; 0 lets the library choose    [0]\n"
    "  --repeat COUNT     timed runs; the median counts                            [5]\n"
    "  --seed NUMBER      of the keys                                              [1]\n"
    "  --model            print what other machines would do, by a simple model\n"
    "  --no-verify        do not check the answers\n"
    "  --format NAME      table, csv                                               [table]\n";

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

/* An option with a value; false when the value is bad, *known when there is no such option. */
static bool read_option(const char *name, const char *value, dist_options *o, bool *known)
{
    static const char *const containers[] = {"", "map", "set", "multimap", "counter"};
    static const char *const schemes[] = {"auto", "cuckoo",  "hashgraph",
                                          "open", "iceberg", "bucket_list"};
    static const char *const modes[] = {"distributed", "independent"};
    static const char *const scalings[] = {"strong", "weak"}, *const formats[] = {"table", "csv"};
    uint32_t word = 0;
    bool good = true;
    *known = true;
    if (strcmp(name, "--group") == 0) o->group = value;
    else if (strcmp(name, "--op") == 0) good = read_ops(value, o->ops);
    else if (strcmp(name, "--single") == 0) o->single = value;
    else if (strcmp(name, "--container") == 0)
        good = read_word(value, containers, 5, &o->container);
    else if (strcmp(name, "--scheme") == 0) good = read_word(value, schemes, 6, &o->scheme);
    else if (strcmp(name, "--mode") == 0) good = read_word(value, modes, 2, &o->mode);
    else if (strcmp(name, "--keys") == 0) good = bench_read_count(value, &o->keys) && o->keys != 0;
    else if (strcmp(name, "--scaling") == 0) {
        good = read_word(value, scalings, 2, &word);
        o->weak = word == 1;
    } else if (strcmp(name, "--key-bits") == 0) good = read_bits(value, &o->key_bits);
    else if (strcmp(name, "--value-bits") == 0) good = read_bits(value, &o->value_bits);
    else if (strcmp(name, "--duplicates") == 0)
        good = bench_read_count(value, &o->duplicates) && o->duplicates != 0;
    else if (strcmp(name, "--hot") == 0) good = bench_read_whole(value, 0, 99, &o->hot);
    else if (strcmp(name, "--slice") == 0) good = bench_read_count(value, &o->slice);
    else if (strcmp(name, "--repeat") == 0) good = bench_read_whole(value, 1, 1000, &o->repeat);
    else if (strcmp(name, "--seed") == 0) good = bench_read_whole(value, 0, UINT64_MAX, &o->seed);
    else if (strcmp(name, "--format") == 0) {
        good = read_word(value, formats, 2, &word);
        o->csv = word == 1;
    } else *known = false;
    return good && (o->container != 0);
}

static bool read_switch(const char *name, dist_options *o)
{
    if (strcmp(name, "--model") == 0) o->model = true;
    else if (strcmp(name, "--no-verify") == 0) o->verify = false;
    else return false;
    return true;
}

int dist_options_read(int argc, char **argv, dist_options *o)
{
    memset(o, 0, sizeof *o);
    o->group = "cpu:1,cpu:1";
    o->single = "";
    o->container = HEDDLE_CONTAINER_MAP;
    o->key_bits = o->value_bits = 32;
    o->keys = UINT64_C(1) << 24;
    o->duplicates = 1;
    o->repeat = 5;
    o->seed = 1;
    o->verify = o->ops[DIST_BUILD] = o->ops[DIST_FIND] = true;
    for (int i = 1; i < argc; i++) {
        char name[32];
        const char *equals = strchr(argv[i], '='), *value;
        const size_t length = equals != NULL ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        bool known = false;
        if (read_switch(argv[i], o)) continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), argv[i]);
        value = equals != NULL ? equals + 1 : i + 1 < argc ? argv[++i] : "";
        if (!read_option(name, value, o, &known) && known)
            return tool_refuse("'%s' is no value for %s; try 'heddle help dist'", value, name);
        if (!known)
            return tool_refuse("bench dist has no option '%s'; try 'heddle help dist'", name);
    }
    if (o->keys > UINT64_C(1) << 31 && o->key_bits == 32)
        return tool_refuse("there are not so many keys of 32 bits; try --key-bits 64");
    return TOOL_OK;
}

/* As many threads as all members have together, or the first GPU of the group. */
static const char *same_hardware(const char *group, char *name, size_t size)
{
    unsigned threads = 0, one = 0;
    const char *gpu = strstr(group, "cuda");
    if (gpu != NULL) {
        (void)snprintf(name, size, "%.*s", (int)strcspn(gpu, ","), gpu);
        return name;
    }
    for (const char *at = group; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        threads += sscanf(at, "cpu:%u", &one) == 1 ? one : 1;
    }
    (void)snprintf(name, size, "cpu:%u", threads);
    return name;
}

int dist_command(int argc, char **argv)
{
    heddle_group_options group_options = HEDDLE_GROUP_OPTIONS_INIT;
    heddle_group *group = NULL;
    dist_options o;
    char single[32];
    int status = dist_options_read(argc, argv, &o);
    if (status != TOOL_OK) return status;
    if (o.single[0] == 0) o.single = same_hardware(o.group, single, sizeof single);
    if (strcmp(o.single, "none") == 0) o.single = NULL;
    group_options.slice = o.slice;
    if (heddle_group_open(o.group, &group_options, &group) != HEDDLE_OK)
        return tool_refuse("%s", heddle_last_error());
    status = dist_run(&o, group);
    heddle_group_close(group);
    return status;
}
