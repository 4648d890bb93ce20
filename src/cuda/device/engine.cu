/*
 * engine.cu: CUDA devices: opening, memory, streams and events. The runtime is linked
 * statically and finds the driver when it is first called, so without one this engine has no devices.
 */
#include "cuda/cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/alloc.h"
#include "base/while_waiting.h"
#include "cuda/columns/columns.h"
#include "cuda/partition/partition.h"
#include "engine/blocks.h"
#include "engine/registry.h"

heddle_status hd_cuda_fail(cudaError_t error, const char *what)
{
    cudaGetLastError(); /* a failure that was reported is not to be found again later */
    return hd_fail(error == cudaErrorMemoryAllocation ? HEDDLE_ERROR_NO_MEMORY
                                                      : HEDDLE_ERROR_DEVICE,
                   "CUDA: %s: %s%s", what, cudaGetErrorString(error),
                   error == cudaErrorInitializationError
                       ? " (CUDA does not survive a fork: open the device in the child alone)"
                       : "");
}

heddle_status hd_cuda_enter(heddle_device *device, void *stream, cudaStream_t *use)
{
    const hd_device_cuda *cuda = (const hd_device_cuda *)device;
    *use = stream != NULL ? (cudaStream_t)stream : cuda->stream;
    return hd_cuda_check(cudaSetDevice(cuda->index), "cannot use the device");
}

/* ---------------------------------------------------------------------------- compiled tables */

static const hd_table_ops *const *tables(heddle_device *device, uint32_t *count)
{
    (void)device;
    return hd_compiled_tables("cuda", count);
}

/* ---------------------------------------------------------------------------------- partitions */

static const hd_partition_cuda *partition_for(const hd_partition *job)
{
    return HD_COMPILED_FOR(hd_partition_cuda, job->key_bits, job->value_bits, "cuda");
}

static heddle_status cuda_partition(heddle_device *device, const hd_partition *job, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    return partition_for(job)->sort((const hd_device_cuda *)device, job, use);
}

static uint64_t cuda_partition_work(heddle_device *device, const hd_partition *job)
{
    (void)device;
    return partition_for(job)->work_bytes(job->region_bits);
}

static void cuda_scatter_plan(heddle_device *device, hd_scatter *job)
{
    (void)device;
    partition_for(&job->job)->scatter_plan(job);
}

static heddle_status cuda_scatter(heddle_device *device, const hd_scatter *job, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    return partition_for(&job->job)->scatter((const hd_device_cuda *)device, job, use);
}

static heddle_status cuda_partition_step(heddle_device *device, const hd_partition *job,
                                         uint32_t step, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    return partition_for(job)->step((const hd_device_cuda *)device, job, step, use);
}

static uint64_t cuda_partition_step_work(heddle_device *device, const hd_partition *job)
{
    (void)device;
    return partition_for(job)->step_work_bytes(job->region_bits);
}

static uint32_t cuda_partition_part_bits(uint32_t region_bits)
{
    return region_bits < HD_CUDA_PASS_BITS ? region_bits : HD_CUDA_PASS_BITS;
}

static heddle_status cuda_count_regions(heddle_device *device, const hd_partition *job,
                                        uint64_t *counts, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    return partition_for(job)->count((const hd_device_cuda *)device, job, counts, use);
}

/* The counters are in shared memory. */
static uint64_t cuda_count_regions_work(heddle_device *device, const hd_partition *job)
{
    (void)device, (void)job;
    return 0;
}

/* ------------------------------------------------------------------------ graphs and relations */

static const hd_graph_ops *cuda_graph(uint32_t key_bits, uint32_t value_bits)
{
    return HD_COMPILED_FOR(hd_graph_ops, key_bits, value_bits, "cuda");
}

static const hd_relate_ops *cuda_relate(uint32_t key_bits, uint32_t row_bits)
{
    return HD_COMPILED_FOR(hd_relate_ops, key_bits, row_bits, "cuda");
}

static const hd_list_ops *cuda_lists(uint32_t value_bits)
{
    return HD_COMPILED_FOR(hd_list_ops, 32, value_bits, "cuda");
}

static const hd_slab_ops *cuda_slabs(uint32_t key_bits, uint32_t value_bits)
{
    return HD_COMPILED_FOR(hd_slab_ops, key_bits, value_bits, "cuda");
}

static const hd_filter_ops *cuda_filter(uint32_t key_bits)
{
    return HD_COMPILED_FOR(hd_filter_ops, key_bits, 0, "cuda");
}

