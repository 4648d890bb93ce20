/*
 * slots_insert.c: insert and build. A batch goes through slice by slice: place, then settle. A table that
 * may grow looks after each slice whether keys failed; if so it grows and gives just those keys
 * another try. A fixed table goes on, and the failed keys are listed if the caller wants them.
 * Large batches for an empty table go by regions (regions.h).
 */
#include <string.h>

#include "api/failed.h"
#include "api/regions.h"
#include "api/stage.h"

#define GROW_TRIES 8  /* a table that has doubled this often for one slice will not be helped */
#define BUILD_SEEDS 4 /* seeds a build tries before it gives up */

typedef struct insertion {
    heddle_table *table;
    const heddle_insert_options *options;
    hd_call call;
    void *stream;
    bool grows;           /* growth is allowed and has not failed yet */
    heddle_status growth; /* why growth failed */
    uint64_t retried;     /* failures that were tried again, to take back from the count */
    uint64_t failed;      /* failures known so far */
    hd_failed_list list;
    hd_counts counts; /* the sums of a call that waited */
} insertion;

static heddle_status run_slice(const insertion *in, const hd_batch *batch)
{
    heddle_table *table = in->table;
    hd_batch own = *batch;
    heddle_status status;
    own.heads = hd_slots(table)->storage.heads;
    own.next = hd_slots(table)->storage.next;
    status = hd_slots(table)->ops->place(table->device, &hd_slots(table)->storage.view, &own,
                                         in->stream);
    if (status == HEDDLE_OK)
        status = hd_slots(table)->ops->settle(table->device, &hd_slots(table)->storage.view, &own,
                                              NULL, 0, in->stream);
    return status;
}

/* How many keys of the last run failed, after a wait. */
static heddle_status read_failed(insertion *in, uint64_t *fresh)
{
    hd_counts counts;
    const heddle_status status = hd_call_read(in->table, &in->call, in->stream, &counts);
    if (status != HEDDLE_OK) return status;
    *fresh = counts.at[HD_FAILED] - in->failed;
    in->failed = counts.at[HD_FAILED];
    return HEDDLE_OK;
}

/* Grows until the failed keys of a slice fit; *left says how many still do not. */
static heddle_status grow_and_retry(insertion *in, hd_batch *batch, uint64_t *left)
{
    const bool scratch = batch->outcomes == hd_slots(in->table)->storage.outcomes;
    batch->retry = 1;
    for (int i = 0; i < GROW_TRIES && *left != 0; i++) {
        heddle_status status = hd_table_grow(in->table, *left, in->stream);
        if (status != HEDDLE_OK) {
            in->grows = false;
            in->growth = status;
            return status == HEDDLE_ERROR_DEVICE ? status : HEDDLE_OK;
        }
        in->retried += *left;
        if (scratch)
            batch->outcomes = hd_slots(in->table)->storage.outcomes; /* moved with the table */
        status = run_slice(in, batch);
        if (status == HEDDLE_OK) status = read_failed(in, left);
        if (status != HEDDLE_OK) return status;
    }
    return HEDDLE_OK;
}

/* hd_slice_work: spans are keys, values, outcomes. */
static heddle_status insert_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                  uint64_t n)
{
    insertion *in = (insertion *)context;
    heddle_table *table = in->table;
    const bool asks = in->grows || hd_failed_wanted(in->options);
    uint64_t left = 0;
    heddle_status status;
    hd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.values = device[1];
    batch.outcomes = (uint8_t *)device[2];
    batch.n = n;
    batch.policy = in->options->policy;
    batch.counts = in->call.counts;
    batch.tally = &table->control->born;
    if (batch.outcomes == NULL && asks) batch.outcomes = hd_slots(table)->storage.outcomes;
    status = run_slice(in, &batch);
    if (status != HEDDLE_OK || !asks) return status;
    status = read_failed(in, &left);
    if (status == HEDDLE_OK && left != 0 && in->grows) status = grow_and_retry(in, &batch, &left);
    if (status == HEDDLE_OK && left != 0)
        status = hd_failed_add(table, &in->list, batch.outcomes, first, n, in->stream);
    return status;
}

/* ----------------------------------------------------------------------------------- the call */

