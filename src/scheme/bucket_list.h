/*
 * bucket_list.h: lists of values in buckets that grow (model/lists.h), for values of HD_VALUE_BITS bits.
 * After the bucket list of WarpCore (Juenger et al., 2020, IV-C).
 *
 * The invariant that lets a reader find every value: all buckets of a list but the newest are full. So the
 * number of values and the newest bucket tell where the last value stands, and each header where those
 * before it do.
 *
 * Appending. A caller claims a place by a CAS that adds one to the handle's number of values. Numbers only
 * rise, so a CAS that succeeds proves that the bucket read before it is still the newest one. When that is
 * full, one caller blocks the handle, takes a bucket from the pool by one atomic addition, links it and
 * publishes both. list_append_step never waits: who finds a list blocked is told to try again. So all lanes
 * of a warp can take their steps together, and the one that blocks a list has always published it by the
 * end of its own step.
 */
#ifndef HD_BUCKET_LIST_H
#define HD_BUCKET_LIST_H

#include "base/atomic.h"
#include "model/hash.h"
#include "model/lists.h"

/* ------------------------------------------------------------------------------------- handles */

#define HD_LIST_COUNT_BITS 62

HD_FN uint64_t handle_make(uint32_t state, uint64_t count)
{
    return (uint64_t)state << HD_LIST_COUNT_BITS | count;
}
HD_FN uint32_t handle_state(uint64_t handle) { return (uint32_t)(handle >> HD_LIST_COUNT_BITS); }
HD_FN uint64_t handle_count(uint64_t handle)
{
    return handle & ((UINT64_C(1) << HD_LIST_COUNT_BITS) - 1);
}

/* How many values a list has; `number` may be HD_LIST_NONE. */
HD_FN uint64_t list_length(const hd_list_pool *pool, uint64_t number)
{
    return number == HD_LIST_NONE ? 0 : handle_count(pool->records[number].handle);
}

/* ------------------------------------------------------------------------------------- buckets */

typedef struct hd_list_header {
    uint64_t before; /* the word of the bucket before this one */
    uint64_t begin;  /* how many values come before this bucket's first */
} hd_list_header;

#define HD_LIST_HEADER_UNITS 2
#define HD_LIST_UNIT_VALUES (HD_LIST_UNIT * 8 / HD_VALUE_BITS)
#define HD_LIST_MANTISSA_BITS 18

/* A capacity as the short float that a word has room for. What does not fit is rounded up, or down. */
HD_FN uint64_t capacity_code(uint64_t capacity, bool up)
{
    uint64_t exponent = 0;
    while (capacity >> HD_LIST_MANTISSA_BITS != 0) {
        capacity = up ? capacity / 2 + capacity % 2 : capacity / 2;
        exponent++;
    }
    return exponent << HD_LIST_MANTISSA_BITS | capacity;
}

HD_FN uint64_t code_capacity(uint64_t code)
{
    return (code & ((UINT64_C(1) << HD_LIST_MANTISSA_BITS) - 1)) << (code >> HD_LIST_MANTISSA_BITS);
}

/* A bucket is made of whole units, and its capacity can be told. */
HD_FN uint64_t capacity_fit(uint64_t capacity)
{
    const uint64_t units = (capacity + HD_LIST_UNIT_VALUES - 1) / HD_LIST_UNIT_VALUES;
    return code_capacity(capacity_code(units * HD_LIST_UNIT_VALUES, true));
}

HD_FN uint64_t bucket_make(uint64_t capacity, bool linked, uint32_t chunk, uint64_t unit)
{
    return capacity_code(capacity, true) << 41 | (uint64_t)linked << 40 | (uint64_t)chunk << 32 |
           unit;
}
HD_FN uint64_t bucket_capacity(uint64_t bucket) { return code_capacity(bucket >> 41); }
HD_FN bool bucket_is_linked(uint64_t bucket) { return (bucket >> 40 & 1) != 0; }
HD_FN uint32_t bucket_chunk(uint64_t bucket) { return (uint32_t)(bucket >> 32 & 255); }
HD_FN uint64_t bucket_unit(uint64_t bucket) { return bucket & UINT32_MAX; }

HD_FN uint64_t units_of(uint64_t capacity, bool linked)
{
    return (linked ? HD_LIST_HEADER_UNITS : 0) + capacity / HD_LIST_UNIT_VALUES;
}
HD_FN uint64_t bucket_units(uint64_t bucket)
{
    return units_of(bucket_capacity(bucket), bucket_is_linked(bucket));
}

