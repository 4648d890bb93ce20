/*
 * lists.h: what a device must offer for growing lists of values of one width.
 * All memory is the device's; nothing waits, and nothing needs work memory.
 */
#ifndef HD_ENGINE_LISTS_H
#define HD_ENGINE_LISTS_H

#include <heddle/heddle.h>

#include "model/lists.h"

typedef struct hd_list_ops {
    uint32_t value_bits;
    /* units[g]: what the new bucket of each run will take; 0 where none is needed. */
    heddle_status (*measure)(hd_site on, const hd_list_pool *pool, const hd_list_runs *runs);
    /* flags[i] = 1 where a run has no list yet and would get some room, else 0. */
    heddle_status (*flag_fresh)(hd_site on, const hd_list_runs *runs, uint8_t *flags);
    /* flags[i] = 1 where list i of `lists` exists and is empty, else 0. */
    heddle_status (*flag_empty)(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                                uint8_t *flags);
    /* The list of run i becomes base + ranks[i] where the flag is set. */
    heddle_status (*number)(hd_site on, const hd_list_runs *runs, const uint8_t *flags,
                            const uint64_t *ranks, uint64_t base);
    /* Gives every run its room; *granted is added to. A run without a list gets none. */
    heddle_status (*claim)(hd_site on, const hd_list_pool *pool, const hd_list_runs *runs,
                           hd_list_place *places, uint64_t *granted);
    heddle_status (*copy)(hd_site on, const hd_list_runs *runs, const hd_list_place *places,
                          const hd_list_rows *rows);
    /* All at the same time, to equal lists too; *granted is added to. */
    heddle_status (*append)(hd_site on, const hd_list_pool *pool, const hd_list_appends *appends,
                            uint64_t *granted);
    /* How many values each list has; 0 for HD_LIST_NONE. */
    heddle_status (*lengths)(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                             uint64_t *out);
    /* One value of each list; left as it is for HD_LIST_NONE. */
    heddle_status (*first)(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                           void *values);
    heddle_status (*fetch)(hd_site on, const hd_list_pool *pool, const hd_list_fetch *fetch);
    /* Ends the lists whose flag is set; sums[0] are their values, sums[1] the units of their buckets. */
    heddle_status (*bury)(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                          const uint8_t *flags, uint64_t *sums);
    /* Counts and checks the lists of these numbers; *census is 0 before. */
    heddle_status (*inspect)(hd_site on, const hd_list_pool *pool, const hd_list_bounds *bounds,
                             hd_list_numbers lists, hd_list_census *census);
} hd_list_ops;

#endif
