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
#include "cpu/partition.h"

#include <omp.h>
#include <string.h>

#include "base/hash.h"
#include "cpu/engine_cpu.h"

#define PAIR_BYTES ((HD_KEY_BITS + HD_VALUE_BITS) / 8)
#define LINE 64
/* The shortest row of pairs that fills whole lines. */
#define BUFFER_PAIRS (PAIR_BYTES == 12 ? 16 : LINE / PAIR_BYTES)
#define BUFFER_BYTES (BUFFER_PAIRS * PAIR_BYTES)

/* Where one thread's pairs of one region go. */
typedef struct target {
    uint64_t first; /* its first pair */
    uint64_t next;  /* its next */
} target;

/* One thread's part of a pass. */
typedef struct pass {
    uint32_t shift; /* of a mixed key: its low bits then name the target */
    uint32_t mask;
    target *targets;
    char *buffers; /* BUFFER_BYTES for each target, aligned to lines */
    char *out;     /* aligned to lines */
} pass;

static inline uint32_t target_of(const pass *p, hd_key mixed)
{
    return (uint32_t)(mixed >> p->shift) & p->mask;
}

/* Writes whole lines past the caches. */
static inline void stream_out(char *to, const char *from)
{
    for (int i = 0; i < BUFFER_BYTES; i += 16) hd_stream_16(to + i, from + i);
}

/* Writes a buffer whose last pair is before `end`; the pairs before the target's first are not ours. */
static void buffer_flush(const pass *p, const target *t, const char *buffer, uint64_t end)
{
    const uint64_t row = (end - 1) / BUFFER_PAIRS * BUFFER_PAIRS;
    const uint64_t begin = t->first > row ? t->first : row;
    if (end - begin == BUFFER_PAIRS) stream_out(p->out + row * PAIR_BYTES, buffer);
    else
        memcpy(p->out + begin * PAIR_BYTES, buffer + (begin - row) * PAIR_BYTES,
               (end - begin) * PAIR_BYTES);
}

static inline void pair_put(const pass *p, hd_key mixed, hd_value value)
{
    const uint32_t number = target_of(p, mixed);
    target *t = &p->targets[number];
    char *buffer = p->buffers + (size_t)number * BUFFER_BYTES;
    char *at = buffer + t->next % BUFFER_PAIRS * PAIR_BYTES;
    memcpy(at, &mixed, sizeof mixed);
#if HD_VALUE_BITS != 0
    memcpy(at + sizeof mixed, &value, sizeof value);
#else
    (void)value;
#endif
    if (++t->next % BUFFER_PAIRS == 0) buffer_flush(p, t, buffer, t->next);
}

static void pass_end(const pass *p)
{
    for (uint32_t i = 0; i <= p->mask; i++) {
        const target *t = &p->targets[i];
        if (t->next % BUFFER_PAIRS != 0 && t->next != t->first)
            buffer_flush(p, t, p->buffers + (size_t)i * BUFFER_BYTES, t->next);
    }
    hd_stream_end();
}

/* --------------------------------------------------------------------- from the caller's arrays */

static void count_keys(const hd_partition *job, uint64_t begin, uint64_t end, const pass *p)
{
    const hd_key *keys = (const hd_key *)job->keys;
    for (uint32_t i = 0; i <= p->mask; i++) p->targets[i].next = 0;
    for (uint64_t i = begin; i < end; i++)
        p->targets[target_of(p, mix_key(&job->mix, keys[i]))].next++;
}

static void scatter_keys(const hd_partition *job, uint64_t begin, uint64_t end, const pass *p)
{
    const hd_key *keys = (const hd_key *)job->keys;
    const hd_value *values = (const hd_value *)job->values;
    for (uint64_t i = begin; i < end; i++)
        pair_put(p, mix_key(&job->mix, keys[i]),
                 values != NULL ? values[i] : (hd_value)(job->ones ? 1 : job->first_row + i));
    pass_end(p);
}

/* Turns the counts of all threads into places, target by target; starts[i << spread] is where the i-th begins. */
static void counts_to_places(target *targets, uint32_t count, int threads, uint64_t *starts,
                             uint32_t spread)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        starts[(uint64_t)i << spread] = at;
        for (int t = 0; t < threads; t++) {
            target *mine = &targets[(size_t)t * count + i];
            const uint64_t pairs = mine->next;
            mine->first = mine->next = at;
            at += pairs;
        }
    }
    starts[(uint64_t)count << spread] = at;
}

