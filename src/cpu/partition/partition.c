/*
 * partition.c: sorting pairs by region on the CPU, for one kind of pair. Built once for every pair of
 * key and value widths in instances.def, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS
 * and HD_SYMBOL. Exports HD_SYMBOL alone.
 *
 * A radix partition that combines writes: every target region has a small buffer, and only whole
 * buffers go to memory, past the caches. So the number of regions a pass can tell apart is bounded by
 * the buffers that fit the second-level cache, not by pages or cache lines under way. Every thread
 * counts its share of the input first and then knows where its pairs go; equal keys stay in order.
 */
#include "cpu/partition/partition.h"

#include <omp.h>
#include <string.h>

#include "cpu/device/engine.h"
#include "model/hash.h"

#define PAIR_BYTES ((HD_KEY_BITS + HD_VALUE_BITS) / 8)
#define LINE 64
/* The shortest row of pairs that fills whole lines. */
#define BUFFER_PAIRS (PAIR_BYTES == 12 ? 16 : LINE / PAIR_BYTES)
#define BUFFER_BYTES (BUFFER_PAIRS * PAIR_BYTES)
/* Pairs in no more memory than this are read again before they leave the second-level cache. */
#define CACHED_BYTES (UINT64_C(1) << 21)
/* Keys that are mixed at once, by vectors where the machine has them. */
#define BLOCK 64

/*
 * One thread's part of a pass. What every pair needs is small: a number of one byte and a line. Each
 * target's pairs go to the places from `first` on, in rows that are aligned as memory lines are; the
 * places of the first row before `first` belong to others and are left alone.
 */
typedef struct pass {
    uint32_t shift; /* of a mixed key: its low bits then name the target */
    uint32_t mask;
    uint64_t *first;
    uint64_t *row;   /* where the row in the buffer goes; before that: how many pairs there are */
    uint8_t *filled; /* places of the buffer that are taken */
    char *buffers;   /* BUFFER_BYTES for each target, aligned to lines */
    char *out;       /* aligned to lines */
    bool cached;     /* the pairs are so few that they are best left in the caches */
} pass;

/* What a pass of one thread needs for so many targets. */
static uint64_t pass_bytes(uint64_t targets)
{
    return (targets * (BUFFER_BYTES + 2 * sizeof(uint64_t) + 1) + LINE - 1) / LINE * LINE;
}

static pass pass_make(uint32_t shift, uint32_t bits, char *work, int thread, char *out)
{
    const size_t targets = (size_t)1 << bits;
    pass p;
    work += (size_t)thread * pass_bytes(targets);
    p.shift = shift;
    p.mask = (uint32_t)(targets - 1);
    p.buffers = work;
    p.first = (uint64_t *)(void *)(work + targets * BUFFER_BYTES);
    p.row = p.first + targets;
    p.filled = (uint8_t *)(p.row + targets);
    p.out = out;
    p.cached = false;
    return p;
}

/* The i-th target gets the places from `first` on. */
static inline void target_start(const pass *p, uint64_t i, uint64_t first)
{
    p->first[i] = first;
    p->filled[i] = (uint8_t)(first % BUFFER_PAIRS);
    p->row[i] = first - first % BUFFER_PAIRS;
}

/* Writes whole lines past the caches. */
static inline void stream_out(char *to, const char *from)
{
    for (int i = 0; i < BUFFER_BYTES; i += 16) hd_stream_16(to + i, from + i);
}

/* Writes the pairs in a buffer, all its places or only the first of them. */
static inline void buffer_flush(const pass *p, uint32_t number, uint32_t filled)
{
    const char *buffer = p->buffers + (size_t)number * BUFFER_BYTES;
    const uint64_t row = p->row[number], first = p->first[number];
    const uint64_t others = first > row ? first - row : 0;
    char *to = p->out + row * PAIR_BYTES;
    if (others == 0 && filled == BUFFER_PAIRS && p->cached) memcpy(to, buffer, BUFFER_BYTES);
    else if (others == 0 && filled == BUFFER_PAIRS) stream_out(to, buffer);
    else if (filled > others)
        memcpy(to + others * PAIR_BYTES, buffer + others * PAIR_BYTES,
               (filled - others) * PAIR_BYTES);
}

/* One store where a pair has the size of a word. */
static inline void pair_write(char *at, hd_key mixed, hd_value value)
{
#if HD_KEY_BITS == 32 && HD_VALUE_BITS == 32
    const uint64_t pair = (uint64_t)value << 32 | mixed; /* little-endian */
    memcpy(at, &pair, sizeof pair);
#else
    memcpy(at, &mixed, sizeof mixed);
    if (HD_VALUE_BITS != 0) memcpy(at + sizeof mixed, &value, sizeof value);
#endif
}

