/*
 * calls.c: the public operations on tables. Each checks its arguments, makes a request of them and
 * hands it on to the table's kind; what is the same for all kinds, sizes and totals, is done here.
 */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "table/collect.h"
#include "table/table.h"

/*
 * A request for n keys. Cleared part by part, which compilers make a few stores of: a call on few
 * keys is so short that clearing all of it at once would show.
 */
static inline hd_request request_of(const void *keys, uint64_t n, void *stream)
{
    hd_request r;
    memset(&r, 0, offsetof(hd_request, options));
    memset(&r.options, 0, sizeof r.options);
    memset(&r.values_out, 0, offsetof(hd_request, counts) - offsetof(hd_request, values_out));
    memset(&r.counts, 0, sizeof r.counts);
    r.keys = keys;
    r.n = n;
    r.stream = stream;
    return r;
}

/*
 * Gives the sums of a call that waited to its caller, or keeps them for heddle_table_take_totals.
 * Several lookups may do so at once.
 */
static heddle_status give_sums(heddle_table *table, const hd_request *request,
                               heddle_totals *totals, heddle_status status)
{
    const uint64_t *sums = request->counts.at;
    if (!request->waits) return status;
    if (totals != NULL) {
        hd_clear_totals(totals);
        hd_totals_add(totals, &request->counts);
        return status;
    }
    for (int i = 0; i < HD_COUNTS; i++)
        __atomic_fetch_add(&table->settled.at[i], sums[i], __ATOMIC_RELAXED);
    return status;
}

/* -------------------------------------------------------------------------------------- insert */

/* The caller's options and place for totals, which may be those of another version of the header. */
static heddle_status read_structs(hd_request *request, const heddle_insert_options *options,
                                  const heddle_totals *totals)
{
    static const heddle_insert_options defaults = HEDDLE_INSERT_OPTIONS_INIT;
    request->options = defaults;
    HD_TRY(hd_check_totals(totals));
    return hd_read_struct(&request->options, options, &hd_insert_options_kind);
}

heddle_status heddle_table_insert(heddle_table *table, const void *keys, const void *values,
                                  uint64_t n, const heddle_insert_options *options,
                                  heddle_totals *totals, void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.values = values;
    r.waits = totals != NULL;
    HD_TRY(hd_check_table(table, stream, "insert"));
    HD_TRY(read_structs(&r, options, totals));
    HD_TRY(hd_check_insertion(&table->options, &r, table->device, "insert"));
    return give_sums(table, &r, totals, table->kind->insert(table, &r));
}

heddle_status heddle_table_build(heddle_table *table, const void *keys, const void *values,
                                 uint64_t n, const heddle_insert_options *options,
                                 heddle_totals *totals, void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.values = values;
    r.waits = true;
    HD_TRY(hd_check_table(table, stream, "build"));
    HD_TRY(read_structs(&r, options, totals));
    HD_TRY(hd_check_insertion(&table->options, &r, table->device, "build"));
    return give_sums(table, &r, totals, table->kind->build(table, &r));
}

heddle_status heddle_table_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    HD_TRY(hd_check_table(table, NULL, "build_workspace"));
    if (bytes == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "build_workspace: there is no place for the size");
    if (n > HD_SLOTS_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "build_workspace: no table holds %llu keys",
                       (unsigned long long)n);
    return table->kind->build_workspace(table, n, bytes);
}

heddle_status heddle_table_mixed(heddle_table *table, const uint8_t *operations, const void *keys,
                                 const void *values, uint64_t n, void *values_out,
                                 const heddle_insert_options *options, heddle_totals *totals,
                                 void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.values = values;
    r.operations = operations;
    r.values_out = values_out;
    r.waits = totals != NULL;
    HD_TRY(hd_check_table(table, stream, "mixed"));
    if (table->kind->mixed == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "mixed: only the scheme slab takes mixed batches");
    HD_TRY(read_structs(&r, options, totals));
    HD_TRY(hd_check_mixture(&table->options, &r, table->device, "mixed"));
    return give_sums(table, &r, totals, table->kind->mixed(table, &r));
}

