/*
 * pieces.h: queries in pieces. A query that needs scratch memory for every key, copies of host
 * arrays among it, is made with all keys at once if there is memory for that, and else with as many
 * at a time as there is memory for.
 */
#ifndef HD_PIECES_H
#define HD_PIECES_H

#include "table/table.h"

/* A query of arrays anywhere. */
typedef heddle_status (*hd_query_work)(heddle_table *table, hd_request *request);

/* find, count: the work runs out of memory before it has counted any key, or not at all. */
heddle_status hd_query_in_pieces(heddle_table *table, hd_request *request, hd_query_work work);
/*
 * retrieve: the values of a single key have to fit. The work counts keys as it gives their offsets.
 */
heddle_status hd_retrieve_in_pieces(heddle_table *table, hd_request *request, hd_query_work work);
/* HEDDLE_OK, or the values do not fit into the caller's array. */
heddle_status hd_retrieve_fits(const hd_request *request);

#endif
