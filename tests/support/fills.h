/* fills.h: large batches as a caller gives them who asks for no outcomes, and what a table then holds. */
#ifndef TEST_FILLS_H
#define TEST_FILLS_H

#include "support/cases.h"
#include "support/model.h"

#define FILLS_POLICIES (HEDDLE_POLICY_MAX + 1)

/* Values for keys; equal keys get equal values where the contract lets any of them win. */
void fills_values(uint64_t *values, const uint64_t *keys, uint64_t n, uint32_t policy);
/* What n pairs make of a table that holds what `m` says; NULL: of an empty one. */
model *fills_model(const test_case *c, model *m, const uint64_t *keys, const uint64_t *values,
                   uint64_t n, uint32_t policy);

typedef heddle_status (*fills_function)(heddle_table *, const void *, const void *, uint64_t,
                                        const heddle_insert_options *, heddle_totals *, void *);
/* One call without outcomes, with a workspace of so many bytes; UINT64_MAX: the library's own. */
heddle_status fills_call(const test_case *c, heddle_table *table, fills_function call,
                         const uint64_t *keys, const uint64_t *values, uint64_t n, uint32_t policy,
                         uint64_t workspace, heddle_totals *totals);

heddle_table *fills_table(const test_case *c, uint64_t capacity, double load, uint32_t flags);
/* A high load: buckets of one slot take less. */
double fills_load(const test_case *c);

#endif
