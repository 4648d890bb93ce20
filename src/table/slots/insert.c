/*
 * insert.c: insert and build: which way a batch goes. Large ones go by regions (regions.h), into the
 * empty table or into one that holds keys; all others key by key (insert_singly.c).
 */
#include <string.h>

#include "base/error.h"
#include "table/slots/regions.h"

#define BUILD_SEEDS 4 /* seeds a build tries before it gives up */

/* Whether the table is empty and its batch of n keys may go by regions without growth. */
static heddle_status may_fill(heddle_table *table, const void *keys, const void *values, uint64_t n,
                              const heddle_insert_options *o, bool *fills, void *stream)
{
    const double room =
        table->options.load *
        (double)hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops);
    uint64_t count = 1;
    heddle_status status = HEDDLE_OK;
    *fills = (double)n <= room && hd_regions_suit(table, keys, values, n, o);
    if (*fills) status = hd_table_count(table, &count, stream);
    *fills = *fills && count == 0;
    return status;
}

/*
 * Fills the empty table, by regions if that suits, else or if that fails by inserting. *waited says
 * whether *counts are known.
 */
static heddle_status fill(heddle_table *table, const void *keys, const void *values, uint64_t n,
                          const heddle_insert_options *o, bool *waited, hd_counts *counts,
                          void *stream)
{
    bool filled = false;
    heddle_status status = hd_regions_build(table, keys, values, n, o, &filled, counts, stream);
    if (status != HEDDLE_OK || filled) {
        *waited = true;
        if (filled) hd_slots(table)->erased = 0;
        if (filled) hd_slots(table)->gaps = false;
        return status;
    }
    status = hd_slots_clear(table, stream);
    return status == HEDDLE_OK
               ? hd_slots_insert_singly(table, keys, values, n, o, waited, counts, stream)
               : status;
}

/* A counter adds, whatever the caller says. */
static heddle_insert_options own_options(const heddle_table *table,
                                         const heddle_insert_options *options)
{
    heddle_insert_options own = *options;
    if (table->options.container == HEDDLE_CONTAINER_COUNTER) own.policy = HEDDLE_POLICY_ADD;
    return own;
}

/*
 * Every pair of a multimap needs a slot, so it is known beforehand when there are too few: a growing
 * table makes room then, instead of looking for it in vain with every pair. When there is no memory for
 * that, the insertion goes on; it knows which pairs fail.
 */
#define MULTI_FULL 0.95
static heddle_status make_room(heddle_table *table, uint64_t n, void *stream)
{
    const double slots =
        (double)hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops);
    const double share = table->options.load > MULTI_FULL ? table->options.load : MULTI_FULL;
    uint64_t pairs = 0;
    heddle_status status = hd_table_count(table, &pairs, stream);
    if (status != HEDDLE_OK || (double)pairs + (double)n <= share * slots) return status;
    status = hd_table_grow(table, n, stream);
    return status == HEDDLE_ERROR_NO_MEMORY || status == HEDDLE_ERROR_FULL ? HEDDLE_OK : status;
}

/*
 * Adds a large batch to a multimap in the order of regions, where the call waits anyway. A batch that is
 * small beside the table meets every window once at best, in whatever order it comes. `fresh`: what the
 * table holds is to go.
 */
#define MULTI_SHARE 16
static heddle_status append(heddle_table *table, const void *keys, const void *values, uint64_t n,
                            const heddle_insert_options *o, bool fresh, bool *done,
                            hd_counts *counts, void *stream)
{
    const uint64_t slots = hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops);
    *done = false;
    if (n < slots / MULTI_SHARE || !hd_regions_suit(table, keys, values, n, o)) return HEDDLE_OK;
    if (!fresh) {
        uint64_t count = 0;
        const heddle_status status = hd_table_count(table, &count, stream);
        if (status != HEDDLE_OK) return status;
        fresh = count == 0; /* the marks of erased pairs go too */
    }
    return hd_regions_append(table, keys, values, n, o, fresh, hd_slots_insert_listed, done, counts,
                             stream);
}