/* --------------------------------------------------------------------------------------- query */

static heddle_status check_lookup(const heddle_table *table, const hd_request *r, const char *what)
{
    HD_TRY(hd_check_table(table, r->stream, what));
    return hd_check_array(r->keys, r->n, hd_key_width(table), "keys");
}

heddle_status heddle_table_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                                uint8_t *found, heddle_totals *totals, void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.values_out = values;
    r.found = found;
    r.waits = totals != NULL;
    HD_TRY(check_lookup(table, &r, "find"));
    HD_TRY(hd_check_totals(totals));
    if (hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "find: a set has no values to find; use heddle_table_contains");
    HD_TRY(hd_check_array(values, n, hd_value_width(table), "values"));
    return give_sums(table, &r, totals, table->kind->find(table, &r));
}

heddle_status heddle_table_contains(heddle_table *table, const void *keys, uint64_t n,
                                    uint8_t *found, heddle_totals *totals, void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.found = found;
    r.waits = totals != NULL;
    HD_TRY(check_lookup(table, &r, "contains"));
    HD_TRY(hd_check_totals(totals));
    return give_sums(table, &r, totals, table->kind->find(table, &r));
}

heddle_status heddle_table_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                                 heddle_totals *totals, void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.found = found;
    r.waits = totals != NULL;
    HD_TRY(check_lookup(table, &r, "erase"));
    HD_TRY(hd_check_totals(totals));
    return give_sums(table, &r, totals, table->kind->erase(table, &r));
}

heddle_status heddle_table_count(heddle_table *table, const void *keys, uint64_t n,
                                 uint64_t *matches, heddle_totals *totals, void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.matches = matches;
    r.waits = totals != NULL;
    HD_TRY(check_lookup(table, &r, "count"));
    HD_TRY(hd_check_totals(totals));
    HD_TRY(hd_check_array(matches, n, sizeof *matches, "matches"));
    return give_sums(table, &r, totals, table->kind->count(table, &r));
}

static heddle_status check_retrieve(const heddle_table *table, const hd_request *r)
{
    HD_TRY(check_lookup(table, r, "retrieve"));
    HD_TRY(hd_check_array(r->offsets, r->n + 1, sizeof *r->offsets, "offsets"));
    if (r->count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: there is no place for the count");
    if (hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: a set has no values to retrieve");
    return r->values_out != NULL
               ? hd_check_array(r->values_out, r->capacity, hd_value_width(table), "values")
               : HEDDLE_OK;
}

heddle_status heddle_table_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                    uint64_t *offsets, void *values, uint64_t capacity,
                                    uint64_t *count, void *stream)
{
    hd_request r = request_of(keys, n, stream);
    r.values_out = values;
    r.offsets = offsets;
    r.capacity = capacity;
    r.count = count;
    HD_TRY(check_retrieve(table, &r));
    return give_sums(table, &r, NULL, table->kind->retrieve(table, &r));
}

/* --------------------------------------------------------------------------------------- whole */

heddle_status hd_table_count(heddle_table *table, uint64_t *count, void *stream)
{
    uint64_t born_died[2] = {0, 0};
    HD_TRY(hd_read_back(table, born_died, &table->control->born, sizeof born_died, stream));
    *count = born_died[0] - born_died[1];
    return HEDDLE_OK;
}

heddle_status hd_table_set_count(heddle_table *table, uint64_t keys, void *stream)
{
    const uint64_t born_died[2] = {keys, 0};
    if (keys == 0)
        return table->engine->fill(table->device, &table->control->born, 0, sizeof born_died,
                                   stream);
    return table->engine->copy(table->device, &table->control->born, born_died, sizeof born_died,
                               stream);
}

heddle_status heddle_table_size(heddle_table *table, uint64_t *count, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "size"));
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "size: there is no place for the count");
    return hd_table_count(table, count, stream);
}

