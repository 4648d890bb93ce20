/*
 * keys.h: launches of keys_kernels.h: rows numbered by key while keys are few (hd_relate_ops.few), and
 * distinct keys alone (hd_relate_ops.distinct). Include it in relate.cu alone.
 *
 * Both queue all kernels at once and wait once, for the number of keys. The device decides by itself how
 * large the table is. Only where its guess was too low everything is queued once more, with all the slots.
 */
#ifndef HD_CUDA_KEYS_H
#define HD_CUDA_KEYS_H

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "base/tuning.h"
#include "cuda/device/engine.h"
#include "cuda/relate/keys_kernels.h"

#define KEYS_FEW (UINT64_C(1) << 20)    /* keys whose table stays in the second-level cache */
#define KEYS_SHARED (72u << 10)         /* bytes of it for a block, at most */
#define KEYS_SHARED_VALUES (104u << 10) /* and with aggregates, where fewer blocks fit */
#define KEYS_MANY (UINT64_C(1) << 21)   /* keys at most with sizes, first rows or aggregates */
#define KEYS_DRAW_BITS 14               /* half as many rows are drawn */

/* What is wanted of an array of keys. */
typedef struct keys_plan {
    uint64_t n, room; /* rows; keys at most */
    bool firsts, sizes, ordered;
    bool numbers; /* of every row: the entries of a second table */
    const hd_reduce *values;
    uint32_t value_count;
} keys_plan;

/* Where things lie: in the memory that is kept, and in work memory. */
typedef struct keys_layout {
    uint64_t homes, slots, words;
    uint64_t keys, firsts, sizes, bits, before, kept; /* control is first */
    uint64_t cells[KEYS_VALUES], counts[KEYS_VALUES];
    uint64_t entries, scan, work;
    size_t scan_bytes;
} keys_layout;

struct keys_bits_set {
    __host__ __device__ unsigned long long operator()(unsigned long long word) const
    {
#ifdef __CUDA_ARCH__
        return (unsigned long long)__popcll(word);
#else
        return (unsigned long long)__builtin_popcountll(word);
#endif
    }
};

static cudaError_t keys_scan(void *work, size_t &bytes, const unsigned long long *bits,
                             unsigned long long *before, uint64_t words, cudaStream_t stream)
{
    typedef thrust::transform_iterator<keys_bits_set, const unsigned long long *> each_word;
    return cub::DeviceScan::ExclusiveScan(work, bytes, each_word(bits, keys_bits_set()), before,
                                          cuda::std::plus<>(), 0ull, (int64_t)words, stream);
}

static uint64_t keys_line(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/* Of few keys the table is filled to a half at most, of any number to two thirds. */
static uint64_t keys_homes_at_most(const keys_plan *plan)
{
    const uint64_t homes = plan->room <= KEYS_FEW ? 2 * plan->room : plan->room + plan->room / 2;
    return homes > KEYS_LEAST ? homes : KEYS_LEAST;
}

/* Whether values of a column are counted apart from rows; whether there is anything to add up. */
static bool keys_has_counts(const hd_reduce *r) { return r->valid != NULL; }
static bool keys_has_cells(const hd_reduce *r) { return r->aggregate != HEDDLE_AGGREGATE_COUNT; }

/* Sizes are asked for by an aggregate: a count, or a mean where all values are there. */
static bool keys_wants_sizes(const hd_reduce *values, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++)
        if (values[j].valid == NULL && (values[j].aggregate == HEDDLE_AGGREGATE_COUNT ||
                                        values[j].aggregate == HEDDLE_AGGREGATE_MEAN))
            return true;
    return false;
}

