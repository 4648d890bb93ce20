/*
 * scatter_kernels.inl: the device code of a partition that counts nothing first (hd_scatter): the passes of
 * partition_kernels.h, with room for the same number of pairs in every target. What a tile has beyond that goes to
 * a list, for which room is reserved like that of the targets: with one atomic a tile and target, so that input
 * of one key alone costs no more than any other.
 */
#ifndef HD_PARTITION_KERNELS_H
#error "included by partition_kernels.h alone"
#endif
#ifndef HD_SCATTER_KERNELS_H
#define HD_SCATTER_KERNELS_H

/* Where the pairs of a pass go. */
typedef struct scatter_targets {
    uint32_t *pairs;             /* the i-th target's from i * room on */
    unsigned long long *cursors; /* of every target: where its next pair goes */
    uint64_t room;
    uint32_t *over; /* pairs beyond that; NULL: they are only counted */
    unsigned long long *over_count;
} scatter_targets;

/* What a block keeps in shared memory. */
template <int ITEMS> struct scatter_scratch {
    tile_scratch<ITEMS> tile;
    uint64_t over[1 << PASS_BITS]; /* as `ahead`, for the list */
};

/* Every target is empty: regions, and the parts of a first pass. */
static __global__ void __launch_bounds__(SORT_BLOCK)
    scatter_begin(uint32_t regions, uint64_t room, uint64_t *starts, uint64_t *cursors,
                  uint32_t parts, uint64_t part_room, uint64_t *part_cursors, uint64_t *over_count)
{
    const uint32_t i = blockIdx.x * SORT_BLOCK + threadIdx.x;
    if (i < regions) starts[i] = cursors[i] = i * room;
    if (i < parts) part_cursors[i] = i * part_room;
    if (i == 0) *over_count = 0;
}

/* Turns the tile's counts into places in the tile, and reserves room for them; `first`: the number of target 0. */
template <int ITEMS>
HD_FN void scatter_reserve(scatter_scratch<ITEMS> *scratch, uint32_t targets, uint32_t first_target,
                           const scatter_targets &to)
{
    uint32_t counts[SORT_TARGETS_A_THREAD], begins[SORT_TARGETS_A_THREAD];
    const uint32_t first = threadIdx.x * SORT_TARGETS_A_THREAD;
#pragma unroll
    for (uint32_t i = 0; i < SORT_TARGETS_A_THREAD; i++)
        counts[i] = first + i < targets ? scratch->tile.begins[first + i] : 0;
    sort_scan(scratch->tile.scan).ExclusiveSum(counts, begins);
#pragma unroll
    for (uint32_t i = 0; i < SORT_TARGETS_A_THREAD; i++) {
        if (counts[i] == 0) continue;
        const uint64_t end = ((uint64_t)first_target + first + i + 1) * to.room;
        const uint64_t at =
            atomicAdd(&to.cursors[first_target + first + i], (unsigned long long)counts[i]);
        const uint64_t fit = at >= end ? 0 : end - at;
        scratch->tile.begins[first + i] = begins[i];
        scratch->tile.ahead[first + i] = at - begins[i];
        if (fit < counts[i])
            scratch->over[first + i] =
                atomicAdd(to.over_count, (unsigned long long)(counts[i] - fit)) - begins[i] - fit;
    }
    __syncthreads();
}

/* Brings the tile's pairs to their targets: the bits that name one are those above `shift`, less `first_target`. */
template <int ITEMS>
HD_FN void scatter_tile(scatter_scratch<ITEMS> *scratch, const hd_sorted_pair (&pairs)[ITEMS],
                        uint32_t mine, uint32_t count, uint32_t bits, uint32_t targets,
                        uint32_t first_target, const scatter_targets &to)
{
    uint32_t ranks[(ITEMS + 1) / 2] = {0}; /* two in a word: registers are dear */
    for (uint32_t i = threadIdx.x; i < targets; i += SORT_BLOCK) scratch->tile.begins[i] = 0;
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if (mine >> i & 1)
            ranks[i / 2] |=
                atomicAdd(&scratch->tile.begins[leading(sorted_key(pairs[i]), bits) - first_target],
                          1)
                << 16 * (i % 2);
    __syncthreads();
    scatter_reserve<ITEMS>(scratch, targets, first_target, to);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if (mine >> i & 1)
            sorted_store(scratch->tile.pairs,
                         scratch->tile.begins[leading(sorted_key(pairs[i]), bits) - first_target] +
                             (ranks[i / 2] >> 16 * (i % 2) & 0xffff),
                         pairs[i]);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += SORT_BLOCK) {
        const hd_sorted_pair pair = sorted_load(scratch->tile.pairs, i);
        const uint32_t target = leading(sorted_key(pair), bits);
        const uint64_t at = scratch->tile.ahead[target - first_target] + i;
        if (at < ((uint64_t)target + 1) * to.room) sorted_store(to.pairs, at, pair);
        else if (to.over != NULL)
            sorted_store(to.over, scratch->over[target - first_target] + i, pair);
    }
}

/* From the caller's arrays, by the leading `bits` bits. */
template <int ITEMS>
static __global__ void __launch_bounds__(SORT_BLOCK, SORT_BLOCKS)
    scatter_keys(hd_partition job, uint32_t bits, scatter_targets to)
{
    const uint32_t tile = SORT_BLOCK * ITEMS;
    const uint64_t base = (uint64_t)blockIdx.x * tile;
    const uint32_t count = (uint32_t)(job.n - base < tile ? job.n - base : tile);
    hd_sorted_pair pairs[ITEMS];
    uint32_t mine = 0;
    if (ITEMS % VECTOR_KEYS == 0 && count == tile && is_vectorial(job)) {
        mine = (uint32_t)((UINT64_C(1) << ITEMS) - 1);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i += VECTOR_KEYS)
            pairs_vector(job, base + i * SORT_BLOCK + threadIdx.x * VECTOR_KEYS, pairs + i);
    } else {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++) {
            const uint32_t at = i * SORT_BLOCK + threadIdx.x;
            if (at >= count) continue;
            pairs[i] = pair_make(job, base + at);
            mine |= 1u << i;
        }
    }
    scatter_tile<ITEMS>((scatter_scratch<ITEMS> *)block_memory(), pairs, mine, count, bits,
                        1u << bits, 0, to);
}

/* From the parts of a first pass, a row of blocks each, by `more` bits more than the `known` that name a part. */
static __global__ void __launch_bounds__(SORT_BLOCK, SORT_BLOCKS)
    scatter_parts(const uint32_t *from, const uint64_t *part_cursors, uint64_t part_room,
                  uint32_t known, uint32_t more, scatter_targets to)
{
    const uint64_t begin = blockIdx.y * part_room, ends = part_cursors[blockIdx.y] - begin;
    const uint64_t n = ends < part_room ? ends : part_room;
    const uint64_t base = (uint64_t)blockIdx.x * SORT_TILE;
    if (base >= n) return;
    const uint32_t count = (uint32_t)(n - base < SORT_TILE ? n - base : SORT_TILE);
    hd_sorted_pair pairs[SORT_ITEMS];
    uint32_t mine = 0;
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++) {
        const uint32_t at = i * SORT_BLOCK + threadIdx.x;
        if (at >= count) continue;
        pairs[i] = sorted_load(from, begin + base + at);
        mine |= 1u << i;
    }
    scatter_tile<SORT_ITEMS>((scatter_scratch<SORT_ITEMS> *)block_memory(), pairs, mine, count,
                             known + more, 1u << more, blockIdx.y << more, to);
}

#endif
