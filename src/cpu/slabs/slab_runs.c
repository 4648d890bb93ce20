/*
 * slab_runs.c: batches on slab hashes on the CPU, for one width of keys and values and one vector tile. Built once for
 * each, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS, HD_TILE_* and HD_SYMBOL. Exports HD_SYMBOL alone.
 */
#include "cpu/slabs/slab_runs.h"

#include "cpu/slabs/batch.h"

/* The operation is a constant in each of these calls. */
static void slab_batch_all_of(int threads, const hd_slab_view *view, const hd_slab_batch *batch)
{
    if (batch->operation == HD_SLAB_COUNT) slab_batch_all(HD_SLAB_COUNT, threads, view, batch);
    else if (batch->operation == HD_SLAB_RETRIEVE)
        slab_batch_all(HD_SLAB_RETRIEVE, threads, view, batch);
    else if (batch->operation == HD_SLAB_CLAIM) slab_batch_all(HD_SLAB_CLAIM, threads, view, batch);
    else slab_batch_all(HD_SLAB_ERASE_ALL, threads, view, batch);
}

extern const hd_slab_runs HD_SYMBOL;
const hd_slab_runs HD_SYMBOL = {slab_batch, slab_batch_all_of};
