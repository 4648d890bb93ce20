/*
 * lists.inl: bucket lists (scheme/bucket_list.h) as kernels of a user's own see them; see
 * heddle/device.cuh, which includes it in a namespace of the table's own, once for every table. So there is
 * no guard. The namespace `keys` in it has the table that leads keys to numbers of lists.
 */
#ifndef HEDDLE_NAME
#error "included by heddle/device.cuh alone"
#endif

typedef keys::key_type key_type;
typedef hd_value value_type;
enum { tile_size = keys::tile_size, bucket_size = keys::bucket_size };
using keys::erase_for_lanes;
using keys::for_lanes;
using keys::insert_for_lanes;
using keys::tile_number;

/* What is handed to a kernel. */
typedef struct table {
    hd_device_lists at;
} table;

/* On the host: a table of this instance, for kernels of its device. Allocates and waits. */
static inline heddle_status open(heddle_table *handle, table *t)
{
    return heddle_table_get_view(handle, HEDDLE_SCHEME_BUCKET_LIST, HD_KEY_BITS, HD_VALUE_BITS,
                                 HD_BUCKET, &t->at, sizeof t->at);
}

/* ------------------------------------------------------------------------------------- lookups */

/* The number of a key's list. Nobody writes. */
HD_FN bool find_list(keys::hd_tile tile, const table &t, key_type key, uint64_t *number)
{
    keys::hd_hit hit;
    if (!keys::find_hit(tile, &t.at.keys.view, key, false, &hit)) return false;
    *number = keys::value_of(tile, &t.at.keys.view, hit);
    return true;
}

HD_FN bool contains(const table &t, key_type key)
{
    uint64_t number;
    return find_list(keys::tile_here(), t, key, &number);
}

/* One of the values; *value is left as it is when the key is absent. */
HD_FN bool find(const table &t, key_type key, value_type *value)
{
    uint64_t number;
    if (!find_list(keys::tile_here(), t, key, &number)) return false;
    *value = bucket_values(&t.at.pool, t.at.pool.records[number].bucket)[0];
    return true;
}

HD_FN uint64_t count(const table &t, key_type key)
{
    uint64_t number = HD_LIST_NONE;
    find_list(keys::tile_here(), t, key, &number);
    return list_length(&t.at.pool, number);
}

/* f(number, value) for the values of a list, shared by so many lanes; how many there are. */
template <class F>
static __device__ __forceinline__ uint64_t list_visit(const hd_list_pool *pool, uint64_t number,
                                                      uint32_t lane, uint32_t lanes, F &&f)
{
    const uint64_t sum = list_length(pool, number);
    uint64_t bucket = pool->records[number].bucket, end = sum;
    while (end != 0) {
        const uint64_t begin = bucket_begin(pool, bucket);
        const hd_value *values = bucket_values(pool, bucket);
        for (uint64_t i = begin + lane; i < end; i += lanes) f(i, values[i - begin]);
        if (begin != 0) bucket = bucket_header(pool, bucket)->before;
        end = begin;
    }
    return sum;
}

template <class F>
static __device__ __forceinline__ uint64_t visit_numbered(const table &t, key_type key, F &&f)
{
    const keys::hd_tile tile = keys::tile_here();
    uint64_t number, sum = 0;
    if (find_list(tile, t, key, &number))
        sum = list_visit(&t.at.pool, number, tile.lane, tile_size, f);
    __syncwarp(tile.mask);
    return sum;
}

/* A kernel that calls f(key, value) once for every pair: a warp shares the values of each key. */
template <class F> static __global__ void for_all(table t, F f)
{
    const hd_view *const view = &t.at.keys.view;
    const uint64_t slots = ((uint64_t)view->region_buckets << view->region_bits) * bucket_size;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (slots + 31) / 32 * 32;
         i += stride) {
        const uint64_t slot = i < slots ? i : slots - 1;
        const keys::hd_word word = ((const keys::hd_word *)view->slots)[slot];
        const uint32_t region = (uint32_t)(slot / bucket_size / view->region_buckets);
        const bool live = i < slots && !keys::key_is_vacant(keys::word_key(word));
        const key_type key =
            keys::key_from_lean(view, region, keys::key_bare(view, keys::word_key(word)));
        const uint64_t number = live ? keys::word_value(view, slot, word) : HD_LIST_NONE;
        uint32_t lanes = __ballot_sync(0xffffffffu, live);
        for (; lanes != 0; lanes &= lanes - 1) {
            const int from = (int)hd_lowest_bit(lanes);
            const key_type theirs = __shfl_sync(0xffffffffu, key, from);
            list_visit(&t.at.pool, __shfl_sync(0xffffffffu, number, from), threadIdx.x % 32, 32,
                       [&](uint64_t, value_type value) { f(theirs, value); });
        }
    }
}

#include "cuda/inside/lists_writer.inl"

#define HD_MANY_VALUES
#include "cuda/inside/each.inl"
