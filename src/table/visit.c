/*
 * visit.c: for_all and for_each: pairs brought to host memory in pieces and handed to a function of
 * the caller's. Works on what all kinds of tables offer, so there is one of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "table/table.h"

#define QUERIES (UINT64_C(1) << 16) /* keys of a batch that are looked up at a time */
#define PIECE UINT64_C(4096)        /* pairs that a visitor is given at a time */

typedef struct visiting {
    heddle_table *table;
    heddle_visitor visit;
    void *context;
    bool ended; /* by the visitor */
} visiting;

static heddle_status check(const heddle_table *table, heddle_visitor visit, const void *stream,
                           const char *what)
{
    HD_TRY(hd_check_table(table, stream, what));
    if (visit == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: there is no visitor", what);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------- for all */

/* hd_pairs_take. The status that ends the walk over the pairs is not one that the caller sees. */
static heddle_status take(void *context, const void *keys, const void *values, uint64_t n)
{
    visiting *v = (visiting *)context;
    v->ended = v->visit(v->context, keys, values, NULL, n) != 0;
    return v->ended ? HEDDLE_ERROR_INVALID : HEDDLE_OK;
}

heddle_status heddle_table_for_all(heddle_table *table, heddle_visitor visit, void *context,
                                   void *stream)
{
    visiting v = {table, visit, context, false};
    HD_TRY(check(table, visit, stream, "for_all"));
    const heddle_status status = table->kind->for_pairs(table, take, &v, stream);
    return v.ended ? HEDDLE_OK : status;
}

/* ------------------------------------------------------------------------------------ for each */

/* Some queries and their answers, in host memory. */
typedef struct answers {
    void *keys;
    uint64_t *offsets; /* into values; in a set a 1 for each key that is there */
    uint8_t *found;
    void *values;
    uint64_t room; /* values that there is room for */
    void *piece_keys, *piece_values;
    uint64_t *piece_rows;
} answers;

static void answers_free(answers *a)
{
    free(a->keys);
    free(a->offsets);
    free(a->found);
    free(a->values);
    free(a->piece_keys);
    free(a->piece_values);
    free(a->piece_rows);
}

static heddle_status answers_make(const heddle_table *table, answers *a)
{
    a->keys = hd_allocate(QUERIES * hd_key_width(table));
    a->offsets = (uint64_t *)hd_allocate((QUERIES + 1) * sizeof *a->offsets);
    a->found = (uint8_t *)hd_allocate(QUERIES);
    a->piece_keys = hd_allocate(PIECE * hd_key_width(table));
    a->piece_values = hd_allocate(PIECE * sizeof(uint64_t));
    a->piece_rows = (uint64_t *)hd_allocate(PIECE * sizeof *a->piece_rows);
    return a->keys != NULL && a->offsets != NULL && a->found != NULL && a->piece_keys != NULL &&
                   a->piece_values != NULL && a->piece_rows != NULL
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "for_each: no memory for pairs");
}

/* In a set: which of n keys are there. */
static heddle_status ask_flags(heddle_table *table, answers *a, uint64_t n, void *stream)
{
    HD_TRY(heddle_table_contains(table, a->keys, n, a->found, NULL, stream));
    HD_TRY(table->engine->synchronize(table->device, stream));
    a->offsets[0] = 0;
    for (uint64_t i = 0; i < n; i++) a->offsets[i + 1] = a->offsets[i] + a->found[i];
    return HEDDLE_OK;
}

/* Looks n keys up; afterwards offsets and values are those of heddle_table_retrieve. */
static heddle_status ask(heddle_table *table, answers *a, uint64_t n, void *stream)
{
    uint64_t count = 0;
    if (hd_value_width(table) == 0) return ask_flags(table, a, n, stream);
    HD_TRY(heddle_table_retrieve(table, a->keys, n, a->offsets, NULL, 0, &count, stream));
    if (count == 0) return HEDDLE_OK;
    if (count > a->room) {
        free(a->values);
        a->values = hd_allocate(count * hd_value_width(table));
        a->room = a->values != NULL ? count : 0;
        if (a->values == NULL)
            return hd_fail(HEDDLE_ERROR_NO_MEMORY, "for_each: no memory for %llu values",
                           (unsigned long long)count);
    }
    return heddle_table_retrieve(table, a->keys, n, a->offsets, a->values, a->room, &count, stream);
}

/* Hands the pairs of n looked up keys, the first of which is `row` of the batch, to the visitor. */
static void tell(visiting *v, answers *a, uint64_t row, uint64_t n)
{
    const uint32_t kw = hd_key_width(v->table), vw = hd_value_width(v->table);
    const void *values = vw != 0 ? a->piece_values : NULL;
    uint64_t count = 0;
    for (uint64_t i = 0; i < n && !v->ended; i++) {
        for (uint64_t at = a->offsets[i]; at < a->offsets[i + 1] && !v->ended; at++) {
            memcpy((char *)a->piece_keys + count * kw, (const char *)a->keys + i * kw, kw);
            if (vw != 0)
                memcpy((char *)a->piece_values + count * vw, (const char *)a->values + at * vw, vw);
            a->piece_rows[count++] = row + i;
            if (count == PIECE) {
                v->ended = v->visit(v->context, a->piece_keys, values, a->piece_rows, count) != 0;
                count = 0;
            }
        }
    }
    if (count != 0 && !v->ended)
        v->ended = v->visit(v->context, a->piece_keys, values, a->piece_rows, count) != 0;
}

heddle_status heddle_table_for_each(heddle_table *table, const void *keys, uint64_t n,
                                    heddle_visitor visit, void *context, void *stream)
{
    visiting v = {table, visit, context, false};
    answers a __attribute__((cleanup(answers_free))) = {NULL};
    HD_TRY(check(table, visit, stream, "for_each"));
    const uint32_t width = hd_key_width(table);
    HD_TRY(hd_check_array(keys, n, width, "keys"));
    HD_TRY(answers_make(table, &a));
    for (uint64_t first = 0; first < n && !v.ended; first += QUERIES) {
        const uint64_t count = n - first < QUERIES ? n - first : QUERIES;
        const char *from = (const char *)keys + first * width;
        HD_TRY(hd_read_back(table, a.keys, from, count * width, stream));
        HD_TRY(ask(table, &a, count, stream));
        tell(&v, &a, first, count);
    }
    return HEDDLE_OK;
}