/* What is added up for an aggregate. No sum of fewer than 2^32 integers of 32 bits wraps, so their mean needs no doubles. */
static uint32_t keys_what(const hd_reduce *r, uint64_t n)
{
    const bool floats = r->type == HEDDLE_TYPE_F32 || r->type == HEDDLE_TYPE_F64;
    const bool half = r->type == HEDDLE_TYPE_U32 || r->type == HEDDLE_TYPE_I32;
    switch (r->aggregate) {
    case HEDDLE_AGGREGATE_COUNT: return KEYS_NOTHING;
    case HEDDLE_AGGREGATE_SUM: return floats ? KEYS_SUM_FLOAT : KEYS_SUM;
    case HEDDLE_AGGREGATE_MIN: return KEYS_LEAST_VALUE;
    case HEDDLE_AGGREGATE_MAX: return KEYS_MOST_VALUE;
    default: return half && n <= UINT32_MAX ? KEYS_SUM : KEYS_SUM_FLOAT;
    }
}

static keys_layout keys_lay_out(const keys_plan *plan)
{
    keys_layout l;
    uint64_t at = keys_line(sizeof(keys_control));
    l.homes = keys_homes_at_most(plan);
    l.slots = 1 + l.homes + KEYS_TAIL;
    l.words = (plan->ordered ? plan->n : l.slots) / 64 + 2;
    l.keys = at;
    at += keys_line(l.slots * sizeof(hd_key));
    l.firsts = at;
    if (plan->firsts) at += keys_line(l.slots * sizeof(keys_row));
    l.sizes = at;
    if (plan->sizes) at += keys_line(l.slots * sizeof(uint64_t));
    for (uint32_t j = 0; j < plan->value_count; j++) {
        l.cells[j] = at;
        if (keys_has_cells(&plan->values[j])) at += keys_line(l.slots * sizeof(uint64_t));
        l.counts[j] = at;
        if (keys_has_counts(&plan->values[j])) at += keys_line(l.slots * sizeof(uint64_t));
    }
    l.bits = at;
    at += keys_line(l.words * sizeof(uint64_t));
    l.before = at;
    l.kept = at + keys_line(l.words * sizeof(uint64_t));
    l.entries = 0;
    l.scan = plan->numbers ? keys_line(l.slots * sizeof(keys_entry)) : 0;
    l.scan_bytes = 0;
    keys_scan(NULL, l.scan_bytes, NULL, NULL, l.words, NULL);
    l.work = l.scan + keys_line(l.scan_bytes);
    return l;
}

static keys_table keys_table_at(const keys_plan *plan, const keys_layout *l, void *kept)
{
    char *memory = (char *)kept;
    keys_table t;
    t.control = (keys_control *)memory;
    t.keys = (hd_key *)(memory + l->keys);
    t.firsts = plan->firsts ? (keys_row *)(memory + l->firsts) : NULL;
    t.sizes = plan->sizes ? (unsigned long long *)(memory + l->sizes) : NULL;
    t.bits = (unsigned long long *)(memory + l->bits);
    t.before = (unsigned long long *)(memory + l->before);
    t.words = l->words;
    t.ordered = plan->ordered;
    return t;
}

static keys_value keys_value_at(const keys_plan *plan, const keys_layout *l, void *kept, uint32_t j)
{
    const hd_reduce *r = &plan->values[j];
    char *memory = (char *)kept;
    keys_value v;
    v.column = r->column;
    v.valid = r->valid;
    v.cells = keys_has_cells(r) ? (unsigned long long *)(memory + l->cells[j]) : NULL;
    v.counts = keys_has_counts(r) ? (unsigned long long *)(memory + l->counts[j]) : NULL;
    v.type = r->type;
    v.what = keys_what(r, plan->n);
    v.near_count = 0;
    return v;
}

/* The aggregates that the kernels work on: counts of rows are sizes. */
static void keys_job_values(const keys_plan *plan, const keys_layout *l, void *kept, keys_job *job)
{
    for (uint32_t j = 0; j < plan->value_count; j++) {
        keys_value v = keys_value_at(plan, l, kept, j);
        if (v.cells == NULL && v.counts == NULL) continue;
        if (v.counts != NULL) v.near_count = job->near_counts++;
        job->values[job->value_count++] = v;
    }
}

