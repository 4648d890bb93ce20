/* table.c: making and describing tables, and the steps that all operations share. */
#include "table/table.h"
#include "base/alloc.h"
#include "base/error.h"
#include "host/public_struct.h"
#include "table/check.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ options */

heddle_status hd_options_read(const heddle_table_options *given, heddle_table_options *options)
{
    static const heddle_table_options defaults = HEDDLE_TABLE_OPTIONS_INIT;
    *options = defaults;
    return hd_read_struct(options, given, &hd_table_options_kind);
}

/* The kind of table that a scheme makes; NULL where there is no such scheme. */
static const hd_table_kind *kind_of(uint32_t scheme)
{
    static const hd_table_kind *const kinds[] = {
        [HEDDLE_SCHEME_CUCKOO] = &hd_slots_kind,      [HEDDLE_SCHEME_HASHGRAPH] = &hd_graph_kind,
        [HEDDLE_SCHEME_OPEN] = &hd_slots_kind,        [HEDDLE_SCHEME_ICEBERG] = &hd_slots_kind,
        [HEDDLE_SCHEME_BUCKET_LIST] = &hd_lists_kind, [HEDDLE_SCHEME_SLAB] = &hd_slabs_kind,
    };
    return scheme < sizeof kinds / sizeof kinds[0] ? kinds[scheme] : NULL;
}

static bool is_container(uint32_t container)
{
    return container >= HEDDLE_CONTAINER_MAP && container <= HEDDLE_CONTAINER_COUNTER;
}

static heddle_status check_options(const heddle_table_options *o)
{
    if (!is_container(o->container))
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "container %u is neither map nor set, multimap or counter", o->container);
    if (o->scheme != HEDDLE_SCHEME_AUTO && kind_of(o->scheme) == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "there is no scheme %u", o->scheme);
    if (o->key_bits != 32 && o->key_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "keys have 32 or 64 bits, not %u", o->key_bits);
    if (o->container == HEDDLE_CONTAINER_SET && o->value_bits != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "a set has no values: value_bits must be 0, not %u",
                       o->value_bits);
    if (o->value_bits != 0 && o->value_bits != 32 && o->value_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "values have 32 or 64 bits, not %u", o->value_bits);
    if ((o->flags & ~(HEDDLE_FLAG_FIXED | HEDDLE_FLAG_ORDERED)) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "unknown flags 0x%x", o->flags);
    if (o->load != 0 && !(o->load >= 0.1 && o->load <= 0.99))
        return hd_fail(HEDDLE_ERROR_INVALID, "the load must lie between 0.1 and 0.99, not %g",
                       o->load);
    if (o->vertices != 0 && !(o->vertices >= 0.125 && o->vertices <= 4))
        return hd_fail(HEDDLE_ERROR_INVALID, "vertices a key must lie between 0.125 and 4, not %g",
                       o->vertices);
    if (o->scheme != HEDDLE_SCHEME_BUCKET_LIST && (o->list_first != 0 || o->list_growth != 0))
        return hd_fail(HEDDLE_ERROR_INVALID, "only the scheme bucket_list has lists that grow");
    if (o->threshold != 0 && !(o->threshold > 0 && o->threshold <= 1))
        return hd_fail(HEDDLE_ERROR_INVALID, "the threshold must lie between 0 and 1, not %g",
                       o->threshold);
    if (o->threshold != 0 && o->scheme != HEDDLE_SCHEME_ICEBERG)
        return hd_fail(HEDDLE_ERROR_INVALID, "only an iceberg table has a threshold");
    return HEDDLE_OK;
}

/* The scheme that AUTO means; a counter with what only a hashgraph has is one. */
static void choose_scheme(heddle_table_options *o)
{
    const bool is_graph = o->vertices != 0 || (o->flags & HEDDLE_FLAG_ORDERED) != 0;
    static const uint32_t usual[] = {
        HEDDLE_SCHEME_AUTO,      HEDDLE_SCHEME_CUCKOO, /* map */
        HEDDLE_SCHEME_CUCKOO,                          /* set */
        HEDDLE_SCHEME_HASHGRAPH,                       /* multimap */
        HEDDLE_SCHEME_CUCKOO,                          /* counter */
    };
    if (o->scheme != HEDDLE_SCHEME_AUTO) return;
    o->scheme = usual[o->container];
    if (o->container == HEDDLE_CONTAINER_COUNTER && is_graph) o->scheme = HEDDLE_SCHEME_HASHGRAPH;
}

