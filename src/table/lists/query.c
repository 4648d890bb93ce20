/*
 * query.c: looking keys up in bucket lists, and erasing them. The table of keys names the list of
 * every key of a batch; the rest is asked of the lists. Scratch memory: the number of a list for
 * every key, and copies of host arrays. Where there is none for all keys, they come in pieces.
 * Every call waits.
 */
#include <string.h>

#include "base/error.h"
#include "table/lists/lists.h"
#include "table/pieces.h"

/* A batch looked up. */
typedef struct query {
    heddle_table *table;
    hd_request ask; /* of the table of keys: keys in device memory, and its counts */
    uint64_t *numbers;
    hd_scratch *scratch;
} query;

/* Finds the lists of all keys. */
static heddle_status look_up(query *q, const hd_request *r, uint8_t *found)
{
    heddle_table *table = q->table;
    q->ask.n = r->n;
    q->ask.found = found;
    q->ask.stream = r->stream;
    HD_TRY(hd_lend_in(q->scratch, r->keys, r->n * hd_key_width(table), &q->ask.keys, r->stream));
    HD_TRY(hd_scratch_take(q->scratch, r->n * sizeof *q->numbers, (void **)&q->numbers));
    return hd_lists_numbers(table, &hd_lists(table)->storage, &q->ask, q->numbers);
}

/* The sums of the lookup are those of the call. */
static void report(hd_request *r, const hd_counts *counts)
{
    r->waits = true;
    hd_counts_add(&r->counts, counts);
}

static hd_list_pool pool_of(const heddle_table *table)
{
    return hd_lists_pool(table, &hd_lists(table)->storage, HD_LIST_CHUNKS);
}

/*
 * -------------------------------------------------------------------------------- find and
 * contains
 */

/* The lists are not needed to know whether a key is there. */
static heddle_status contains(const heddle_table *table, hd_request *r)
{
    heddle_table *keys = hd_lists(table)->storage.keys;
    r->waits = true;
    return keys->kind->find(keys, r);
}

/* hd_query_work: one value of every key that is there, over what was there before. */
static heddle_status find(heddle_table *table, hd_request *r)
{
    const uint64_t bytes = r->n * hd_value_width(table);
    const hd_list_pool pool = pool_of(table);
    HD_SCRATCH(scratch, table->device);
    query q = {.table = table, .scratch = &scratch};
    hd_lent out;
    HD_TRY(look_up(&q, r, r->found));
    HD_TRY(hd_lend_out(&scratch, r->values_out, bytes, &out));
    if (out.memory != out.user)
        HD_TRY(table->engine->copy(table->device, out.memory, out.user, bytes, r->stream));
    if (r->n != 0)
        HD_TRY(hd_lists(table)->ops->first(hd_on(table->device, NULL, r->stream), &pool,
                                           hd_list_numbers_of(q.numbers, r->n), out.memory));
    HD_TRY(hd_take_back(table->device, &out, r->stream));
    report(r, &q.ask.counts);
    return HEDDLE_OK;
}

heddle_status hd_lists_find(heddle_table *table, hd_request *r)
{
    return r->values_out == NULL ? contains(table, r) : hd_query_in_pieces(table, r, find);
}

/*
 * --------------------------------------------------------------------------------- count, retrieve
 */

/* hd_query_work */
static heddle_status count_values(heddle_table *table, hd_request *r)
{
    const hd_list_pool pool = pool_of(table);
    HD_SCRATCH(scratch, table->device);
    query q = {.table = table, .scratch = &scratch};
    hd_lent out;
    HD_TRY(look_up(&q, r, NULL));
    HD_TRY(hd_lend_out(&scratch, r->matches, r->n * sizeof *r->matches, &out));
    if (r->n != 0)
        HD_TRY(hd_lists(table)->ops->lengths(hd_on(table->device, NULL, r->stream), &pool,
                                             hd_list_numbers_of(q.numbers, r->n),
                                             (uint64_t *)out.memory));
    HD_TRY(hd_take_back(table->device, &out, r->stream));
    report(r, &q.ask.counts);
    return HEDDLE_OK;
}

heddle_status hd_lists_count(heddle_table *table, hd_request *r)
{
    return hd_query_in_pieces(table, r, count_values);
}

/* Where the values of every key begin, in device memory, and how many there are. */
static heddle_status find_offsets(const query *q, uint64_t *offsets, uint64_t *count)
{
    heddle_table *table = q->table;
    const uint64_t n = q->ask.n;
    void *stream = q->ask.stream;
    const hd_column_ops *columns = table->engine->columns;
    const hd_list_pool pool = pool_of(table);
    hd_site on = hd_on(table->device, NULL, stream);
    HD_TRY(hd_scratch_take(q->scratch, columns->work(table->device, n), &on.work));
    if (n != 0)
        HD_TRY(
            hd_lists(table)->ops->lengths(on, &pool, hd_list_numbers_of(q->numbers, n), offsets));
    HD_TRY(columns->scan(on, offsets, n));
    return hd_read_back(table, count, offsets + n, sizeof *count, stream);
}

static heddle_status write_values(const query *q, const uint64_t *offsets, const hd_request *r)
{
    heddle_table *table = q->table;
    const hd_list_pool pool = pool_of(table);
    const uint64_t count = *r->count;
    hd_lent out;
    HD_TRY(hd_lend_out(q->scratch, r->values_out, count * hd_value_width(table), &out));
    if (count != 0) {
        const hd_list_fetch all = {q->numbers, offsets, r->n, 0, count, out.memory, NULL, 0, NULL};
        HD_TRY(hd_lists(table)->ops->fetch(hd_on(table->device, NULL, r->stream), &pool, &all));
    }
    return hd_take_back(table->device, &out, r->stream);
}

