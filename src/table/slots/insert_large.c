/*
 * insert_large.c: large batches for tables of slots that hold keys, and for empty ones that may be too small.
 *
 * Adding by regions (regions.h) reads and writes all of the table, so it pays for batches that are not small beside it:
 * from an eighth of the slots on. Pairs that find no room in their region are inserted one by one afterwards, which is
 * slower than all in that way. So the table should have room for the new keys. How many of the pairs bring new
 * keys is not known: all of them at first. Where they would not fit, the first pairs are inserted one by one, to
 * see how many were new. The others are then taken to have as large a share of new keys; or, if the table was
 * empty, to be drawn from as many different keys as explains the copies seen so far.
 */
#include <math.h>
#include <string.h>

#include "table/slots/regions.h"

#define MORE_SHARE 8
#define MORE_FULL 0.95

/* What is left of a batch. */
typedef struct rest_of_batch {
    const char *keys, *values;
    uint64_t n;
    double news;    /* new keys that it brings, as far as is known */
    bool was_empty; /* the table, before the batch */
    double done;    /* pairs that have been inserted */
    double made;    /* keys that these were */
} rest_of_batch;

/* Different keys that so many draws from `keys` bring. */
static double drawn(double keys, double draws) { return -keys * expm1(-draws / keys); }

/* What is expected of the rest; `part` pairs were the last, and brought so many new keys. */
static double expected_news(const rest_of_batch *r, double part, double fresh)
{
    const double linear = fresh / part * (double)r->n;
    double low = r->made, high = 16 * (r->done + (double)r->n);
    if (!r->was_empty || r->made >= r->done) return linear;
    for (int i = 0; i < 60; i++) {
        const double keys = (low + high) / 2;
        if (drawn(keys, r->done) < r->made) low = keys;
        else high = keys;
    }
    return drawn(high, r->done + (double)r->n) - r->made;
}

/* Whether the table is one that can be filled on. */
static bool can_fill_on(const hd_slots_table *t)
{
    return t->ops->fills_gaps || !(t->gaps || t->viewed);
}

static heddle_status suits_more(heddle_table *table, const rest_of_batch *r,
                                const heddle_insert_options *o, bool *suits, void *stream)
{
    const hd_slots_table *t = hd_slots(table);
    const double room = MORE_FULL * (double)hd_geometry_slots(&t->storage.view, t->ops);
    uint64_t count = 0;
    heddle_status status = HEDDLE_OK;
    *suits = r->n <= HD_APPEND_MAX && hd_regions_suit(table, r->keys, r->values, r->n, o);
    if (*suits) status = hd_table_count(table, &count, stream);
    *suits = *suits && (double)count + r->news <= room;
    return status;
}

/* From how many pairs on a batch is large. */
static uint64_t least_large(const heddle_table *table)
{
    const hd_slots_table *t = hd_slots(table);
    return hd_geometry_slots(&t->storage.view, t->ops) / MORE_SHARE + 1;
}

bool hd_slots_is_large(const heddle_table *table, uint64_t n) { return n >= least_large(table); }

/* Inserts the first `n` pairs one by one; *counts is added to. */
static heddle_status insert_first(heddle_table *table, rest_of_batch *r, uint64_t n,
                                  const heddle_insert_options *o, hd_counts *counts, void *stream)
{
    hd_counts own = {{0}};
    bool waited = true;
    const heddle_status status =
        hd_slots_insert_singly(table, r->keys, r->values, n, o, &waited, &own, stream);
    for (int i = 0; i < HD_COUNTS; i++) counts->at[i] += own.at[i];
    r->n -= n;
    r->done += (double)n;
    r->made += (double)own.at[HD_INSERTED];
    r->news = expected_news(r, (double)n, (double)own.at[HD_INSERTED]);
    r->keys += n * hd_key_width(table);
    if (r->values != NULL) r->values += n * hd_value_width(table);
    return status;
}

/*
 * Inserts a batch, by regions as soon as that suits. A call that waits. Pairs that fail in one part of it do not
 * keep the others from being inserted.
 */
heddle_status hd_slots_insert_more(heddle_table *table, const void *keys, const void *values,
                                   uint64_t n, const heddle_insert_options *o, hd_counts *counts,
                                   void *stream)
{
    rest_of_batch r = {(const char *)keys, (const char *)values, n, (double)n, false, 0, 0};
    uint64_t before = 0, part = least_large(table);
    heddle_status status = hd_marks_renew(table, stream);
    bool suits = true, done = false;
    memset(counts, 0, sizeof *counts);
    if (status == HEDDLE_OK) status = hd_table_count(table, &before, stream);
    if (status != HEDDLE_OK) return status;
    r.was_empty = before == 0;
    while (status == HEDDLE_OK && hd_slots_is_large(table, r.n) && can_fill_on(hd_slots(table))) {
        hd_counts own = {{0}};
        status = suits_more(table, &r, o, &suits, stream);
        if (status == HEDDLE_OK && suits)
            status = hd_regions_append(table, r.keys, r.values, r.n, o, false,
                                       hd_slots_insert_listed, &done, &own, stream);
        if (done)
            for (int i = 0; i < HD_COUNTS; i++) counts->at[i] += own.at[i];
        if (done || status != HEDDLE_OK) return status;
        if (suits) break; /* there is no scratch memory */
        status = insert_first(table, &r, r.n < part ? r.n : part, o, counts, stream);
        part *= 2; /* few of them, whatever comes of it */
    }
    if (r.n != 0) {
        const heddle_status rest = insert_first(table, &r, r.n, o, counts, stream);
        if (status == HEDDLE_OK || rest == HEDDLE_ERROR_DEVICE) status = rest;
    }
    return status == HEDDLE_ERROR_FULL ? hd_slots_fail_full(table, counts->at[HD_FAILED]) : status;
}
