/*
 * filter.h: the room of Bloom filters. scheme/bloom.h has the scheme, engine/filter.h what a device must
 * offer. The files:
 *
 *     filter.c   options, making, merging, clearing, what a filter says of itself
 *     calls.c    adding keys, looking for them, selecting those that pass
 *     save.c     filters in files
 *     rate.c     the rate of false positives, by theory
 *
 * A large batch is added by heddle_filter_add -> add_device -> add_sorted, which calls the engine's
 * `partition` and `add_sorted`; a small one by the engine's `add`. A lookup is one call of `contains`.
 * Arrays that the device cannot use come slice by slice (host/stage.h).
 */
#ifndef HD_FILTER_H
#define HD_FILTER_H

#include "base/error.h"
#include "engine/engine.h"

struct heddle_filter {
    heddle_device *device;
    const hd_engine *engine;
    const hd_filter_ops *ops;
    heddle_filter_options options; /* as chosen */
    hd_filter_view view;
    uint64_t slice;        /* keys of a batch with host arrays worked on at a time */
    uint64_t added;        /* keys; changed by atomic steps */
    pthread_mutex_t adder; /* held on an engine of host memory by whoever sets bits */
};

/* Makes a filter of so many blocks; options are complete. */
heddle_status hd_filter_make(heddle_device *device, const heddle_filter_options *options,
                             uint64_t blocks, heddle_filter **filter);
/* Refuses options that nobody can have meant. */
heddle_status hd_filter_check_options(const heddle_filter_options *options);
/* How many of the leading bits name regions, in a filter of that many blocks. */
uint32_t hd_filter_region_bits(uint64_t blocks);
/* The filter and its stream are usable. `what` names the operation. */
heddle_status hd_filter_check(const heddle_filter *filter, const void *stream, const char *what);

static inline uint64_t hd_filter_bytes(const heddle_filter *filter)
{
    return (uint64_t)filter->view.blocks * HD_FILTER_BLOCK_BYTES;
}
static inline uint64_t hd_filter_added(const heddle_filter *filter)
{
    return __atomic_load_n(&filter->added, __ATOMIC_RELAXED);
}

/* The chance that a key passes which is not among the `keys` different ones in `blocks` blocks. */
double hd_filter_rate(uint64_t keys, uint64_t blocks, uint32_t hashes);
/* The number of hashes for which that is least. */
uint32_t hd_filter_best_hashes(uint64_t keys, uint64_t blocks);

#endif
