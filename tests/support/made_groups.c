/* made_groups.c: see made_groups.h. */
#include "support/made_groups.h"

#include <stdlib.h>
#include <string.h>

bool can_group(const test_case *c)
{
    const hd_engine *engine = c->device->engine;
    const hd_relate_ops *relate = engine->relate != NULL ? engine->relate(64, 64) : NULL;
    return engine->columns != NULL && relate != NULL && relate->group != NULL;
}

static array array_of_bytes(const test_case *c, uint32_t role, const uint8_t *bytes, uint64_t n)
{
    array a = array_poisoned(c, role, n, 0);
    memcpy(a.host, bytes, n);
    if (a.memory != NULL) check_ok(heddle_memory_copy(c->device, a.memory, a.host, n, NULL));
    return a;
}

made_groups made_columns(const test_case *c, const table_model *t)
{
    made_groups m = {.c = c, .table = t};
    for (uint32_t i = 0; i < t->columns; i++) {
        const column_model *column = &t->column[i];
        m.data[i] = array_of_bytes(c, i, column->data, t->rows * column->width);
        if (column->valid != NULL) m.valid[i] = array_of_bytes(c, i + 1, column->valid, t->rows);
        m.columns[i].data = array_pointer(&m.data[i]);
        m.columns[i].valid = column->valid != NULL ? array_pointer(&m.valid[i]) : NULL;
        m.columns[i].width = column->width;
    }
    return m;
}

uint64_t *made_numbers(const array *a, uint64_t n, uint32_t bits)
{
    uint64_t *numbers = keys_allocate(n + 1);
    for (uint64_t i = 0; i < n; i++) numbers[i] = array_at(a, i, bits);
    return numbers;
}

/* Which group is which, by first rows. */
static void match(made_groups *m)
{
    const uint32_t bits = m->options.row_bits;
    const uint64_t count = m->model->groups;
    array firsts = array_poisoned(m->c, ROLE_VALUES, count * bits / 8, 0xcd);
    uint8_t *seen = calloc(count + 1, 1);
    m->model_of = keys_allocate(count + 1);
    check_ok(heddle_groups_first(m->groups, array_pointer(&firsts), NULL));
    array_pull(&firsts);
    for (uint64_t g = 0; g < count; g++) {
        const uint64_t row = array_at(&firsts, g, bits);
        check(row < m->table->rows, "group %llu begins at no row", (unsigned long long)g);
        const uint64_t group = m->model->of_row[row];
        check(m->model->rows[m->model->begins[group]] == row, "row %llu is not the first",
              (unsigned long long)row);
        check(seen[group]++ == 0, "two groups have the same key");
        check(m->options.order != HEDDLE_GROUPS_BY_FIRST || group == g, "groups are out of order");
        m->model_of[g] = group;
    }
    free(seen);
    array_free(&firsts);
}

made_groups made_create(const test_case *c, const table_model *t, const grouping *model,
                        uint32_t order, uint32_t row_bits)
{
    made_groups m = made_columns(c, t);
    uint64_t count = 77;
    m.options = (heddle_groups_options)HEDDLE_GROUPS_OPTIONS_INIT;
    m.options.order = order;
    m.options.row_bits = row_bits;
    m.model = model;
    check_ok(heddle_groups_create(c->device, m.columns, t->columns, t->rows, &m.options, &m.groups,
                                  NULL));
    check_ok(heddle_groups_count(m.groups, &count));
    assert_int_equal(count, m.model->groups);
    match(&m);
    return m;
}

void made_destroy(made_groups *m)
{
    heddle_groups_destroy(m->groups);
    for (uint32_t i = 0; i < m->table->columns; i++) {
        array_free(&m->data[i]);
        if (m->table->column[i].valid != NULL) array_free(&m->valid[i]);
    }
    free(m->model_of);
}
