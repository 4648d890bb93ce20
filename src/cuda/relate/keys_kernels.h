/*
 * keys_kernels.h: the device code that finds the distinct keys of an array, for one width of keys and one
 * of row numbers. Groups known by number and distinct keys alone both begin with it (keys.h launches).
 *
 *     keys_draw     looks at some rows and guesses how many keys there are: so many slots the table gets
 *     keys_clear    empties these slots
 *     keys_collect  a block meets its keys in a table in shared memory, and brings what it met to the table
 *                   of all blocks; keys that find no room in shared memory go to the table of all at once.
 *                   Sizes, first rows and aggregates of values (keys_values.inl) are made on the way
 * and, in keys_answers.inl:
 *
 *     keys_mark     a map of bits says where keys are: by their first rows, or by their slots
 *     (a scan)      how many bits are set before every word of the map: a key's number is a sum of two
 *     keys_place    groups by number: keys with their numbers, for
 *     keys_number_rows   which gives every row the number of its key
 *     keys_write    distinct keys: their answers in order
 *
 * The table is open-addressed and probed linearly. The slots behind the last home take what is pushed over the
 * end, so probing does not wrap around. Which slots are used does not depend on the order in which keys
 * come, only which key of a run of used slots is in which of them. So keys_write sorts each run, and the
 * order of keys is the same every time.
 *
 * An empty slot holds a key of all ones. The key that looks like that has slot 0, where no other key goes.
 *
 * Where the guess was too low the table fills up. Then `full` is set, every block stops soon, and all
 * further kernels return at once.
 *
 * Loads of slots may come from the first-level cache and be old. That does no harm: a used slot stays what it
 * is, an empty one is asked again by the atomic that takes it, and a first row only becomes smaller.
 */
#ifndef HD_KEYS_KERNELS_H
#define HD_KEYS_KERNELS_H

#include "base/atomic.h"
#include "cuda/columns/reduce_ways.h"
#include "model/hash.h"
#include "model/relate.h"
#include "tile/load_cuda.h"

#ifndef KEYS_BLOCK
#define KEYS_BLOCK 512
#define KEYS_ITEMS 8 /* rows of a thread, on their way at the same time */
#endif
#define KEYS_TILE (KEYS_BLOCK * KEYS_ITEMS)
#define KEYS_LANES 0xffffffffu

#define KEYS_TAIL 1024  /* slots behind the last home; no key is further from its home */
#define KEYS_LEAST 1024 /* homes */
/* In a block's table, where all keys are expected to fit, and elsewhere: most keys are not in it then. */
#define KEYS_NEAR_PROBES 64
#define KEYS_FEW_PROBES 4
#define KEYS_COPY_BITS 5 /* of the copies of a key in a block's table: one for each lane at most */
/* Of fewer keys drawn just twice, where so many or more were drawn once, nothing can be guessed. */
#define KEYS_TWICE 8
#define KEYS_ONCE 64
#define KEYS_NO_SLOT UINT64_MAX
#define KEYS_FULL_BY_GUESS 2 /* keys_control.full: it would be, so nothing was tried */

typedef hd_value keys_row;
#define KEYS_NO_ROW ((keys_row) ~(keys_row)0)

typedef struct keys_control {
    uint64_t homes;           /* slots that a key may begin at */
    uint64_t most;            /* keys, before the table counts as full */
    unsigned long long count; /* keys, and in the end all of them */
    uint64_t groups;          /* the same, 0 where the table is full */
    uint32_t full, odd;       /* odd: the key that an empty slot looks like is there */
    uint32_t copy_bits;       /* of the copies that keys have in a block's table */
    uint32_t near_probes;     /* in a block's table */
} keys_control;

/* A key and its number. */
struct alignas(HD_KEY_BITS / 4) keys_entry {
    hd_key key;
    uint32_t number;
};

