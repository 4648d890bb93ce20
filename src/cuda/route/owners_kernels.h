/*
 * owners_kernels.h: the device code that sends rows to the owners of their keys and fetches answers
 * (model/owners.h), for keys of one width; owners.cu launches it.
 *
 * A tile is what a block works on at a time. Each warp has neighbouring rows of it, 32 at a time. The rank of a
 * row is how many rows of its owner come before it in the tile: in the warps before, which are added up in shared
 * memory, and in its own warp, which votes tell. Up to 32 owners, each lane counts the rows of the owner that has
 * its number; beyond that the counters are in shared memory. The ranks are the same whichever kernel asks.
 */
#ifndef HD_OWNERS_KERNELS_H
#define HD_OWNERS_KERNELS_H

#include "model/hash.h"
#include "model/owners.h"
#include "tile/load_cuda.h"

#ifndef OWNERS_BLOCK
#define OWNERS_BLOCK 256
#define OWNERS_ITEMS 8 /* rows of a thread */
#endif
#define OWNERS_WARPS (OWNERS_BLOCK / 32)
#define OWNERS_TILE (OWNERS_BLOCK * OWNERS_ITEMS)
#define OWNERS_BLOCKS 4 /* that a processor holds at least */
#define ALL_LANES UINT32_MAX

/*
 * Where the rows of every owner begin, or the answers to them, in two columns: keys and values, or flags and values.
 * Without `of` all lie in one array each, one owner after the other.
 */
typedef struct owners_columns {
    bool direct;
    char *one, *other;
    char *one_of[HD_OWNERS_DIRECT], *other_of[HD_OWNERS_DIRECT]; /* direct */
} owners_columns;

/* The arrays of pointers are in host memory. */
static inline owners_columns owners_columns_of(void *one, void *other, void *const *one_of,
                                               void *const *other_of, uint32_t members)
{
    owners_columns columns = {
        one_of != NULL || other_of != NULL, (char *)one, (char *)other, {}, {}};
    for (uint32_t i = 0; columns.direct && i < members; i++) {
        columns.one_of[i] = one_of != NULL ? (char *)one_of[i] : NULL;
        columns.other_of[i] = other_of != NULL ? (char *)other_of[i] : NULL;
    }
    return columns;
}

/* A block's shared memory. */
typedef struct owners_scratch {
    char **one_of,
        **other_of; /* of owners_columns, as if the rows of all owners had one array each; direct */
    char *rows;     /* a column of the tile, owner by owner; not in all kernels */
    uint32_t *places; /* of the rows of every owner; with `rows`: less where they begin there */
    uint32_t *begins; /* where the rows of every owner begin in `rows` */
    uint16_t *counts; /* rows of every owner in every warp, later: in the warps before */
    uint16_t *owners; /* of every bin, up to HD_OWNER_BITS_FEW */
} owners_scratch;

#define OWNERS_POINTERS (2 * HD_OWNERS_DIRECT * sizeof(char *))

/* Whether there are so few bins that their owners are in shared memory, where the rows need room too. */
#define OWNERS_SHARED(batch) ((batch).bits <= HD_OWNER_BITS_FEW)

/* What kernels are compiled for instead of a number of bits, beyond 32 members: few bins and many. */
#define OWNERS_MANY 0
#define OWNERS_MANY_BINS (-1)

/* Its bytes, where an element of `rows` has `width` of them. */
static inline size_t owners_scratch_bytes(const hd_owners &batch, uint32_t width)
{
    return OWNERS_POINTERS + (size_t)OWNERS_TILE * width + batch.members * 2 * sizeof(uint32_t) +
           OWNERS_WARPS * batch.members * sizeof(uint16_t) +
           (OWNERS_SHARED(batch) ? sizeof(uint16_t) << batch.bits : 0);
}

