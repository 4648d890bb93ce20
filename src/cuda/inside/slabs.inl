/*
 * slabs.inl: slab hashes (scheme/slab.h) as kernels of a user's own see them; see heddle/device.cuh, which
 * includes it in a namespace of the table's own, once for every table. So there is no guard.
 *
 * The steps are those of the batch kernels, so everything here may run beside everything else. Only the tiles
 * go alone (HD_SLAB_ALONE): that nobody waits for ever is shown in scheme/slab.h.
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif

typedef hd_key key_type;
typedef hd_value value_type; /* of no use in a set */
#ifdef HD_ONE_LANE
#define HD_TILE 1
#else
#define HD_TILE HD_SLAB_LANES
#endif
enum { tile_size = HD_TILE, bucket_size = HD_BUCKET };
static_assert(
    HD_BUCKET == HD_SLAB_SLOTS,
    "HEDDLE_BUCKET of a slab hash is what a slab has room for: 120 bytes by those of a pair");
#ifdef HEDDLE_MULTIMAP
#define HD_MANY_VALUES
#define HD_VIEW_ID (HEDDLE_SCHEME_SLAB | HEDDLE_VIEW_MULTIMAP)
#else
#define HD_VIEW_ID HEDDLE_SCHEME_SLAB
#endif

/* What is handed to a kernel. */
typedef struct table {
    hd_device_slabs at;
} table;

/* On the host: a table of this instance, for kernels of its device. */
static inline heddle_status open(heddle_table *handle, table *t)
{
    return heddle_table_get_view(handle, HD_VIEW_ID, HD_KEY_BITS, HD_VALUE_BITS, HD_BUCKET, &t->at,
                                 sizeof t->at);
}

#include "cuda/inside/lanes.inl"

/* ------------------------------------------------------------------------------------- lookups */

/* Goes along the list of a key. look_at(walk, look) sees every slab of it, until it says that this is enough. */
template <class F>
static __device__ __forceinline__ void search(hd_slab_tile tile, const hd_slab_view *view,
                                              key_type key, F &&look_at)
{
    hd_slab_walk walk = slab_walk_start(view, key);
    for (;;) {
        const hd_slab_look look = slab_look(tile, walk.slab, slab_lean(&walk));
        if (look_at(walk, look) || look.next == HD_SLAB_NONE) return;
        walk.slab = pool_slab(&view->pool, look.next);
    }
}

HD_FN bool contains(const table &t, key_type key)
{
    bool found = false;
    search(slab_tile_here(), &t.at.view, key,
           [&](const hd_slab_walk &, const hd_slab_look &look) { return found = look.live != 0; });
    return found;
}

/* In a multimap one of the values; *value is left as it is when the key is absent. */
HD_FN bool find(const table &t, key_type key, value_type *value)
{
    const hd_slab_tile tile = slab_tile_here();
    bool found = false;
    search(tile, &t.at.view, key, [&](const hd_slab_walk &walk, const hd_slab_look &look) {
        found = look.live != 0;
        if (found) *value = slab_tell_value(tile, walk.slab, &look);
        return found;
    });
    return found;
}

/* f(number, value) for every value of a key, by the lane that has read the key; how many there are. */
template <class F>
static __device__ __forceinline__ uint64_t visit_numbered(const table &t, key_type key, F &&f)
{
    const hd_slab_tile tile = slab_tile_here();
    uint64_t sum = 0;
    search(tile, &t.at.view, key, [&](const hd_slab_walk &walk, const hd_slab_look &look) {
        if (look.live == 0) return false;
        slab_seen();
        for (uint32_t mine = look.live & slab_own(tile); mine != 0; mine &= mine - 1) {
            const uint32_t bit = hd_lowest_bit(mine);
            f(sum + hd_popcount32(look.live & ((1u << bit) - 1)),
              slab_value(walk.slab, slab_slot(bit)));
        }
        slab_tile_meet(tile);
        sum += hd_popcount32(look.live);
#ifdef HD_MANY_VALUES
        return false;
#else
        return true;
#endif
    });
    return sum;
}

#ifdef HD_MANY_VALUES
HD_FN uint64_t count(const table &t, key_type key)
{
    uint64_t sum = 0;
    search(slab_tile_here(), &t.at.view, key, [&](const hd_slab_walk &, const hd_slab_look &look) {
        sum += hd_popcount32(look.live);
        return false;
    });
    return sum;
}
#else
/* Calls f(key, value) for the pair of a key, if it is there: one lane calls. Whether it was. */
template <class F> static __device__ __forceinline__ bool visit(const table &t, key_type key, F &&f)
{
    return visit_numbered(t, key, [&](uint64_t, value_type value) { f(key, value); }) != 0;
}
#endif