/* Where a thread's share of n pairs begins. */
static inline uint64_t share_begin(uint64_t n, uint64_t thread, uint64_t threads)
{
    return n / threads * thread + n % threads * thread / threads;
}

static void first_pass(const hd_partition *job, int threads, uint32_t bits, char *out, char *work)
{
    const uint32_t count = UINT32_C(1) << bits;
    char *buffers = work;
    target *targets = (target *)(void *)(work + (size_t)threads * count * BUFFER_BYTES);
#pragma omp parallel num_threads(threads)
    {
        const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
        const uint64_t begin = share_begin(job->n, me, all), end = share_begin(job->n, me + 1, all);
        const pass p = {HD_KEY_BITS - bits, count - 1, targets + me * count,
                        buffers + me * count * BUFFER_BYTES, out};
        count_keys(job, begin, end, &p);
#pragma omp barrier
#pragma omp single
        counts_to_places(targets, count, (int)all, job->starts, job->region_bits - bits);
        scatter_keys(job, begin, end, &p);
    }
}

/* --------------------------------------------------------------------- within a part, once more */

static inline hd_key pair_get(const char *from, uint64_t i, hd_value *value)
{
    hd_key mixed;
    memcpy(&mixed, from + i * PAIR_BYTES, sizeof mixed);
#if HD_VALUE_BITS != 0
    memcpy(value, from + i * PAIR_BYTES + sizeof mixed, sizeof *value);
#else
    *value = 0;
#endif
    return mixed;
}

/* Sorts the pairs [starts[0], starts[count]) of one part, and fills in the starts between. */
static void split_part(const char *from, uint64_t *starts, const pass *p)
{
    const uint64_t begin = starts[0], end = starts[(uint64_t)p->mask + 1];
    hd_value value;
    for (uint32_t i = 0; i <= p->mask; i++) p->targets[i].next = 0;
    for (uint64_t i = begin; i < end; i++)
        p->targets[target_of(p, pair_get(from, i, &value))].next++;
    for (uint32_t i = 0; i <= p->mask; i++) {
        target *t = &p->targets[i];
        const uint64_t pairs = t->next, at = i == 0 ? begin : starts[i];
        t->first = t->next = at;
        if (i < p->mask) starts[i + 1] = at + pairs;
    }
    for (uint64_t i = begin; i < end; i++) {
        const hd_key mixed = pair_get(from, i, &value);
        pair_put(p, mixed, value);
    }
    pass_end(p);
}

static void second_pass(const hd_partition *job, int threads, uint32_t bits, const char *from,
                        char *work)
{
    const uint32_t parts = UINT32_C(1) << (job->region_bits - bits), count = UINT32_C(1) << bits;
    char *buffers = work;
    target *targets = (target *)(void *)(work + (size_t)threads * count * BUFFER_BYTES);
#pragma omp parallel num_threads(threads)
    {
        const size_t me = (size_t)omp_get_thread_num();
        const pass p = {HD_KEY_BITS - job->region_bits, count - 1, targets + me * count,
                        buffers + me * count * BUFFER_BYTES, (char *)job->pairs};
#pragma omp for schedule(dynamic)
        for (uint32_t i = 0; i < parts; i++)
            split_part(from, job->starts + (uint64_t)i * count, &p);
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
    const uint64_t targets = UINT64_C(1) << first_bits(region_bits);
    return (uint64_t)threads * targets * (BUFFER_BYTES + sizeof(target));
}

static void sort(int threads, const hd_partition *job)
{
    const uint32_t first = first_bits(job->region_bits);
    const bool twice = first < job->region_bits;
    first_pass(job, threads, first, (char *)(twice ? job->spare : job->pairs), (char *)job->work);
    if (twice)
        second_pass(job, threads, job->region_bits - first, (const char *)job->spare,
                    (char *)job->work);
}

#include "cpu/partition_steps.h"

const hd_partition_cpu HD_SYMBOL = {HD_KEY_BITS, HD_VALUE_BITS,   work_bytes,
                                    sort,        step_work_bytes, step};