/* Refuses what is no table, sets what the caller left open, and finds the kind. */
static heddle_status complete(heddle_table_options *o, const hd_table_kind **kind)
{
    HD_TRY(check_options(o));
    choose_scheme(o);
    *kind = kind_of(o->scheme);
    return (*kind)->complete(o);
}

/* ----------------------------------------------------------------------------- life of a table */

/* A table of complete options on the host: without storage, and perhaps not compiled. */
static heddle_table *describe(heddle_device *device, const hd_table_kind *kind,
                              const heddle_table_options *options)
{
    heddle_table *table = (heddle_table *)hd_allocate_zeroed(1, kind->bytes);
    if (table == NULL) {
        hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a table");
        return NULL;
    }
    table->kind = kind;
    table->device = device;
    table->engine = device->engine;
    table->options = *options;
    return table;
}

heddle_status hd_options_complete(heddle_device *device, heddle_table_options *options)
{
    const hd_table_kind *kind;
    HD_TRY(complete(options, &kind));
    heddle_table *table = describe(device, kind, options);
    if (table == NULL) return HEDDLE_ERROR_NO_MEMORY;
    const heddle_status status = kind->choose(table);
    *options = table->options;
    free(table);
    return status;
}

static heddle_status table_init(heddle_table *table)
{
    const hd_engine *engine = table->engine;
    HD_TRY(table->kind->choose(table));
    HD_TRY(engine->allocate(table->device, sizeof(hd_control), (void **)&table->control));
    HD_TRY(engine->allocate_pinned(table->device, sizeof(hd_control), (void **)&table->readback));
    HD_TRY(engine->fill(table->device, table->control, 0, sizeof(hd_control), NULL));
    HD_TRY(table->kind->start(table));
    return engine->synchronize(table->device, NULL);
}

static void table_free(heddle_table *table)
{
    table->kind->stop(table);
    if (table->control != NULL) table->engine->free(table->device, table->control);
    if (table->readback != NULL) table->engine->free_pinned(table->device, table->readback);
    free(table);
}

heddle_status heddle_table_create(heddle_device *device, const heddle_table_options *options,
                                  heddle_table **table)
{
    const hd_table_kind *kind;
    heddle_table_options chosen;
    heddle_table *made;
    heddle_status status;
    if (table == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "heddle_table_create needs a place for the table");
    *table = NULL;
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the device is NULL");
    HD_TRY(hd_options_read(options, &chosen));
    HD_TRY(complete(&chosen, &kind));
    if (chosen.seed == 0) chosen.seed = hd_seed_draw();
    made = describe(device, kind, &chosen);
    if (made == NULL) return HEDDLE_ERROR_NO_MEMORY;
    status = table_init(made);
    if (status == HEDDLE_OK) *table = made;
    else table_free(made);
    return status;
}

void heddle_table_destroy(heddle_table *table)
{
    if (table != NULL)
        table_free(table); /* freeing device memory waits for the work that uses it */
}

heddle_status heddle_table_get_options(heddle_table *table, heddle_table_options *options)
{
    HD_TRY(hd_check_table(table, NULL, "get_options"));
    HD_TRY(hd_check_struct(options, &hd_table_options_kind));
    hd_write_struct(options, &table->options, &hd_table_options_kind);
    return HEDDLE_OK;
}

const char *heddle_table_instance(const heddle_table *table)
{
    return table != NULL ? table->name : "";
}

heddle_status heddle_table_check_widths(const heddle_table *table, uint32_t key_bits,
                                        uint32_t value_bits)
{
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the table is NULL");
    return hd_check_widths("table", table->options.key_bits, table->options.value_bits, key_bits,
                           value_bits);
}

