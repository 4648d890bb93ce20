/* hot.c: rows of hot keys folded and sent as one; see hot.h. Which keys these are finds hot_look.c. */
#include "cluster/route/hot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "cluster/table/insert.h"

static uint32_t value_width_of(const hd_writing *g) { return hd_cluster_value_width(g->w->table); }

/* ---------------------------------------------------------------------------- the table of hot keys */

/* One of several equal keys is as good as any other: what the table begins with will do. */
static bool takes_any(const hd_writing *g)
{
    const uint32_t container = g->w->table->options.container, policy = g->w->options.policy;
    return container == HEDDLE_CONTAINER_SET ||
           (container == HEDDLE_CONTAINER_MAP &&
            (policy == HEDDLE_POLICY_KEEP || policy == HEDDLE_POLICY_REPLACE));
}

/* What the values of hot keys begin with: one that each has somewhere, or one that changes no other. */
static heddle_status first_values(hd_writing *g, char *values)
{
    const hd_combine *c = &g->combine;
    const uint32_t width = value_width_of(g);
    if (width == 0) return HEDDLE_OK;
    if (takes_any(g)) return hd_combine_read(g, g->w->values, width, c->hot_rows, c->hot, values);
    memset(values, g->w->options.policy == HEDDLE_POLICY_MIN ? 0xff : 0, (size_t)c->hot * width);
    return HEDDLE_OK;
}

static heddle_status fill_table(hd_writing *g, char *keys, char *values)
{
    const hd_combine *c = &g->combine;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    HD_TRY(first_values(g, values));
    for (uint32_t i = 0; i < c->hot; i++)
        memcpy(keys + i * g->key_width, &c->hot_keys[i], g->key_width); /* the low bytes */
    return heddle_table_insert(c->table, keys, value_width_of(g) != 0 ? values : NULL, c->hot, NULL,
                               &totals, NULL);
}

