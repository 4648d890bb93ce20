/*
 * insert.c: build and insert for graphs. A multimap takes all pairs as they come. A set and a
 * counter first bring the equal keys of the batch together; then a set adds those that it does not
 * have, and a counter adds up where it has some of them. Where there is no memory to do that with the
 * whole batch, it is done with one piece after the other.
 */
#include <string.h>

#include "base/error.h"
#include "table/graph/graph.h"

/* Pieces of a batch have at least so many keys, and there are no more of them: each makes the graph anew. */
#define PIECE_MIN (UINT64_C(1) << 14)
#define PIECES_MAX 1024

/* One call of build or insert. */
typedef struct addition {
    heddle_table *table;
    const heddle_insert_options *options;
    const void *keys, *values; /* of a set or counter, in device memory */
    uint64_t n;
    bool keep;         /* insert, not build */
    uint8_t *outcomes; /* device memory, NULL when nobody asks */
    hd_scratch scratch;
    hd_counts *counts;
    void *stream;
} addition;

static heddle_status renew(const addition *a, bool keep, const void *keys, const void *values,
                           uint64_t n)
{
    hd_graph_feed feed;
    memset(&feed, 0, sizeof feed);
    feed.keys = keys;
    feed.values = values;
    feed.n = n;
    feed.keep = keep;
    feed.seed = a->table->options.seed;
    feed.workspace = a->options->workspace;
    feed.workspace_bytes = a->options->workspace_bytes;
    /* Sets and counters have had memory of their own to bring keys together. */
    feed.bounded = a->table->options.container == HEDDLE_CONTAINER_MULTIMAP;
    return hd_graph_renew(a->table, &feed, a->stream);
}

/* Whether an array lies where the device cannot write. */
static bool is_staged(const heddle_table *table, const void *array)
{
    return array != NULL && !table->engine->host_memory &&
           !table->engine->is_device_memory(table->device, array);
}

/* Gives the caller the same outcome for all rows, wherever it wants them. */
static heddle_status give_outcomes(const addition *a, uint8_t outcome)
{
    const heddle_table *table = a->table;
    uint8_t *outcomes = a->options->outcomes;
    if (outcomes == NULL || a->n == 0) return HEDDLE_OK;
    if (!is_staged(table, outcomes))
        return table->engine->fill(table->device, outcomes, outcome, a->n, a->stream);
    memset(outcomes, outcome, a->n);
    return HEDDLE_OK;
}

/* A multimap: all pairs come in, wherever they lie, and every outcome is the same. */
static heddle_status add_pairs(addition *a, const void *keys, const void *values)
{
    HD_TRY(renew(a, a->keep, keys, values, a->n));
    a->counts->at[HD_INSERTED] = a->n;
    return give_outcomes(a, HEDDLE_OUTCOME_INSERTED);
}

/* ------------------------------------------------------------------------------ sets, counters */

static heddle_status fill_outcomes(const addition *a, uint8_t outcome)
{
    return a->outcomes != NULL && a->n != 0
               ? a->table->engine->fill(a->table->device, a->outcomes, outcome, a->n, a->stream)
               : HEDDLE_OK;
}

/* All rows are `old` but the first ones of the keys that came in. */
static heddle_status note_outcomes(const addition *a, uint8_t old, const void *firsts,
                                   uint32_t row_bits, uint64_t inserted)
{
    heddle_status status = fill_outcomes(a, old);
    if (status == HEDDLE_OK && a->outcomes != NULL && inserted != 0)
        status = a->table->engine->columns->scatter(a->table->device, NULL, 1, firsts, row_bits,
                                                    inserted, a->outcomes, a->stream);
    _Static_assert(HEDDLE_OUTCOME_INSERTED == 1, "scatter without values writes ones");
    return status;
}

/* The keys of a batch that the table does not have yet. */
typedef struct fresh_keys {
    uint64_t n;
    void *keys;
    void *firsts;
} fresh_keys;

/* Marks the folded keys that the table has. */
static heddle_status look_up(addition *a, const hd_folded *folded, uint8_t *found)
{
    heddle_table *table = a->table;
    hd_graph_batch batch;
    hd_call call;
    heddle_status status = hd_call_begin(table, true, a->stream, &call);
    if (status != HEDDLE_OK) return status;
    memset(&batch, 0, sizeof batch);
    batch.keys = folded->keys;
    batch.n = folded->n;
    batch.found = found;
    batch.counts = call.counts;
    status = hd_graph_of(table)->ops->look(table->device, &hd_graph_of(table)->storage.graph,
                                           &batch, a->stream);
    hd_call_end(table, &call);
    return status;
}

