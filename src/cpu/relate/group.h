/*
 * group.h: bringing the rows with equal keys together on the CPU.
 *
 * Pairs of mixed key and row are sorted by region, a pass that keeps the order of rows. Then a core
 * takes a region, whose pairs and whose table of distinct keys stay in its second-level cache: it
 * numbers the distinct keys as they come, writes each pair's number over its key, turns counts into
 * places, and puts the rows there. A region with more distinct keys than the table takes is split by
 * the next bits of the mixed keys, which are different in the end, and each part is done alike.
 *
 * Few keys in all, or in a region that holds much of the input, need no sorting first (group_few.h).
 */
#ifndef HD_CPU_GROUP_H
#define HD_CPU_GROUP_H

#include <omp.h>
#include <string.h>

#include "cpu/device/engine.h"
#include "cpu/relate/group_few.h"

#define GROUP_REGION_ROWS (UINT64_C(1) << 14) /* of a region, on average, at most */
#define GROUP_SPLIT_BITS 8

/* Writes the number of its key over the key of every pair; false, with all as it was, when there are
   too many keys. */
static bool group_number_pairs(group_table *t, char *pairs, uint64_t begin, uint64_t end)
{
    hd_key key;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t number;
        memcpy(&key, pairs + i * GROUP_PAIR, sizeof key);
        number = group_number(t, key);
        if (number == GROUP_KEYS_MAX) {
            for (; i-- > begin;) {
                memcpy(&key, pairs + i * GROUP_PAIR, sizeof key);
                memcpy(pairs + i * GROUP_PAIR, &t->keys[key], sizeof key);
            }
            return false;
        }
        t->places[number]++;
        key = number;
        memcpy(pairs + i * GROUP_PAIR, &key, sizeof key);
    }
    return true;
}

/* Turns the counts of all numbers into places from `begin` on, where groups then begin. */
static void group_places(group_table *t, const hd_group_job *job, uint64_t begin, uint64_t end)
{
    memset(job->heads + begin, 0, end - begin);
    for (uint32_t i = 0; i < t->count; i++) {
        const uint64_t count = t->places[i];
        job->heads[begin] = 1;
        t->places[i] = begin;
        begin += count;
    }
}

static void group_put_rows(group_table *t, const hd_group_job *job, const char *pairs,
                           uint64_t begin, uint64_t end)
{
    group_row *rows = (group_row *)job->rows;
    for (uint64_t i = begin; i < end; i++) {
        hd_key number;
        group_row row;
        memcpy(&number, pairs + i * GROUP_PAIR, sizeof number);
        memcpy(&row, pairs + i * GROUP_PAIR + sizeof number, sizeof row);
        rows[t->places[number]++] = row;
    }
}

/* Sorts pairs by GROUP_SPLIT_BITS bits of their keys, stably; starts: where each of the parts begins. */
static void group_split(const char *pairs, char *out, uint64_t begin, uint64_t end, uint32_t used,
                        uint64_t *starts)
{
    const uint32_t parts = UINT32_C(1) << GROUP_SPLIT_BITS;
    uint64_t next[UINT32_C(1) << GROUP_SPLIT_BITS];
    hd_key key;
    memset(starts, 0, (parts + 1) * sizeof *starts);
    for (uint64_t i = begin; i < end; i++) {
        memcpy(&key, pairs + i * GROUP_PAIR, sizeof key);
        starts[((hd_key)(key << used) >> (HD_KEY_BITS - GROUP_SPLIT_BITS)) + 1]++;
    }
    starts[0] = begin;
    for (uint32_t p = 0; p < parts; p++) {
        next[p] = starts[p];
        starts[p + 1] += starts[p];
    }
    for (uint64_t i = begin; i < end; i++) {
        memcpy(&key, pairs + i * GROUP_PAIR, sizeof key);
        const uint32_t part = (uint32_t)((hd_key)(key << used) >> (HD_KEY_BITS - GROUP_SPLIT_BITS));
        memcpy(out + next[part]++ * GROUP_PAIR, pairs + i * GROUP_PAIR, GROUP_PAIR);
    }
}

/* The pairs [begin, end), whose mixed keys agree in the first `used` bits; `spare` is as large as `pairs`.
   More keys than a table takes differ in more bits than a split looks at, so `used` stays in range. */
static void group_range(group_table *t, const hd_group_job *job, char *pairs, char *spare,
                        uint64_t begin, uint64_t end, uint32_t used)
{
    uint64_t starts[(UINT32_C(1) << GROUP_SPLIT_BITS) + 1];
    if (begin == end) return;
    group_table_begin(t, used);
    if (group_number_pairs(t, pairs, begin, end)) {
        group_places(t, job, begin, end);
        group_put_rows(t, job, pairs, begin, end);
        return;
    }
    group_split(pairs, spare, begin, end, used, starts);
    for (uint32_t p = 0; p < UINT32_C(1) << GROUP_SPLIT_BITS; p++)
        group_range(t, job, spare, pairs, starts[p], starts[p + 1], used + GROUP_SPLIT_BITS);
}

