/*
 * slab_kernels.h: the device code of slab hashes; apart from the host code so that tests/cuda_on_cpu can run
 * these kernels on a CPU.
 *
 * A tile of eight lanes has one operation at a time and takes the next when it is done, so tiles of a warp are
 * at different operations but always take their steps together.
 */
#ifndef HD_CUDA_SLAB_KERNELS_H
#define HD_CUDA_SLAB_KERNELS_H

#include "cuda/count.h"
#include "scheme/slab_whole.h"

#ifndef SLAB_BLOCK
#define SLAB_BLOCK 256
#endif
#define SLAB_ANY 3 /* every key has its own operation */

/* What the operations of a tile came to, by HD_SLAB_PLACED to HD_SLAB_SPENT. */
typedef struct slab_sums {
    uint32_t placed, updated, spent, asked, found, erased, looks;
} slab_sums;

/* The i-th operation of a batch; OPERATION is that of all, or SLAB_ANY. */
template <int OPERATION>
HD_FN hd_slab_task slab_task(const hd_slab_batch *batch, uint32_t i, bool active)
{
    hd_slab_task task;
    task.operation = OPERATION;
    if (OPERATION == SLAB_ANY)
        task.operation = active ? batch->operations[i] : (uint32_t)HD_SLAB_FIND;
    task.policy = batch->policy;
    task.multi = batch->multi;
    task.value = 1;
    if (HD_VALUE_BITS != 0 && active && batch->values != NULL && task.operation == HD_SLAB_INSERT)
        task.value = ((const hd_value *)batch->values)[i];
    return task;
}

HD_FN void slab_note(const hd_slab_batch *batch, uint32_t i, const hd_slab_task *task, int end,
                     slab_sums *sums)
{
    if (batch->outcomes != NULL) batch->outcomes[i] = (uint8_t)end;
    sums->placed += end == HD_SLAB_PLACED;
    sums->spent += end == HD_SLAB_SPENT;
    if (task->operation == HD_SLAB_INSERT) {
        sums->updated += end == HD_SLAB_PRESENT;
        return;
    }
    sums->asked++;
    sums->found += end == HD_SLAB_PRESENT;
    sums->erased += task->operation == HD_SLAB_ERASE && end == HD_SLAB_PRESENT;
}

/* Whether the i-th operation is to be done. */
HD_FN bool slab_wanted(const hd_slab_batch *batch, uint32_t i)
{
    return !batch->retry || batch->outcomes[i] == HD_SLAB_SPENT;
}

template <int OPERATION>
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_batch(const hd_slab_view view, const hd_slab_batch batch)
{
    const hd_slab_tile t = slab_tile_here();
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, n = (uint32_t)batch.n;
    const uint32_t stride = gridDim.x * blockDim.x / HD_SLAB_LANES;
    slab_sums sums = {0, 0, 0, 0, 0, 0, 0};
    hd_slab_taker taker = taker_start(&view.pool, thread / HD_SLAB_LANES);
    uint32_t i = thread / HD_SLAB_LANES;
    bool active = i < n && slab_wanted(&batch, i);
    const hd_key *keys = (const hd_key *)batch.keys;
    hd_slab_task task = slab_task<OPERATION>(&batch, i, active);
    hd_slab_walk walk = slab_walk_start(&view, active ? keys[i] : 0);
    while (__any_sync(0xffffffffu, i < n)) {
        hd_value *to = HD_VALUE_BITS != 0 && batch.values_out != NULL
                           ? (hd_value *)batch.values_out + (i < n ? i : 0)
                           : NULL;
        const int end = slab_step(t, &view, &walk, &task, to, active, &taker);
        sums.looks += active;
        if (active && (end == HD_SLAB_AGAIN || end == HD_SLAB_ON)) continue;
        if (active && slab_tile_acts(t)) slab_note(&batch, i, &task, end, &sums);
        if (i < n) i = n - i > stride ? i + stride : n;
        active = i < n && slab_wanted(&batch, i);
        task = slab_task<OPERATION>(&batch, i, active);
        walk = slab_walk_start(&view, active ? keys[i] : 0);
    }
    const uint32_t one = slab_tile_acts(t);
    const int present = batch.policy == HEDDLE_POLICY_KEEP ? HD_KEPT : HD_UPDATED;
    uint64_t *const at = batch.counts->at;
    uint64_t *const sum_to[] = {at + HD_INSERTED, at + present,   at + HD_FAILED, at + HD_ASKED,
                                at + HD_FOUND,    at + HD_PROBES, batch.born,     batch.died};
    const uint32_t mine[] = {sums.placed, sums.updated,     sums.spent,  sums.asked,
                             sums.found,  one * sums.looks, sums.placed, sums.erased};
    block_add(sum_to, mine);
}