/* Reads the sums of a waiting call. */
static heddle_status finish(insertion *in)
{
    heddle_table *table = in->table;
    const bool is_multi = hd_is_multimap(table);
    hd_counts counts;
    const heddle_status status = hd_call_read(table, &in->call, in->stream, &counts);
    if (status != HEDDLE_OK) return status;
    counts.at[HD_FAILED] -= in->retried;
    table->evictions += counts.at[HD_EVICTIONS];
    in->counts = counts;
    if (counts.at[HD_FAILED] == 0) return HEDDLE_OK;
    if (in->growth != HEDDLE_OK)
        return is_multi
                   ? hd_fail(in->growth,
                             "%llu pairs found no room and the table could not grow: a key with "
                             "very many values is for the scheme hashgraph",
                             (unsigned long long)counts.at[HD_FAILED])
                   : in->growth;
    return hd_fail(HEDDLE_ERROR_FULL, "%llu %s did not fit into the table of %llu slots%s",
                   (unsigned long long)counts.at[HD_FAILED], is_multi ? "pairs" : "keys",
                   (unsigned long long)table->options.capacity,
                   is_multi ? "; the scheme hashgraph is made for keys with very many values" : "");
}

/* `counts` gets the sums if the call waits, which it does at least when `waits`. */
static heddle_status insert(heddle_table *table, const void *keys, const void *values, uint64_t n,
                            const heddle_insert_options *options, bool *waited, hd_counts *counts,
                            void *stream)
{
    const hd_span spans[3] = {
        {(void *)(uintptr_t)keys, hd_key_width(table), true, false},
        {(void *)(uintptr_t)values, hd_value_width(table), true, false},
        {options->outcomes, 1, false, true},
    };
    const bool grows = (table->options.flags & HEDDLE_FLAG_FIXED) == 0;
    const bool waits = grows || hd_failed_wanted(options) || *waited ||
                       table->engine->host_memory || hd_any_staged(table, spans, 3);
    insertion in;
    heddle_status status = hd_marks_renew(table, stream);
    *waited = false;
    memset(&in, 0, sizeof in);
    in.table = table;
    in.options = options;
    in.stream = stream;
    in.grows = grows;
    if (status == HEDDLE_OK) status = hd_failed_begin(table, options, &in.list);
    if (status != HEDDLE_OK) return status;
    status = hd_call_begin(table, waits, stream, &in.call);
    if (status == HEDDLE_OK) {
        status = hd_for_slices(table, spans, 3, n, insert_slice, &in, stream);
        if (status == HEDDLE_OK && waits) status = finish(&in);
        hd_call_end(table, &in.call);
        *waited = waits;
    }
    hd_failed_end(&in.list);
    *counts = in.counts;
    return status;
}

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
        return status;
    }
    status = hd_slots_clear(table, stream);
    return status == HEDDLE_OK ? insert(table, keys, values, n, o, waited, counts, stream) : status;
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

/* hd_regions_insert. */
static heddle_status insert_rest(heddle_table *table, const void *keys, const void *values,
                                 uint64_t n, void *stream, hd_counts *counts)
{
    static const heddle_insert_options plain = HEDDLE_INSERT_OPTIONS_INIT;
    bool waited = true;
    return insert(table, keys, values, n, &plain, &waited, counts, stream);
}

/*
 * Adds a large batch to a multimap in the order of regions, where the call waits anyway. A batch that is
 * small beside the table meets every window once at best, in whatever order it comes. `fresh`: what the
 * table holds is to go.
 */
#define APPEND_SHARE 16
static heddle_status append(heddle_table *table, const void *keys, const void *values, uint64_t n,
                            const heddle_insert_options *o, bool fresh, bool *done,
                            hd_counts *counts, void *stream)
{
    const uint64_t slots = hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops);
    *done = false;
    if (n < slots / APPEND_SHARE || !hd_regions_suit(table, keys, values, n, o)) return HEDDLE_OK;
    if (!fresh) {
        uint64_t count = 0;
        const heddle_status status = hd_table_count(table, &count, stream);
        if (status != HEDDLE_OK) return status;
        fresh = count == 0; /* the marks of erased pairs go too */
    }
    return hd_regions_append(table, keys, values, n, o, fresh, insert_rest, done, counts, stream);
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
    return fills ? fill(table, keys, values, n, &own, waited, counts, stream)
                 : insert(table, keys, values, n, &own, waited, counts, stream);
}

heddle_status hd_build_view(const heddle_table *table, uint64_t n, hd_view *view)
{
    const heddle_status status = hd_geometry_init(view, hd_slots(table)->ops, n,
                                                  table->options.load, table->options.hashes, 1);
    if (status == HEDDLE_OK &&
        ((table->options.flags & HEDDLE_FLAG_FIXED) != 0 ||
         hd_geometry_slots(view, hd_slots(table)->ops) <=
             hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops)))
        *view = hd_slots(table)->storage.view;
    return status;
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
    return status == HEDDLE_OK ? insert(table, keys, values, n, o, &waits, counts, stream) : status;
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
