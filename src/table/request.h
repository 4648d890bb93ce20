/*
 * request.h: one call on a table, as a record: what the caller brings, what it wants back, and
 * whether it waits.
 *
 * A public function (calls.c) fills in what its operation has and leaves all else NULL and 0. The
 * record then goes down through the room. Who works on a part of the batch (a piece, a copy in
 * device memory) makes a copy of the record and points its arrays there: hd_request_part.
 */
#ifndef HD_REQUEST_H
#define HD_REQUEST_H

#include "host/stage.h"

typedef struct hd_request {
    /* What the caller brings: n elements each, in host memory or on the table's device. */
    const void *keys;
    const void *values;        /* insert, build, mixed; NULL: none */
    const uint8_t *operations; /* mixed: HEDDLE_OPERATION_*; NULL: all insert */
    uint64_t n;
    heddle_insert_options options; /* insert, build, mixed */

    /* What the caller wants back: NULL where it does not. */
    void *values_out;   /* find, mixed: n values; retrieve: room for `capacity` of them */
    uint8_t *found;     /* find, erase: n flags */
    uint64_t *matches;  /* count: n numbers of values */
    uint64_t *offsets;  /* retrieve: n + 1, where the values of each key begin */
    uint64_t capacity;  /* retrieve: values that there is room for */
    uint64_t *count;    /* retrieve: the values of all keys; host memory, always there */
    bool offsets_known; /* retrieve: `offsets` and `count` have been given, and the keys counted */

    /*
     * The sums of what became of the keys. A call that does not wait leaves them on the device, for
     * heddle_table_take_totals. `waits` says that it has to; it is true afterwards where it did,
     * and `counts` are the sums then.
     */
    bool waits;
    hd_counts counts;

    void *stream;
} hd_request;

/*
 * The request for elements [first, first + n) of arrays that have one for every key; nothing
 * counted.
 */
hd_request hd_request_part(const heddle_table *table, const hd_request *r, uint64_t first,
                           uint64_t n);
/* Whether the device can read keys and values where they lie. */
bool hd_request_is_direct(const heddle_table *table, const hd_request *r);
/* Whether the caller of an insertion asks what became of single keys. */
bool hd_request_asks_each(const hd_request *r);

/* Spans: keys, values, outcomes, operations, values_out. */
hd_slices hd_insert_slices(heddle_table *table, const hd_request *r);
/* Spans: keys, found, values_out, matches. All at once where nothing is staged. */
hd_slices hd_lookup_slices(heddle_table *table, const hd_request *r);

void hd_counts_add(hd_counts *sums, const hd_counts *more);

/* ------------------------------------------------------------------------------ failed keys */

/* The list of keys that did not fit, for callers who want their indices (options.failed). */
typedef struct hd_failed_list {
    heddle_table *table;
    const heddle_insert_options *options;
    uint64_t listed;
    uint8_t *host; /* a slice of outcomes in host memory, where the device has its own */
} hd_failed_list;

/* A list that frees itself. */
#define HD_FAILED_LIST(name)                                                                       \
    hd_failed_list name __attribute__((cleanup(hd_failed_end))) = {NULL, NULL, 0, NULL}

/* Makes room for a slice, if the caller wants the list at all. The options outlive the list. */
heddle_status hd_failed_begin(heddle_table *table, const heddle_insert_options *options,
                              hd_failed_list *list);
/* Adds those of the n keys from `first` on whose outcome, in device memory, is FAILED. Waits. */
heddle_status hd_failed_add(hd_failed_list *list, const uint8_t *outcomes, uint64_t first,
                            uint64_t n, void *stream);
void hd_failed_end(hd_failed_list *list);

static inline bool hd_failed_wanted(const heddle_insert_options *options)
{
    return options->failed_capacity != 0;
}

#endif
