/*
 * roof_cuda.cu: random reads, random compare-and-swaps and a copy at the GPU memory's own pace.
 *
 * The random reads are shaped like a find that never needs a second probe: a tile of as many lanes
 * as the access has 16-byte parts takes its keys from an array, one multiplication turns a key into
 * a place, and two accesses are under way at a time (measured: one is too few, four cost
 * registers).
 */
#include "roofs/enter.h"
#include "roofs/roof.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"

#define BLOCK 256
#define WIDTH_MAX 512

namespace
{

struct roof {
    uint64_t stride; /* bytes between two places; at least the width */
    uint64_t places; /* at most 2^32, so that a hashed 32-bit key reaches them all */
    uint64_t accesses;
    uint64_t bytes;
    uint32_t width;
    uint32_t *keys;
    uint8_t *memory;
    uint8_t *target; /* of the copy */
    uint64_t pass;
    cudaStream_t stream;
};

typedef void (*roof_pass)(const roof &r);

heddle_status device_failure(cudaError_t error, const char *what)
{
    return hd_fail(HEDDLE_ERROR_DEVICE, "%s: %s", what, cudaGetErrorString(error));
}

heddle_status take(uint64_t bytes, void **memory)
{
    const cudaError_t error =
        hd_fault_due() ? cudaErrorMemoryAllocation : cudaMalloc(memory, bytes);
    if (error == cudaSuccess) return HEDDLE_OK;
    *memory = NULL;
    (void)cudaGetLastError(); /* or the next launch would be blamed for it */
    if (error != cudaErrorMemoryAllocation) return device_failure(error, "allocating for a roof");
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no device memory for a roof over %llu bytes",
                   (unsigned long long)bytes);
}

/* ------------------------------------------------------------------------------------ kernels */

/* Random keys by position (the finaliser of SplitMix64). */
__global__ void make_keys(uint32_t *keys, uint64_t n)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    keys[i] = (uint32_t)(x >> 32);
}

__device__ __forceinline__ uint8_t *place(const roof &r, uint32_t key)
{
    return r.memory + ((uint64_t)(key * UINT32_C(0x9e3779b1)) * r.places >> 32) * r.stride;
}

/* One lane's part of an access. Tables this large gain nothing from L1, so it is passed by. */
template <int PART> struct part;

template <> struct part<4> {
    static __device__ __forceinline__ uint32_t read(const uint8_t *at)
    {
        uint32_t a;
        asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(a) : "l"(at));
        return a;
    }
};
template <> struct part<8> {
    static __device__ __forceinline__ uint32_t read(const uint8_t *at)
    {
        uint32_t a, b;
        asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                     : "=r"(a), "=r"(b)
                     : "l"(at));
        return a ^ b;
    }
};
template <> struct part<16> {
    static __device__ __forceinline__ uint32_t read(const uint8_t *at)
    {
        uint32_t a, b, c, d;
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "l"(at));
        return a ^ b ^ c ^ d;
    }
};

/* A tile takes one key for each of its lanes, and at least two. */
template <int LANES> struct tile {
    static const int keys = LANES < 2 ? 2 : LANES;
};

/* `never` is a sum that the memory cannot give; the compiler does not know. */
template <int LANES, int PART> __global__ void gather(roof r, uint32_t never)
{
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t first = thread / LANES * tile<LANES>::keys;
    const uint32_t offset = (uint32_t)(thread % LANES) * PART;
    uint32_t sum = 0;
#pragma unroll 1
    for (int k = 0; k < tile<LANES>::keys; k += 2) {
        if (first + k + 1 >= r.accesses) {
            if (first + k < r.accesses)
                sum ^= part<PART>::read(place(r, r.keys[first + k]) + offset);
            break;
        }
        const uint32_t key = r.keys[first + k], other = r.keys[first + k + 1];
        const uint32_t a = part<PART>::read(place(r, key) + offset);
        const uint32_t b = part<PART>::read(place(r, other) + offset);
        sum ^= a ^ b;
    }
    if (sum == never) r.keys[0] = sum;
}

/*
 * The keys are the same in every pass, so a word that pass p swaps holds p until then: the first
 * swap of every word succeeds and its line is really written.
 */
__global__ void cas(roof r)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= r.accesses) return;
    atomicCAS((unsigned long long *)place(r, r.keys[i]), (unsigned long long)r.pass,
              (unsigned long long)r.pass + 1);
}

/* ------------------------------------------------------------------------------------- passes */

unsigned int blocks_for(uint64_t threads) { return (unsigned int)((threads + BLOCK - 1) / BLOCK); }

template <int LANES, int PART> void launch_gather(const roof &r)
{
    const uint64_t tiles = (r.accesses + tile<LANES>::keys - 1) / tile<LANES>::keys;
    gather<LANES, PART><<<blocks_for(tiles * LANES), BLOCK, 0, r.stream>>>(r, 1);
}

void gather_pass(const roof &r)
{
    switch (r.width) {
    case 4: launch_gather<1, 4>(r); break;
    case 8: launch_gather<1, 8>(r); break;
    case 16: launch_gather<1, 16>(r); break;
    case 32: launch_gather<2, 16>(r); break;
    case 64: launch_gather<4, 16>(r); break;
    case 128: launch_gather<8, 16>(r); break;
    case 256: launch_gather<16, 16>(r); break;
    default: launch_gather<32, 16>(r); break;
    }
}

