/*
 * test_aggregate.c: every aggregate of every type, with nulls and without, against sums over the rows of
 * the model's groups; NaN, -0.0, negative numbers and sums that wrap.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "relation/encode/encode.h"
#include "support/made_groups.h"

static uint32_t width_of(uint32_t type) { return type <= HEDDLE_TYPE_F32 ? 4 : 8; }
static bool is_float(uint32_t type) { return type == HEDDLE_TYPE_F32 || type == HEDDLE_TYPE_F64; }

/* Values as bytes, with all that is awkward among them. */
static uint8_t *make_values(uint32_t type, uint64_t n, uint64_t seed)
{
    static const double awkward[] = {0.0, -0.0, NAN, INFINITY, -1.5, 1e30};
    uint8_t *values = malloc(n * 8 + 8);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t word = keys_random(&seed);
        /* Small numbers whose sums are exact in any order, so that all of them can be compared. */
        double number = (double)((int64_t)(word >> 40) - (1 << 23));
        if (word % 16 < 6) number = awkward[word % 16];
        if (type == HEDDLE_TYPE_F32) ((float *)values)[i] = (float)number;
        else if (type == HEDDLE_TYPE_F64) ((double *)values)[i] = number;
        else if (width_of(type) == 4) ((uint32_t *)values)[i] = (uint32_t)(word >> 20);
        else ((uint64_t *)values)[i] = word; /* sums wrap */
    }
    return values;
}

static double as_double(uint32_t type, const uint8_t *values, uint64_t row)
{
    switch (type) {
    case HEDDLE_TYPE_U32: return ((const uint32_t *)values)[row];
    case HEDDLE_TYPE_I32: return ((const int32_t *)values)[row];
    case HEDDLE_TYPE_F32: return (double)((const float *)values)[row];
    case HEDDLE_TYPE_U64: return (double)((const uint64_t *)values)[row];
    case HEDDLE_TYPE_I64: return (double)((const int64_t *)values)[row];
    default: return ((const double *)values)[row];
    }
}

/* Integers in 64 bits, with the sign of the type. */
static uint64_t as_integer(uint32_t type, const uint8_t *values, uint64_t row)
{
    switch (type) {
    case HEDDLE_TYPE_U32: return ((const uint32_t *)values)[row];
    case HEDDLE_TYPE_I32: return (uint64_t)(int64_t)((const int32_t *)values)[row];
    default: return ((const uint64_t *)values)[row];
    }
}

static bool is_less(uint32_t type, const uint8_t *values, uint64_t a, uint64_t b)
{
    if (is_float(type)) return as_double(type, values, a) < as_double(type, values, b);
    if (type == HEDDLE_TYPE_U32 || type == HEDDLE_TYPE_U64)
        return as_integer(type, values, a) < as_integer(type, values, b);
    return (int64_t)as_integer(type, values, a) < (int64_t)as_integer(type, values, b);
}

typedef struct sums {
    uint64_t count, wrapped; /* values; their sum as integers */
    double sum, magnitude;
    uint64_t least, most; /* rows; UINT64_MAX where there is no number */
} sums;

static sums sum_up(const made_groups *m, uint64_t g, uint32_t type, const uint8_t *values,
                   const uint8_t *valid)
{
    const uint64_t group = m->model_of[g];
    sums s = {0, 0, 0, 0, UINT64_MAX, UINT64_MAX};
    for (uint64_t i = m->model->begins[group]; i < m->model->begins[group + 1]; i++) {
        const uint64_t row = m->model->rows[i];
        if (valid != NULL && valid[row] == 0) continue;
        s.count++;
        if (!is_float(type)) s.wrapped += as_integer(type, values, row);
        s.sum += as_double(type, values, row);
        s.magnitude += fabs(as_double(type, values, row));
        if (isnan(as_double(type, values, row))) continue;
        if (s.least == UINT64_MAX || is_less(type, values, row, s.least)) s.least = row;
        if (s.most == UINT64_MAX || is_less(type, values, s.most, row)) s.most = row;
    }
    return s;
}

