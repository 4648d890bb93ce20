/*
 * encode.h: rows of any key columns brought together by key, or numbered by it. The answer is exact:
 * where keys are hashed first, every row is compared with the first of its group. The files:
 *
 *     encode.c   the way that fits the columns: as they are, by hash, or exactly
 *     distinct.c   groups of which only keys, sizes or first rows are asked for
 *     few.c      groups that are known by number, the first try where keys are few
 *     exact.c    keys that no hash tells apart, the last resort
 *
 * A grouping goes hd_group_rows -> hd_group_distinct where no rows are asked for, else hd_group_array (one array of keys or hashes) -> hd_group_few, and
 * where groups are many the engine's `group`, which sorts.
 */
#ifndef HD_ENCODE_H
#define HD_ENCODE_H

#include <string.h>

#include "engine/engine.h"

/* Columns of values that are aggregated by key, n of them; those of the device. */
typedef struct hd_row_values {
    const hd_reduce *list;
    uint32_t n;
} hd_row_values;

/* Rows that are to be brought together, and how; all memory is the device's. */
typedef struct hd_row_source {
    heddle_device *device;
    const hd_row_keys *keys; /* of one or two tables; hd_group_array does not look at them */
    uint64_t rows;
    uint32_t row_bits; /* of row numbers, 32 or 64 */
    uint64_t seed;     /* not 0 */
    void *stream;
    uint32_t asked; /* HEDDLE_GROUPS_*: what will be asked of the groups; 0: anything */
    bool by_first;  /* where not anything: groups in the order of their first rows */
    const hd_row_values *values; /* aggregates that will be asked for; may be NULL */
} hd_row_source;

/*
 * Rows in groups, in memory of the device that hd_row_groups_free gives back. Few groups are known by
 * number where the engine can do that: then numbers and firsts are set, groups are in the order of their
 * first rows, and starts and rows are NULL until somebody needs them. Of groups whose rows nobody will
 * ask for the engine may know the keys alone: then distinct.kept is set, groups are in the order that was
 * asked for, and all other memory is NULL.
 */
typedef struct hd_row_groups {
    heddle_device *device;
    void *rows;        /* numbers of row_bits bits, ascending in a group */
    uint64_t *starts;  /* groups + 1 */
    uint32_t *numbers; /* the group of every row */
    void *firsts;      /* the first row of every group, of row_bits bits */
    uint64_t n, groups;
    uint32_t row_bits;
    uint32_t key_bits; /* of the keys of distinct */
    hd_distinct_job distinct;
} hd_row_groups;

/* Groups of a function's own: they go with the block in which they are declared. */
#define HD_ROW_GROUPS(name)                                                                        \
    hd_row_groups name __attribute__((cleanup(hd_row_groups_free)));                               \
    memset(&name, 0, sizeof name)

/* Whether n rows can be numbered by row_bits bits, with a number left for "none". */
static inline bool hd_rows_fit(uint64_t n, uint32_t row_bits)
{
    return n <= (row_bits == 32 ? UINT32_MAX : UINT64_C(1) << 56);
}

/*
 * Brings rows together by key. Nulls are equal to each other. The same keys, row_bits and seed give the
 * same order of groups. Waits for the stream. After a failure there is nothing to free.
 */
heddle_status hd_group_rows(const hd_row_source *from, hd_row_groups *made);
/* Frees what there is; groups that are all zeros have nothing. */
void hd_row_groups_free(hd_row_groups *made);

/* Makes sure that starts are there; that starts and rows are. Both wait for the stream. */
heddle_status hd_row_groups_count(hd_row_groups *made, void *stream);
heddle_status hd_row_groups_order(hd_row_groups *made, void *stream);

/* The rows as the column steps take them. */
hd_grouped hd_row_groups_view(const hd_row_groups *made);

/*
 * Gives every row the number of its key, 0 and up, equal keys equal numbers: row_bits bits for each of
 * the rows, device memory. *count (host memory): how many different keys there are.
 */
heddle_status hd_encode_rows(const hd_row_source *from, void *numbers, uint64_t *count);

/* The part that all ways end in: rows brought together by one array of 32- or 64-bit keys. */
heddle_status hd_group_array(const hd_row_source *from, const void *array, uint32_t key_bits,
                             hd_row_groups *made);
/* The same as hd_group_rows without any hash of rows, for keys that no hash tells apart; slow. */
heddle_status hd_group_exactly(const hd_row_source *from, hd_row_groups *made);
/* Whether so many aggregates may go along while keys of these columns are found, where no rows are asked for. */
bool hd_values_go_along(const heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                        uint32_t count);
/*
 * Where no rows are asked for: sets made->distinct if the engine can find distinct keys alone, else leaves all
 * as it was.
 */
heddle_status hd_group_distinct(const hd_row_source *from, const void *array, uint32_t key_bits,
                                hd_row_groups *made);
/* The i-th of the values that went along (model/columns.h), to device memory. Does not wait. */
heddle_status hd_fetch_distinct_value(const hd_row_groups *made, uint32_t i, void *out,
                                      uint8_t *valid, void *stream);
/* What HD_DISTINCT_* names of such groups, to device memory. Does not wait. */
heddle_status hd_fetch_distinct(const hd_row_groups *made, uint32_t what, void *out, void *stream);
/*
 * The first try of hd_group_array: sets made->groups where groups are few, else leaves all as it was.
 * `array` has keys of the width of `relate`.
 */
heddle_status hd_group_few(const hd_row_source *from, const void *array,
                           const hd_relate_ops *relate, hd_row_groups *made);

#endif
