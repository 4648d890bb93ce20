/* multi_query.h: count and retrieve where a key has any number of values, over a kind of search. */
#ifndef HD_MULTI_QUERY_H
#define HD_MULTI_QUERY_H

#include "table/table.h"

/* n keys; all memory is the device's. */
typedef struct hd_multi_batch {
    const void *keys;
    uint64_t n;
    hd_counts *counts;
    uint64_t *matches;      /* count: how many values each has */
    const uint64_t *places; /* retrieve: where those of each begin in values_out */
    void *values_out;
} hd_multi_batch;

typedef struct hd_multi_search {
    heddle_status (*count)(heddle_table *table, const hd_multi_batch *batch, void *stream);
    heddle_status (*retrieve)(heddle_table *table, const hd_multi_batch *batch, void *stream);
} hd_multi_search;

/* hd_table_kind.count and retrieve. */
heddle_status hd_multi_count(heddle_table *table, hd_request *request,
                             const hd_multi_search *search);
heddle_status hd_multi_retrieve(heddle_table *table, hd_request *request,
                                const hd_multi_search *search);

#endif
