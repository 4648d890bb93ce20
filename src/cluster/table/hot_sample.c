/*
 * hot_sample.c: a member samples its part of a batch and finds its hot keys; see hot_rows.h.
 *
 * With `members` members, where key k has the share p_k of the rows, the loads of members vary by chance with a
 * deviation of sqrt(members * sum of p_k^2) times their mean, and the member of the most frequent key has
 * members * p_max times the mean by that key alone. The sample estimates both: c_k rows of key k among s rows make
 * c_k (c_k - 1) / s (s - 1) an unbiased estimate of p_k^2.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "cluster/table/insert.h"

/* Parts of a batch that are smaller are not worth it. */
#define ROWS_LEAST (UINT64_C(1) << 18)
/* A sample is one row of so many, within limits. The more members the more keys matter, and the less frequent ones. */
#define SAMPLE_SHARE 8
#define SAMPLE_LEAST (UINT64_C(1) << 12)
#define SAMPLE_USUAL (UINT64_C(1) << 14)
#define SAMPLE_MOST (UINT64_C(1) << 16)
#define MEMBERS_USUAL 4
#define HOT_USUAL 256
/* Where memory is reached by neither the host nor the member, runs of neighbours are copied. */
#define SAMPLE_RUNS 128
/* Uneven: a key with a 16th of a mean, if met so often; or a deviation of a 40th, if so many pairs were equal. */
#define SHARE_UNEVEN 16
#define TOP_LEAST 8
#define DEVIATION_UNEVEN 40
#define PAIRS_LEAST 64
/* A smaller sample is looked at first, of so many rows for every member: whether there is anything at all. Of half of that
   it is suspicious. */
#define FIRST_ROWS 512
#define SUSPICIOUS 2
/* A key that was met so often in a sample like that is a hot one; a few too many do no harm. */
#define HOT_LEAST 3

typedef struct sampled {
    uint64_t key;
    uint32_t last;  /* which row of the sample had it last */
    uint32_t count; /* 0: a vacant place */
} sampled;

typedef struct sampling {
    hd_inserting *p;
    uint64_t n, stride;
    uint64_t *rows;  /* in the member's part */
    char *keys;      /* as wide as they are */
    sampled *places; /* a power of two of them, twice as many as rows at least */
    uint32_t bits;   /* of their number */
    double pairs;    /* equal ones, counted both ways */
    double lenience; /* 1, or SUSPICIOUS in the first look */
} sampling;

static uint32_t members_of(const hd_inserting *p) { return hd_exchange_of(p->member)->members; }

/* Where equal keys become one, and nobody asks what became of single rows. The second attempt at a call, when memory
   has run out, counts its rows beforehand and does without. */
static bool may_fold(const hd_inserting *p)
{
    const heddle_cluster_table *table = p->call->table;
    const uint64_t least = hd_tuned(hd_tune.hot_rows_least, ROWS_LEAST);
    return p->guesses && !table->independent && members_of(p) > 1 && p->n >= least &&
           table->options.container != HEDDLE_CONTAINER_MULTIMAP &&
           p->call->options.outcomes == NULL && p->call->options.failed_capacity == 0;
}

/* ----------------------------------------------------------------------------------- the sample */