/* Mixed keys, with the targets they go to. */
typedef struct block {
    hd_key mixed[BLOCK];
    uint32_t targets[BLOCK];
    hd_value values[BLOCK];
} block;

static inline void block_aim(const pass *p, block *b, uint32_t count)
{
    const uint32_t shift = p->shift, mask = p->mask;
    for (uint32_t i = 0; i < count; i++) b->targets[i] = (uint32_t)(b->mixed[i] >> shift) & mask;
}

static inline void block_count(const pass *p, const block *b, uint32_t count)
{
    uint64_t *const pairs = p->row;
    for (uint32_t i = 0; i < count; i++) pairs[b->targets[i]]++;
}

static inline void block_put(const pass *p, const block *b, const hd_value *values, uint32_t count)
{
    uint8_t *const filled = p->filled;
    char *const buffers = p->buffers;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = b->targets[i], place = filled[number];
        pair_write(buffers + (size_t)number * BUFFER_BYTES + place * PAIR_BYTES, b->mixed[i],
                   values[i]);
        filled[number] = (uint8_t)(place + 1);
        if (place + 1 == BUFFER_PAIRS) {
            buffer_flush(p, number, BUFFER_PAIRS);
            p->row[number] += BUFFER_PAIRS;
            filled[number] = 0;
        }
    }
}

static void pass_end(const pass *p)
{
    for (uint32_t i = 0; i <= p->mask; i++) buffer_flush(p, i, p->filled[i]);
    hd_stream_end();
}

static inline uint32_t block_length(uint64_t first, uint64_t end)
{
    return end - first < BLOCK ? (uint32_t)(end - first) : BLOCK;
}

/* --------------------------------------------------------------------- from the caller's arrays */

static inline void block_mix(const hd_partition *job, const pass *p, uint64_t first, uint32_t count,
                             block *b)
{
    const hd_key *keys = (const hd_key *)job->keys + first;
    const hd_mix mix = job->mix;
    for (uint32_t i = 0; i < count; i++) b->mixed[i] = mix_key(&mix, keys[i]);
    block_aim(p, b, count);
}

/* Adds the keys to the counts of their targets. */
static void count_more(const hd_partition *job, uint64_t begin, uint64_t end, const pass *p)
{
    block b;
    for (uint64_t i = begin; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_mix(job, p, i, count, &b);
        block_count(p, &b, count);
    }
}

static void count_keys(const hd_partition *job, uint64_t begin, uint64_t end, const pass *p)
{
    memset(p->row, 0, ((size_t)p->mask + 1) * sizeof *p->row);
    count_more(job, begin, end, p);
}

static void scatter_keys(const hd_partition *job, uint64_t begin, uint64_t end, const pass *p)
{
    const hd_value *values = (const hd_value *)job->values;
    block b;
    for (uint64_t i = begin; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_mix(job, p, i, count, &b);
        if (values == NULL)
            for (uint32_t j = 0; j < count; j++)
                b.values[j] = (hd_value)(job->ones ? 1 : job->first_row + i + j);
        block_put(p, &b, values != NULL ? values + i : b.values, count);
    }
    pass_end(p);
}

/* Turns the counts of all threads into places, target by target; starts[i << spread] is where the i-th begins. */
static void counts_to_places(const hd_partition *job, uint32_t bits, int threads)
{
    const uint32_t spread = job->region_bits - bits;
    uint64_t at = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << bits; i++) {
        job->starts[i << spread] = at;
        for (int t = 0; t < threads; t++) {
            const pass p = pass_make(0, bits, (char *)job->work, t, NULL);
            const uint64_t pairs = p.row[i];
            target_start(&p, i, at);
            at += pairs;
        }
    }
    job->starts[UINT64_C(1) << job->region_bits] = at;
}

/* Where a thread's share of n pairs begins. */
static inline uint64_t share_begin(uint64_t n, uint64_t thread, uint64_t threads)
{
    return n / threads * thread + n % threads * thread / threads;
}

static void first_pass(const hd_partition *job, int threads, uint32_t bits, char *out)
{
#pragma omp parallel num_threads(threads)
    {
        const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
        const uint64_t begin = share_begin(job->n, me, all), end = share_begin(job->n, me + 1, all);
        pass p = pass_make(HD_KEY_BITS - bits, bits, (char *)job->work, (int)me, out);
        p.cached = job->n * PAIR_BYTES <= CACHED_BYTES;
        count_keys(job, begin, end, &p);
#pragma omp barrier
#pragma omp single
        counts_to_places(job, bits, (int)all);
        scatter_keys(job, begin, end, &p);
    }
}

