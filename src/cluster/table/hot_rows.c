/* hot_rows.c: rows of hot keys folded and sent as one; see hot_rows.h. hot_sample.c finds out which keys these are. */
#include "cluster/table/hot_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "cluster/table/insert.h"

static uint32_t value_width_of(const hd_inserting *p)
{
    return hd_cluster_value_width(p->call->table);
}

/* ---------------------------------------------------------------------------- the table of hot keys */

/* One of several equal keys is as good as any other: what the table begins with will do. */
static bool takes_any(const hd_inserting *p)
{
    const uint32_t container = p->call->table->options.container, policy = p->call->options.policy;
    return container == HEDDLE_CONTAINER_SET ||
           (container == HEDDLE_CONTAINER_MAP &&
            (policy == HEDDLE_POLICY_KEEP || policy == HEDDLE_POLICY_REPLACE));
}

/* What the values of hot keys begin with: one that each has somewhere, or one that changes no other. */
static heddle_status first_values(hd_inserting *p, char *values)
{
    const hd_hot_rows *h = &p->hot;
    const uint32_t width = value_width_of(p);
    if (width == 0) return HEDDLE_OK;
    if (takes_any(p)) return hd_hot_read(p, p->call->values, width, h->hot_rows, h->n, values);
    memset(values, p->call->options.policy == HEDDLE_POLICY_MIN ? 0xff : 0, (size_t)h->n * width);
    return HEDDLE_OK;
}

static heddle_status fill_table(hd_inserting *p, char *keys, char *values)
{
    const hd_hot_rows *h = &p->hot;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    HD_TRY(first_values(p, values));
    for (uint32_t i = 0; i < h->n; i++)
        memcpy(keys + i * p->key_width, &h->hot_keys[i], p->key_width); /* the low bytes */
    return heddle_table_insert(h->table, keys, value_width_of(p) != 0 ? values : NULL, h->n, NULL,
                               &totals, NULL);
}