/* hd_query_work */
static heddle_status retrieve(heddle_table *table, hd_request *r)
{
    HD_SCRATCH(scratch, table->device);
    query q = {.table = table, .scratch = &scratch};
    hd_lent out;
    HD_TRY(look_up(&q, r, NULL));
    HD_TRY(hd_lend_out(&scratch, r->offsets, (r->n + 1) * sizeof *r->offsets, &out));
    HD_TRY(find_offsets(&q, (uint64_t *)out.memory, r->count));
    HD_TRY(hd_take_back(table->device, &out, r->stream));
    if (!r->offsets_known) report(r, &q.ask.counts);
    r->offsets_known = true;
    if (r->values_out == NULL) return HEDDLE_OK;
    HD_TRY(hd_retrieve_fits(r));
    return write_values(&q, (const uint64_t *)out.memory, r);
}

heddle_status hd_lists_retrieve(heddle_table *table, hd_request *r)
{
    return hd_retrieve_in_pieces(table, r, retrieve);
}

/*
 * ------------------------------------------------------------------------------------------- erase
 */

#define ERASE_MIN (UINT64_C(1) << 10) /* keys of a piece, at least */

/* An erasure: so many keys at a time, in memory that is taken before any of them goes. */
typedef struct erasure {
    heddle_table *table;
    hd_scratch *scratch;
    uint64_t piece;
    void *keys;        /* NULL: the device can read the caller's */
    uint8_t *found;    /* NULL: it can write to the caller's */
    uint64_t *numbers; /* of lists */
    uint64_t *sums;
} erasure;

static heddle_status take_memory(erasure *e, const hd_request *r)
{
    heddle_device *device = e->table->device;
    e->keys = NULL;
    e->found = NULL;
    if (!hd_is_direct(device, r->keys))
        HD_TRY(hd_scratch_take(e->scratch, e->piece * hd_key_width(e->table), &e->keys));
    if (r->found == NULL || !hd_is_direct(device, r->found))
        HD_TRY(hd_scratch_take(e->scratch, e->piece, (void **)&e->found));
    HD_TRY(hd_scratch_take(e->scratch, e->piece * sizeof *e->numbers, (void **)&e->numbers));
    return hd_scratch_take(e->scratch, 2 * sizeof *e->sums, (void **)&e->sums);
}

/* For as large pieces as there is memory for. */
static heddle_status choose_piece(erasure *e, const hd_request *r)
{
    for (e->piece = r->n;; e->piece /= 2) {
        const heddle_status status = take_memory(e, r);
        if (status != HEDDLE_ERROR_NO_MEMORY || e->piece / 2 < ERASE_MIN) return status;
        hd_scratch_free(e->scratch);
    }
}

/* Ends the lists of the keys that `found` says are gone. */
static heddle_status bury(const erasure *e, const hd_request *r)
{
    heddle_table *table = e->table;
    hd_lists_storage *storage = &hd_lists(table)->storage;
    const hd_list_pool pool = pool_of(table);
    uint64_t read[2] = {0, 0};
    HD_TRY(table->engine->fill(table->device, e->sums, 0, sizeof read, r->stream));
    HD_TRY(hd_lists(table)->ops->bury(hd_on(table->device, NULL, r->stream), &pool,
                                      hd_list_numbers_of(e->numbers, r->n), r->found, e->sums));
    HD_TRY(hd_read_back(table, read, e->sums, sizeof read, r->stream));
    storage->pairs -= read[0];
    storage->dead += read[1];
    return hd_table_set_count(table, storage->pairs, r->stream);
}

/* A piece whose keys and flags are where the device can use them. */
static heddle_status erase_here(const erasure *e, hd_request *r)
{
    hd_lists_storage *storage = &hd_lists(e->table)->storage;
    hd_request ask = {.keys = r->keys, .n = r->n, .stream = r->stream};
    HD_TRY(hd_lists_numbers(e->table, storage, &ask, e->numbers));
    r->waits = true;
    HD_TRY(storage->keys->kind->erase(storage->keys, r));
    storage->key_count -= r->counts.at[HD_FOUND];
    return bury(e, r);
}

/* A piece of the caller's request. */
static heddle_status erase_piece(const erasure *e, hd_request *r)
{
    const hd_engine *engine = e->table->engine;
    heddle_device *device = e->table->device;
    hd_request here = *r;
    if (e->keys != NULL) {
        here.keys = e->keys;
        HD_TRY(engine->copy(device, e->keys, r->keys, r->n * hd_key_width(e->table), r->stream));
    }
    if (e->found != NULL) here.found = e->found;
    HD_TRY(erase_here(e, &here));
    r->counts = here.counts;
    if (r->found != NULL && e->found != NULL)
        HD_TRY(engine->copy(device, r->found, e->found, r->n, r->stream));
    return engine->synchronize(device, r->stream);
}

heddle_status hd_lists_erase(heddle_table *table, hd_request *r)
{
    HD_SCRATCH(scratch, table->device);
    erasure e = {.table = table, .scratch = &scratch};
    r->waits = true;
    HD_TRY(hd_lists_catch_up(table, true, r->stream));
    HD_TRY(choose_piece(&e, r));
    for (uint64_t first = 0; first < r->n; first += e.piece) {
        const uint64_t left = r->n - first;
        hd_request piece = hd_request_part(table, r, first, left < e.piece ? left : e.piece);
        HD_TRY(erase_piece(&e, &piece));
        hd_counts_add(&r->counts, &piece.counts);
    }
    return HEDDLE_OK;
}
