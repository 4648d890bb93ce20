/*
 * insert_large.c: batches that go by regions (regions.h): builds, and large insertions.
 *
 *   fill      into an empty table: the fast way. Where a pair does not fit, all are inserted singly
 *   append    to a multimap: every pair is inserted, so it is known beforehand whether they fit
 *   add       to a table that holds keys, or that may be too small
 *
 * To add reads and writes all of the table, so it pays for batches that are not small beside it:
 * from an eighth of the slots on. Pairs that find no room in their region are inserted one by one
 * afterwards, which is slower than all in that way. So the table should have room for the new keys.
 * How many of the pairs bring new keys is not known: all of them at first. Where they would not
 * fit, the first pairs are inserted one by one, to see how many were new. The others are then taken
 * to have as large a share of new keys; or, if the table was empty, to be drawn from as many
 * different keys as explains the copies seen so far.
 */
#include <math.h>

#include "base/error.h"
#include "table/slots/regions.h"

#define MULTI_SHARE 16 /* the least batch for a multimap: one pair for so many slots */
#define MORE_SHARE 8   /* the same for a table that holds keys */
#define MORE_FULL 0.95

/* ---------------------------------------------------------------------------------------- fill */

/* By regions into a table whose slots hold nothing that is to stay. */
static heddle_status fill(heddle_table *table, hd_request *r, bool fresh, bool *done)
{
    hd_slots_table *t = hd_slots(table);
    r->waits = true;
    HD_TRY(hd_regions_build(table, r, done));
    if (!*done) return fresh ? HEDDLE_OK : hd_slots_clear(table, r->stream);
    t->erased = 0;
    t->gaps = false;
    return HEDDLE_OK;
}

/* ----------------------------------------------------------------------------------------- add */

/* What is left of a batch that is added. */
typedef struct remainder_of_batch {
    hd_request r;
    double fresh;   /* new keys that it brings, as far as is known */
    double held;    /* keys in the table */
    bool was_empty; /* the table, before the batch */
    double done;    /* pairs that have been inserted */
    double made;    /* keys that these were */
} remainder_of_batch;

/* Different keys that so many draws from `keys` bring. */
static double drawn(double keys, double draws) { return -keys * expm1(-draws / keys); }

/* New keys to expect of what is left; `part` pairs were the last, and brought `fresh`. */
static double expected(const remainder_of_batch *b, double part, double fresh)
{
    const double linear = fresh / part * (double)b->r.n;
    double low = b->made, high = 16 * (b->done + (double)b->r.n);
    if (!b->was_empty || b->made >= b->done) return linear;
    for (int i = 0; i < 60; i++) {
        const double keys = (low + high) / 2;
        if (drawn(keys, b->done) < b->made) low = keys;
        else high = keys;
    }
    return drawn(high, b->done + (double)b->r.n) - b->made;
}

uint64_t hd_regions_large(const heddle_table *table)
{
    return hd_slots_count_slots(table) / MORE_SHARE + 1;
}

bool hd_regions_fill_on(const hd_slots_table *t)
{
    return t->ops->fills_gaps || !(t->gaps || t->viewed);
}

/* Whether what is left may go by regions and is expected to fit. */
static bool suits(const heddle_table *table, const remainder_of_batch *b)
{
    return b->r.n <= HD_APPEND_MAX && hd_regions_suit(table, &b->r) &&
           b->held + b->fresh <= MORE_FULL * (double)hd_slots_count_slots(table);
}

/* Inserts the first `n` pairs one by one; their sums are added to those of the call. */
static heddle_status insert_first(heddle_table *table, remainder_of_batch *b, uint64_t n,
                                  hd_counts *sums)
{
    hd_request first = hd_request_part(table, &b->r, 0, n);
    const heddle_status status = hd_slots_insert_singly(table, &first);
    const double fresh = (double)first.counts.at[HD_INSERTED];
    hd_counts_add(sums, &first.counts);
    b->r = hd_request_part(table, &b->r, n, b->r.n - n);
    b->held += fresh;
    b->done += (double)n;
    b->made += fresh;
    b->fresh = expected(b, (double)n, fresh);
    return status;
}

/* All that is left by regions, with pairs from the front singly until that suits. */
static heddle_status add_parts(heddle_table *table, remainder_of_batch *b, hd_counts *sums)
{
    uint64_t part = hd_regions_large(table);
    while (b->r.n >= hd_regions_large(table) && hd_regions_fill_on(hd_slots(table))) {
        if (suits(table, b)) {
            bool done = false;
            const heddle_status status = hd_regions_append(table, &b->r, false, &done);
            if (done) hd_counts_add(sums, &b->r.counts);
            if (done || status != HEDDLE_OK) b->r.n = 0;
            return status; /* what is left where there is no scratch memory goes singly */
        }
        HD_TRY(insert_first(table, b, b->r.n < part ? b->r.n : part, sums));
        part *= 2; /* few of them, whatever comes of it */
    }
    return HEDDLE_OK;
}

/* Pairs that fail in one part of the batch do not keep the others from being inserted. */
static heddle_status add(heddle_table *table, hd_request *r, uint64_t held)
{
    remainder_of_batch b = {*r, (double)r->n, (double)held, held == 0, 0, 0};
    b.r.waits = r->waits = true;
    HD_TRY(hd_slots_tidy(table, r->stream));
    heddle_status status = add_parts(table, &b, &r->counts);
    if (b.r.n != 0) {
        const heddle_status rest = insert_first(table, &b, b.r.n, &r->counts);
        if (status == HEDDLE_OK || rest == HEDDLE_ERROR_DEVICE) status = rest;
    }
    return status == HEDDLE_ERROR_FULL ? hd_slots_fail_full(table, r->counts.at[HD_FAILED])
                                       : status;
}

/* ------------------------------------------------------------------------------------ the call */

heddle_status hd_slots_insert_large(heddle_table *table, hd_request *r, bool fresh, bool *done)
{
    const uint64_t slots = hd_slots_count_slots(table);
    const bool fits = fresh || (double)r->n <= table->options.load * (double)slots;
    uint64_t held = 0;
    *done = false;
    /* A batch that is small beside a multimap meets every window once at best, in any order. */
    if (hd_is_multimap(table) && r->n < slots / MULTI_SHARE) return HEDDLE_OK;
    if (!hd_is_multimap(table) && !fits && r->n < hd_regions_large(table)) return HEDDLE_OK;
    if (!fresh) HD_TRY(hd_table_count(table, &held, r->stream));
    /* Of an empty multimap the marks of erased pairs go too. */
    if (hd_is_multimap(table)) return hd_regions_append(table, r, held == 0, done);
    if (held == 0 && fits) return fill(table, r, fresh, done);
    *done = r->n >= hd_regions_large(table);
    return *done ? add(table, r, held) : HEDDLE_OK;
}