static heddle_status select_fresh(addition *a, const hd_folded *folded, fresh_keys *fresh)
{
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    const uint32_t row_bits = folded->row_bits, kw = hd_key_width(table);
    uint8_t *found = NULL;
    uint64_t *count = NULL;
    void *rows = NULL, *work = NULL;
    heddle_status status = hd_scratch_take(&a->scratch, folded->n, (void **)&found);
    if (status == HEDDLE_OK) status = hd_scratch_take(&a->scratch, sizeof *count, (void **)&count);
    if (status == HEDDLE_OK) status = hd_scratch_take(&a->scratch, folded->n * row_bits / 8, &rows);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(&a->scratch, columns->work(table->device, folded->n), &work);
    if (status == HEDDLE_OK) status = look_up(a, folded, found);
    if (status == HEDDLE_OK)
        status = columns->select(table->device, found, folded->n, false, rows, row_bits, count,
                                 work, a->stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, &fresh->n, count, sizeof *count, a->stream);
    if (status == HEDDLE_OK) status = hd_scratch_take(&a->scratch, fresh->n * kw, &fresh->keys);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(&a->scratch, fresh->n * row_bits / 8, &fresh->firsts);
    if (status != HEDDLE_OK || fresh->n == 0) return status;
    status = columns->gather(table->device, folded->keys, kw, rows, row_bits, fresh->n, fresh->keys,
                             a->stream);
    if (status == HEDDLE_OK)
        status = columns->gather(table->device, folded->firsts, row_bits / 8, rows, row_bits,
                                 fresh->n, fresh->firsts, a->stream);
    return status;
}

/* Adds counts to those that are there: all of both are brought together once more. */
static heddle_status add_up(addition *a, const hd_folded *folded)
{
    heddle_table *table = a->table;
    const hd_engine *engine = table->engine;
    const uint32_t kw = hd_key_width(table), vw = hd_value_width(table);
    char *keys = NULL, *values = NULL;
    uint64_t held = 0;
    hd_folded sum;
    HD_TRY(hd_table_count(table, &held, a->stream));
    HD_TRY(hd_scratch_take(&a->scratch, (held + folded->n) * kw, (void **)&keys));
    HD_TRY(hd_scratch_take(&a->scratch, (held + folded->n) * vw, (void **)&values));
    HD_TRY(hd_graph_unzip(table, &a->scratch, held, keys, values, a->stream));
    HD_TRY(engine->copy(table->device, keys + held * kw, folded->keys, folded->n * kw, a->stream));
    HD_TRY(
        engine->copy(table->device, values + held * vw, folded->values, folded->n * vw, a->stream));
    HD_TRY(hd_graph_fold(table, keys, values, held + folded->n, &a->scratch, &sum, a->stream));
    return renew(a, false, sum.keys, sum.values, sum.n);
}

static heddle_status add_folded(addition *a)
{
    const bool is_set = hd_value_width(a->table) == 0;
    hd_folded folded;
    fresh_keys fresh;
    HD_TRY(hd_graph_fold(a->table, a->keys, a->values, a->n, &a->scratch, &folded, a->stream));
    fresh.n = folded.n;
    fresh.keys = folded.keys;
    fresh.firsts = folded.firsts;
    if (a->keep) HD_TRY(select_fresh(a, &folded, &fresh));
    if (is_set || fresh.n == folded.n) {
        if (!a->keep || fresh.n != 0) HD_TRY(renew(a, a->keep, fresh.keys, folded.values, fresh.n));
    } else {
        HD_TRY(add_up(a, &folded));
    }
    a->counts->at[HD_INSERTED] = fresh.n;
    a->counts->at[is_set ? HD_KEPT : HD_UPDATED] = a->n - fresh.n;
    return note_outcomes(a, is_set ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED, fresh.firsts,
                         folded.row_bits, fresh.n);
}

/* A piece of a batch that is copied to the device, if it is not there, and added. */
static heddle_status add_copied(addition *a, const void *keys, const void *values,
                                uint8_t *outcomes)
{
    heddle_table *table = a->table;
    hd_lent out;
    heddle_status status;
    a->scratch.device = table->device;
    status = hd_lend_in(&a->scratch, keys, a->n * hd_key_width(table), &a->keys, a->stream);
    if (status == HEDDLE_OK)
        status =
            hd_lend_in(&a->scratch, values, a->n * hd_value_width(table), &a->values, a->stream);
    if (status == HEDDLE_OK) status = hd_lend_out(&a->scratch, outcomes, a->n, &out);
    if (status == HEDDLE_OK) {
        a->outcomes = (uint8_t *)out.memory;
        status = add_folded(a);
    }
    if (status == HEDDLE_OK) status = hd_take_back(a->scratch.device, &out, a->stream);
    hd_scratch_free(&a->scratch);
    return status;
}