HD_FN owners_scratch owners_scratch_lay(const hd_owners &batch, uint32_t width)
{
    owners_scratch scratch;
    scratch.one_of = (char **)block_memory();
    scratch.other_of = scratch.one_of + HD_OWNERS_DIRECT;
    scratch.rows = block_memory() + OWNERS_POINTERS;
    scratch.places = (uint32_t *)(scratch.rows + (size_t)OWNERS_TILE * width);
    scratch.begins = scratch.places + batch.members;
    scratch.counts = (uint16_t *)(scratch.begins + batch.members);
    scratch.owners = scratch.counts + OWNERS_WARPS * batch.members;
    if (OWNERS_SHARED(batch))
        for (uint32_t i = threadIdx.x; i < 1u << batch.bits; i += OWNERS_BLOCK)
            scratch.owners[i] = __ldg(batch.owners + i);
    __syncthreads();
    return scratch;
}

/* Notes where columns are whose elements have so many bytes; places count from the first row of the first owner. */
template <bool DIRECT>
static __device__ __forceinline__ void
lay_columns(const owners_scratch &scratch, const hd_owners &batch, const owners_columns &columns,
            uint32_t one_width, uint32_t other_width)
{
    if (!DIRECT) return;
    for (uint32_t i = threadIdx.x; i < batch.members; i += OWNERS_BLOCK) {
        const uint64_t before = batch.starts[i];
        scratch.one_of[i] = (char *)((uintptr_t)columns.one_of[i] - before * one_width);
        scratch.other_of[i] = (char *)((uintptr_t)columns.other_of[i] - before * other_width);
    }
    __syncthreads();
}

/* The columns as an owner's rows see them. */
template <bool DIRECT>
static __device__ __forceinline__ char *one_column(const owners_scratch &scratch,
                                                   const owners_columns &columns, uint32_t owner)
{
    return DIRECT ? scratch.one_of[owner] : columns.one;
}

template <bool DIRECT>
static __device__ __forceinline__ char *other_column(const owners_scratch &scratch,
                                                     const owners_columns &columns, uint32_t owner)
{
    return DIRECT ? scratch.other_of[owner] : columns.other;
}

/* BITS as in rank_rows. */
template <int BITS>
static __device__ __forceinline__ uint32_t owner_of(const owners_scratch &scratch,
                                                    const hd_owners &batch, hd_key key)
{
    const uint32_t bin = (uint32_t)(mix_key(&batch.mix, key) >> (HD_KEY_BITS - batch.bits));
    return BITS == OWNERS_MANY_BINS ? __ldg(batch.owners + bin) : scratch.owners[bin];
}

/* ------------------------------------------------------------------------------- ranks of a tile */

/* The rows of a warp: items of 32 neighbours, those of item i from first + 32 * i on. */
typedef struct warp_rows {
    uint64_t first;
    uint32_t count; /* fewer than all where the batch ends */
} warp_rows;

HD_FN warp_rows rows_of_warp(const hd_owners &batch, uint64_t tile)
{
    const uint32_t all = 32 * OWNERS_ITEMS;
    const uint64_t first = tile * OWNERS_TILE + threadIdx.x / 32 * all;
    const uint64_t left = first < batch.n ? batch.n - first : 0;
    const warp_rows rows = {first, left < all ? (uint32_t)left : all};
    return rows;
}

/* The lanes that have a row in this item. */
HD_FN uint32_t lanes_here(const warp_rows &rows, uint32_t item)
{
    const uint32_t left = rows.count > 32 * item ? rows.count - 32 * item : 0;
    return left < 32 ? (1u << left) - 1 : ALL_LANES;
}

/* The lanes of `votes` that are as this number's bit is. */
HD_FN uint32_t as_bit(uint32_t votes, uint32_t number, uint32_t bit)
{
    return votes ^ ((number >> bit & 1) - 1);
}

/* Up to 2^BITS owners, at most 32. `spots` are owners, and become owner and rank in the warp. */
template <int BITS>
static __device__ __forceinline__ void rank_few(const hd_owners &batch, const warp_rows &rows,
                                                uint16_t *counts, uint32_t (&spots)[OWNERS_ITEMS])
{
    const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
    uint32_t so_far = 0; /* of the owner that has the lane's number */
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++) {
        const uint32_t owner = spots[i];
        uint32_t peers = lanes_here(rows, i), mine = peers;
#pragma unroll
        for (uint32_t bit = 0; bit < BITS; bit++) {
            const uint32_t votes = __ballot_sync(ALL_LANES, (owner >> bit & 1) != 0);
            peers &= as_bit(votes, owner, bit);
            mine &= as_bit(votes, lane, bit);
        }
        spots[i] =
            owner << 16 | (__shfl_sync(ALL_LANES, so_far, owner) + (uint32_t)__popc(peers & below));
        so_far += (uint32_t)__popc(mine);
    }
    if (lane < batch.members) counts[lane] = (uint16_t)so_far;
}