/* Whatever the scheme of the parts is, this one is cuckoo: it is asked for every row, and never grows. */
static heddle_status make_table(hd_inserting *p)
{
    hd_hot_rows *h = &p->hot;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    char *pairs HD_FREED = NULL;
    options.container = p->call->table->options.container;
    options.scheme = HEDDLE_SCHEME_CUCKOO;
    options.key_bits = p->call->table->options.key_bits;
    options.value_bits = p->call->table->options.value_bits;
    options.flags = HEDDLE_FLAG_FIXED;
    options.capacity = 2 * (uint64_t)h->n;
    HD_TRY(heddle_table_create(p->member->device, &options, &h->table));
    /* A GPU adds to a few keys one after the other; a build brings equal keys together first. */
    if (h->folds && p->member->device->engine->crowded != 0)
        HD_TRY(heddle_table_create(p->member->device, &options, &h->fresh));
    pairs = (char *)hd_allocate(2 * sizeof(uint64_t) * h->n);
    if (pairs == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for hot keys");
    return fill_table(p, pairs, pairs + sizeof(uint64_t) * h->n);
}

/* The hot keys where rows are marked by them; where they are too many the table is asked. */
static heddle_status make_few(hd_inserting *p)
{
    hd_hot_rows *h = &p->hot;
    heddle_device *device = p->member->device;
    const hd_engine *engine = device->engine;
    const uint32_t bits = hd_few_bits(h->n);
    const uint64_t count = UINT64_C(1) << bits;
    uint64_t *places HD_FREED = NULL;
    if (bits > HD_FEW_BITS_MAX) return HEDDLE_OK;
    places = (uint64_t *)hd_allocate_zeroed(count + count / 64, sizeof *places);
    if (places == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for hot keys");
    hd_few_fill(h->hot_keys, h->n, bits, places, (uint32_t *)(places + count));
    HD_TRY(hd_buffer_room(&h->few_keys, device, count * 8));
    HD_TRY(hd_buffer_room(&h->few_used, device, count / 8));
    HD_TRY(engine->copy(device, h->few_keys.memory, places, count * 8, NULL));
    HD_TRY(engine->copy(device, h->few_used.memory, places + count, count / 8, NULL));
    HD_TRY(engine->synchronize(device, NULL));
    const hd_few few = {p->key_width, bits, (const uint64_t *)h->few_keys.memory,
                        (const uint32_t *)h->few_used.memory};
    h->few = few;
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------------ memory */

static heddle_status take_memory(hd_inserting *p)
{
    hd_hot_rows *h = &p->hot;
    heddle_device *device = p->member->device;
    const uint64_t n = p->slice > h->n ? p->slice : h->n;
    const struct {
        hd_buffer *buffer;
        uint64_t bytes;
    } wanted[] = {
        {&h->flags, n},
        {&h->rows, n * sizeof(uint32_t)},
        {&h->count, sizeof(uint64_t)},
        {&h->work, device->engine->columns->work(device, n)},
        {&h->keys, n * p->key_width},
        {&h->values, n * value_width_of(p)},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        HD_TRY(hd_buffer_room(wanted[i].buffer, device, wanted[i].bytes));
    return HEDDLE_OK;
}

static void free_buffers(hd_hot_rows *h)
{
    hd_buffer *const all[] = {&h->flags, &h->rows,   &h->count,  &h->work,
                              &h->keys,  &h->values, &h->answers};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
}

static void free_all(hd_hot_rows *h)
{
    free_buffers(h);
    heddle_table_destroy(h->table);
    heddle_table_destroy(h->fresh);
    hd_buffer_free(&h->few_keys);
    hd_buffer_free(&h->few_used);
    free(h->hot_keys);
    h->table = h->fresh = NULL;
    h->hot_keys = h->hot_rows = NULL;
    h->n = 0;
}

static heddle_status make_all(hd_inserting *p)
{
    HD_TRY(take_memory(p));
    HD_TRY(make_table(p));
    return make_few(p);
}

heddle_status hd_hot_begin(hd_inserting *p)
{
    hd_hot_rows *h = &p->hot;
    if (!p->call->has_hot) return HEDDLE_OK;
    h->folds = !takes_any(p);
    if (h->n != 0) {
        const heddle_status status = make_all(p);
        if (status != HEDDLE_OK) free_all(h);
        if (status == HEDDLE_ERROR_DEVICE) return status; /* else it goes without */
    }
    const hd_rows rows = {p->call->table->options.key_bits,
                          value_width_of(p) * 8,
                          h->n != 0 ? h->n : 1,
                          false,
                          true,
                          false};
    return hd_router_begin(&h->router, p->member->device, p->call->spread, &rows);
}

void hd_hot_end(hd_hot_rows *h)
{
    free_all(h);
    hd_router_end(&h->router);
}

/* ------------------------------------------------------------------------------------------ slices */

/* The rows that are of hot keys, or that are not, one after the other in h->keys and h->values. */
static heddle_status pick(hd_inserting *p, const hd_slice *slice, bool hot, hd_slice *picked)
{
    hd_hot_rows *h = &p->hot;
    heddle_device *device = p->member->device;
    const hd_engine *engine = device->engine;
    const hd_column_ops *columns = engine->columns;
    const hd_site on = hd_on(device, h->work.memory, NULL);
    HD_TRY(columns->select(on, hd_flags_of((const uint8_t *)h->flags.memory, slice->n, hot),
                           h->rows.memory, 32, (uint64_t *)h->count.memory));
    HD_TRY(engine->copy(device, &picked->n, h->count.memory, sizeof picked->n, NULL));
    HD_TRY(engine->synchronize(device, NULL));
    picked->keys = h->keys.memory;
    picked->values = slice->values != NULL ? h->values.memory : NULL;
    if (picked->n == 0) return HEDDLE_OK;
    const hd_row_numbers rows = hd_at_rows(h->rows.memory, 32, picked->n);
    HD_TRY(columns->gather(on, hd_elements_of(slice->keys, p->key_width), rows, h->keys.memory));
    if (slice->values == NULL) return HEDDLE_OK;
    return columns->gather(on, hd_elements_of(slice->values, p->value_width), rows,
                           h->values.memory);
}

/* Builds a table of the hot rows, which then are its pairs; where that fails they stay what they are. */
static heddle_status fold_first(hd_inserting *p, const heddle_insert_options *options,
                                hd_slice *hot)
{
    hd_hot_rows *h = &p->hot;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t n = 0;
    const heddle_status status =
        heddle_table_build(h->fresh, hot->keys, hot->values, hot->n, options, &totals, NULL);
    if (status == HEDDLE_ERROR_FULL || status == HEDDLE_ERROR_NO_MEMORY) return HEDDLE_OK;
    HD_TRY(status);
    HD_TRY(heddle_table_export(h->fresh, h->keys.memory, h->values.memory, h->n, &n, NULL));
    hot->keys = h->keys.memory;
    hot->values = h->values.memory;
    hot->n = n;
    return HEDDLE_OK;
}

static heddle_status fold(hd_inserting *p, const hd_slice *slice)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    hd_slice hot;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    HD_TRY(pick(p, slice, true, &hot));
    if (hot.n == 0) return HEDDLE_OK;
    options.policy = p->call->options.policy;
    if (p->hot.fresh != NULL) HD_TRY(fold_first(p, &options, &hot));
    HD_TRY(heddle_table_insert(p->hot.table, hot.keys, hot.values, hot.n, &options, &totals, NULL));
    if (totals.updated == hot.n) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_CORRUPT, "%llu of %llu rows of hot keys were folded",
                   (unsigned long long)totals.updated, (unsigned long long)hot.n);
}

/* h->flags of n keys, and how many are hot. */
static heddle_status mark(hd_inserting *p, const void *keys, uint64_t n, uint64_t *hot)
{
    hd_hot_rows *h = &p->hot;
    heddle_device *device = p->member->device;
    uint8_t *flags = (uint8_t *)h->flags.memory;
    uint64_t *count = (uint64_t *)h->count.memory;
    const hd_few_search search = {keys, n, flags, count};
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    if (h->few.bits == 0) {
        HD_TRY(heddle_table_contains(h->table, keys, n, flags, &totals, NULL));
        *hot = totals.found;
        return HEDDLE_OK;
    }
    HD_TRY(device->engine->columns->mark(hd_on(device, NULL, NULL), &h->few, &search));
    HD_TRY(device->engine->copy(device, hot, count, sizeof *hot, NULL));
    return device->engine->synchronize(device, NULL);
}

heddle_status hd_hot_take(hd_inserting *p, hd_slice *slice)
{
    hd_hot_rows *h = &p->hot;
    const hd_slice all = *slice;
    uint64_t hot = 0;
    if (h->n == 0 || all.n == 0) return HEDDLE_OK;
    HD_TRY(mark(p, all.keys, all.n, &hot));
    if (hot == 0) return HEDDLE_OK;
    h->folded += hot;
    if (h->folds) HD_TRY(fold(p, &all));
    HD_TRY(pick(p, &all, false, slice));
    hd_phase(p->member, HEDDLE_PHASE_PARTITION);
    return HEDDLE_OK;
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
static heddle_status give_ones(hd_inserting *p)
{
    const uint32_t width = value_width_of(p);
    if (p->value_width == width) return HEDDLE_OK;
    HD_TRY(hd_buffer_room(&p->values, p->member->device, p->capacity * width));
    HD_TRY(fill_ones(p->member->device, (char *)p->values.memory, width, p->at));
    p->value_width = width;
    return HEDDLE_OK;
}

/*
 * The hot keys with what they have come to. In a counter whose rows have no values the rows gathered here get ones, and
 * the insertion has values from now on.
 */
static heddle_status open_hot(hd_inserting *p, hd_slice *slice)
{
    hd_hot_rows *h = &p->hot;
    HD_TRY(give_ones(p));
    if (h->n != 0)
        HD_TRY(heddle_table_export(h->table, h->keys.memory,
                                   p->value_width != 0 ? h->values.memory : NULL, h->n, &slice->n,
                                   NULL));
    slice->keys = h->keys.memory;
    slice->values = h->values.memory;
    return HEDDLE_OK;
}

/* Where the rows of a key that is there already are counted. */
static uint64_t *folded_in(const hd_inserting *p, heddle_totals *totals)
{
    const heddle_table_options *options = &p->call->table->options;
    const bool keeps = options->container != HEDDLE_CONTAINER_COUNTER &&
                       (p->call->options.policy == HEDDLE_POLICY_KEEP ||
                        options->scheme == HEDDLE_SCHEME_HASHGRAPH);
    return keeps ? &totals->kept : &totals->updated;
}

/* Counts the rows that were folded, when all hot keys are where they belong: `come` of them here, gathered last. */
static void count_folded(hd_inserting *p, uint64_t come)
{
    hd_hot_rows *h = &p->hot;
    h->come = come;
    h->at = p->at - come;
    free_buffers(h); /* the tables may need the memory */
    h->folded -= h->n;
    *folded_in(p, &p->totals) += h->folded;
    __atomic_fetch_add(&hd_tune.hot_rows_folded, h->folded, __ATOMIC_RELAXED);
}

heddle_status hd_hot_send(hd_inserting *p)
{
    hd_slice slice = {NULL, NULL, 0};
    const heddle_status mine = open_hot(p, &slice);
    hd_delivery d = hd_gathered_delivery(p, &p->hot.router);
    HD_TRY(hd_send(p->member, mine, &p->hot.router, &slice, &d));
    count_folded(p, d.total);
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------------- rows that failed */

/* Which of the hot keys that have come here are in the part: h->answers. */
static heddle_status answer(hd_inserting *p)
{
    hd_hot_rows *h = &p->hot;
    heddle_device *device = p->member->device;
    HD_TRY(hd_buffer_room(&h->answers, device, h->come));
    if (h->n != 0) HD_TRY(take_memory(p));
    if (h->come == 0) return HEDDLE_OK;
    if (p->nothing) /* a key may be there from before */
        return device->engine->fill(device, h->answers.memory, 0, h->come, NULL);
    return heddle_table_contains(hd_part_of(p->call->table, p->member),
                                 (char *)p->keys.memory + h->at * p->key_width, h->come,
                                 (uint8_t *)h->answers.memory, NULL, NULL);
}

/* Which hot keys are in the table: h->flags, in the order in which they were sent. Agreed upon. */
static heddle_status ask_back(hd_inserting *p)
{
    hd_hot_rows *h = &p->hot;
    hd_delivery d;
    const heddle_status mine = answer(p);
    memset(&d, 0, sizeof d);
    d.arrays = 1;
    d.width[0] = 1;
    d.from[0] = h->answers.memory;
    d.to[0] = h->flags.memory;
    return hd_send_back(p->member, mine, &h->router, &d);
}

/* Rows of the member's part whose keys are in the table of hot keys. */
static heddle_status count_hot(hd_inserting *p, uint64_t *rows)
{
    hd_hot_rows *h = &p->hot;
    for (uint64_t first = 0; first < p->n; first += p->slice) {
        const uint64_t n = hd_slice_length(p->n, first, p->slice);
        hd_lent keys;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        HD_TRY(hd_member_lend(p->member, p->call->keys + (p->first + first) * p->key_width,
                              n * p->key_width, true, &p->staged[0], &keys));
        HD_TRY(heddle_table_contains(h->table, keys.memory, n, (uint8_t *)h->flags.memory, &totals,
                                     NULL));
        *rows += totals.found;
    }
    return HEDDLE_OK;
}

/* Rows that were counted as folded and have failed: those of hot keys that are not in the table, but for the one of
   each that was sent and is counted already. */
static heddle_status count_lost(hd_inserting *p, uint64_t *lost)
{
    hd_hot_rows *h = &p->hot;
    const hd_slice sent = {h->router.keys.memory, NULL, h->n};
    hd_slice there;
    if (h->n == 0) return HEDDLE_OK;
    HD_TRY(pick(p, &sent, true, &there));
    if (there.n == h->n) return HEDDLE_OK;
    HD_TRY(heddle_table_erase(h->table, there.keys, there.n, NULL, NULL, NULL));
    HD_TRY(count_hot(p, lost));
    *lost -= h->n - there.n;
    return HEDDLE_OK;
}

heddle_status hd_hot_settle(hd_inserting *p, heddle_totals *totals)
{
    hd_exchange *exchange = hd_exchange_of(p->member);
    uint64_t lost = 0;
    HD_TRY(ask_back(p));
    const heddle_status mine = count_lost(p, &lost);
    HD_TRY(exchange->ops->reduce(exchange, p->member->number, mine, &lost, 1, HD_REDUCE_SUM));
    hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
    totals->failed += lost;
    *folded_in(p, totals) -= lost;
    return HEDDLE_OK;
}