/* The table of all blocks; it has 1 + homes + KEYS_TAIL slots. */
typedef struct keys_table {
    keys_control *control;
    hd_key *keys;
    keys_row *firsts;                  /* first rows, or NULL */
    unsigned long long *sizes;         /* numbers of rows, or NULL */
    unsigned long long *bits, *before; /* the map, and the bits set before every word */
    uint64_t words;                    /* of the map; the last one has no bit set */
    bool ordered;                      /* the map is of rows, else of slots */
} keys_table;

#define KEYS_VALUES 8 /* aggregates that go along, at most */

/* What is added up of a value. */
enum { KEYS_NOTHING, KEYS_SUM, KEYS_SUM_FLOAT, KEYS_LEAST_VALUE, KEYS_MOST_VALUE };

/* An aggregate: 64 bits for every slot, and where there are nulls how many values there were. */
typedef struct keys_value {
    const void *column;
    const uint8_t *valid;
    unsigned long long *cells;  /* of all slots; NULL for KEYS_NOTHING */
    unsigned long long *counts; /* of all slots, or NULL */
    uint32_t type, what;
    uint32_t near_count; /* which of a block's counts are these */
} keys_value;

typedef struct keys_job {
    keys_table table;
    keys_value values[KEYS_VALUES];
    uint32_t value_count, near_counts;
    hd_mix mix;
    const hd_key *keys;
    uint64_t n;
    uint64_t homes;      /* at most */
    uint64_t least;      /* homes that a guess does not go below */
    uint64_t room;       /* keys at most */
    uint64_t near_homes; /* tables with so many come to shared memory for keys_number_rows */
    uint32_t near_bits;  /* of a block's table */
    uint32_t draw_bits;  /* of the slots of keys_draw, two for a row; 0: the table gets all homes */
    uint64_t guess;      /* what a test sets in place of the homes of keys_draw, or UINT64_MAX */
    bool copies; /* keys may have copies in a block's table, because somebody adds to them */
    /* Groups by number. */
    keys_entry *entries; /* as many as slots */
    keys_row *firsts;    /* out, `room` of them */
    uint32_t *numbers;   /* out, one a row */
} keys_job;

HD_FN uint64_t keys_slots(const keys_control *control) { return 1 + control->homes + KEYS_TAIL; }

/* Where a mixed key begins to look. */
HD_FN uint64_t keys_home(hd_key mixed, uint64_t homes)
{
    return 1 + __umul64hi((unsigned long long)mixed << (64 - HD_KEY_BITS), homes);
}

HD_FN bool keys_used(const keys_table &table, uint64_t slot)
{
    return slot == 0 ? table.control->odd != 0 : table.keys[slot] != HD_KEY_EMPTY;
}

/* -------------------------------------------------------------------------------------------- draw */

/* The i-th row that is looked at, the same every time. */
HD_FN uint64_t keys_drawn(uint64_t i, uint64_t n)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return __umul64hi(x ^ x >> 31, n);
}

HD_FN void keys_draw_key(uint32_t *prints, uint32_t *met, uint32_t bits, hd_key mixed)
{
    const uint32_t print = (uint32_t)(mixed >> (HD_KEY_BITS - 32)) | 1; /* 0 is an empty slot */
    for (uint32_t at = print >> (32 - bits);; at = (at + 1) & ((1u << bits) - 1)) {
        const uint32_t there = atomicCAS(&prints[at], 0u, print);
        if (there != 0 && there != print) continue;
        atomicAdd(&met[at], 1u);
        return;
    }
}

/* How often each of the keys drawn was met: their prints, and behind them the numbers. Half of the slots are drawn,
   several rows of a thread at the same time. */
HD_FN void keys_draw_rows(const keys_job &job, uint32_t *prints, uint32_t *met)
{
    const uint32_t slots = 1u << job.draw_bits;
    for (uint32_t i = threadIdx.x; i < slots; i += KEYS_BLOCK) prints[i] = met[i] = 0;
    __syncthreads();
    for (uint32_t first = threadIdx.x; first < slots / 2; first += KEYS_BLOCK * KEYS_ITEMS) {
        hd_key keys[KEYS_ITEMS];
#pragma unroll
        for (uint32_t k = 0; k < KEYS_ITEMS; k++)
            keys[k] = job.keys[keys_drawn(first + k * KEYS_BLOCK, job.n)];
#pragma unroll
        for (uint32_t k = 0; k < KEYS_ITEMS; k++)
            if (first + k * KEYS_BLOCK < slots / 2)
                keys_draw_key(prints, met, job.draw_bits, mix_key(&job.mix, keys[k]));
    }
    __syncthreads();
}