static const hd_owners_ops *cuda_owners(uint32_t key_bits)
{
    return HD_COMPILED_FOR(hd_owners_ops, key_bits, 0, "cuda");
}

/* ------------------------------------------------------------------------------------- device */

/* Keeps up to a part of the memory when nobody has it: to map it anew takes longer than most calls. */
#define POOL_SHARE 16

static cudaMemPool_t make_pool(int index, size_t memory)
{
    cudaMemPoolProps how = {};
    cudaMemPool_t pool = NULL;
    int able = 0;
    uint64_t keep = memory / POOL_SHARE;
    how.allocType = cudaMemAllocationTypePinned;
    how.location.type = cudaMemLocationTypeDevice;
    how.location.id = index;
    if (cudaDeviceGetAttribute(&able, cudaDevAttrMemoryPoolsSupported, index) != cudaSuccess ||
        !able || cudaMemPoolCreate(&pool, &how) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    return pool;
}

static heddle_status cuda_open(int32_t index, heddle_device **device)
{
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) return hd_cuda_fail(error, "cannot read the device's properties");
    if (properties.major * 10 + properties.minor < 75)
        return hd_fail(HEDDLE_ERROR_NO_DEVICE,
                       "CUDA device %d (%s) is older than compute capability 7.5", index,
                       properties.name);
    hd_device_cuda *cuda = (hd_device_cuda *)hd_allocate_zeroed(1, sizeof *cuda);
    if (cuda == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a device");
    error = cudaSetDevice(index);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    if (error != cudaSuccess) {
        free(cuda);
        return hd_cuda_fail(error, "cannot open the device");
    }
    cuda->base.engine = hd_engine_cuda();
    cuda->index = index;
    cuda->multiprocessors = properties.multiProcessorCount;
    cuda->cache_bytes = (size_t)properties.l2CacheSize;
    cuda->pool = make_pool(index, properties.totalGlobalMem);
    cuda->shared_bytes = properties.sharedMemPerBlockOptin;
    *device = &cuda->base;
    return HEDDLE_OK;
}

static void cuda_close(heddle_device *device)
{
    hd_device_cuda *cuda = (hd_device_cuda *)device;
    cudaSetDevice(cuda->index);
    cudaStreamSynchronize(cuda->stream);
    cudaStreamDestroy(cuda->stream);
    if (cuda->pool != NULL) cudaMemPoolDestroy(cuda->pool);
    free(cuda);
}

static uint32_t cuda_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return (uint32_t)count;
}

static heddle_status cuda_info(heddle_device *device, heddle_device_info *info)
{
    const hd_device_cuda *cuda = (const hd_device_cuda *)device;
    cudaDeviceProp properties;
    size_t free_bytes = 0, total_bytes = 0;
    cudaError_t error = cudaSetDevice(cuda->index);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, cuda->index);
    if (error == cudaSuccess) error = cudaMemGetInfo(&free_bytes, &total_bytes);
    if (error != cudaSuccess) return hd_cuda_fail(error, "cannot describe the device");
    info->kind = HEDDLE_DEVICE_CUDA;
    info->index = cuda->index;
    info->threads = (uint32_t)cuda->multiprocessors;
    info->memory_total = total_bytes;
    info->memory_free = free_bytes;
    snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    snprintf(info->features, sizeof info->features, "sm_%d%d", properties.major, properties.minor);
    return HEDDLE_OK;
}

static bool cuda_is_recording(heddle_device *device, void *stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    (void)device; /* nobody else has the device's own stream */
    if (stream == NULL) return false;
    if (cudaStreamIsCapturing((cudaStream_t)stream, &status) != cudaSuccess)
        (void)cudaGetLastError(); /* a stream that others' captures keep from being used */
    return status != cudaStreamCaptureStatusNone;
}

static heddle_status cuda_synchronize(heddle_device *device, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    while (hd_while_waiting_any() && cudaStreamQuery(use) == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* that is none */
        hd_while_waiting_work();
    }
    return hd_cuda_check(cudaStreamSynchronize(use), "work on the stream failed");
}

static void cuda_drain(heddle_device *device)
{
    cudaStream_t use;
    if (hd_cuda_enter(device, NULL, &use) == HEDDLE_OK) cudaDeviceSynchronize();
}

/* ------------------------------------------------------------------------------------- memory */

