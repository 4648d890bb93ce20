/* options.c: the options of `heddle bench dist`; see dist.h. */
#include "bench/dist/dist.h"

#include <stdlib.h>
#include <string.h>

#include "read.h"

static bool append_op(void *to, const char *item)
{
    static const char *const names[DIST_OPS] = {"build", "find", "join", "group"};
    const uint32_t op = bench_read_word(item, names, DIST_OPS);
    if (op < DIST_OPS) ((dist_options *)to)->ops[op] = true;
    return op < DIST_OPS;
}

/* The items of lists, appended. */
static bool append_members(void *to, const char *item)
{
    dist_options *o = (dist_options *)to;
    return o->member_count < DIST_LIST_MAX &&
           bench_read_whole(item, 1, HEDDLE_CLUSTER_MEMBERS_MAX, &o->members[o->member_count++]);
}

static bool append_keys(void *to, const char *item)
{
    dist_options *o = (dist_options *)to;
    uint64_t *last = &o->keys[o->key_count];
    return o->key_count++ < DIST_LIST_MAX && bench_read_count(item, last) && *last != 0;
}

static bool append_copies(void *to, const char *item)
{
    dist_options *o = (dist_options *)to;
    uint64_t *last = &o->copies[o->copies_count];
    return o->copies_count++ < DIST_LIST_MAX && bench_read_count(item, last) && *last != 0;
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

static bool read_ops(void *to, const tool_option *option, const char *text)
{
    bool *const ops = ((dist_options *)to)->ops;
    (void)option;
    memset(ops, 0, DIST_OPS * sizeof *ops);
    const bool good = bench_read_list(text, append_op, to);
    ops[DIST_BUILD] = ops[DIST_FIND] = ops[DIST_BUILD] || ops[DIST_FIND];
    return good;
}

static bool read_hot(void *to, const tool_option *option, const char *text)
{
    dist_options *o = (dist_options *)to;
    (void)option;
    o->skew_count = 1;
    o->skews[0].zipf = 0;
    return bench_read_whole(text, 0, 99, &o->skews[0].hot);
}

static bool read_members(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((dist_options *)to)->member_count = 0;
    return bench_read_list(text, append_members, to);
}

static bool read_keys(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((dist_options *)to)->key_count = 0;
    return bench_read_list(text, append_keys, to);
}

static bool read_copies(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((dist_options *)to)->copies_count = 0;
    return bench_read_list(text, append_copies, to);
}

static bool read_skews(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((dist_options *)to)->skew_count = 0;
    return bench_read_list(text, append_skew, to);
}

static bool read_scaling(void *to, const tool_option *option, const char *text)
{
    dist_options *o = (dist_options *)to;
    (void)option;
    o->strong = o->weak = false;
    return bench_read_list(text, append_scaling, o);
}

static bool read_repeat(void *to, const tool_option *option, const char *text)
{
    return option_number(to, option, text) && ((dist_options *)to)->repeat <= 1000;
}

/* --------------------------------------------------------------------------------------- options */

static const tool_word op_words[] = {
    {"build", "all rows into a table"},
    {"find", "all keys, with their values; it builds, too"},
    {"join",
     "the rows as left side, the same keys in another order as right one; all pairs are fetched"},
    {"group", "the values of every key are added up"},
    {NULL, NULL},
};
static const tool_word scaling_words[] = {
    {"strong", "--keys are the rows of all members together"},
    {"weak", "--keys are the rows of each member"},
    {NULL, NULL},
};
static const tool_word mode_words[] = {
    {"distributed", "the one whose hash it is"},
    {"independent", "the one it was given to"},
    {NULL, NULL},
};
static const tool_word skew_words[] = {
    {"uniform", "every key as often as the others"},
    {"zipf:S", "key number k with a frequency as k^-S, S from 0.01 to 10"},
    {"hot", "half of the rows have one key"},
    {"hot:PERCENT", "so many have, 1 to 99"},
    {NULL, NULL},
};

#define COUNT "a count like 2^24, 16M or 1e6"
#define AT(FIELD) .at = offsetof(dist_options, FIELD)
#define COPIES .value = "LIST", .wants = "counts from 1 on", .usual = "1", .read = read_copies

const tool_option dist_option_list[] = {
    {"--devices", .value = "NAMES", .wants = "names like cpu:1,cpu:1 or cuda:0,cuda:1",
     .usual = "cpu:1,cpu:1", .text = "the members' devices; one may be named again",
     .read = option_text, AT(cluster)},
    {"--members", .value = "LIST", .wants = "numbers from 1 to 1024", .usual = "all, once",
     .text =
         "clusters of so many members: those of --devices in turn; under mpirun the first ranks",
     .read = read_members},
    {"--single", .value = "NAME", .wants = "a device, or none",
     .usual = "as many threads as all members together, or the GPU of the cluster",
     .text = "device of the single table; none leaves it out", .read = option_text, AT(single)},
    {"--keys", .value = "LIST", .wants = "counts like 2^24, 16M or 1e6", .usual = "2^24",
     .text = "rows", .read = read_keys},
    {"--scaling", .value = "LIST", .explained = scaling_words, .usual = "strong",
     .text = "whose rows they are", .read = read_scaling},
    {"--op", .value = "LIST", .explained = op_words, .usual = "build,find", .text = "operations",
     .read = read_ops},
    {"--container", .value = "NAME", .words = "map set multimap counter", .usual = "map",
     .text = "what is built", .read = option_word, AT(container), .first = HEDDLE_CONTAINER_MAP},
    {"--scheme", .value = "NAME", .words = "auto cuckoo hashgraph open iceberg bucket_list",
     .usual = "auto", .text = "by which scheme", .read = option_word, AT(scheme)},
    {"--mode", .value = "NAME", .explained = mode_words, .usual = "distributed",
     .text = "which member has a key", .read = option_word, AT(mode)},
    {"--copies", .text = "rows of every key", COPIES},
    {"--duplicates", COPIES},
    {"--distribution", .value = "LIST", .explained = skew_words, .usual = "uniform",
     .text = "how often keys are there", .read = read_skews},
    {"--hot", .value = "PERCENT", .wants = "0 to 99",
     .text = "the same as --distribution hot:PERCENT; 0: uniform", .read = read_hot},
    {"--key-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of keys",
     .read = option_bits, AT(key_bits)},
    {"--value-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of values",
     .read = option_bits, AT(value_bits)},
    {"--arrays", .value = "NAME", .words = "device host", .usual = "device",
     .text = "the memory of keys, values and answers", .read = option_word, AT(arrays)},
    {"--slice", .value = "COUNT", .wants = COUNT, .usual = "0",
     .text = "keys of a member at a time; 0 lets the library choose", .read = option_count,
     AT(slice)},
    {"--model",
     .text = "holds a model of builds against what was measured, phase by phase, and prints what "
             "it says of other "
             "machines. It needs the single table; under mpirun every rank then has one of its own "
             "rows, and the "
             "times stand beside these",
     .read = option_true, AT(model)},
    {"--repeat", .value = "COUNT", .wants = "a number from 1 to 1000", .usual = "5",
     .text = "timed runs, of which the median counts", .read = read_repeat, AT(repeat), .first = 1},
    {"--seed", .value = "NUMBER", .wants = "a number below 10^19", .usual = "1",
     .text = "of the keys", .read = option_number, AT(seed)},
    {"--no-verify", .text = "do not check the answers", .read = option_false, AT(verify)},
    {"--format", .value = "NAME", .words = "table csv json", .usual = "table",
     .text = "how rows are printed (json: an object a line)", .read = option_word, AT(format)},
    {"--commit", .value = "TEXT", .wants = "one line of text", .text = "written to the head of csv",
     .read = option_text, AT(commit)},
};
_Static_assert(sizeof dist_option_list / sizeof dist_option_list[0] == DIST_OPTION_COUNT,
               "dist.h states their number");

const char dist_text[] =
    "Builds a table of a cluster and finds all its keys, which are in memory of the first member's "
    "device or of the "
    "host, and the same with a single table, for every combination of the lists of keys, "
    "members, scaling, distribution and "
    "copies. A row gives the rate, the time divided by that of the single table, the rate divided "
    "by that of the first number "
    "of members in the list, the shares of the four phases, and how much more than the mean the "
    "fullest member holds "
    "and was sent.\n\n"
    "Joins take the rows as their left side and the same keys in another order as their right one, "
    "and fetch all "
    "pairs; group-bys add the values up. Their rows have the phases of the creation.\n\n"
    "Under mpirun, heddle-mpi takes the same options: mpirun -n 2 heddle-mpi --devices cpu:1.";

static void set_defaults(dist_options *o)
{
    memset(o, 0, sizeof *o);
    o->cluster = "cpu:1,cpu:1";
    o->single = "";
    o->container = HEDDLE_CONTAINER_MAP;
    o->key_bits = o->value_bits = 32;
    o->keys[0] = UINT64_C(1) << 24;
    o->copies[0] = o->key_count = o->copies_count = o->skew_count = 1;
    o->repeat = 5;
    o->seed = 1;
    o->strong = true;
    o->verify = o->ops[DIST_BUILD] = o->ops[DIST_FIND] = true;
}

/* What does not go together. */
static int check_options(const dist_options *o)
{
    uint64_t least = o->keys[0];
    for (uint32_t i = 1; i < o->key_count; i++)
        if (o->keys[i] < least) least = o->keys[i];
    for (uint32_t i = 0; i < o->copies_count; i++)
        if (o->copies[i] > least)
            return tool_refuse("bench: --copies %llu is more than all %llu rows",
                               (unsigned long long)o->copies[i], (unsigned long long)least);
    for (uint32_t i = 0; i < o->skew_count; i++)
        if (o->ops[DIST_JOIN] && o->skews[i].zipf > 0)
            return tool_refuse(
                "bench: a join of keys by Zipf's law has too many pairs; leave join out of --op");
    if (!o->model) return TOOL_OK;
    if (o->mode != HEDDLE_MODE_DISTRIBUTED || !o->ops[DIST_BUILD])
        return tool_refuse("bench: --model is of builds in distributed mode");
    if (strcmp(o->single, "none") == 0)
        return tool_refuse("bench: --model takes a member's rate from the single table; leave out "
                           "--single none");
    return TOOL_OK;
}

int dist_options_read(const tool_command *command, int argc, char **argv, dist_options *o)
{
    set_defaults(o);
    const int status = command_read(command, argc, argv, o);
    return status == TOOL_OK ? check_options(o) : status;
}
