/*
 * fill.inl: inserting pairs that are sorted by region (model/partition.h), a core a region. The region
 * stays in the core's second-level cache until it is done; nobody else touches it. A fresh region is
 * made in an image (fill_image.inl); one that holds keys already is filled on where it is.
 */
#ifndef HD_INSTANCE_NAME
#error "included by instance.c alone"
#endif
#ifndef HD_CPU_FILL_H
#define HD_CPU_FILL_H

#include <omp.h>

#include "cpu/slots/fill_image.inl"
#include "engine/blocks.h"

/* Images for so many threads, aligned to lines; NULL where there is no memory for them. */
static char *images_take(heddle_device *device, const hd_view *view, int threads)
{
    void *memory = NULL;
    const uint64_t bytes = (uint64_t)threads * image_layout_for(view).bytes;
    return hd_block_take(device, bytes, &memory) == HEDDLE_OK ? (char *)memory : NULL;
}

static heddle_status fill(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          const hd_sorted *sorted, bool fresh, void *stream)
{
    const uint32_t regions = UINT32_C(1) << view->region_bits;
    const char *pairs = (const char *)sorted->pairs;
    const int threads = hd_cpu_team(device, sorted->ends[regions - 1]);
    char *images = fresh ? images_take(device, view, threads) : NULL;
    const hd_sorted *lists = !fresh && sorted->failed != NULL ? sorted : NULL;
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel num_threads(threads)
    {
        sums s = {0};
        const image d = image_of(&v, images, omp_get_thread_num());
#pragma omp for schedule(dynamic) nowait
        for (uint32_t r = 0; r < regions; r++) {
            const region_pairs here = {r, pairs + sorted->starts[r] * PAIR_BYTES,
                                       pairs + sorted->ends[r] * PAIR_BYTES};
            const bool by_image = d.counts != NULL && here.begin != here.end;
            if (fresh && !by_image) fill_clear(&v, r);
            if (by_image) image_fill(&d, &v, batch, here, &s);
            else fill_region(&v, batch, here, lists, &s);
        }
        sums_add(&s, batch);
    }
    hd_block_give(device, images);
    return HEDDLE_OK;
}

static bool can_fill(heddle_device *device, const hd_view *view)
{
    (void)device;
    return view->region_bits <= HD_PARTITION_BITS_MAX;
}

#endif
