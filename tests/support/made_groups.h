/* made_groups.h: groups that the library made of a table, beside those of the model. */
#ifndef TEST_MADE_GROUPS_H
#define TEST_MADE_GROUPS_H

#include "support/relate_model.h"

typedef struct made_groups {
    const test_case *c;
    const table_model *table;
    const grouping *model;
    heddle_groups_options options;
    heddle_column columns[HEDDLE_KEY_COLUMNS_MAX];
    array data[HEDDLE_KEY_COLUMNS_MAX], valid[HEDDLE_KEY_COLUMNS_MAX];
    heddle_groups *groups;
    uint64_t *model_of; /* the model's number of every group of the library */
} made_groups;

/* Whether the engine of this case can group rows yet. */
bool can_group(const test_case *c);
/* Groups the table and finds out which group is which; checks count and first rows. */
made_groups made_create(const test_case *c, const table_model *t, const grouping *model,
                        uint32_t order, uint32_t row_bits);
/* The key columns as the call is given them, without grouping. */
made_groups made_columns(const test_case *c, const table_model *t);
void made_destroy(made_groups *m);
/* Numbers that a call wrote. */
uint64_t *made_numbers(const array *a, uint64_t n, uint32_t bits);

#endif
