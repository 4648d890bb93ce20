/* cluster_relate_groups.c: group-bys over clusters against the model; see cluster_relate.h. */
#include <stdlib.h>
#include <string.h>

#include "support/cluster_relate.h"

/* A group-by at work. */
typedef struct asked {
    heddle_cluster_groups *by;
    const table_model *t;
    const relate_share *share;
    grouping model;
    uint32_t row_bits;
    uint64_t count, before; /* this process's groups, and those of the processes before */
    uint64_t *group;        /* which group of the model each of them is */
} asked;

static uint64_t number_at(const void *numbers, uint64_t i, uint32_t bits)
{
    return bits == 32 ? ((const uint32_t *)numbers)[i] : ((const uint64_t *)numbers)[i];
}

/* By their first rows groups are known. */
static void check_firsts(asked *a)
{
    void *firsts = malloc(a->count * 8 + 8);
    uint8_t *seen = calloc(a->model.groups + 1, 1);
    check_ok(heddle_cluster_groups_first(a->by, firsts));
    for (uint64_t i = 0; i < a->count; i++) {
        const uint64_t row = number_at(firsts, i, a->row_bits);
        check(row < a->t->rows, "there is no row %llu", (unsigned long long)row);
        a->group[i] = a->model.of_row[row];
        check(a->model.rows[a->model.begins[a->group[i]]] == row, "not the first row");
        check(seen[a->group[i]]++ == 0, "a group is there twice");
    }
    free(firsts);
    free(seen);
}

static void check_sizes(const asked *a)
{
    uint64_t *sizes = keys_allocate(a->count + 1);
    check_ok(heddle_cluster_groups_sizes(a->by, sizes));
    for (uint64_t i = 0; i < a->count; i++)
        check(sizes[i] == a->model.begins[a->group[i] + 1] - a->model.begins[a->group[i]],
              "a group has a wrong size");
    free(sizes);
}

static void check_keys(const asked *a)
{
    for (uint32_t c = 0; c < a->t->columns; c++) {
        const column_model *column = &a->t->column[c];
        const uint32_t width = column->width;
        uint8_t *keys = malloc(a->count * width + 8), *valid = malloc(a->count + 1);
        check_ok(heddle_cluster_groups_keys(a->by, c, keys, c % 2 == 0 ? valid : NULL));
        for (uint64_t i = 0; i < a->count; i++) {
            const uint64_t row = a->model.rows[a->model.begins[a->group[i]]];
            const bool there = column->valid == NULL || column->valid[row] != 0;
            if (c % 2 == 0) check((valid[i] != 0) == there, "a null is none, or the reverse");
            check(!there || memcmp(keys + i * width, column->data + row * width, width) == 0,
                  "a key is wrong");
        }
        free(keys);
        free(valid);
    }
}

/* Equal keys have equal numbers, others have others; this process's are those of its groups. */
static void check_numbers(const asked *a, uint64_t groups)
{
    const uint64_t rows = a->share->rows[0];
    void *numbers = malloc(rows * 8 + 8);
    uint64_t *known = keys_allocate(groups + 1);
    for (uint64_t i = 0; i < groups; i++) known[i] = NO_ROW;
    for (uint64_t i = 0; i < a->count; i++) known[a->before + i] = a->group[i];
    check_ok(heddle_cluster_groups_of_rows(a->by, numbers));
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t number = number_at(numbers, i, a->row_bits);
        const uint64_t group = a->model.of_row[a->share->begin[0] + i];
        check(number < groups, "there is no group %llu", (unsigned long long)number);
        if (known[number] == NO_ROW) known[number] = group;
        check(known[number] == group, "a row is in a wrong group");
    }
    free(numbers);
    free(known);
}

/* ------------------------------------------------------------------------------------ aggregates */

/* Small whole numbers: sums of them are exact in every type. */
static int64_t value_of(uint64_t row, uint32_t type)
{
    uint64_t state = row * 77 + 5;
    const int64_t value = (int64_t)keys_below(&state, 1000);
    return type == HEDDLE_TYPE_U32 || type == HEDDLE_TYPE_U64 ? value : value - 500;
}
static bool value_there(uint64_t row) { return row % 7 != 3; }

static void put_value(char *values, uint64_t i, uint32_t type, int64_t value)
{
    const uint32_t u32 = (uint32_t)value;
    const float f32 = (float)value;
    const double f64 = (double)value;
    switch (type) {
    case HEDDLE_TYPE_U32:
    case HEDDLE_TYPE_I32: memcpy(values + 4 * i, &u32, 4); break;
    case HEDDLE_TYPE_F32: memcpy(values + 4 * i, &f32, 4); break;
    case HEDDLE_TYPE_F64: memcpy(values + 8 * i, &f64, 8); break;
    default: memcpy(values + 8 * i, &value, 8); break;
    }
}