/* Any number of owners. */
HD_FN void rank_many(const hd_owners &batch, const warp_rows &rows, uint16_t *counts,
                     uint32_t (&spots)[OWNERS_ITEMS])
{
    const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
    for (uint32_t i = lane; i < batch.members; i += 32) counts[i] = 0;
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++) {
        const uint32_t owner = spots[i];
        uint32_t peers = lanes_here(rows, i);
        for (uint32_t bit = 0; batch.members > 1u << bit; bit++)
            peers &= as_bit(__ballot_sync(ALL_LANES, (owner >> bit & 1) != 0), owner, bit);
        const uint32_t before = counts[owner];
        __syncwarp();
        if ((peers & below) == 0) /* a lane without a row changes nothing */
            counts[owner] = (uint16_t)(before + (uint32_t)__popc(peers));
        __syncwarp();
        spots[i] = owner << 16 | (before + (uint32_t)__popc(peers & below));
    }
}

/*
 * Reads the rows of a tile; BITS as in rank_few, or OWNERS_MANY*. Afterwards the counts of all warps are there. Before, a
 * warp writes nothing but its own counts: others may still be at the tile before.
 */
template <int BITS>
static __device__ __forceinline__ void
rank_rows(const owners_scratch &scratch, const hd_owners &batch, const warp_rows &rows,
          hd_key (&keys)[OWNERS_ITEMS], uint32_t (&spots)[OWNERS_ITEMS])
{
    const hd_key *from = (const hd_key *)batch.keys + rows.first + threadIdx.x % 32;
    uint16_t *counts = scratch.counts + threadIdx.x / 32 * batch.members;
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++)
        keys[i] = 32 * i + threadIdx.x % 32 < rows.count ? __ldg(from + 32 * i) : 0;
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++) spots[i] = owner_of<BITS>(scratch, batch, keys[i]);
    __syncwarp(); /* all lanes are done with the tile before */
    if constexpr (BITS > 0) rank_few<BITS>(batch, rows, counts, spots);
    else rank_many(batch, rows, counts, spots);
    __syncthreads();
}

/* How many rows of an owner the warps before each have; returns those of all. */
HD_FN uint32_t add_warps(const owners_scratch &scratch, const hd_owners &batch, uint32_t owner)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t warp = 0; warp < OWNERS_WARPS; warp++) {
        uint16_t *at = scratch.counts + warp * batch.members + owner;
        const uint32_t count = *at;
        *at = (uint16_t)sum;
        sum += count;
    }
    return sum;
}

/* The rank in the tile. */
HD_FN uint32_t rank_of(const owners_scratch &scratch, const hd_owners &batch, uint32_t spot)
{
    return scratch.counts[threadIdx.x / 32 * batch.members + (spot >> 16)] + (spot & 0xffff);
}

/* ---------------------------------------------------------------------------------------- plan */

/* counts[owner * tiles + tile]: the rows. */
template <int BITS>
static __global__ void __launch_bounds__(OWNERS_BLOCK, OWNERS_BLOCKS)
    count_owners(hd_owners batch, uint32_t tiles, uint32_t *counts)
{
    const owners_scratch scratch = owners_scratch_lay(batch, 0);
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        hd_key keys[OWNERS_ITEMS];
        uint32_t spots[OWNERS_ITEMS];
        rank_rows<BITS>(scratch, batch, rows_of_warp(batch, tile), keys, spots);
        for (uint32_t owner = threadIdx.x; owner < batch.members; owner += OWNERS_BLOCK)
            counts[(uint64_t)owner * tiles + tile] = add_warps(scratch, batch, owner);
        __syncthreads();
    }
}

/* Where the rows of every member begin, when the counts have been added up. */
static __global__ void tell_starts(hd_owners batch, uint32_t tiles, const uint32_t *places)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i <= batch.members;
         i += gridDim.x * blockDim.x)
        batch.starts[i] = i < batch.members ? places[(uint64_t)i * tiles] : batch.n;
}

