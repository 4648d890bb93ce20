/* fills.c: see fills.h. */
#include "support/fills.h"

#include "support/arrays.h"
#include "support/keys.h"

void fills_values(uint64_t *values, const uint64_t *keys, uint64_t n, uint32_t policy)
{
    keys_fill_values(values, n, policy);
    if (policy == HEDDLE_POLICY_KEEP || policy == HEDDLE_POLICY_REPLACE)
        for (uint64_t i = 0; i < n; i++) values[i] = keys[i] * UINT64_C(0x9e3779b97f4a7c15);
}

model *fills_model(const test_case *c, model *m, const uint64_t *keys, const uint64_t *values,
                   uint64_t n, uint32_t policy)
{
    if (m == NULL) m = model_create();
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t given = low_bits(values[i], c->ops->value_bits);
        const uint64_t key = low_bits(keys[i], c->ops->key_bits);
        uint64_t there = 0;
        model_set(m, key,
                  model_find(m, key, &there)
                      ? model_combine(policy, there, given, c->ops->value_bits)
                      : given);
    }
    return m;
}

heddle_status fills_call(const test_case *c, heddle_table *table, fills_function call,
                         const uint64_t *keys, const uint64_t *values, uint64_t n, uint32_t policy,
                         uint64_t workspace, heddle_totals *totals)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    array k = array_of(c, ROLE_KEYS, keys, n, c->ops->key_bits);
    array v = array_of(c, ROLE_VALUES, values, n, c->ops->value_bits);
    heddle_status status;
    options.policy = policy;
    if (workspace != UINT64_MAX) {
        check_ok(heddle_memory_allocate(c->device, workspace + 1, &options.workspace));
        options.workspace_bytes = workspace;
    }
    status = call(table, array_pointer(&k), array_pointer(&v), n, &options, totals, NULL);
    check_ok(heddle_memory_free(c->device, options.workspace));
    array_free(&k);
    array_free(&v);
    return status;
}

heddle_table *fills_table(const test_case *c, uint64_t capacity, double load, uint32_t flags)
{
    heddle_table_options options = case_options(c);
    heddle_table *table = NULL;
    options.capacity = capacity;
    options.load = load;
    options.flags = flags;
    check_ok(heddle_table_create(c->device, &options, &table));
    return table;
}

double fills_load(const test_case *c) { return c->ops->bucket == 1 ? 0.6 : 0.9; }
