/*
 * owners.h: rows on their way to the members of a cluster that own their keys, and answers on their way back.
 *
 * The leading bits of a mixed key name a bin, and a table says which member owns every bin. The rows are cut
 * into tiles of neighbours. A member is sent the rows that it owns of the first tile, then those of the second,
 * and so on; within a tile each row has a rank among those of its owner. So the place of a row is
 *
 *     places[owner][tile] + rank
 *
 * and can be computed from the keys again when answers have come back in that order: no row number goes along
 * or is kept. All reads and writes are runs of neighbours, one for every owner and tile. The rows
 * of a member keep their order.
 */
#ifndef HD_MODEL_OWNERS_H
#define HD_MODEL_OWNERS_H

#include "model/view.h"
#include <heddle/heddle.h>

#define HD_OWNER_BITS_MAX 16
/* The owners of so many bins are kept in the fastest memory. Up to HD_OWNERS_DIRECT members there are no more. */
#define HD_OWNER_BITS_FEW 12
#define HD_OWNERS_MAX 1024
#define HD_OWNERS_DIRECT 32 /* members that reach each other's memory on a GPU, at most */

/* A batch of rows. All memory is the device's. */
typedef struct hd_owners {
    hd_mix mix;
    /* 1 to HD_OWNER_BITS_MAX, of few members HD_OWNER_BITS_FEW: of a mixed key, the leading ones name the bin. */
    uint32_t bits;
    uint32_t members;       /* at most HD_OWNERS_MAX */
    const uint16_t *owners; /* of every bin, less than `members` */
    const void *keys;       /* the same at every step */
    uint64_t n;             /* less than 2^32 */
    uint64_t *starts;       /* out: where the rows of every member begin; members + 1 numbers */
    void *
        work; /* as many bytes as `work` says for n rows; what `plan` leaves there is for the others */
} hd_owners;

/* Columns that go where the keys belong. */
typedef struct hd_owners_sent {
    void *keys;         /* out */
    const void *values; /* NULL: keys alone */
    void *values_out;
    uint32_t width; /* bytes of a value, 4 or 8 */
    /* NULL, or instead of the arrays for all: where the rows of every member begin. These are in host memory. */
    void *const *keys_to, *const *values_to;
} hd_owners_sent;

/* Answers in the order in which the rows were sent. */
typedef struct hd_owners_answers {
    const uint8_t *found; /* NULL: all were found */
    const void *values;
    uint32_t width;     /* bytes of a value, 4 or 8 */
    uint8_t *found_out; /* in the order of the rows; NULL: nobody wants to know */
    void *values_out;   /* the same; that of a row that was not found stays as it was */
    /* NULL, or instead of `found` and `values`: where the answers of every member begin. Likewise. */
    void *const *found_of, *const *values_of;
} hd_owners_answers;

#endif
