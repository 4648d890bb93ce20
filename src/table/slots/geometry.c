/* geometry.c: see geometry.h. */
#include "table/slots/geometry.h"

#include <math.h>

#include "base/error.h"

/*
 * A region should fit the fast local memory of any engine: shared memory of a GPU block (227 KB on
 * Hopper), the second-level cache of a CPU core. The larger it is, the evener the regions are
 * filled.
 */
#define REGION_BYTES_MAX (UINT64_C(192) << 10)
#define REGION_BUCKETS_MIN 4
/*
 * Regions are filled side by side, one by each processor of a GPU, and the more there are the more marks a bucket
 * has (choose_mark_bits). So a small table has up to 2^SHARED_BITS of them, as long as they need no more than a
 * hundredth more slots for it, and a region is large enough that every key finds a place: where pairs do
 * not move that takes more.
 */
#define SHARED_BITS 7
#define SHARED_SLOTS 1024
#define SHARED_SLOTS_UNMOVED 4096
#define SHARED_WASTE 1.01

uint64_t hd_geometry_slots(const hd_view *view, const hd_table_ops *ops)
{
    return ((uint64_t)view->region_buckets << view->region_bits) * ops->bucket;
}

uint32_t hd_geometry_threshold(const hd_table_ops *ops, double threshold)
{
    const uint32_t slots = (uint32_t)(threshold * ops->bucket + 0.5);
    return slots == 0 ? 1 : slots;
}

uint64_t hd_geometry_locks(const hd_view *view, const hd_table_ops *ops)
{
    const uint64_t buckets = (uint64_t)view->region_buckets << view->region_bits;
    return ops->scheme == HEDDLE_SCHEME_ICEBERG ? (buckets + 31) / 32 : 0;
}

/*
 * Slots a region needs so that `keys` of them on average fit: at `load`, and 4 deviations besides.
 */
static double region_slots(double keys, double load)
{
    const double by_load = keys / load, by_spread = keys + 4 * sqrt(keys) + 4;
    return by_load > by_spread ? by_load : by_spread;
}

/* The bits of the number of regions. */
static uint32_t choose_region_bits(const hd_table_ops *ops, double capacity, double load)
{
    const double slots = capacity / load;
    const double bytes = slots * (double)(ops->slot_bytes + ops->value_bytes);
    const double least = ops->scheme == HEDDLE_SCHEME_ICEBERG ? SHARED_SLOTS_UNMOVED : SHARED_SLOTS;
    uint32_t bits = 2;
    while (bytes / (double)(UINT64_C(1) << bits) > (double)REGION_BYTES_MAX) bits++;
    if (ops->count != NULL) return bits; /* a multimap: fewer regions let a key have more pairs */
    while (bits < SHARED_BITS) {
        const double regions = (double)(UINT64_C(2) << bits);
        if (slots / regions < least ||
            region_slots(capacity / regions, load) * regions > SHARED_WASTE * slots)
            break;
        bits++;
    }
    return bits;
}

/*
 * The strides of scheme/open.h are products of 2 and 3: with neither in it the region has full
 * periods.
 */
static void spread_windows(hd_view *view)
{
    while (view->region_buckets % 2 == 0 || view->region_buckets % 3 == 0) view->region_buckets++;
    if (view->hashes > view->region_buckets) view->hashes = view->region_buckets;
}

/*
 * The more marks, the fewer looks in vain. But in a multimap each of them halves the zones, and
 * with them the pairs that one key can have: few are right there, and one in small tables.
 */
static uint32_t choose_mark_bits(const hd_view *view, bool is_multimap)
{
    const uint32_t most = !is_multimap ? HD_MARK_BITS_MAX : view->region_bits >= 8 ? 2 : 1;
    uint32_t bits = 1;
    while (bits * 2 < view->region_bits && bits < most) bits *= 2;
    return bits;
}

/* Those of scheme/multi.inl are any number, which a prime number of windows makes right. */
static void make_prime(hd_view *view)
{
    uint32_t divisor = 2;
    while (divisor * divisor <= view->region_buckets) {
        if (view->region_buckets % divisor != 0) {
            divisor++;
        } else {
            view->region_buckets++;
            divisor = 2;
        }
    }
}

heddle_status hd_geometry_init(hd_view *view, const hd_table_ops *ops, uint64_t capacity,
                               double load, uint32_t hashes, uint64_t seed)
{
    const double slots = (double)capacity / load;
    double buckets;
    if (slots > (double)HD_SLOTS_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu keys",
                       (unsigned long long)capacity);
    view->region_bits = choose_region_bits(ops, (double)capacity, load);
    if (view->region_bits >= ops->key_bits || view->region_bits > 30)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu keys",
                       (unsigned long long)capacity);
    buckets =
        ceil(region_slots((double)capacity / (double)(UINT64_C(1) << view->region_bits), load) /
             ops->bucket);
    view->region_buckets = buckets < REGION_BUCKETS_MIN ? REGION_BUCKETS_MIN : (uint32_t)buckets;
    view->hashes = hashes;
    if (ops->count != NULL) make_prime(view);
    else if (ops->scheme == HEDDLE_SCHEME_OPEN) spread_windows(view);
    view->kicks = HD_KICKS_MAX;
    view->threshold = ops->bucket;
    view->mark_bits = choose_mark_bits(view, ops->count != NULL);
    view->key_mask =
        ~(((UINT64_C(1) << view->mark_bits) - 1) << (ops->key_bits - 1 - view->mark_bits));
    hd_mix_init(&view->mix, seed);
    return HEDDLE_OK;
}
