/*
 * distinct.h: the distinct keys of an array on the CPU, and what is asked of each.
 *
 * Few keys: every thread goes through its share of the caller's keys with a table of its own
 * (distinct_table.h), which stays in the core's cache. The tables are then brought together in the order of
 * shares, which is that of first rows.
 *
 * Any number of keys: they are sorted by region, and with them their rows where somebody asks for first rows.
 * Then a core takes a region and leaves its distinct keys where its rows began. A region that holds much of
 * all rows has few keys of many rows each: the threads share its rows, and one brings together what they found.
 *
 * The order of first rows: every first row is marked in a map of bits, and the marks before it are counted.
 */
#ifndef HD_CPU_DISTINCT_H
#define HD_CPU_DISTINCT_H

#include <omp.h>
#include <string.h>

#include "base/tuning.h"
#include "cpu/device/engine.h"
#include "cpu/relate/distinct_table.h"
#include "engine/blocks.h"

#define DISTINCT_FEW (UINT64_C(1) << 14) /* keys whose tables stay in the second-level cache */
#define DISTINCT_DRAWN UINT64_C(4096)    /* rows that are looked at before all others */
#define DISTINCT_REGION_ROWS (UINT64_C(1) << 14) /* of a region, on average, at most */
#define DISTINCT_PASS_BITS 11 /* regions that one pass makes; then they may have more rows */
#define DISTINCT_REGION_MOST (UINT64_C(1) << 17)

/* 64 rows: which of them are first rows, and how many first rows there are before them. */
typedef struct distinct_mark {
    uint64_t bits, before;
} distinct_mark;

/* What lies in the memory that is kept: pieces of the answer, one for each region. */
typedef struct distinct_kept {
    uint64_t *starts; /* pieces + 1: where the records of a piece begin */
    uint64_t *begins; /* pieces + 1: how many keys are in the pieces before */
    uint64_t *places; /* where the sizes of a piece begin */
    char *records;
    uint64_t *sizes;      /* in the order in which threads came to need room */
    distinct_mark *marks; /* where keys are ordered */
    uint64_t bytes;
} distinct_kept;

static bool distinct_has_rows(const hd_distinct_job *job)
{
    return job->firsts || (job->ordered && !job->few);
}

static uint64_t distinct_stride(const hd_distinct_job *job)
{
    return distinct_has_rows(job) ? GROUP_PAIR : sizeof(hd_key);
}

static uint32_t distinct_pieces(const hd_distinct_job *job)
{
    return UINT32_C(1) << (job->few ? 0 : job->region_bits);
}

static distinct_kept distinct_lay_out(const hd_distinct_job *job)
{
    const uint64_t pieces = distinct_pieces(job);
    char *const memory = (char *)job->kept;
    distinct_kept k;
    uint64_t at = 0;
    k.starts = (uint64_t *)(void *)memory;
    at = distinct_line((pieces + 1) * sizeof(uint64_t));
    k.begins = (uint64_t *)(void *)(memory + at);
    at += distinct_line((pieces + 1) * sizeof(uint64_t));
    k.places = (uint64_t *)(void *)(memory + at);
    at += distinct_line(pieces * sizeof(uint64_t));
    k.marks = (distinct_mark *)(void *)(memory + at);
    if (job->ordered && !job->few) at += distinct_line((job->n / 64 + 1) * sizeof(distinct_mark));
    k.records = memory + at;
    at += distinct_line(job->room * distinct_stride(job));
    k.sizes = (uint64_t *)(void *)(memory + at);
    if (job->sizes) at += job->room * sizeof(uint64_t);
    k.bytes = at;
    return k;
}

static hd_partition distinct_sort(const hd_distinct_job *job)
{
    hd_partition sort;
    memset(&sort, 0, sizeof sort);
    sort.key_bits = HD_KEY_BITS;
    sort.value_bits = distinct_has_rows(job) ? HD_VALUE_BITS : 0;
    sort.region_bits = job->region_bits;
    sort.mix = job->mix;
    sort.keys = job->keys;
    sort.n = job->n;
    return sort;
}

