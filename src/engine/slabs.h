/*
 * slabs.h: what a device must offer for slab hashes, for keys and values of one width each.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_SLABS_H
#define HD_ENGINE_SLABS_H

#include <heddle/heddle.h>

#include "model/slabs.h"

/* The operations of one kind of slab hash on one engine. */
typedef struct hd_slab_ops {
    uint32_t key_bits, value_bits; /* 0 in a set */
    uint32_t slots;                /* of a slab */
    /* Mixtures of so many operations are best done kind by kind; UINT64_MAX: none, and `apart` is not looked at. */
    uint64_t apart_least;
    /* Any mixture of INSERT, ERASE and FIND; batch->operation where there is no array of them. */
    heddle_status (*batch)(heddle_device *device, const hd_slab_view *view,
                           const hd_slab_batch *batch, void *stream);
    /* COUNT, RETRIEVE, CLAIM or ERASE_ALL for every key. */
    heddle_status (*batch_all)(heddle_device *device, const hd_slab_view *view,
                               const hd_slab_batch *batch, void *stream);
    /* Compacts lists, if there is need; `died` are the erasures of all time. */
    heddle_status (*compact)(heddle_device *device, const hd_slab_view *view, hd_slab_words *words,
                             const uint64_t *died, const hd_slab_need *need, void *stream);
    /* Appends the pairs of slabs: base slabs, then the pool's. */
    heddle_status (*collect)(heddle_device *device, const hd_slab_view *view, const hd_export *to,
                             void *stream);
    /* Counts and checks all lists; *census and `seen`, a bit for every slab of the pool, are 0 before. */
    heddle_status (*inspect)(heddle_device *device, const hd_slab_view *view, bool unique,
                             uint32_t *seen, hd_slab_census *census, void *stream);
    /*
     * Fills an empty table from pairs sorted by region; batch: policy, multi, counts, born and died. Those that are left
     * to insertion are listed, and counted as failed. NULL where pairs are best inserted as they come.
     */
    heddle_status (*fill)(heddle_device *device, const hd_slab_view *view,
                          const hd_slab_batch *batch, const hd_sorted *sorted, void *stream);
    /* Whether regions of this size can be filled so; NULL with `fill`. */
    bool (*can_fill)(heddle_device *device, const hd_slab_view *view);
    /* n slabs at once, HD_SLAB_NONE where there are no more: to measure the pool by itself. */
    heddle_status (*take)(heddle_device *device, const hd_slab_pool *pool, uint64_t n,
                          uint32_t *addresses, void *stream);
} hd_slab_ops;

#endif