/* A number for the i-th row that no pattern of the data follows. */
static uint64_t scatter(uint64_t i)
{
    i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (i ^ i >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32;
}

static uint64_t sample_size(const hd_inserting *p)
{
    const uint64_t members = members_of(p);
    uint64_t most = SAMPLE_USUAL * members / MEMBERS_USUAL, size = p->n / SAMPLE_SHARE;
    if (most < SAMPLE_USUAL) most = SAMPLE_USUAL;
    if (most > SAMPLE_MOST) most = SAMPLE_MOST;
    if (size < SAMPLE_LEAST) size = SAMPLE_LEAST;
    if (size > most) size = most;
    return size < p->n / 2 ? size : p->n / 2;
}

/* Somewhere in each of as many stretches of the batch. */
static void choose_rows(sampling *s)
{
    for (uint64_t i = 0; i < s->n; i++) s->rows[i] = i * s->stride + scatter(i) % s->stride;
}

/* Rows of a column in memory of the member's device, which gathers them. */
static heddle_status read_device(heddle_device *device, const char *column, uint32_t width,
                                 const uint64_t *rows, uint64_t n, void *out)
{
    const hd_engine *engine = device->engine;
    hd_buffer which = {NULL, NULL, 0}, gathered = {NULL, NULL, 0};
    heddle_status status = hd_buffer_room(&which, device, n * sizeof *rows);
    if (status == HEDDLE_OK) status = hd_buffer_room(&gathered, device, n * width);
    if (status == HEDDLE_OK)
        status = engine->copy(device, which.memory, rows, n * sizeof *rows, NULL);
    if (status == HEDDLE_OK)
        status = engine->columns->gather(hd_on(device, NULL, NULL), hd_elements_of(column, width),
                                         hd_at_rows(which.memory, 64, n), gathered.memory);
    if (status == HEDDLE_OK) status = engine->copy(device, out, gathered.memory, n * width, NULL);
    if (status == HEDDLE_OK) status = engine->synchronize(device, NULL);
    hd_buffer_free(&which);
    hd_buffer_free(&gathered);
    return status;
}

heddle_status hd_hot_read(hd_inserting *p, const char *column, uint32_t width, const uint64_t *rows,
                          uint64_t n, char *out)
{
    heddle_device *device = p->member->device;
    const bool takes = hd_member_takes(p->member, column);
    column += p->first * width;
    if (takes && !device->engine->host_memory && device->engine->is_device_memory(device, column))
        return read_device(device, column, width, rows, n, out);
    for (uint64_t i = 0; i < n; i++) {
        const char *from = column + rows[i] * width;
        if (!takes) HD_TRY(hd_member_copy(p->member, out + i * width, from, width));
        else if (width == 4) memcpy(out + i * 4, from, 4);
        else memcpy(out + i * 8, from, 8);
    }
    return HEDDLE_OK;
}

/* Memory of another device. */
static heddle_status read_runs(sampling *s, const char *keys)
{
    const uint32_t width = s->p->key_width;
    const uint64_t run = (s->n + SAMPLE_RUNS - 1) / SAMPLE_RUNS;
    for (uint64_t i = 0; i < s->n; i += run) {
        const uint64_t count = s->n - i < run ? s->n - i : run;
        const uint64_t first = i * s->stride;
        for (uint64_t j = 0; j < count; j++) s->rows[i + j] = first + j;
        HD_TRY(
            hd_member_copy(s->p->member, s->keys + i * width, keys + first * width, count * width));
    }
    return HEDDLE_OK;
}

static heddle_status read_sample(sampling *s)
{
    hd_inserting *p = s->p;
    const char *keys = p->call->keys;
    choose_rows(s);
    if (!hd_member_takes(p->member, keys)) return read_runs(s, keys + p->first * p->key_width);
    return hd_hot_read(p, keys, p->key_width, s->rows, s->n, s->keys);
}

/* ------------------------------------------------------------------------------------- hot keys */

static uint64_t key_of(const sampling *s, uint64_t i)
{
    uint64_t key = 0;
    memcpy(&key, s->keys + i * s->p->key_width, s->p->key_width); /* the low bytes come first */
    return key;
}

static void count_keys(sampling *s)
{
    const hd_mix *mix = &s->p->call->table->spread.mix;
    const uint64_t mask = (UINT64_C(1) << s->bits) - 1;
    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t key = key_of(s, i), mixed = (key + mix->add) * mix->mul[0];
        uint64_t at = (mixed ^ mixed >> 32) * mix->mul[1] >> (64 - s->bits);
        while (s->places[at].count != 0 && s->places[at].key != key) at = (at + 1) & mask;
        s->pairs += 2.0 * (double)s->places[at].count;
        s->places[at].key = key;
        s->places[at].last = (uint32_t)i;
        s->places[at].count++;
    }
}

/* The most frequent first. */
static int by_count(const void *a, const void *b)
{
    const uint32_t x = ((const sampled *)a)->count, y = ((const sampled *)b)->count;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Keys that may be hot, moved to the front and in order; how many. */
static uint64_t candidates(sampling *s)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i >> s->bits == 0; i++)
        if (s->places[i].count >= HOT_LEAST) s->places[count++] = s->places[i];
    qsort(s->places, count, sizeof *s->places, by_count);
    return count;
}

