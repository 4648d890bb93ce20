/*
 * join.h: the tasks of a join (engine/relate.h) on the CPU, a core a task. The left rows are hashed into
 * lists that stay in the core's second-level cache (join_lists.h), and the right rows pass by.
 */
#ifndef HD_CPU_JOIN_H
#define HD_CPU_JOIN_H

#include <omp.h>

#include "cpu/device/engine.h"
#include "cpu/device/memory.h"
#include "cpu/relate/join_lists.h"

/* Usual regions are much smaller than this; one that is crowded holds many copies of few keys, whose
   lists are hot whatever their length. */
#define JOIN_LEFT (UINT64_C(1) << 18)
#define JOIN_RIGHT (UINT64_C(1) << 22)
/* Lists of a quarter of a small second-level cache; twice or half as many are no faster. */
#define REGION_ROWS ((UINT64_C(1) << 17) / PAIR_BYTES)

/* The right rows of a task. */
typedef struct passing {
    const char *pairs, *end;
} passing;

static uint64_t lanes_sum(key_lanes lanes)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < WINDOW_LANES; i++) sum += lanes[i];
    return sum;
}

/* ------------------------------------------------------------------------------------------ count */

/* The number of matches, and nothing else. Equal lanes compare as -1. */
static uint64_t count_matches(const lists *l, passing right)
{
    key_lanes sums[2] = {{0}, {0}};
    run last = {0, 0, 0};
    uint64_t in_runs = 0;
    for (const char *pair = right.pairs; pair < right.end; pair += PAIR_BYTES) {
        const hd_key key = pair_key(pair);
        const uint32_t v = vertex_of(l, key), begin = l->offsets[v];
        if (l->offsets[v + 1] - begin > WINDOW) {
            find_run(l, v, key, &last);
            in_runs += last.end - last.begin;
            continue;
        }
        sums[0] -= (key_lanes)(keys_load(l->keys + begin) == key);
        sums[1] -= (key_lanes)(keys_load(l->keys + begin + WINDOW_LANES) == key);
    }
    return lanes_sum(sums[0]) + lanes_sum(sums[1]) + in_runs;
}

/* Marks the rows of a window that are hit. */
static inline void mark_window(const lists *l, uint32_t begin, uint32_t hits)
{
    for (; hits != 0; hits &= hits - 1) l->matched[begin + hd_lowest_bit(hits)] = 1;
}

/* Of a run all rows are marked or none. */
static inline void mark_run(const lists *l, const run *r)
{
    if (r->begin < r->end && l->matched[r->begin] == 0)
        memset(l->matched + r->begin, 1, r->end - r->begin);
}

/* Other tasks may set the same flag at the same time. */
static inline void flag_set(uint8_t *flags, hd_row row)
{
    __atomic_store_n(&flags[row], 1, __ATOMIC_RELAXED);
}

/* The number of matches; rows that have any are flagged. */
static uint64_t count_and_flag(const lists *l, uint32_t left_count, passing right,
                               const hd_join_job *job)
{
    run last = {0, 0, 0};
    uint64_t matches = 0;
    memset(l->matched, 0, left_count);
    for (const char *pair = right.pairs; pair < right.end; pair += PAIR_BYTES) {
        const hd_key key = pair_key(pair);
        const uint32_t v = vertex_of(l, key), begin = l->offsets[v];
        uint64_t hits;
        if (l->offsets[v + 1] - begin > WINDOW) {
            find_run(l, v, key, &last);
            mark_run(l, &last);
            hits = last.end - last.begin;
        } else {
            const uint32_t window = window_hits(l->keys + begin, key);
            mark_window(l, begin, window);
            hits = (uint64_t)__builtin_popcount(window);
        }
        if (hits != 0 && job->right_matched != NULL) flag_set(job->right_matched, pair_row(pair));
        matches += hits;
    }
    if (job->left_matched != NULL)
        for (uint32_t i = 0; i < left_count; i++)
            if (l->matched[i] != 0) flag_set(job->left_matched, l->rows[i]);
    return matches;
}

/* ------------------------------------------------------------------------------------------ write */

/* Where the matches of a task go: places [at, end) of the arrays, either of which may be missing. */
typedef struct match_places {
    hd_row *left, *right;
    uint64_t at, end;
} match_places;

static inline void put(const match_places *to, hd_row left, hd_row right)
{
    if (to->left != NULL) to->left[to->at] = left;
    if (to->right != NULL) to->right[to->at] = right;
}

/*
 * The first row of a window is written whether it is a hit or not, and kept when it is: no branch depends
 * on keys where they match once or never. What is written in vain is written over.
 */
