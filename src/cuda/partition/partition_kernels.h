/*
 * partition_kernels.h: the device code that sorts pairs by region, for one kind of pair;
 * partition.cu launches it.
 *
 * A pass moves every pair to one of up to 2^PASS_BITS targets. A block takes a tile of pairs, counts
 * how many go to each target, reserves room for all of them with one atomic a target, brings the tile
 * into the order of targets in shared memory, and writes it: runs of neighbours for each target. The
 * order of equal keys is lost, which no policy minds, and no block waits for another.
 *
 * Two passes tell up to 2^20 regions apart. In the second the tiles are cut where the first pass's
 * targets end, so that all pairs at work share their leading bits.
 */
#ifndef HD_PARTITION_KERNELS_H
#define HD_PARTITION_KERNELS_H

#include <cub/block/block_scan.cuh>

#include "cuda/partition/scan_counts.h"
#include "cuda/partition/sorted_pair.h"
#include "model/partition.h"
#include "tile/load_cuda.h"

#ifndef SORT_BLOCK
#define PASS_BITS 10  /* at most; HD_CUDA_PASS_BITS */
#define COUNT_BITS 14 /* counters that a block of the count kernel has in shared memory, at most */
#define SORT_BLOCK 512
#define COUNT_CHUNK 65536 /* pairs that a block counts before it adds its counters to all others' */
#endif
#define SORT_BLOCKS 2 /* a processor holds so many: 64 registers a thread */
#define SORT_ITEMS (HD_PAIR_WORDS <= 2 ? 16 : 8) /* pairs of a thread */
#define SORT_TILE (SORT_BLOCK * SORT_ITEMS)

/* The i-th pair of the caller's arrays. */
HD_FN hd_sorted_pair pair_make(const hd_partition &job, uint64_t i)
{
    const hd_key mixed = mix_key(&job.mix, __ldg((const hd_key *)job.keys + i));
    return sorted_make(mixed, job.values != NULL ? __ldg((const hd_value *)job.values + i)
                                                 : (hd_value)(job.ones ? 1 : job.first_row + i));
}

/* Keys of 16 bytes are read at once where the caller's arrays allow it. */
#define VECTOR_KEYS (128 / HD_KEY_BITS)

HD_FN bool is_vectorial(const hd_partition &job)
{
    return ((uintptr_t)job.keys | (uintptr_t)job.values) % 16 == 0;
}

/* BYTES of the caller's arrays, which are read once. */
template <int BYTES> static __device__ __forceinline__ void load_stream(void *to, const void *from)
{
    if constexpr (BYTES >= 16) {
#pragma unroll
        for (int i = 0; i < BYTES / 16; i++) ((uint4 *)to)[i] = __ldcs((const uint4 *)from + i);
    } else {
        *(uint2 *)to = __ldcs((const uint2 *)from);
    }
}

HD_FN void keys_vector(const hd_partition &job, uint64_t first, hd_key (&keys)[VECTOR_KEYS])
{
    load_stream<16>(keys, (const hd_key *)job.keys + first);
}

HD_FN void pairs_vector(const hd_partition &job, uint64_t first, hd_sorted_pair *pairs)
{
    alignas(16) hd_key keys[VECTOR_KEYS];
    keys_vector(job, first, keys);
#if HD_VALUE_BITS != 0
    alignas(16) hd_value values[VECTOR_KEYS];
    if (job.values != NULL) {
        load_stream<sizeof values>(values, (const hd_value *)job.values + first);
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++)
            values[i] = (hd_value)(job.ones ? 1 : job.first_row + first + i);
    }
#endif
#pragma unroll
    for (int i = 0; i < VECTOR_KEYS; i++) {
#if HD_VALUE_BITS != 0
        pairs[i] = sorted_make(mix_key(&job.mix, keys[i]), values[i]);
#else
        pairs[i] = sorted_make(mix_key(&job.mix, keys[i]), 0);
#endif
    }
}

/* The leading `bits` bits of a mixed key; 0 of them are 0. */
HD_FN uint32_t leading(hd_key mixed, uint32_t bits)
{
    return bits == 0 ? 0 : (uint32_t)(mixed >> (HD_KEY_BITS - bits));
}

/* ------------------------------------------------------------------------------------- counting */

/* Adds a key to its counter; SOME: if that is one of those from `first` on that a block has. */
template <bool SOME>
static __device__ __forceinline__ void count_key(uint32_t *own, uint32_t number, uint32_t first)
{
    if (SOME) {
        number -= first;
        if (number >> COUNT_BITS != 0) return;
    }
    atomicAdd(&own[number], 1);
}

/*
 * Counts the keys by their leading `bits` bits, at most COUNT_BITS. SOME: there are more bits, and the 2^COUNT_BITS
 * numbers from `first` on are counted.
 */
