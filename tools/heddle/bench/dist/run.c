/* run.c: measures one combination; see dist.h. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/dist/dist.h"
#include "bench/rows.h"

#define CHUNK (UINT64_C(1) << 20)
#define REPEAT_MAX 1000

double dist_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --------------------------------------------------------------------------------------- arrays */

/* The key of row i: every key has as many rows, but one that may have more, or by Zipf's law. */
uint64_t dist_key_of(const dist_bench *b, uint64_t i)
{
    const uint64_t different = (b->all + b->c->copies - 1) / b->c->copies;
    if (b->c->skew.zipf > 0) {
        const bench_rows rows = {b->numbers, different, b->c->skew.zipf, 100};
        return bench_row_key(&rows, i);
    }
    if (bench_random(i) % 100 < b->c->skew.hot) return bench_key_at(&b->numbers, 0, false);
    return bench_key_at(&b->numbers, i % different, false);
}

static void put(void *to, uint32_t bits, uint64_t i, uint64_t number)
{
    if (bits == 32) ((uint32_t *)to)[i] = (uint32_t)number;
    else ((uint64_t *)to)[i] = number;
}

heddle_status dist_fill(const dist_bench *b, void *array, uint32_t bits,
                        uint64_t (*number)(const dist_bench *b, uint64_t i))
{
    void *chunk = malloc(CHUNK * 8);
    heddle_status status = chunk != NULL ? HEDDLE_OK : HEDDLE_ERROR_NO_MEMORY;
    for (uint64_t at = 0; at < b->n && status == HEDDLE_OK; at += CHUNK) {
        const uint64_t n = b->n - at < CHUNK ? b->n - at : CHUNK;
#pragma omp parallel for schedule(static)
        for (uint64_t i = 0; i < n; i++) put(chunk, bits, i, number(b, b->first + at + i));
        status =
            heddle_memory_copy(b->device, (char *)array + at * bits / 8, chunk, n * bits / 8, NULL);
        if (status == HEDDLE_OK) status = heddle_device_synchronize(b->device, NULL);
    }
    free(chunk);
    return status;
}

static uint64_t value_of(const dist_bench *b, uint64_t i) { return ~dist_key_of(b, i); }

static bool is_set(const dist_bench *b) { return b->o->container == HEDDLE_CONTAINER_SET; }

/* Values, and room for those that are found; relations of sets add them up. */
static heddle_status make_values(dist_bench *b)
{
    const uint64_t bytes = b->n * b->o->value_bits / 8 + 8;
    heddle_status status;
    if (is_set(b) && !b->o->ops[DIST_JOIN] && !b->o->ops[DIST_GROUP]) return HEDDLE_OK;
    status = heddle_memory_allocate(b->device, bytes, &b->values);
    if (status == HEDDLE_OK) status = heddle_memory_allocate(b->device, bytes, &b->answers);
    return status == HEDDLE_OK ? dist_fill(b, b->values, b->o->value_bits, value_of) : status;
}

static heddle_status make_arrays(dist_bench *b)
{
    heddle_status status = HEDDLE_OK;
    if (b->o->arrays == 1) {
        status = heddle_device_open("cpu:1", &b->host);
        b->device = b->host;
    }
    if (status == HEDDLE_OK)
        status = heddle_memory_allocate(b->device, b->n * b->o->key_bits / 8 + 8, &b->keys);
    if (status == HEDDLE_OK)
        status = heddle_memory_allocate(b->device, b->n + 8, (void **)&b->found);
    if (status == HEDDLE_OK) status = dist_fill(b, b->keys, b->o->key_bits, dist_key_of);
    return status == HEDDLE_OK ? make_values(b) : status;
}

static void free_arrays(dist_bench *b)
{
    void *const all[] = {b->keys, b->values, b->answers, b->found};
    for (int i = 0; i < 4; i++) (void)heddle_memory_free(b->device, all[i]);
    heddle_device_close(b->host);
}

/* ---------------------------------------------------------------------------------- operations */

static heddle_status build(dist_bench *b, bool single)
{
    const void *values = is_set(b) ? NULL : b->values;
    if (!single) return heddle_cluster_table_build(b->table, b->keys, values, b->n, NULL, NULL);
    return heddle_table_build(b->single, b->keys, values, b->n, NULL, NULL, NULL);
}