/* One thread's table of few keys and their records. */
static uint64_t distinct_few_bytes(const hd_distinct_job *job)
{
    return distinct_table_bytes(distinct_bits(job->room), job->sizes) +
           distinct_line(job->room * distinct_stride(job));
}

static bool distinct_sorts_twice(const hd_distinct_job *job)
{
    return job->region_bits > DISTINCT_PASS_BITS;
}

static uint32_t distinct_region_bits(uint64_t n)
{
    const uint64_t most = hd_tuned(hd_tune.distinct_region_rows, DISTINCT_REGION_MOST);
    uint32_t bits = 1;
    while (bits < DISTINCT_PASS_BITS && n >> bits > DISTINCT_REGION_ROWS) bits++;
    while (bits < HD_PARTITION_BITS_MAX && n >> bits > most) bits++;
    return bits;
}

static void distinct_plan(heddle_device *device, hd_distinct_job *job)
{
    job->room = job->n;
    job->region_bits = distinct_region_bits(job->n);
    if (job->few) {
        if (job->room > DISTINCT_FEW) job->room = DISTINCT_FEW;
        job->room += DISTINCT_BLOCK;
        job->work_bytes = (uint64_t)hd_cpu_threads(device, job->n) *
                          (sizeof(distinct_table) + distinct_few_bytes(job));
    } else {
        const hd_partition sort = distinct_sort(job);
        job->work_bytes = distinct_line(device->engine->partition_work(device, &sort));
        if (distinct_sorts_twice(job)) job->work_bytes += job->n * distinct_stride(job);
    }
    job->kept_bytes = distinct_lay_out(job).bytes;
}

/* ------------------------------------------------------------------------------------- few keys */

static distinct_source distinct_callers(const hd_distinct_job *job)
{
    const distinct_source s = {
        (const hd_key *)job->keys, NULL, {(hd_key)job->mix.mul[0], (hd_key)job->mix.mul[1]}, 0};
    return s;
}

/* Whether rows drawn at random, the same ones every time, show that keys are many: of as many keys as there is
   room for, the most even ones give the fewest repeats, about draws^2 / (2 * keys). */
static bool distinct_look_many(const hd_distinct_job *job, distinct_table *t)
{
    hd_key drawn[DISTINCT_BLOCK];
    const distinct_source s = {drawn, NULL, {(hd_key)job->mix.mul[0], (hd_key)job->mix.mul[1]}, 0};
    const bool never = false;
    uint64_t state = 1;
    if (job->n < 64 * DISTINCT_DRAWN) return false;
    for (uint32_t i = 0; i < DISTINCT_DRAWN; i += DISTINCT_BLOCK) {
        for (uint32_t j = 0; j < DISTINCT_BLOCK; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            drawn[j] = ((const hd_key *)job->keys)[(state >> 16) % job->n];
        }
        (void)distinct_rows(&s, t, 0, DISTINCT_BLOCK, false, &never);
    }
    return (DISTINCT_DRAWN - t->count) * 4 * job->room < DISTINCT_DRAWN * DISTINCT_DRAWN;
}

/* The tables of a team of threads, and their records behind them. The first keeps its records. */
static distinct_table *distinct_few_tables(const hd_distinct_job *job, const distinct_kept *k,
                                           int threads)
{
    distinct_table *tables = (distinct_table *)job->work;
    char *at = (char *)(tables + threads);
    for (int i = 0; i < threads; i++, at += distinct_few_bytes(job)) {
        const uint32_t bits = distinct_bits(job->room);
        distinct_table_lay_out(&tables[i], at, bits, job->sizes);
        tables[i].most = job->room;
        tables[i].out = i == 0 ? k->records : at + distinct_table_bytes(bits, job->sizes);
    }
    return tables;
}

static void distinct_few_begin(const hd_distinct_job *job, distinct_table *t)
{
    const uint64_t guess = job->n < 1024 ? job->n : 1024;
    distinct_begin(t, guess, (hd_key)job->mix.unmul[0], t->out);
}