/* ---------------------------------------------------------------------------------- the whole */

/* What is in the work memory; offsets from its beginning. */
typedef struct group_layout {
    hd_partition sort;
    int threads;
    uint64_t spare, starts, done, work, tables, bytes;
} group_layout;

static uint64_t group_aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

static group_layout group_lay_out(heddle_device *device, uint64_t n)
{
    group_layout l;
    memset(&l, 0, sizeof l);
    l.sort.key_bits = HD_KEY_BITS;
    l.sort.value_bits = HD_VALUE_BITS;
    l.sort.n = n;
    l.sort.region_bits = 1;
    while (l.sort.region_bits < HD_PARTITION_BITS_MAX &&
           n >> l.sort.region_bits > GROUP_REGION_ROWS)
        l.sort.region_bits++;
    l.threads = hd_cpu_threads(device, n);
    l.spare = group_aligned(n * GROUP_PAIR);
    l.starts = 2 * l.spare;
    l.done = l.starts + group_aligned(((UINT64_C(1) << l.sort.region_bits) + 1) * sizeof(uint64_t));
    l.work = l.done + group_aligned(UINT64_C(1) << l.sort.region_bits);
    l.tables = l.work + group_aligned(device->engine->partition_work(device, &l.sort));
    l.bytes = l.tables + group_aligned((uint64_t)l.threads * sizeof(group_table));
    return l;
}

static uint64_t group_work(heddle_device *device, uint64_t n)
{
    return group_lay_out(device, n).bytes;
}

/* Whether a region holds so much of all pairs that the threads should share it. */
static bool group_is_crowded(const group_layout *l, uint64_t pairs)
{
    return l->threads > 1 && pairs > 8 * GROUP_REGION_ROWS &&
           pairs > l->sort.n / (4 * (uint64_t)l->threads);
}

/* done[r]: whether region r was crowded and is grouped. */
static void group_crowded(const group_layout *l, const hd_group_job *job, group_table *tables,
                          uint8_t *done)
{
    const uint64_t *starts = l->sort.starts;
    for (uint32_t r = 0; r < UINT32_C(1) << l->sort.region_bits; r++) {
        const group_source source = {NULL,          (const char *)l->sort.pairs,
                                     NULL,          starts[r],
                                     starts[r + 1], (uint16_t *)l->sort.spare + starts[r]};
        done[r] = group_is_crowded(l, starts[r + 1] - starts[r]) &&
                  group_few(job, &source, l->sort.region_bits, tables, l->threads);
    }
}

static void group_regions(const group_layout *l, const hd_group_job *job, group_table *tables,
                          uint8_t *done)
{
    const uint64_t *starts = l->sort.starts;
    group_crowded(l, job, tables, done);
#pragma omp parallel num_threads(l->threads)
    {
        group_table *t = &tables[omp_get_thread_num()];
        t->bits = GROUP_TABLE_BITS_MIN;
        t->count = GROUP_KEYS_MAX;
#pragma omp for schedule(dynamic)
        for (uint32_t r = 0; r < UINT32_C(1) << l->sort.region_bits; r++)
            if (!done[r])
                group_range(t, job, (char *)l->sort.pairs, (char *)l->sort.spare, starts[r],
                            starts[r + 1], l->sort.region_bits);
    }
}

static heddle_status group(heddle_device *device, const hd_group_job *job, void *stream)
{
    group_layout l = group_lay_out(device, job->n);
    char *work = (char *)job->work;
    group_table *tables = (group_table *)(void *)(work + l.tables);
    const group_source all = {(const hd_key *)job->keys, NULL, &job->mix, 0, job->n,
                              (uint16_t *)(void *)work};
    heddle_status status;
    l.threads = hd_cpu_team_of(l.threads, job->n);
    if (group_few(job, &all, 0, tables, l.threads)) return HEDDLE_OK;
    l.sort.mix = job->mix;
    l.sort.keys = job->keys;
    l.sort.pairs = work;
    l.sort.spare = work + l.spare;
    l.sort.starts = (uint64_t *)(void *)(work + l.starts);
    l.sort.work = work + l.work;
    status = device->engine->partition(device, &l.sort, stream);
    if (status == HEDDLE_OK) group_regions(&l, job, tables, (uint8_t *)work + l.done);
    return status;
}

#endif