/* ---------------------------------------------------------------------------------------- launches */

static uint32_t keys_shared_most(const hd_device_cuda *device, bool values)
{
    const uint32_t most = values ? KEYS_SHARED_VALUES : KEYS_SHARED;
    return device->shared_bytes < most + 1024 ? (uint32_t)device->shared_bytes - 1024 : most;
}

/* Of a block's table: as many as fit. */
static uint32_t keys_near_bits(const hd_device_cuda *device, const keys_plan *plan, keys_job job)
{
    const uint32_t most = keys_shared_most(device, job.value_count != 0);
    job.near_bits = 14;
    while (keys_near_bytes(job, plan->firsts, plan->sizes) > most) job.near_bits--;
    return (uint32_t)hd_tuned(hd_tune.keys_near_bits, job.near_bits);
}

/* The shared memory of keys_draw says how many rows are drawn; few rows are not worth a look. */
static uint32_t keys_draw_bits(const hd_device_cuda *device, uint64_t n)
{
    uint32_t bits = KEYS_DRAW_BITS;
    while ((8u << bits) + 1024 > device->shared_bytes) bits--;
    return n >> (bits + 2) != 0 ? bits : 0;
}

static keys_job keys_job_of(const hd_device_cuda *device, const keys_plan *plan,
                            const keys_layout *l, void *kept)
{
    const uint64_t entries = keys_shared_most(device, false) / sizeof(keys_entry);
    keys_job job;
    memset(&job, 0, sizeof job);
    job.table = keys_table_at(plan, l, kept);
    job.n = plan->n;
    job.homes = l->homes;
    job.least = plan->room > KEYS_FEW ? 4 * KEYS_FEW : KEYS_LEAST; /* they were not few */
    job.room = plan->room;
    job.near_homes = entries - 1 - KEYS_TAIL;
    keys_job_values(plan, l, kept, &job);
    job.near_bits = keys_near_bits(device, plan, job);
    job.copies = plan->sizes || job.value_count != 0;
    job.draw_bits = keys_draw_bits(device, plan->n);
    job.guess = hd_tune.keys_homes;
    return job;
}

typedef void (*keys_kernel)(keys_job);

template <bool VALUES> static keys_kernel keys_collector(const keys_plan *plan)
{
    if (plan->firsts)
        return plan->sizes ? keys_collect<true, true, VALUES> : keys_collect<true, false, VALUES>;
    return plan->sizes ? keys_collect<false, true, VALUES> : keys_collect<false, false, VALUES>;
}

static cudaError_t keys_run(keys_kernel kernel, const keys_job *job, unsigned blocks,
                            uint32_t shared, cudaStream_t stream)
{
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error != cudaSuccess) return error;
    kernel<<<blocks, KEYS_BLOCK, shared, stream>>>(*job);
    return cudaGetLastError();
}

static unsigned keys_blocks(const hd_device_cuda *device, uint64_t tiles, unsigned each)
{
    const uint64_t full = (uint64_t)device->multiprocessors * each;
    return (unsigned)(tiles < full ? tiles : full);
}

/* A kernel over all rows: as many blocks as run at the same time, which share the tiles evenly. */
static cudaError_t keys_run_rows(const hd_device_cuda *device, keys_kernel kernel,
                                 const keys_job *job, uint32_t shared, cudaStream_t stream)
{
    const uint64_t tiles = (job->n + KEYS_TILE - 1) / KEYS_TILE;
    int each = 1;
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, KEYS_BLOCK, shared);
    if (error != cudaSuccess) return error;
    return keys_run(kernel, job, keys_blocks(device, tiles, each > 0 ? (unsigned)each : 1), shared,
                    stream);
}