static void distinct_few(const hd_distinct_job *job, const distinct_kept *k, distinct_table *tables,
                         int threads)
{
    const distinct_source s = distinct_callers(job);
    const bool rows = distinct_has_rows(job);
    bool many = false;
#pragma omp parallel num_threads(threads)
    {
        distinct_table *mine = &tables[omp_get_thread_num()];
        const hd_share share = hd_share_of(job->n);
        distinct_few_begin(job, mine);
        if (!distinct_rows(&s, mine, share.begin, share.end, rows, &many))
            __atomic_store_n(&many, true, __ATOMIC_RELAXED);
        distinct_gather(mine);
#pragma omp barrier
#pragma omp single
        for (int t = 1; t < omp_get_num_threads() && !many; t++)
            many = !distinct_add(&s, tables, tables[t].out, tables[t].dense, tables[t].count, rows);
    }
    k->begins[0] = k->starts[0] = 0;
    k->begins[1] = k->starts[1] = many ? 0 : tables[0].count;
    k->places[0] = 0;
    if (many || !job->sizes) return;
    distinct_gather(tables);
    memcpy(k->sizes, tables[0].dense, tables[0].count * sizeof *k->sizes);
}

static void distinct_by_caches(heddle_device *device, hd_distinct_job *job)
{
    const distinct_kept k = distinct_lay_out(job);
    const int wanted = hd_cpu_threads(device, job->n);
    distinct_table *tables = distinct_few_tables(job, &k, wanted);
    distinct_few_begin(job, tables);
    if (distinct_look_many(job, tables)) return;
    distinct_few(job, &k, tables, hd_cpu_team_of(wanted, job->n));
    job->groups = k.begins[1];
}

/* ------------------------------------------------------------------------------ any number of keys */

/* What the threads that work on regions share. */
typedef struct distinct_regions {
    const hd_distinct_job *job;
    distinct_kept kept;
    distinct_table *tables;
    int threads;
    uint64_t sizes_used;
    bool many; /* a region that was shared had too many keys for that */
} distinct_regions;

static bool distinct_is_crowded(const distinct_regions *d, uint64_t rows)
{
    return d->threads > 1 && rows > 8 * DISTINCT_REGION_ROWS &&
           rows > d->job->n / (4 * (uint64_t)d->threads);
}

/* Rows of the largest region that one core works on, or of a table that threads share a region by. */
static uint64_t distinct_largest(const distinct_regions *d)
{
    const uint64_t *starts = d->kept.starts;
    uint64_t most = 4 * DISTINCT_REGION_ROWS;
    for (uint32_t r = 0; r < distinct_pieces(d->job); r++) {
        const uint64_t rows = starts[r + 1] - starts[r];
        if (rows > most && !distinct_is_crowded(d, rows)) most = rows;
    }
    return most;
}

static distinct_source distinct_records(const distinct_regions *d)
{
    const distinct_source s = {NULL, d->kept.records, {0, 0}, d->job->region_bits};
    return s;
}

/* A table for records from `begin` on, whose keys take the place of the rows. */
static void distinct_region_begin(const distinct_regions *d, distinct_table *t, uint64_t keys,
                                  uint64_t begin)
{
    const bool rows = distinct_has_rows(d->job);
    distinct_begin(t, keys, (hd_key)~distinct_key(d->kept.records, begin, rows),
                   d->kept.records + begin * distinct_stride(d->job));
}

static void distinct_mark_firsts(const distinct_regions *d, const distinct_table *t)
{
    for (uint64_t i = 0; i < t->count; i++) {
        const uint64_t row = distinct_row(t->out, i);
        __atomic_fetch_or(&d->kept.marks[row / 64].bits, UINT64_C(1) << row % 64, __ATOMIC_RELAXED);
    }
}

/* A region's keys are all in the table. */
static void distinct_region_end(distinct_regions *d, distinct_table *t, uint32_t r)
{
    d->kept.begins[r + 1] = t->count;
    if (d->job->ordered) distinct_mark_firsts(d, t);
    if (!d->job->sizes) return;
    distinct_gather(t);
    d->kept.places[r] = __atomic_fetch_add(&d->sizes_used, t->count, __ATOMIC_RELAXED);
    memcpy(d->kept.sizes + d->kept.places[r], t->dense, t->count * sizeof *t->dense);
}

