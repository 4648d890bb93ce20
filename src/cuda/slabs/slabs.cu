/*
 * slabs.cu: slab hashes on a CUDA device, for one width of keys and values: the launches of the kernels in
 * slab_kernels.h. Built once for each, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS and HD_SYMBOL.
 * Exports HD_SYMBOL alone.
 */
#include "base/error.h"
#include "cuda/device/engine.h"
#include "cuda/slabs/slab_kernels.h"

#define APART_LEAST (UINT64_C(1) << 21) /* operations that are worth three launches */
#define LAUNCH_KEYS (UINT64_C(1) << 30) /* of one launch: their numbers stay 32 bits wide */

#define BLOCKS_MOST (2048 / SLAB_BLOCK) /* that a processor holds */

/* As many blocks as fill the device, so many a processor, or as there is work for, `lanes` threads a piece. */
static unsigned blocks_for(const heddle_device *device, uint64_t pieces, uint32_t lanes,
                           uint32_t each)
{
    const uint64_t needed = (pieces * lanes + SLAB_BLOCK - 1) / SLAB_BLOCK;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * each;
    return (unsigned)(needed == 0 ? 1 : needed < full ? needed : full);
}

/* Nothing is launched for nothing. */
#define ENTER_FOR(n)                                                                               \
    cudaStream_t use;                                                                              \
    const heddle_status status = hd_cuda_enter(device, stream, &use);                              \
    if (status != HEDDLE_OK || (n) == 0) return status

/* The part of a batch that a launch takes. */
static hd_slab_batch part_of(const hd_slab_batch *batch, uint64_t first)
{
    hd_slab_batch part = *batch;
    part.n = batch->n - first < LAUNCH_KEYS ? batch->n - first : LAUNCH_KEYS;
    part.keys = (const hd_key *)batch->keys + first;
    if (batch->operations != NULL) part.operations += first;
    if (batch->values != NULL) part.values = (const hd_value *)batch->values + first;
    if (batch->outcomes != NULL) part.outcomes += first;
    if (batch->found != NULL) part.found += first;
    if (batch->matches != NULL) part.matches += first;
    if (batch->places != NULL) part.places += first;
    if (batch->values_out != NULL && batch->places == NULL)
        part.values_out = (hd_value *)batch->values_out + first;
    return part;
}

/*
 * The operations that a warp takes at a time: as many as it has lanes, where every warp that the device holds can
 * have as many, but for small batches one a tile.
 */
static uint32_t share_width(const heddle_device *device, uint64_t n)
{
    const uint64_t warps = (uint64_t)((const hd_device_cuda *)device)->multiprocessors *
                           (SLAB_BLOCKS * SLAB_BLOCK / WARP_LANES);
    uint32_t width = WARP_SLAB_TILES;
    while (width < WARP_LANES && warps * width < n) width *= 2;
    return width;
}

template <int OPERATION, bool MULTI, bool REUSES>
static void launch_kind(const heddle_device *device, const hd_slab_view *view,
                        const hd_slab_batch *part, cudaStream_t use)
{
    const uint32_t width = share_width(device, part->n);
    const unsigned blocks =
        blocks_for(device, (part->n + width - 1) / width, WARP_LANES, SLAB_BLOCKS_OF(REUSES));
    slab_batch<OPERATION, MULTI, REUSES><<<blocks, SLAB_BLOCK, 0, use>>>(*view, *part, width);
}

template <bool MULTI>
static void launch_batch(const heddle_device *device, const hd_slab_view *view,
                         const hd_slab_batch *part, cudaStream_t use)
{
    if (part->operation == HD_SLAB_INSERT && !MULTI && part->revived != NULL)
        launch_kind<HD_SLAB_INSERT, MULTI, !MULTI>(device, view, part, use);
    else if (part->operation == HD_SLAB_INSERT)
        launch_kind<HD_SLAB_INSERT, MULTI, false>(device, view, part, use);
    else if (part->operation == HD_SLAB_ERASE)
        launch_kind<HD_SLAB_ERASE, MULTI, false>(device, view, part, use);
    else launch_kind<HD_SLAB_FIND, MULTI, false>(device, view, part, use);
}