/* COUNT, RETRIEVE or ERASE_ALL for every key of a batch. Equal keys that erase share the pairs among them. */
template <int OPERATION>
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_batch_all(const hd_slab_view view, const hd_slab_batch batch)
{
    const hd_slab_tile t = slab_tile_here();
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, n = (uint32_t)batch.n;
    const uint32_t stride = gridDim.x * blockDim.x / HD_SLAB_LANES;
    const hd_key *keys = (const hd_key *)batch.keys;
    uint32_t found = 0, looks = 0;
    uint64_t pairs = 0;
    for (uint32_t i = thread / HD_SLAB_LANES; __any_sync(0xffffffffu, i < n);
         i = n - i > stride ? i + stride : n) {
        bool active = i < n;
        uint64_t matches = 0;
        hd_slab_walk walk = slab_walk_start(&view, active ? keys[i] : 0);
        hd_value *to = NULL;
        if (OPERATION == HD_SLAB_RETRIEVE && active)
            to = (hd_value *)batch.values_out + batch.places[i];
        while (__any_sync(0xffffffffu, active)) {
            looks += active;
            active = slab_all_step(t, &view, &walk, OPERATION, to, active, &matches) == HD_SLAB_ON;
        }
        if (i >= n) i = n;
        else if (slab_tile_acts(t)) {
            if (batch.matches != NULL) batch.matches[i] = matches;
            if (batch.outcomes != NULL)
                batch.outcomes[i] = matches != 0 ? HD_SLAB_PRESENT : HD_SLAB_ABSENT;
            found += matches != 0;
            pairs += matches;
        }
    }
    const uint64_t one = slab_tile_acts(t), erases = OPERATION == HD_SLAB_ERASE_ALL;
    uint64_t *const at = batch.counts->at;
    uint64_t *const to[] = {at + HD_ASKED, at + HD_FOUND, at + HD_PROBES, batch.died};
    const uint64_t mine[] = {thread == 0 ? batch.n : 0, found, one * looks, erases * pairs};
    block_add(to, mine);
}

/* Appends the pairs of all lists at the cursor. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_collect_all(const hd_slab_view view, uint64_t first, uint64_t n, hd_key *keys,
                     hd_value *values, uint64_t *cursor)
{
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = thread; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        slab_collect(&view, first + i, keys, values, cursor);
}

/* Compacts all lists, each by one thread. The sums: slots that are vacant again, slabs given back. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_compact_all(const hd_slab_view view, uint64_t first, uint64_t n, uint64_t *dead,
                     uint64_t *given)
{
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t sums[2] = {0, 0};
    for (uint64_t i = thread; i < n; i += (uint64_t)gridDim.x * blockDim.x) {
        const hd_slab_compacted done = slab_compact(&view, first + i);
        sums[0] += done.dead;
        sums[1] += done.given;
    }
    uint64_t *const to[] = {dead, given};
    block_add(to, sums);
}

/* Counts and checks all lists; *census and `seen` are 0 before. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_inspect_all(const hd_slab_view view, uint64_t first, uint64_t n, uint32_t *seen,
                     hd_slab_census *census)
{
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    hd_slab_census mine;
    memset(&mine, 0, sizeof mine);
    for (uint64_t i = thread; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        slab_inspect(&view, first + i, seen, &mine);
    enum { WORDS = sizeof mine / sizeof(uint64_t) };
    for (int i = 0; i < WORDS; i++)
        if (((const uint64_t *)&mine)[i] != 0)
            add_relaxed_64((uint64_t *)census + i, ((const uint64_t *)&mine)[i]);
}

#endif