/*
 * Keys, by A. Chao's guess: those that were not drawn are as many as one expects of the keys that were drawn
 * once or twice. It is a lower bound where keys are not evenly frequent.
 */
HD_FN uint64_t keys_guess(uint64_t drawn, uint64_t once, uint64_t twice)
{
    return drawn + (once != 0 ? once * (once - 1) / (2 * (twice + 1)) : 0);
}

/* Three times as many homes as keys, unless a few less fit shared memory. */
HD_FN uint64_t keys_homes_for(const keys_job &job, uint64_t drawn, uint64_t once, uint64_t twice)
{
    const uint64_t keys = keys_guess(drawn, once, twice);
    uint64_t homes = keys * 3;
    if (twice < KEYS_TWICE && once >= KEYS_ONCE) return job.homes;
    if (homes > job.near_homes && keys + keys / 2 <= job.near_homes) homes = job.near_homes;
    return homes > job.least ? homes : job.least;
}

/* One block. Writes all of `control`. */
static __global__ void __launch_bounds__(KEYS_BLOCK) keys_draw(keys_job job)
{
    __shared__ uint32_t seen[3]; /* keys, those met once, those met twice */
    uint32_t *prints = (uint32_t *)block_memory(), *met = prints + (1u << job.draw_bits);
    const bool draws = job.draw_bits != 0;
    if (threadIdx.x < 3) seen[threadIdx.x] = 0;
    __syncthreads();
    if (draws) {
        keys_draw_rows(job, prints, met);
        uint32_t mine[3] = {0, 0, 0};
        for (uint32_t i = threadIdx.x; i < 1u << job.draw_bits; i += KEYS_BLOCK) {
            mine[0] += met[i] != 0;
            mine[1] += met[i] == 1;
            mine[2] += met[i] == 2;
        }
        for (int i = 0; i < 3; i++) atomicAdd(&seen[i], mine[i]);
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    const uint64_t least =
        keys_guess(seen[0], seen[1], seen[2] < KEYS_TWICE ? KEYS_TWICE : seen[2]);
    uint64_t homes = draws ? keys_homes_for(job, seen[0], seen[1], seen[2]) : job.homes;
    if (job.guess != UINT64_MAX) homes = job.guess;
    if (homes > job.homes) homes = job.homes;
    keys_control made;
    made.homes = homes;
    made.most = homes - homes / 4;
    if (homes == job.homes || made.most > job.room) made.most = job.room;
    made.count = made.groups = 0;
    made.full = draws && job.guess == UINT64_MAX && least / 2 > job.room ? KEYS_FULL_BY_GUESS : 0;
    made.odd = made.copy_bits = 0;
    /* Copies leave three quarters of a block's table empty: a key that finds no room there costs many times as much. */
    const uint64_t keys = keys_guess(seen[0], seen[1], seen[2]), near = UINT64_C(1)
                                                                        << job.near_bits;
    if (draws && job.copies)
        while (made.copy_bits < KEYS_COPY_BITS && made.copy_bits + 3 < job.near_bits &&
               keys << (made.copy_bits + 3) <= near)
            made.copy_bits++;
    made.near_probes = draws && keys + keys / 2 <= near ? KEYS_NEAR_PROBES : KEYS_FEW_PROBES;
    *job.table.control = made;
}

static __global__ void __launch_bounds__(KEYS_BLOCK) keys_clear(keys_job job)
{
    const keys_table &table = job.table;
    const uint64_t slots = table.control->full ? 0 : keys_slots(table.control);
    const uint64_t stride = (uint64_t)gridDim.x * KEYS_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * KEYS_BLOCK + threadIdx.x; i < slots; i += stride) {
        table.keys[i] = HD_KEY_EMPTY;
        if (table.firsts != NULL) table.firsts[i] = KEYS_NO_ROW;
        if (table.sizes != NULL) table.sizes[i] = 0;
        for (uint32_t j = 0; j < job.value_count; j++) {
            const keys_value &v = job.values[j];
            if (v.cells != NULL) v.cells[i] = v.what == KEYS_LEAST_VALUE ? UINT64_MAX : 0;
            if (v.counts != NULL) v.counts[i] = 0;
        }
    }
}

