/*
 * list_kernels.h: the device code of bucket lists (model/lists.h) for values of one width. Steps over runs
 * and lists give each to a thread. Copies and fetches are shared by values: a block has a tile of them and
 * finds out which runs or lists the tile touches, so it does not matter how long these are.
 */
#ifndef HD_LIST_KERNELS_H
#define HD_LIST_KERNELS_H

#include "cuda/count.h"
#include "scheme/list_census.h"

#ifndef LIST_BLOCK
#define LIST_BLOCK 256
#define LIST_ITEMS 8 /* values of a thread */
#endif
#define LIST_TILE (LIST_BLOCK * LIST_ITEMS)

#define LIST_FOR_EACH(i, n)                                                                        \
    for (uint64_t i = (uint64_t)blockIdx.x * LIST_BLOCK + threadIdx.x; i < (n);                    \
         i += (uint64_t)gridDim.x * LIST_BLOCK)

/* -------------------------------------------------------------------------------------- inserting */

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_measure(hd_list_pool pool, hd_list_runs runs)
{
    LIST_FOR_EACH(g, runs.count)
    {
        const hd_list_plan plan = list_plan(&pool, runs.numbers[g], runs.fresh,
                                            runs.starts[g + 1] - runs.starts[g], runs.tight);
        runs.units[g] = plan_units(&plan);
    }
}

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_flag_fresh(hd_list_runs runs, uint8_t *flags)
{
    LIST_FOR_EACH(g, runs.count) flags[g] = run_is_fresh(&runs, g);
}

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_flag_empty(hd_list_pool pool, const uint64_t *numbers, uint64_t n, uint8_t *flags)
{
    LIST_FOR_EACH(i, n)
    flags[i] = numbers[i] != HD_LIST_NONE && list_length(&pool, numbers[i]) == 0;
}

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_number(const uint8_t *flags, const uint64_t *ranks, uint64_t base, uint64_t n,
                uint64_t *numbers)
{
    LIST_FOR_EACH(i, n)
    if (flags[i] != 0) numbers[i] = base + ranks[i];
}

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_claim(hd_list_pool pool, hd_list_runs runs, hd_list_place *places, uint64_t *granted)
{
    uint64_t sum = 0;
    LIST_FOR_EACH(g, runs.count)
    {
        const hd_list_place place = run_claim(&pool, &runs, g);
        places[g] = place;
        sum += place.granted;
    }
    uint64_t *const to[1] = {granted};
    const uint64_t mine[1] = {sum};
    block_add(to, mine);
}

/*
 * Lanes take their steps together until none has to go on. No step waits, and a lane that blocks a list
 * has published it before the vote.
 */
static __global__ void __launch_bounds__(LIST_BLOCK)
    list_append(hd_list_pool pool, const uint64_t *numbers, const hd_value *values, uint64_t n,
                uint8_t *left, uint64_t *granted)
{
    const uint64_t stride = (uint64_t)gridDim.x * LIST_BLOCK;
    uint32_t sum = 0;
    for (uint64_t base = (uint64_t)blockIdx.x * LIST_BLOCK; base < n; base += stride) {
        const uint64_t i = base + threadIdx.x;
        const bool mine = i < n && numbers[i] != HD_LIST_NONE;
        int result = mine ? HD_LIST_AGAIN : HD_LIST_OUT;
        while (__any_sync(0xffffffffu, result == HD_LIST_AGAIN))
            if (result == HD_LIST_AGAIN) result = list_append_step(&pool, numbers[i], values[i]);
        if (i < n) left[i] = result != HD_LIST_DONE;
        sum += result == HD_LIST_DONE;
    }
    uint64_t *const to[1] = {granted};
    const uint32_t mine[1] = {sum};
    block_add(to, mine);
}

/* ------------------------------------------------------------------------------------------ tiles */

/*
 * Which runs or lists a tile of values touches. Where each begins is kept in shared memory, but where there
 * are more than values, as when most lists are empty, it is looked for in the device's memory.
 */
typedef struct list_scratch {
    uint64_t first, last;
    uint32_t starts[LIST_TILE]; /* of those after the first, from the tile's begin */
} list_scratch;

typedef struct list_tile {
    uint64_t begin; /* the number of its first value among all */
    uint32_t count;
    uint64_t first, last; /* runs of its first and last value */
    bool at_hand;         /* the scratch knows where they begin */
} list_tile;

