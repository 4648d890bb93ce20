/* public_struct.c: reading and writing structs of other versions of the public headers. */
#include "host/public_struct.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"

/* No version of a struct is as large: a size beyond was never set. */
#define STRUCT_MOST 4096

#define KIND(type, initialiser)                                                                    \
    {                                                                                              \
        initialiser, sizeof(type), sizeof(type)                                                    \
    }

/* Their first versions end before `vertices`, before `chains` and before `aggregates`. */
const hd_struct_kind hd_table_options_kind = {"HEDDLE_TABLE_OPTIONS_INIT",
                                              offsetof(heddle_table_options, vertices),
                                              sizeof(heddle_table_options)};
const hd_struct_kind hd_table_stats_kind = {
    "HEDDLE_TABLE_STATS_INIT", offsetof(heddle_table_stats, chains), sizeof(heddle_table_stats)};
const hd_struct_kind hd_insert_options_kind =
    KIND(heddle_insert_options, "HEDDLE_INSERT_OPTIONS_INIT");
const hd_struct_kind hd_totals_kind = KIND(heddle_totals, "HEDDLE_TOTALS_INIT");
const hd_struct_kind hd_device_info_kind = KIND(heddle_device_info, "HEDDLE_DEVICE_INFO_INIT");
const hd_struct_kind hd_join_options_kind = KIND(heddle_join_options, "HEDDLE_JOIN_OPTIONS_INIT");
const hd_struct_kind hd_groups_options_kind = {"HEDDLE_GROUPS_OPTIONS_INIT",
                                               offsetof(heddle_groups_options, aggregates),
                                               sizeof(heddle_groups_options)};
const hd_struct_kind hd_aggregate_kind = KIND(heddle_aggregate, "HEDDLE_AGGREGATE_INIT");
const hd_struct_kind hd_relation_stats_kind =
    KIND(heddle_relation_stats, "HEDDLE_RELATION_STATS_INIT");
const hd_struct_kind hd_filter_options_kind =
    KIND(heddle_filter_options, "HEDDLE_FILTER_OPTIONS_INIT");
const hd_struct_kind hd_filter_stats_kind = KIND(heddle_filter_stats, "HEDDLE_FILTER_STATS_INIT");
const hd_struct_kind hd_cluster_options_kind =
    KIND(heddle_cluster_options, "HEDDLE_CLUSTER_OPTIONS_INIT");
const hd_struct_kind hd_cluster_info_kind = KIND(heddle_cluster_info, "HEDDLE_CLUSTER_INFO_INIT");
const hd_struct_kind hd_spread_options_kind =
    KIND(heddle_spread_options, "HEDDLE_SPREAD_OPTIONS_INIT");
const hd_struct_kind hd_cluster_stats_kind =
    KIND(heddle_cluster_stats, "HEDDLE_CLUSTER_STATS_INIT");
const hd_struct_kind hd_shelf_options_kind =
    KIND(heddle_shelf_options, "HEDDLE_SHELF_OPTIONS_INIT");
const hd_struct_kind hd_shelf_stats_kind = KIND(heddle_shelf_stats, "HEDDLE_SHELF_STATS_INIT");

static uint32_t size_of(const void *given)
{
    uint32_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

heddle_status hd_check_struct(const void *given, const hd_struct_kind *kind)
{
    if (given == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "a struct to be filled is missing: begin it with %s",
                       kind->initialiser);
    const uint32_t size = size_of(given);
    if (size < kind->first || size > STRUCT_MOST || size % sizeof(uint64_t) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "the size of a struct is %u, not %u: begin it with %s",
                       size, kind->own, kind->initialiser);
    return HEDDLE_OK;
}

heddle_status hd_read_struct(void *own, const void *given, const hd_struct_kind *kind)
{
    const char *bytes = (const char *)given;
    if (given == NULL) return HEDDLE_OK;
    HD_TRY(hd_check_struct(given, kind));
    const uint32_t size = size_of(given);
    for (uint32_t i = kind->own; i < size; i++)
        if (bytes[i] != 0)
            return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                           "the struct that begins with %s has %u bytes and asks for what this "
                           "library does not know: it knows the first %u",
                           kind->initialiser, size, kind->own);
    memcpy(own, given, smaller(size, kind->own));
    memcpy(own, &kind->own, sizeof kind->own);
    return HEDDLE_OK;
}

void hd_write_struct(void *given, const void *own, const hd_struct_kind *kind)
{
    const uint32_t size = size_of(given), known = smaller(size, kind->own);
    memcpy(given, own, known);
    memset((char *)given + known, 0, size - known);
    memcpy(given, &size, sizeof size);
}

heddle_status hd_check_totals(const heddle_totals *totals)
{
    if (totals == NULL) return HEDDLE_OK;
    HD_TRY(hd_check_struct(totals, &hd_totals_kind));
    return totals->reserved == 0
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_INVALID, "the reserved field of the totals is not 0");
}

void hd_write_totals(heddle_totals *totals, const heddle_totals *own)
{
    hd_write_struct(totals, own, &hd_totals_kind);
}

void hd_clear_totals(heddle_totals *totals)
{
    static const heddle_totals none = HEDDLE_TOTALS_INIT;
    hd_write_totals(totals, &none);
}