/* A kernel that calls f(key, value) once for every pair of the table, which nobody changes meanwhile. */
template <class F> static __global__ void for_all(table t, F f)
{
    const hd_slab_view *const view = &t.at.view;
    const uint32_t own = slab_own(slab_tile_here());
    const uint64_t slabs = slab_lists(view) + (uint64_t)view->pool.blocks * HD_SLAB_UNITS;
    const uint64_t tiles = (uint64_t)gridDim.x * blockDim.x / HD_TILE;
    for (uint64_t i = tile_number(); i < slabs; i += tiles) {
        const hd_slab_at at = slab_by_number(view, i);
        if (at.slab == NULL) continue;
        for (uint32_t mine = own; mine != 0; mine &= mine - 1) {
            const uint32_t slot = slab_slot(hd_lowest_bit(mine));
            if (slot >= HD_SLAB_SLOTS) continue;
            const hd_key word = *slab_key_at(at.slab, slot);
            if ((word & HD_STATE_MASK) == HD_STATE_LIVE)
                f(key_from_lean(&view->buckets, at.region, word & ~HD_STATE_MASK),
                  slab_value(at.slab, slot));
        }
    }
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
        : at(t.at), taker(taker_start(&t.at.view.pool, (uint32_t)tile_number())), born(0), died(0)
    {
    }
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;
    __device__ __forceinline__ ~writer()
    {
        if (born != 0) add_relaxed_64(at.born, born);
        if (died != 0) add_relaxed_64(at.died, died);
    }

#ifdef HD_MANY_VALUES
    /* HEDDLE_OUTCOME_INSERTED, or HEDDLE_OUTCOME_FAILED: no slab is left. */
    __device__ __forceinline__ int insert(key_type key, value_type value)
    {
        return place(key, value, HEDDLE_POLICY_KEEP);
    }

    /*
     * Erases all pairs of a key that it meets; whether there were any and it was this call that erased the last
     * one. That is the first in the list: whoever erases the key beside others finds it, until all are gone.
     */
    __device__ __forceinline__ bool erase(key_type key)
    {
        const hd_slab_tile tile = slab_tile_here();
        const hd_key lean = mix_key(&at.view.buckets.mix, key) & ~HD_STATE_MASK;
        char *first = NULL;
        uint32_t first_slot = 0;
        int mine = 0;
        search(tile, &at.view, key, [&](const hd_slab_walk &walk, const hd_slab_look &look) {
            uint32_t live = look.live;
            if (first == NULL && live != 0) {
                first = walk.slab;
                first_slot = slab_slot(hd_lowest_bit(live));
                live &= live - 1;
            }
            for (live &= slab_own(tile); live != 0; live &= live - 1)
                died += slab_bury(walk.slab, slab_slot(hd_lowest_bit(live)), lean);
            return false;
        });
        if (first == NULL) return false;
        __threadfence(); /* all others are gone before the first one goes */
        slab_tile_meet(tile);
        if (slab_tile_acts(tile)) mine = slab_bury(first, first_slot, lean);
        died += (uint64_t)mine;
        mine = slab_tile_tell(tile, mine);
        slab_tile_meet(tile);
        return mine != 0;
    }

    __device__ __forceinline__ int insert_each(key_type key, value_type value, bool active)
    {
        return insert_for_lanes(key, value, active, [&](key_type theirs, value_type with) {
            return insert(theirs, with);
        });
    }
#else
    /* HEDDLE_OUTCOME_*; HEDDLE_OUTCOME_FAILED: no slab is left. In a set the value is of no use. */
    __device__ __forceinline__ int insert(key_type key, value_type value, uint32_t policy)
    {
        return place(key, value, policy);
    }

    /* Whether the key was there and it was this call that erased it. */
    __device__ __forceinline__ bool erase(key_type key)
    {
        hd_slab_task task;
        task.operation = HD_SLAB_ERASE;
        task.policy = HEDDLE_POLICY_KEEP;
        task.multi = false;
        task.value = 0;
        task.reuses = false;
        const bool erased = run(slab_walk_start(&at.view, key), task) == HD_SLAB_PRESENT;
        died += erased && slab_tile_acts(slab_tile_here());
        return erased;
    }

    __device__ __forceinline__ int insert_each(key_type key, value_type value, uint32_t policy,
                                               bool active)
    {
        return insert_for_lanes(key, value, active, [&](key_type theirs, value_type with) {
            return insert(theirs, with, policy);
        });
    }
#endif

    __device__ __forceinline__ bool erase_each(key_type key, bool active)
    {
        return erase_for_lanes(key, active, [&](key_type theirs) { return erase(theirs); });
    }

  private:
    /* Takes the steps of an operation, to its end; from then on all of the tile see what it did. */
    __device__ __forceinline__ int run(hd_slab_walk walk, const hd_slab_task &task)
    {
        const hd_slab_tile tile = slab_tile_here();
        int end;
        do end = slab_step(tile, &at.view, &walk, &task, NULL, true, &taker);
        while (end == HD_SLAB_AGAIN || end == HD_SLAB_ON);
        slab_tile_meet(tile);
        return end;
    }

    __device__ __forceinline__ int place(key_type key, value_type value, uint32_t policy)
    {
        const hd_slab_walk walk = slab_walk_start(&at.view, key);
        hd_slab_task task;
        task.operation = HD_SLAB_INSERT;
        task.policy = policy;
#ifdef HD_MANY_VALUES
        task.multi = true;
#else
        task.multi = false;
#endif
        task.value = value;
        task.reuses = false;
#ifdef HD_ONE_LANE
        /* Such a writer may live for one call: nothing but the key leads it to slabs that are not all taken. */
        taker = taker_start(&at.view.pool, (uint32_t)tile_number() ^ (uint32_t)walk.mixed);
#endif
        const int end = run(walk, task);
        born += end == HD_SLAB_PLACED && slab_tile_acts(slab_tile_here());
        return slab_outcome(&task, end);
    }

    const hd_device_slabs at;
    hd_slab_taker taker;
    uint64_t born, died; /* by this lane */
};

#include "cuda/inside/each.inl"
