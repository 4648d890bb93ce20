/* view.c: tables for kernels outside the library (heddle/device.cuh). */
#define HEDDLE_UNSTABLE
#include <heddle/unstable.h>

#include <string.h>

#include "base/error.h"
#include "table/lists/lists.h"
#include "table/slabs/slabs.h"
#include "table/slots/slots.h"

/* What device.cuh names this table by. */
static uint32_t view_scheme(const heddle_table *table)
{
    const uint32_t scheme = table->options.scheme;
    const bool both = scheme == HEDDLE_SCHEME_OPEN || scheme == HEDDLE_SCHEME_SLAB;
    return scheme | (both && hd_is_multimap(table) ? HEDDLE_VIEW_MULTIMAP : 0);
}

static uint64_t view_bytes(uint32_t scheme)
{
    const uint32_t bare = scheme & ~HEDDLE_VIEW_MULTIMAP;
    if (bare == HEDDLE_SCHEME_BUCKET_LIST) return sizeof(hd_device_lists);
    return bare == HEDDLE_SCHEME_SLAB ? sizeof(hd_device_slabs) : sizeof(hd_device_view);
}

/* The caller's memory is large enough, and there are views of such a table. */
static heddle_status check_view(const heddle_table *table, uint32_t scheme, const void *view,
                                uint64_t bytes)
{
    const uint64_t needed = view_bytes(scheme);
    if (view == NULL || bytes != needed)
        return hd_fail(
            HEDDLE_ERROR_INVALID,
            "get_view: a view has %llu bytes, not %llu: device.cuh and the library are of "
            "different versions",
            (unsigned long long)needed, (unsigned long long)bytes);
    if (table->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "get_view: kernels cannot use a table on the CPU");
    if (table->kind != &hd_slots_kind && table->kind != &hd_lists_kind &&
        table->kind != &hd_slabs_kind)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "get_view: kernels cannot use %s", table->name);
    return HEDDLE_OK;
}

static heddle_status view_slots(heddle_table *table, void *view)
{
    hd_device_view inside;
    hd_slots(table)->viewed = true;
    inside.view = hd_slots(table)->storage.view;
    inside.born = &table->control->born;
    inside.died = &table->control->died;
    memcpy(view, &inside, sizeof inside);
    return HEDDLE_OK;
}

static heddle_status view_lists(heddle_table *table, void *view)
{
    hd_device_lists lists;
    HD_TRY(hd_lists_view(table, &lists));
    memcpy(view, &lists, sizeof lists);
    return HEDDLE_OK;
}

/*
 * A kernel may erase any number of keys: the next insertion asks the device whether compacting is
 * worth it.
 */
static heddle_status view_slabs(heddle_table *table, void *view)
{
    hd_device_slabs slabs;
    slabs.view = hd_slabs(table)->storage.view;
    slabs.born = &table->control->born;
    slabs.died = &table->control->died;
    memcpy(view, &slabs, sizeof slabs);
    if (hd_slabs(table)->erased < UINT64_MAX / 2) hd_slabs_note_erased(table, UINT64_MAX / 2);
    return HEDDLE_OK;
}

heddle_status heddle_table_get_view(heddle_table *table, uint32_t scheme, uint32_t key_bits,
                                    uint32_t value_bits, uint32_t bucket, void *view,
                                    uint64_t bytes)
{
    HD_TRY(hd_check_table(table, NULL, "get_view"));
    HD_TRY(check_view(table, scheme, view, bytes));
    const heddle_table_options *o = &table->options;
    if (view_scheme(table) != scheme || o->key_bits != key_bits || o->value_bits != value_bits ||
        o->bucket != bucket)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "get_view: the table is %s%s with buckets of %u, not one of scheme %u with "
                       "%u-bit keys, %u-bit values and buckets of %u",
                       table->name, hd_is_multimap(table) ? " as a multimap" : "", o->bucket,
                       scheme & ~HEDDLE_VIEW_MULTIMAP, key_bits, value_bits, bucket);
    if (table->kind == &hd_lists_kind) return view_lists(table, view);
    return table->kind == &hd_slabs_kind ? view_slabs(table, view) : view_slots(table, view);
}
