/*
 * lanes.inl: tiles of HD_TILE lanes inside kernels of a user's own, and threads that each have a key, which their
 * tile works on in turn; see heddle/device.cuh. Included in a namespace like the files that include it, so there
 * is no guard.
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif

/* The number of this thread's tile in the grid. */
HD_FN uint64_t tile_number(void)
{
    return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / HD_TILE;
}

/* The lanes of this thread's tile within the warp. */
HD_FN uint32_t tile_lanes(void)
{
    return (HD_TILE == 32 ? 0xffffffffu : (1u << HD_TILE % 32) - 1)
           << (threadIdx.x % 32 - threadIdx.x % HD_TILE);
}

/* Every lane of a tile in turn lends its key to the tile; `work` is called with it by all. */
template <class F>
static __device__ __forceinline__ void for_lanes(key_type key, bool active, F &&work)
{
#if HD_TILE > 1
    const uint32_t lanes = tile_lanes(), mine = threadIdx.x % HD_TILE;
    for (uint32_t lane = 0; lane < HD_TILE; lane++) {
        const int from = (int)(threadIdx.x % 32 - mine + lane);
        if (!__shfl_sync(lanes, (int)active, from)) continue;
        work(__shfl_sync(lanes, key, from), from, mine == lane);
    }
#else
    if (active) work(key, 0, true);
#endif
}

/* insert_one(key, value) for the pair of every active lane; gives the outcome of the caller's own. */
template <class VALUE, class F>
static __device__ __forceinline__ int insert_for_lanes(key_type key, VALUE value, bool active,
                                                       F &&insert_one)
{
    int mine = 0;
    for_lanes(key, active, [&](key_type theirs, int from, bool is_mine) {
#if HD_TILE > 1
        const VALUE with = __shfl_sync(tile_lanes(), value, from);
#else
        const VALUE with = value;
#endif
        const int outcome = insert_one(theirs, with);
        if (is_mine) mine = outcome;
        (void)from;
    });
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