template <bool SOME>
static __global__ void __launch_bounds__(COUNT_BLOCK)
    count_keys(hd_partition job, uint32_t bits, uint32_t first, unsigned long long *counts)
{
    uint32_t *own = (uint32_t *)block_memory();
    const uint32_t counters = 1u << (SOME ? COUNT_BITS : bits);
    const uint64_t stride = (uint64_t)gridDim.x * COUNT_BLOCK;
    for (uint32_t i = threadIdx.x; i < counters; i += COUNT_BLOCK) own[i] = 0;
    __syncthreads();
    const uint64_t vectors = is_vectorial(job) ? job.n / VECTOR_KEYS : 0;
    const uint64_t me = (uint64_t)blockIdx.x * COUNT_BLOCK + threadIdx.x;
#pragma unroll 2
    for (uint64_t i = me; i < vectors; i += stride) {
        alignas(16) hd_key keys[VECTOR_KEYS];
        keys_vector(job, i * VECTOR_KEYS, keys);
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++)
            count_key<SOME>(own, leading(mix_key(&job.mix, keys[k]), bits), first);
    }
    for (uint64_t i = vectors * VECTOR_KEYS + me; i < job.n; i += stride)
        count_key<SOME>(own, leading(mix_key(&job.mix, __ldg((const hd_key *)job.keys + i)), bits),
                        first);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < counters; i += COUNT_BLOCK)
        if (own[i] != 0) atomicAdd(&counts[first + i], (unsigned long long)own[i]);
}

/*
 * Counts pairs that are sorted by their leading `known` bits, by `more` bits more. A block takes a
 * chunk of them, which it cuts where the leading bits change.
 */
static __global__ void __launch_bounds__(COUNT_BLOCK)
    count_pairs(const uint32_t *pairs, uint64_t n, const uint64_t *known_starts, uint32_t known,
                uint32_t more, unsigned long long *counts)
{
    __shared__ uint32_t own[1 << PASS_BITS];
    const uint64_t begin = (uint64_t)blockIdx.x * COUNT_CHUNK;
    const uint64_t end = n - begin < COUNT_CHUNK ? n : begin + COUNT_CHUNK;
    const uint32_t first = leading(sorted_key(sorted_load(pairs, begin)), known);
    const uint32_t last = leading(sorted_key(sorted_load(pairs, end - 1)), known);
    for (uint32_t part = first; part <= last; part++) {
        const uint64_t from = known_starts[part] > begin ? known_starts[part] : begin;
        const uint64_t to = known_starts[part + 1] < end ? known_starts[part + 1] : end;
        for (uint32_t i = threadIdx.x; i < 1u << more; i += COUNT_BLOCK) own[i] = 0;
        __syncthreads();
        for (uint64_t i = from + threadIdx.x; i < to; i += COUNT_BLOCK)
            atomicAdd(
                &own[leading(sorted_key(sorted_load(pairs, i)), known + more) & ((1u << more) - 1)],
                1);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < 1u << more; i += COUNT_BLOCK)
            if (own[i] != 0)
                atomicAdd(&counts[((uint64_t)part << more) + i], (unsigned long long)own[i]);
        __syncthreads();
    }
}

/* --------------------------------------------------------------------------------------- sorting */

typedef cub::BlockScan<uint32_t, SORT_BLOCK, cub::BLOCK_SCAN_WARP_SCANS> sort_scan;
#define SORT_TARGETS_A_THREAD ((1 << PASS_BITS) / SORT_BLOCK)

/* What a block keeps in shared memory, whose threads have ITEMS pairs each. */
template <int ITEMS> struct tile_scratch {
    union {
        typename sort_scan::TempStorage scan;
        uint32_t pairs[SORT_BLOCK * ITEMS * HD_PAIR_WORDS];
    };
    uint64_t ahead[1 << PASS_BITS]; /* where a target's pairs go, less where they are in the tile */
    uint32_t begins[1 << PASS_BITS]; /* counts, then where a target's pairs begin in the tile */
};
typedef tile_scratch<SORT_ITEMS> sort_scratch;

/* Turns the tile's counts into places in the tile, and reserves room for them. */
HD_FN void sort_reserve(sort_scratch *scratch, uint32_t targets, unsigned long long *cursors)
{
    uint32_t counts[SORT_TARGETS_A_THREAD], begins[SORT_TARGETS_A_THREAD];
    const uint32_t first = threadIdx.x * SORT_TARGETS_A_THREAD;
#pragma unroll
    for (uint32_t i = 0; i < SORT_TARGETS_A_THREAD; i++)
        counts[i] = first + i < targets ? scratch->begins[first + i] : 0;
    sort_scan(scratch->scan).ExclusiveSum(counts, begins);
#pragma unroll
    for (uint32_t i = 0; i < SORT_TARGETS_A_THREAD; i++) {
        if (counts[i] == 0) continue;
        scratch->begins[first + i] = begins[i];
        scratch->ahead[first + i] =
            atomicAdd(&cursors[first + i], (unsigned long long)counts[i]) - begins[i];
    }
    __syncthreads();
}

