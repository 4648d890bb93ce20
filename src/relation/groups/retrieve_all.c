/*
 * retrieve_all.c: heddle_table_retrieve_all, for tables of every kind: all pairs are exported to scratch
 * memory and grouped by key (groups.h); the values are then gathered group by group.
 *
 * It is a call on a table and stands here, not in the room of tables: it is a group-by over the table's
 * pairs, and a table may not include a relation (scripts/rooms.sh).
 */
#include <string.h>

#include "base/error.h"
#include "host/lent.h"
#include "table/table.h"

/* The caller's arrays, any of which may be NULL, and their room. */
typedef struct wanted {
    void *keys;
    uint64_t *offsets;
    void *values;
    uint64_t key_capacity, value_capacity;
} wanted;

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

/* Where groups begin, for the caller if he asked, and all rows in the order of groups. */
static heddle_status write_offsets(all_pairs *a, uint64_t *offsets, void *rows)
{
    const uint64_t bytes = (a->distinct + 1) * sizeof *offsets;
    void *begins;
    hd_lent out;
    if (offsets == NULL) {
        HD_TRY(hd_scratch_take(&a->scratch, bytes, &begins));
        return heddle_groups_rows(a->groups, (uint64_t *)begins, rows, a->stream);
    }
    HD_TRY(hd_lend_out(&a->scratch, offsets, bytes, &out));
    HD_TRY(heddle_groups_rows(a->groups, (uint64_t *)out.memory, rows, a->stream));
    return hd_take_back(a->table->device, &out, a->stream);
}

/* Values in the order of groups, and where groups begin. */
static heddle_status write_lists(all_pairs *a, const wanted *w)
{
    heddle_table *table = a->table;
    const uint32_t width = hd_value_width(table);
    hd_lent values;
    void *rows = NULL;
    HD_TRY(hd_scratch_take(&a->scratch, a->n * a->row_bits / 8, &rows));
    HD_TRY(write_offsets(a, w->offsets, rows));
    if (w->values == NULL) return HEDDLE_OK;
    HD_TRY(hd_lend_out(&a->scratch, w->values, a->n * width, &values));
    HD_TRY(table->engine->columns->gather(hd_on(table->device, NULL, a->stream),
                                          hd_elements_of(a->values, width),
                                          hd_at_rows(rows, a->row_bits, a->n), values.memory));
    return hd_take_back(table->device, &values, a->stream);
}

static heddle_status write_all(all_pairs *a, const wanted *w)
{
    if (a->distinct > w->key_capacity || (w->values != NULL && a->n > w->value_capacity))
        return hd_fail(HEDDLE_ERROR_TOO_SMALL,
                       "retrieve_all: %llu keys with %llu values do not fit into arrays of %llu "
                       "and %llu",
                       (unsigned long long)a->distinct, (unsigned long long)a->n,
                       (unsigned long long)w->key_capacity, (unsigned long long)w->value_capacity);
    HD_TRY(heddle_groups_keys(a->groups, 0, w->keys, NULL, a->stream));
    return w->offsets != NULL || w->values != NULL ? write_lists(a, w) : HEDDLE_OK;
}

/* No keys: one offset, 0. */
static heddle_status write_nothing(const all_pairs *a, const wanted *w)
{
    const heddle_table *table = a->table;
    const uint64_t none = 0;
    if (w->offsets == NULL) return HEDDLE_OK;
    HD_TRY(table->engine->copy(table->device, w->offsets, &none, sizeof none, a->stream));
    return table->engine->synchronize(table->device, a->stream);
}

/* The counts are set even where the arrays are too small. */
static heddle_status retrieve(all_pairs *a, const wanted *w, uint64_t *key_count,
                              uint64_t *value_count)
{
    HD_TRY(hd_table_count(a->table, &a->n, a->stream));
    if (a->n != 0) HD_TRY(group_pairs(a));
    *key_count = a->distinct;
    *value_count = a->n;
    if (w->keys == NULL) return HEDDLE_OK;
    return a->n != 0 ? write_all(a, w) : write_nothing(a, w);
}

static heddle_status check_arrays(const heddle_table *table, const wanted *w)
{
    if (w->keys == NULL) return HEDDLE_OK;
    HD_TRY(hd_check_array(w->keys, w->key_capacity, hd_key_width(table), "keys"));
    if (w->offsets != NULL)
        HD_TRY(hd_check_array(w->offsets, w->key_capacity + 1, sizeof(uint64_t), "offsets"));
    if (w->values != NULL)
        HD_TRY(hd_check_array(w->values, w->value_capacity, hd_value_width(table), "values"));
    if (table->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot retrieve");
    return HEDDLE_OK;
}

heddle_status heddle_table_retrieve_all(heddle_table *table, void *keys, uint64_t *offsets,
                                        void *values, uint64_t key_capacity,
                                        uint64_t value_capacity, uint64_t *key_count,
                                        uint64_t *value_count, void *stream)
{
    const wanted w = {keys, offsets, values, key_capacity, value_capacity};
    all_pairs a;
    heddle_status status;
    HD_TRY(hd_check_table(table, stream, "retrieve_all"));
    if (key_count == NULL || value_count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve_all: there is no place for the counts");
    if (hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve_all: a set has no values to retrieve");
    HD_TRY(check_arrays(table, &w));
    memset(&a, 0, sizeof a);
    a.table = table;
    a.scratch.device = table->device;
    a.stream = stream;
    *key_count = *value_count = 0;
    status = retrieve(&a, &w, key_count, value_count);
    heddle_groups_destroy(a.groups);
    hd_scratch_free(&a.scratch);
    return status;
}