/* The last of [low, high) that begins at or before `at`; starts[low] does. */
HD_FN uint64_t run_at(const uint64_t *starts, uint64_t low, uint64_t high, uint64_t at)
{
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (starts[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

/* The tile of this block, of the values [first, first + n). Every thread calls it; the block is synchronised after. */
HD_FN list_tile list_tile_of(const uint64_t *starts, uint64_t runs, uint64_t first, uint64_t n,
                             list_scratch *scratch)
{
    const uint64_t before = (uint64_t)blockIdx.x * LIST_TILE;
    list_tile tile;
    tile.begin = first + before;
    tile.count = (uint32_t)(n - before < LIST_TILE ? n - before : LIST_TILE);
    if (threadIdx.x == 0) scratch->first = run_at(starts, 0, runs, tile.begin);
    if (threadIdx.x == 32) scratch->last = run_at(starts, 0, runs, tile.begin + tile.count - 1);
    __syncthreads();
    tile.first = scratch->first;
    tile.last = scratch->last;
    tile.at_hand = tile.last - tile.first <= LIST_TILE;
    for (uint32_t i = threadIdx.x; tile.at_hand && i < (uint32_t)(tile.last - tile.first);
         i += LIST_BLOCK)
        scratch->starts[i] = (uint32_t)(starts[tile.first + 1 + i] - tile.begin);
    __syncthreads();
    return tile;
}

/* The run of the tile's i-th value. */
HD_FN uint64_t list_tile_run(const uint64_t *starts, const list_scratch *scratch,
                             const list_tile &tile, uint32_t i)
{
    uint32_t low = 0, high = (uint32_t)(tile.last - tile.first);
    if (!tile.at_hand) return run_at(starts, tile.first, tile.last + 1, tile.begin + i);
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (scratch->starts[middle] <= i) low = middle + 1;
        else high = middle;
    }
    return tile.first + low;
}

static inline unsigned list_tiles(uint64_t n)
{
    return (unsigned)((n + LIST_TILE - 1) / LIST_TILE);
}

/* --------------------------------------------------------------------------------------- copying */

/* ROW is the type of row numbers; PLAIN: rows are in order. */
template <class ROW, bool PLAIN>
static __global__ void __launch_bounds__(LIST_BLOCK)
    list_copy(hd_list_runs runs, const hd_list_place *places, hd_list_rows rows)
{
    __shared__ list_scratch scratch;
    const list_tile tile = list_tile_of(runs.starts, runs.count, 0, rows.n, &scratch);
    const hd_value *values = (const hd_value *)rows.values;
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < tile.count; i += LIST_BLOCK) {
        const uint64_t at = tile.begin + i;
        const uint64_t row = PLAIN ? at : (uint64_t)((const ROW *)rows.rows)[at];
        const hd_value value = values[row];
        const uint64_t g = list_tile_run(runs.starts, &scratch, tile, i);
        const hd_list_place place = places[g];
        hd_value *to = place_of(&place, at - runs.starts[g]);
        if (to != NULL) *to = value;
        if (rows.outcomes != NULL)
            rows.outcomes[row] = to != NULL ? HEDDLE_OUTCOME_INSERTED : HEDDLE_OUTCOME_FAILED;
    }
}

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_lengths(hd_list_pool pool, const uint64_t *numbers, uint64_t n, uint64_t *out)
{
    LIST_FOR_EACH(i, n) out[i] = list_length(&pool, numbers[i]);
}

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_first(hd_list_pool pool, const uint64_t *numbers, uint64_t n, hd_value *values)
{
    LIST_FOR_EACH(i, n)
    if (numbers[i] != HD_LIST_NONE)
        values[i] = bucket_values(&pool, pool.records[numbers[i]].bucket)[0];
}

static __global__ void __launch_bounds__(LIST_BLOCK) list_fetch(hd_list_pool pool, hd_list_fetch f)
{
    __shared__ list_scratch scratch;
    const list_tile tile = list_tile_of(f.offsets, f.count, f.first, f.n, &scratch);
    const uint64_t to = tile.begin - f.first;
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < tile.count; i += LIST_BLOCK) {
        const uint64_t g = list_tile_run(f.offsets, &scratch, tile, i);
        if (f.values != NULL) {
            const uint64_t at = tile.begin + i - f.offsets[g];
            uint64_t begin;
            const uint64_t bucket = bucket_at(&pool, pool.records[f.numbers[g]].bucket, at, &begin);
            ((hd_value *)f.values)[to + i] = bucket_values(&pool, bucket)[at - begin];
        }
        if (f.keys != NULL && f.key_width == 4)
            ((uint32_t *)f.keys_out)[to + i] = ((const uint32_t *)f.keys)[g];
        if (f.keys != NULL && f.key_width == 8)
            ((uint64_t *)f.keys_out)[to + i] = ((const uint64_t *)f.keys)[g];
    }
}

/* ------------------------------------------------------------------------------- erasing, checking */

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_bury_flagged(hd_list_pool pool, const uint64_t *numbers, const uint8_t *flags, uint64_t n,
                      uint64_t *sums)
{
    uint64_t values = 0, units = 0;
    LIST_FOR_EACH(i, n)
    {
        uint64_t had = 0;
        if (flags[i] == 0) continue;
        units += list_bury(&pool, numbers[i], &had);
        values += had;
    }
    uint64_t *const to[2] = {&sums[0], &sums[1]};
    const uint64_t mine[2] = {values, units};
    block_add(to, mine);
}

static __global__ void __launch_bounds__(LIST_BLOCK)
    list_inspect(hd_list_pool pool, hd_list_bounds bounds, const uint64_t *numbers, uint64_t n,
                 hd_list_census *census)
{
    hd_list_census own;
    memset(&own, 0, sizeof own);
    LIST_FOR_EACH(i, n) census_list(&pool, &bounds, numbers[i], &own);
    uint64_t *const to[17] = {&census->lists,      &census->values,     &census->buckets,
                              &census->full,       &census->units,      &census->chained[0],
                              &census->chained[1], &census->chained[2], &census->chained[3],
                              &census->chained[4], &census->chained[5], &census->chained[6],
                              &census->chained[7], &census->astray,     &census->twice,
                              &census->broken,     &census->shared};
    const uint64_t mine[17] = {own.lists,      own.values,     own.buckets,    own.full,
                               own.units,      own.chained[0], own.chained[1], own.chained[2],
                               own.chained[3], own.chained[4], own.chained[5], own.chained[6],
                               own.chained[7], own.astray,     own.twice,      own.broken,
                               own.shared};
    block_add(to, mine);
}

#endif