HD_FN hd_list_header *bucket_header(const hd_list_pool *pool, uint64_t bucket)
{
    return (hd_list_header *)(void *)(pool->chunks[bucket_chunk(bucket)] +
                                      bucket_unit(bucket) * HD_LIST_UNIT);
}

/* Where its values are, and how many values of the list come before them. */
HD_FN hd_value *bucket_values(const hd_list_pool *pool, uint64_t bucket)
{
    const uint64_t skip = bucket_is_linked(bucket) ? HD_LIST_HEADER_UNITS : 0;
    return (hd_value *)(void *)(pool->chunks[bucket_chunk(bucket)] +
                                (bucket_unit(bucket) + skip) * HD_LIST_UNIT);
}
HD_FN uint64_t bucket_begin(const hd_list_pool *pool, uint64_t bucket)
{
    return bucket_is_linked(bucket) ? bucket_header(pool, bucket)->begin : 0;
}

/* The bucket that holds value `at` of a list, and at which value it begins. */
HD_FN uint64_t bucket_at(const hd_list_pool *pool, uint64_t bucket, uint64_t at, uint64_t *begin)
{
    while (bucket_is_linked(bucket)) {
        const hd_list_header *header = bucket_header(pool, bucket);
        if (at >= header->begin) {
            *begin = header->begin;
            return bucket;
        }
        bucket = header->before;
    }
    *begin = 0;
    return bucket;
}

/* The capacity that the growth rule gives the bucket after one of `before` values; 0: the first one. */
HD_FN uint64_t capacity_next(const hd_list_pool *pool, uint64_t before)
{
    uint64_t grown;
    if (before == 0) return capacity_fit(pool->first);
    if ((double)before * pool->growth >= (double)HD_LIST_RULE_MAX) return HD_LIST_RULE_MAX;
    grown = (uint64_t)((double)before * pool->growth);
    if ((double)grown < (double)before * pool->growth) grown++;
    return capacity_fit(grown);
}

/* ------------------------------------------------------------------------------- one at a time */

enum { HD_LIST_DONE, HD_LIST_AGAIN, HD_LIST_OUT };

/* Adds a bucket to a list that the caller has blocked, with the value in it. */
HD_FN int list_extend(const hd_list_pool *pool, hd_list_record *record, uint64_t count,
                      hd_value value)
{
    const bool linked = count != 0;
    const uint64_t before = load_acquire_64(&record->bucket);
    const uint64_t capacity = capacity_next(pool, linked ? bucket_capacity(before) : 0);
    const uint64_t units = units_of(capacity, linked);
    const uint64_t at = fetch_add_relaxed_64(pool->cursor, units);
    uint64_t bucket;
    if (at + units > pool->room) {
        store_release_64(&record->handle, handle_make(HD_LIST_FULL, count));
        return HD_LIST_OUT;
    }
    bucket = bucket_make(capacity, linked, pool->chunk, at);
    if (linked) {
        bucket_header(pool, bucket)->before = before;
        bucket_header(pool, bucket)->begin = count;
    }
    bucket_values(pool, bucket)[0] = value;
    store_release_64(&record->bucket, bucket);
    store_release_64(&record->handle, handle_make(HD_LIST_READY, count + 1));
    return HD_LIST_DONE;
}

/* One try to append a value; it does not wait for anybody. The record was EMPTY at first: all 0. */
HD_FN int list_append_step(const hd_list_pool *pool, uint64_t number, hd_value value)
{
    hd_list_record *record = &pool->records[number];
    const uint64_t seen = load_acquire_64(&record->handle), count = handle_count(seen);
    if (handle_state(seen) == HD_LIST_BLOCKED) return HD_LIST_AGAIN;
    if (count != 0) {
        const uint64_t bucket = load_acquire_64(&record->bucket);
        const uint64_t at = count - bucket_begin(pool, bucket);
        /* Where the bucket is newer than `seen`, the number may be anything, and the CAS fails. */
        if (at < bucket_capacity(bucket)) {
            if (!cas_64(&record->handle, seen, handle_make(HD_LIST_READY, count + 1)))
                return HD_LIST_AGAIN;
            bucket_values(pool, bucket)[at] = value;
            return HD_LIST_DONE;
        }
    }
    if (handle_state(seen) == HD_LIST_FULL && load_acquire_64(pool->cursor) >= pool->room)
        return HD_LIST_OUT;
    if (!cas_64(&record->handle, seen, handle_make(HD_LIST_BLOCKED, count))) return HD_LIST_AGAIN;
    return list_extend(pool, record, count, value);
}

/* ------------------------------------------------------------------------------- a run at once */

