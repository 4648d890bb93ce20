/*
 * runs.c: a batch as runs of equal keys, and runs of values added to bucket lists.
 *
 * The engine groups the rows of a batch, and every group is a run. Scratch memory: what
 * table/batch_groups.h takes, and a row number and a key for every run. Then the new buckets are
 * measured and memory for them is made sure of; keys without a list get one; every run claims its
 * room, and the values are copied. Up to the claims a failure leaves everything as it was.
 */
#include <string.h>

#include "base/error.h"
#include "table/batch_groups.h"
#include "table/lists/lists.h"

/*
 * ---------------------------------------------------------------------------------------- grouping
 */

/* The key of every run. */
static heddle_status find_keys(hd_list_addition *a, const hd_grouped *grouped, const void *keys)
{
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    const hd_site on = hd_on(table->device, NULL, a->stream);
    const uint32_t kw = hd_key_width(table);
    void *firsts = NULL, *run_keys = NULL;
    HD_TRY(hd_scratch_take(a->scratch, a->runs.count * a->rows.row_bits / 8, &firsts));
    HD_TRY(hd_scratch_take(a->scratch, a->runs.count * kw, &run_keys));
    a->keys = run_keys;
    HD_TRY(columns->describe(on, grouped, firsts, NULL, NULL));
    return columns->gather(on, hd_elements_of(keys, kw),
                           hd_at_rows(firsts, a->rows.row_bits, a->runs.count), run_keys);
}

heddle_status hd_lists_group(hd_list_addition *a, const hd_request *pairs)
{
    hd_batch_groups groups;
    const hd_grouped *grouped = &groups.grouped;
    hd_mix mix;
    hd_mix_init(&mix, a->table->options.seed);
    a->rows.values = pairs->values;
    a->rows.n = pairs->n;
    HD_TRY(hd_batch_group(a->table, pairs, &mix, a->scratch, &groups));
    a->rows.rows = grouped->rows;
    a->rows.row_bits = grouped->row_bits;
    a->runs.starts = grouped->starts;
    a->runs.count = grouped->groups;
    return find_keys(a, grouped, pairs->keys);
}

/* The lists of all runs as far as they have one; the request's counts say how many have. */
static heddle_status number_runs(hd_list_addition *a, hd_request *ask)
{
    memset(ask, 0, sizeof *ask);
    ask->keys = a->keys;
    ask->n = a->runs.count;
    ask->stream = a->stream;
    return hd_lists_numbers(a->table, a->storage, ask, a->runs.numbers);
}

/*
 * --------------------------------------------------------------------------------------- new lists
 */

/*
 * Room in the table of keys for so many more. It doubles, so that many small batches do not move it
 * each time.
 */
static heddle_status make_room_for_keys(hd_list_addition *a, uint64_t more)
{
    heddle_table *keys = a->storage->keys;
    const uint64_t needed = a->storage->key_count + more;
    if (!a->grows) {
        keys->options.flags |= HEDDLE_FLAG_FIXED;
        return HEDDLE_OK;
    }
    keys->options.flags &= ~HEDDLE_FLAG_FIXED;
    if ((double)needed <= keys->options.load * (double)keys->options.capacity) return HEDDLE_OK;
    return heddle_table_reserve(
        keys, needed > 2 * a->storage->key_count ? needed : 2 * a->storage->key_count, a->stream);
}

/* Puts m keys with their list numbers into the table of keys, or none. */
static heddle_status insert_keys(hd_list_addition *a, const void *keys, const uint64_t *numbers,
                                 uint64_t m)
{
    heddle_table *table = a->storage->keys;
    hd_request r = {.keys = keys, .values = numbers, .n = m, .waits = true};
    const heddle_insert_options defaults = HEDDLE_INSERT_OPTIONS_INIT;
    r.options = defaults;
    r.stream = a->stream;
    const heddle_status status = table->kind->insert(table, &r);
    if (status == HEDDLE_OK || status == HEDDLE_ERROR_FULL) {
        a->storage->key_count += r.counts.at[HD_INSERTED];
        a->probes += r.counts.at[HD_PROBES];
        return status;
    }
    /* The keys were not there before: all of them may go. */
    table->kind->erase(table, &r);
    return status;
}

