/*
 * device_slots.h: what maps, sets and multimaps in slots share inside kernels of a user's own; see
 * heddle/device.cuh, which includes it in a namespace of the table's own, once for every table. So there is
 * no guard.
 */

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

/* The number of this thread's tile in the grid. */
HD_FN uint64_t tile_number(void)
{
    return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / HD_TILE;
}

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

/* Every lane of a tile in turn lends its key to the tile; `work` is called with it by all. */
template <class F>
static __device__ __forceinline__ void for_lanes(key_type key, bool active, F &&work)
{
    const hd_tile tile = tile_here();
    for (uint32_t lane = 0; lane < HD_TILE; lane++) {
#if HD_TILE > 1
        const int from = (int)(threadIdx.x % 32 - tile.lane + lane);
        if (!__shfl_sync(tile.mask, (int)active, from)) continue;
        work(__shfl_sync(tile.mask, key, from), from, tile.lane == lane);
#else
        if (active) work(key, 0, true);
#endif
    }
    (void)tile;
}

/* insert_one(key, value) for the pair of every active lane; gives the outcome of the caller's own. */
template <class VALUE, class F>
static __device__ __forceinline__ int insert_for_lanes(key_type key, VALUE value, bool active,
                                                       F &&insert_one)
{
    const hd_tile tile = tile_here();
    int mine = 0;
    for_lanes(key, active, [&](key_type theirs, int from, bool is_mine) {
#if HD_TILE > 1
        const VALUE with = __shfl_sync(tile.mask, value, from);
#else
        const VALUE with = value;
#endif
        const int outcome = insert_one(theirs, with);
        if (is_mine) mine = outcome;
        (void)from;
    });
    (void)tile;
    return mine;
}

/* The same with keys alone: erase_one(key). */
template <class F>
static __device__ __forceinline__ bool erase_for_lanes(key_type key, bool active, F &&erase_one)
{
    bool mine = false;
    for_lanes(key, active, [&](key_type theirs, int, bool is_mine) {
        const bool erased = erase_one(theirs);
        if (is_mine) mine = erased;
    });
    return mine;
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
