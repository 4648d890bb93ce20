/*
 * filter_kernels.h: the device code of Bloom filters, for keys of one width; filter.cu launches it.
 *
 * A look reads one sector of 32 bytes a key. Two neighbouring lanes share a key, so that one load brings the
 * whole sector, and each tests its half; with an odd number of hashes, where a sector lies across the
 * middle, one lane tests both. Keys that are added one by one have a lane for every word of the block, and the
 * atomics of the eight go to memory as one. Sorted keys are added in shared memory, region by region.
 */
#ifndef HD_FILTER_KERNELS_H
#define HD_FILTER_KERNELS_H

#include "cuda/count.h"
#include "scheme/bloom.h"
#include "tile/load_cuda.h"

#ifndef FILTER_BLOCK
#define FILTER_BLOCK 256
#define FILL_BLOCK 1024 /* a block of threads that has a region in its shared memory */
#endif
#define LOOK_KEYS 4 /* keys that a lane answers for */
#define FILL_KEYS 4 /* keys that a thread loads at a time */
#define BLOOM_WORDS HD_FILTER_BLOCK_WORDS

/* Lanes that share a key. */
template <int HASHES> struct look_lanes {
    static const int count = HASHES % 2 == 0 ? 2 : 1;
};

/* Keys [first, first + COUNT); behind the last of n it comes again. */
template <int COUNT>
static __device__ __forceinline__ void keys_load(const hd_key *keys, uint64_t first, uint64_t n,
                                                 hd_key *to)
{
    const int vector = 16 / (int)sizeof(hd_key);
    if ((uintptr_t)keys % 16 == 0 && first + COUNT <= n) {
#pragma unroll
        for (int i = 0; i < COUNT / vector; i++) {
            const uint4 piece = __ldg((const uint4 *)(keys + first) + i);
            memcpy(to + i * vector, &piece, sizeof piece);
        }
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++) to[i] = __ldg(keys + (first + i < n ? first + i : n - 1));
    }
}

/* The flags of a lane's keys, one byte each, from one bit each. */
HD_FN void flags_store(uint8_t *found, uint64_t first, uint64_t n, uint32_t passed)
{
    if ((uintptr_t)(found + first) % LOOK_KEYS == 0 && first + LOOK_KEYS <= n) {
        *(uint32_t *)(found + first) =
            (passed & 1) | (passed & 2) << 7 | (passed & 4) << 14 | (passed & 8) << 21;
    } else {
        for (int i = 0; i < LOOK_KEYS; i++)
            if (first + i < n) found[first + i] = (uint8_t)(passed >> i & 1);
    }
}

/* ------------------------------------------------------------------------------------ contains */

/* The multipliers of the hashes in a lane's part of the block. */
template <int HASHES, int LANES>
static __device__ __forceinline__ void salts_of(uint32_t part, uint32_t *salts)
{
#pragma unroll
    for (int i = 0; i < HASHES / LANES; i++)
        salts[i] = part == 0 ? bloom_salt(i) : bloom_salt(HASHES - HASHES / LANES + i);
}

/* A bit for each of the keys of a wave whose bits in this lane's part of the block are all set. */
template <int HASHES, int LANES>
static __device__ __forceinline__ uint32_t look_part(const hd_filter_view &view, const hd_key *keys,
                                                     uint32_t part, const uint32_t *salts)
{
    const int count = LOOK_KEYS * LANES, words = BLOOM_WORDS / LANES;
    uint32_t seen[count][words], spread[count], passed = 0;
#pragma unroll
    for (int k = 0; k < count; k++) {
        const hd_key mixed = mix_key(&view.mix, keys[k]);
        const uint32_t *from =
            view.words + (uint64_t)bloom_block(&view, mixed) * BLOOM_WORDS + part * words;
        spread[k] = bloom_spread(mixed);
        /* Bits may come while others add keys; either answer is right then. */
#pragma unroll
        for (int w = 0; w < words; w += 4) load_frozen<16>(&seen[k][w], from + w);
    }
#pragma unroll
    for (int k = 0; k < count; k++) {
        uint32_t missing = 0;
#pragma unroll
        for (int w = 0; w < words; w++)
            missing |= bloom_word(spread[k], salts, w, HASHES) & ~seen[k][w];
        passed |= (uint32_t)(missing == 0) << k;
    }
    return passed;
}