/* Blocks for a kernel over all slots. */
static unsigned keys_slot_blocks(const hd_device_cuda *device, uint64_t slots)
{
    return keys_blocks(device, (slots + KEYS_BLOCK - 1) / KEYS_BLOCK, 16);
}

/* The table and the map, all queued. */
static cudaError_t keys_find(const hd_device_cuda *device, const keys_plan *plan,
                             const keys_layout *l, const keys_job *job, char *work,
                             cudaStream_t stream)
{
    const unsigned slot_blocks = keys_slot_blocks(device, l->slots);
    const uint32_t near = keys_near_bytes(*job, plan->firsts, plan->sizes);
    const keys_kernel collect =
        job->value_count != 0 ? keys_collector<true>(plan) : keys_collector<false>(plan);
    size_t scan_bytes = l->scan_bytes;
    cudaError_t error = cudaMemsetAsync(job->table.bits, 0, l->words * sizeof(uint64_t), stream);
    if (error == cudaSuccess) error = keys_run(keys_draw, job, 1, 8u << job->draw_bits, stream);
    if (error != cudaSuccess) return error;
    keys_clear<<<slot_blocks, KEYS_BLOCK, 0, stream>>>(*job);
    error = keys_run_rows(device, collect, job, near, stream);
    if (error != cudaSuccess) return error;
    keys_mark<<<slot_blocks, KEYS_BLOCK, 0, stream>>>(job->table);
    error =
        keys_scan(work + l->scan, scan_bytes, job->table.bits, job->table.before, l->words, stream);
    if (error != cudaSuccess) return error;
    keys_end<<<1, 1, 0, stream>>>(job->table);
    return cudaGetLastError();
}

static cudaError_t keys_give_numbers(const hd_device_cuda *device, const keys_layout *l,
                                     const keys_job *job, cudaStream_t stream)
{
    const uint32_t shared = keys_shared_most(device, false);
    const cudaError_t error =
        keys_run(keys_place, job, keys_slot_blocks(device, l->slots), 0, stream);
    return error != cudaSuccess ? error
                                : keys_run_rows(device, keys_number_rows, job, shared, stream);
}