/* The flagged runs' keys and list numbers, m of them, into the table of keys. */
static heddle_status insert_flagged(hd_list_addition *a, const uint64_t *rows, uint64_t m)
{
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    const hd_site on = hd_on(table->device, NULL, a->stream);
    const hd_row_numbers flagged = hd_at_rows(rows, 64, m);
    void *keys = NULL, *numbers = NULL;
    HD_TRY(hd_scratch_take(a->scratch, m * hd_key_width(table), &keys));
    HD_TRY(hd_scratch_take(a->scratch, m * sizeof(uint64_t), &numbers));
    if (a->grows) HD_TRY(hd_lists_add_records(table, a->storage, m, a->stream));
    HD_TRY(make_room_for_keys(a, m));
    HD_TRY(columns->gather(on, hd_elements_of(a->keys, hd_key_width(table)), flagged, keys));
    HD_TRY(
        columns->gather(on, hd_elements_of(a->runs.numbers, sizeof(uint64_t)), flagged, numbers));
    /* as appends expect them */
    HD_TRY(table->engine->fill(table->device, a->storage->records + a->storage->records_used, 0,
                               m * sizeof *a->storage->records, a->stream));
    return insert_keys(a, keys, (const uint64_t *)numbers, m);
}

/* Flags the runs that are to have a list, numbers these lists, and gives the rows of the m runs. */
static heddle_status number_fresh(hd_list_addition *a, uint64_t **rows, uint64_t *m)
{
    heddle_table *table = a->table;
    const hd_list_ops *ops = hd_lists(table)->ops;
    const hd_column_ops *columns = table->engine->columns;
    hd_site on = hd_on(table->device, NULL, a->stream);
    const uint64_t n = a->runs.count;
    uint8_t *flags = NULL;
    uint64_t *ranks = NULL, *count = NULL;
    const hd_list_need needs[] = {
        {n, (void **)&flags},
        {n * sizeof *ranks, (void **)&ranks},
        {n * sizeof **rows, (void **)rows},
        {sizeof *count, (void **)&count},
        {columns->work(table->device, n), &on.work},
    };
    HD_TRY(HD_LISTS_TAKE(a->scratch, needs));
    HD_TRY(ops->flag_fresh(on, &a->runs, flags));
    HD_TRY(columns->rank(on, flags, n, ranks, 64));
    HD_TRY(columns->select(on, hd_flags_of(flags, n, true), *rows, 64, count));
    HD_TRY(ops->number(on, &a->runs, flags, ranks, a->storage->records_used));
    return hd_read_back(table, m, count, sizeof *m, a->stream);
}

heddle_status hd_lists_admit(hd_list_addition *a, bool twice)
{
    const uint64_t room = a->storage->records_room - a->storage->records_used;
    uint64_t *rows = NULL, m = 0;
    heddle_status status = HEDDLE_OK;
    bool cut = false; /* not all of them can have a list */
    hd_request ask;
    HD_TRY(number_fresh(a, &rows, &m));
    if (m == 0) return HEDDLE_OK;
    if (!a->grows && m > room) {
        m = room;
        cut = true;
    }
    if (m != 0) status = insert_flagged(a, rows, m);
    if (status != HEDDLE_OK && status != HEDDLE_ERROR_FULL) return status;
    if (status == HEDDLE_ERROR_FULL || cut || twice) /* some have no list, or another one */
        HD_TRY(number_runs(a, &ask));
    a->storage->records_used += m;
    return HEDDLE_OK;
}

/*
 * ------------------------------------------------------------------------------------------- room
 */

/* How many units all runs need; units become places. */
static heddle_status measure(hd_list_addition *a, void *work, uint64_t *need)
{
    heddle_table *table = a->table;
    const hd_site on = hd_on(table->device, work, a->stream);
    const hd_list_pool pool = hd_lists_pool(table, a->storage, HD_LIST_CHUNKS);
    HD_TRY(hd_lists(table)->ops->measure(on, &pool, &a->runs));
    HD_TRY(table->engine->columns->scan(on, a->runs.units, a->runs.count));
    return hd_read_back(table, need, a->runs.units + a->runs.count, sizeof *need, a->stream);
}