/* LANES lanes look for LOOK_KEYS * LANES neighbouring keys. Either of `found` and `count` may be NULL. */
template <int HASHES>
static __global__ void __launch_bounds__(FILTER_BLOCK)
    contains_keys(hd_filter_view view, const hd_key *keys, uint64_t n, uint8_t *found,
                  uint64_t *count)
{
    const int lanes = look_lanes<HASHES>::count, wave = LOOK_KEYS * lanes;
    const uint64_t thread = (uint64_t)blockIdx.x * FILTER_BLOCK + threadIdx.x;
    const uint32_t part = threadIdx.x % lanes;
    const uint64_t first = thread / lanes * wave, mine = first + part * LOOK_KEYS;
    uint32_t salts[HASHES / lanes];
    hd_key asked[wave];
    salts_of<HASHES, lanes>(part, salts);
    keys_load<wave>(keys, first < n ? first : n - 1, n, asked);
    uint32_t passed = look_part<HASHES, lanes>(view, asked, part, salts);
    if (lanes == 2) passed &= __shfl_sync(0xffffffffu, passed, threadIdx.x % 32 ^ 1);
    passed = passed >> part * LOOK_KEYS & ((1u << LOOK_KEYS) - 1);
    if (found != NULL && mine < n) flags_store(found, mine, n, passed);
    if (count == NULL) return;
    const uint64_t left = mine < n ? n - mine : 0;
    if (left < LOOK_KEYS) passed &= (1u << left) - 1;
    const uint32_t sums[1] = {hd_popcount32(passed)};
    uint64_t *const to[1] = {count};
    block_add<1>(to, sums);
}

/* ---------------------------------------------------------------------------------- one by one */

/* The hashes that have bits in one word of a block: never more than these. */
template <int HASHES> struct word_hashes {
    static const int count = HASHES % 8 == 0 ? HASHES / 8 : HASHES / 8 + 2;
};

/* A lane's word of a block: where the sectors that reach into it begin, and how long they are. */
template <int HASHES> struct word_sectors {
    uint32_t word, salts[word_hashes<HASHES>::count], begins[word_hashes<HASHES>::count],
        sizes[word_hashes<HASHES>::count];

    __device__ __forceinline__ explicit word_sectors(uint32_t word) : word(word)
    {
        const uint32_t first = bloom_word_first(word, HASHES);
#pragma unroll
        for (int i = 0; i < word_hashes<HASHES>::count; i++) {
            /* One that is there twice does no harm. */
            const uint32_t hash = first + i < HASHES ? first + i : HASHES - 1;
            salts[i] = bloom_salt(hash);
            begins[i] = bloom_sector(hash, HASHES);
            sizes[i] = bloom_sector(hash + 1, HASHES) - begins[i];
        }
    }
    __device__ __forceinline__ uint32_t bits(uint32_t spread) const
    {
        uint32_t all = 0;
#pragma unroll
        for (int i = 0; i < word_hashes<HASHES>::count; i++) {
            const uint32_t position = begins[i] + hd_mulhi32(spread * salts[i], sizes[i]);
            if (position / 32 == word) all |= 1u << position % 32;
        }
        return all;
    }
};

/* A warp adds 32 keys, four at a time, with a lane for every word of their blocks. */
template <int HASHES>
static __global__ void __launch_bounds__(FILTER_BLOCK)
    add_keys(hd_filter_view view, const hd_key *keys, uint64_t n)
{
    const uint64_t thread = (uint64_t)blockIdx.x * FILTER_BLOCK + threadIdx.x;
    const uint32_t lane = threadIdx.x % 32, rounds = BLOOM_WORDS;
    const hd_key mixed = mix_key(&view.mix, __ldg(keys + (thread < n ? thread : n - 1)));
    const uint32_t block = bloom_block(&view, mixed), spread = bloom_spread(mixed);
    const word_sectors<HASHES> mine(lane % BLOOM_WORDS);
    uint32_t *to[rounds], bits[rounds];
#pragma unroll
    for (uint32_t r = 0; r < rounds; r++) {
        const uint32_t from = r * (32 / BLOOM_WORDS) + lane / BLOOM_WORDS;
        to[r] =
            view.words + (uint64_t)__shfl_sync(0xffffffffu, block, from) * BLOOM_WORDS + mine.word;
        bits[r] = mine.bits(__shfl_sync(0xffffffffu, spread, from));
    }
    /* Bits that are set already cost no atomic. */
    uint32_t seen[rounds];
#pragma unroll
    for (uint32_t r = 0; r < rounds; r++) load_shared<4>(&seen[r], to[r]);
#pragma unroll
    for (uint32_t r = 0; r < rounds; r++)
        if ((bits[r] & ~seen[r]) != 0) atomicOr(to[r], bits[r]);
}

/* --------------------------------------------------------------------------- region by region */

/*
 * Where a word of a block lies in shared memory. Threads set the same hash of different blocks at the
 * same time; in the plain order these words would share a few banks.
 */
HD_FN uint32_t fill_place(uint32_t block, uint32_t word)
{
    return block * BLOOM_WORDS + (word ^ (block >> 2 & (BLOOM_WORDS - 1)));
}

template <int HASHES>
static __device__ __forceinline__ void fill_key(const hd_filter_view &view, hd_key mixed,
                                                uint32_t first_block, uint32_t *words)
{
    const uint32_t block = bloom_block(&view, mixed) - first_block, spread = bloom_spread(mixed);
#pragma unroll
    for (int i = 0; i < HASHES; i++) {
        const uint32_t position = bloom_position(spread, bloom_salt(i), i, HASHES);
        atomicOr(&words[fill_place(block, position / 32)], 1u << position % 32);
    }
}