/* Everything, and once more where the guess was too low. Waits. */
static cudaError_t keys_make(const hd_device_cuda *device, const keys_plan *plan, keys_job *job,
                             void *work, cudaStream_t stream, uint64_t *groups)
{
    const keys_layout l = keys_lay_out(plan);
    keys_control control;
    cudaError_t error = cudaSuccess;
    *groups = 0;
    for (int round = 0; round < 2 && error == cudaSuccess; round++) {
        error = keys_find(device, plan, &l, job, (char *)work, stream);
        if (error == cudaSuccess && plan->numbers)
            error = keys_give_numbers(device, &l, job, stream);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(&control, job->table.control, sizeof control,
                                    cudaMemcpyDeviceToHost, stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
        if (error != cudaSuccess) break;
        if (control.full == 0) *groups = control.groups;
        if (control.full == 0 || control.homes == l.homes || control.full == KEYS_FULL_BY_GUESS ||
            control.count > plan->room)
            break;
        job->draw_bits = 0;
        job->guess = UINT64_MAX;
    }
    return error;
}

/* ---------------------------------------------------------------------------------- groups by number */

static keys_plan keys_few_plan(uint64_t n, uint64_t limit)
{
    const keys_plan plan = {n, limit, true, false, true, true, NULL, 0};
    return plan;
}

static uint64_t keys_few_work(heddle_device *device, uint64_t n, uint64_t limit)
{
    const keys_plan plan = keys_few_plan(n, limit);
    cudaStream_t use;
    if (hd_cuda_enter(device, NULL, &use) != HEDDLE_OK) return 0;
    const keys_layout l = keys_lay_out(&plan);
    return l.kept + l.work;
}

static heddle_status keys_few(heddle_device *base, hd_few_job *few, void *stream)
{
    const hd_device_cuda *device = (const hd_device_cuda *)base;
    const keys_plan plan = keys_few_plan(few->n, few->limit);
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(base, stream, &use);
    if (status != HEDDLE_OK) return status;
    const keys_layout l = keys_lay_out(&plan);
    keys_job job = keys_job_of(device, &plan, &l, few->work);
    char *work = (char *)few->work + l.kept;
    job.mix = few->mix;
    job.keys = (const hd_key *)few->keys;
    job.entries = (keys_entry *)(work + l.entries);
    job.firsts = (keys_row *)few->firsts;
    job.numbers = few->numbers;
    return hd_cuda_check(keys_make(device, &plan, &job, work, use, &few->groups),
                         "cannot number rows by key");
}

/* ------------------------------------------------------------------------------------ distinct keys */

static keys_plan keys_distinct_plan(const hd_distinct_job *job)
{
    const bool sizes = job->sizes || keys_wants_sizes(job->values, job->value_count);
    const keys_plan plan = {job->n,      job->room,       job->firsts || job->ordered,
                            sizes,       job->ordered,    false,
                            job->values, job->value_count};
    return plan;
}

static void distinct_plan(heddle_device *device, hd_distinct_job *job)
{
    const uint64_t few = hd_tuned(hd_tune.keys_few, KEYS_FEW);
    cudaStream_t use;
    job->room = job->n;
    if (job->few && job->room > few) job->room = few;
    /* Beyond the second-level cache what is added up for keys costs more than to sort the rows. */
    if ((job->sizes || job->firsts || job->value_count != 0) && job->room > KEYS_MANY)
        job->room = hd_tune.distinct_way == HD_TUNE_DISTINCT_MANY ? job->room : KEYS_MANY;
#if HD_KEY_BITS == 32
    if (job->room > UINT64_C(1) << 32) job->room = UINT64_C(1) << 32;
#endif
    job->kept_bytes = job->work_bytes = 0;
    if (hd_cuda_enter(device, NULL, &use) != HEDDLE_OK) return;
    const keys_plan plan = keys_distinct_plan(job);
    const keys_layout l = keys_lay_out(&plan);
    job->kept_bytes = l.kept;
    job->work_bytes = l.work;
}

static heddle_status distinct(heddle_device *base, hd_distinct_job *job, void *stream)
{
    const hd_device_cuda *device = (const hd_device_cuda *)base;
    const keys_plan plan = keys_distinct_plan(job);
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(base, stream, &use);
    if (status != HEDDLE_OK) return status;
    const keys_layout l = keys_lay_out(&plan);
    keys_job keys = keys_job_of(device, &plan, &l, job->kept);
    keys.mix = job->mix;
    keys.keys = (const hd_key *)job->keys;
    return hd_cuda_check(keys_make(device, &plan, &keys, job->work, use, &job->groups),
                         "cannot find distinct keys");
}

static heddle_status distinct_fetch(heddle_device *base, const hd_distinct_job *job, uint32_t what,
                                    hd_distinct_out out, void *stream)
{
    const keys_plan plan = keys_distinct_plan(job);
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(base, stream, &use);
    if (status != HEDDLE_OK) return status;
    const keys_layout l = keys_lay_out(&plan);
    const unsigned blocks = keys_slot_blocks((const hd_device_cuda *)base, l.slots);
    const keys_table table = keys_table_at(&plan, &l, job->kept);
    const uint32_t j = what - HD_DISTINCT_VALUES;
    if (what < HD_DISTINCT_VALUES)
        keys_write<<<blocks, KEYS_BLOCK, 0, use>>>(table, what, out.memory, out.row_bits);
    else
        keys_write_value<<<blocks, KEYS_BLOCK, 0, use>>>(
            table, keys_value_at(&plan, &l, job->kept, j), job->values[j].aggregate, out.memory,
            out.valid);
    return hd_cuda_check(cudaGetLastError(), "cannot write distinct keys");
}

#endif
