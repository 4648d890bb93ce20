/*
 * retrieve.c: count and retrieve for tables of slots. Where keys have one value or none it is what find
 * says, in the shape of the calls that are made for multimaps. Scratch memory: a flag, a row number and
 * a value for every key of the batch.
 */
#include <string.h>

#include "base/error.h"
#include "host/lent.h"
#include "table/multi_query.h"
#include "table/slots/slots.h"

/* --------------------------------------------------------------------------------------- multimaps */

static hd_batch batch_of(const hd_multi_batch *from)
{
    hd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.keys = from->keys;
    batch.n = from->n;
    batch.counts = from->counts;
    batch.matches = from->matches;
    batch.places = from->places;
    batch.values_out = from->values_out;
    return batch;
}

static heddle_status count_many(heddle_table *table, const hd_multi_batch *keys, void *stream)
{
    const hd_batch batch = batch_of(keys);
    return hd_slots(table)->ops->count(table->device, &hd_slots(table)->storage.view, &batch,
                                       stream);
}

static heddle_status retrieve_many(heddle_table *table, const hd_multi_batch *keys, void *stream)
{
    const hd_batch batch = batch_of(keys);
    return hd_slots(table)->ops->retrieve(table->device, &hd_slots(table)->storage.view, &batch,
                                          stream);
}

static const hd_multi_search many = {count_many, retrieve_many};

/* --------------------------------------------------------------------------------- one value or none */

/* A batch looked up, and which of its keys were found. */
typedef struct lookup {
    heddle_table *table;
    uint64_t n;
    hd_scratch scratch;
    uint8_t *found;
    uint64_t *rows;  /* of the keys that were found */
    uint64_t *count; /* how many; device memory */
    uint64_t hits;   /* the same, on the host */
    void *work;
    void *stream;
} lookup;

static heddle_status look_up(lookup *l, heddle_table *table, const void *keys, uint64_t n,
                             bool values, void **found_values, heddle_totals *totals, void *stream)
{
    const hd_column_ops *columns = table->engine->columns;
    memset(l, 0, sizeof *l);
    l->table = table;
    l->n = n;
    l->scratch.device = table->device;
    l->stream = stream;
    if (columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot count and retrieve");
    HD_TRY(hd_scratch_take(&l->scratch, n, (void **)&l->found));
    if (values) HD_TRY(hd_scratch_take(&l->scratch, n * hd_value_width(table), found_values));
    HD_TRY(hd_scratch_take(&l->scratch, n * sizeof *l->rows, (void **)&l->rows));
    HD_TRY(hd_scratch_take(&l->scratch, sizeof *l->count, (void **)&l->count));
    HD_TRY(hd_scratch_take(&l->scratch, columns->work(table->device, n), &l->work));
    HD_TRY(hd_slots_find(table, keys, n, values ? *found_values : NULL, l->found, totals, stream));
    HD_TRY(
        columns->select(table->device, l->found, n, true, l->rows, 64, l->count, l->work, stream));
    return hd_read_back(table, &l->hits, l->count, sizeof l->hits, stream);
}

heddle_status hd_slots_count(heddle_table *table, const void *keys, uint64_t n, uint64_t *matches,
                             heddle_totals *totals, void *stream)
{
    hd_lent out;
    lookup l;
    heddle_status status;
    if (hd_is_multimap(table))
        return hd_multi_count(table, &many, keys, n, matches, totals, stream);
    status = look_up(&l, table, keys, n, false, NULL, totals, stream);
    if (status == HEDDLE_OK) status = hd_lend_out(&l.scratch, matches, n * sizeof *matches, &out);
    if (status == HEDDLE_OK && n != 0)
        status = table->engine->fill(table->device, out.memory, 0, out.bytes, stream);
    if (status == HEDDLE_OK && l.hits != 0)
        status = table->engine->columns->scatter(table->device, NULL, sizeof *matches, l.rows, 64,
                                                 l.hits, out.memory, stream);
    if (status == HEDDLE_OK) status = hd_take_back(l.scratch.device, &out, stream);
    hd_scratch_free(&l.scratch);
    return status;
}

/* A key's values begin behind as many as keys before it were found. */
static heddle_status write_offsets(lookup *l, uint64_t *offsets)
{
    heddle_table *table = l->table;
    hd_lent out;
    HD_TRY(hd_lend_out(&l->scratch, offsets, (l->n + 1) * sizeof *offsets, &out));
    HD_TRY(table->engine->columns->rank(table->device, l->found, l->n, out.memory, 64, l->work,
                                        l->stream));
    HD_TRY(table->engine->copy(table->device, (uint64_t *)out.memory + l->n, &l->hits,
                               sizeof l->hits, l->stream));
    return hd_take_back(l->scratch.device, &out, l->stream);
}

static heddle_status write_values(lookup *l, const void *found_values, void *values)
{
    heddle_table *table = l->table;
    hd_lent out;
    HD_TRY(hd_lend_out(&l->scratch, values, l->hits * hd_value_width(table), &out));
    if (l->hits != 0)
        HD_TRY(table->engine->columns->gather(table->device, found_values, hd_value_width(table),
                                              l->rows, 64, l->hits, out.memory, l->stream));
    return hd_take_back(l->scratch.device, &out, l->stream);
}

heddle_status hd_slots_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                uint64_t *offsets, void *values, uint64_t capacity, uint64_t *count,
                                void *stream)
{
    void *found_values = NULL;
    lookup l;
    heddle_status status;
    if (hd_is_multimap(table))
        return hd_multi_retrieve(table, &many, keys, n, offsets, values, capacity, count, stream);
    status = look_up(&l, table, keys, n, values != NULL, &found_values, NULL, stream);
    if (status == HEDDLE_OK) status = write_offsets(&l, offsets);
    if (status == HEDDLE_OK) *count = l.hits;
    if (status == HEDDLE_OK && values != NULL)
        status = l.hits > capacity
                     ? hd_fail(HEDDLE_ERROR_TOO_SMALL,
                               "retrieve: %llu values do not fit into an array of %llu",
                               (unsigned long long)l.hits, (unsigned long long)capacity)
                     : write_values(&l, found_values, values);
    hd_scratch_free(&l.scratch);
    return status;
}
