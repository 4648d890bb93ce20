/* slab_runs.h: batches on slab hashes of one width of keys and values, as they are compiled for one vector tile. */
#ifndef HD_CPU_SLAB_RUNS_H
#define HD_CPU_SLAB_RUNS_H

#include "engine/slabs.h"

typedef struct hd_slab_runs {
    /* As hd_slab_ops.batch and hd_slab_ops.batch_all, by so many threads. */
    void (*batch)(int threads, const hd_slab_view *view, const hd_slab_batch *batch);
    void (*batch_all)(int threads, const hd_slab_view *view, const hd_slab_batch *batch);
} hd_slab_runs;

#endif
