/* insert.c: insert, build and rehash of bucket lists. */
#include <stdlib.h>
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
    hd_lists_storage *storage;
    const heddle_insert_options *options;
    const void *keys, *values; /* device memory */
    uint64_t n;
    bool grows;
    hd_scratch scratch;
    hd_lent outcomes;
    hd_counts *counts;
    void *stream;
} insertion;

/* ---------------------------------------------------------------------------------------- outcomes */

/* Outcomes are needed by a caller who asks for them or for the rows that failed. */
static heddle_status stage_outcomes(insertion *in)
{
    const heddle_insert_options *o = in->options;
    HD_TRY(hd_lend_out(&in->scratch, o->outcomes, in->n, &in->outcomes));
    if (o->outcomes == NULL && o->failed_capacity != 0)
        HD_TRY(hd_scratch_take(&in->scratch, in->n, &in->outcomes.memory));
    return HEDDLE_OK;
}

static heddle_status list_failed(insertion *in)
{
    const heddle_insert_options *o = in->options;
    uint8_t *outcomes = (uint8_t *)hd_allocate(in->n);
    uint64_t listed = 0;
    heddle_status status;
    if (outcomes == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
    status = hd_read_back(in->table, outcomes, in->outcomes.memory, in->n, in->stream);
    for (uint64_t i = 0; status == HEDDLE_OK && i < in->n && listed < o->failed_capacity; i++)
        if (outcomes[i] == HEDDLE_OUTCOME_FAILED) o->failed[listed++] = i;
    free(outcomes);
    return status;
}

/* Nothing came in: memory ran out before any list was changed. */
static void none_came(const insertion *in)
{
    if (in->outcomes.memory != NULL)
        in->table->engine->fill(in->table->device, in->outcomes.memory, HEDDLE_OUTCOME_FAILED,
                                in->n, in->stream);
}

/* Counts, outcomes and failed rows of what `added` says, and what the call comes to. */
static heddle_status report(insertion *in, const hd_list_addition *a, heddle_status added)
{
    heddle_status status = HEDDLE_OK;
    in->counts->at[HD_INSERTED] = a->inserted;
    in->counts->at[HD_FAILED] = in->n - a->inserted;
    in->counts->at[HD_PROBES] = a->probes;
    if (added != HEDDLE_OK && a->inserted == 0) none_came(in);
    if (in->outcomes.user != NULL)
        status = hd_take_back(in->scratch.device, &in->outcomes, in->stream);
    if (status == HEDDLE_OK && a->inserted != in->n && in->options->failed_capacity != 0)
        status = list_failed(in);
    if (added != HEDDLE_OK || status != HEDDLE_OK) return added != HEDDLE_OK ? added : status;
    return a->inserted == in->n
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_FULL, "%llu pairs did not fit into the table",
                         (unsigned long long)(in->n - a->inserted));
}

/* ------------------------------------------------------------------------------------------ adding */

static heddle_status add_pairs(insertion *in)
{
    hd_list_addition a;
    heddle_status status;
    memset(&a, 0, sizeof a);
    a.table = in->table;
    a.storage = in->storage;
    a.grows = in->grows;
    a.scratch = &in->scratch;
    a.stream = in->stream;
    a.rows.outcomes = (uint8_t *)in->outcomes.memory;
    if (in->n <= APPEND_MAX && in->grows) {
        a.rows.values = in->values;
        a.rows.n = in->n;
        status = hd_lists_append(&a, in->keys);
    } else {
        status = hd_lists_group(&a, in->keys, in->values, in->n);
        if (status == HEDDLE_OK) status = hd_lists_add_runs(&a);
    }
    return report(in, &a, status);
}

/* Stages the arrays and adds the pairs to in->storage. */
static heddle_status add(insertion *in, const void *keys, const void *values)
{
    heddle_table *table = in->table;
    HD_TRY(hd_lend_in(&in->scratch, keys, in->n * hd_key_width(table), &in->keys, in->stream));
    HD_TRY(
        hd_lend_in(&in->scratch, values, in->n * hd_value_width(table), &in->values, in->stream));
    HD_TRY(stage_outcomes(in));
    return add_pairs(in);
}

