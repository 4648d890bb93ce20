/*
 * retrieve_all.c: heddle_table_retrieve_all, for tables of every kind: all pairs are exported to scratch
 * memory and grouped by key (groups.h); the values are then gathered group by group.
 */
#include <string.h>

#include "base/error.h"
#include "host/lent.h"
#include "table/table.h"

/* What the caller wants written; any of it may be NULL. */
typedef struct request {
    void *keys;
    uint64_t *offsets;
    void *values;
} request;

typedef struct all_pairs {
    heddle_table *table;
    uint64_t n;
    void *keys, *values; /* device memory, in scratch */
    hd_scratch scratch;
    heddle_groups *groups;
    uint64_t distinct;
    uint32_t row_bits;
    void *stream;
} all_pairs;

/* All pairs in scratch memory, grouped by key. */
static heddle_status group_pairs(all_pairs *a)
{
    heddle_table *table = a->table;
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_column column;
    HD_TRY(hd_scratch_take(&a->scratch, a->n * hd_key_width(table), &a->keys));
    HD_TRY(hd_scratch_take(&a->scratch, a->n * hd_value_width(table), &a->values));
    HD_TRY(table->kind->collect(table, a->keys, a->values, a->stream));
    memset(&column, 0, sizeof column);
    column.data = a->keys;
    column.width = hd_key_width(table);
    a->row_bits = options.row_bits = a->n <= UINT32_MAX ? 32 : 64;
    HD_TRY(heddle_groups_create(table->device, &column, 1, a->n, &options, &a->groups, a->stream));
    return heddle_groups_count(a->groups, &a->distinct);
}

/* Values in the order of groups, and where groups begin. */
static heddle_status write_lists(all_pairs *a, const request *r)
{
    heddle_table *table = a->table;
    hd_lent offsets, values;
    void *rows = NULL;
    heddle_status status = hd_scratch_take(&a->scratch, a->n * a->row_bits / 8, &rows);
    memset(&offsets, 0, sizeof offsets);
    if (r->offsets != NULL && status == HEDDLE_OK)
        status =
            hd_lend_out(&a->scratch, r->offsets, (a->distinct + 1) * sizeof(uint64_t), &offsets);
    if (r->offsets == NULL && status == HEDDLE_OK) {
        status =
            hd_scratch_take(&a->scratch, (a->distinct + 1) * sizeof(uint64_t), &offsets.memory);
        offsets.user = offsets.memory;
    }
    if (status == HEDDLE_OK)
        status = heddle_groups_rows(a->groups, (uint64_t *)offsets.memory, rows, a->stream);
    if (status == HEDDLE_OK) status = hd_take_back(a->scratch.device, &offsets, a->stream);
    if (status != HEDDLE_OK || r->values == NULL) return status;
    status = hd_lend_out(&a->scratch, r->values, a->n * hd_value_width(table), &values);
    if (status == HEDDLE_OK)
        status = table->engine->columns->gather(table->device, a->values, hd_value_width(table),
                                                rows, a->row_bits, a->n, values.memory, a->stream);
    return status == HEDDLE_OK ? hd_take_back(a->scratch.device, &values, a->stream) : status;
}

static heddle_status write_all(all_pairs *a, const request *r, uint64_t key_capacity,
                               uint64_t value_capacity)
{
    heddle_status status;
    if (a->distinct > key_capacity || (r->values != NULL && a->n > value_capacity))
        return hd_fail(HEDDLE_ERROR_TOO_SMALL,
                       "retrieve_all: %llu keys with %llu values do not fit into arrays of %llu "
                       "and %llu",
                       (unsigned long long)a->distinct, (unsigned long long)a->n,
                       (unsigned long long)key_capacity, (unsigned long long)value_capacity);
    status = heddle_groups_keys(a->groups, 0, r->keys, NULL, a->stream);
    return status == HEDDLE_OK && (r->offsets != NULL || r->values != NULL) ? write_lists(a, r)
                                                                            : status;
}

static heddle_status check(heddle_table *table, const request *r, uint64_t key_capacity,
                           uint64_t value_capacity, const uint64_t *key_count,
                           const uint64_t *value_count, const void *stream)
{
    HD_TRY(hd_check_table(table, stream, "retrieve_all"));
    if (key_count == NULL || value_count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve_all: there is no place for the counts");
    if (hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve_all: a set has no values to retrieve");
    if (r->keys == NULL) return HEDDLE_OK;
    HD_TRY(hd_check_array(r->keys, key_capacity, hd_key_width(table), "keys"));
    if (r->offsets != NULL)
        HD_TRY(hd_check_array(r->offsets, key_capacity + 1, sizeof(uint64_t), "offsets"));
    if (r->values != NULL)
        HD_TRY(hd_check_array(r->values, value_capacity, hd_value_width(table), "values"));
    if (table->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot retrieve");
    return HEDDLE_OK;
}

heddle_status heddle_table_retrieve_all(heddle_table *table, void *keys, uint64_t *offsets,
                                        void *values, uint64_t key_capacity,
                                        uint64_t value_capacity, uint64_t *key_count,
                                        uint64_t *value_count, void *stream)
{
    const request r = {keys, offsets, values};
    all_pairs a;
    heddle_status status =
        check(table, &r, key_capacity, value_capacity, key_count, value_count, stream);
    if (status != HEDDLE_OK) return status;
    memset(&a, 0, sizeof a);
    a.table = table;
    a.scratch.device = table->device;
    a.stream = stream;
    *key_count = *value_count = 0;
    status = hd_table_count(table, &a.n, stream);
    if (status == HEDDLE_OK && a.n != 0) status = group_pairs(&a);
    if (status == HEDDLE_OK) {
        *key_count = a.distinct;
        *value_count = a.n;
        if (a.n != 0 && keys != NULL) status = write_all(&a, &r, key_capacity, value_capacity);
        else if (a.n == 0 && keys != NULL && offsets != NULL) {
            const uint64_t none = 0;
            status = table->engine->copy(table->device, offsets, &none, sizeof none, stream);
            if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
        }
    }
    heddle_groups_destroy(a.groups);
    hd_scratch_free(&a.scratch);
    return status;
}