/* ----------------------------------------------------------------------------------------- collect */

/* A block's own table; the slots behind the others are those of the odd key. */
typedef struct keys_near {
    hd_key *keys;
    keys_row *firsts;
    uint32_t *sizes;
    char *values; /* the cells of one aggregate after the other */
    uint32_t *counts;
    uint32_t bits, copy_bits, probes;
    uint64_t homes; /* of the table of all */
} keys_near;

/* What the threads of a block share besides. */
typedef struct keys_shared {
    uint32_t used;  /* slots of the block's table */
    uint32_t fresh; /* keys that the block has brought to the table of all */
    uint32_t step;  /* new keys that it meets before all blocks learn of it */
    uint32_t stop, odd;
} keys_shared;

#define KEYS_ODD_SLOTS (1u << KEYS_COPY_BITS)

/* Bytes of a block's table, which the host knows, too. */
HD_BOTH uint32_t keys_near_bytes(const keys_job &job, bool firsts, bool sizes)
{
    const uint32_t key = (uint32_t)(sizeof(hd_key) + (firsts ? sizeof(keys_row) : 0) +
                                    (sizes ? sizeof(uint32_t) : 0));
    return ((1u << job.near_bits) + KEYS_ODD_SLOTS) *
           (key + 8 * job.value_count + 4 * job.near_counts);
}

HD_FN uint32_t keys_near_slots(const keys_near &near) { return (1u << near.bits) + KEYS_ODD_SLOTS; }

template <bool FIRSTS, bool SIZES>
static __device__ __forceinline__ void keys_near_clear(const keys_job &job, const keys_near &near)
{
    const uint32_t slots = keys_near_slots(near);
    for (uint32_t i = threadIdx.x; i < slots; i += KEYS_BLOCK) {
        near.keys[i] = HD_KEY_EMPTY;
        if (FIRSTS) near.firsts[i] = KEYS_NO_ROW;
        if (SIZES) near.sizes[i] = 0;
        for (uint32_t j = 0; j < job.value_count; j++)
            ((unsigned long long *)near.values)[j * slots + i] =
                job.values[j].what == KEYS_LEAST_VALUE ? UINT64_MAX : 0;
        for (uint32_t j = 0; j < job.near_counts; j++) near.counts[j * slots + i] = 0;
    }
}

template <bool FIRSTS, bool SIZES>
static __device__ __forceinline__ keys_near keys_near_begin(const keys_job &job,
                                                            keys_shared *shared)
{
    const keys_control *control = job.table.control;
    char *at = block_memory();
    keys_near near;
    near.bits = job.near_bits;
    near.copy_bits = control->copy_bits;
    near.probes = control->near_probes;
    near.homes = control->homes;
    const uint32_t slots = keys_near_slots(near);
    near.keys = (hd_key *)at;
    at += slots * sizeof(hd_key);
    near.firsts = (keys_row *)at;
    if (FIRSTS) at += slots * sizeof(keys_row);
    near.values = at;
    at += slots * 8 * job.value_count;
    near.counts = (uint32_t *)at;
    near.sizes = near.counts + slots * job.near_counts;
    keys_near_clear<FIRSTS, SIZES>(job, near);
    if (threadIdx.x == 0) {
        shared->used = shared->fresh = shared->odd = 0;
        /* Full already: because of the draw, or of blocks that came before. */
        shared->stop = control->full;
        shared->step = (uint32_t)(control->homes / (16 * gridDim.x)) + 1;
    }
    __syncthreads();
    return near;
}