void cas_pass(const roof &r) { cas<<<blocks_for(r.accesses), BLOCK, 0, r.stream>>>(r); }

void copy_pass(const roof &r)
{
    (void)cudaMemcpyAsync(r.target, r.memory, r.bytes, cudaMemcpyDeviceToDevice, r.stream);
}

/* ------------------------------------------------------------------------------------- timing */

int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

cudaError_t time_one(roof &r, roof_pass pass, cudaEvent_t begin, cudaEvent_t end, double *seconds)
{
    float milliseconds = 0;
    cudaError_t error = cudaEventRecord(begin, r.stream);
    pass(r);
    if (error == cudaSuccess) error = cudaGetLastError(); /* of the launch or the copy */
    if (error == cudaSuccess) error = cudaEventRecord(end, r.stream);
    if (error == cudaSuccess) error = cudaEventSynchronize(end);
    if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, begin, end);
    *seconds = milliseconds / 1e3;
    r.pass++;
    return error;
}

/* The median of `repeat` passes after one that does not count. */
heddle_status time_passes(roof &r, roof_pass pass, uint32_t repeat, double work, double *rate)
{
    double *seconds = (double *)hd_allocate(repeat * sizeof *seconds);
    if (seconds == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for %u timings", repeat);
    cudaEvent_t begin = NULL, end = NULL;
    cudaError_t error = cudaEventCreate(&begin);
    if (error == cudaSuccess) error = cudaEventCreate(&end);
    if (error == cudaSuccess) error = time_one(r, pass, begin, end, &seconds[0]);
    for (uint32_t i = 0; i < repeat && error == cudaSuccess; i++)
        error = time_one(r, pass, begin, end, &seconds[i]);
    if (error == cudaSuccess) {
        qsort(seconds, repeat, sizeof *seconds, compare_seconds);
        const double median = (seconds[(repeat - 1) / 2] + seconds[repeat / 2]) / 2;
        *rate = median > 0 ? work / median : 0;
    }
    if (begin != NULL) (void)cudaEventDestroy(begin);
    if (end != NULL) (void)cudaEventDestroy(end);
    free(seconds);
    return error == cudaSuccess ? HEDDLE_OK : device_failure(error, "measuring a roof");
}

heddle_status prepare_random(roof &r, const hd_roof_request *request)
{
    r.width = request->width;
    r.stride = request->width;
    while (request->bytes / r.stride > (UINT64_C(1) << 32)) r.stride *= 2;
    r.places = request->bytes < r.stride ? 1 : request->bytes / r.stride;
    r.accesses = request->accesses;
    heddle_status status = take(request->accesses * sizeof(uint32_t), (void **)&r.keys);
    if (status == HEDDLE_OK) status = take(r.places * r.stride, (void **)&r.memory);
    if (status != HEDDLE_OK) return status;
    make_keys<<<blocks_for(r.accesses), BLOCK, 0, r.stream>>>(r.keys, r.accesses);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemsetAsync(r.memory, 0, r.places * r.stride, r.stream);
    return error == cudaSuccess ? HEDDLE_OK : device_failure(error, "preparing a roof");
}

heddle_status prepare_copy(roof &r, const hd_roof_request *request)
{
    r.bytes = request->bytes;
    heddle_status status = take(request->bytes, (void **)&r.memory);
    if (status == HEDDLE_OK) status = take(request->bytes, (void **)&r.target);
    if (status != HEDDLE_OK) return status;
    const cudaError_t error = cudaMemsetAsync(r.memory, 1, request->bytes, r.stream);
    return error == cudaSuccess ? HEDDLE_OK : device_failure(error, "preparing a roof");
}

heddle_status check(const hd_roof_request *request)
{
    const uint32_t width = request->width;
    const uint32_t least = request->kind == HD_ROOF_CAS ? 8 : 4;
    if (request->bytes == 0 || request->repeat == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "a roof needs bytes and passes");
    if (request->kind == HD_ROOF_COPY) return HEDDLE_OK;
    if (request->kind != HD_ROOF_GATHER && request->kind != HD_ROOF_CAS)
        return hd_fail(HEDDLE_ERROR_INVALID, "there is no roof of kind %u", request->kind);
    if (width < least || width > WIDTH_MAX || (width & (width - 1)) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "a roof's width is a power of two from %u to %u, not %u", least, WIDTH_MAX,
                       width);
    if (request->accesses == 0 || request->accesses > UINT64_C(1) << 38)
        return hd_fail(HEDDLE_ERROR_INVALID, "a roof needs 1 to 2^38 accesses");
    return HEDDLE_OK;
}

} // namespace

extern "C" heddle_status hd_roof_cuda(heddle_device *device, const hd_roof_request *request,
                                      double *rate)
{
    roof r = {};
    HD_TRY(bench_enter(device, &r.stream));
    HD_TRY(check(request));
    const bool copy = request->kind == HD_ROOF_COPY;
    heddle_status status = copy ? prepare_copy(r, request) : prepare_random(r, request);
    if (status == HEDDLE_OK) {
        const roof_pass pass = copy                           ? copy_pass
                               : request->kind == HD_ROOF_CAS ? cas_pass
                                                              : gather_pass;
        const double work = copy ? 2.0 * (double)request->bytes : (double)request->accesses;
        status = time_passes(r, pass, request->repeat, work, rate);
    }
    (void)cudaFree(r.target);
    (void)cudaFree(r.memory);
    (void)cudaFree(r.keys);
    return status;
}