/* An array from a row on; there may be none. */
static const void *rows_from(const void *array, uint64_t first, uint32_t width)
{
    return array != NULL ? (const char *)array + first * width : NULL;
}

/* Rows [first, first + n) of the batch `all`. */
static heddle_status add_piece(const addition *all, const void *keys, const void *values,
                               uint64_t first, uint64_t n, hd_counts *sums)
{
    const heddle_table *table = all->table;
    hd_counts counts = {{0}};
    addition a = *all;
    uint8_t *outcomes = all->options->outcomes;
    a.n = n;
    a.keep = all->keep || first != 0;
    a.counts = &counts;
    HD_TRY(add_copied(&a, rows_from(keys, first, hd_key_width(table)),
                      rows_from(values, first, hd_value_width(table)),
                      outcomes != NULL ? outcomes + first : NULL));
    for (int i = 0; i < HD_COUNTS; i++) sums->at[i] += counts.at[i];
    return HEDDLE_OK;
}

/* As large pieces as there is memory for, from `piece` on. On failure none is in. */
static heddle_status add_pieces(addition *a, const void *keys, const void *values, uint64_t piece)
{
    const uint64_t share = a->n / PIECES_MAX, least = share > PIECE_MIN ? share : PIECE_MIN;
    hd_graph_before before;
    hd_counts sums = {{0}};
    uint64_t done = 0, pieces = 0;
    heddle_status status = hd_graph_begin(a->table, &before, a->stream);
    if (status != HEDDLE_OK) return status;
    while (done < a->n && status == HEDDLE_OK) {
        const uint64_t n = a->n - done < piece ? a->n - done : piece;
        status = add_piece(a, keys, values, done, n, &sums);
        if (status == HEDDLE_OK) {
            done += n;
            pieces++;
        }
        if (status != HEDDLE_ERROR_NO_MEMORY || n <= least) continue;
        piece = n / 2;
        status = HEDDLE_OK;
    }
    hd_graph_end(a->table, &before, status == HEDDLE_OK, a->stream);
    hd_graph_of(a->table)->pieces = pieces;
    if (status == HEDDLE_OK) *a->counts = sums;
    else if (done != 0) (void)give_outcomes(a, HEDDLE_OUTCOME_FAILED);
    return status;
}

/* A set or a counter: in one go, or in pieces where there is no memory for that. */
static heddle_status add_keys(addition *a, const void *keys, const void *values)
{
    const heddle_status status = add_piece(a, keys, values, 0, a->n, a->counts);
    return status == HEDDLE_ERROR_NO_MEMORY && a->n > PIECE_MIN
               ? add_pieces(a, keys, values, a->n / 2)
               : status;
}

/* ------------------------------------------------------------------------------------ the call */

static heddle_status add(addition *a, const void *keys, const void *values)
{
    heddle_table *table = a->table;
    hd_graph_of(table)->pieces = 1;
    if (table->options.container != HEDDLE_CONTAINER_MULTIMAP) return add_keys(a, keys, values);
    HD_TRY(add_pairs(a, keys, values));
    return table->engine->synchronize(table->device, a->stream);
}

heddle_status hd_graph_insert(heddle_table *table, const void *keys, const void *values, uint64_t n,
                              const heddle_insert_options *options, bool *waited, hd_counts *counts,
                              void *stream)
{
    addition a;
    *waited = true;
    if (n == 0) return HEDDLE_OK;
    memset(&a, 0, sizeof a);
    a.table = table;
    a.options = options;
    a.n = n;
    a.keep = true;
    a.counts = counts;
    a.stream = stream;
    return add(&a, keys, values);
}

heddle_status hd_graph_build(heddle_table *table, const void *keys, const void *values, uint64_t n,
                             const heddle_insert_options *options, hd_counts *counts, void *stream)
{
    addition a;
    memset(&a, 0, sizeof a);
    a.table = table;
    a.options = options;
    a.n = n;
    a.counts = counts;
    a.stream = stream;
    return add(&a, keys, values);
}

heddle_status hd_graph_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    *bytes = 0; /* sets and counters need memory by how many distinct keys there are */
    if (n == 0 || table->options.container != HEDDLE_CONTAINER_MULTIMAP) return HEDDLE_OK;
    return hd_graph_workspace(table, n, bytes);
}
