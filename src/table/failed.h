/* failed.h: the list of the keys of a call that did not fit, for callers who want their indices. */
#ifndef HD_FAILED_H
#define HD_FAILED_H

#include "table/table.h"

typedef struct hd_failed_list {
    const heddle_insert_options *options;
    uint64_t listed;
    uint8_t *host; /* a slice of outcomes in host memory, where the device has its own */
} hd_failed_list;

/* Makes room for a slice, if the caller wants the list at all. */
heddle_status hd_failed_begin(heddle_table *table, const heddle_insert_options *options,
                              hd_failed_list *list);
/* Adds those of the n keys from `first` on whose outcome, in device memory, is FAILED. Waits. */
heddle_status hd_failed_add(heddle_table *table, hd_failed_list *list, const uint8_t *outcomes,
                            uint64_t first, uint64_t n, void *stream);
void hd_failed_end(hd_failed_list *list);

static inline bool hd_failed_wanted(const heddle_insert_options *options)
{
    return options->failed_capacity != 0;
}

#endif