/* Puts a key into an empty slot; gives what was there before. */
HD_FN hd_key keys_put(hd_key *slot, hd_key key)
{
#if HD_KEY_BITS == 32
    return cas_before_32(slot, HD_KEY_EMPTY, key);
#else
    return cas_before_64(slot, HD_KEY_EMPTY, key);
#endif
}

HD_FN void keys_min_row(keys_row *first, keys_row row)
{
#if HD_VALUE_BITS == 64
    min_relaxed_64(first, row);
#else
    min_relaxed_32(first, row);
#endif
}

/* The slot of a key in the block's table, where it is taken if the table has room; all ones: nowhere. */
HD_FN uint32_t keys_near_find(const keys_near &near, keys_shared *shared, hd_key key, hd_key mixed)
{
    const uint32_t mask = (1u << near.bits) - 1, copies = 1u << near.copy_bits;
    const uint32_t copy = threadIdx.x & (copies - 1);
    uint32_t at = (uint32_t)(mixed >> (HD_KEY_BITS - near.bits + near.copy_bits)) * copies + copy;
    if (key == HD_KEY_EMPTY) {
        shared->odd = 1;
        return mask + 1 + copy;
    }
    for (uint32_t probe = 0; probe < near.probes; probe++) {
        hd_key there = *(volatile hd_key *)&near.keys[at];
        if (there == key) return at;
        if (there == HD_KEY_EMPTY) {
            /* Fuller than this it would only keep keys waiting that are not in it. */
            if (*(volatile uint32_t *)&shared->used > mask - mask / 4) return UINT32_MAX;
            there = keys_put(&near.keys[at], key);
            if (there == HD_KEY_EMPTY) atomicAdd(&shared->used, 1u);
            if (there == HD_KEY_EMPTY || there == key) return at;
        }
        at = (at + copies) & mask;
    }
    return UINT32_MAX;
}

/* The slot of a row's key in the block's table, or all ones. */
template <bool FIRSTS, bool SIZES>
static __device__ __forceinline__ uint32_t keys_near_take(const keys_near &near,
                                                          keys_shared *shared, hd_key key,
                                                          hd_key mixed, keys_row row)
{
    const uint32_t at = keys_near_find(near, shared, key, mixed);
    if (at == UINT32_MAX) return at;
    if (FIRSTS && row < *(volatile keys_row *)&near.firsts[at]) keys_min_row(&near.firsts[at], row);
    if (SIZES) atomicAdd(&near.sizes[at], 1u);
    return at;
}

/* A key's slot in the table of all, KEYS_NO_SLOT where it has no room. */
HD_FN uint64_t keys_far_find(const keys_table &table, uint64_t homes, hd_key key, hd_key mixed,
                             bool *fresh)
{
    keys_control *control = table.control;
    uint64_t at = keys_home(mixed, homes);
    if (key == HD_KEY_EMPTY) {
        if (control->odd == 0) *fresh = atomicExch(&control->odd, 1u) == 0;
        return 0;
    }
    for (uint32_t probe = 0; probe <= KEYS_TAIL; probe++, at++) {
        hd_key there = table.keys[at];
        if (there == HD_KEY_EMPTY) {
            there = keys_put(&table.keys[at], key);
            *fresh = there == HD_KEY_EMPTY;
            if (*fresh) return at;
        }
        if (there == key) return at;
    }
    return KEYS_NO_SLOT;
}

/* A block has brought `more` new keys; all learn of it in steps. */
HD_FN void keys_count_fresh(const keys_job &job, keys_shared *shared, uint32_t more)
{
    keys_control *control = job.table.control;
    const uint32_t before = atomicAdd(&shared->fresh, more);
    const uint32_t steps = (before + more) / shared->step - before / shared->step;
    if (steps == 0) return;
    const unsigned long long add = (unsigned long long)steps * shared->step;
    if (atomicAdd(&control->count, add) + add > control->most) control->full = 1;
    if (*(volatile uint32_t *)&control->full != 0) shared->stop = 1;
}

