/*
 * instance.cu: one compiled table for CUDA devices: the launches of the kernels in kernels.h. Built
 * once for every line of instances.def, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS,
 * HD_BUCKET, HD_SCHEME_HEADER, HD_INSTANCE_NAME and HD_SYMBOL. Exports HD_SYMBOL alone. The files:
 *
 *     kernels.h             insertions; tables read and counted
 *       lookup_kernels.inl  lookups and erasures
 *     fill_kernels.inl      regions filled from sorted pairs, a block a region
 *       image.inl             a region in shared memory
 *       image_deferred.inl    keys left when all others are in: image_settle.inl moves others on, image_choose.inl
 *                             chooses among buckets with room
 *     multi_kernels.inl     multimaps: multi_ops.inl launches, multi_image.inl fills
 */
#include "cuda/device/engine.h"
#include "cuda/slots/kernels.h"

/* Blocks for `threads` threads of work: enough to fill the device, no more than there is to do. */
static unsigned grid_for(heddle_device *device, uint64_t threads, unsigned block,
                         unsigned blocks_a_processor)
{
    const uint64_t full =
        (uint64_t)((hd_device_cuda *)device)->multiprocessors * blocks_a_processor;
    const uint64_t needed = (threads + block - 1) / block;
    return (unsigned)(needed == 0 ? 1 : needed < full ? needed : full);
}

typedef void (*batch_kernel)(hd_view view, hd_batch batch);

/* How many threads a key of a batch takes, and how many blocks a processor gets at most. */
typedef struct batch_shape {
    uint32_t threads, blocks;
} batch_shape;

static const batch_shape a_tile_a_key = {HD_TILE, PLACE_BLOCKS};
static const batch_shape a_thread_a_key = {1, UINT32_MAX};
static const batch_shape erasing = {HD_TILE, ERASE_BLOCKS};

static heddle_status launch_batch(batch_kernel kernel, batch_shape shape, heddle_device *device,
                                  const hd_view *view, const hd_batch *batch, void *stream,
                                  const char *what)
{
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, stream, &use);
    const uint64_t piece = batch->listed != NULL ? batch->n : LAUNCH_KEYS;
    for (uint64_t done = 0; done < batch->n && status == HEDDLE_OK; done += piece) {
        hd_batch part = *batch;
        part.n = batch->n - done < piece ? batch->n - done : piece;
        if (batch->keys != NULL) part.keys = (const hd_key *)batch->keys + done;
        if (batch->keys_out != NULL) part.keys_out = (hd_key *)batch->keys_out + done;
        if (batch->slots != NULL) part.slots = batch->slots + done;
        if (batch->values_out != NULL && batch->places == NULL)
            part.values_out = (hd_value *)batch->values_out + done;
        if (batch->found != NULL) part.found = batch->found + done;
        if (batch->matches != NULL) part.matches = batch->matches + done;
        if (batch->places != NULL) part.places = batch->places + done;
        kernel<<<grid_for(device, part.n * shape.threads, BLOCK, shape.blocks), BLOCK, 0, use>>>(
            *view, part);
        status = hd_cuda_check(cudaGetLastError(), what);
    }
    return status;
}

/* Whether a table stays in the second-level cache; `near` kernels are for such tables. */
static bool is_near(heddle_device *device, const hd_view *view)
{
    const uint64_t slots = ((uint64_t)view->region_buckets << view->region_bits) * HD_BUCKET;
    return slots * (sizeof(hd_word) + (HD_APART ? sizeof(hd_value) : 0)) <=
           ((hd_device_cuda *)device)->cache_bytes;
}

static heddle_status find(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          void *stream)
{
    return launch_batch(is_near(device, view) ? JOIN(HD_SYMBOL, find_near) : JOIN(HD_SYMBOL, find),
                        a_thread_a_key, device, view, batch, stream, "find");
}

static heddle_status contains(heddle_device *device, const hd_view *view, const hd_batch *batch,
                              void *stream)
{
    return launch_batch(is_near(device, view) ? JOIN(HD_SYMBOL, contains_near)
                                              : JOIN(HD_SYMBOL, contains),
                        a_thread_a_key, device, view, batch, stream, "contains");
}

static heddle_status locate(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream)
{
    return launch_batch(JOIN(HD_SYMBOL, locate), a_thread_a_key, device, view, batch, stream,
                        "locate");
}

static heddle_status erase(heddle_device *device, const hd_view *view, const hd_batch *batch,
                           void *stream)
{
    return launch_batch(JOIN(HD_SYMBOL, erase), erasing, device, view, batch, stream, "erase");
}

static heddle_status at(heddle_device *device, const hd_view *view, const hd_batch *batch,
                        void *stream)
{
    return launch_batch(JOIN(HD_SYMBOL, at), a_tile_a_key, device, view, batch, stream, "at");
}

static heddle_status place(heddle_device *device, const hd_view *view, const hd_batch *batch,
                           void *stream)
{
    return launch_batch(JOIN(HD_SYMBOL, place), a_tile_a_key, device, view, batch, stream,
                        "insert");
}

static heddle_status rehome(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    JOIN(HD_SYMBOL,
         rehome)<<<grid_for(device, batch->n * HD_TILE, BLOCK, PLACE_BLOCKS), BLOCK, 0, use>>>(
        *view, *batch, *batch->from, batch->first);
    return hd_cuda_check(cudaGetLastError(), "move");
}

