/*
 * stage.h: works through the arrays of a call slice by slice, wherever they lie.
 *
 * An array that the device can use is handed on as it is. Host arrays of a GPU table go through two
 * sets of pinned and device buffers: while the device works on one slice, the host fills the next
 * and empties the one before. The buffers belong to the device, which keeps them for the next call;
 * calls that run at the same time have buffers of their own.
 */
#ifndef HD_STAGE_H
#define HD_STAGE_H

#include "table/table.h"

#define HD_SPANS_MAX 5

/* One array of a call. */
typedef struct hd_span {
    void *user;     /* NULL when the caller gave none */
    uint32_t width; /* bytes of an element */
    bool in;        /* the operation reads it */
    bool out;       /* the operation writes it */
} hd_span;

/* The operation on one slice: device[k] is where span k's elements from `first` on are, or NULL. */
typedef heddle_status (*hd_slice_work)(void *context, void *const device[HD_SPANS_MAX],
                                       uint64_t first, uint64_t n);

/* Runs `work` over n elements in order. Waits for the stream if any span had to be staged. */
heddle_status hd_for_slices(heddle_table *table, const hd_span *spans, int count, uint64_t n,
                            hd_slice_work work, void *context, void *stream);

/*
 * The same on a device without a table. *slice is how many elements are worked on at a time; `work` may
 * change it.
 */
heddle_status hd_for_slices_on(heddle_device *device, const uint64_t *slice, const hd_span *spans,
                               int count, uint64_t n, hd_slice_work work, void *context,
                               void *stream);

/* Makes sure that the next call over n elements has its buffers, before other memory is taken. */
heddle_status hd_stage_ready(heddle_device *device, uint64_t n);

/* Whether any of the spans lies where the device cannot use it. */
bool hd_any_staged(const heddle_table *table, const hd_span *spans, int count);
bool hd_any_staged_on(heddle_device *device, const hd_span *spans, int count);

/*
 * Fetches the pairs of items [first, first + n) of `from` (slots, edges, slabs) into device memory, appending
 * them at *cursor, which is moved on.
 */
typedef heddle_status (*hd_pairs_fetch)(heddle_table *table, const void *from, uint64_t first,
                                        uint64_t n, void *keys, void *values, uint64_t *cursor,
                                        void *stream);
/*
 * Hands the pairs of all items to `take` in host memory, in pieces; `values` is NULL in a set. An item has
 * `each` pairs at most. Waits for the stream. A status other than HEDDLE_OK from `take` ends it.
 */
heddle_status hd_for_pieces(heddle_table *table, uint64_t items, uint32_t each,
                            hd_pairs_fetch fetch, const void *from, hd_pairs_take take,
                            void *context, void *stream);
/* Writes all pairs to arrays of which one at least lies where the device cannot write. */
heddle_status hd_collect_staged(heddle_table *table, void *keys, void *values, void *stream);

/* Frees the buffers that a device keeps for the next call with host arrays. */
void hd_stages_free(heddle_device *device);

#endif