/* What a lane brings to the table of all. */
typedef struct keys_brought {
    hd_key key, mixed;
    keys_row row;
    uint32_t rows;
} keys_brought;

/* Lanes with `left` bring a key each, and get its slot; all lanes of the warp call it. */
template <bool FIRSTS, bool SIZES>
static __device__ __forceinline__ uint64_t keys_far_put(const keys_job &job, keys_shared *shared,
                                                        const keys_brought &b, uint64_t homes,
                                                        bool left)
{
    const keys_table &table = job.table;
    uint64_t at = KEYS_NO_SLOT;
    bool fresh = false;
    if (left) {
        at = keys_far_find(table, homes, b.key, b.mixed, &fresh);
        if (at == KEYS_NO_SLOT) {
            table.control->full = 1;
            shared->stop = 1;
        } else {
            if (FIRSTS && b.row < table.firsts[at]) keys_min_row(&table.firsts[at], b.row);
            if (SIZES) atomicAdd(&table.sizes[at], (unsigned long long)b.rows);
        }
    }
    const uint32_t lanes = __ballot_sync(KEYS_LANES, fresh);
    if (lanes != 0 && threadIdx.x % 32 == 0) keys_count_fresh(job, shared, hd_popcount32(lanes));
    return at;
}

/* Where a row's key is: in the block's table, or with this bit in that of all, or KEYS_NO_SLOT. */
#define KEYS_FAR (UINT64_C(1) << 62)

/*
 * The first lane of `lefts` that has this lane's key: it alone brings the key, for a key that comes in runs would keep its
 * slot busy. Where rows are counted, all lanes of a key are one, elsewhere those of a run: that takes less time. All lanes of
 * the warp call it.
 */
template <bool SIZES>
static __device__ __forceinline__ uint32_t keys_leader(hd_key key, uint32_t lefts, uint32_t *rows)
{
    const uint32_t lane = threadIdx.x % 32;
    if (SIZES) {
        const uint32_t same = __match_any_sync(KEYS_LANES, key) & lefts;
        *rows = hd_popcount32(same);
        return same != 0 ? hd_lowest_bit(same) : lane;
    }
    const hd_key before = __shfl_up_sync(KEYS_LANES, key, 1);
    const bool follows = lane != 0 && before == key && (lefts >> (lane - 1) & 1) != 0;
    const uint32_t leaders = __ballot_sync(KEYS_LANES, !follows) & (KEYS_LANES >> (31 - lane));
    return 31 - (uint32_t)__clz((int)leaders); /* lane 0 follows nobody */
}

/* One row a lane, where `mine`. Rows ascend with lanes. */
template <bool FIRSTS, bool SIZES>
static __device__ __forceinline__ uint64_t keys_take(const keys_job &job, const keys_near &near,
                                                     keys_shared *shared, hd_key key, keys_row row,
                                                     bool mine)
{
    keys_brought b = {key, mix_key(&job.mix, key), row, 1};
    const uint32_t at =
        mine ? keys_near_take<FIRSTS, SIZES>(near, shared, key, b.mixed, row) : UINT32_MAX;
    const bool left = mine && at == UINT32_MAX;
    const uint32_t lefts = __ballot_sync(KEYS_LANES, left);
    const uint64_t here = at != UINT32_MAX ? at : KEYS_NO_SLOT;
    if (lefts == 0) return here;
    const uint32_t leader = keys_leader<SIZES>(key, lefts, &b.rows);
    const bool leads = left && leader == threadIdx.x % 32;
    uint64_t far = keys_far_put<FIRSTS, SIZES>(job, shared, b, near.homes, leads);
    far = __shfl_sync(KEYS_LANES, (unsigned long long)far, leader);
    return !left ? here : far != KEYS_NO_SLOT ? KEYS_FAR | far : KEYS_NO_SLOT;
}

#include "cuda/relate/keys_values.inl"

