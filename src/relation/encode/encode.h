/*
 * encode.h: rows of any key columns brought together by key, or numbered by it. The answer is exact: where
 * keys are hashed first, every row is compared with the first of its group.
 */
#ifndef HD_ENCODE_H
#define HD_ENCODE_H

#include "engine/engine.h"

/*
 * Rows in groups, in memory of the device that hd_row_groups_free gives back. Few groups are known by
 * number where the engine can do that: then numbers and firsts are set, groups are in the order of their
 * first rows, and starts and rows are NULL until somebody needs them.
 */
typedef struct hd_row_groups {
    void *rows;        /* numbers of row_bits bits, ascending in a group */
    uint64_t *starts;  /* groups + 1 */
    uint32_t *numbers; /* the group of every row */
    void *firsts;      /* the first row of every group, of row_bits bits */
    uint64_t n, groups;
    uint32_t row_bits;
} hd_row_groups;

/* Whether n rows can be numbered by row_bits bits, with a number left for "none". */
static inline bool hd_rows_fit(uint64_t n, uint32_t row_bits)
{
    return n <= (row_bits == 32 ? UINT32_MAX : UINT64_C(1) << 56);
}

/*
 * Brings the `rows` rows of one or two tables together by key; all columns are device memory. Nulls are
 * equal to each other. The same keys, row_bits and seed (not 0) give the same order of groups. Waits for
 * the stream.
 */
heddle_status hd_group_rows(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                            uint32_t row_bits, uint64_t seed, hd_row_groups *made, void *stream);
void hd_row_groups_free(heddle_device *device, hd_row_groups *made);

/* Makes sure that starts are there; that starts and rows are. Both wait for the stream. */
heddle_status hd_row_groups_count(heddle_device *device, hd_row_groups *made, void *stream);
heddle_status hd_row_groups_order(heddle_device *device, hd_row_groups *made, void *stream);

/* The rows as the column steps take them. */
hd_grouped hd_row_groups_view(const hd_row_groups *made);

/*
 * Gives every row the number of its key, 0 and up, equal keys equal numbers: number_bits (32 or 64) bits
 * for each of the rows, device memory. *count (host memory): how many different keys there are.
 */
heddle_status hd_encode_rows(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                             uint32_t number_bits, uint64_t seed, void *numbers, uint64_t *count,
                             void *stream);

/* The part that all ways end in: rows brought together by one array of 32- or 64-bit keys. */
heddle_status hd_group_array(heddle_device *device, const void *array, uint32_t key_bits,
                             uint64_t rows, uint32_t row_bits, uint64_t seed, hd_row_groups *made,
                             void *stream);

/* The same as hd_group_rows without any hash of rows, for keys that no hash tells apart; slow. */
heddle_status hd_group_exactly(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                               uint32_t row_bits, uint64_t seed, hd_row_groups *made, void *stream);

/* The first try of hd_group_array: sets made->groups where groups are few, else leaves all as it was. */
heddle_status hd_group_few(heddle_device *device, const void *array, const hd_relate_ops *relate,
                           uint64_t seed, hd_row_groups *made, void *stream);

#endif
