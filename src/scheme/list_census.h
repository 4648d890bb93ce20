/*
 * list_census.h: counts and checks one list (scheme/bucket_list.h), with plain loads, while nobody writes.
 * A damaged list is never followed out of the pool: a bucket is looked at only when it lies in a chunk,
 * and a walk ends because the places where buckets begin fall with every step.
 */
#ifndef HD_LIST_CENSUS_H
#define HD_LIST_CENSUS_H

#include "scheme/bucket_list.h"

/* Marks the units of a bucket as taken; false when some were. */
HD_FN bool census_take(const hd_list_bounds *bounds, uint64_t bucket)
{
    uint64_t bit = bounds->first_bits[bucket_chunk(bucket)] + bucket_unit(bucket);
    const uint64_t end = bit + bucket_units(bucket);
    bool alone = true;
    while (bit < end) {
        const uint64_t word_end = bit - bit % 32 + 32, stop = word_end < end ? word_end : end;
        const uint32_t ones = (uint32_t)(((UINT64_C(1) << (stop - bit)) - 1) << bit % 32);
        alone = (fetch_or_relaxed_32(&bounds->taken[bit / 32], ones) & ones) == 0 && alone;
        bit = stop;
    }
    return alone;
}

HD_FN bool census_in_pool(const hd_list_bounds *bounds, uint64_t bucket)
{
    const uint64_t limit = bounds->limits[bucket_chunk(bucket)];
    return bucket_unit(bucket) < limit && bucket_units(bucket) <= limit - bucket_unit(bucket);
}

/* Walks from the newest bucket, which holds the values up to `end`, to the first; false when that leads astray. */
HD_FN bool census_walk(const hd_list_pool *pool, const hd_list_bounds *bounds, uint64_t bucket,
                       uint64_t end, hd_list_census *c, uint64_t *buckets)
{
    for (;;) {
        uint64_t begin;
        if (!census_in_pool(bounds, bucket)) return false;
        begin = bucket_begin(pool, bucket);
        if (begin >= end || (begin == 0) == bucket_is_linked(bucket)) return false;
        if (*buckets == 0 ? end - begin > bucket_capacity(bucket)
                          : end - begin != bucket_capacity(bucket))
            return false;
        c->full += end - begin == bucket_capacity(bucket);
        c->units += bucket_units(bucket);
        c->shared += !census_take(bounds, bucket);
        ++*buckets;
        if (!bucket_is_linked(bucket)) return true;
        bucket = bucket_header(pool, bucket)->before;
        end = begin;
    }
}

HD_FN void census_list(const hd_list_pool *pool, const hd_list_bounds *bounds, uint64_t number,
                       hd_list_census *c)
{
    uint64_t handle, buckets = 0;
    c->lists++;
    if (number >= bounds->records) {
        c->astray++;
        return;
    }
    c->twice +=
        fetch_or_relaxed_32(&bounds->seen[number / 32], UINT32_C(1) << number % 32) >> number % 32 &
        1;
    handle = pool->records[number].handle;
    if (handle_count(handle) == 0 || handle_state(handle) < HD_LIST_READY) {
        c->astray++;
        return;
    }
    c->values += handle_count(handle);
    if (!census_walk(pool, bounds, pool->records[number].bucket, handle_count(handle), c, &buckets))
        c->broken++;
    c->buckets += buckets;
    c->chained[buckets == 0 ? 0 : buckets < 8 ? buckets - 1 : 7]++;
}

#endif