/*
 * Sorts the pairs whose leading `known` bits are `part` by `more` bits more: those of the thread's
 * pairs whose bit in `mine` is set, `count` in the whole block.
 */
HD_FN void sort_part(sort_scratch *scratch, const hd_sorted_pair (&pairs)[SORT_ITEMS],
                     uint32_t mine, uint32_t count, uint32_t bits, uint32_t more,
                     unsigned long long *cursors, uint32_t *out)
{
    const uint32_t mask = (1u << more) - 1;
    uint32_t ranks[SORT_ITEMS / 2] = {0}; /* two in a word: registers are dear */
    for (uint32_t i = threadIdx.x; i <= mask; i += SORT_BLOCK) scratch->begins[i] = 0;
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++)
        if (mine >> i & 1)
            ranks[i / 2] |=
                atomicAdd(&scratch->begins[leading(sorted_key(pairs[i]), bits) & mask], 1)
                << 16 * (i % 2);
    __syncthreads();
    sort_reserve(scratch, mask + 1, cursors);
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++)
        if (mine >> i & 1)
            sorted_store(scratch->pairs,
                         scratch->begins[leading(sorted_key(pairs[i]), bits) & mask] +
                             (ranks[i / 2] >> 16 * (i % 2) & 0xffff),
                         pairs[i]);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += SORT_BLOCK) {
        const hd_sorted_pair pair = sorted_load(scratch->pairs, i);
        sorted_store(out, scratch->ahead[leading(sorted_key(pair), bits) & mask] + i, pair);
    }
    __syncthreads();
}

/* From the caller's arrays, by the leading `more` bits. */
static __global__ void __launch_bounds__(SORT_BLOCK, SORT_BLOCKS)
    sort_keys(hd_partition job, uint32_t more, unsigned long long *cursors, uint32_t *out)
{
    const uint64_t base = (uint64_t)blockIdx.x * SORT_TILE;
    const uint32_t count = (uint32_t)(job.n - base < SORT_TILE ? job.n - base : SORT_TILE);
    hd_sorted_pair pairs[SORT_ITEMS];
    uint32_t mine = 0;
    if (count == SORT_TILE && is_vectorial(job)) {
        mine = (uint32_t)((UINT64_C(1) << SORT_ITEMS) - 1);
#pragma unroll
        for (uint32_t i = 0; i < SORT_ITEMS; i += VECTOR_KEYS)
            pairs_vector(job, base + i * SORT_BLOCK + threadIdx.x * VECTOR_KEYS, pairs + i);
    } else {
#pragma unroll
        for (uint32_t i = 0; i < SORT_ITEMS; i++) {
            const uint32_t at = i * SORT_BLOCK + threadIdx.x;
            if (at < count) {
                pairs[i] = pair_make(job, base + at);
                mine |= 1u << i;
            }
        }
    }
    sort_part((sort_scratch *)block_memory(), pairs, mine, count, more, more, cursors, out);
}

/* From the pairs [begin_pair, end_pair) of those sorted by their leading `known` bits; whole parts of them. */
static __global__ void __launch_bounds__(SORT_BLOCK, SORT_BLOCKS)
    sort_pairs(const uint32_t *from, uint64_t begin_pair, uint64_t end_pair, const uint64_t *starts,
               uint32_t spread, uint32_t known, uint32_t more, unsigned long long *cursors,
               uint32_t *out)
{
    const uint64_t base = begin_pair + (uint64_t)blockIdx.x * SORT_TILE;
    const uint32_t count = (uint32_t)(end_pair - base < SORT_TILE ? end_pair - base : SORT_TILE);
    const uint32_t first = leading(sorted_key(sorted_load(from, base)), known);
    const uint32_t last = leading(sorted_key(sorted_load(from, base + count - 1)), known);
    hd_sorted_pair pairs[SORT_ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++) {
        const uint32_t at = i * SORT_BLOCK + threadIdx.x;
        if (at < count) pairs[i] = sorted_load(from, base + at);
    }
    for (uint32_t part = first; part <= last; part++) {
        const uint64_t begin = starts[(uint64_t)part << spread];
        const uint64_t end = starts[(uint64_t)(part + 1) << spread];
        const uint32_t lo = begin > base ? (uint32_t)(begin - base) : 0;
        const uint32_t hi = end - base < count ? (uint32_t)(end - base) : count;
        uint32_t mine = 0;
        if (lo >= hi) continue;
#pragma unroll
        for (uint32_t i = 0; i < SORT_ITEMS; i++) {
            const uint32_t at = i * SORT_BLOCK + threadIdx.x;
            if (at >= lo && at < hi) mine |= 1u << i;
        }
        sort_part((sort_scratch *)block_memory(), pairs, mine, hi - lo, known + more, more,
                  cursors + ((uint64_t)part << more), out);
    }
}

#include "cuda/partition/scatter_kernels.inl"

#endif
