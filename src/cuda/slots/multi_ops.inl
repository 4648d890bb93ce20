/* multi_ops.inl: the launches of the kernels in multi_kernels.inl. Included by instance.cu. */
#ifndef HD_INSTANCE_NAME
#error "included by instance.cu alone"
#endif
#ifndef HD_CUDA_MULTI_OPS_H
#define HD_CUDA_MULTI_OPS_H

#define MULTI_SEARCH(name)                                                                         \
    static heddle_status name(heddle_device *device, const hd_view *view, const hd_batch *batch,   \
                              void *stream)                                                        \
    {                                                                                              \
        return launch_batch(JOIN(HD_SYMBOL, name), {HD_TILE, MULTI_BLOCKS}, device, view, batch,   \
                            stream, #name);                                                        \
    }
MULTI_SEARCH(multi_find)
MULTI_SEARCH(multi_contains)
MULTI_SEARCH(multi_erase)
MULTI_SEARCH(multi_count)
MULTI_SEARCH(multi_retrieve)

/* No hints yet: every key free, every trail at its beginning. */
static heddle_status clear_hints(heddle_device *device, const hd_batch *batch, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || batch->next == NULL) return status;
    JOIN(HD_SYMBOL, multi_clear_hints)<<<HINTS / BLOCK, BLOCK, 0, use>>>((hint *)batch->next);
    return hd_cuda_check(cudaGetLastError(), "insert");
}

static heddle_status multi_append(heddle_device *device, const hd_view *view, const hd_batch *batch,
                                  void *stream)
{
    const heddle_status status = clear_hints(device, batch, stream);
    if (status != HEDDLE_OK) return status;
    return launch_batch(JOIN(HD_SYMBOL, multi_append), {HD_TILE, APPEND_BLOCKS}, device, view,
                        batch, stream, "insert");
}

static heddle_status multi_rehome(heddle_device *device, const hd_view *view, const hd_batch *batch,
                                  void *stream)
{
    cudaStream_t use;
    heddle_status status = clear_hints(device, batch, stream);
    if (status == HEDDLE_OK) status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    JOIN(HD_SYMBOL, multi_rehome)<<<grid_for(device, batch->n * HD_TILE, BLOCK, APPEND_BLOCKS),
                                    BLOCK, 0, use>>>(*view, *batch, *batch->from, batch->first);
    return hd_cuda_check(cudaGetLastError(), "move");
}

/* Nothing is ever deferred. */
static heddle_status multi_settle(heddle_device *device, const hd_view *view, const hd_batch *batch,
                                  void *stream)
{
    (void)device, (void)view, (void)batch, (void)stream;
    return HEDDLE_OK;
}

/* An empty table, in shared memory; what is left over by tiles. The hints are clear. */
static heddle_status multi_fill_fresh(heddle_device *device, const hd_view *view,
                                      const hd_batch *batch, const hd_sorted *sorted,
                                      cudaStream_t use)
{
    const uint64_t bytes = image_bytes(view);
    const auto kernel = JOIN(HD_SYMBOL, multi_fill_fresh);
    int blocks = 1;
    heddle_status status = ALLOW_MEMORY(kernel, bytes);
    if (status == HEDDLE_OK)
        status = hd_cuda_check(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, FILL_BLOCK, bytes),
            "cannot have a region in shared memory");
    if (status != HEDDLE_OK) return status;
    kernel<<<grid_for(device, UINT64_C(1) << view->region_bits, 1, (unsigned)blocks), FILL_BLOCK,
             bytes, use>>>(*view, *batch, *sorted);
    const unsigned grid = grid_for(device, batch->n * HD_TILE, BLOCK, APPEND_BLOCKS);
    JOIN(HD_SYMBOL, multi_fill_rest)<<<grid, BLOCK, 0, use>>>(*view, *batch, *sorted);
    JOIN(HD_SYMBOL, multi_fill_end)<<<grid, BLOCK, 0, use>>>(*sorted);
    return hd_cuda_check(cudaGetLastError(), "build by regions");
}

/* All regions, batch->n pairs. */
static heddle_status multi_fill(heddle_device *device, const hd_view *view, const hd_batch *batch,
                                const hd_sorted *sorted, bool fresh, void *stream)
{
    const uint64_t n = batch->n;
    const uint64_t shared = ((hd_device_cuda *)device)->shared_bytes;
    const bool in_shared =
        fresh && n != 0 && sorted->failed != NULL && multi_image_fits(view, shared - 64);
    cudaStream_t use;
    heddle_status status = fresh && !in_shared ? clear(device, view, stream) : HEDDLE_OK;
    if (status == HEDDLE_OK) status = clear_hints(device, batch, stream);
    if (status == HEDDLE_OK) status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || n == 0) return status;
    if (in_shared) return multi_fill_fresh(device, view, batch, sorted, use);
    JOIN(HD_SYMBOL,
         multi_fill)<<<grid_for(device, n * HD_TILE, BLOCK, APPEND_BLOCKS), BLOCK, 0, use>>>(
        *view, *batch, *sorted);
    return hd_cuda_check(cudaGetLastError(), "build by regions");
}

static bool multi_can_fill(heddle_device *device, const hd_view *view)
{
    (void)device;
    return view->region_bits <= HD_PARTITION_BITS_MAX;
}

static heddle_status multi_inspect(heddle_device *device, const hd_view *view, hd_census *census,
                                   void *stream)
{
    const uint64_t slots = ((uint64_t)view->region_buckets << view->region_bits) * HD_BUCKET;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    JOIN(HD_SYMBOL, multi_inspect)<<<grid_for(device, slots, BLOCK, 8), BLOCK, 0, use>>>(*view,
                                                                                         census);
    return hd_cuda_check(cudaGetLastError(), "inspection");
}

static const hd_table_ops multi_ops = {
    HD_INSTANCE_NAME,
    HD_SCHEME_ID,
    HD_KEY_BITS,
    HD_VALUE_BITS,
    HD_BUCKET,
    sizeof(hd_word),
    HD_APART ? sizeof(hd_value) : 0,
    clear,
    multi_append,
    multi_settle,
    multi_rehome,
    multi_fill,
    NULL,
    multi_can_fill,
    true,
    multi_find,
    multi_contains,
    multi_erase,
    NULL, /* locate, at: a key has more than one place */
    NULL,
    collect,
    multi_inspect,
    NULL, /* renew_marks: a pair does not know how far on its trail it is */
    multi_count,
    multi_retrieve,
    NULL,
};

#endif