/* Chunks that give every block equally much to do, and every tile of it one operation at least. */
static void launch_mixed(const heddle_device *device, const hd_slab_view *view,
                         const hd_slab_batch *part, cudaStream_t use)
{
    const uint64_t full =
        (uint64_t)((const hd_device_cuda *)device)->multiprocessors * SLAB_BLOCKS_WIDE;
    const uint64_t least = SLAB_BLOCK / HD_SLAB_LANES;
    const uint64_t rounds = (part->n + full * SLAB_CHUNK - 1) / (full * SLAB_CHUNK);
    const uint64_t even = (part->n + full * rounds - 1) / (full * rounds);
    const uint32_t chunk = (uint32_t)((even + least - 1) / least * least);
    const uint64_t needed = (part->n + chunk - 1) / chunk;
    const unsigned blocks = (unsigned)(needed < full ? needed : full);
    const uint32_t width = chunk / BLOCK_WARPS < WARP_LANES ? chunk / BLOCK_WARPS : WARP_LANES;
    if (part->multi) slab_mixed<true><<<blocks, SLAB_BLOCK, 0, use>>>(*view, *part, chunk, width);
    else slab_mixed<false><<<blocks, SLAB_BLOCK, 0, use>>>(*view, *part, chunk, width);
}

template <int OPERATION>
static void launch_select(const heddle_device *device, const hd_slab_view *view,
                          const hd_slab_batch *part, cudaStream_t use)
{
    slab_select<OPERATION>
        <<<blocks_for(device, part->n, 1, SLAB_BLOCKS_WIDE), SLAB_BLOCK, 0, use>>>(*view, *part);
}

/* A mixture, kind by kind. */
static void launch_kinds(const heddle_device *device, const hd_slab_view *view,
                         const hd_slab_batch *part, cudaStream_t use)
{
    launch_select<SLAB_ASK>(device, view, part, use);
    launch_select<HD_SLAB_INSERT>(device, view, part, use);
}

static heddle_status run_batch(heddle_device *device, const hd_slab_view *view,
                               const hd_slab_batch *batch, void *stream)
{
    ENTER_FOR(batch->n);
    if (slab_lists(view) > UINT32_MAX) /* more than half a terabyte of them */
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "a slab hash with 2^32 lists or more on a GPU");
    for (uint64_t first = 0; first < batch->n; first += LAUNCH_KEYS) {
        const hd_slab_batch part = part_of(batch, first);
        if (part.operations != NULL && part.apart && !part.retry && !part.multi)
            launch_kinds(device, view, &part, use);
        else if (part.operations != NULL || part.retry) launch_mixed(device, view, &part, use);
        else if (part.multi) launch_batch<true>(device, view, &part, use);
        else launch_batch<false>(device, view, &part, use);
    }
    return hd_cuda_check(cudaGetLastError(), "cannot work on slabs");
}

static heddle_status run_batch_all(heddle_device *device, const hd_slab_view *view,
                                   const hd_slab_batch *batch, void *stream)
{
    ENTER_FOR(batch->n);
    for (uint64_t first = 0; first < batch->n; first += LAUNCH_KEYS) {
        const hd_slab_batch part = part_of(batch, first);
        const unsigned blocks = blocks_for(device, part.n, HD_SLAB_LANES, BLOCKS_MOST);
        if (part.operation == HD_SLAB_COUNT)
            slab_batch_all<HD_SLAB_COUNT><<<blocks, SLAB_BLOCK, 0, use>>>(*view, part);
        else if (part.operation == HD_SLAB_RETRIEVE)
            slab_batch_all<HD_SLAB_RETRIEVE><<<blocks, SLAB_BLOCK, 0, use>>>(*view, part);
        else if (part.operation == HD_SLAB_CLAIM)
            slab_batch_all<HD_SLAB_CLAIM><<<blocks, SLAB_BLOCK, 0, use>>>(*view, part);
        else slab_batch_all<HD_SLAB_ERASE_ALL><<<blocks, SLAB_BLOCK, 0, use>>>(*view, part);
    }
    return hd_cuda_check(cudaGetLastError(), "cannot go through the pairs of keys");
}