static bool is_near(double got, double expected, double magnitude)
{
    if (isnan(expected) || isinf(expected)) return isnan(got) == isnan(expected);
    return fabs(got - expected) <= 1e-9 * magnitude + 1e-300;
}

/* Whether the element at `out` is the value of `row`; -0.0 is as good as 0.0. */
static bool is_value(uint32_t type, const uint8_t *out, uint64_t g, const uint8_t *values,
                     uint64_t row)
{
    const uint32_t width = width_of(type);
    if (row == UINT64_MAX) return isnan(as_double(type, out, g)); /* nothing but NaN */
    if (is_float(type)) return as_double(type, out, g) == as_double(type, values, row);
    return memcmp(out + g * width, values + row * width, width) == 0;
}

static double double_at(const uint8_t *out, uint64_t g)
{
    return ((const double *)(const void *)out)[g];
}

static bool is_right(uint32_t aggregate, uint32_t type, const uint8_t *out, uint64_t g,
                     const sums *s, const uint8_t *values)
{
    switch (aggregate) {
    case HEDDLE_AGGREGATE_COUNT: return ((const uint64_t *)(const void *)out)[g] == s->count;
    case HEDDLE_AGGREGATE_MIN: return is_value(type, out, g, values, s->least);
    case HEDDLE_AGGREGATE_MAX: return is_value(type, out, g, values, s->most);
    case HEDDLE_AGGREGATE_MEAN:
        return is_near(double_at(out, g), s->sum / (double)s->count,
                       s->magnitude / (double)s->count);
    default:
        if (is_float(type)) return is_near(double_at(out, g), s->sum, s->magnitude);
        return ((const uint64_t *)(const void *)out)[g] == s->wrapped;
    }
}

static uint32_t out_width(uint32_t aggregate, uint32_t type)
{
    return aggregate == HEDDLE_AGGREGATE_MIN || aggregate == HEDDLE_AGGREGATE_MAX ? width_of(type)
                                                                                  : 8;
}

static array array_of_bytes(const test_case *c, uint32_t role, const uint8_t *bytes, uint64_t n)
{
    array a = array_poisoned(c, role, n, 0);
    memcpy(a.host, bytes, n);
    if (a.memory != NULL) check_ok(heddle_memory_copy(c->device, a.memory, a.host, n, NULL));
    return a;
}

/* Results and flags (NULL: not asked for) are the model's. */
static void check_results(const made_groups *m, const hd_reduce *r, const uint8_t *out,
                          const uint8_t *flags)
{
    const uint32_t width = out_width(r->aggregate, r->type);
    const uint8_t *values = r->column;
    for (uint64_t g = 0; g < m->model->groups; g++) {
        const sums s = sum_up(m, g, r->type, values, r->valid);
        static const uint8_t zeros[8];
        if (flags != NULL) check(flags[g] == (s.count != 0), "a flag is wrong");
        check(s.count != 0 ? is_right(r->aggregate, r->type, out, g, &s, values)
                           : memcmp(out + g * width, zeros, width) == 0,
              "group %llu is wrong", (unsigned long long)g);
    }
}

