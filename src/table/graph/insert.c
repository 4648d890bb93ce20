/*
 * insert.c: build and insert for graphs. A multimap takes all pairs as they come. A set and a
 * counter first bring the equal keys of the batch together; then a set adds those that it does not
 * have, and a counter adds up where it has some of them. Where there is no memory to do that with
 * the whole batch, it is done with one piece after the other.
 */
#include <string.h>

#include "base/error.h"
#include "table/graph/graph.h"

/*
 * Pieces of a batch have so many keys at least, and are so many at most: each makes the graph anew.
 */
#define PIECE_MIN (UINT64_C(1) << 14)
#define PIECES_MAX 1024

/* One call of build or insert, or a piece of it. */
typedef struct addition {
    heddle_table *table;
    hd_request *r; /* counts are set in it */
    bool keep;     /* insert, not build */
    hd_scratch *scratch;
    uint8_t *outcomes; /* device memory, NULL when nobody asks */
} addition;

/*
 * The table's graph made anew from n pairs, in memory anywhere; with `keep` from its own pairs too.
 */
static heddle_status renew(const addition *a, bool keep, const hd_request *pairs)
{
    hd_graph_feed feed;
    memset(&feed, 0, sizeof feed);
    feed.keys = pairs->keys;
    feed.values = pairs->values;
    feed.n = pairs->n;
    feed.keep = keep;
    feed.seed = a->table->options.seed;
    feed.workspace = a->r->options.workspace;
    feed.workspace_bytes = a->r->options.workspace_bytes;
    /* Sets and counters have had memory of their own to bring keys together. */
    feed.bounded = a->table->options.container == HEDDLE_CONTAINER_MULTIMAP;
    return hd_graph_renew(a->table, &feed, a->r->stream);
}

/* Gives the caller the same outcome for all rows, wherever it wants them. */
static heddle_status give_outcomes(const heddle_table *table, const hd_request *r, uint8_t outcome)
{
    uint8_t *outcomes = r->options.outcomes;
    if (outcomes == NULL || r->n == 0) return HEDDLE_OK;
    if (hd_is_direct(table->device, outcomes))
        return table->engine->fill(table->device, outcomes, outcome, r->n, r->stream);
    memset(outcomes, outcome, r->n);
    return HEDDLE_OK;
}

/* A multimap: all pairs come in, wherever they lie, and every outcome is the same. */
static heddle_status add_pairs(const addition *a)
{
    HD_TRY(renew(a, a->keep, a->r));
    a->r->counts.at[HD_INSERTED] = a->r->n;
    HD_TRY(give_outcomes(a->table, a->r, HEDDLE_OUTCOME_INSERTED));
    return a->table->engine->synchronize(a->table->device, a->r->stream);
}

/* ------------------------------------------------------------------------------ sets, counters */

/* The keys of a batch that the table does not have yet. */
typedef struct fresh_keys {
    uint64_t n;
    void *keys;
    void *firsts;
} fresh_keys;

/* All rows are `old` except the first ones of the keys that came in. */
static heddle_status note_outcomes(const addition *a, uint8_t old, const fresh_keys *fresh,
                                   uint32_t row_bits)
{
    const hd_engine *engine = a->table->engine;
    heddle_device *device = a->table->device;
    if (a->outcomes == NULL) return HEDDLE_OK;
    if (a->r->n != 0) HD_TRY(engine->fill(device, a->outcomes, old, a->r->n, a->r->stream));
    _Static_assert(HEDDLE_OUTCOME_INSERTED == 1, "scatter without values writes ones");
    return fresh->n == 0 ? HEDDLE_OK
                         : engine->columns->scatter(
                               hd_on(device, NULL, a->r->stream), hd_elements_of(NULL, 1),
                               hd_at_rows(fresh->firsts, row_bits, fresh->n), a->outcomes);
}

/* Marks the folded keys that the table has. */
static heddle_status look_up(const addition *a, const hd_folded *folded, uint8_t *found)
{
    heddle_table *table = a->table;
    const hd_graph_table *t = hd_graph_of(table);
    HD_CALL(call);
    hd_graph_batch batch;
    HD_TRY(hd_call_begin(table, true, a->r->stream, &call));
    memset(&batch, 0, sizeof batch);
    batch.keys = folded->keys;
    batch.n = folded->n;
    batch.found = found;
    batch.counts = call.counts;
    return t->ops->look(table->device, &t->storage.graph, &batch, a->r->stream);
}