heddle_status heddle_table_clear(heddle_table *table, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "clear"));
    return table->kind->clear(table, stream);
}

heddle_status heddle_table_flush(heddle_table *table, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "flush"));
    return table->kind->flush != NULL ? table->kind->flush(table, stream) : HEDDLE_OK;
}

heddle_status heddle_table_export(heddle_table *table, void *keys, void *values, uint64_t capacity,
                                  uint64_t *count, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "export"));
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: there is no place for the count");
    if (values != NULL && hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: a set has no values");
    HD_TRY(hd_check_array(keys, capacity, hd_key_width(table), "keys"));
    if (values != NULL) HD_TRY(hd_check_array(values, capacity, hd_value_width(table), "values"));
    HD_TRY(hd_table_count(table, count, stream));
    if (*count > capacity)
        return hd_fail(HEDDLE_ERROR_TOO_SMALL, "export: %llu pairs do not fit into arrays of %llu",
                       (unsigned long long)*count, (unsigned long long)capacity);
    return *count != 0 ? hd_collect(table, keys, values, stream) : HEDDLE_OK;
}

/* Gives what is pending and what is settled to the caller. */
static heddle_status peek(heddle_table *table, hd_counts *counts, heddle_totals *totals,
                          void *stream)
{
    HD_TRY(hd_check_table(table, stream, "totals"));
    HD_TRY(hd_check_struct(totals, &hd_totals_kind));
    HD_TRY(hd_pending_read(table, counts, stream));
    hd_clear_totals(totals);
    hd_totals_add(totals, counts);
    hd_totals_add(totals, &table->settled);
    return HEDDLE_OK;
}

heddle_status heddle_table_peek_totals(heddle_table *table, heddle_totals *totals, void *stream)
{
    hd_counts counts;
    return peek(table, &counts, totals, stream);
}

heddle_status heddle_table_take_totals(heddle_table *table, heddle_totals *totals, void *stream)
{
    hd_counts counts;
    HD_TRY(peek(table, &counts, totals, stream));
    table->evictions += counts.at[HD_EVICTIONS];
    memset(&table->settled, 0, sizeof table->settled);
    return hd_pending_clear(table, stream);
}

static heddle_status check_capacity(uint64_t capacity)
{
    if (capacity > HD_SLOTS_MAX / 2)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu keys",
                       (unsigned long long)capacity);
    return HEDDLE_OK;
}

heddle_status heddle_table_reserve(heddle_table *table, uint64_t capacity, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "reserve"));
    HD_TRY(check_capacity(capacity));
    return table->kind->reserve(table, capacity, stream);
}

heddle_status heddle_table_rehash(heddle_table *table, uint64_t capacity, void *stream)
{
    uint64_t keys = 0;
    HD_TRY(hd_check_table(table, stream, "rehash"));
    HD_TRY(check_capacity(capacity));
    HD_TRY(hd_table_count(table, &keys, stream));
    return table->kind->rehash(table, keys > capacity ? keys : capacity, stream);
}

heddle_status heddle_table_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "get_stats"));
    HD_TRY(hd_check_struct(stats, &hd_table_stats_kind));
    heddle_table_stats all = HEDDLE_TABLE_STATS_INIT;
    HD_TRY(table->kind->get_stats(table, &all, stream));
    if ((table->kind == &hd_slots_kind || table->kind == &hd_slabs_kind) && all.bytes_slots != 0)
        all.memory_use = (double)all.keys * (hd_key_width(table) + hd_value_width(table)) /
                         (double)all.bytes_slots;
    hd_write_struct(stats, &all, &hd_table_stats_kind);
    return HEDDLE_OK;
}

heddle_status heddle_table_validate(heddle_table *table, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "validate"));
    return table->kind->validate(table, stream);
}