heddle_device *heddle_table_device(const heddle_table *table)
{
    return table != NULL ? table->device : NULL;
}

/* -------------------------------------------------------------------------------------- calls */

static int claim_block(heddle_table *table)
{
    for (;;) {
        uint32_t used = __atomic_load_n(&table->calls, __ATOMIC_RELAXED);
        const uint32_t vacant = ~used & ((UINT32_C(1) << HD_CALLS_MAX) - 1);
        if (vacant == 0) {
            sched_yield();
        } else if (__atomic_compare_exchange_n(&table->calls, &used, used | (vacant & -vacant),
                                               false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return __builtin_ctz(vacant);
        }
    }
}

/* Where the sums of a call begin among its words: shares are a GPU's alone, and small calls on a CPU are short. */
static uint64_t sums_begin(const heddle_table *table)
{
    return table->engine->host_memory ? offsetof(hd_call_words, counts) : 0;
}

heddle_status hd_call_begin(heddle_table *table, bool waits, void *stream, hd_call *call)
{
    call->table = table;
    call->stream = stream;
    call->words = NULL;
    call->counts = &table->control->pending.counts;
    call->shares = table->control->pending.shares;
    if (!waits) return HEDDLE_OK;
    call->block = claim_block(table);
    call->words = &table->control->calls[call->block];
    call->counts = &call->words->counts;
    call->shares = call->words->shares;
    const uint64_t from = sums_begin(table);
    const heddle_status status = table->engine->fill(table->device, (char *)call->words + from, 0,
                                                     sizeof *call->words - from, stream);
    if (status != HEDDLE_OK) hd_call_end(call);
    return status;
}

/* Reads sums and, where there are any, shares of them, `from` on in the words of a call. */
static heddle_status read_sums(const heddle_table *table, hd_call_words *read,
                               const hd_call_words *words, hd_counts *counts, void *stream)
{
    const uint64_t from = sums_begin(table), end = offsetof(hd_call_words, cursor);
    HD_TRY(table->engine->copy(table->device, (char *)read + from, (const char *)words + from,
                               end - from, stream));
    HD_TRY(table->engine->synchronize(table->device, stream));
    *counts = read->counts;
    if (from == 0) hd_counts_gather(counts, read->shares);
    return HEDDLE_OK;
}

heddle_status hd_call_read(const hd_call *call, hd_counts *counts)
{
    return read_sums(call->table, &call->table->readback->calls[call->block], call->words, counts,
                     call->stream);
}

heddle_status hd_pending_read(heddle_table *table, hd_counts *counts, void *stream)
{
    hd_call_words read; /* on the stack: several threads may ask */
    return read_sums(table, &read, &table->control->pending, counts, stream);
}

heddle_status hd_pending_clear(heddle_table *table, void *stream)
{
    return table->engine->fill(table->device, &table->control->pending, 0,
                               offsetof(hd_call_words, cursor), stream);
}

heddle_status hd_call_finish(const hd_call *call, hd_request *request)
{
    return request->waits ? hd_call_read(call, &request->counts) : HEDDLE_OK;
}

void hd_call_end(hd_call *call)
{
    if (call->words != NULL)
        __atomic_fetch_and(&call->table->calls, ~(UINT32_C(1) << call->block), __ATOMIC_RELEASE);
    call->words = NULL;
}

heddle_status hd_read_back(heddle_table *table, void *to, const void *from, uint64_t bytes,
                           void *stream)
{
    HD_TRY(table->engine->copy(table->device, to, from, bytes, stream));
    return table->engine->synchronize(table->device, stream);
}

void hd_totals_add(heddle_totals *totals, const hd_counts *counts)
{
    totals->inserted += counts->at[HD_INSERTED];
    totals->updated += counts->at[HD_UPDATED];
    totals->kept += counts->at[HD_KEPT];
    totals->failed += counts->at[HD_FAILED];
    totals->found += counts->at[HD_FOUND];
    totals->absent += counts->at[HD_ASKED] - counts->at[HD_FOUND];
    totals->probes += counts->at[HD_PROBES];
    totals->evictions += counts->at[HD_EVICTIONS];
}
