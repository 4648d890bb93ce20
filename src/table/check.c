/*
 * check.c: see check.h. An insertion is checked in this order: its arrays, by what the container
 * takes; its options; its workspace.
 */
#include "table/check.h"

#include "base/error.h"
#include "table/table.h"

#define POLICY(name) (UINT32_C(1) << HEDDLE_POLICY_##name)
#define ALL_POLICIES (POLICY(KEEP) | POLICY(REPLACE) | POLICY(ADD) | POLICY(MIN) | POLICY(MAX))

/* What containers take. */
static const struct container_rule {
    const char *name;
    bool takes_values, needs_values;
    uint32_t policies;
} rules[] = {
    {"container", false, false, 0},
    {"map", true, true, ALL_POLICIES},
    {"set", false, false, ALL_POLICIES},
    {"multimap", true, true, POLICY(KEEP)},
    {"counter", true, false, POLICY(KEEP) | POLICY(ADD)},
};

heddle_status hd_check_table(const heddle_table *table, const void *stream, const char *what)
{
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the table is NULL", what);
    if (stream != NULL && table->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the stream must be NULL on the CPU", what);
    return HEDDLE_OK;
}

heddle_status hd_check_widths(const char *what, uint32_t has_keys, uint32_t has_values,
                              uint32_t key_bits, uint32_t value_bits)
{
    if (key_bits != has_keys)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "the array has keys of %u bits, the %s keys of %u bits: make its options "
                       "from the types (heddle/typed.h)",
                       key_bits, what, has_keys);
    if (value_bits != 0 && value_bits != has_values)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "the array has values of %u bits, the %s values of %u bits: make its "
                       "options from the types (heddle/typed.h)",
                       value_bits, what, has_values);
    return HEDDLE_OK;
}

heddle_status hd_check_array(const void *array, uint64_t n, uint32_t width, const char *what)
{
    if (n == 0) return HEDDLE_OK;
    if (array == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the array of %s is NULL", what);
    if ((uintptr_t)array % width != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "the array of %s is not aligned to its elements of %u bytes", what, width);
    if (n > UINT64_MAX / 16 / width)
        return hd_fail(HEDDLE_ERROR_INVALID, "no array has that many %s", what);
    return HEDDLE_OK;
}

static heddle_status check_workspace(const heddle_insert_options *o, heddle_device *device,
                                     const char *what)
{
    if (o->workspace == NULL && o->workspace_bytes != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: workspace_bytes without a workspace", what);
    if (o->workspace == NULL) return HEDDLE_OK;
    if (device == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "%s: clusters and shelves take no workspace, only single tables do", what);
    if ((uintptr_t)o->workspace % HEDDLE_WORKSPACE_ALIGNMENT != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the workspace is not aligned to %d bytes", what,
                       HEDDLE_WORKSPACE_ALIGNMENT);
    if (!device->engine->is_device_memory(device, o->workspace))
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the workspace is no memory of the table's device",
                       what);
    return HEDDLE_OK;
}

static heddle_status check_options(const struct container_rule *rule,
                                   const heddle_insert_options *o, heddle_device *device,
                                   const char *what)
{
    if (o->policy > HEDDLE_POLICY_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: there is no policy %u", what, o->policy);
    if ((rule->policies >> o->policy & 1) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: policy %u is not for a %s", what, o->policy,
                       rule->name);
    if (o->failed == NULL && o->failed_capacity != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: failed_capacity without an array `failed`", what);
    HD_TRY(hd_check_array(o->failed, o->failed_capacity, sizeof(uint64_t), "failed indices"));
    return check_workspace(o, device, what);
}

heddle_status hd_check_insertion(const heddle_table_options *options, const hd_request *request,
                                 heddle_device *device, const char *what)
{
    const struct container_rule *rule = &rules[options->container];
    HD_TRY(hd_check_array(request->keys, request->n, options->key_bits / 8, "keys"));
    if (!rule->takes_values && request->values != NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: a %s takes no values", what, rule->name);
    if (rule->needs_values || request->values != NULL)
        HD_TRY(hd_check_array(request->values, request->n, options->value_bits / 8, "values"));
    return check_options(rule, &request->options, device, what);
}

heddle_status hd_check_mixture(const heddle_table_options *options, const hd_request *request,
                               heddle_device *device, const char *what)
{
    const struct container_rule *rule = &rules[options->container];
    const uint32_t value_width = options->value_bits / 8;
    HD_TRY(hd_check_array(request->operations, request->n, 1, "operations"));
    HD_TRY(hd_check_array(request->keys, request->n, options->key_bits / 8, "keys"));
    if (value_width == 0 && (request->values != NULL || request->values_out != NULL))
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: a set has no values", what);
    if (rule->needs_values || request->values != NULL)
        HD_TRY(hd_check_array(request->values, request->n, value_width, "values"));
    if (request->values_out != NULL)
        HD_TRY(hd_check_array(request->values_out, request->n, value_width, "values"));
    return check_options(rule, &request->options, device, what);
}