static heddle_status find(dist_bench *b, bool single)
{
    if (is_set(b))
        return single ? heddle_table_contains(b->single, b->keys, b->n, b->found, NULL, NULL)
                      : heddle_cluster_table_contains(b->table, b->keys, b->n, b->found, NULL);
    return single ? heddle_table_find(b->single, b->keys, b->n, b->answers, b->found, NULL, NULL)
                  : heddle_cluster_table_find(b->table, b->keys, b->n, b->answers, b->found, NULL);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double dist_median(double *numbers, uint64_t n)
{
    qsort(numbers, n, sizeof numbers[0], compare);
    return numbers[n / 2];
}

static heddle_status time_once(dist_bench *b, heddle_status (*work)(dist_bench *, bool),
                               bool single, double *seconds)
{
    const double begin = dist_now();
    heddle_status status = work(b, single);
    if (status == HEDDLE_OK && single) status = heddle_device_synchronize(b->alone, NULL);
    *seconds = dist_now() - begin;
    return status;
}

/* After a run that does not count, cluster and single table in turn. */
heddle_status dist_measure(dist_bench *b, heddle_status (*work)(dist_bench *, bool),
                           heddle_status (*note)(dist_bench *, dist_row *), dist_row *row)
{
    static double times[REPEAT_MAX], singles[REPEAT_MAX], phases[HEDDLE_PHASES][REPEAT_MAX];
    double first;
    heddle_status status = time_once(b, work, false, &first);
    if (status == HEDDLE_OK && b->alone != NULL) status = time_once(b, work, true, &first);
    for (uint64_t i = 0; i < b->o->repeat && status == HEDDLE_OK; i++) {
        if (b->alone != NULL) status = time_once(b, work, true, &singles[i]);
        if (status == HEDDLE_OK) status = time_once(b, work, false, &times[i]);
        if (status == HEDDLE_OK) status = note(b, row);
        for (int p = 0; p < HEDDLE_PHASES; p++) phases[p][i] = row->phases[p];
    }
    if (status != HEDDLE_OK) return status;
    row->seconds = dist_median(times, b->o->repeat);
    row->single = b->alone != NULL ? dist_median(singles, b->o->repeat) : 0;
    for (int p = 0; p < HEDDLE_PHASES; p++) row->phases[p] = dist_median(phases[p], b->o->repeat);
    return HEDDLE_OK;
}

/* All keys are found, with their values where a key has but one. */
static heddle_status verify(dist_bench *b, bool *good)
{
    const uint32_t vb = b->o->value_bits;
    const bool values =
        b->o->container == HEDDLE_CONTAINER_MAP || b->o->container == HEDDLE_CONTAINER_MULTIMAP;
    uint8_t *found = malloc(CHUNK), *answers = malloc(CHUNK * 8);
    uint64_t wrong = 0;
    heddle_status status = HEDDLE_OK;
    for (uint64_t at = 0; at < b->n && status == HEDDLE_OK; at += CHUNK) {
        const uint64_t n = b->n - at < CHUNK ? b->n - at : CHUNK;
        status = heddle_memory_copy(b->device, found, b->found + at, n, NULL);
        if (status == HEDDLE_OK && values)
            status = heddle_memory_copy(b->device, answers, (char *)b->answers + at * vb / 8,
                                        n * vb / 8, NULL);
        if (status == HEDDLE_OK) status = heddle_device_synchronize(b->device, NULL);
        if (status != HEDDLE_OK) break;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t value = values ? value_of(b, b->first + at + i) : 0;
            wrong += found[i] != 1;
            if (values)
                wrong += vb == 32 ? ((uint32_t *)(void *)answers)[i] != (uint32_t)value
                                  : ((uint64_t *)(void *)answers)[i] != value;
        }
    }
    *good = wrong == 0;
    free(found);
    free(answers);
    return status;
}

/* ------------------------------------------------------------------------------------------ run */

static heddle_status note_table(dist_bench *b, dist_row *row)
{
    heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
    const heddle_status status = heddle_cluster_table_get_stats(b->table, &stats);
    memcpy(row->phases, stats.seconds, sizeof row->phases);
    row->imbalance = stats.imbalance;
    row->row_imbalance = stats.row_imbalance;
    row->rows = b->all;
    return status;
}

