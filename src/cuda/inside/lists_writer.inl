/*
 * lists_writer.inl: how kernels of a user's own insert into bucket lists and erase; part of
 * lists.inl.
 *
 * A key that has a list: the value is appended to it as batch kernels do it, by list_append_step. A key that
 * has none: a list is made first, in a record that nobody knows, with the value in it; then the key is put
 * into the table of keys with the number of that list. So a key is never seen without a value, and no room
 * for either leaves all as it was. Of several who do so for the same key one succeeds. The others keep their
 * lists for their next new key, and leave them in the end to anybody's, on a stack whose links are the handles
 * of the records. Its top is
 *
 *   | how often it has changed (24) | number of the record, and 1 (40) |
 *
 * so that a top which went and came again is not taken for the same.
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif

#define HD_SPARE_BITS 40
#define HD_SPARE_MASK ((UINT64_C(1) << HD_SPARE_BITS) - 1)

HD_FN uint64_t spare_top(uint64_t before, uint64_t number)
{
    return ((before >> HD_SPARE_BITS) + 1) << HD_SPARE_BITS | number;
}

/* Takes a list from the stack, with its bucket; HD_LIST_NONE: there is none. */
HD_FN uint64_t spare_take(const hd_device_lists *at)
{
    uint64_t top = load_acquire_64(&at->words->spares);
    while ((top & HD_SPARE_MASK) != 0) {
        const uint64_t number = (top & HD_SPARE_MASK) - 1;
        /* Anything, where another has taken it; the CAS fails then. */
        const uint64_t next = load_acquire_64(&at->pool.records[number].handle) & HD_SPARE_MASK;
        if (cas_64(&at->words->spares, top, spare_top(top, next))) {
            const uint64_t bucket = load_acquire_64(&at->pool.records[number].bucket);
            add_relaxed_64(&at->words->dead, 0 - bucket_units(bucket));
            return number;
        }
        top = load_acquire_64(&at->words->spares);
    }
    return HD_LIST_NONE;
}

HD_FN void spare_give(const hd_device_lists *at, uint64_t number)
{
    hd_list_record *record = &at->pool.records[number];
    uint64_t top;
    add_relaxed_64(&at->words->dead, bucket_units(load_acquire_64(&record->bucket)));
    do {
        top = load_acquire_64(&at->words->spares);
        store_relaxed_64(&record->handle, top & HD_SPARE_MASK);
        __threadfence();
    } while (!cas_64(&at->words->spares, top, spare_top(top, number + 1)));
}

/* Gives a list that was made in vain another value. */
HD_FN void list_refill(const hd_device_lists *at, uint64_t number, value_type value)
{
    hd_list_record *record = &at->pool.records[number];
    bucket_values(&at->pool, load_acquire_64(&record->bucket))[0] = value;
    store_release_64(&record->handle, handle_make(HD_LIST_READY, 1));
}

/* A list with one value that no key leads to; HD_LIST_NONE: no room. */
HD_FN uint64_t list_make(const hd_device_lists *at, value_type value)
{
    const hd_list_pool *const pool = &at->pool;
    uint64_t number = spare_take(at);
    if (number != HD_LIST_NONE) {
        list_refill(at, number, value);
        return number;
    }
    if (load_acquire_64(pool->cursor) >= pool->room ||
        load_acquire_64(&at->words->records) >= at->records_room)
        return HD_LIST_NONE;
    number = fetch_add_relaxed_64(&at->words->records, 1);
    if (number >= at->records_room) return HD_LIST_NONE;
    return list_extend(pool, &pool->records[number], 0, value) == HD_LIST_DONE ? number
                                                                               : HD_LIST_NONE;
}

/*
 * Inserts and erases. It counts the pairs that come and go and tells the table when it goes out of scope,
 * which it has to before the kernel ends.
 */
class writer
{
  public:
    __device__ __forceinline__ explicit writer(const table &t)
        : at(t.at), index(keys::table{t.at.keys}), spare(HD_LIST_NONE), born(0), died(0)
    {
    }
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;
    __device__ __forceinline__ ~writer()
    {
        if (keys::tile_here().lane != 0) return;
        if (spare != HD_LIST_NONE) spare_give(&at, spare);
        if (born != 0) add_relaxed_64(at.born, born);
        if (died != 0) add_relaxed_64(at.died, died);
    }