/* Whatever the scheme of the parts is, this one is cuckoo: it is asked for every row, and never grows. */
static heddle_status make_table(hd_writing *g)
{
    hd_combine *c = &g->combine;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    char *pairs;
    heddle_status status;
    options.container = g->w->table->options.container;
    options.scheme = HEDDLE_SCHEME_CUCKOO;
    options.key_bits = g->w->table->options.key_bits;
    options.value_bits = g->w->table->options.value_bits;
    options.flags = HEDDLE_FLAG_FIXED;
    options.capacity = 2 * (uint64_t)c->hot;
    status = heddle_table_create(g->member->device, &options, &c->table);
    /* A GPU adds to a few keys one after the other; a build brings equal keys together first. */
    if (status == HEDDLE_OK && c->folds && g->member->device->engine->crowded != 0)
        status = heddle_table_create(g->member->device, &options, &c->fresh);
    if (status != HEDDLE_OK) return status;
    pairs = (char *)hd_allocate(2 * sizeof(uint64_t) * c->hot);
    if (pairs == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for hot keys");
    status = fill_table(g, pairs, pairs + sizeof(uint64_t) * c->hot);
    free(pairs);
    return status;
}

/* The hot keys where rows are marked by them; where they are too many the table is asked. */
static heddle_status make_few(hd_writing *g)
{
    hd_combine *c = &g->combine;
    heddle_device *device = g->member->device;
    const hd_engine *engine = device->engine;
    const uint32_t bits = hd_few_bits(c->hot);
    const uint64_t count = UINT64_C(1) << bits;
    uint64_t *places;
    heddle_status status;
    if (bits > HD_FEW_BITS_MAX) return HEDDLE_OK;
    places = (uint64_t *)hd_allocate_zeroed(count + count / 64, sizeof *places);
    if (places == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for hot keys");
    hd_few_fill(c->hot_keys, c->hot, bits, places, (uint32_t *)(places + count));
    status = hd_buffer_room(&c->few_keys, device, count * 8);
    if (status == HEDDLE_OK) status = hd_buffer_room(&c->few_used, device, count / 8);
    if (status == HEDDLE_OK)
        status = engine->copy(device, c->few_keys.memory, places, count * 8, NULL);
    if (status == HEDDLE_OK)
        status = engine->copy(device, c->few_used.memory, places + count, count / 8, NULL);
    if (status == HEDDLE_OK) status = engine->synchronize(device, NULL);
    free(places);
    if (status != HEDDLE_OK) return status;
    const hd_few few = {g->key_width, bits, (const uint64_t *)c->few_keys.memory,
                        (const uint32_t *)c->few_used.memory};
    c->few = few;
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------------ memory */

static heddle_status take_memory(hd_writing *g)
{
    hd_combine *c = &g->combine;
    heddle_device *device = g->member->device;
    const uint64_t n = g->slice > c->hot ? g->slice : c->hot;
    const struct {
        hd_buffer *buffer;
        uint64_t bytes;
    } wanted[] = {
        {&c->flags, n},
        {&c->rows, n * sizeof(uint32_t)},
        {&c->count, sizeof(uint64_t)},
        {&c->work, device->engine->columns->work(device, n)},
        {&c->keys, n * g->key_width},
        {&c->values, n * value_width_of(g)},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        HD_TRY(hd_buffer_room(wanted[i].buffer, device, wanted[i].bytes));
    return HEDDLE_OK;
}

static void free_buffers(hd_combine *c)
{
    hd_buffer *const all[] = {&c->flags, &c->rows,   &c->count,  &c->work,
                              &c->keys,  &c->values, &c->answers};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
}

static void free_all(hd_combine *c)
{
    free_buffers(c);
    heddle_table_destroy(c->table);
    heddle_table_destroy(c->fresh);
    hd_buffer_free(&c->few_keys);
    hd_buffer_free(&c->few_used);
    free(c->hot_keys);
    c->table = c->fresh = NULL;
    c->hot_keys = c->hot_rows = NULL;
    c->hot = 0;
}

heddle_status hd_combine_begin(hd_writing *g)
{
    hd_combine *c = &g->combine;
    heddle_status status;
    if (!g->w->combines) return HEDDLE_OK;
    c->folds = !takes_any(g);
    if (c->hot != 0) {
        status = take_memory(g);
        if (status == HEDDLE_OK) status = make_table(g);
        if (status == HEDDLE_OK) status = make_few(g);
        if (status != HEDDLE_OK) free_all(c);
        if (status == HEDDLE_ERROR_DEVICE) return status; /* else it goes without */
    }
    return hd_dispatch_begin(&c->dispatch, g->member, g->w->spread, g->w->table->options.key_bits,
                             value_width_of(g) * 8, c->hot != 0 ? c->hot : 1, false);
}

void hd_combine_end(hd_combine *c)
{
    free_all(c);
    hd_dispatch_end(&c->dispatch);
}

/* ------------------------------------------------------------------------------------------ slices */

typedef struct rows_of_slice {
    const void *keys, *values; /* NULL: no values */
    uint64_t n;
} rows_of_slice;

/* The rows that are of hot keys, or that are not, one after the other in c->keys and c->values. */
static heddle_status pick(hd_writing *g, const rows_of_slice *slice, bool hot,
                          rows_of_slice *picked)
{
    hd_combine *c = &g->combine;
    heddle_device *device = g->member->device;
    const hd_engine *engine = device->engine;
    const hd_column_ops *columns = engine->columns;
    heddle_status status =
        columns->select(device, (const uint8_t *)c->flags.memory, slice->n, hot, c->rows.memory, 32,
                        (uint64_t *)c->count.memory, c->work.memory, NULL);
    if (status == HEDDLE_OK)
        status = engine->copy(device, &picked->n, c->count.memory, sizeof picked->n, NULL);
    if (status == HEDDLE_OK) status = engine->synchronize(device, NULL);
    picked->keys = c->keys.memory;
    picked->values = slice->values != NULL ? c->values.memory : NULL;
    if (status == HEDDLE_OK && picked->n != 0)
        status = columns->gather(device, slice->keys, g->key_width, c->rows.memory, 32, picked->n,
                                 c->keys.memory, NULL);
    if (status == HEDDLE_OK && picked->n != 0 && slice->values != NULL)
        status = columns->gather(device, slice->values, g->value_width, c->rows.memory, 32,
                                 picked->n, c->values.memory, NULL);
    return status;
}

/* Builds a table of the hot rows, which then are its pairs; where that fails they stay what they are. */
static heddle_status fold_first(hd_writing *g, const heddle_insert_options *options,
                                rows_of_slice *hot)
{
    hd_combine *c = &g->combine;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t n = 0;
    heddle_status status;
    status = heddle_table_build(c->fresh, hot->keys, hot->values, hot->n, options, &totals, NULL);
    if (status == HEDDLE_ERROR_FULL || status == HEDDLE_ERROR_NO_MEMORY) return HEDDLE_OK;
    if (status == HEDDLE_OK)
        status = heddle_table_export(c->fresh, c->keys.memory, c->values.memory, c->hot, &n, NULL);
    hot->keys = c->keys.memory;
    hot->values = c->values.memory;
    hot->n = n;
    return status;
}

static heddle_status fold(hd_writing *g, const rows_of_slice *slice)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    rows_of_slice hot;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status = pick(g, slice, true, &hot);
    if (status != HEDDLE_OK || hot.n == 0) return status;
    options.policy = g->w->options.policy;
    if (g->combine.fresh != NULL) status = fold_first(g, &options, &hot);
    if (status != HEDDLE_OK) return status;
    status =
        heddle_table_insert(g->combine.table, hot.keys, hot.values, hot.n, &options, &totals, NULL);
    if (status == HEDDLE_OK && totals.updated != hot.n)
        status = hd_fail(HEDDLE_ERROR_CORRUPT, "%llu of %llu rows of hot keys were folded",
                         (unsigned long long)totals.updated, (unsigned long long)hot.n);
    return status;
}

/* c->flags of n keys, and how many are hot. */
static heddle_status mark(hd_writing *g, const void *keys, uint64_t n, uint64_t *hot)
{
    hd_combine *c = &g->combine;
    heddle_device *device = g->member->device;
    uint8_t *flags = (uint8_t *)c->flags.memory;
    uint64_t *count = (uint64_t *)c->count.memory;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status;
    if (c->few.bits == 0) {
        status = heddle_table_contains(c->table, keys, n, flags, &totals, NULL);
        *hot = totals.found;
        return status;
    }
    status = device->engine->columns->mark(device, &c->few, keys, n, flags, count, NULL);
    if (status == HEDDLE_OK) status = device->engine->copy(device, hot, count, sizeof *hot, NULL);
    return status == HEDDLE_OK ? device->engine->synchronize(device, NULL) : status;
}

heddle_status hd_combine_slice(hd_writing *g, const void **keys, const void **values, uint64_t *n)
{
    hd_combine *c = &g->combine;
    const rows_of_slice slice = {*keys, g->value_width != 0 ? *values : NULL, *n};
    rows_of_slice others = slice;
    uint64_t hot = 0;
    heddle_status status;
    if (c->hot == 0 || *n == 0) return HEDDLE_OK;
    status = mark(g, *keys, *n, &hot);
    if (status != HEDDLE_OK || hot == 0) return status;
    c->folded += hot;
    if (c->folds) status = fold(g, &slice);
    if (status == HEDDLE_OK) status = pick(g, &slice, false, &others);
    *keys = others.keys;
    *values = others.values;
    *n = others.n;
    hd_phase(g->member, HEDDLE_PHASE_PARTITION);
    return status;
}

/* ---------------------------------------------------------------------------------------- hot keys */

/* n ones: the first by hand, then as many as there are already. */
static heddle_status fill_ones(heddle_device *device, char *memory, uint32_t width, uint64_t n)
{
    const uint64_t one = 1;
    if (n != 0) HD_TRY(device->engine->copy(device, memory, &one, width, NULL));
    for (uint64_t done = 1; done < n; done *= 2)
        HD_TRY(device->engine->copy(device, memory + done * width, memory,
                                    (n - done < done ? n - done : done) * width, NULL));
    return device->engine->synchronize(device, NULL);
}

/* Rows of a counter that came without values count once; hot keys are about to come with sums. */
static heddle_status give_ones(hd_writing *g)
{
    const uint32_t width = value_width_of(g);
    if (g->value_width == width) return HEDDLE_OK;
    HD_TRY(hd_buffer_room(&g->values, g->member->device, g->capacity * width));
    HD_TRY(fill_ones(g->member->device, (char *)g->values.memory, width, g->at));
    g->value_width = width;
    return HEDDLE_OK;
}

heddle_status hd_combine_lay_out(hd_writing *g)
{
    hd_combine *c = &g->combine;
    uint64_t n = 0;
    HD_TRY(give_ones(g));
    if (c->hot != 0)
        HD_TRY(heddle_table_export(c->table, c->keys.memory,
                                   g->value_width != 0 ? c->values.memory : NULL, c->hot, &n,
                                   NULL));
    return hd_dispatch_slice(&c->dispatch, c->keys.memory, c->values.memory, n);
}

/* Where the rows of a key that is there already are counted. */
static uint64_t *folded_in(const hd_writing *g, heddle_totals *totals)
{
    const heddle_table_options *options = &g->w->table->options;
    const bool keeps =
        options->container != HEDDLE_CONTAINER_COUNTER &&
        (g->w->options.policy == HEDDLE_POLICY_KEEP || options->scheme == HEDDLE_SCHEME_HASHGRAPH);
    return keeps ? &totals->kept : &totals->updated;
}

void hd_combine_count(hd_writing *g, uint64_t come)
{
    hd_combine *c = &g->combine;
    c->come = come;
    c->at = g->at - come;
    free_buffers(c); /* the tables may need the memory */
    c->folded -= c->hot;
    *folded_in(g, &g->totals) += c->folded;
    __atomic_fetch_add(&hd_tune.hot_rows_folded, c->folded, __ATOMIC_RELAXED);
}

/* -------------------------------------------------------------------------------- rows that failed */

/* Which hot keys are in the table: c->flags, in the order in which they were sent. Agreed upon. */
static heddle_status ask_back(hd_writing *g)
{
    hd_combine *c = &g->combine;
    hd_exchange *exchange = hd_exchange_of(g->member);
    hd_delivery d;
    heddle_status status = hd_buffer_room(&c->answers, g->member->device, c->come);
    if (status == HEDDLE_OK && c->hot != 0) status = take_memory(g);
    if (status == HEDDLE_OK && c->come != 0 && g->nothing) /* a key may be there from before */
        status =
            g->member->device->engine->fill(g->member->device, c->answers.memory, 0, c->come, NULL);
    else if (status == HEDDLE_OK && c->come != 0)
        status = heddle_table_contains(hd_part_of(g->w->table, g->member),
                                       (char *)g->keys.memory + c->at * g->key_width, c->come,
                                       (uint8_t *)c->answers.memory, NULL, NULL);
    memset(&d, 0, sizeof d);
    d.arrays = 1;
    d.width[0] = 1;
    d.from[0] = c->answers.memory;
    d.to[0] = c->flags.memory;
    d.send = c->dispatch.receive;
    d.receive = c->dispatch.send;
    return exchange->ops->all_to_all(exchange, g->member->number, status, &d);
}

/* Rows of the member's part whose keys are in the table of hot keys. */
static heddle_status count_hot(hd_writing *g, uint64_t *rows)
{
    hd_combine *c = &g->combine;
    heddle_status status = HEDDLE_OK;
    for (uint64_t first = 0; first < g->n && status == HEDDLE_OK; first += g->slice) {
        const uint64_t n = hd_slice_length(g->n, first, g->slice);
        hd_window keys;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        status = hd_window_open(g->member, g->w->keys + (g->first + first) * g->key_width,
                                n * g->key_width, true, &g->staged[0], &keys);
        if (status == HEDDLE_OK)
            status = heddle_table_contains(c->table, keys.memory, n, (uint8_t *)c->flags.memory,
                                           &totals, NULL);
        *rows += totals.found;
    }
    return status;
}

/* Rows that were counted as folded and have failed: those of hot keys that are not in the table, but for the one of
   each that was sent and is counted already. */
static heddle_status count_lost(hd_writing *g, uint64_t *lost)
{
    hd_combine *c = &g->combine;
    const rows_of_slice sent = {c->dispatch.keys.memory, NULL, c->hot};
    rows_of_slice there;
    heddle_status status;
    if (c->hot == 0) return HEDDLE_OK;
    status = pick(g, &sent, true, &there);
    if (status != HEDDLE_OK || there.n == c->hot) return status;
    status = heddle_table_erase(c->table, there.keys, there.n, NULL, NULL, NULL);
    if (status == HEDDLE_OK) status = count_hot(g, lost);
    if (status == HEDDLE_OK) *lost -= c->hot - there.n;
    return status;
}

heddle_status hd_combine_settle(hd_writing *g, heddle_totals *totals)
{
    hd_exchange *exchange = hd_exchange_of(g->member);
    uint64_t lost = 0;
    heddle_status status = ask_back(g);
    if (status != HEDDLE_OK) return status;
    status = count_lost(g, &lost);
    status = exchange->ops->reduce(exchange, g->member->number, status, &lost, 1, HD_REDUCE_SUM);
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    if (status != HEDDLE_OK) return status;
    totals->failed += lost;
    *folded_in(g, totals) -= lost;
    return HEDDLE_OK;
}