static heddle_status cuda_allocate(heddle_device *device, uint64_t bytes, void **memory)
{
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, NULL, &use);
    if (status != HEDDLE_OK) return status;
    bool failed = hd_fault_due();
    while (!failed && cudaMalloc(memory, bytes != 0 ? bytes : 1) != cudaSuccess) {
        cudaGetLastError();
        failed = !hd_blocks_drop_shared(device);
    }
    if (failed) {
        *memory = NULL;
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no room for %llu bytes on CUDA device %d",
                       (unsigned long long)bytes, ((hd_device_cuda *)device)->index);
    }
    return HEDDLE_OK;
}

static void cuda_free(heddle_device *device, void *memory)
{
    cudaStream_t use;
    if (hd_cuda_enter(device, NULL, &use) == HEDDLE_OK) cudaFree(memory);
}

static heddle_status cuda_allocate_pinned(heddle_device *device, uint64_t bytes, void **memory)
{
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, NULL, &use);
    if (status != HEDDLE_OK) return status;
    if (hd_fault_due() || cudaMallocHost(memory, bytes != 0 ? bytes : 1) != cudaSuccess) {
        cudaGetLastError();
        *memory = NULL;
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no room for %llu bytes of pinned memory",
                       (unsigned long long)bytes);
    }
    return HEDDLE_OK;
}

static void cuda_free_pinned(heddle_device *device, void *memory)
{
    cudaStream_t use;
    if (hd_cuda_enter(device, NULL, &use) == HEDDLE_OK) cudaFreeHost(memory);
}

static heddle_status cuda_copy(heddle_device *device, void *to, const void *from, uint64_t bytes,
                               void *stream)
{
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status == HEDDLE_OK && bytes != 0)
        status =
            hd_cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, use), "copy failed");
    return status;
}

static heddle_status cuda_fill(heddle_device *device, void *memory, uint8_t byte, uint64_t bytes,
                               void *stream)
{
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status == HEDDLE_OK && bytes != 0)
        status = hd_cuda_check(cudaMemsetAsync(memory, byte, bytes, use), "fill failed");
    return status;
}

static bool cuda_shares_memory(const heddle_device *device, const heddle_device *other)
{
    return ((const hd_device_cuda *)device)->index == ((const hd_device_cuda *)other)->index;
}

/* Access is the process's: a pair of GPUs that has it already keeps it, and nobody takes it back. */
static void cuda_connect(heddle_device *device, const heddle_device *other)
{
    const int mine = ((const hd_device_cuda *)device)->index;
    const int theirs = ((const hd_device_cuda *)other)->index;
    cudaStream_t use;
    int can = 0;
    if (mine == theirs || hd_cuda_enter(device, NULL, &use) != HEDDLE_OK) return;
    if (cudaDeviceCanAccessPeer(&can, mine, theirs) == cudaSuccess && can != 0)
        (void)cudaDeviceEnablePeerAccess(theirs, 0);
    (void)cudaGetLastError(); /* also where it was enabled before */
}

static bool cuda_is_device_memory(heddle_device *device, const void *memory)
{
    cudaPointerAttributes attributes;
    (void)device;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

/* ------------------------------------------------------------------------------- other processes */

static_assert(sizeof(cudaIpcMemHandle_t) <= HD_SHARE_WORDS * sizeof(uint64_t), "a longer key");

static heddle_status cuda_share(heddle_device *device, uint64_t bytes, void **memory,
                                uint64_t key[HD_SHARE_WORDS])
{
    cudaIpcMemHandle_t handle;
    heddle_status status = cuda_allocate(device, bytes, memory);
    if (status != HEDDLE_OK) return status;
    status = hd_cuda_check(cudaIpcGetMemHandle(&handle, *memory), "memory cannot be shared");
    if (status != HEDDLE_OK) {
        cudaFree(*memory);
        *memory = NULL;
        return status;
    }
    memset(key, 0, HD_SHARE_WORDS * sizeof *key);
    memcpy(key, &handle, sizeof handle);
    return HEDDLE_OK;
}

/* On the same GPU, or one whose memory this one reaches; elsewhere it fails. */
static heddle_status cuda_open_shared(heddle_device *device, const uint64_t key[HD_SHARE_WORDS],
                                      void **memory)
{
    cudaIpcMemHandle_t handle;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, NULL, &use);
    *memory = NULL;
    if (status != HEDDLE_OK) return status;
    if (hd_fault_due()) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to open shared memory");
    memcpy(&handle, key, sizeof handle);
    return hd_cuda_check(cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess),
                         "memory of another process cannot be opened");
}

static void cuda_close_shared(heddle_device *device, void *memory)
{
    cudaStream_t use;
    if (memory != NULL && hd_cuda_enter(device, NULL, &use) == HEDDLE_OK)
        (void)cudaIpcCloseMemHandle(memory);
    (void)cudaGetLastError(); /* of a process that is gone */
}

