/*
 * visit.c: for_all and for_each: pairs brought to host memory in pieces and handed to a function of the
 * caller's. Works on what all kinds of tables offer, so there is one of it.
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
    heddle_status status = check(table, visit, stream, "for_all");
    if (status == HEDDLE_OK) status = table->kind->for_pairs(table, take, &v, stream);
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

static void *room_for(uint64_t bytes) { return hd_allocate(bytes); }

static heddle_status answers_make(const heddle_table *table, answers *a)
{
    memset(a, 0, sizeof *a);
    a->keys = room_for(QUERIES * hd_key_width(table));
    a->offsets = (uint64_t *)room_for((QUERIES + 1) * sizeof *a->offsets);
    a->found = (uint8_t *)room_for(QUERIES);
    a->piece_keys = room_for(PIECE * hd_key_width(table));
    a->piece_values = room_for(PIECE * sizeof(uint64_t));
    a->piece_rows = (uint64_t *)room_for(PIECE * sizeof *a->piece_rows);
    if (a->keys != NULL && a->offsets != NULL && a->found != NULL && a->piece_keys != NULL &&
        a->piece_values != NULL && a->piece_rows != NULL)
        return HEDDLE_OK;
    answers_free(a);
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "for_each: no memory for pairs");
}

/* Looks n keys up; afterwards offsets and values are those of heddle_table_retrieve. */
static heddle_status ask(heddle_table *table, answers *a, uint64_t n, void *stream)
{
    uint64_t count = 0;
    heddle_status status;
    if (hd_value_width(table) == 0) {
        status = heddle_table_contains(table, a->keys, n, a->found, NULL, stream);
        if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
        a->offsets[0] = 0;
        for (uint64_t i = 0; status == HEDDLE_OK && i < n; i++)
            a->offsets[i + 1] = a->offsets[i] + a->found[i];
        return status;
    }
    status = heddle_table_retrieve(table, a->keys, n, a->offsets, NULL, 0, &count, stream);
    if (status == HEDDLE_OK && count > a->room) {
        free(a->values);
        a->values = room_for(count * hd_value_width(table));
        a->room = a->values != NULL ? count : 0;
        if (a->values == NULL)
            status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "for_each: no memory for %llu values",
                             (unsigned long long)count);
    }
    if (status == HEDDLE_OK && count != 0)
        status = heddle_table_retrieve(table, a->keys, n, a->offsets, a->values, a->room, &count,
                                       stream);
    return status;
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
    heddle_status status = check(table, visit, stream, "for_each");
    answers a;
    if (status == HEDDLE_OK) status = hd_check_array(keys, n, hd_key_width(table), "keys");
    if (status == HEDDLE_OK) status = answers_make(table, &a);
    if (status != HEDDLE_OK) return status;
    for (uint64_t first = 0; first < n && status == HEDDLE_OK && !v.ended; first += QUERIES) {
        const uint64_t count = n - first < QUERIES ? n - first : QUERIES;
        const char *from = (const char *)keys + first * hd_key_width(table);
        status =
            table->engine->copy(table->device, a.keys, from, count * hd_key_width(table), stream);
        if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
        if (status == HEDDLE_OK) status = ask(table, &a, count, stream);
        if (status == HEDDLE_OK) tell(&v, &a, first, count);
    }
    answers_free(&a);
    return status;
}
