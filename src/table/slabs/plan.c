/*
 * plan.c: how many lists a slab hash needs for its keys at its load, and how many slabs these will chain.
 *
 * The keys of a list are as many as chance has it: Poisson, with k on average. Every list has one slab, and one more
 * when it has more keys than fit into one, and so on. The load is the filled share of the slots of these slabs.
 */
#include <math.h>

#include "table/slabs/slabs.h"

#define REGION_BYTES (UINT64_C(192) << 10) /* of base slabs; as regions of other tables have */
#define TABLE_LOAD_MAX 0.99
#define KEYS_MORE 1.25 /* erased keys keep their slots for a while (upkeep.c) */
#define POOL_MIN 64

/* Slabs of a list of `keys` on average, each with so many slots. */
static double slabs_of_list(double keys, uint32_t slots)
{
    const uint32_t most = (uint32_t)(keys + 12 * sqrt(keys) + 40);
    double below = 0, sum = 1; /* the chance of fewer keys than this; slabs */
    for (uint32_t i = 0; i <= most; i++) {
        below += exp(i * log(keys) - keys - lgamma(i + 1.0));
        if (i % slots == 0 && i != 0) sum += below < 1 ? 1 - below : 0;
    }
    return sum;
}

/* Keys of a list that fill its slabs to `load`: more fill them better. */
static double keys_of_list(double load, uint32_t slots)
{
    double low = 1e-3, high = slots / (1 - TABLE_LOAD_MAX);
    for (int i = 0; i < 40; i++) {
        const double keys = (low + high) / 2;
        if (keys / (slots * slabs_of_list(keys, slots)) < load) low = keys;
        else high = keys;
    }
    return high;
}

/* What `keys` need of the pool; in a multimap the pairs of one key may all be in one list. */
static uint64_t pool_for(const heddle_table *table, double keys, double lists)
{
    const uint32_t slots = hd_slabs(table)->ops->slots;
    const double chained = keys == 0 ? 0 : lists * (slabs_of_list(keys / lists, slots) - 1);
    const double by_chance = chained + 6 * sqrt(chained), at_most = keys / slots;
    return (uint64_t)(hd_slabs_multi(table) ? at_most : by_chance) + POOL_MIN;
}

heddle_status hd_slabs_plan_for(const heddle_table *table, uint64_t capacity, hd_slabs_plan *plan)
{
    const double each = keys_of_list(table->options.load, hd_slabs(table)->ops->slots);
    const double lists = ceil((double)capacity / each);
    if (capacity > HD_SLOTS_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu keys",
                       (unsigned long long)capacity);
    plan->region_bits = 2;
    while (lists * HD_SLAB_BYTES > (double)(REGION_BYTES << plan->region_bits)) plan->region_bits++;
    if (plan->region_bits >= table->options.key_bits || plan->region_bits > 30)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu keys",
                       (unsigned long long)capacity);
    plan->region_buckets = (uint32_t)ceil(lists / (double)(UINT64_C(1) << plan->region_bits));
    if (plan->region_buckets == 0) plan->region_buckets = 1;
    plan->pool =
        pool_for(table, KEYS_MORE * (double)capacity,
                 (double)plan->region_buckets * (double)(UINT64_C(1) << plan->region_bits));
    return HEDDLE_OK;
}
