/* slots_view.c: tables of slots for kernels outside the library (heddle/device.cuh). */
#include <string.h>

#include "api/slots.h"
#include "engine/device_view.h"

/* What device.cuh names this table by. */
static uint32_t view_scheme(const heddle_table *table)
{
    const bool many = table->options.scheme == HEDDLE_SCHEME_OPEN && hd_is_multimap(table);
    return table->options.scheme | (many ? HEDDLE_VIEW_MULTIMAP : 0);
}

heddle_status heddle_table_get_view(heddle_table *table, uint32_t scheme, uint32_t key_bits,
                                    uint32_t value_bits, uint32_t bucket, void *view,
                                    uint64_t bytes)
{
    const heddle_status status = hd_check_table(table, NULL, "get_view");
    hd_device_view inside;
    if (status != HEDDLE_OK) return status;
    if (view == NULL || bytes != sizeof inside)
        return hd_fail(
            HEDDLE_ERROR_INVALID,
            "get_view: a view has %zu bytes, not %llu: device.cuh and the library are of "
            "different versions",
            sizeof inside, (unsigned long long)bytes);
    if (table->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "get_view: kernels cannot use a table on the CPU");
    if (table->kind != &hd_slots_kind)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "get_view: kernels cannot use %s", table->name);
    const heddle_table_options *o = &table->options;
    if (view_scheme(table) != scheme || o->key_bits != key_bits || o->value_bits != value_bits ||
        o->bucket != bucket)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "get_view: the table is %s%s, not one of scheme %u with %u-bit keys, %u-bit "
                       "values and buckets of %u",
                       table->name, hd_is_multimap(table) ? " as a multimap" : "", scheme, key_bits,
                       value_bits, bucket);
    inside.view = hd_slots(table)->storage.view;
    inside.born = &table->control->born;
    inside.died = &table->control->died;
    memcpy(view, &inside, sizeof inside);
    return HEDDLE_OK;
}
