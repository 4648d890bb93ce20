/* pieces.c: see pieces.h. */
#include "table/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/lent.h"

/* Keys of a piece of a retrieval, whose offsets pass through the host. */
#define PIECE_MAX (UINT64_C(1) << 20)

/*
 * How many keys the next piece has: fewer after one that did not fit, and more again after one that
 * did.
 */
typedef struct piece_size {
    uint64_t now, most;
} piece_size;

/* What a piece came to; HEDDLE_OK where it is to be tried again with fewer keys. */
static heddle_status resize(piece_size *size, uint64_t n, heddle_status status)
{
    if (status == HEDDLE_OK) size->now = size->now < size->most / 2 ? 2 * size->now : size->most;
    if (status != HEDDLE_ERROR_NO_MEMORY || n == 1) return status;
    size->now = n / 2;
    return HEDDLE_OK;
}

/* Adds the sums of a piece to those of all; they are known if those of any piece are. */
static void add_sums(hd_request *all, const hd_request *piece)
{
    if (!piece->waits) return;
    all->waits = true;
    hd_counts_add(&all->counts, &piece->counts);
}

heddle_status hd_query_in_pieces(heddle_table *table, hd_request *request, hd_query_work work)
{
    piece_size size = {request->n / 2, request->n / 2};
    const hd_request all = *request;
    const heddle_status whole = work(table, request);
    if (whole != HEDDLE_ERROR_NO_MEMORY || all.n < 2) return whole;
    *request = all;
    for (uint64_t first = 0; first < all.n;) {
        const uint64_t left = all.n - first, n = left < size.now ? left : size.now;
        hd_request piece = hd_request_part(table, &all, first, n);
        const heddle_status status = work(table, &piece);
        if (status == HEDDLE_OK) {
            first += n;
            add_sums(request, &piece);
        }
        HD_TRY(resize(&size, n, status));
    }
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------ retrieve */

heddle_status hd_retrieve_fits(const hd_request *request)
{
    return *request->count <= request->capacity
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_TOO_SMALL,
                         "retrieve: %llu values do not fit into an array of %llu",
                         (unsigned long long)*request->count,
                         (unsigned long long)request->capacity);
}

/* Gives the caller the offsets of a piece of n keys, which begin at 0 yet. */
static heddle_status give_offsets(heddle_table *table, const hd_request *piece, uint64_t *to,
                                  uint64_t base)
{
    const uint64_t bytes = (piece->n + 1) * sizeof *to;
    for (uint64_t i = 0; i <= piece->n; i++) piece->offsets[i] += base;
    if (!hd_is_direct(table->device, to)) {
        memcpy(to, piece->offsets, bytes);
        return HEDDLE_OK;
    }
    HD_TRY(table->engine->copy(table->device, to, piece->offsets, bytes, piece->stream));
    return table->engine->synchronize(table->device, piece->stream);
}

/* A retrieval in pieces. */
typedef struct retrieval {
    heddle_table *table;
    hd_request *all;
    hd_query_work work;
    uint64_t *offsets; /* room for those of a piece */
    piece_size size;
} retrieval;

/* The next keys from `first` on: their offsets, or their values, of which `base` come before. */
static heddle_status do_piece(retrieval *r, bool values, uint64_t *first, uint64_t *base)
{
    hd_request *all = r->all;
    const uint64_t left = all->n - *first, n = left < r->size.now ? left : r->size.now;
    hd_request piece = hd_request_part(r->table, all, *first, n);
    uint64_t count = 0;
    piece.offsets = r->offsets;
    piece.values_out = values ? (char *)all->values_out + *base * hd_value_width(r->table) : NULL;
    piece.capacity = values ? *all->count - *base : 0;
    piece.count = &count;
    piece.offsets_known = values;
    heddle_status status = r->work(r->table, &piece);
    if (status == HEDDLE_OK && !values)
        status = give_offsets(r->table, &piece, all->offsets + *first, *base);
    if (status == HEDDLE_OK) {
        *first += n;
        *base += count;
        add_sums(all, &piece);
    }
    return resize(&r->size, n, status);
}

/* The offsets of all pieces, or their values. */
static heddle_status for_pieces(retrieval *r, bool values)
{
    const piece_size size = r->size;
    uint64_t first = 0, base = 0;
    while (first < r->all->n) HD_TRY(do_piece(r, values, &first, &base));
    *r->all->count = base;
    r->size = size;
    return HEDDLE_OK;
}

heddle_status hd_retrieve_in_pieces(heddle_table *table, hd_request *request, hd_query_work work)
{
    const uint64_t half = request->n / 2, piece = half < PIECE_MAX ? half : PIECE_MAX;
    const heddle_status whole = work(table, request);
    if (whole != HEDDLE_ERROR_NO_MEMORY || request->n < 2) return whole;
    uint64_t *offsets HD_FREED = (uint64_t *)hd_allocate((piece + 1) * sizeof *offsets);
    if (offsets == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to retrieve in pieces");
    retrieval r = {table, request, work, offsets, {piece, piece}};
    if (!request->offsets_known) HD_TRY(for_pieces(&r, false));
    if (request->values_out == NULL) return HEDDLE_OK;
    HD_TRY(hd_retrieve_fits(request));
    return for_pieces(&r, true);
}