static void distinct_region(distinct_regions *d, distinct_table *t, uint32_t r)
{
    const distinct_source s = distinct_records(d);
    const uint64_t begin = d->kept.starts[r], end = d->kept.starts[r + 1];
    const bool never = false;
    if (begin != end) {
        distinct_region_begin(d, t, t->count, begin);
        (void)distinct_rows(&s, t, begin, end, distinct_has_rows(d->job), &never);
    } else {
        t->count = 0;
    }
    distinct_region_end(d, t, r);
}

/* A crowded region: every thread takes a share of the rows, and the first adds what the others have found. */
static void distinct_crowded(distinct_regions *d, uint32_t r)
{
    const distinct_source s = distinct_records(d);
    const bool rows = distinct_has_rows(d->job);
    const uint64_t from = d->kept.starts[r], n = d->kept.starts[r + 1] - from;
#pragma omp parallel num_threads(d->threads)
    {
        distinct_table *mine = &d->tables[omp_get_thread_num()];
        const hd_share share = hd_share_of(n);
        mine->count = 0;
        if (share.begin != share.end) {
            distinct_region_begin(d, mine, 1024, from + share.begin);
            if (!distinct_rows(&s, mine, from + share.begin, from + share.end, rows, &d->many))
                __atomic_store_n(&d->many, true, __ATOMIC_RELAXED);
            distinct_gather(mine);
        }
#pragma omp barrier
#pragma omp single
        for (int t = 1; t < omp_get_num_threads() && !d->many; t++) {
            const distinct_table *other = &d->tables[t];
            d->many = !distinct_add(&s, d->tables, other->out, other->dense, other->count, rows);
        }
    }
    if (!d->many) distinct_region_end(d, &d->tables[0], r);
}

static void distinct_all_regions(distinct_regions *d)
{
    const uint64_t *starts = d->kept.starts;
    const uint32_t pieces = distinct_pieces(d->job);
    for (uint32_t r = 0; r < pieces && !d->many; r++)
        if (distinct_is_crowded(d, starts[r + 1] - starts[r])) distinct_crowded(d, r);
    if (d->many) return;
#pragma omp parallel num_threads(d->threads)
    {
        distinct_table *mine = &d->tables[omp_get_thread_num()];
        mine->count = DISTINCT_REGION_ROWS / 2;
#pragma omp for schedule(dynamic, 4)
        for (uint32_t r = 0; r < pieces; r++)
            if (!distinct_is_crowded(d, starts[r + 1] - starts[r])) distinct_region(d, mine, r);
    }
}

/* Turns the counts of all pieces into places, and counts marks. */
static void distinct_sum_up(const distinct_regions *d)
{
    const distinct_kept *k = &d->kept;
    const uint64_t words = d->job->n / 64 + 1;
    uint64_t before = 0;
    k->begins[0] = 0;
    for (uint32_t r = 0; r < distinct_pieces(d->job); r++) k->begins[r + 1] += k->begins[r];
    for (uint64_t i = 0; i < words && d->job->ordered; i++) {
        k->marks[i].before = before;
        before += (uint64_t)__builtin_popcountll(k->marks[i].bits);
    }
}

static heddle_status distinct_tables(heddle_device *device, distinct_regions *d, void **memory)
{
    const uint32_t bits = distinct_bits(distinct_largest(d) + DISTINCT_BLOCK);
    const uint64_t bytes = distinct_table_bytes(bits, d->job->sizes);
    const uint64_t head = distinct_line((uint64_t)d->threads * sizeof(distinct_table));
    heddle_status status = hd_block_take(device, head + (uint64_t)d->threads * bytes, memory);
    if (status != HEDDLE_OK) return status;
    d->tables = (distinct_table *)*memory;
    for (int t = 0; t < d->threads; t++)
        distinct_table_lay_out(&d->tables[t], (char *)*memory + head + (uint64_t)t * bytes, bits,
                               d->job->sizes);
    return HEDDLE_OK;
}

