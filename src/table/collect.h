/* collect.h: all pairs of a table, brought to the host in pieces. */
#ifndef HD_COLLECT_H
#define HD_COLLECT_H

#include "table/table.h"

/* Room in device memory that pairs are appended to. */
typedef struct hd_pairs_room {
    void *keys, *values;
    uint64_t *cursor; /* where the next pair goes */
} hd_pairs_room;

/* The pairs of a table, as items (slots, edges, slabs) that hold them. */
typedef struct hd_pieces {
    heddle_table *table;
    const void *from; /* the items, as `fetch` knows them */
    uint64_t items;
    uint32_t each; /* pairs of an item, at most */
    /* Appends the pairs of items [first, first + n) and moves the cursor on. */
    heddle_status (*fetch)(const struct hd_pieces *pieces, uint64_t first, uint64_t n,
                           const hd_pairs_room *to);
    void *stream;
} hd_pieces;

/* Hands the pairs of all items to `take`, as hd_table_kind.for_pairs says. */
heddle_status hd_for_pieces(const hd_pieces *pieces, hd_pairs_take take, void *context);
/* Writes all pairs to arrays anywhere, by way of the host where the device cannot write to them. */
heddle_status hd_collect(heddle_table *table, void *keys, void *values, void *stream);

#endif
