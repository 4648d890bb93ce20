/*
 * owners.cu: rows to the members that own their keys and answers back (engine/owners.h) on a CUDA device,
 * for keys of one width: the launches of the kernels in owners_kernels.h. Built once for each by a generated stub
 * that defines HD_KEY_BITS and HD_SYMBOL. Exports HD_SYMBOL alone.
 */
#include <cub/device/device_scan.cuh>

#include "cuda/device/engine.h"
#include "cuda/route/owners_kernels.h"

/* Blocks of a processor: they go on from tile to tile, and read the owners of bins once. */
#define BLOCKS_A_PROCESSOR 16
/* More shared memory than this a kernel has only if it says so. */
#define SHARED_ALWAYS (48 * 1024)
#define ALIGNMENT 256

static uint32_t tiles_of(uint64_t n) { return (uint32_t)((n + OWNERS_TILE - 1) / OWNERS_TILE); }

static uint64_t place_bytes(uint32_t members, uint64_t n)
{
    const uint64_t bytes = (uint64_t)members * tiles_of(n) * sizeof(uint32_t);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Counts become places, owner by owner. The first call with NULL asks for the size of the scratch memory. */
static cudaError_t add_up(void *scratch, size_t &bytes, uint32_t *counts, uint64_t n,
                          cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, counts, (int64_t)n, stream);
}

static uint64_t work(heddle_device *device, uint32_t members, uint64_t n)
{
    size_t bytes = 0;
    cudaStream_t use;
    if (hd_cuda_enter(device, NULL, &use) != HEDDLE_OK) return 0;
    add_up(NULL, bytes, NULL, (uint64_t)members * tiles_of(n), use);
    return place_bytes(members, n) + bytes;
}

static unsigned blocks_for(const heddle_device *device, uint32_t tiles)
{
    const unsigned full =
        (unsigned)((const hd_device_cuda *)device)->multiprocessors * BLOCKS_A_PROCESSOR;
    return tiles < full ? tiles : full;
}

/* Launches a kernel over all tiles of a batch; `width` as owners_scratch_bytes takes it. */
template <class KERNEL, class... ARGUMENTS>
static cudaError_t launch(heddle_device *device, cudaStream_t stream, const hd_owners *batch,
                          uint32_t width, KERNEL kernel, ARGUMENTS... arguments)
{
    const uint32_t tiles = tiles_of(batch->n);
    const size_t bytes = owners_scratch_bytes(*batch, width);
    if (bytes > SHARED_ALWAYS) {
        const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error != cudaSuccess) return error;
    }
    kernel<<<blocks_for(device, tiles), OWNERS_BLOCK, bytes, stream>>>(
        *batch, tiles, (uint32_t *)batch->work, arguments...);
    return cudaGetLastError();
}

/* Calls with the number of bits that tell the owners of a batch apart, as a constant, or OWNERS_MANY*. */
#define FOR_MEMBERS(batch, CALL)                                                                   \
    (!OWNERS_SHARED(*(batch)) ? CALL(OWNERS_MANY_BINS)                                             \
     : (batch)->members <= 4  ? CALL(2)                                                            \
     : (batch)->members <= 8  ? CALL(3)                                                            \
     : (batch)->members <= 32 ? CALL(5)                                                            \
                              : CALL(OWNERS_MANY))

static heddle_status plan(heddle_device *device, const hd_owners *batch, void *stream)
{
    const uint32_t tiles = tiles_of(batch->n);
    size_t bytes = 0;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    if (tiles == 0) /* a launch has at least one block */
        return hd_cuda_check(
            cudaMemsetAsync(batch->starts, 0, (batch->members + 1) * sizeof(uint64_t), use),
            "cannot count rows by owner");
#define CALL(bits) launch(device, use, batch, 0, count_owners<bits>)
    cudaError_t error = FOR_MEMBERS(batch, CALL);
#undef CALL
    uint32_t *places = (uint32_t *)batch->work;
    const uint64_t all = (uint64_t)batch->members * tiles;
    if (error == cudaSuccess) error = add_up(NULL, bytes, places, all, use);
    if (error == cudaSuccess)
        error = add_up((char *)batch->work + place_bytes(batch->members, batch->n), bytes, places,
                       all, use);
    if (error != cudaSuccess) return hd_cuda_check(error, "cannot count rows by owner");
    tell_starts<<<1, OWNERS_BLOCK, 0, use>>>(*batch, tiles, places);
    return hd_cuda_check(cudaGetLastError(), "cannot count rows by owner");
}

/* The same where each of them has arrays of its own: there are no more than HD_OWNERS_DIRECT. */
#define FOR_FEW_MEMBERS(members, CALL)                                                             \
    ((members) <= 4 ? CALL(2) : (members) <= 8 ? CALL(3) : CALL(5))

template <class VALUE>
static cudaError_t launch_send(heddle_device *device, const hd_owners *batch,
                               const hd_owners_sent *sent, cudaStream_t stream)
{
    const uint32_t width = sizeof(VALUE) > sizeof(hd_key) ? sizeof(VALUE) : sizeof(hd_key);
    const owners_columns columns = owners_columns_of(sent->keys, sent->values_out, sent->keys_to,
                                                     sent->values_to, batch->members);
#define CALL(bits)                                                                                 \
    launch(device, stream, batch, width, send_rows<bits, VALUE, true>, sent->values, columns)
    if (columns.direct) return FOR_FEW_MEMBERS(batch->members, CALL);
#undef CALL
#define CALL(bits)                                                                                 \
    launch(device, stream, batch, width, send_rows<bits, VALUE, false>, sent->values, columns)
    return FOR_MEMBERS(batch, CALL);
#undef CALL
}

static heddle_status send(heddle_device *device, const hd_owners *batch, const hd_owners_sent *sent,
                          void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || batch->n == 0) return status;
    return hd_cuda_check(sent->values != NULL && sent->width == 8
                             ? launch_send<uint64_t>(device, batch, sent, use)
                             : launch_send<uint32_t>(device, batch, sent, use),
                         "cannot send rows to their owners");
}

template <class VALUE>
static cudaError_t launch_fetch(heddle_device *device, const hd_owners *batch,
                                const hd_owners_answers *answers, cudaStream_t stream)
{
    const owners_columns columns =
        owners_columns_of((void *)(uintptr_t)answers->found, (void *)(uintptr_t)answers->values,
                          answers->found_of, answers->values_of, batch->members);
    const owners_asked asked = {answers->found != NULL || answers->found_of != NULL,
                                answers->found_out, answers->values_out};
#define CALL(bits) launch(device, stream, batch, 0, fetch_rows<bits, VALUE, true>, asked, columns)
    if (columns.direct) return FOR_FEW_MEMBERS(batch->members, CALL);
#undef CALL
#define CALL(bits) launch(device, stream, batch, 0, fetch_rows<bits, VALUE, false>, asked, columns)
    return FOR_MEMBERS(batch, CALL);
#undef CALL
}

static heddle_status fetch(heddle_device *device, const hd_owners *batch,
                           const hd_owners_answers *answers, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || batch->n == 0) return status;
    return hd_cuda_check(answers->values_out != NULL && answers->width == 8
                             ? launch_fetch<uint64_t>(device, batch, answers, use)
                             : launch_fetch<uint32_t>(device, batch, answers, use),
                         "cannot bring answers into order");
}

extern "C" const hd_owners_ops HD_SYMBOL;
extern "C" const hd_owners_ops HD_SYMBOL = {work, plan, send, fetch};