/* ---------------------------------------------------------------------------------------- send */

/* By one warp: where the owners' rows begin, from how many there are; and the places less that. */
HD_FN void add_owners(const owners_scratch &scratch, const hd_owners &batch)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t before = 0;
    for (uint32_t base = 0; base < batch.members; base += 32) {
        const uint32_t owner = base + lane;
        const uint32_t count = owner < batch.members ? scratch.begins[owner] : 0;
        uint32_t sum = count;
#pragma unroll
        for (uint32_t by = 1; by < 32; by *= 2) {
            const uint32_t other = __shfl_up_sync(ALL_LANES, sum, by);
            if (lane >= by) sum += other;
        }
        if (owner < batch.members) {
            scratch.begins[owner] = before + sum - count;
            scratch.places[owner] -= before + sum - count;
        }
        before += __shfl_sync(ALL_LANES, sum, 31);
    }
}

/* The spots become places in `rows`. */
HD_FN void lay_out(const owners_scratch &scratch, const hd_owners &batch, uint32_t tiles,
                   uint32_t tile, const uint32_t *places, uint32_t (&spots)[OWNERS_ITEMS])
{
    for (uint32_t owner = threadIdx.x; owner < batch.members; owner += OWNERS_BLOCK) {
        scratch.places[owner] = __ldg(places + (uint64_t)owner * tiles + tile);
        scratch.begins[owner] = add_warps(scratch, batch, owner);
    }
    __syncthreads();
    if (threadIdx.x < 32) add_owners(scratch, batch);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++)
        spots[i] = scratch.begins[spots[i] >> 16] + rank_of(scratch, batch, spots[i]);
}

/* Where a row goes: its place among all, and whose it is. */
typedef struct owners_target {
    uint32_t place, owner;
} owners_target;

/* Writes the keys, and says where each of those that this thread has written went. */
template <int BITS, bool DIRECT>
static __device__ __forceinline__ void
send_keys(const owners_scratch &scratch, const hd_owners &batch, uint32_t count,
          const owners_columns &columns, owners_target (&targets)[OWNERS_ITEMS])
{
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++) {
        const uint32_t at = i * OWNERS_BLOCK + threadIdx.x;
        if (at >= count) continue;
        const hd_key key = ((const hd_key *)scratch.rows)[at];
        targets[i].owner = owner_of<BITS>(scratch, batch, key);
        targets[i].place = scratch.places[targets[i].owner] + at;
        ((hd_key *)one_column<DIRECT>(scratch, columns, targets[i].owner))[targets[i].place] = key;
    }
}

/* The same for values, which take the room of the keys. */
template <class VALUE, bool DIRECT>
static __device__ __forceinline__ void
send_values(const owners_scratch &scratch, const warp_rows &rows, uint32_t count,
            const VALUE *values, const owners_columns &columns,
            const uint32_t (&spots)[OWNERS_ITEMS], const owners_target (&targets)[OWNERS_ITEMS])
{
    VALUE *staged = (VALUE *)scratch.rows;
    values += rows.first + threadIdx.x % 32;
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++)
        if (32 * i + threadIdx.x % 32 < rows.count) staged[spots[i]] = __ldg(values + 32 * i);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++) {
        const uint32_t at = i * OWNERS_BLOCK + threadIdx.x;
        if (at < count)
            ((VALUE *)other_column<DIRECT>(scratch, columns, targets[i].owner))[targets[i].place] =
                staged[at];
    }
}