static heddle_status compact(heddle_device *device, const hd_slab_view *view, hd_slab_words *words,
                             const uint64_t *died, const hd_slab_need *need, void *stream)
{
    ENTER_FOR(1);
    slab_decide<<<1, SLAB_BLOCK, 0, use>>>(view->pool, words, died, *need);
    slab_compact_all<<<blocks_for(device, slab_lists(view), HD_SLAB_LANES, BLOCKS_MOST), SLAB_BLOCK,
                       0, use>>>(*view, words);
    return hd_cuda_check(cudaGetLastError(), "cannot compact slabs");
}

static heddle_status collect(heddle_device *device, const hd_slab_view *view, const hd_export *to,
                             void *stream)
{
    ENTER_FOR(to->n);
    slab_collect_all<<<blocks_for(device, to->n, HD_SLAB_LANES, BLOCKS_MOST), SLAB_BLOCK, 0, use>>>(
        *view, to->first, to->n, (hd_key *)to->keys, (hd_value *)to->values, to->cursor);
    return hd_cuda_check(cudaGetLastError(), "cannot export slabs");
}

static heddle_status inspect(heddle_device *device, const hd_slab_view *view, bool unique,
                             uint32_t *seen, hd_slab_census *census, void *stream)
{
    ENTER_FOR(1);
    slab_inspect_all<<<blocks_for(device, slab_lists(view), 1, BLOCKS_MOST), SLAB_BLOCK, 0, use>>>(
        *view, unique, seen, census);
    return hd_cuda_check(cudaGetLastError(), "cannot inspect slabs");
}

template <bool MULTI>
static cudaError_t launch_fill(const heddle_device *device, const hd_slab_view *view,
                               const hd_slab_batch *batch, const hd_sorted *sorted,
                               cudaStream_t use)
{
    const uint64_t bytes = slab_plan_bytes(view), regions = UINT64_C(1)
                                                            << view->buckets.region_bits;
    const uint64_t full =
        (uint64_t)((const hd_device_cuda *)device)->multiprocessors * SLAB_FILL_BLOCKS;
    const cudaError_t error = cudaFuncSetAttribute(
        slab_fill_all<MULTI>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess) return error;
    slab_fill_all<MULTI>
        <<<(unsigned)(regions < full ? regions : full), SLAB_FILL_BLOCK, bytes, use>>>(
            *view, *batch, *sorted);
    return cudaGetLastError();
}

static heddle_status fill(heddle_device *device, const hd_slab_view *view,
                          const hd_slab_batch *batch, const hd_sorted *sorted, void *stream)
{
    ENTER_FOR(1);
    return hd_cuda_check(batch->multi ? launch_fill<true>(device, view, batch, sorted, use)
                                      : launch_fill<false>(device, view, batch, sorted, use),
                         "cannot fill slabs by regions");
}

static bool can_fill(heddle_device *device, const hd_slab_view *view)
{
    return slab_plan_bytes(view) + 64 <=
           ((hd_device_cuda *)device)->shared_bytes; /* 64: the sums */
}

static heddle_status take(heddle_device *device, const hd_slab_pool *pool, uint64_t n,
                          uint32_t *addresses, void *stream)
{
    ENTER_FOR(n);
    slab_take_all<<<blocks_for(device, n, 1, BLOCKS_MOST), SLAB_BLOCK, 0, use>>>(*pool, n,
                                                                                 addresses);
    return hd_cuda_check(cudaGetLastError(), "cannot take slabs");
}

extern "C" const hd_slab_ops HD_SYMBOL;
extern "C" const hd_slab_ops HD_SYMBOL = {
    HD_KEY_BITS, HD_VALUE_BITS, HD_SLAB_SLOTS, APART_LEAST, run_batch, run_batch_all,
    compact,     collect,       inspect,       fill,        can_fill,  take,
};
