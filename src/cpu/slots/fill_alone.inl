/*
 * fill_alone.inl: inserting pairs that are sorted by region one after the other, by a core that has their
 * region to itself, so without atomics.
 */
#ifndef HD_INSTANCE_NAME
#error "included by instance.c alone"
#endif
#ifndef HD_CPU_FILL_ALONE_H
#define HD_CPU_FILL_ALONE_H

#define FILL_AHEAD 16 /* pairs whose first bucket is on its way to the first-level cache */
#define PAIR_BYTES ((HD_KEY_BITS + HD_VALUE_BITS) / 8)

/* Sorted pairs of one region. */
typedef struct region_pairs {
    uint32_t region;
    const char *begin, *end;
} region_pairs;

static inline hd_walk sorted_walk(const hd_view *view, uint32_t region, const char *pair)
{
    hd_key mixed;
    memcpy(&mixed, pair, sizeof mixed);
    return walk_start_lean(region, lean_key(view, mixed));
}

static inline hd_value sorted_value(const char *pair)
{
    hd_value value = 0;
    if (HD_HAS_VALUES) memcpy(&value, pair + sizeof(hd_key), sizeof value);
    return value;
}

static void fill_clear(const hd_view *view, uint32_t region)
{
    const uint64_t slots = (uint64_t)view->region_buckets * HD_BUCKET;
    memset((hd_word *)view->slots + region * slots, 0xff, slots * sizeof(hd_word));
}

/*
 * Lists the pairs from `pair` on, without trying them: those of a key stay in their order, whichever of them would
 * find room.
 */
static void fill_list(const hd_sorted *lists, const char *pair, const char *end, sums *s)
{
    const uint64_t count = (uint64_t)(end - pair) / PAIR_BYTES;
    const uint64_t at = fetch_add_relaxed_64(lists->failed_count, count);
    memcpy((char *)lists->failed + at * PAIR_BYTES, pair, count * PAIR_BYTES);
    s->failed += (uint32_t)count;
}

/* `lists`: where pairs go from the first on that finds no room; NULL: nowhere. */
static void fill_region(const hd_view *view, const hd_batch *batch, region_pairs pairs,
                        const hd_sorted *lists, sums *s)
{
    const char *pair = pairs.begin;
    uint32_t path[HD_KICKS_MAX];
    uint32_t kicks = view->kicks;
    hd_walk ahead[FILL_AHEAD];
    const uint64_t count = (uint64_t)(pairs.end - pair) / PAIR_BYTES;
    for (uint64_t i = 0; i < count + FILL_AHEAD; i++) {
        hd_walk *slot = &ahead[i % FILL_AHEAD];
        const hd_walk now = *slot;
        if (i < count) {
            *slot = sorted_walk(view, pairs.region, pair + i * PAIR_BYTES);
            bucket_prefetch(view, walk_bucket(view, slot));
        }
        if (i < FILL_AHEAD) continue;
        const hd_value value = sorted_value(pair + (i - FILL_AHEAD) * PAIR_BYTES);
        const int result = scheme_insert_alone(tile_owner(), view, now, value, batch->policy, kicks,
                                               path, &s->probes, &s->evictions);
        if (result == HD_NO_ROOM && lists != NULL) {
            fill_list(lists, pair + (i - FILL_AHEAD) * PAIR_BYTES, pairs.end, s);
            return;
        }
        s->inserted += result == HD_PLACED;
        s->present += result == HD_PRESENT;
        s->failed += result == HD_NO_ROOM;
        if (result == HD_NO_ROOM && kicks > 4) kicks /= 2;
    }
}

#endif
