/*
 * table.inl: a map, set or counter as kernels of a user's own see it; see heddle/device.cuh, which
 * includes it in a namespace of the table's own, once for every table. So there is no guard. The files of this room:
 *
 *     table.inl     maps, sets and counters in slots
 *     multi.inl     multimaps in slots; slots.inl is what both share
 *     slabs.inl     slab hashes
 *     lists.inl     bucket lists: finding and visiting; lists_writer.inl inserts and erases
 *     lanes.inl     tiles of lanes, and threads that each have a key
 *     each.inl      find, contains, count and visits for threads that each have a key
 *     end.inl, again.inl    take back what belongs to one table, so that the next can be included
 *     device_functions.cu   the same as functions for other languages: functions.inl, functions_multi.inl
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif
#define HD_VIEW_ID HD_SCHEME_ID
#include "cuda/inside/slots.inl"

/* ------------------------------------------------------------------------------------- lookups */

/* Looks for a key; *hit is where it is. With `shared` others may be writing. */
HD_FN bool find_hit(hd_tile t, const hd_view *view, key_type key, bool shared, hd_hit *hit)
{
    hd_walk walk = walk_start(view, key);
    for (;;) {
        const uint64_t bucket = walk_bucket(view, &walk);
        const hd_bucket b =
            shared ? bucket_load_shared(t, view, bucket) : bucket_load(t, view, bucket);
        const int step = find_step(t, view, &walk, &b, hit);
        if (step != HD_STEP_ON) return step == HD_STEP_FOUND;
    }
}

HD_FN bool contains(const table &t, key_type key)
{
    hd_hit hit;
    return find_hit(tile_here(), &t.at.view, key, false, &hit);
}

/* *value is left as it is when the key is absent. */
HD_FN bool find(const table &t, key_type key, value_type *value)
{
    const hd_tile tile = tile_here();
    hd_hit hit;
    if (!find_hit(tile, &t.at.view, key, false, &hit)) return false;
    *value = value_of(tile, &t.at.view, hit);
    return true;
}

/* Calls f(key, value) for the pair of a key, if it is there: one lane calls. Whether it was. */
template <class F> static __device__ __forceinline__ bool visit(const table &t, key_type key, F &&f)
{
    hd_hit hit;
    const bool found = find_hit(tile_here(), &t.at.view, key, false, &hit);
    if (found && hit.here) f(key, word_value(&t.at.view, hit.slot, hit.word));
    return found;
}

/* -------------------------------------------------------------------------------------- writing */

/* Each has as many tries as a batch kernel would make before it defers a key. */
enum { PLACE_ROUNDS = 64 };

/*
 * Inserts and erases. It counts the keys that come and go and tells the table when it goes out of scope,
 * which it has to before the kernel ends.
 */
class writer
{
  public:
    __device__ __forceinline__ explicit writer(const table &t) : at(t.at), born(0), died(0) {}
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;
    __device__ __forceinline__ ~writer()
    {
        if (tile_here().lane != 0) return;
        if (born != 0) atomicAdd((unsigned long long *)at.born, (unsigned long long)born);
        if (died != 0) atomicAdd((unsigned long long *)at.died, (unsigned long long)died);
    }

    /* HEDDLE_OUTCOME_*. In a set the value is of no use. */
    __device__ __forceinline__ int insert(key_type key, value_type value, uint32_t policy)
    {
        const hd_tile tile = tile_here();
        hd_walk walk = walk_start(&at.view, key);
        hd_aim aim = aim_start();
        int result = HD_GOES_ON;
        uint32_t rounds = 0;
        while (result == HD_GOES_ON) {
            const hd_bucket b = bucket_load_shared(tile, &at.view, walk_bucket(&at.view, &walk));
            result = place_step(tile, &at.view, &walk, &aim, &b, value, policy, true);
            /* Nobody settles what others were faster at: once more, where that is the reason. */
            if (result == HD_DEFERRED && aim >= HD_PLACE_TRIES * HD_AIM_TRY &&
                ++rounds < PLACE_ROUNDS) {
                walk_restart(&walk);
                aim = aim_start();
                result = HD_GOES_ON;
            }
        }
        born += result == HD_PLACED;
        return outcome_of(result == HD_DEFERRED ? HD_NO_ROOM : result, policy);
    }

    /* Whether the key was there and it was this call that erased it. */
    __device__ __forceinline__ bool erase(key_type key)
    {
        const hd_tile tile = tile_here();
        hd_hit hit;
        const bool erased =
            find_hit(tile, &at.view, key, true, &hit) && hit_erase(tile, &at.view, hit);
        died += erased;
        return erased;
    }

    __device__ __forceinline__ int insert_each(key_type key, value_type value, uint32_t policy,
                                               bool active)
    {
        return insert_for_lanes(key, value, active, [&](key_type theirs, value_type with) {
            return insert(theirs, with, policy);
        });
    }

    __device__ __forceinline__ bool erase_each(key_type key, bool active)
    {
        return erase_for_lanes(key, active, [&](key_type theirs) { return erase(theirs); });
    }

  private:
    const hd_device_view at;
    uint32_t born, died;
};

#include "cuda/inside/each.inl"