heddle_status hd_slots_insert(heddle_table *table, const void *keys, const void *values, uint64_t n,
                              const heddle_insert_options *options, bool *waited, hd_counts *counts,
                              void *stream)
{
    const heddle_insert_options own = own_options(table, options);
    const bool grows = (table->options.flags & HEDDLE_FLAG_FIXED) == 0;
    const bool waits = *waited || grows || table->engine->host_memory;
    heddle_status status = HEDDLE_OK;
    bool fills = false, done = false;
    if (hd_is_multimap(table) && grows) status = make_room(table, n, stream);
    if (status == HEDDLE_OK && waits && !hd_is_multimap(table))
        status = may_fill(table, keys, values, n, &own, &fills, stream);
    if (status == HEDDLE_OK && waits && hd_is_multimap(table))
        status = append(table, keys, values, n, &own, false, &done, counts, stream);
    if (status != HEDDLE_OK || done) {
        *waited = done;
        return status;
    }
    if (fills) return fill(table, keys, values, n, &own, waited, counts, stream);
    if (waits && !hd_is_multimap(table) && hd_slots_is_large(table, n) &&
        hd_regions_suit(table, keys, values, n, &own)) {
        *waited = true;
        return hd_slots_insert_more(table, keys, values, n, &own, counts, stream);
    }
    return hd_slots_insert_singly(table, keys, values, n, &own, waited, counts, stream);
}

heddle_status hd_build_view(const heddle_table *table, uint64_t n, hd_view *view)
{
    HD_TRY(hd_geometry_init(view, hd_slots(table)->ops, n, table->options.load,
                            table->options.hashes, 1));
    if ((table->options.flags & HEDDLE_FLAG_FIXED) != 0 ||
        hd_geometry_slots(view, hd_slots(table)->ops) <=
            hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops))
        *view = hd_slots(table)->storage.view;
    return HEDDLE_OK;
}

/* Makes an empty table fit for n keys, if it may grow and is too small. */
static heddle_status prepare_build(heddle_table *table, uint64_t n, void *stream)
{
    hd_view wanted;
    const heddle_status status = hd_build_view(table, n, &wanted);
    if (status != HEDDLE_OK ||
        hd_geometry_slots(&wanted, hd_slots(table)->ops) <=
            hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops))
        return status;
    return hd_table_renew(table, n, table->options.seed, stream);
}

static heddle_status build_once(heddle_table *table, const void *keys, const void *values,
                                uint64_t n, const heddle_insert_options *o, hd_counts *counts,
                                void *stream)
{
    bool waits = true, done = false;
    heddle_status status = HEDDLE_OK;
    if (!hd_is_multimap(table) && hd_regions_suit(table, keys, values, n, o))
        return fill(table, keys, values, n, o, &waits, counts, stream);
    if (hd_is_multimap(table))
        status = append(table, keys, values, n, o, true, &done, counts, stream);
    if (done) return status;
    const heddle_status cleared = hd_slots_clear(table, stream);
    if (status == HEDDLE_OK) status = cleared;
    return status == HEDDLE_OK
               ? hd_slots_insert_singly(table, keys, values, n, o, &waits, counts, stream)
               : status;
}

heddle_status hd_slots_build(heddle_table *table, const void *keys, const void *values, uint64_t n,
                             const heddle_insert_options *options, hd_counts *counts, void *stream)
{
    const heddle_insert_options own = own_options(table, options);
    heddle_status status = prepare_build(table, n, stream);
    if (status != HEDDLE_OK) return status;
    status = build_once(table, keys, values, n, &own, counts, stream);
    /* Keys that ought to fit did not: the seed was unlucky. A table asked to hold too much keeps its seed. */
    for (int i = 1; i < BUILD_SEEDS && status == HEDDLE_ERROR_FULL &&
                    (double)(counts->at[HD_INSERTED] + counts->at[HD_FAILED]) <=
                        table->options.load * (double)table->options.capacity;
         i++) {
        table->options.seed = hd_seed_draw();
        hd_mix_init(&hd_slots(table)->storage.view.mix, table->options.seed);
        status = build_once(table, keys, values, n, &own, counts, stream);
    }
    return status;
}