static void check_aggregate(made_groups *m, uint32_t aggregate, uint32_t type,
                            const uint8_t *values, const uint8_t *valid, bool flags)
{
    const uint64_t count = m->model->groups, n = m->table->rows;
    const uint32_t width = out_width(aggregate, type);
    array in = array_of_bytes(m->c, ROLE_VALUES, values, n * width_of(type));
    array in_valid =
        array_of_bytes(m->c, ROLE_KEYS, valid != NULL ? valid : values, valid != NULL ? n : 0);
    array out = array_poisoned(m->c, ROLE_VALUES, count * width, 0xcd);
    array out_valid = array_poisoned(m->c, ROLE_FLAGS, count, 0xcd);
    case_note("aggregate %u, type %u, %s, order %u, %llu rows in %llu groups", aggregate, type,
              valid != NULL ? "nulls" : "no nulls", m->options.order, (unsigned long long)n,
              (unsigned long long)count);
    check_ok(heddle_groups_aggregate(m->groups, aggregate, type, array_pointer(&in),
                                     valid != NULL ? array_pointer(&in_valid) : NULL,
                                     array_pointer(&out), flags ? array_pointer(&out_valid) : NULL,
                                     NULL));
    array_pull(&out);
    array_pull(&out_valid);
    const hd_reduce r = {aggregate, type, values, valid, NULL, NULL};
    check_results(m, &r, out.host, flags ? out_valid.host : NULL);
    array_free(&in);
    array_free(&in_valid);
    array_free(&out);
    array_free(&out_valid);
}

static void check_all(made_groups *m, uint64_t seed)
{
    const uint64_t n = m->table->rows;
    uint8_t *valid = malloc(n + 1);
    for (uint64_t i = 0; i < n; i++) valid[i] = (uint8_t)(keys_random(&seed) % 3);
    for (uint32_t type = HEDDLE_TYPE_U32; type <= HEDDLE_TYPE_F64; type++) {
        uint8_t *values = make_values(type, n, seed + type);
        for (uint32_t a = HEDDLE_AGGREGATE_COUNT; a <= HEDDLE_AGGREGATE_MEAN; a++) {
            check_aggregate(m, a, type, values, NULL, a % 2 == 0);
            check_aggregate(m, a, type, values, valid, true);
        }
        free(values);
    }
    free(valid);
}

static void check_keys(const test_case *c, const uint64_t *keys, uint64_t n, uint32_t bits)
{
    table_model t = table_of_keys(keys, n, bits);
    const grouping model = table_group(&t);
    for (uint32_t order = 0; order < 2; order++) {
        hd_tune.few_groups_limit = order == 0 ? n : 0; /* groups known by number; rows in order */
        made_groups m = made_create(c, &t, &model, order, order == 0 ? 32 : 64);
        check_all(&m, n + order);
        if (order == 0) { /* a GPU: most groups have no cells in shared memory */
            hd_tune.reduce_near_groups = 3;
            check_all(&m, n + order);
            hd_tune.reduce_near_groups = HD_TUNING_NONE;
        }
        made_destroy(&m);
    }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
    grouping_free(&model);
    table_free(&t);
}

/* ------------------------------------------------------------------- aggregates named by options */

#define ALONG 9 /* one more than a GPU takes along */
static const struct {
    uint32_t aggregate;
    bool nulls;
} along[ALONG] = {
    {HEDDLE_AGGREGATE_SUM, false}, {HEDDLE_AGGREGATE_SUM, true},    {HEDDLE_AGGREGATE_MIN, true},
    {HEDDLE_AGGREGATE_MAX, false}, {HEDDLE_AGGREGATE_MEAN, false},  {HEDDLE_AGGREGATE_COUNT, true},
    {HEDDLE_AGGREGATE_MEAN, true}, {HEDDLE_AGGREGATE_COUNT, false}, {HEDDLE_AGGREGATE_MAX, true}};

static void check_aggregated(made_groups *m, uint32_t i, const hd_reduce *r)
{
    const uint64_t count = m->model->groups;
    array out = array_poisoned(m->c, ROLE_VALUES, count * out_width(r->aggregate, r->type), 0xcd);
    array flags = array_poisoned(m->c, ROLE_FLAGS, count, 0xcd);
    case_note("aggregate %u, type %u, %s, order %u, flags %u, %llu rows in %llu groups",
              r->aggregate, r->type, r->valid != NULL ? "nulls" : "no nulls", m->options.order,
              m->options.flags, (unsigned long long)m->table->rows, (unsigned long long)count);
    check_ok(heddle_groups_aggregated(m->groups, i, array_pointer(&out),
                                      i % 2 == 0 ? array_pointer(&flags) : NULL, NULL));
    array_pull(&out);
    array_pull(&flags);
    check_results(m, r, out.host, i % 2 == 0 ? flags.host : NULL);
    array_free(&out);
    array_free(&flags);
}

