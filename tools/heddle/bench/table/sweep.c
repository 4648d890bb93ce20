/*
 * sweep.c: the plan of `heddle bench --sweep`: one part for each sweep, in which one axis has
 * a long list and the others the few values that the tables of the BGHT paper have (Awad et al.,
 * Analyzing and Implementing GPU Hash Tables, 2021). What the user lists replaces both.
 */
#include <stdio.h>

#include "bench/table/table.h"
#include "tool.h"

#define USUAL_LOAD 0.8

/* The buckets that are compiled for these keys and values, as a list. */
static int list_buckets(const bench *b, char *text, size_t size)
{
    const bench_options *o = &b->options;
    const uint32_t scheme = o->scheme == HEDDLE_SCHEME_AUTO ? HEDDLE_SCHEME_CUCKOO : o->scheme;
    uint32_t count = 0;
    size_t length = 0;
    const hd_table_ops *const *tables = b->device->engine->tables(b->device, &count);
    for (uint32_t i = 0; i < count && length < size; i++)
        if (tables[i]->scheme == scheme && tables[i]->key_bits == o->key_bits &&
            tables[i]->value_bits == o->value_bits)
            length += (size_t)snprintf(text + length, size - length, "%s%u", length != 0 ? "," : "",
                                       tables[i]->bucket);
    if (length != 0) return TOOL_OK;
    if (o->value_bits == 0)
        return tool_refuse("bench: no set is compiled for %u-bit keys", o->key_bits);
    return tool_refuse("bench: no table is compiled for %u-bit keys and %u-bit values", o->key_bits,
                       o->value_bits);
}

/*
 * The bucket that the library chooses at a usual load. It would choose another one at very high
 * loads, and then two things would change between neighbouring rows.
 */
static int usual_bucket(bench *b, char *text, size_t size)
{
    const bench_point smallest = {1, 0, 0, USUAL_LOAD, 1};
    const int status = bench_table_make(b, &smallest);
    (void)snprintf(text, size, "%u", b->bucket);
    bench_table_drop(b);
    return status;
}

static int plan_buckets(bench *b, uint32_t sweep, bench_axes *axes)
{
    char text[64];
    if (axes->list[BENCH_AXIS_BUCKET].count != 0) return TOOL_OK;
    const int status = sweep == BENCH_SWEEP_BUCKET || sweep == BENCH_SWEEP_SUCCESS
                           ? list_buckets(b, text, sizeof text)
                           : usual_bucket(b, text, sizeof text);
    if (status == TOOL_OK) bench_axes_default(axes, BENCH_AXIS_BUCKET, text);
    return status;
}

static void plan_keys(const bench *b, uint32_t sweep, bench_axes *axes)
{
    const char *sizes = b->info.kind == HEDDLE_DEVICE_CUDA ? "2^16,2^18,2^20,2^22,2^24,2^26"
                                                           : "2^16,2^18,2^20,2^22,2^24";
    bench_axes_default(axes, BENCH_AXIS_KEYS,
                       sweep == BENCH_SWEEP_KEYS      ? sizes
                       : sweep == BENCH_SWEEP_SUCCESS ? "2^20"
                                                      : "2^24");
}

static void plan_ops(const bench *b, uint32_t sweep, bench_axes *axes)
{
    const char *asks = b->options.container == HEDDLE_CONTAINER_SET ? "contains" : "find";
    char all[32];
    (void)snprintf(all, sizeof all, "build,insert,%s", asks);
    bench_axes_default(axes, BENCH_AXIS_OP, all);
    if (sweep != BENCH_SWEEP_HIT) return;
    bench_list *ops = &axes->list[BENCH_AXIS_OP];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ops->count; i++)
        if (bench_op_takes_hits((uint32_t)ops->at[i])) ops->at[kept++] = ops->at[i];
    ops->count = kept;
}

static int plan_part(bench *b, uint32_t sweep, bench_part *part)
{
    bench_axes *axes = &part->axes;
    part->sweep = sweep;
    *axes = b->options.axes;
    plan_keys(b, sweep, axes);
    plan_ops(b, sweep, axes);
    const bool has_hashes = b->options.scheme != HEDDLE_SCHEME_ICEBERG; /* a choice of them */
    const bool wants_hashes = sweep == BENCH_SWEEP_HASHES || sweep == BENCH_SWEEP_SUCCESS;
    bench_axes_default(axes, BENCH_AXIS_HASHES, has_hashes && wants_hashes ? "2,3,4" : "0");
    bench_axes_default(axes, BENCH_AXIS_HIT,
                       sweep == BENCH_SWEEP_HIT ? "100,75,50,25,0" : "100,50,0");
    if (sweep != BENCH_SWEEP_SUCCESS) /* which searches when no loads are named */
        bench_axes_default(axes, BENCH_AXIS_LOAD,
                           sweep == BENCH_SWEEP_LOAD ? "0.5,0.6,0.7,0.8,0.85,0.9,0.95,0.99"
                                                     : "0.8,0.9");
    return plan_buckets(b, sweep, axes);
}

int bench_sweep_plan(bench *b)
{
    int status = TOOL_OK;
    for (uint32_t sweep = 0; sweep < BENCH_SWEEPS && status == TOOL_OK; sweep++)
        if ((b->options.sweeps >> sweep & 1) != 0)
            status = plan_part(b, sweep, &b->parts[b->part_count++]);
    return status;
}
