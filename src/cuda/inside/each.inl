/*
 * each.inl: what follows from `find`, `contains`, `count` and the visits of a table inside kernels of a user's
 * own: the functions for threads that each have a key, and a kernel over the keys of a batch. Included in a
 * namespace like the files that include it, so there is no guard.
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif

HD_FN bool find_each(const table &t, key_type key, value_type *value, bool active)
{
    bool mine = false;
    for_lanes(key, active, [&](key_type asked, int, bool is_mine) {
        value_type answer = 0;
        const bool found = find(t, asked, &answer);
        if (is_mine) {
            mine = found;
            if (found) *value = answer;
        }
    });
    return mine;
}

HD_FN bool contains_each(const table &t, key_type key, bool active)
{
    bool mine = false;
    for_lanes(key, active, [&](key_type asked, int, bool is_mine) {
        const bool found = contains(t, asked);
        if (is_mine) mine = found;
    });
    return mine;
}

#ifdef HD_MANY_VALUES /* of a key: multimaps, which have visit_numbered */
/* Calls f(key, value) for every pair of a key: one lane each. How many there are. */
template <class F>
static __device__ __forceinline__ uint64_t visit(const table &t, key_type key, F &&f)
{
    return visit_numbered(t, key, [&](uint64_t, value_type value) { f(key, value); });
}

/* Writes the values of a key, those with numbers below `capacity`; how many there are. */
HD_FN uint64_t retrieve(const table &t, key_type key, value_type *to, uint64_t capacity)
{
    return visit_numbered(t, key, [&](uint64_t number, value_type value) {
        if (number < capacity) to[number] = value;
    });
}

HD_FN uint64_t count_each(const table &t, key_type key, bool active)
{
    uint64_t mine = 0;
    for_lanes(key, active, [&](key_type asked, int, bool is_mine) {
        const uint64_t values = count(t, asked);
        if (is_mine) mine = values;
    });
    return mine;
}
#endif

/* A kernel that calls f(row, key, value) for the pairs of every key of a batch. */
template <class F> static __global__ void for_each(table t, const key_type *keys, uint64_t n, F f)
{
    const uint64_t tiles = (uint64_t)gridDim.x * blockDim.x / tile_size;
    for (uint64_t i = tile_number(); i < n; i += tiles)
        visit(t, keys[i], [&](key_type key, value_type value) { f(i, key, value); });
}
