/*
 * public_struct.h: structs of the public interface that may grow. Each begins with its size, as the caller's
 * header has it, and every call reads and writes them by the functions below. So a program that was compiled
 * with an older header works with this library, and one with a newer header does as long as it asks for
 * nothing that this library does not know.
 *
 * A struct's first version is the smallest that is accepted. Fields are only ever added at its end.
 */
#ifndef HD_PUBLIC_STRUCT_H
#define HD_PUBLIC_STRUCT_H

#include <heddle/heddle.h>

/* What a message says of a struct: its initialiser, and the bytes of its first version. */
typedef struct hd_struct_kind {
    const char *initialiser;
    uint32_t first, own; /* bytes of the first version, and of this library's */
} hd_struct_kind;

extern const hd_struct_kind hd_table_options_kind, hd_insert_options_kind, hd_table_stats_kind,
    hd_totals_kind, hd_device_info_kind, hd_join_options_kind, hd_groups_options_kind,
    hd_aggregate_kind, hd_relation_stats_kind, hd_filter_options_kind, hd_filter_stats_kind,
    hd_cluster_options_kind, hd_cluster_info_kind, hd_spread_options_kind, hd_cluster_stats_kind,
    hd_shelf_options_kind, hd_shelf_stats_kind;

/*
 * Reads what a caller gives. `own` holds the defaults and receives what the caller's struct has; NULL has
 * nothing. A larger struct is accepted when all that this library does not know is 0.
 */
heddle_status hd_read_struct(void *own, const void *given, const hd_struct_kind *kind);
/* Whether a struct that a call is to fill is there and has a size. */
heddle_status hd_check_struct(const void *given, const hd_struct_kind *kind);
/* Fills it: its size stays, what an older struct lacks is not written, what a newer one has beyond is 0. */
void hd_write_struct(void *given, const void *own, const hd_struct_kind *kind);

/* Totals, which many calls fill and all may be given without. */
heddle_status hd_check_totals(const heddle_totals *totals);
void hd_write_totals(heddle_totals *totals, const heddle_totals *own);
/* Sets all fields but the size to 0. */
void hd_clear_totals(heddle_totals *totals);

#endif
