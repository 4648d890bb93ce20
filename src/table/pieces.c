/* pieces.c: see pieces.h. */
#include "table/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/public_struct.h"
#include "host/stage.h"

#define PIECE_MAX                                                                                  \
    (UINT64_C(1) << 20) /* keys of a piece of a retrieval, whose offsets pass through the host */

/* How many keys the next piece has: fewer after one that did not fit, and more again after one that did. */
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

static void *from(const void *array, uint64_t first, uint32_t width)
{
    return array != NULL ? (char *)(uintptr_t)array + first * width : NULL;
}

static void add_totals(heddle_totals *sums, const heddle_totals *more)
{
    sums->found += more->found;
    sums->absent += more->absent;
    sums->probes += more->probes;
}

heddle_status hd_query_in_pieces(const hd_query *query, hd_query_work work)
{
    heddle_table *table = query->table;
    piece_size size = {query->n / 2, query->n / 2};
    heddle_totals sums = HEDDLE_TOTALS_INIT;
    heddle_status status = work(query);
    if (status != HEDDLE_ERROR_NO_MEMORY || query->n < 2) return status;
    status = HEDDLE_OK;
    for (uint64_t first = 0; first < query->n && status == HEDDLE_OK;) {
        const uint64_t left = query->n - first, n = left < size.now ? left : size.now;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        const hd_query piece = {table,
                                from(query->keys, first, hd_key_width(table)),
                                n,
                                from(query->values, first, hd_value_width(table)),
                                (uint8_t *)from(query->found, first, 1),
                                (uint64_t *)from(query->matches, first, sizeof(uint64_t)),
                                query->totals != NULL ? &totals : NULL,
                                query->stream};
        status = work(&piece);
        if (status == HEDDLE_OK) {
            first += n;
            add_totals(&sums, &totals);
        }
        status = resize(&size, n, status);
    }
    if (status == HEDDLE_OK && query->totals != NULL) hd_write_totals(query->totals, &sums);
    return status;
}

/* ------------------------------------------------------------------------------------ retrieve */

heddle_status hd_retrieve_fits(const hd_retrieve *retrieve)
{
    return *retrieve->count <= retrieve->capacity
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_TOO_SMALL,
                         "retrieve: %llu values do not fit into an array of %llu",
                         (unsigned long long)*retrieve->count,
                         (unsigned long long)retrieve->capacity);
}

/* Gives the caller the offsets of a piece, which begin at 0 yet. */
static heddle_status give_offsets(const hd_retrieve *all, uint64_t first, uint64_t n, uint64_t base,
                                  uint64_t *offsets)
{
    heddle_table *table = all->table;
    const hd_span span = {all->offsets, sizeof *offsets, false, true};
    const uint64_t bytes = (n + 1) * sizeof *offsets;
    for (uint64_t i = 0; i <= n; i++) offsets[i] += base;
    if (hd_any_staged(table, &span, 1)) {
        memcpy(all->offsets + first, offsets, bytes);
        return HEDDLE_OK;
    }
    HD_TRY(table->engine->copy(table->device, all->offsets + first, offsets, bytes, all->stream));
    return table->engine->synchronize(table->device, all->stream);
}

/* The offsets of all pieces, or their values. `offsets` has room for those of a piece. */
static heddle_status for_pieces(hd_retrieve *all, hd_retrieve_work work, bool values,
                                piece_size size, uint64_t *offsets)
{
    heddle_table *table = all->table;
    heddle_status status = HEDDLE_OK;
    uint64_t first = 0, base = 0;
    while (first < all->n && status == HEDDLE_OK) {
        const uint64_t left = all->n - first, n = left < size.now ? left : size.now;
        uint64_t count = 0;
        hd_retrieve piece = {table,  from(all->keys, first, hd_key_width(table)),
                             n,      offsets,
                             NULL,   0,
                             &count, all->stream,
                             values};
        if (values) {
            piece.values = from(all->values, base, hd_value_width(table));
            piece.capacity = *all->count - base;
        }
        status = work(&piece);
        if (status == HEDDLE_OK && !values) status = give_offsets(all, first, n, base, offsets);
        if (status == HEDDLE_OK) {
            first += n;
            base += count;
        }
        status = resize(&size, n, status);
    }
    if (status == HEDDLE_OK) *all->count = base;
    return status;
}

heddle_status hd_retrieve_in_pieces(hd_retrieve *retrieve, hd_retrieve_work work)
{
    const uint64_t half = retrieve->n / 2, piece = half < PIECE_MAX ? half : PIECE_MAX;
    const piece_size size = {piece, piece};
    uint64_t *offsets;
    heddle_status status = work(retrieve);
    if (status != HEDDLE_ERROR_NO_MEMORY || retrieve->n < 2) return status;
    offsets = (uint64_t *)hd_allocate((piece + 1) * sizeof *offsets);
    if (offsets == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to retrieve in pieces");
    status = retrieve->known ? HEDDLE_OK : for_pieces(retrieve, work, false, size, offsets);
    if (status == HEDDLE_OK && retrieve->values != NULL) {
        status = hd_retrieve_fits(retrieve);
        if (status == HEDDLE_OK) status = for_pieces(retrieve, work, true, size, offsets);
    }
    free(offsets);
    return status;
}
