/*
 * filter.h: what a device must offer for Bloom filters, for keys of one width.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_FILTER_H
#define HD_ENGINE_FILTER_H

#include <heddle/heddle.h>

#include "model/filter.h"

typedef struct hd_filter_ops {
    /* Sets the bits of all keys. Other calls may set or read bits at the same time. */
    heddle_status (*add)(heddle_device *device, const hd_filter_view *view, const void *keys,
                         uint64_t n, void *stream);
    /* The same for mixed keys that are sorted. On an engine of host memory nobody else may set bits. */
    heddle_status (*add_sorted)(heddle_device *device, const hd_filter_view *view,
                                const hd_filter_sorted *sorted, void *stream);
    /* By how many bits n keys are best sorted before they are added; 0: they are not. */
    uint32_t (*sort_bits)(heddle_device *device, const hd_filter_view *view, uint64_t n);
    /* found[i]: whether all bits of key i are set; *count is added to. Either may be NULL. */
    heddle_status (*contains)(heddle_device *device, const hd_filter_view *view, const void *keys,
                              uint64_t n, uint8_t *found, uint64_t *count, void *stream);
    /* Sets all bits that are set in `from`, which has as many blocks. As add_sorted. */
    heddle_status (*merge)(heddle_device *device, const hd_filter_view *view, const uint32_t *from,
                           void *stream);
    /* *census was set to 0 by the caller. */
    heddle_status (*inspect)(heddle_device *device, const hd_filter_view *view,
                             hd_filter_census *census, void *stream);
} hd_filter_ops;

#endif