    /* HEDDLE_OUTCOME_INSERTED, or HEDDLE_OUTCOME_FAILED: no room. */
    __device__ __forceinline__ int insert(key_type key, value_type value)
    {
        const keys::hd_tile tile = keys::tile_here();
        uint64_t number;
        int result = HD_LIST_AGAIN;
        if (!find_now(tile, key, &number)) result = found_list(tile, key, value, &number);
        /* Who blocks a list goes on in its own step: this ends, however threads are parted. */
        while (result == HD_LIST_AGAIN) {
            if (tile.lane == 0) result = list_append_step(&at.pool, number, value);
            result = __shfl_sync(tile.mask, result, leader(tile));
        }
        born += result == HD_LIST_DONE;
        return result == HD_LIST_DONE ? HEDDLE_OUTCOME_INSERTED : HEDDLE_OUTCOME_FAILED;
    }

    /* Erases a key with all its values; whether it was there and it was this call that erased it. */
    __device__ __forceinline__ bool erase(key_type key)
    {
        const keys::hd_tile tile = keys::tile_here();
        uint64_t number, values = 0;
        if (!find_now(tile, key, &number) || !index.erase(key)) return false;
        if (tile.lane == 0) {
            add_relaxed_64(&at.words->dead, list_bury(&at.pool, number, &values));
            died += values;
        }
        __syncwarp(tile.mask);
        return true;
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
    /* The warp's number of the tile's first lane. */
    static __device__ __forceinline__ int leader(keys::hd_tile tile)
    {
        return (int)(threadIdx.x % 32 - tile.lane);
    }

    /* The number of a key's list while others insert or erase; what that list has is seen from then on. */
    __device__ __forceinline__ bool find_now(keys::hd_tile tile, key_type key, uint64_t *number)
    {
        keys::hd_hit hit;
        if (!keys::find_hit(tile, &at.keys.view, key, true, &hit)) return false;
        const uint32_t lanes = __ballot_sync(tile.mask, hit.here);
        uint64_t value = 0;
        if (hit.here) { /* the key was seen, so the number written before it is to be seen too */
            __threadfence();
            value = load_acquire_64(keys::slot_value_at(&at.keys.view, hit.slot));
        }
        *number = __shfl_sync(tile.mask, value, (int)hd_lowest_bit(lanes));
        __syncwarp(tile.mask);
        __threadfence();
        return true;
    }

    /*
     * A list for a key that had none. HD_LIST_DONE: with the value in it. HD_LIST_AGAIN: another has founded
     * it, `number`. HD_LIST_OUT: no room.
     */
    __device__ __forceinline__ int found_list(keys::hd_tile tile, key_type key, value_type value,
                                              uint64_t *number)
    {
        if (tile.lane == 0) {
            if (spare == HD_LIST_NONE) spare = list_make(&at, value);
            else list_refill(&at, spare, value);
        }
        const uint64_t made = __shfl_sync(tile.mask, spare, leader(tile));
        if (made != HD_LIST_NONE) {
            __syncwarp(tile.mask);
            __threadfence(); /* the list is seen by all before its number is */
            const int outcome = index.insert(key, made, HEDDLE_POLICY_KEEP);
            if (outcome == HEDDLE_OUTCOME_INSERTED) {
                spare = HD_LIST_NONE;
                return HD_LIST_DONE;
            }
            if (outcome == HEDDLE_OUTCOME_KEPT) {
                /* It is there; a mark on the way to it may be seen a little later. */
                while (!find_now(tile, key, number)) continue;
                return HD_LIST_AGAIN;
            }
        }
        /* Without room for a list of one's own there may be room in another's. */
        return find_now(tile, key, number) ? HD_LIST_AGAIN : HD_LIST_OUT;
    }

    const hd_device_lists at;
    keys::writer index;
    uint64_t spare;      /* the first lane's: a list for the next new key */
    uint64_t born, died; /* the first is the tile's, the second the first lane's */
};