/* How a run of `need` values will be taken in: some in the newest bucket, the others in a new one. */
typedef struct hd_list_plan {
    uint64_t count;    /* values in the list before */
    uint64_t bucket;   /* the newest, where count is not 0 */
    uint64_t begin;    /* of that one */
    uint64_t left;     /* values that it takes */
    uint64_t capacity; /* of the new bucket; 0: none */
} hd_list_plan;

HD_FN hd_list_plan list_plan(const hd_list_pool *pool, uint64_t number, uint64_t fresh,
                             uint64_t need, bool tight)
{
    hd_list_plan plan;
    memset(&plan, 0, sizeof plan);
    if (number < fresh) {
        plan.count = handle_count(pool->records[number].handle);
        plan.bucket = pool->records[number].bucket;
    }
    if (plan.count != 0) {
        plan.begin = bucket_begin(pool, plan.bucket);
        plan.left = bucket_capacity(plan.bucket) - (plan.count - plan.begin);
        if (plan.left > need) plan.left = need;
    }
    if (need > plan.left) {
        const uint64_t rule =
            tight ? 0 : capacity_next(pool, plan.count != 0 ? bucket_capacity(plan.bucket) : 0);
        plan.capacity = capacity_fit(need - plan.left);
        if (plan.capacity < rule) plan.capacity = rule;
    }
    return plan;
}

HD_FN uint64_t plan_units(const hd_list_plan *plan)
{
    return plan->capacity != 0 ? units_of(plan->capacity, plan->count != 0) : 0;
}

/* The capacity that so many units have room for, header included; 0 when that is none. */
HD_FN uint64_t capacity_within(uint64_t units, bool linked)
{
    const uint64_t header = linked ? HD_LIST_HEADER_UNITS : 0;
    if (units <= header) return 0;
    return code_capacity(capacity_code((units - header) * HD_LIST_UNIT_VALUES, false));
}

/* Whether run g, which has no list yet, would get any room. */
HD_FN bool run_is_fresh(const hd_list_runs *runs, uint64_t g)
{
    return runs->numbers[g] == HD_LIST_NONE && (runs->units == NULL || runs->units[g] < runs->room);
}

/* Gives run g its room and changes its list. Nobody else works on that list. */
HD_FN hd_list_place run_claim(const hd_list_pool *pool, const hd_list_runs *runs, uint64_t g)
{
    const uint64_t number = runs->numbers[g], need = runs->starts[g + 1] - runs->starts[g];
    const uint64_t at = runs->units[g];
    hd_list_place place;
    hd_list_plan plan;
    memset(&place, 0, sizeof place);
    if (number == HD_LIST_NONE) return place;
    plan = list_plan(pool, number, runs->fresh, need, runs->tight);
    place.left = place.granted = plan.left;
    if (plan.left != 0) place.old = bucket_values(pool, plan.bucket) + (plan.count - plan.begin);
    if (plan.capacity != 0 && at + plan_units(&plan) > runs->room)
        plan.capacity = at < runs->room ? capacity_within(runs->room - at, plan.count != 0) : 0;
    if (plan.capacity != 0) {
        const uint64_t bucket =
            bucket_make(plan.capacity, plan.count != 0, pool->chunk, pool->used + at);
        if (plan.count != 0) {
            bucket_header(pool, bucket)->before = plan.bucket;
            bucket_header(pool, bucket)->begin = plan.count + plan.left;
        }
        place.fresh = bucket_values(pool, bucket);
        place.granted += need - plan.left < plan.capacity ? need - plan.left : plan.capacity;
        pool->records[number].bucket = bucket;
    }
    pool->records[number].handle = handle_make(HD_LIST_READY, plan.count + place.granted);
    return place;
}

/* Where value j of a run goes; NULL when it has no room. */
HD_FN hd_value *place_of(const hd_list_place *place, uint64_t j)
{
    if (j < place->left) return (hd_value *)place->old + j;
    return j < place->granted ? (hd_value *)place->fresh + (j - place->left) : NULL;
}

/* Ends a list: it has no values any more. Returns how many units its buckets have; *values how many it had. */
HD_FN uint64_t list_bury(const hd_list_pool *pool, uint64_t number, uint64_t *values)
{
    hd_list_record *record = &pool->records[number];
    uint64_t bucket = record->bucket, units;
    *values = handle_count(record->handle);
    record->handle = handle_make(HD_LIST_EMPTY, 0);
    if (*values == 0) return 0;
    units = bucket_units(bucket);
    while (bucket_is_linked(bucket)) {
        bucket = bucket_header(pool, bucket)->before;
        units += bucket_units(bucket);
    }
    return units;
}

#endif