/* Adds the sorted keys [begin, end), all of one region. Every thread of the block must call it. */
template <int HASHES>
static __device__ void fill_range(const hd_filter_view &view, const hd_filter_sorted &sorted,
                                  uint32_t region, uint64_t begin, uint64_t end)
{
    const uint32_t blocks = view.blocks >> sorted.region_bits, first_block = region * blocks;
    const hd_key *keys = (const hd_key *)sorted.mixed;
    uint32_t *words = (uint32_t *)block_memory();
    for (uint32_t i = threadIdx.x; i < blocks * BLOOM_WORDS / 4; i += FILL_BLOCK)
        ((uint4 *)words)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    for (uint64_t i = begin + threadIdx.x; i < end; i += FILL_KEYS * FILL_BLOCK) {
        hd_key mixed[FILL_KEYS];
#pragma unroll
        for (int k = 0; k < FILL_KEYS; k++)
            if (i + k * FILL_BLOCK < end) mixed[k] = __ldcs(keys + i + k * FILL_BLOCK);
#pragma unroll
        for (int k = 0; k < FILL_KEYS; k++)
            if (i + k * FILL_BLOCK < end) fill_key<HASHES>(view, mixed[k], first_block, words);
    }
    __syncthreads();
    uint32_t *to = view.words + (uint64_t)first_block * BLOOM_WORDS;
    for (uint32_t i = threadIdx.x; i < blocks * BLOOM_WORDS; i += FILL_BLOCK) {
        const uint32_t bits = words[fill_place(i / BLOOM_WORDS, i % BLOOM_WORDS)];
        if (bits != 0) atomicOr(to + i, bits); /* others may be adding keys, too */
    }
    __syncthreads();
}

/* A block for every region; what is more than `limit` keys is left to fill_crowded. */
template <int HASHES>
static __global__ void __launch_bounds__(FILL_BLOCK)
    fill_regions(hd_filter_view view, hd_filter_sorted sorted, uint64_t limit)
{
    const uint64_t begin = sorted.starts[blockIdx.x], end = sorted.starts[blockIdx.x + 1];
    if (begin == end) return;
    fill_range<HASHES>(view, sorted, blockIdx.x, begin, end - begin < limit ? end : begin + limit);
}

/* The last region that begins at or before the sorted key `at`. */
HD_FN uint32_t region_at(const hd_filter_sorted &sorted, uint64_t at)
{
    uint32_t low = 0, high = 1u << sorted.region_bits;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (sorted.starts[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

/* A block for every `limit` sorted keys: those of them that fill_regions has left. */
template <int HASHES>
static __global__ void __launch_bounds__(FILL_BLOCK)
    fill_crowded(hd_filter_view view, hd_filter_sorted sorted, uint64_t limit)
{
    const uint64_t from = (uint64_t)blockIdx.x * limit;
    const uint64_t to = sorted.n - from < limit ? sorted.n : from + limit;
    const uint32_t regions = 1u << sorted.region_bits;
    for (uint32_t r = region_at(sorted, from); r < regions && sorted.starts[r] < to; r++) {
        const uint64_t left = sorted.starts[r] + limit, end = sorted.starts[r + 1];
        const uint64_t first = left > from ? left : from, last = end < to ? end : to;
        if (first < last) fill_range<HASHES>(view, sorted, r, first, last);
    }
}

/* -------------------------------------------------------------------------------- whole filters */

static __global__ void __launch_bounds__(FILTER_BLOCK)
    merge_words(hd_filter_view view, const uint32_t *from)
{
    const uint64_t words = (uint64_t)view.blocks * BLOOM_WORDS;
    const uint64_t step = (uint64_t)gridDim.x * FILTER_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * FILTER_BLOCK + threadIdx.x; i < words; i += step) {
        const uint32_t bits = __ldcs(from + i);
        if ((bits & ~view.words[i]) != 0) atomicOr(view.words + i, bits);
    }
}

static __global__ void __launch_bounds__(FILTER_BLOCK)
    inspect_blocks(hd_filter_view view, hd_filter_census *census)
{
    __shared__ double passed;
    const uint64_t step = (uint64_t)gridDim.x * FILTER_BLOCK;
    hd_filter_census mine = {0, 0, 0, 0};
    if (threadIdx.x == 0) passed = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * FILTER_BLOCK + threadIdx.x; i < view.blocks;
         i += step) {
        uint32_t words[BLOOM_WORDS];
        for (int w = 0; w < BLOOM_WORDS; w += 4)
            load_frozen<16>(words + w, view.words + i * BLOOM_WORDS + w);
        bloom_inspect(words, view.hashes, &mine);
    }
    const uint64_t sums[3] = {mine.set, mine.keys, mine.broken};
    uint64_t *const to[3] = {&census->set, &census->keys, &census->broken};
    block_add<3>(to, sums); /* it waits for all threads */
    if (mine.passed != 0) atomicAdd(&passed, mine.passed);
    __syncthreads();
    if (threadIdx.x == 0 && passed != 0) atomicAdd(&census->passed, passed);
}

#endif