static heddle_status distinct_by_regions(heddle_device *device, hd_distinct_job *job, void *stream)
{
    distinct_regions d = {job, distinct_lay_out(job), NULL, hd_cpu_team(device, job->n), 0, false};
    hd_partition sort = distinct_sort(job);
    void *memory = NULL;
    heddle_status status;
    sort.pairs = d.kept.records;
    sort.starts = d.kept.starts;
    sort.work = job->work;
    sort.spare = (char *)job->work + job->work_bytes - job->n * distinct_stride(job);
    if (job->ordered) memset(d.kept.marks, 0, (job->n / 64 + 1) * sizeof *d.kept.marks);
    status = device->engine->partition(device, &sort, stream);
    if (status == HEDDLE_OK) status = distinct_tables(device, &d, &memory);
    if (status != HEDDLE_OK) return status;
    distinct_all_regions(&d);
    hd_block_give(device, memory);
    if (d.many) return HEDDLE_OK;
    distinct_sum_up(&d);
    job->groups = d.kept.begins[distinct_pieces(job)];
    return HEDDLE_OK;
}

static heddle_status distinct(heddle_device *device, hd_distinct_job *job, void *stream)
{
    job->groups = 0;
    if (!job->few) return distinct_by_regions(device, job, stream);
    distinct_by_caches(device, job);
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- answers */

HD_FN uint64_t distinct_rank(const distinct_mark *marks, uint64_t row)
{
    const distinct_mark m = marks[row / 64];
    return m.before + (uint64_t)__builtin_popcountll(m.bits & ((UINT64_C(1) << row % 64) - 1));
}

/* One piece of the answer; `rows`, `ranked` and `what` are constants of the loop. */
HD_FN void distinct_write(const hd_distinct_job *job, const distinct_kept *k, uint32_t piece,
                          const hd_distinct_out *out, uint32_t what, bool rows, bool ranked)
{
    const uint64_t begin = k->begins[piece], count = k->begins[piece + 1] - begin;
    const char *records = k->records + k->starts[piece] * (rows ? GROUP_PAIR : sizeof(hd_key));
    const uint64_t *sizes = what == HD_DISTINCT_SIZES ? k->sizes + k->places[piece] : NULL;
    const hd_mix mix = job->mix;
    const bool raw = job->few;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = ranked ? distinct_rank(k->marks, distinct_row(records, i)) : begin + i;
        if (what == HD_DISTINCT_KEYS) {
            const hd_key key = distinct_key(records, i, rows);
            ((hd_key *)out->memory)[at] = raw ? key : unmix_key(&mix, key);
        } else if (what == HD_DISTINCT_SIZES) {
            ((uint64_t *)out->memory)[at] = sizes[i];
        } else {
            hd_row_set(out->memory, out->row_bits, at, distinct_row(records, i));
        }
    }
}

static void distinct_write_any(const hd_distinct_job *job, const distinct_kept *k, uint32_t piece,
                               const hd_distinct_out *out, uint32_t what)
{
    const bool ranked = job->ordered && !job->few, rows = distinct_has_rows(job);
    if (what == HD_DISTINCT_KEYS && ranked)
        distinct_write(job, k, piece, out, HD_DISTINCT_KEYS, true, true);
    else if (what == HD_DISTINCT_KEYS && rows)
        distinct_write(job, k, piece, out, HD_DISTINCT_KEYS, true, false);
    else if (what == HD_DISTINCT_KEYS)
        distinct_write(job, k, piece, out, HD_DISTINCT_KEYS, false, false);
    else distinct_write(job, k, piece, out, what, rows, ranked);
}

static heddle_status distinct_fetch(heddle_device *device, const hd_distinct_job *job,
                                    uint32_t what, hd_distinct_out out, void *stream)
{
    const distinct_kept k = distinct_lay_out(job);
    const uint32_t pieces = distinct_pieces(job);
    (void)stream;
#pragma omp parallel for schedule(dynamic, 16) num_threads(hd_cpu_team(device, job->groups))
    for (uint32_t piece = 0; piece < pieces; piece++)
        distinct_write_any(job, &k, piece, &out, what);
    return HEDDLE_OK;
}

#endif