static heddle_status select_fresh(const addition *a, const hd_folded *folded, fresh_keys *fresh)
{
    heddle_table *table = a->table;
    heddle_device *device = table->device;
    const hd_column_ops *columns = table->engine->columns;
    const uint32_t row_bits = folded->row_bits, kw = hd_key_width(table);
    void *stream = a->r->stream;
    hd_site on = hd_on(device, NULL, stream);
    uint8_t *found = NULL;
    uint64_t *count = NULL;
    void *rows = NULL;
    HD_TRY(hd_scratch_take(a->scratch, folded->n, (void **)&found));
    HD_TRY(hd_scratch_take(a->scratch, sizeof *count, (void **)&count));
    HD_TRY(hd_scratch_take(a->scratch, folded->n * row_bits / 8, &rows));
    HD_TRY(hd_scratch_take(a->scratch, columns->work(device, folded->n), &on.work));
    HD_TRY(look_up(a, folded, found));
    HD_TRY(columns->select(on, hd_flags_of(found, folded->n, false), rows, row_bits, count));
    HD_TRY(hd_read_back(table, &fresh->n, count, sizeof *count, stream));
    HD_TRY(hd_scratch_take(a->scratch, fresh->n * kw, &fresh->keys));
    HD_TRY(hd_scratch_take(a->scratch, fresh->n * row_bits / 8, &fresh->firsts));
    if (fresh->n == 0) return HEDDLE_OK;
    HD_TRY(columns->gather(on, hd_elements_of(folded->keys, kw),
                           hd_at_rows(rows, row_bits, fresh->n), fresh->keys));
    return columns->gather(on, hd_elements_of(folded->firsts, row_bits / 8),
                           hd_at_rows(rows, row_bits, fresh->n), fresh->firsts);
}

/* Adds counts to those that are there: all of both are brought together once more. */
static heddle_status add_up(const addition *a, const hd_folded *folded)
{
    heddle_table *table = a->table;
    const hd_engine *engine = table->engine;
    const uint32_t kw = hd_key_width(table), vw = hd_value_width(table);
    void *stream = a->r->stream;
    hd_graph_pairs held = {table, 0, a->scratch, stream};
    hd_request both = {.stream = stream}, sums = both;
    char *keys = NULL, *values = NULL;
    hd_folded sum;
    HD_TRY(hd_table_count(table, &held.live, stream));
    both.n = held.live + folded->n;
    HD_TRY(hd_scratch_take(a->scratch, both.n * kw, (void **)&keys));
    HD_TRY(hd_scratch_take(a->scratch, both.n * vw, (void **)&values));
    HD_TRY(hd_graph_unzip(&held, keys, values));
    HD_TRY(
        engine->copy(table->device, keys + held.live * kw, folded->keys, folded->n * kw, stream));
    HD_TRY(engine->copy(table->device, values + held.live * vw, folded->values, folded->n * vw,
                        stream));
    both.keys = keys;
    both.values = values;
    HD_TRY(hd_graph_fold(table, &both, a->scratch, &sum));
    sums.keys = sum.keys;
    sums.values = sum.values;
    sums.n = sum.n;
    return renew(a, false, &sums);
}

/* `r` has the batch in device memory. */
static heddle_status add_folded(const addition *a, const hd_request *r)
{
    const bool is_set = hd_value_width(a->table) == 0;
    hd_request pairs = {.stream = r->stream};
    hd_folded folded;
    HD_TRY(hd_graph_fold(a->table, r, a->scratch, &folded));
    fresh_keys fresh = {folded.n, folded.keys, folded.firsts};
    if (a->keep) HD_TRY(select_fresh(a, &folded, &fresh));
    pairs.keys = fresh.keys;
    pairs.values = folded.values;
    pairs.n = fresh.n;
    if (!is_set && fresh.n != folded.n) HD_TRY(add_up(a, &folded));
    else if (!a->keep || fresh.n != 0) HD_TRY(renew(a, a->keep, &pairs));
    a->r->counts.at[HD_INSERTED] = fresh.n;
    a->r->counts.at[is_set ? HD_KEPT : HD_UPDATED] = r->n - fresh.n;
    return note_outcomes(a, is_set ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED, &fresh,
                         folded.row_bits);
}

