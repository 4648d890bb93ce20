/* insert.c: insert, build and rehash of bucket lists. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "table/lists/lists.h"

/* Batches up to here are appended value by value: to bring them into runs would take longer. */
#define APPEND_MAX 1024
/* So few dead units or unused records are not worth a thought in a table that grows. */
#define REMAKE_MIN (UINT64_C(1) << 12)

/* One call of build or insert. */
typedef struct insertion {
    heddle_table *table;
    hd_lists_storage *storage; /* that the pairs go to */
    hd_request *r;             /* its counts are set */
    bool grows;
    hd_scratch *scratch;
    hd_lent outcomes;
} insertion;

/*
 * ---------------------------------------------------------------------------------------- outcomes
 */

/* Outcomes are needed by a caller who asks for them or for the rows that failed. */
static heddle_status lend_outcomes(insertion *in)
{
    const heddle_insert_options *o = &in->r->options;
    HD_TRY(hd_lend_out(in->scratch, o->outcomes, in->r->n, &in->outcomes));
    if (o->outcomes == NULL && hd_failed_wanted(o))
        HD_TRY(hd_scratch_take(in->scratch, in->r->n, &in->outcomes.memory));
    return HEDDLE_OK;
}

static heddle_status list_failed(const insertion *in)
{
    const heddle_insert_options *o = &in->r->options;
    const uint64_t n = in->r->n;
    uint64_t listed = 0;
    uint8_t *outcomes HD_FREED = (uint8_t *)hd_allocate(n);
    if (outcomes == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
    HD_TRY(hd_read_back(in->table, outcomes, in->outcomes.memory, n, in->r->stream));
    for (uint64_t i = 0; i < n && listed < o->failed_capacity; i++)
        if (outcomes[i] == HEDDLE_OUTCOME_FAILED) o->failed[listed++] = i;
    return HEDDLE_OK;
}

/* Counts, outcomes and failed rows of what `added` says, and what the call comes to. */
static heddle_status conclude(insertion *in, const hd_list_addition *a, heddle_status added)
{
    hd_request *r = in->r;
    const heddle_table *table = in->table;
    const uint64_t failed = r->n - a->inserted;
    heddle_status status = HEDDLE_OK;
    r->counts.at[HD_INSERTED] = a->inserted;
    r->counts.at[HD_FAILED] = failed;
    r->counts.at[HD_PROBES] = a->probes;
    /* Nothing came in where memory ran out before any list was changed. */
    if (added != HEDDLE_OK && a->inserted == 0 && in->outcomes.memory != NULL)
        (void)table->engine->fill(table->device, in->outcomes.memory, HEDDLE_OUTCOME_FAILED, r->n,
                                  r->stream);
    if (in->outcomes.user != NULL) status = hd_take_back(table->device, &in->outcomes, r->stream);
    if (status == HEDDLE_OK && failed != 0 && hd_failed_wanted(&r->options))
        status = list_failed(in);
    HD_TRY(added);
    HD_TRY(status);
    return failed == 0 ? HEDDLE_OK
                       : hd_fail(HEDDLE_ERROR_FULL, "%llu pairs did not fit into the table",
                                 (unsigned long long)failed);
}

/*
 * ------------------------------------------------------------------------------------------ adding
 */

/* `pairs` are those of the request, in device memory. */
static heddle_status add_pairs(const insertion *in, hd_list_addition *a, const hd_request *pairs)
{
    if (pairs->n <= APPEND_MAX && in->grows) {
        a->rows.values = pairs->values;
        a->rows.n = pairs->n;
        return hd_lists_append(a, pairs->keys);
    }
    HD_TRY(hd_lists_group(a, pairs));
    return hd_lists_add_runs(a);
}

/* Lends the arrays to the device and adds the pairs to the storage. */
static heddle_status add(heddle_table *table, hd_lists_storage *storage, hd_request *r)
{
    HD_SCRATCH(scratch, table->device);
    insertion in = {.table = table, .storage = storage, .r = r, .scratch = &scratch};
    hd_request pairs = *r;
    hd_list_addition a;
    in.grows = !hd_lists_fixed(table);
    HD_TRY(hd_lend_in(&scratch, r->keys, r->n * hd_key_width(table), &pairs.keys, r->stream));
    HD_TRY(hd_lend_in(&scratch, r->values, r->n * hd_value_width(table), &pairs.values, r->stream));
    HD_TRY(lend_outcomes(&in));
    memset(&a, 0, sizeof a);
    a.table = table;
    a.storage = storage;
    a.grows = in.grows;
    a.scratch = &scratch;
    a.stream = r->stream;
    a.rows.outcomes = (uint8_t *)in.outcomes.memory;
    const heddle_status status = add_pairs(&in, &a, &pairs);
    return conclude(&in, &a, status);
}

/* The table's count and capacity as its lists have them now. */
static heddle_status settle(heddle_table *table, heddle_status status, void *stream)
{
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    const heddle_status counted = hd_table_set_count(table, storage->pairs, stream);
    table->options.capacity = hd_lists_room(storage) * HD_LIST_UNIT / hd_value_width(table);
    return status != HEDDLE_OK ? status : counted;
}

/*
 * Erased lists go when they are more than half of all, in a fixed table, where room is scarce, more
 * than an eighth. That this fails for want of memory does no harm.
 */
static void remake_if_worth(heddle_table *table, void *stream)
{
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    const bool fixed = hd_lists_fixed(table);
    const uint64_t share = fixed ? 8 : 2, least = fixed ? 0 : REMAKE_MIN;
    const uint64_t unused = storage->records_used - storage->key_count;
    if ((storage->dead > least && storage->dead > hd_lists_used(storage) / share) ||
        (unused > least && unused > storage->records_used / share))
        hd_lists_remake(table, fixed ? hd_lists(table)->pairs_wanted : 0, stream);
}

heddle_status hd_lists_insert(heddle_table *table, hd_request *r)
{
    r->waits = true;
    if (r->n == 0) return HEDDLE_OK;
    HD_TRY(hd_lists_catch_up(table, true, r->stream));
    remake_if_worth(table, r->stream);
    return settle(table, add(table, &hd_lists(table)->storage, r), r->stream);
}

/* Into fresh lists beside the old ones, which then go. */
static heddle_status build_beside(heddle_table *table, hd_request *r)
{
    const uint64_t seed = table->options.seed;
    hd_lists_storage fresh;
    HD_TRY(hd_lists_start(table, &fresh, 0, 0, seed));
    const heddle_status status = add(table, &fresh, r);
    if (status == HEDDLE_OK) hd_lists_adopt(table, &fresh, seed);
    else hd_lists_free(table, &fresh);
    return status;
}

static heddle_status build_in_place(heddle_table *table, hd_request *r)
{
    hd_lists_storage *storage = &hd_lists(table)->storage;
    HD_TRY(hd_lists_empty(table, storage, r->stream));
    return r->n != 0 ? add(table, storage, r) : HEDDLE_OK;
}

heddle_status hd_lists_build(heddle_table *table, hd_request *r)
{
    HD_TRY(hd_lists_catch_up(table, true, r->stream));
    const bool beside = !hd_lists_fixed(table) && r->n != 0 && hd_lists(table)->storage.pairs != 0;
    return settle(table, beside ? build_beside(table, r) : build_in_place(table, r), r->stream);
}

heddle_status hd_lists_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    (void)table, (void)n;
    *bytes = 0; /* memory is needed by how many distinct keys there are */
    return HEDDLE_OK;
}