static heddle_status settle(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream)
{
    static const hd_view none = {};
    const uint64_t threads = UINT64_C(32) << view->region_bits;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    JOIN(HD_SYMBOL, settle)<<<grid_for(device, threads, SETTLE_BLOCK, 16), SETTLE_BLOCK, 0, use>>>(
        *view, *batch, batch->from != NULL ? *batch->from : none, batch->first);
    return hd_cuda_check(cudaGetLastError(), "insert with evictions");
}

/* A kernel may have more than 48 KB of shared memory only if it says so. */
#define ALLOW_MEMORY(kernel, bytes)                                                                \
    hd_cuda_check(                                                                                 \
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(bytes)),   \
        "cannot have a region in shared memory")

static heddle_status fill(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          const hd_sorted *sorted, bool fresh, void *stream)
{
    const uint64_t bytes = image_bytes(view);
    const uint32_t count =
        sorted->regions != NULL ? sorted->count : UINT32_C(1) << view->region_bits;
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, stream, &use);
    const auto kernel = fresh ? JOIN(HD_SYMBOL, fill_fresh) : JOIN(HD_SYMBOL, fill_more);
    int blocks = 1;
    if (status == HEDDLE_OK) status = ALLOW_MEMORY(kernel, bytes);
    if (status == HEDDLE_OK)
        status = hd_cuda_check(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, FILL_BLOCK, bytes),
            "cannot have a region in shared memory");
    if (status != HEDDLE_OK) return status;
    kernel<<<grid_for(device, count, 1, (unsigned)blocks), FILL_BLOCK, bytes, use>>>(
        *view, *batch, *sorted, count);
    return hd_cuda_check(cudaGetLastError(), "build by regions");
}

static heddle_status fold(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          const hd_fold *job, void *stream)
{
    const uint64_t bytes = image_bytes(view);
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status == HEDDLE_OK) status = ALLOW_MEMORY(JOIN(HD_SYMBOL, fold), bytes);
    if (status != HEDDLE_OK) return status;
    JOIN(HD_SYMBOL, fold)<<<job->count, FILL_BLOCK, bytes, use>>>(
        *view, *batch, (const uint32_t *)job->source, job->tasks, (uint32_t *)job->pairs,
        (unsigned long long *)job->cursors);
    return hd_cuda_check(cudaGetLastError(), "fold of crowded regions");
}

static bool can_fill(heddle_device *device, const hd_view *view)
{
    return view->region_bits <= HD_PARTITION_BITS_MAX &&
           image_bytes(view) + 64 <= ((hd_device_cuda *)device)->shared_bytes; /* 64: the sums */
}

static heddle_status clear(heddle_device *device, const hd_view *view, void *stream)
{
    const uint64_t slots = ((uint64_t)view->region_buckets << view->region_bits) * HD_BUCKET;
    return device->engine->fill(device, view->slots, 0xff, slots * sizeof(hd_word), stream);
}

static heddle_status collect(heddle_device *device, const hd_view *view, const hd_export *to,
                             void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || to->n == 0) return status;
    JOIN(HD_SYMBOL, collect)<<<grid_for(device, to->n, BLOCK, 8), BLOCK, 0, use>>>(
        *view, to->first, to->n, (hd_key *)to->keys, (hd_value *)to->values, to->cursor);
    return hd_cuda_check(cudaGetLastError(), "export");
}

static heddle_status inspect(heddle_device *device, const hd_view *view, hd_census *census,
                             void *stream)
{
    const uint64_t slots = ((uint64_t)view->region_buckets << view->region_bits) * HD_BUCKET;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    JOIN(HD_SYMBOL, inspect)<<<grid_for(device, slots, BLOCK, 8), BLOCK, 0, use>>>(*view, census);
    return hd_cuda_check(cudaGetLastError(), "inspection");
}

static heddle_status renew_marks(heddle_device *device, const hd_view *view, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    JOIN(HD_SYMBOL,
         renew_marks)<<<grid_for(device, UINT64_C(1) << view->region_bits, 1, 8), BLOCK, 0, use>>>(
        *view);
    return hd_cuda_check(cudaGetLastError(), "renewing marks");
}

#if defined(HD_MULTI) && HD_MULTI
#include "cuda/slots/multi_ops.inl"
#define MULTI_OPS &multi_ops
#else
#define MULTI_OPS NULL
#endif

extern "C" const hd_table_ops HD_SYMBOL;
extern "C" const hd_table_ops HD_SYMBOL = {
    HD_INSTANCE_NAME,
    HD_SCHEME_ID,
    HD_KEY_BITS,
    HD_VALUE_BITS,
    HD_BUCKET,
    sizeof(hd_word),
    HD_APART ? sizeof(hd_value) : 0,
    clear,
    place,
    settle,
    rehome,
    fill,
    fold,
    can_fill,
    HD_CHOOSES, /* fills_gaps */
    find,
    contains,
    erase,
    locate,
    at,
    collect,
    inspect,
    renew_marks,
    NULL, /* count, retrieve: find says it all */
    NULL,
    MULTI_OPS,
};