/* A piece of a batch is copied to the device, if it is not there, and added. */
static heddle_status add_piece(heddle_table *table, hd_request *r, bool keep)
{
    HD_SCRATCH(scratch, table->device);
    addition a = {table, r, keep, &scratch, NULL};
    hd_request copied = *r;
    hd_lent out;
    HD_TRY(hd_lend_in(&scratch, r->keys, r->n * hd_key_width(table), &copied.keys, r->stream));
    HD_TRY(
        hd_lend_in(&scratch, r->values, r->n * hd_value_width(table), &copied.values, r->stream));
    HD_TRY(hd_lend_out(&scratch, r->options.outcomes, r->n, &out));
    a.outcomes = (uint8_t *)out.memory;
    HD_TRY(add_folded(&a, &copied));
    return hd_take_back(table->device, &out, r->stream);
}

/* As large pieces as there is memory for; those that are in count. */
static heddle_status add_pieces(heddle_table *table, hd_request *r, bool keep, uint64_t *pieces)
{
    const uint64_t share = r->n / PIECES_MAX, least = share > PIECE_MIN ? share : PIECE_MIN;
    uint64_t done = 0, piece = r->n / 2;
    while (done < r->n) {
        const uint64_t n = r->n - done < piece ? r->n - done : piece;
        hd_request part = hd_request_part(table, r, done, n);
        const heddle_status status = add_piece(table, &part, keep || done != 0);
        if (status == HEDDLE_ERROR_NO_MEMORY && n > least) {
            piece = n / 2;
            continue;
        }
        HD_TRY(status);
        hd_counts_add(&r->counts, &part.counts);
        done += n;
        ++*pieces;
    }
    return HEDDLE_OK;
}

/*
 * A set or a counter: in one go, or in pieces where there is no memory for that. On failure none is
 * in.
 */
static heddle_status add_keys(heddle_table *table, hd_request *r, bool keep)
{
    hd_graph_before before;
    uint64_t pieces = 0;
    heddle_status status = add_piece(table, r, keep);
    if (status != HEDDLE_ERROR_NO_MEMORY || r->n <= PIECE_MIN) return status;
    HD_TRY(hd_graph_begin(table, &before, r->stream));
    memset(&r->counts, 0, sizeof r->counts);
    status = add_pieces(table, r, keep, &pieces);
    hd_graph_end(table, &before, status == HEDDLE_OK, r->stream);
    hd_graph_of(table)->pieces = pieces;
    return status;
}

/* ------------------------------------------------------------------------------------ the call */

/* A call that failed has left nothing in the table: all of its rows have failed. */
static void note_failure(const heddle_table *table, hd_request *r)
{
    const heddle_insert_options *o = &r->options;
    memset(&r->counts, 0, sizeof r->counts);
    r->counts.at[HD_FAILED] = r->n;
    (void)give_outcomes(table, r, HEDDLE_OUTCOME_FAILED);
    (void)table->engine->synchronize(table->device, r->stream);
    if (!hd_failed_wanted(o)) return;
    for (uint64_t i = 0; i < r->n && i < o->failed_capacity; i++) o->failed[i] = i;
}

static heddle_status add(heddle_table *table, hd_request *r, bool keep)
{
    const addition a = {table, r, keep, NULL, NULL};
    heddle_status status;
    r->waits = true;
    hd_graph_of(table)->pieces = 1;
    status = table->options.container == HEDDLE_CONTAINER_MULTIMAP ? add_pairs(&a)
                                                                   : add_keys(table, r, keep);
    if (status != HEDDLE_OK) note_failure(table, r);
    return status;
}

heddle_status hd_graph_insert(heddle_table *table, hd_request *r)
{
    if (r->n != 0) return add(table, r, true);
    r->waits = true;
    return HEDDLE_OK;
}

heddle_status hd_graph_build(heddle_table *table, hd_request *r) { return add(table, r, false); }

heddle_status hd_graph_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    *bytes = 0; /* sets and counters need memory by how many distinct keys there are */
    if (n == 0 || table->options.container != HEDDLE_CONTAINER_MULTIMAP) return HEDDLE_OK;
    return hd_graph_workspace(table, n, bytes);
}