static bool is_uneven(const sampling *s, uint64_t candidate_count)
{
    const double members = members_of(s->p), n = (double)s->n;
    const double top = candidate_count != 0 ? (double)s->places[0].count : 0, l = s->lenience;
    if (top * l >= TOP_LEAST && top * members * SHARE_UNEVEN * l >= n) return true;
    return s->pairs * l >= 2 * PAIRS_LEAST &&
           s->pairs * members * DEVIATION_UNEVEN * DEVIATION_UNEVEN * l * l >= n * (n - 1);
}

/* The first `count` keys are this member's hot ones, if these are most of what makes members uneven. */
static heddle_status take_hot(sampling *s, uint64_t count)
{
    hd_hot_rows *c = &s->p->hot;
    double rows = 0, pairs = 0;
    for (uint64_t i = 0; i < count; i++) {
        rows += (double)s->places[i].count;
        pairs += (double)s->places[i].count * (double)(s->places[i].count - 1);
    }
    if (pairs < s->pairs / 2) return HEDDLE_OK;
    c->hot_keys = (uint64_t *)hd_allocate(2 * count * sizeof *c->hot_keys);
    if (c->hot_keys == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for hot keys");
    c->hot_rows = c->hot_keys + count;
    for (uint64_t i = 0; i < count; i++) {
        c->hot_keys[i] = s->places[i].key;
        c->hot_rows[i] = s->rows[s->places[i].last];
    }
    c->n = (uint32_t)count;
    /* Rather a few rows less, lest more come to members than these expect. */
    c->expected = (uint64_t)((double)s->p->n * rows / (double)s->n * 0.98);
    return HEDDLE_OK;
}

/* *uneven, or in a first look suspicious; else the member has no hot keys. */
static heddle_status find_hot(sampling *s, bool *uneven)
{
    const uint64_t members = members_of(s->p);
    uint64_t most = HOT_USUAL * members / MEMBERS_USUAL, count;
    if (most < HOT_USUAL) most = HOT_USUAL;
    count_keys(s);
    count = candidates(s);
    *uneven = is_uneven(s, count);
    if (!*uneven || s->lenience > 1) return HEDDLE_OK;
    return take_hot(s, count < most ? count : most);
}

/* Host memory of a sample, all in one; false where there is none. */
static bool sampling_begin(sampling *s, hd_inserting *p, uint64_t n)
{
    memset(s, 0, sizeof *s);
    s->p = p;
    s->n = n;
    s->lenience = 1;
    if (s->n == 0) return false;
    s->stride = p->n / s->n;
    for (s->bits = 4; UINT64_C(1) << s->bits < 2 * s->n; s->bits++) continue;
    s->places = (sampled *)hd_allocate_zeroed(UINT64_C(1) << s->bits, sizeof(sampled));
    s->rows = (uint64_t *)hd_allocate(2 * s->n * sizeof *s->rows);
    if (s->places == NULL || s->rows == NULL) return false;
    s->keys = (char *)(s->rows + s->n);
    return true;
}

/* Without memory for a sample there is nothing to be seen. */
static heddle_status look(hd_inserting *p, uint64_t n, double lenience, bool *uneven)
{
    sampling s;
    heddle_status status = HEDDLE_OK;
    *uneven = false;
    if (sampling_begin(&s, p, n)) {
        s.lenience = lenience;
        status = read_sample(&s);
        if (status == HEDDLE_OK) status = find_hot(&s, uneven);
    }
    free(s.places);
    free(s.rows);
    return status;
}

heddle_status hd_hot_find(hd_inserting *p)
{
    const uint64_t all = sample_size(p), first = (uint64_t)FIRST_ROWS * members_of(p);
    heddle_status status = HEDDLE_OK;
    bool uneven = true;
    if (!may_fold(p)) return HEDDLE_OK;
    if (first < all) status = look(p, first, SUSPICIOUS, &uneven);
    if (status == HEDDLE_OK && uneven) status = look(p, all, 1, &uneven);
    hd_phase(p->member, HEDDLE_PHASE_PARTITION);
    return status == HEDDLE_ERROR_NO_MEMORY ? HEDDLE_OK : status;
}