static insertion insertion_of(heddle_table *table, uint64_t n, const heddle_insert_options *options,
                              hd_counts *counts, void *stream)
{
    insertion in;
    memset(&in, 0, sizeof in);
    in.table = table;
    in.storage = &hd_lists(table)->storage;
    in.options = options;
    in.n = n;
    in.grows = !hd_lists_fixed(table);
    in.scratch.device = table->device;
    in.counts = counts;
    in.stream = stream;
    return in;
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
 * Erased lists go when they are more than half of all, in a fixed table, where room is scarce, more than an
 * eighth. That this fails for want of memory does no harm.
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

heddle_status hd_lists_insert(heddle_table *table, const void *keys, const void *values, uint64_t n,
                              const heddle_insert_options *options, bool *waited, hd_counts *counts,
                              void *stream)
{
    insertion in = insertion_of(table, n, options, counts, stream);
    heddle_status status;
    *waited = true;
    if (n == 0) return HEDDLE_OK;
    status = hd_lists_catch_up(table, true, stream);
    if (status != HEDDLE_OK) return status;
    remake_if_worth(table, stream);
    status = add(&in, keys, values);
    hd_scratch_free(&in.scratch);
    return settle(table, status, stream);
}

/* Into fresh lists beside the old ones, which then go. */
static heddle_status build_beside(insertion *in, const void *keys, const void *values)
{
    heddle_table *table = in->table;
    const uint64_t seed = table->options.seed;
    hd_lists_storage fresh;
    heddle_status status = hd_lists_start(table, &fresh, 0, 0, seed);
    if (status != HEDDLE_OK) return status;
    in->storage = &fresh;
    status = add(in, keys, values);
    hd_scratch_free(&in->scratch);
    if (status == HEDDLE_OK) hd_lists_adopt(table, &fresh, seed);
    else hd_lists_free(table, &fresh);
    return status;
}

heddle_status hd_lists_build(heddle_table *table, const void *keys, const void *values, uint64_t n,
                             const heddle_insert_options *options, hd_counts *counts, void *stream)
{
    insertion in = insertion_of(table, n, options, counts, stream);
    heddle_status status = hd_lists_catch_up(table, true, stream);
    if (status != HEDDLE_OK) return status;
    if (in.grows && n != 0 && in.storage->pairs != 0) {
        status = build_beside(&in, keys, values);
    } else {
        status = hd_lists_empty(table, in.storage, stream);
        if (status == HEDDLE_OK && n != 0) status = add(&in, keys, values);
        hd_scratch_free(&in.scratch);
    }
    return settle(table, status, stream);
}

heddle_status hd_lists_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    (void)table, (void)n;
    *bytes = 0; /* memory is needed by how many distinct keys there are */
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------------ rehash */

/* All pairs as runs: keys, where their values begin, and the values. */
static heddle_status read_all(hd_list_addition *a, hd_lists_storage *from)
{
    heddle_table *table = a->table;
    const hd_list_ops *ops = hd_lists(table)->ops;
    const hd_column_ops *columns = table->engine->columns;
    const hd_list_pool pool = hd_lists_pool(table, from, HD_LIST_CHUNKS);
    uint64_t *numbers = NULL, *offsets = NULL, count = from->key_count;
    void *keys = NULL, *values = NULL, *work = NULL;
    const hd_list_need needs[] = {
        {count * hd_key_width(table), &keys},
        {count * sizeof *numbers, (void **)&numbers},
        {(count + 1) * sizeof *offsets, (void **)&offsets},
        {from->pairs * hd_value_width(table), &values},
        {columns->work(table->device, count), &work},
    };
    heddle_status status = HD_LISTS_TAKE(a->scratch, needs);
    if (status == HEDDLE_OK)
        status = heddle_table_export(from->keys, keys, numbers, count, &count, a->stream);
    if (status == HEDDLE_OK)
        status = ops->lengths(table->device, &pool, numbers, count, offsets, a->stream);
    if (status == HEDDLE_OK) status = columns->scan(table->device, offsets, count, work, a->stream);
    const hd_list_fetch all = {numbers, offsets, count, 0, from->pairs, values, NULL, 0, NULL};
    if (status == HEDDLE_OK) status = ops->fetch(table->device, &pool, &all, a->stream);
    a->keys = keys;
    a->runs.starts = offsets;
    a->runs.count = count;
    a->rows.values = values;
    a->rows.n = from->pairs;
    return status;
}

heddle_status hd_lists_remake(heddle_table *table, uint64_t capacity, void *stream)
{
    hd_lists_storage *own = &hd_lists(table)->storage, fresh;
    const uint64_t seed = hd_seed_draw(), growths = table->growths;
    hd_scratch scratch;
    hd_list_addition a;
    const bool fixed = hd_lists_fixed(table);
    heddle_status status = hd_lists_start(table, &fresh, fixed ? capacity : own->key_count,
                                          fixed ? capacity : 0, seed);
    if (status != HEDDLE_OK) return status;
    memset(&a, 0, sizeof a);
    memset(&scratch, 0, sizeof scratch);
    scratch.device = table->device;
    a.table = table;
    a.storage = &fresh;
    a.grows = a.tight = true;
    a.scratch = &scratch;
    a.stream = stream;
    if (own->pairs != 0) {
        status = read_all(&a, own);
        if (status == HEDDLE_OK) status = hd_lists_add_runs(&a);
    }
    if (status == HEDDLE_OK)
        status = hd_lists_add_room(table, &fresh, hd_lists_units_for(table, capacity));
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    hd_scratch_free(&scratch);
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