/* --------------------------------------------------------------------- within a part, once more */

static inline void block_read(const pass *p, const char *from, uint64_t first, uint32_t count,
                              block *b)
{
    from += first * PAIR_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&b->mixed[i], from + i * PAIR_BYTES, sizeof b->mixed[i]);
        if (HD_VALUE_BITS != 0)
            memcpy(&b->values[i], from + i * PAIR_BYTES + sizeof(hd_key), sizeof b->values[i]);
    }
    block_aim(p, b, count);
}

/* Sorts the pairs [starts[0], starts[count]) of one part, and fills in the starts between. */
static void split_part(const char *from, uint64_t *starts, const pass *p)
{
    const uint64_t begin = starts[0], end = starts[(uint64_t)p->mask + 1];
    uint64_t at = begin;
    block b;
    memset(p->row, 0, ((size_t)p->mask + 1) * sizeof *p->row);
    for (uint64_t i = begin; i < end; i += BLOCK) {
        block_read(p, from, i, block_length(i, end), &b);
        block_count(p, &b, block_length(i, end));
    }
    for (uint32_t i = 0; i <= p->mask; i++) {
        const uint64_t pairs = p->row[i];
        starts[i] = at;
        target_start(p, i, at);
        at += pairs;
    }
    for (uint64_t i = begin; i < end; i += BLOCK) {
        block_read(p, from, i, block_length(i, end), &b);
        block_put(p, &b, b.values, block_length(i, end));
    }
    pass_end(p);
}

static void second_pass(const hd_partition *job, int threads, uint32_t bits, const char *from)
{
    const uint32_t parts = UINT32_C(1) << (job->region_bits - bits);
#pragma omp parallel num_threads(threads)
    {
        const pass p = pass_make(HD_KEY_BITS - job->region_bits, bits, (char *)job->work,
                                 omp_get_thread_num(), (char *)job->pairs);
#pragma omp for schedule(dynamic)
        for (uint32_t i = 0; i < parts; i++)
            split_part(from, job->starts + ((uint64_t)i << bits), &p);
    }
}

/* ------------------------------------------------------------------------------------ the whole */

/* The bits of the first of two passes, or all where one is enough. */
static uint32_t first_bits(uint32_t region_bits)
{
    return region_bits <= HD_PASS_BITS ? region_bits : (region_bits + 1) / 2;
}

static uint64_t work_bytes(int threads, uint32_t region_bits)
{
    return (uint64_t)threads * pass_bytes(UINT64_C(1) << first_bits(region_bits));
}

static void sort(int threads, const hd_partition *job)
{
    const uint32_t first = first_bits(job->region_bits);
    const bool twice = first < job->region_bits;
    first_pass(job, threads, first, (char *)(twice ? job->spare : job->pairs));
    if (twice) second_pass(job, threads, job->region_bits - first, (const char *)job->spare);
}

/* ------------------------------------------------------------------------------- counting alone */

/* The first thread adds to the counts themselves, so that small batches take no more than their keys do. */
static uint64_t count_work_bytes(int threads, uint32_t region_bits)
{
    return ((uint64_t)threads - 1) * sizeof(uint64_t) << region_bits;
}

/* Counters take no buffers: there may be more of them than a pass tells apart. */
static void count_alone(int threads, const hd_partition *job, uint64_t *counts)
{
    const size_t regions = (size_t)1 << job->region_bits;
    uint64_t *others = (uint64_t *)job->work;
#pragma omp parallel num_threads(threads)
    {
        const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
        const uint64_t begin = share_begin(job->n, me, all), end = share_begin(job->n, me + 1, all);
        pass p;
        memset(&p, 0, sizeof p);
        p.shift = HD_KEY_BITS - job->region_bits;
        p.mask = (uint32_t)(regions - 1);
        p.row = me == 0 ? counts : others + (me - 1) * regions;
        if (me == 0) count_more(job, begin, end, &p);
        else count_keys(job, begin, end, &p);
#pragma omp barrier
#pragma omp for schedule(static)
        for (size_t i = 0; i < regions; i++)
            for (uint64_t t = 1; t < all; t++) counts[i] += others[(t - 1) * regions + i];
    }
}

#include "cpu/partition/partition_steps.inl"

extern const hd_partition_cpu HD_SYMBOL;
const hd_partition_cpu HD_SYMBOL = {work_bytes,       sort,       step_work_bytes, step,
                                    count_work_bytes, count_alone};