static uint64_t units_left(const hd_lists_storage *storage, uint32_t chunk)
{
    return chunk < storage->chunk_count ? storage->chunks[chunk].room - storage->chunks[chunk].used
                                        : 0;
}

/* A chunk with so many units left, or where nothing grows with as many as there are. */
static heddle_status find_chunk(hd_list_addition *a, uint64_t need, uint32_t *chunk)
{
    *chunk = hd_lists_chunk(a->storage, need);
    if (need <= units_left(a->storage, *chunk) || !a->grows) return HEDDLE_OK;
    HD_TRY(hd_lists_add_chunk(a->table, a->storage, need));
    if (a->storage->chunk_count > 1) a->table->growths++;
    *chunk = a->storage->chunk_count - 1;
    return HEDDLE_OK;
}

/* By the growth rule if there is memory for that, else as little as will do. */
static heddle_status secure_room(hd_list_addition *a, uint32_t *chunk, uint64_t *need)
{
    const hd_column_ops *columns = a->table->engine->columns;
    void *work = NULL;
    HD_TRY(hd_scratch_take(a->scratch, columns->work(a->table->device, a->runs.count), &work));
    HD_TRY(measure(a, work, need));
    const heddle_status status = find_chunk(a, *need, chunk);
    if (a->runs.tight || (status == HEDDLE_OK && *need <= units_left(a->storage, *chunk)) ||
        (status != HEDDLE_OK && status != HEDDLE_ERROR_NO_MEMORY))
        return status;
    a->runs.tight = true;
    HD_TRY(measure(a, work, need));
    return find_chunk(a, *need, chunk);
}

/*
 * ----------------------------------------------------------------------------------------- the
 * runs
 */

static heddle_status claim_and_copy(hd_list_addition *a, uint32_t chunk, hd_list_place *places,
                                    uint64_t *granted)
{
    heddle_table *table = a->table;
    const hd_list_ops *ops = hd_lists(table)->ops;
    const hd_site on = hd_on(table->device, NULL, a->stream);
    const hd_list_pool pool = hd_lists_pool(table, a->storage, chunk);
    HD_TRY(ops->claim(on, &pool, &a->runs, places, granted));
    HD_TRY(ops->copy(on, &a->runs, places, &a->rows));
    return hd_read_back(table, &a->inserted, granted, sizeof *granted, a->stream);
}

heddle_status hd_lists_add_runs(hd_list_addition *a)
{
    heddle_table *table = a->table;
    const uint64_t count = a->runs.count;
    hd_list_place *places = NULL;
    uint64_t *granted = NULL, need = 0;
    uint32_t chunk = HD_LIST_CHUNKS;
    hd_request ask;
    const hd_list_need needs[] = {
        {count * sizeof *a->runs.numbers, (void **)&a->runs.numbers},
        {(count + 1) * sizeof *a->runs.units, (void **)&a->runs.units},
        {count * sizeof *places, (void **)&places},
        {sizeof *granted, (void **)&granted},
    };
    HD_TRY(HD_LISTS_TAKE(a->scratch, needs));
    HD_TRY(table->engine->fill(table->device, granted, 0, sizeof *granted, a->stream));
    HD_TRY(number_runs(a, &ask));
    a->probes += ask.counts.at[HD_PROBES];
    a->runs.tight = a->tight;
    a->runs.fresh = a->storage->records_used;
    HD_TRY(secure_room(a, &chunk, &need));
    a->runs.room = units_left(a->storage, chunk);
    if (ask.counts.at[HD_FOUND] != ask.counts.at[HD_ASKED]) HD_TRY(hd_lists_admit(a, false));
    HD_TRY(claim_and_copy(a, chunk, places, granted));
    if (chunk < a->storage->chunk_count)
        a->storage->chunks[chunk].used += need < a->runs.room ? need : a->runs.room;
    a->storage->pairs += a->inserted;
    return HEDDLE_OK;
}