static heddle_status measure_tables(dist_bench *b, dist_row rows[DIST_OPS])
{
    dist_row *made = &rows[DIST_BUILD], *asked = &rows[DIST_FIND];
    heddle_status status = dist_measure(b, build, note_table, made);
    if (status == HEDDLE_OK) status = heddle_cluster_table_validate(b->table);
    if (status == HEDDLE_OK) status = dist_measure(b, find, note_table, asked);
    if (status == HEDDLE_OK && b->o->verify) status = verify(b, &asked->verified);
    made->verified = asked->verified;
    return status;
}

/* Tables for b->all rows, and b->n in the single one. */
static heddle_status make_tables(dist_bench *b)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT;
    heddle_status status = HEDDLE_OK;
    options.container = b->o->container;
    options.scheme = b->o->scheme;
    options.key_bits = b->o->key_bits;
    options.value_bits = is_set(b) ? 0 : b->o->value_bits;
    options.capacity = b->all;
    spread.mode = b->o->mode;
    status = heddle_cluster_table_create(b->cluster, &options, &spread, &b->table);
    options.capacity = b->n;
    if (status == HEDDLE_OK && b->alone != NULL)
        status = heddle_table_create(b->alone, &options, &b->single);
    return status;
}

static heddle_status measure_all(dist_bench *b, dist_row rows[DIST_OPS])
{
    heddle_status status = make_arrays(b);
    if (status == HEDDLE_OK && b->o->ops[DIST_BUILD]) {
        status = make_tables(b);
        if (status == HEDDLE_OK) status = measure_tables(b, rows);
    }
    return status == HEDDLE_OK ? dist_relate_run(b, rows) : status;
}

static void begin(dist_bench *b, const dist_options *o, const dist_case *c, heddle_cluster *cluster)
{
    memset(b, 0, sizeof *b);
    b->o = o;
    b->c = c;
    b->cluster = cluster;
    b->info.size = sizeof b->info;
    (void)heddle_cluster_get_info(cluster, &b->info); /* of a cluster that is open */
    b->all = c->weak ? c->keys * b->info.members : c->keys;
    b->first = b->all * b->info.first_member / b->info.members;
    b->n = b->all * (b->info.first_member + b->info.local_members) / b->info.members - b->first;
    b->numbers = bench_keys_of(b->all, o->seed, o->key_bits, o->value_bits);
    b->device = heddle_cluster_device(cluster, 0);
}

static void end(dist_bench *b)
{
    heddle_cluster_table_destroy(b->table);
    heddle_table_destroy(b->single);
    free_arrays(b);
    heddle_device_close(b->alone);
}

/* Every member takes part: tables of clusters are made together. */
int dist_run_check(const dist_options *o, const dist_team *team)
{
    heddle_status status = HEDDLE_OK;
    dist_bench b;
    memset(&b, 0, sizeof b);
    b.o = o;
    b.cluster = team->cluster;
    b.all = b.n = 1;
    if (team->single[0] != 0) status = heddle_device_open(team->single, &b.alone);
    if (status == HEDDLE_OK && o->ops[DIST_BUILD]) status = make_tables(&b);
    const bool refused = status == HEDDLE_ERROR_INVALID || status == HEDDLE_ERROR_UNSUPPORTED ||
                         status == HEDDLE_ERROR_NO_DEVICE;
    const int result =
        refused ? tool_refuse("bench: %s", heddle_last_error()) : tool_try(status, "bench dist");
    end(&b);
    return result;
}

int dist_run(const dist_options *o, const dist_case *c, const dist_team *team,
             dist_row rows[DIST_OPS], bool *wrong)
{
    static const char *const names[DIST_OPS] = {"build", "find", "join", "group"};
    heddle_status status = HEDDLE_OK;
    dist_bench b;
    begin(&b, o, c, team->cluster);
    memset(rows, 0, DIST_OPS * sizeof *rows);
    for (int i = 0; i < DIST_OPS; i++) rows[i].op = names[i];
    if (team->single[0] != 0) status = heddle_device_open(team->single, &b.alone);
    if (status == HEDDLE_OK) status = measure_all(&b, rows);
    const int result = tool_try(status, "bench dist");
    end(&b);
    for (int i = 0; i < DIST_OPS && result == TOOL_OK && o->verify; i++)
        *wrong |= o->ops[i] && !rows[i].verified;
    return result;
}
