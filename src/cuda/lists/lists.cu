/*
 * lists.cu: lists of values on a CUDA device, for values of one width: the launches of the kernels in
 * list_kernels.h. Built once for each width, by a generated stub that defines HD_VALUE_BITS and HD_SYMBOL.
 * Exports HD_SYMBOL alone.
 */
#include "cuda/device/engine.h"
#include "cuda/lists/list_kernels.h"

static unsigned blocks_for(const heddle_device *device, uint64_t n)
{
    const uint64_t needed = (n + LIST_BLOCK - 1) / LIST_BLOCK;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * 32;
    return (unsigned)(needed == 0 ? 1 : needed < full ? needed : full);
}

/* Nothing is launched for nothing. */
#define ENTER_FOR(n)                                                                               \
    cudaStream_t use;                                                                              \
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);                        \
    if (status != HEDDLE_OK || (n) == 0) return status

static heddle_status measure(hd_site on, const hd_list_pool *pool, const hd_list_runs *runs)
{
    ENTER_FOR(runs->count);
    list_measure<<<blocks_for(on.device, runs->count), LIST_BLOCK, 0, use>>>(*pool, *runs);
    return hd_cuda_check(cudaGetLastError(), "cannot measure lists");
}

static heddle_status flag_fresh(hd_site on, const hd_list_runs *runs, uint8_t *flags)
{
    ENTER_FOR(runs->count);
    list_flag_fresh<<<blocks_for(on.device, runs->count), LIST_BLOCK, 0, use>>>(*runs, flags);
    return hd_cuda_check(cudaGetLastError(), "cannot look for new keys");
}

static heddle_status flag_empty(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                                uint8_t *flags)
{
    ENTER_FOR(lists.n);
    list_flag_empty<<<blocks_for(on.device, lists.n), LIST_BLOCK, 0, use>>>(*pool, lists.numbers,
                                                                            lists.n, flags);
    return hd_cuda_check(cudaGetLastError(), "cannot look for empty lists");
}

static heddle_status number(hd_site on, const hd_list_runs *runs, const uint8_t *flags,
                            const uint64_t *ranks, uint64_t base)
{
    const uint64_t n = runs->count;
    ENTER_FOR(n);
    list_number<<<blocks_for(on.device, n), LIST_BLOCK, 0, use>>>(flags, ranks, base, n,
                                                                  runs->numbers);
    return hd_cuda_check(cudaGetLastError(), "cannot number lists");
}

static heddle_status claim(hd_site on, const hd_list_pool *pool, const hd_list_runs *runs,
                           hd_list_place *places, uint64_t *granted)
{
    ENTER_FOR(runs->count);
    list_claim<<<blocks_for(on.device, runs->count), LIST_BLOCK, 0, use>>>(*pool, *runs, places,
                                                                           granted);
    return hd_cuda_check(cudaGetLastError(), "cannot give lists room");
}

static heddle_status copy(hd_site on, const hd_list_runs *runs, const hd_list_place *places,
                          const hd_list_rows *rows)
{
    ENTER_FOR(rows->n);
    const unsigned tiles = list_tiles(rows->n);
    if (rows->rows == NULL)
        list_copy<uint32_t, true><<<tiles, LIST_BLOCK, 0, use>>>(*runs, places, *rows);
    else if (rows->row_bits == 32)
        list_copy<uint32_t, false><<<tiles, LIST_BLOCK, 0, use>>>(*runs, places, *rows);
    else list_copy<uint64_t, false><<<tiles, LIST_BLOCK, 0, use>>>(*runs, places, *rows);
    return hd_cuda_check(cudaGetLastError(), "cannot copy values to lists");
}

static heddle_status append(hd_site on, const hd_list_pool *pool, const hd_list_appends *appends,
                            uint64_t *granted)
{
    const uint64_t n = appends->n;
    ENTER_FOR(n);
    list_append<<<blocks_for(on.device, n), LIST_BLOCK, 0, use>>>(
        *pool, appends->numbers, (const hd_value *)appends->values, n, appends->left, granted);
    return hd_cuda_check(cudaGetLastError(), "cannot append to lists");
}

static heddle_status lengths(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                             uint64_t *out)
{
    ENTER_FOR(lists.n);
    list_lengths<<<blocks_for(on.device, lists.n), LIST_BLOCK, 0, use>>>(*pool, lists.numbers,
                                                                         lists.n, out);
    return hd_cuda_check(cudaGetLastError(), "cannot count the values of lists");
}

static heddle_status first(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                           void *values)
{
    ENTER_FOR(lists.n);
    list_first<<<blocks_for(on.device, lists.n), LIST_BLOCK, 0, use>>>(*pool, lists.numbers,
                                                                       lists.n, (hd_value *)values);
    return hd_cuda_check(cudaGetLastError(), "cannot read lists");
}

static heddle_status fetch(hd_site on, const hd_list_pool *pool, const hd_list_fetch *job)
{
    ENTER_FOR(job->n);
    list_fetch<<<list_tiles(job->n), LIST_BLOCK, 0, use>>>(*pool, *job);
    return hd_cuda_check(cudaGetLastError(), "cannot fetch the values of lists");
}

static heddle_status bury(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                          const uint8_t *flags, uint64_t *sums)
{
    ENTER_FOR(lists.n);
    list_bury_flagged<<<blocks_for(on.device, lists.n), LIST_BLOCK, 0, use>>>(*pool, lists.numbers,
                                                                              flags, lists.n, sums);
    return hd_cuda_check(cudaGetLastError(), "cannot erase lists");
}

static heddle_status inspect(hd_site on, const hd_list_pool *pool, const hd_list_bounds *bounds,
                             hd_list_numbers lists, hd_list_census *census)
{
    ENTER_FOR(lists.n);
    list_inspect<<<blocks_for(on.device, lists.n), LIST_BLOCK, 0, use>>>(
        *pool, *bounds, lists.numbers, lists.n, census);
    return hd_cuda_check(cudaGetLastError(), "cannot inspect lists");
}

extern "C" const hd_list_ops HD_SYMBOL;
extern "C" const hd_list_ops HD_SYMBOL = {
    HD_VALUE_BITS, measure, flag_fresh, flag_empty, number, claim,   copy,
    append,        lengths, first,      fetch,      bury,   inspect,
};
