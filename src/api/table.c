/* table.c: making and describing tables, and the steps that all operations share. */
#include "api/table.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ options */

static heddle_status check_options(const heddle_table_options *o)
{
    if (o->size != sizeof *o)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "the options' size is %u, not %zu: use HEDDLE_TABLE_OPTIONS_INIT", o->size,
                       sizeof *o);
    if (o->container != HEDDLE_CONTAINER_MAP && o->container != HEDDLE_CONTAINER_SET)
        return hd_fail(HEDDLE_ERROR_INVALID, "container %u is neither map nor set", o->container);
    if (o->scheme != HEDDLE_SCHEME_AUTO && o->scheme != HEDDLE_SCHEME_CUCKOO)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "there is no scheme %u", o->scheme);
    if (o->key_bits != 32 && o->key_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "keys have 32 or 64 bits, not %u", o->key_bits);
    if (o->container == HEDDLE_CONTAINER_SET && o->value_bits != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "a set has no values: value_bits must be 0, not %u",
                       o->value_bits);
    if (o->value_bits != 0 && o->value_bits != 32 && o->value_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "values have 32 or 64 bits, not %u", o->value_bits);
    if (o->hashes != 0 && (o->hashes < 2 || o->hashes > 4))
        return hd_fail(HEDDLE_ERROR_INVALID, "a key has 2 to 4 candidate buckets, not %u",
                       o->hashes);
    if ((o->flags & ~HEDDLE_FLAG_FIXED) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "unknown flags 0x%x", o->flags);
    if (o->load != 0 && !(o->load >= 0.1 && o->load <= 0.99))
        return hd_fail(HEDDLE_ERROR_INVALID, "the load must lie between 0.1 and 0.99, not %g",
                       o->load);
    return HEDDLE_OK;
}

/*
 * Buckets of 64 bytes cost no more than one random access on either machine, but fewer than 8 slots
 * need too many second looks.
 */
static uint32_t choose_bucket(const heddle_table_options *o)
{
    const bool apart = o->value_bits != 0 && o->value_bits != o->key_bits;
    const uint32_t bits = apart ? o->key_bits : o->key_bits + o->value_bits;
    const uint32_t slots = (o->load > 0.95 ? 1024 : 512) / bits;
    return slots < 8 ? 8 : slots;
}

static void complete_options(heddle_table_options *o)
{
    o->scheme = HEDDLE_SCHEME_CUCKOO;
    if (o->container == HEDDLE_CONTAINER_MAP && o->value_bits == 0) o->value_bits = 32;
    if (o->load == 0) o->load = 0.8;
    if (o->bucket == 0) o->bucket = choose_bucket(o);
    if (o->hashes == 0) o->hashes = o->bucket == 1 ? 4 : 3;
    if (o->seed == 0) o->seed = hd_seed_draw();
}

static const hd_table_ops *choose_ops(heddle_device *device, const heddle_table_options *o)
{
    uint32_t count = 0;
    const hd_table_ops *const *ops = device->engine->tables(device, &count);
    for (uint32_t i = 0; i < count; i++)
        if (ops[i]->scheme == o->scheme && ops[i]->key_bits == o->key_bits &&
            ops[i]->value_bits == o->value_bits && ops[i]->bucket == o->bucket)
            return ops[i];
    hd_fail(HEDDLE_ERROR_UNSUPPORTED,
            "no table is compiled for %u-bit keys, %u-bit values and buckets of %u slots",
            o->key_bits, o->value_bits, o->bucket);
    return NULL;
}

/* ----------------------------------------------------------------------------- life of a table */

static heddle_status table_init(heddle_table *table)
{
    const hd_engine *engine = table->engine;
    heddle_status status =
        engine->allocate(table->device, sizeof(hd_control), (void **)&table->control);
    if (status == HEDDLE_OK)
        status =
            engine->allocate_pinned(table->device, sizeof(hd_control), (void **)&table->readback);
    if (status == HEDDLE_OK)
        status = engine->fill(table->device, table->control, 0, sizeof(hd_control), NULL);
    if (status == HEDDLE_OK)
        status = hd_table_renew(table, table->options.capacity, table->options.seed, NULL);
    if (status == HEDDLE_OK) status = engine->synchronize(table->device, NULL);
    return status;
}

