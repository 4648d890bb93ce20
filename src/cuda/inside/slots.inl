/*
 * slots.inl: what maps, sets and multimaps in slots share inside kernels of a user's own; see
 * heddle/device.cuh, which includes it in a namespace of the table's own, once for every table. So there is
 * no guard.
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif

typedef hd_key key_type;
typedef hd_value value_type; /* of no use in a set */
enum { tile_size = HD_TILE, bucket_size = HD_BUCKET };

/* What is handed to a kernel. */
typedef struct table {
    hd_device_view at;
} table;

/* On the host: a table of this instance, for kernels of its device. */
static inline heddle_status open(heddle_table *handle, table *t)
{
    return heddle_table_get_view(handle, HD_VIEW_ID, HD_KEY_BITS, HD_VALUE_BITS, HD_BUCKET, &t->at,
                                 sizeof t->at);
}

#include "cuda/inside/lanes.inl"

/* The value of a hit, for all lanes of the tile. */
HD_FN value_type value_of(hd_tile t, const hd_view *view, const hd_hit &hit)
{
    hd_value value = 0;
#if HD_VALUE_BITS != 0
    if (hit.here) value = word_value(view, hit.slot, hit.word);
#if HD_TILE > 1
    const uint32_t lanes = __ballot_sync(t.mask, hit.here) & t.mask;
    value = __shfl_sync(t.mask, value, (int)hd_lowest_bit(lanes));
#endif
#endif
    (void)t, (void)view, (void)hit;
    return value;
}

/* A kernel that calls f(key, value) once for every pair of the table. */
template <class F> static __global__ void for_all(table t, F f)
{
    const hd_view *const view = &t.at.view;
    const uint64_t slots = ((uint64_t)view->region_buckets << view->region_bits) * HD_BUCKET;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += stride) {
        const hd_word word = ((const hd_word *)view->slots)[i];
        const uint32_t region = (uint32_t)(i / HD_BUCKET / view->region_buckets);
        if (!key_is_vacant(word_key(word)))
            f(key_from_lean(view, region, key_bare(view, word_key(word))),
              word_value(view, i, word));
    }
}
