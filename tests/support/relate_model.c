/* relate_model.c: see relate_model.h. */
#include "support/relate_model.h"

#include <stdlib.h>
#include <string.h>

#define END 0
#define NULLS 100 /* added to a width: the column has nulls */

static const uint32_t shapes[TABLE_SHAPES][8] = {
    {4},
    {8},
    {4 + NULLS},
    {1, 2 + NULLS, 4},
    {8, 8},
    {3, 16 + NULLS, 8 + NULLS},
    {64, 1 + NULLS},
    {1 + NULLS, 2, 3 + NULLS, 4 + NULLS, 8, 16, 64 + NULLS},
};

static void fill_column(column_model *column, uint64_t rows, const uint64_t *names, uint32_t number)
{
    for (uint64_t i = 0; i < rows; i++) {
        /* Rows of one name have equal elements; the first columns alone do not tell names apart. */
        uint64_t state = (names[i] >> (number % 2)) * 31 + number;
        uint8_t *element = column->data + i * column->width;
        for (uint32_t b = 0; b < column->width; b++) element[b] = (uint8_t)keys_random(&state);
        if (column->valid == NULL) continue;
        column->valid[i] = keys_random(&state) % 4 != 0;
        if (column->valid[i] == 0) element[0] = (uint8_t)i; /* of no meaning */
    }
}

table_model table_make(uint32_t shape, uint64_t rows, uint64_t distinct, uint64_t seed)
{
    table_model t = {.rows = rows};
    uint64_t *names = keys_allocate(rows + 1);
    for (uint64_t i = 0; i < rows; i++) names[i] = keys_below(&seed, distinct);
    for (; t.columns < 8 && shapes[shape][t.columns] != END; t.columns++) {
        column_model *column = &t.column[t.columns];
        const bool nulls = shapes[shape][t.columns] > NULLS;
        column->width = shapes[shape][t.columns] - (nulls ? NULLS : 0);
        column->data = malloc(rows * column->width + 1);
        column->valid = nulls ? malloc(rows + 1) : NULL;
        fill_column(column, rows, names, t.columns);
    }
    free(names);
    return t;
}

table_model table_of_keys(const uint64_t *keys, uint64_t rows, uint32_t key_bits)
{
    table_model t = {.columns = 1, .rows = rows};
    column_model *column = &t.column[0];
    column->width = key_bits / 8;
    column->data = malloc(rows * column->width + 1);
    for (uint64_t i = 0; i < rows; i++)
        memcpy(column->data + i * column->width, &keys[i], column->width); /* little end first */
    return t;
}

void table_free(table_model *t)
{
    for (uint32_t c = 0; c < t->columns; c++) {
        free(t->column[c].data);
        free(t->column[c].valid);
    }
    memset(t, 0, sizeof *t);
}

int table_compare(const table_model *t, uint64_t a, uint64_t b)
{
    for (uint32_t c = 0; c < t->columns; c++) {
        const column_model *column = &t->column[c];
        const uint32_t width = column->width;
        const bool null_a = column->valid != NULL && column->valid[a] == 0;
        const bool null_b = column->valid != NULL && column->valid[b] == 0;
        if (null_a != null_b) return null_a ? -1 : 1;
        if (null_a) continue;
        const int order = memcmp(column->data + a * width, column->data + b * width, width);
        if (order != 0) return order;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------- groups */

/* qsort takes no context. */
static const table_model *sorted_table;
static uint64_t *digests; /* of rows: most that differ do so in these */

static uint64_t digest(const table_model *t, uint64_t row)
{
    uint64_t hash = 1469598103934665603u;
    for (uint32_t c = 0; c < t->columns; c++) {
        const column_model *column = &t->column[c];
        if (column->valid != NULL && column->valid[row] == 0) continue;
        for (uint32_t b = 0; b < column->width; b++)
            hash = (hash ^ column->data[row * column->width + b]) * 1099511628211u;
    }
    return hash;
}

static int compare_rows(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    const int order = digests[a] != digests[b] ? (digests[a] < digests[b] ? -1 : 1)
                                               : table_compare(sorted_table, a, b);
    return order != 0 ? order : a < b ? -1 : a > b;
}

grouping table_group(const table_model *t)
{
    const uint64_t n = t->rows;
    grouping g = {0, keys_allocate(n + 1), keys_allocate(n + 1), NULL};
    uint64_t *first_of = keys_allocate(n + 1); /* the first row of every row's group */
    uint64_t *fill;
    digests = keys_allocate(n + 1);
    for (uint64_t i = 0; i < n; i++) {
        g.rows[i] = i;
        digests[i] = digest(t, i);
    }
    sorted_table = t;
    qsort(g.rows, n, sizeof *g.rows, compare_rows);
    free(digests);
    for (uint64_t i = 0; i < n; i++) {
        const bool same = i > 0 && table_compare(t, g.rows[i - 1], g.rows[i]) == 0;
        first_of[g.rows[i]] = same ? first_of[g.rows[i - 1]] : g.rows[i];
    }
    for (uint64_t i = 0; i < n; i++)
        g.of_row[i] = first_of[i] == i ? g.groups++ : g.of_row[first_of[i]];
    g.begins = keys_allocate(g.groups + 2);
    memset(g.begins, 0, (g.groups + 2) * sizeof *g.begins);
    for (uint64_t i = 0; i < n; i++) g.begins[g.of_row[i] + 1]++;
    for (uint64_t i = 0; i < g.groups; i++) g.begins[i + 1] += g.begins[i];
    fill = first_of; /* not needed any more */
    memcpy(fill, g.begins, g.groups * sizeof *fill);
    for (uint64_t i = 0; i < n; i++) g.rows[fill[g.of_row[i]]++] = i;
    free(first_of);
    return g;
}

void grouping_free(const grouping *g)
{
    free(g->of_row);
    free(g->rows);
    free(g->begins);
}