static double number_of(const char *out, uint64_t i, uint32_t aggregate, uint32_t type)
{
    int64_t whole;
    double real;
    if (aggregate == HEDDLE_AGGREGATE_MIN || aggregate == HEDDLE_AGGREGATE_MAX) {
        uint32_t u32;
        int32_t i32;
        float f32;
        switch (type) {
        case HEDDLE_TYPE_U32: memcpy(&u32, out + 4 * i, 4); return u32;
        case HEDDLE_TYPE_I32: memcpy(&i32, out + 4 * i, 4); return i32;
        case HEDDLE_TYPE_F32: memcpy(&f32, out + 4 * i, 4); return (double)f32;
        default: break;
        }
    }
    memcpy(&whole, out + 8 * i, 8);
    memcpy(&real, out + 8 * i, 8);
    const bool is_real = aggregate == HEDDLE_AGGREGATE_MEAN ||
                         (aggregate != HEDDLE_AGGREGATE_COUNT &&
                          (type == HEDDLE_TYPE_F32 || type == HEDDLE_TYPE_F64));
    return is_real ? real : (double)whole;
}

/* What the model says of a group; *there: whether any value takes part. */
static double expected_of(const asked *a, uint64_t group, uint32_t aggregate, uint32_t type,
                          bool nulls, bool *there)
{
    double sum = 0, least = 0, most = 0;
    uint64_t count = 0;
    for (uint64_t i = a->model.begins[group]; i < a->model.begins[group + 1]; i++) {
        const uint64_t row = a->model.rows[i];
        const double value = (double)value_of(row, type);
        if (nulls && !value_there(row)) continue;
        least = count == 0 || value < least ? value : least;
        most = count == 0 || value > most ? value : most;
        sum += value;
        count++;
    }
    *there = count != 0;
    switch (aggregate) {
    case HEDDLE_AGGREGATE_COUNT: return (double)count;
    case HEDDLE_AGGREGATE_SUM: return sum;
    case HEDDLE_AGGREGATE_MIN: return least;
    case HEDDLE_AGGREGATE_MAX: return most;
    default: return count != 0 ? sum / (double)count : 0;
    }
}

static void check_aggregate(const asked *a, uint32_t aggregate, uint32_t type, bool nulls)
{
    const uint64_t rows = a->share->rows[0];
    char *values = malloc(rows * 8 + 8), *out = malloc(a->count * 8 + 8);
    uint8_t *valid = malloc(rows + 1), *out_valid = malloc(a->count + 1);
    bool there;
    for (uint64_t i = 0; i < rows; i++) {
        put_value(values, i, type, value_of(a->share->begin[0] + i, type));
        valid[i] = value_there(a->share->begin[0] + i);
    }
    check_ok(heddle_cluster_groups_aggregate(a->by, aggregate, type, values, nulls ? valid : NULL,
                                             out, out_valid));
    for (uint64_t i = 0; i < a->count; i++) {
        const double expected = expected_of(a, a->group[i], aggregate, type, nulls, &there);
        const double got = number_of(out, i, aggregate, type);
        check(got == expected, "aggregate %u of type %u is %g, not %g", aggregate, type, got,
              expected);
        check((out_valid[i] != 0) == there, "a group is null, or is not");
    }
    free(values);
    free(out);
    free(valid);
    free(out_valid);
}

heddle_relation_stats relate_by_check(heddle_cluster *cluster, const table_model *t,
                                      const relate_share *share, uint32_t row_bits, relate_sum sum)
{
    heddle_column columns[HEDDLE_KEY_COLUMNS_MAX];
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_relation_stats stats = HEDDLE_RELATION_STATS_INIT;
    asked a = {.t = t, .share = share, .model = table_group(t), .row_bits = row_bits};
    options.row_bits = row_bits;
    options.seed = case_seed();
    relate_columns(t, share->begin[0], share->rows[0], columns);
    check_ok(heddle_cluster_groups_create(cluster, columns, t->columns, share->rows[0], &options,
                                          &a.by));
    check_ok(heddle_cluster_groups_count(a.by, &a.count, &a.before));
    check_ok(heddle_cluster_groups_get_stats(a.by, &stats));
    assert_int_equal(stats.results, a.model.groups);
    assert_int_equal(stats.rows, t->rows);
    assert_int_equal(stats.rows_worked, t->rows);
    assert_int_equal(stats.first_row[0], share->begin[0]);
    assert_int_equal(sum(a.count), a.model.groups);
    a.group = keys_allocate(a.count + 1);
    check_firsts(&a);
    check_sizes(&a);
    check_keys(&a);
    check_numbers(&a, a.model.groups);
    for (uint32_t type = HEDDLE_TYPE_U32; type <= HEDDLE_TYPE_F64; type++)
        for (uint32_t aggregate = HEDDLE_AGGREGATE_COUNT; aggregate <= HEDDLE_AGGREGATE_MEAN;
             aggregate++)
            check_aggregate(&a, aggregate, type, (type + aggregate) % 2 == 0);
    heddle_cluster_groups_destroy(a.by);
    grouping_free(&a.model);
    free(a.group);
    return stats;
}
