/*
 * slab_access.cu: what a GPU's memory gives to batches on slab hashes, without a table: random slabs of 128 bytes, read
 * by four lanes each, 32 slabs of a warp at once, and a random slot of each changed by a CAS. And the same when accesses
 * come in groups, one group of neighbouring slabs after the other, as operations would that were sorted so.
 *
 *   nvcc -O3 -arch=sm_90 -o slab_access slab_access.cu && ./slab_access
 *
 * Prints medians of seven after one to warm up, in billions a second. docs/design/slab.md says what follows from them.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#define LANES 4
#define SLAB_BYTES 128
#define SLOTS 15
#define BLOCK 256
#define REPEATS 7

enum { READS = 1, SWAPS = 2 };

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "slab_access: %s\n", cudaGetErrorString(error));
    exit(1);
}

static __device__ uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static __device__ uint64_t load_16(const char *from)
{
    unsigned long long a, b;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from));
    return a ^ b;
}

/* Something of this lane's slab that depends on all of its bytes: the tile loads the slabs of all its lanes. */
static __device__ uint64_t look(const char *slab)
{
    const int lane = threadIdx.x % LANES, shift = threadIdx.x % 32 - lane;
    uint64_t seen[LANES], mine = 0;
#pragma unroll
    for (int i = 0; i < LANES; i++) {
        const char *const at =
            (const char *)__shfl_sync(~0u, (unsigned long long)slab, shift + i) + lane * 16;
        seen[i] = load_16(at) ^ load_16(at + SLAB_BYTES / 2);
    }
#pragma unroll
    for (int i = 0; i < LANES; i++) {
        uint64_t all = seen[i];
        all ^= __shfl_xor_sync(~0u, (unsigned long long)all, 1);
        all ^= __shfl_xor_sync(~0u, (unsigned long long)all, 2);
        if (lane == i) mine = all;
    }
    return mine;
}

/* n is a multiple of 32: warps are whole. */
template <int WHAT>
static __global__ void __launch_bounds__(BLOCK)
    go(char *memory, uint64_t slabs, uint64_t n, uint64_t groups, uint64_t seed, uint64_t *sink)
{
    const uint64_t all = (uint64_t)gridDim.x * blockDim.x;
    uint64_t sum = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
        const uint64_t random = mix(i + seed), group = i / (n / groups);
        char *slab =
            memory + (group * (slabs / groups) + __umul64hi(random, slabs / groups)) * SLAB_BYTES;
        const uint64_t seen = WHAT & READS ? look(slab) : 0;
        unsigned long long *slot = (unsigned long long *)(slab + random % SLOTS * 8);
        if (seen == 1) slot++; /* never: but the swap has to wait for the look */
        if (WHAT & SWAPS) sum += atomicCAS(slot, 0ull, (unsigned long long)random << 1);
        sum += seen;
    }
    if (sum == 1) *sink = sum;
}

template <int WHAT>
static void measure(const char *name, char *memory, uint64_t slabs, uint64_t n, uint64_t groups,
                    int blocks)
{
    cudaEvent_t begin, end;
    float ms[REPEATS + 1];
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int i = 0; i <= REPEATS; i++) {
        check(cudaMemset(memory, 0, slabs * SLAB_BYTES));
        check(cudaEventRecord(begin));
        go<WHAT><<<blocks, BLOCK>>>(memory, slabs, n, groups, (uint64_t)i << 32,
                                    (uint64_t *)(memory + slabs * SLAB_BYTES));
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&ms[i], begin, end));
    }
    std::sort(ms + 1, ms + 1 + REPEATS);
    const float median = ms[1 + REPEATS / 2];
    printf("%-24s %10llu %10llu %6llu %8.3f %6.1f\n", name, (unsigned long long)slabs,
           (unsigned long long)n, (unsigned long long)groups, median, (double)n / median / 1e6);
}

int main(void)
{
    const uint64_t slabs = UINT64_C(1) << 22;
    cudaDeviceProp device;
    char *memory;
    time_t now = time(NULL);
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaMalloc(&memory, slabs * SLAB_BYTES + 8));
    printf("# command: slab_access\n# date: %s# device: %s\n", asctime(gmtime(&now)), device.name);
    printf("%-24s %10s %10s %6s %8s %6s\n", "access", "slabs", "n", "groups", "ms", "G/s");
    const int blocks = device.multiProcessorCount;
    for (uint64_t n = UINT64_C(1) << 22; n <= UINT64_C(1) << 23; n *= 2)
        for (uint64_t groups = 1; groups <= 256; groups *= 4) {
            measure<READS>("read 128", memory, slabs, n, groups, blocks * 4);
            measure<READS | SWAPS>("read 128, cas 64", memory, slabs, n, groups, blocks * 4);
            measure<SWAPS>("cas 64", memory, slabs, n, groups, blocks * 8);
        }
    check(cudaFree(memory));
    return 0;
}