/* VALUE is that of `values`, if there are any. */
template <int BITS, class VALUE, bool DIRECT>
static __global__ void __launch_bounds__(OWNERS_BLOCK, OWNERS_BLOCKS)
    send_rows(hd_owners batch, uint32_t tiles, const uint32_t *places, const void *values,
              owners_columns columns)
{
    const owners_scratch scratch =
        owners_scratch_lay(batch, sizeof(VALUE) > sizeof(hd_key) ? sizeof(VALUE) : sizeof(hd_key));
    lay_columns<DIRECT>(scratch, batch, columns, sizeof(hd_key), sizeof(VALUE));
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const warp_rows rows = rows_of_warp(batch, tile);
        const uint64_t left = batch.n - (uint64_t)tile * OWNERS_TILE;
        const uint32_t count = left < OWNERS_TILE ? (uint32_t)left : OWNERS_TILE;
        hd_key keys[OWNERS_ITEMS];
        uint32_t spots[OWNERS_ITEMS];
        owners_target targets[OWNERS_ITEMS];
        rank_rows<BITS>(scratch, batch, rows, keys, spots);
        lay_out(scratch, batch, tiles, tile, places, spots);
#pragma unroll
        for (uint32_t i = 0; i < OWNERS_ITEMS; i++)
            if (32 * i + threadIdx.x % 32 < rows.count)
                ((hd_key *)scratch.rows)[spots[i]] = keys[i];
        __syncthreads();
        send_keys<BITS, DIRECT>(scratch, batch, count, columns, targets);
        if (values != NULL)
            send_values<VALUE, DIRECT>(scratch, rows, count, (const VALUE *)values, columns, spots,
                                       targets);
    }
}

/* --------------------------------------------------------------------------------------- fetch */

/* Where answers go, as hd_owners_answers has it. */
typedef struct owners_asked {
    bool flags; /* there are some */
    uint8_t *found_out;
    void *values_out;
} owners_asked;

/* What came for the rows at these targets. A value is read whether or not it will be written. */
template <class VALUE, bool DIRECT>
static __device__ __forceinline__ void
fetch_answers(const owners_scratch &scratch, const warp_rows &rows, const owners_asked &asked,
              const owners_columns &columns, const owners_target (&targets)[OWNERS_ITEMS])
{
    const uint64_t first = rows.first + threadIdx.x % 32;
    uint32_t found[OWNERS_ITEMS];
    VALUE values[OWNERS_ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++) {
        const bool here = 32 * i + threadIdx.x % 32 < rows.count;
        const uint32_t owner = targets[i].owner, place = targets[i].place;
        found[i] = here && asked.flags
                       ? __ldg((const uint8_t *)one_column<DIRECT>(scratch, columns, owner) + place)
                       : here;
        if (here && asked.values_out != NULL)
            values[i] = __ldg((const VALUE *)other_column<DIRECT>(scratch, columns, owner) + place);
    }
#pragma unroll
    for (uint32_t i = 0; i < OWNERS_ITEMS; i++) {
        if (32 * i + threadIdx.x % 32 >= rows.count) continue;
        if (asked.found_out != NULL) asked.found_out[first + 32 * i] = (uint8_t)found[i];
        if (asked.values_out != NULL && found[i] != 0)
            ((VALUE *)asked.values_out)[first + 32 * i] = values[i];
    }
}

template <int BITS, class VALUE, bool DIRECT>
static __global__ void __launch_bounds__(OWNERS_BLOCK, OWNERS_BLOCKS)
    fetch_rows(hd_owners batch, uint32_t tiles, const uint32_t *places, owners_asked asked,
               owners_columns columns)
{
    const owners_scratch scratch = owners_scratch_lay(batch, 0);
    lay_columns<DIRECT>(scratch, batch, columns, 1, sizeof(VALUE));
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const warp_rows rows = rows_of_warp(batch, tile);
        hd_key keys[OWNERS_ITEMS];
        uint32_t spots[OWNERS_ITEMS];
        owners_target targets[OWNERS_ITEMS];
        rank_rows<BITS>(scratch, batch, rows, keys, spots);
        for (uint32_t owner = threadIdx.x; owner < batch.members; owner += OWNERS_BLOCK) {
            scratch.places[owner] = __ldg(places + (uint64_t)owner * tiles + tile);
            add_warps(scratch, batch, owner);
        }
        __syncthreads();
#pragma unroll
        for (uint32_t i = 0; i < OWNERS_ITEMS; i++) {
            targets[i].owner = spots[i] >> 16;
            targets[i].place = scratch.places[targets[i].owner] + rank_of(scratch, batch, spots[i]);
        }
        fetch_answers<VALUE, DIRECT>(scratch, rows, asked, columns, targets);
    }
}

#endif