static heddle_status cuda_allocate_in_order(heddle_device *device, uint64_t bytes, void **memory,
                                            void *stream)
{
    const hd_device_cuda *cuda = (const hd_device_cuda *)device;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    *memory = NULL;
    if (status != HEDDLE_OK) return status;
    if (!hd_fault_due() && cuda->pool != NULL &&
        cudaMallocFromPoolAsync(memory, bytes != 0 ? bytes : 1, cuda->pool, use) == cudaSuccess)
        return HEDDLE_OK;
    cudaGetLastError();
    *memory = NULL;
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no room for %llu bytes on CUDA device %d",
                   (unsigned long long)bytes, cuda->index);
}

static void cuda_free_in_order(heddle_device *device, void *memory, void *stream)
{
    cudaStream_t use;
    if (memory != NULL && hd_cuda_enter(device, stream, &use) == HEDDLE_OK)
        cudaFreeAsync(memory, use);
}

static bool cuda_drop_in_order(heddle_device *device)
{
    const hd_device_cuda *cuda = (const hd_device_cuda *)device;
    uint64_t before = 0, after = 0;
    cudaStream_t use;
    if (cuda->pool == NULL || hd_cuda_enter(device, NULL, &use) != HEDDLE_OK) return false;
    cudaMemPoolGetAttribute(cuda->pool, cudaMemPoolAttrReservedMemCurrent, &before);
    if (before == 0) return false;
    cudaMemPoolTrimTo(cuda->pool, 0);
    cudaMemPoolGetAttribute(cuda->pool, cudaMemPoolAttrReservedMemCurrent, &after);
    return after < before;
}

/* ------------------------------------------------------------------------------------- events */

static heddle_status cuda_event_create(heddle_device *device, void **event)
{
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(device, NULL, &use);
    if (status == HEDDLE_OK && hd_fault_due())
        status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for an event");
    if (status == HEDDLE_OK)
        status = hd_cuda_check(cudaEventCreate((cudaEvent_t *)event), "cannot make an event");
    return status;
}

static void cuda_event_destroy(heddle_device *device, void *event)
{
    (void)device;
    cudaEventDestroy((cudaEvent_t)event);
}

static heddle_status cuda_event_record(heddle_device *device, void *event, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    return status != HEDDLE_OK
               ? status
               : hd_cuda_check(cudaEventRecord((cudaEvent_t)event, use), "cannot mark the stream");
}

static heddle_status cuda_event_wait(heddle_device *device, void *event)
{
    (void)device;
    return hd_cuda_check(cudaEventSynchronize((cudaEvent_t)event), "work on the stream failed");
}

static heddle_status cuda_event_seconds(heddle_device *device, void *begin, void *end,
                                        double *seconds)
{
    float milliseconds = 0;
    const heddle_status status =
        hd_cuda_check(cudaEventElapsedTime(&milliseconds, (cudaEvent_t)begin, (cudaEvent_t)end),
                      "cannot read the time");
    (void)device;
    *seconds = milliseconds * 1e-3;
    return status;
}

extern "C" const hd_engine *hd_engine_cuda(void)
{
    static const hd_engine engine = {
        HEDDLE_DEVICE_CUDA,
        false,
        UINT64_C(1) << 12,
        4,
        UINT64_C(1) << 22,
        cuda_open,
        cuda_close,
        cuda_count,
        cuda_info,
        cuda_synchronize,
        cuda_is_recording,
        cuda_drain,
        cuda_allocate,
        cuda_free,
        cuda_allocate_in_order,
        cuda_free_in_order,
        cuda_drop_in_order,
        cuda_allocate_pinned,
        cuda_free_pinned,
        cuda_copy,
        cuda_fill,
        cuda_is_device_memory,
        cuda_shares_memory,
        cuda_connect,
        cuda_event_create,
        cuda_event_destroy,
        cuda_event_record,
        cuda_event_wait,
        cuda_event_seconds,
        cuda_partition,
        cuda_partition_work,
        cuda_partition_step,
        cuda_partition_step_work,
        cuda_partition_part_bits,
        cuda_scatter_plan,
        cuda_scatter,
        cuda_count_regions,
        cuda_count_regions_work,
        cuda_graph,
        cuda_relate,
        &hd_columns_cuda,
        cuda_filter,
        tables,
        cuda_lists,
        cuda_slabs,
        cuda_owners,
        cuda_share,
        cuda_free,
        cuda_open_shared,
        cuda_close_shared,
    };
    return &engine;
}
