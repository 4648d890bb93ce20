/*
 * multi.inl: a multimap by open addressing (scheme/multi.inl) as kernels of a user's own see it; see
 * heddle/device.cuh, which includes it in a namespace of the table's own, once for every table. So there
 * is no guard.
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif
#define HD_VIEW_ID (HD_SCHEME_ID | HEDDLE_VIEW_MULTIMAP)
#include "cuda/inside/slots.inl"

/* ------------------------------------------------------------------------------------- lookups */

/*
 * Goes along the windows that may hold pairs of a key. look(window, lean, &ends) says whether it met any
 * there, and that is enough if it sets `ends`. With `shared` others may be writing.
 */
template <class F>
static __device__ __forceinline__ void search(hd_tile t, const hd_view *view, key_type key,
                                              bool shared, F &&look)
{
    hd_trail trail = trail_start(view, key);
    bool goes_on = true;
    while (goes_on) {
        const uint64_t window = trail_bucket(view, &trail);
        const hd_bucket b =
            shared ? bucket_load_shared(t, view, window) : bucket_load(t, view, window);
        bool ends = false;
        const bool met = look(b, trail.lean, &ends);
        const bool passed = bucket_is_passed(t, view, &b, trail.lean);
        goes_on = !ends && search_pass(view, &trail, passed, met);
    }
}

HD_FN bool contains(const table &t, key_type key)
{
    const hd_tile tile = tile_here();
    bool found = false;
    search(tile, &t.at.view, key, false, [&](const hd_bucket &b, hd_key lean, bool *ends) {
        hd_hit hit;
        return found = *ends = bucket_lookup(tile, &t.at.view, &b, lean, &hit);
    });
    return found;
}

/* One of the values; *value is left as it is when the key is absent. */
HD_FN bool find(const table &t, key_type key, value_type *value)
{
    const hd_tile tile = tile_here();
    bool found = false;
    search(tile, &t.at.view, key, false, [&](const hd_bucket &b, hd_key lean, bool *ends) {
        hd_hit hit;
        found = *ends = bucket_lookup(tile, &t.at.view, &b, lean, &hit);
        if (found) *value = value_of(tile, &t.at.view, hit);
        return found;
    });
    return found;
}

HD_FN uint64_t count(const table &t, key_type key)
{
    const hd_tile tile = tile_here();
    uint64_t sum = 0;
    search(tile, &t.at.view, key, false, [&](const hd_bucket &b, hd_key lean, bool *) {
        const uint32_t met = bucket_matches(tile, &t.at.view, &b, lean);
        sum += met;
        return met != 0;
    });
    return sum;
}

/* f(number, value) for every value of a key, by the lane that has read it; how many there are. */
template <class F>
static __device__ __forceinline__ uint64_t visit_numbered(const table &t, key_type key, F &&f)
{
    const hd_tile tile = tile_here();
    const hd_view *const view = &t.at.view;
    const uint32_t before = tile.mask & ((1u << threadIdx.x % 32) - 1);
    uint64_t sum = 0;
    search(tile, view, key, false, [&](const hd_bucket &b, hd_key lean, bool *) {
        const uint64_t already = sum;
        HD_UNROLL
        for (int j = 0; j < HD_LANE_SLOTS; j++) {
            const bool mine = key_is(view, word_key(b.words[j]), lean);
            const uint32_t lanes = __ballot_sync(tile.sync, mine) & tile.mask;
            const uint64_t slot = b.index * HD_BUCKET + lane_position(tile.lane, (uint32_t)j);
            if (mine) f(sum + (uint32_t)__popc(lanes & before), word_value(view, slot, b.words[j]));
            __syncwarp(tile.mask);
            sum += (uint32_t)__popc(lanes);
        }
        return sum != already;
    });
    return sum;
}

/* -------------------------------------------------------------------------------------- writing */

/*
 * Inserts and erases. It counts the pairs that come and go and tells the table when it goes out of scope,
 * which it has to before the kernel ends.
 */
class writer
{
  public:
    __device__ __forceinline__ explicit writer(const table &t)
        : at(t.at), full_zones(0), born(0), died(0)
    {
    }
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;
    __device__ __forceinline__ ~writer()
    {
        if (born != 0 && tile_here().lane == 0) add_relaxed_64(at.born, born);
        if (died != 0) add_relaxed_64(at.died, died);
    }

    /* HEDDLE_OUTCOME_INSERTED, or HEDDLE_OUTCOME_FAILED: no room. */
    __device__ __forceinline__ int insert(key_type key, value_type value)
    {
        const hd_tile tile = tile_here();
        hd_trail trail = trail_start(&at.view, key);
        int result = HD_GOES_ON;
        while (result == HD_GOES_ON) {
            const hd_bucket b = bucket_load_shared(tile, &at.view, trail_bucket(&at.view, &trail));
            result = append_step(tile, &at.view, &trail, &b, value, true, &full_zones);
        }
        born += result == HD_PLACED;
        return outcome_of(result, HEDDLE_POLICY_KEEP);
    }

    /* Erases all pairs of a key; whether there were any and it was this call that erased the last one. */
    __device__ __forceinline__ bool erase(key_type key)
    {
        const hd_tile tile = tile_here();
        bool has_first = false, mine;
        hd_hit first;
        first.here = false;
        search(tile, &at.view, key, true, [&](const hd_bucket &b, hd_key lean, bool *) {
            died += bucket_vacate(tile, &at.view, &b, lean, &first, &has_first, true);
            return has_first; /* others may be erasing the same key: on, as far as marks go */
        });
        __threadfence(); /* all others are gone before the first one goes */
        mine = first.here && slot_vacate(&at.view, first.slot, first.word);
        died += mine;
        return tile_any(tile, mine);
    }

    __device__ __forceinline__ int insert_each(key_type key, value_type value, bool active)
    {
        return insert_for_lanes(key, value, active, [&](key_type theirs, value_type with) {
            return insert(theirs, with);
        });
    }

    __device__ __forceinline__ bool erase_each(key_type key, bool active)
    {
        return erase_for_lanes(key, active, [&](key_type theirs) { return erase(theirs); });
    }

  private:
    const hd_device_view at;
    uint32_t full_zones;
    uint32_t born, died; /* the first is the tile's, the second the lane's own */
};

#define HD_MANY_VALUES
#include "cuda/inside/each.inl"