/* `number` aggregates of columns of one type, worked out while groups are made where that is possible. */
static void check_along(const test_case *c, const table_model *t, const grouping *model,
                        const uint64_t *keys, uint32_t bits, uint32_t type, uint32_t number,
                        heddle_groups_options options)
{
    const uint64_t n = t->rows;
    uint8_t *values = make_values(type, n, type + n), *valid = malloc(n + 1);
    uint64_t seed = n, *firsts = keys_allocate(model->groups + 1);
    for (uint64_t i = 0; i < n; i++) valid[i] = keys_random(&seed) % 3 != 0;
    array in = array_of_bytes(c, ROLE_VALUES, values, n * width_of(type));
    array in_valid = array_of_bytes(c, ROLE_KEYS, valid, n);
    array data = array_of(c, ROLE_KEYS, keys, n, bits);
    heddle_column column = HEDDLE_COLUMN(array_pointer(&data), bits / 8);
    heddle_aggregate list[ALONG];
    made_groups m;
    memset(&m, 0, sizeof m);
    for (uint32_t i = 0; i < number; i++) {
        const heddle_aggregate a = {
            sizeof a, along[i].aggregate, type,
            0,        array_pointer(&in), along[i].nulls ? array_pointer(&in_valid) : NULL};
        list[i] = a;
    }
    options.aggregates = list;
    options.aggregate_count = number;
    m.c = c;
    m.table = t;
    m.model = model;
    m.options = options;
    m.model_of = keys_allocate(model->groups + 1);
    check_ok(heddle_groups_create(c->device, &column, 1, n, &options, &m.groups, NULL));
    check_ok(heddle_groups_first(m.groups, firsts, NULL));
    for (uint64_t g = 0; g < model->groups; g++) m.model_of[g] = model->of_row[firsts[g]];
    for (uint32_t i = 0; i < number; i++) {
        const hd_reduce r = {
            along[i].aggregate, type, values, along[i].nulls ? valid : NULL, NULL, NULL};
        check_aggregated(&m, i, &r);
    }
    check_status(heddle_groups_aggregated(m.groups, number, values, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    heddle_groups_destroy(m.groups);
    array_free(&in);
    array_free(&in_valid);
    array_free(&data);
    free(m.model_of);
    free(firsts);
    free(values);
    free(valid);
}

static void aggregates_with_the_groups(const test_case *c)
{
    static const uint64_t sizes[] = {0, 1, 1000, 70001};
    static const uint64_t distinct[] = {1, 9, 4000};
    if (!can_group(c)) return;
    for (size_t s = 0; s < 4; s++)
        for (size_t d = 0; d < 3; d++) {
            const uint32_t bits = (s + d) % 2 == 0 ? 32 : 64;
            const uint64_t n = case_size(sizes[s]);
            uint64_t *keys = keys_allocate(n + 1), state = d;
            for (uint64_t i = 0; i < n; i++)
                keys[i] =
                    low_bits(~keys_below(&state, distinct[d]), bits); /* all ones among them */
            table_model t = table_of_keys(keys, n, bits);
            const grouping model = table_group(&t);
            for (uint32_t type = HEDDLE_TYPE_U32; type <= HEDDLE_TYPE_F64; type++) {
                heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
                const uint32_t number = type % 3 == 0 ? 1 : type % 3 == 1 ? 8 : 9;
                o.order = type % 2;
                o.flags = type == HEDDLE_TYPE_I64 ? 0 : HEDDLE_GROUPS_KEYS | HEDDLE_GROUPS_FIRST;
                o.row_bits = 64;
                /* A GPU: by itself; a table that fills up at first; tables of blocks that do; many keys. */
                hd_tune.keys_homes = type % 4 == 1 ? 64 : HD_TUNING_NONE;
                hd_tune.keys_near_bits = type % 4 == 2 ? 4 : HD_TUNING_NONE;
                hd_tune.distinct_way =
                    type == HEDDLE_TYPE_U64 && c->device->engine->host_memory == 0
                        ? HD_TUNE_DISTINCT_MANY
                        : HD_TUNE_DISTINCT_ANY;
                check_along(c, &t, &model, keys, bits, type, number, o);
                hd_tune.keys_homes = hd_tune.keys_near_bits = HD_TUNING_NONE;
                hd_tune.distinct_way = HD_TUNE_DISTINCT_ANY;
            }
            grouping_free(&model);
            table_free(&t);
            free(keys);
        }
}

static void wrong_aggregates(const test_case *c)
{
    uint64_t keys[4] = {1, 2, 1, 2}, values[4] = {1, 2, 3, 4}, out[4] = {0};
    heddle_column column = HEDDLE_COLUMN(keys, 8);
    heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_aggregate a = HEDDLE_AGGREGATE_INIT;
    heddle_groups *g = NULL;
    if (!can_group(c)) return;
    o.flags = HEDDLE_GROUPS_KEYS;
    o.order = HEDDLE_GROUPS_BY_FIRST;
    o.aggregate_count = 1;
    a.aggregate = HEDDLE_AGGREGATE_SUM;
#define REFUSED                                                                                    \
    check_status(heddle_groups_create(c->device, &column, 1, 4, &o, &g, NULL), HEDDLE_ERROR_INVALID)
    REFUSED; /* no list */
    o.aggregates = &a;
    REFUSED; /* no values */
    a.values = values;
    a.type = 7;
    REFUSED;
    a.type = HEDDLE_TYPE_U64;
    a.aggregate = 0;
    REFUSED;
    a.aggregate = HEDDLE_AGGREGATE_SUM;
    a.flags = 1;
    REFUSED;
    a.flags = 0;
    a.size = 0;
    REFUSED;
    a.size = sizeof a;
    o.aggregate_count = HEDDLE_AGGREGATES_MAX + 1;
    REFUSED;
    o.aggregate_count = 1;
    check_ok(heddle_groups_create(c->device, &column, 1, 4, &o, &g, NULL));
    check_ok(heddle_groups_aggregated(g, 0, out, NULL, NULL));
    assert_int_equal(out[0], 4);
    assert_int_equal(out[1], 6);
    check_status(heddle_groups_aggregated(g, 1, out, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_aggregated(g, 0, NULL, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_aggregated(NULL, 0, out, NULL, NULL), HEDDLE_ERROR_INVALID);
    heddle_groups_destroy(g);
}

/* From one group to a group for each row, in sizes that threads share. */
static void groups_of_every_size(const test_case *c)
{
    static const uint64_t sizes[] = {0, 1, 7, 1000, 50001};
    if (!can_group(c)) return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (uint64_t distinct = 1; distinct < 40 * sizes[s] + 2; distinct *= 30) {
            const uint64_t n = case_size(sizes[s]);
            uint64_t *keys = keys_allocate(n + 1), state = distinct;
            for (uint64_t i = 0; i < n; i++) keys[i] = keys_below(&state, distinct);
            check_keys(c, keys, n, 32);
            free(keys);
        }
}

static void skewed_groups(const test_case *c)
{
    const uint64_t n = case_size(60000);
    uint64_t *keys = keys_allocate(n);
    if (can_group(c)) {
        keys_fill(keys, n, KEYS_ZIPF, 64, 3);
        check_keys(c, keys, n, 64);
    }
    free(keys);
}

/* Few groups in many rows, and one group: threads share them by rows. */
static void large_groups(const test_case *c)
{
    static const uint64_t distinct[] = {1, 2, 700};
    const uint64_t n = case_size((UINT64_C(1) << 20) + 1);
    uint64_t *keys = keys_allocate(n);
    for (size_t pass = 0; pass < 6 && can_group(c); pass++) {
        const size_t d = pass % 3;
        uint64_t state = d;
        for (uint64_t i = 0; i < n; i++) keys[i] = keys_below(&state, distinct[d]);
        table_model t = table_of_keys(keys, n, 32);
        const grouping model = table_group(&t);
        hd_tune.few_groups_limit = pass < 3 ? n : 0;
        made_groups m = made_create(c, &t, &model, 0, 32);
        for (uint32_t type = HEDDLE_TYPE_U32; type <= HEDDLE_TYPE_F64; type++) {
            uint8_t *values = make_values(type, n, d + type);
            check_aggregate(&m, HEDDLE_AGGREGATE_SUM, type, values, NULL, true);
            check_aggregate(&m, HEDDLE_AGGREGATE_MIN, type, values, NULL, true);
            free(values);
        }
        made_destroy(&m);
        grouping_free(&model);
        table_free(&t);
    }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
    free(keys);
}

static void wrong_arguments(const test_case *c)
{
    uint64_t keys[4] = {1, 2, 1, 2}, values[4] = {1, 2, 3, 4}, out[4];
    heddle_column column = HEDDLE_COLUMN(keys, 8);
    heddle_groups *g = NULL;
    if (!can_group(c)) return;
    check_ok(heddle_groups_create(c->device, &column, 1, 4, NULL, &g, NULL));
#define CALL(groups, aggregate, type, values, out)                                                 \
    check_status(heddle_groups_aggregate(groups, aggregate, type, values, NULL, out, NULL, NULL),  \
                 HEDDLE_ERROR_INVALID)
    CALL(NULL, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U64, values, out);
    CALL(g, 0, HEDDLE_TYPE_U64, values, out);
    CALL(g, 6, HEDDLE_TYPE_U64, values, out);
    CALL(g, HEDDLE_AGGREGATE_SUM, 0, values, out);
    CALL(g, HEDDLE_AGGREGATE_SUM, 7, values, out);
    CALL(g, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U64, NULL, out);
    CALL(g, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U64, values, NULL);
    CALL(g, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U64, (const char *)values + 4, out);
    check_ok(heddle_groups_aggregate(g, HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64, NULL, NULL, out,
                                     NULL, NULL));
    assert_int_equal(out[0], 2);
    heddle_groups_destroy(g);
}

static void memory_may_run_out(const test_case *c)
{
    uint64_t keys[100], values[100], out[100];
    uint8_t valid[100], out_valid[100];
    heddle_column column = HEDDLE_COLUMN(keys, 8);
    if (!can_group(c)) return;
    memset(valid, 1, sizeof valid);
    for (uint64_t i = 0; i < 100; i++) keys[i] = values[i] = i % 30;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t order = i % 2;
        heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
        heddle_groups *g = NULL;
        bool struck = true;
        hd_tune.few_groups_limit = i < 2 ? 0 : 100;
        o.order = order;
        check_ok(heddle_groups_create(c->device, &column, 1, 100, &o, &g, NULL));
        for (uint64_t k = 1; struck; k++) {
            hd_fault_arm(k);
            const heddle_status status = heddle_groups_aggregate(
                g, HEDDLE_AGGREGATE_MAX, HEDDLE_TYPE_I64, values, valid, out, out_valid, NULL);
            struck = hd_fault_struck();
            hd_fault_arm(0);
            check(status == (struck ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_OK), "%s",
                  heddle_last_error());
        }
        heddle_groups_destroy(g);
    }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(aggregates_with_the_groups),
        OVER_DEVICES(wrong_aggregates),
        OVER_DEVICES(groups_of_every_size),
        OVER_DEVICES(skewed_groups),
        OVER_DEVICES(large_groups),
        OVER_DEVICES(wrong_arguments),
        OVER_DEVICES(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