/*
 * ------------------------------------------------------------------------------------------ rehash
 */

/* All pairs as runs: keys, where their values begin, and the values. */
static heddle_status read_all(hd_list_addition *a, hd_lists_storage *from)
{
    heddle_table *table = a->table;
    const hd_list_ops *ops = hd_lists(table)->ops;
    const hd_column_ops *columns = table->engine->columns;
    const hd_list_pool pool = hd_lists_pool(table, from, HD_LIST_CHUNKS);
    hd_site on = hd_on(table->device, NULL, a->stream);
    uint64_t *numbers = NULL, *offsets = NULL, count = from->key_count;
    void *keys = NULL, *values = NULL;
    const hd_list_need needs[] = {
        {count * hd_key_width(table), &keys},
        {count * sizeof *numbers, (void **)&numbers},
        {(count + 1) * sizeof *offsets, (void **)&offsets},
        {from->pairs * hd_value_width(table), &values},
        {columns->work(table->device, count), &on.work},
    };
    HD_TRY(HD_LISTS_TAKE(a->scratch, needs));
    HD_TRY(heddle_table_export(from->keys, keys, numbers, count, &count, a->stream));
    HD_TRY(ops->lengths(on, &pool, hd_list_numbers_of(numbers, count), offsets));
    HD_TRY(columns->scan(on, offsets, count));
    const hd_list_fetch all = {numbers, offsets, count, 0, from->pairs, values, NULL, 0, NULL};
    HD_TRY(ops->fetch(on, &pool, &all));
    a->keys = keys;
    a->runs.starts = offsets;
    a->runs.count = count;
    a->rows.values = values;
    a->rows.n = from->pairs;
    return HEDDLE_OK;
}

/* All pairs into `fresh`, which then has room for `capacity` of them. */
static heddle_status move_into(heddle_table *table, hd_lists_storage *fresh, uint64_t capacity,
                               void *stream)
{
    hd_lists_storage *own = &hd_lists(table)->storage;
    HD_SCRATCH(scratch, table->device);
    hd_list_addition a = {.table = table,
                          .storage = fresh,
                          .grows = true,
                          .tight = true,
                          .scratch = &scratch,
                          .stream = stream};
    if (own->pairs != 0) {
        HD_TRY(read_all(&a, own));
        HD_TRY(hd_lists_add_runs(&a));
    }
    HD_TRY(hd_lists_add_room(table, fresh, hd_lists_units_for(table, capacity)));
    return table->engine->synchronize(table->device, stream);
}

heddle_status hd_lists_remake(heddle_table *table, uint64_t capacity, void *stream)
{
    const uint64_t seed = hd_seed_draw(), growths = table->growths;
    const bool fixed = hd_lists_fixed(table);
    const uint64_t keys = fixed ? capacity : hd_lists(table)->storage.key_count;
    hd_lists_storage fresh;
    HD_TRY(hd_lists_start(table, &fresh, keys, fixed ? capacity : 0, seed));
    const heddle_status status = move_into(table, &fresh, capacity, stream);
    table->growths = growths;
    if (status == HEDDLE_OK) hd_lists_adopt(table, &fresh, seed);
    else hd_lists_free(table, &fresh);
    return status;
}

heddle_status hd_lists_rehash(heddle_table *table, uint64_t capacity, void *stream)
{
    HD_TRY(hd_lists_catch_up(table, true, stream));
    HD_TRY(hd_lists_remake(table, capacity, stream));
    hd_lists(table)->pairs_wanted = capacity;
    return HEDDLE_OK;
}
