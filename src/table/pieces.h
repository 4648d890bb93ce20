/*
 * pieces.h: queries in pieces. A query that needs scratch memory for every key, copies of host arrays among it, is
 * made with all keys at once if there is memory for that, and else with as many at a time as there is memory for.
 */
#ifndef HD_PIECES_H
#define HD_PIECES_H

#include "table/table.h"

/* find or count, of arrays anywhere; those that it does not have are NULL. */
typedef struct hd_query {
    heddle_table *table;
    const void *keys;
    uint64_t n;
    void *values;
    uint8_t *found;
    uint64_t *matches;
    heddle_totals *totals;
    void *stream;
} hd_query;

/* Runs out of memory before it has counted any key, or not at all. */
typedef heddle_status (*hd_query_work)(const hd_query *query);
heddle_status hd_query_in_pieces(const hd_query *query, hd_query_work work);

/* heddle_table_retrieve, of arrays anywhere. */
typedef struct hd_retrieve {
    heddle_table *table;
    const void *keys;
    uint64_t n;
    uint64_t *offsets;
    void *values;
    uint64_t capacity;
    uint64_t *count;
    void *stream;
    /* In and out: the offsets and the count have been given. The keys are counted when they are, and only then. */
    bool known;
} hd_retrieve;

typedef heddle_status (*hd_retrieve_work)(hd_retrieve *retrieve);
/* The values of a single key have to fit. */
heddle_status hd_retrieve_in_pieces(hd_retrieve *retrieve, hd_retrieve_work work);
/* HEDDLE_OK, or the values do not fit into the caller's array. */
heddle_status hd_retrieve_fits(const hd_retrieve *retrieve);

#endif
