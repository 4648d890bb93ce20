/*
 * lists.h: what a device must offer for growing lists of values of one width.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_LISTS_H
#define HD_ENGINE_LISTS_H

#include <heddle/heddle.h>

#include "model/lists.h"

typedef struct hd_list_ops {
    uint32_t value_bits;
    /* units[g]: what the new bucket of each run will take; 0 where none is needed. */
    heddle_status (*measure)(heddle_device *device, const hd_list_pool *pool,
                             const hd_list_runs *runs, void *stream);
    /* flags[i] = 1 where a run has no list yet and would get some room, else 0. */
    heddle_status (*flag_fresh)(heddle_device *device, const hd_list_runs *runs, uint8_t *flags,
                                void *stream);
    /* flags[i] = 1 where list numbers[i] exists and is empty, else 0. */
    heddle_status (*flag_empty)(heddle_device *device, const hd_list_pool *pool,
                                const uint64_t *numbers, uint64_t n, uint8_t *flags, void *stream);
    /* numbers[i] = base + ranks[i] where the flag is set. */
    heddle_status (*number)(heddle_device *device, const uint8_t *flags, const uint64_t *ranks,
                            uint64_t base, uint64_t n, uint64_t *numbers, void *stream);
    /* Gives every run its room; *granted is added to. A run without a list gets none. */
    heddle_status (*claim)(heddle_device *device, const hd_list_pool *pool,
                           const hd_list_runs *runs, hd_list_place *places, uint64_t *granted,
                           void *stream);
    heddle_status (*copy)(heddle_device *device, const hd_list_runs *runs,
                          const hd_list_place *places, const hd_list_rows *rows, void *stream);
    /*
     * Appends values[i] to list numbers[i], all at the same time, equal numbers too. left[i] = 1 where the
     * chunk had no bucket for it, else 0; *granted is added to.
     */
    heddle_status (*append)(heddle_device *device, const hd_list_pool *pool,
                            const uint64_t *numbers, const void *values, uint64_t n, uint8_t *left,
                            uint64_t *granted, void *stream);
    /* How many values each list has; 0 for HD_LIST_NONE. */
    heddle_status (*lengths)(heddle_device *device, const hd_list_pool *pool,
                             const uint64_t *numbers, uint64_t n, uint64_t *out, void *stream);
    /* One value of each list; left as it is for HD_LIST_NONE. */
    heddle_status (*first)(heddle_device *device, const hd_list_pool *pool, const uint64_t *numbers,
                           uint64_t n, void *values, void *stream);
    heddle_status (*fetch)(heddle_device *device, const hd_list_pool *pool,
                           const hd_list_fetch *fetch, void *stream);
    /* Ends the lists whose flag is set; sums[0] are their values, sums[1] the units of their buckets. */
    heddle_status (*bury)(heddle_device *device, const hd_list_pool *pool, const uint64_t *numbers,
                          const uint8_t *flags, uint64_t n, uint64_t *sums, void *stream);
    /* Counts and checks the lists of these numbers; *census is 0 before. */
    heddle_status (*inspect)(heddle_device *device, const hd_list_pool *pool,
                             const hd_list_bounds *bounds, const uint64_t *numbers, uint64_t n,
                             hd_list_census *census, void *stream);
} hd_list_ops;

#endif