/* The i-th slot of a block's table; blocks begin at different ones. */
HD_FN uint32_t keys_near_at(const keys_near &near, uint32_t i)
{
    const uint32_t slots = 1u << near.bits;
    return i < slots ? (i + blockIdx.x * 992) % slots : i;
}

/* What the block met goes to the table of all. One lane brings what the slots of a warp have of its key. */
template <bool FIRSTS, bool SIZES, bool VALUES>
static __device__ __forceinline__ void keys_bring(const keys_job &job, const keys_near &near,
                                                  keys_shared *shared)
{
    const uint32_t slots = 1u << near.bits, all = keys_near_slots(near);
    const uint32_t odd = shared->odd != 0 ? slots + (1u << near.copy_bits) : slots;
    for (uint32_t first = threadIdx.x / 32 * 32; first < all; first += KEYS_BLOCK) {
        const uint32_t i = first + threadIdx.x % 32;
        const hd_key key = near.keys[keys_near_at(near, i < all ? i : 0)];
        const bool used = i < slots ? key != HD_KEY_EMPTY : i < odd;
        const uint32_t useds = __ballot_sync(KEYS_LANES, used);
        if (useds == 0) continue;
        const uint32_t same = __match_any_sync(KEYS_LANES, key) & useds;
        const bool leads = used && hd_lowest_bit(same) == threadIdx.x % 32;
        keys_brought b = {key, mix_key(&job.mix, key), KEYS_NO_ROW, 0};
        for (uint32_t m = leads ? same : 0; m != 0; m &= m - 1) {
            const uint32_t at = keys_near_at(near, first + hd_lowest_bit(m));
            if (FIRSTS && near.firsts[at] < b.row) b.row = near.firsts[at];
            if (SIZES) b.rows += near.sizes[at];
        }
        const uint64_t far = keys_far_put<FIRSTS, SIZES>(job, shared, b, near.homes, leads);
        if (VALUES && far != KEYS_NO_SLOT) keys_bring_values(job, near, first, same, far);
    }
}

template <bool FIRSTS, bool SIZES, bool VALUES>
static __global__ void __launch_bounds__(KEYS_BLOCK, VALUES ? 2 : 3) keys_collect(keys_job job)
{
    __shared__ keys_shared shared;
    keys_control *control = job.table.control;
    const keys_near near = keys_near_begin<FIRSTS, SIZES>(job, &shared);
    const uint64_t tiles = (job.n + KEYS_TILE - 1) / KEYS_TILE;
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint64_t begin = tile * KEYS_TILE + threadIdx.x;
        hd_key keys[KEYS_ITEMS];
        uint64_t places[KEYS_ITEMS];
        if (__any_sync(KEYS_LANES, *(volatile uint32_t *)&shared.stop != 0)) break;
#pragma unroll
        for (int i = 0; i < KEYS_ITEMS; i++) {
            const uint64_t row = begin + (uint64_t)i * KEYS_BLOCK;
            keys[i] = row < job.n ? __ldcs(job.keys + row) : 0;
        }
#pragma unroll
        for (int i = 0; i < KEYS_ITEMS; i++) {
            const uint64_t row = begin + (uint64_t)i * KEYS_BLOCK;
            places[i] =
                keys_take<FIRSTS, SIZES>(job, near, &shared, keys[i], (keys_row)row, row < job.n);
        }
        if (VALUES)
            for (uint32_t j = 0; j < job.value_count; j++)
                keys_take_values(job.values[j], near, j, begin, places);
    }
    __syncthreads();
    if (shared.stop != 0) return;
    __syncthreads(); /* nobody sets `stop` before all have looked at it */
    keys_bring<FIRSTS, SIZES, VALUES>(job, near, &shared);
    __syncthreads();
    const unsigned long long rest = shared.fresh % shared.step;
    if (threadIdx.x == 0 && rest != 0 && atomicAdd(&control->count, rest) + rest > control->most)
        control->full = 1;
}

#include "cuda/relate/keys_answers.inl"

#endif