static inline void put_window(const lists *l, uint32_t begin, uint32_t hits, hd_row row,
                              match_places *to)
{
    const uint32_t some = UINT32_C(1) << (WINDOW - 1);
    put(to, l->rows[begin + hd_lowest_bit(hits | some)], row);
    to->at += hits != 0;
    for (hits &= hits - 1; hits != 0; hits &= hits - 1) {
        put(to, l->rows[begin + hd_lowest_bit(hits)], row);
        to->at++;
    }
}

/* Ends when the last place is taken: nothing may be written past it, not even in vain. */
static void write_matches(const lists *l, passing right, match_places to)
{
    run last = {0, 0, 0};
    for (const char *pair = right.pairs; pair < right.end && to.at < to.end; pair += PAIR_BYTES) {
        const hd_key key = pair_key(pair);
        const hd_row row = pair_row(pair);
        const uint32_t v = vertex_of(l, key), begin = l->offsets[v];
        if (l->offsets[v + 1] - begin <= WINDOW) {
            put_window(l, begin, window_hits(l->keys + begin, key), row, &to);
            continue;
        }
        find_run(l, v, key, &last);
        for (uint32_t i = last.begin; i < last.end; i++, to.at++) put(&to, l->rows[i], row);
    }
}

/* ------------------------------------------------------------------------------------------ tasks */

typedef struct join_scratch {
    char *memory;
    uint64_t keys, rows, matched,
        bytes; /* where they begin after the offsets, and all of a thread */
    int threads;
} join_scratch;

static heddle_status join_scratch_take(heddle_device *device, const hd_join_job *job,
                                       join_scratch *s)
{
    const uint64_t line = 256, offsets = ((UINT64_C(1) << VERTEX_BITS_MAX) + 1) * sizeof(uint32_t);
    uint64_t most = 0, all = 0;
    for (uint32_t i = 0; i < job->count; i++) {
        const hd_join_task *t = &job->tasks[i];
        const uint64_t left = t->left_end - t->left_begin;
        if (left > most) most = left;
        all += left + t->right_end - t->right_begin;
    }
    s->keys = (offsets + line) / line * line;
    s->rows = s->keys + ((most + WINDOW) * sizeof(hd_key) + line) / line * line;
    s->matched = s->rows + ((most + WINDOW) * sizeof(hd_row) + line) / line * line;
    s->bytes = s->matched + (most + line) / line * line;
    s->threads = hd_cpu_team(device, all);
    return hd_memory_cpu_allocate(device, s->bytes * (uint64_t)s->threads, (void **)&s->memory);
}

static lists join_scratch_lists(const join_scratch *s, int thread)
{
    char *mine = s->memory + s->bytes * (uint64_t)thread;
    lists l = {0, 0, NULL, NULL, NULL, NULL};
    l.offsets = (uint32_t *)(void *)mine;
    l.keys = (hd_key *)(void *)(mine + s->keys);
    l.rows = (hd_row *)(void *)(mine + s->rows);
    l.matched = (uint8_t *)(mine + s->matched);
    return l;
}

static void run_task(const hd_join_job *job, uint32_t number, bool write, const lists *mine)
{
    const hd_join_task *t = &job->tasks[number];
    const char *left = (const char *)job->left + t->left_begin * PAIR_BYTES;
    const char *right = (const char *)job->right;
    const uint32_t left_count = (uint32_t)(t->left_end - t->left_begin);
    const passing p = {right + t->right_begin * PAIR_BYTES, right + t->right_end * PAIR_BYTES};
    const bool flags = job->left_matched != NULL || job->right_matched != NULL;
    lists l = *mine;
    if (!write && !flags) l.rows = NULL;
    build_lists(&l, left, left_count, job->region_bits);
    if (write) {
        const match_places to = {(hd_row *)job->left_rows, (hd_row *)job->right_rows,
                                 job->places[number], job->places[number + 1]};
        write_matches(&l, p, to);
    } else if (flags) job->places[number] = count_and_flag(&l, left_count, p, job);
    else job->places[number] = count_matches(&l, p);
}

static heddle_status run_tasks(heddle_device *device, const hd_join_job *job, bool write)
{
    join_scratch s;
    const heddle_status status = join_scratch_take(device, job, &s);
    if (status != HEDDLE_OK) return status;
#pragma omp parallel num_threads(s.threads)
    {
        lists l = join_scratch_lists(&s, omp_get_thread_num());
#pragma omp for schedule(dynamic)
        for (uint32_t i = 0; i < job->count; i++) run_task(job, i, write, &l);
    }
    hd_memory_cpu_free(s.memory);
    return HEDDLE_OK;
}

static heddle_status join_count(heddle_device *device, const hd_join_job *job, void *stream)
{
    (void)stream;
    return run_tasks(device, job, false);
}

static heddle_status join_write(heddle_device *device, const hd_join_job *job, void *stream)
{
    (void)stream;
    return run_tasks(device, job, true);
}

#endif