static void table_free(heddle_table *table)
{
    hd_storage_free(table, &table->storage);
    if (table->control != NULL) table->engine->free(table->device, table->control);
    if (table->readback != NULL) table->engine->free_pinned(table->device, table->readback);
    free(table);
}

heddle_status heddle_table_create(heddle_device *device, const heddle_table_options *options,
                                  heddle_table **table)
{
    static const heddle_table_options defaults = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table_options chosen = options != NULL ? *options : defaults;
    const hd_table_ops *ops;
    heddle_table *made;
    heddle_status status;
    if (table == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "heddle_table_create needs a place for the table");
    *table = NULL;
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the device is NULL");
    status = check_options(&chosen);
    if (status != HEDDLE_OK) return status;
    complete_options(&chosen);
    ops = choose_ops(device, &chosen);
    if (ops == NULL) return HEDDLE_ERROR_UNSUPPORTED;
    made = hd_fault_due() ? NULL : (heddle_table *)calloc(1, sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a table");
    made->device = device;
    made->engine = device->engine;
    made->ops = ops;
    made->options = chosen;
    status = table_init(made);
    if (status != HEDDLE_OK) {
        table_free(made);
        return status;
    }
    *table = made;
    return HEDDLE_OK;
}

void heddle_table_destroy(heddle_table *table)
{
    if (table != NULL)
        table_free(table); /* freeing device memory waits for the work that uses it */
}

heddle_status heddle_table_get_options(heddle_table *table, heddle_table_options *options)
{
    if (table == NULL || options == NULL || options->size != sizeof *options)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "heddle_table_get_options needs a table and options with their size set");
    *options = table->options;
    return HEDDLE_OK;
}

const char *heddle_table_instance(const heddle_table *table)
{
    return table != NULL ? table->ops->name : "";
}

heddle_device *heddle_table_device(const heddle_table *table)
{
    return table != NULL ? table->device : NULL;
}

const hd_view *hd_table_view(const heddle_table *table) { return &table->storage.view; }

/* ------------------------------------------------------------------------------------- checks */

heddle_status hd_check_table(const heddle_table *table, const void *stream, const char *what)
{
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the table is NULL", what);
    if (stream != NULL && table->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the stream must be NULL on the CPU", what);
    return HEDDLE_OK;
}

heddle_status hd_check_array(const void *array, uint64_t n, uint32_t width, const char *what)
{
    if (n == 0) return HEDDLE_OK;
    if (array == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the array of %s is NULL", what);
    if ((uintptr_t)array % width != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "the array of %s is not aligned to its elements of %u bytes", what, width);
    if (n > UINT64_MAX / 16 / width)
        return hd_fail(HEDDLE_ERROR_INVALID, "no array has that many %s", what);
    return HEDDLE_OK;
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

heddle_status hd_call_begin(heddle_table *table, bool waits, void *stream, hd_call *call)
{
    heddle_status status;
    call->block = -1;
    call->words = NULL;
    call->counts = &table->control->pending;
    if (!waits) return HEDDLE_OK;
    call->block = claim_block(table);
    call->words = &table->control->calls[call->block];
    call->counts = &call->words->counts;
    status = table->engine->fill(table->device, call->words, 0, sizeof *call->words, stream);
    if (status != HEDDLE_OK) hd_call_end(table, call);
    return status;
}

heddle_status hd_call_read(heddle_table *table, const hd_call *call, void *stream,
                           hd_counts *counts)
{
    hd_counts *read = &table->readback->calls[call->block].counts;
    heddle_status status =
        table->engine->copy(table->device, read, call->counts, sizeof *read, stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    if (status == HEDDLE_OK) *counts = *read;
    return status;
}

void hd_call_end(heddle_table *table, const hd_call *call)
{
    if (call->block >= 0)
        __atomic_fetch_and(&table->calls, ~(UINT32_C(1) << call->block), __ATOMIC_RELEASE);
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
