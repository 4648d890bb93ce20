/* settle.c: what only shows when all options of `heddle bench` are known. */
#include <heddle/heddle.h>

#include "bench/options.h"
#include "tool.h"

/* Half of all key values stay out of every table, for the queries that must miss. */
static bool fits_keys(const bench_options *o, double distinct)
{
    if (o->key_bits == 64 || distinct <= (double)(1u << 31)) return true;
    (void)tool_refuse(
        "bench: there are 2^31 different keys of 32 bits, not %.0f; use --key-bits 64", distinct);
    return false;
}

/* ------------------------------------------------------------------------------- maps and sets */

/* A plain benchmark measures one table, where no more are named. */
static void settle_axes(bench_options *o)
{
    bench_options_usual(o, BENCH_AXIS_KEYS);
    bench_options_usual(o, BENCH_AXIS_BUCKET);
    bench_options_usual(o, BENCH_AXIS_HASHES);
    bench_options_usual(o, BENCH_AXIS_LOAD);
    bench_options_usual(o, BENCH_AXIS_HIT);
    bench_options_usual(o, BENCH_AXIS_OP);
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

static int settle_tables(bench_options *o)
{
    const bench_list *keys = &o->axes.list[BENCH_AXIS_KEYS];
    const bool set = o->subject == BENCH_SET;
    o->container = set ? HEDDLE_CONTAINER_SET : HEDDLE_CONTAINER_MAP;
    if (o->value_bits == UINT32_MAX) o->value_bits = set ? 0 : 32;
    if (keys->count != 0 && !fits_keys(o, bench_list_most(keys))) return TOOL_REFUSED;
    bench_options_usual(o, BENCH_AXIS_SCHEME);
    if (o->axes.list[BENCH_AXIS_SCHEME].count != 1)
        return tool_refuse("bench: maps and sets are measured with one scheme at a time");
    o->scheme = (uint32_t)o->axes.list[BENCH_AXIS_SCHEME].at[0];
    if (o->sweeps == 0) settle_axes(o);
    return settle_sweeps(o);
}

static int settle_filter(bench_options *o)
{
    o->value_bits = 0;
    bench_options_usual(o, BENCH_AXIS_KEYS);
    bench_options_usual(o, BENCH_AXIS_BITS);
    bench_options_usual(o, BENCH_AXIS_HASHES);
    bench_options_usual(o, BENCH_AXIS_OP);
    return fits_keys(o, bench_list_most(&o->axes.list[BENCH_AXIS_KEYS])) ? TOOL_OK : TOOL_REFUSED;
}

/* --------------------------------------------------------------------------- graphs, relations */

/* The paper's builds are there to be compared with, and know no more than they need for that. */
static int settle_variants(bench_options *o)
{
    const bench_list *variants = &o->axes.list[BENCH_AXIS_VARIANT];
    const bench_list *ops = &o->axes.list[BENCH_AXIS_OP];
    bool paper = false, others = false, bins = false, builds = false, other_ops = false;
    for (uint32_t i = 0; i < variants->count; i++) {
        const bool is_paper = variants->at[i] == BENCH_V1 || variants->at[i] == BENCH_V2;
        paper |= is_paper;
        others |= !is_paper;
        bins |= variants->at[i] == BENCH_V2;
    }
    for (uint32_t i = 0; i < ops->count; i++)
        *(ops->at[i] == BENCH_BUILD ? &builds : &other_ops) = true;
    if (paper && other_ops && (!others || !builds))
        return tool_refuse("bench: v1 and v2 have the operation build alone");
    if (paper && other_ops)
        tool_say("bench: v1 and v2 have the operation build alone: the other operations are "
                 "measured without them");
    if (!bins && o->axes.list[BENCH_AXIS_BINS].count != 0)
        return tool_refuse("bench: --bins is for --variant v2");
    if (bins) bench_options_usual(o, BENCH_AXIS_BINS);
    if (paper && (o->key_bits != 32 || o->value_bits != 32))
        return tool_refuse("bench: v1 and v2 have keys and values of 32 bits");
    if (paper) bench_axes_default(&o->axes, BENCH_AXIS_OP, "build");
    bench_options_usual(o, BENCH_AXIS_OP);
    return TOOL_OK;
}

/* Whether one of the schemes is a hashgraph, and one a table of slots. */
static void schemes_named(const bench_options *o, bool *graph, bool *slots)
{
    const bench_list *schemes = &o->axes.list[BENCH_AXIS_SCHEME];
    *graph = *slots = false;
    for (uint32_t i = 0; i < schemes->count; i++)
        *(schemes->at[i] == HEDDLE_SCHEME_HASHGRAPH ? graph : slots) = true;
}

/*
 * What tables of slots alone have is refused where there are none, and what hashgraphs alone have. `usual`
 * is the scheme where none is named.
 */
static int settle_schemes(bench_options *o, uint32_t usual)
{
    bench_list *schemes = &o->axes.list[BENCH_AXIS_SCHEME];
    bool graph, slots;
    bench_options_usual(o, BENCH_AXIS_SCHEME);
    for (uint32_t i = 0; i < schemes->count; i++)
        if (schemes->at[i] == HEDDLE_SCHEME_AUTO) schemes->at[i] = usual;
    schemes_named(o, &graph, &slots);
    if (!slots && o->axes.list[BENCH_AXIS_LOAD].count + o->axes.list[BENCH_AXIS_BUCKET].count != 0)
        return tool_refuse("bench: a hashgraph has neither load nor buckets");
    if (!graph && o->axes.list[BENCH_AXIS_VERTICES].count != 0)
        return tool_refuse("bench: only a hashgraph has vertices");
    if (slots) bench_options_usual(o, BENCH_AXIS_LOAD);
    return TOOL_OK;
}

/* Multimaps are graphs or tables of slots; what the two do not share is refused. */
static int settle_multimap(bench_options *o)
{
    const bench_list *ops = &o->axes.list[BENCH_AXIS_OP];
    const bench_list *variants = &o->axes.list[BENCH_AXIS_VARIANT];
    bool graph, slots;
    const int status = settle_schemes(o, HEDDLE_SCHEME_OPEN);
    if (status != TOOL_OK) return status;
    schemes_named(o, &graph, &slots);
    for (uint32_t i = 0; i < variants->count; i++)
        if (variants->at[i] != BENCH_REGIONS && (!slots || variants->at[i] != BENCH_DIRECT))
            return tool_refuse(
                "bench: the variants of a multimap are regions and, by slots, direct");
    bench_options_usual(o, BENCH_AXIS_VARIANT);
    bench_options_usual(o, BENCH_AXIS_OP);
    for (uint32_t i = 0; i < ops->count; i++) {
        if (ops->at[i] == BENCH_RANGE &&
            !fits_keys(o, bench_list_most(&o->axes.list[BENCH_AXIS_KEYS])))
            return TOOL_REFUSED;
    }
    return TOOL_OK;
}

static int settle_counter(bench_options *o)
{
    if (o->value_bits == UINT32_MAX) o->value_bits = 32;
    const int status = settle_schemes(o, HEDDLE_SCHEME_CUCKOO);
    if (status != TOOL_OK) return status;
    bench_options_usual(o, BENCH_AXIS_COPIES);
    bench_options_usual(o, BENCH_AXIS_OP);
    return fits_keys(o, bench_list_most(&o->axes.list[BENCH_AXIS_KEYS]) /
                            bench_list_least(&o->axes.list[BENCH_AXIS_COPIES]))
               ? TOOL_OK
               : TOOL_REFUSED;
}

static int settle_mixed(bench_options *o)
{
    const bench_list *keys = &o->axes.list[BENCH_AXIS_KEYS];
    const bench_list *batches = &o->axes.list[BENCH_AXIS_BATCH];
    if (o->value_bits == UINT32_MAX) o->value_bits = 32;
    bench_options_usual(o, BENCH_AXIS_KEYS);
    bench_options_usual(o, BENCH_AXIS_BATCH);
    bench_options_usual(o, BENCH_AXIS_UPDATES);
    bench_options_usual(o, BENCH_AXIS_LOAD);
    bench_options_usual(o, BENCH_AXIS_OP);
    if (bench_list_most(batches) > bench_list_least(keys))
        return tool_refuse("bench: a batch of %.0f operations is larger than a table of %.0f keys",
                           bench_list_most(batches), bench_list_least(keys));
    /* New keys come with every batch. */
    return fits_keys(o, bench_list_most(keys) + 2.0 * bench_list_most(batches) * (o->repeat + 1))
               ? TOOL_OK
               : TOOL_REFUSED;
}

static int settle_graph(bench_options *o)
{
    if (o->value_bits == UINT32_MAX) o->value_bits = 32;
    if (o->subject == BENCH_GRAPH) bench_axes_default(&o->axes, BENCH_AXIS_SCHEME, "hashgraph");
    const int status = o->subject == BENCH_MULTIMAP ? settle_multimap(o) : TOOL_OK;
    if (status != TOOL_OK) return status;
    bench_options_usual(o, BENCH_AXIS_COPIES);
    bench_options_usual(o, BENCH_AXIS_VERTICES);
    bench_options_usual(o, BENCH_AXIS_VARIANT);
    const double most = bench_list_most(&o->axes.list[BENCH_AXIS_KEYS]);
    if (o->value_bits == 32 && most > 4294967296.0)
        return tool_refuse("bench: values are row numbers: %.0f keys want --value-bits 64", most);
    if (!fits_keys(o, most / bench_list_least(&o->axes.list[BENCH_AXIS_COPIES])))
        return TOOL_REFUSED;
    return o->subject == BENCH_GRAPH ? settle_variants(o) : TOOL_OK;
}

static int settle_join(bench_options *o)
{
    const bench_list *keys = &o->axes.list[BENCH_AXIS_KEYS];
    if ((o->left != 0) != (o->right != 0))
        return tool_refuse("bench: --left and --right go together");
    bench_options_usual(o, BENCH_AXIS_COPIES);
    bench_options_usual(o, BENCH_AXIS_HIT);
    bench_options_usual(o, BENCH_AXIS_KIND);
    const double right = o->right != 0 ? (double)o->right : bench_list_most(keys);
    return fits_keys(o, right / bench_list_least(&o->axes.list[BENCH_AXIS_COPIES])) ? TOOL_OK
                                                                                    : TOOL_REFUSED;
}

static int settle_groups(bench_options *o)
{
    const bench_list *groups = &o->axes.list[BENCH_AXIS_GROUPS];
    const double rows = bench_list_least(&o->axes.list[BENCH_AXIS_KEYS]);
    bench_options_usual(o, BENCH_AXIS_GROUPS);
    if (o->subject == BENCH_UNIQUE) bench_options_usual(o, BENCH_AXIS_ORDER);
    if (o->subject == BENCH_GROUP) bench_options_usual(o, BENCH_AXIS_AGGREGATE);
    if (bench_list_least(groups) > rows)
        return tool_refuse("bench: %.0f rows have no %.0f groups", rows, bench_list_least(groups));
    return fits_keys(o, bench_list_most(groups)) ? TOOL_OK : TOOL_REFUSED;
}

static int settle_relations(bench_options *o)
{
    if (o->left != 0 && o->axes.list[BENCH_AXIS_KEYS].count != 0)
        return tool_refuse("bench: --keys or --left and --right, not both");
    const bool graph = o->subject == BENCH_GRAPH || o->subject == BENCH_MULTIMAP;
    if (o->value_bits == UINT32_MAX && !graph && o->subject != BENCH_COUNTER) o->value_bits = 0;
    bench_options_usual(o, BENCH_AXIS_KEYS);
    bench_options_usual(o, BENCH_AXIS_SKEW);
    if (graph) return settle_graph(o);
    if (o->subject == BENCH_COUNTER) return settle_counter(o);
    return o->subject == BENCH_JOIN ? settle_join(o) : settle_groups(o);
}

int bench_options_settle(bench_options *o)
{
    if (o->subject == BENCH_FILTER) return settle_filter(o);
    if (o->subject == BENCH_MIXTURES) return settle_mixed(o);
    return o->subject <= BENCH_SET ? settle_tables(o) : settle_relations(o);
}
