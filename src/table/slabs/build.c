/*
 * build.c: builds of slab hashes, and insertions that may go the same way: large ones into a table that has
 * never held anything. Where the engine can, the pairs are sorted by region and every region is filled by itself;
 * what is left then, and all else, is inserted (insert.c).
 */
#include <string.h>

#include "base/error.h"
#include "host/stage.h"
#include "table/pair_sort.h"
#include "table/slabs/slabs.h"
#include "table/slots/regions.h"

/* With many more pairs than the table is for, lists become long, or have many equal keys: a matter of insertion. */
#define PAIRS_MOST 1.25
/* Slabs of a list on average, where keys are unique: those of much longer lists are not held against each other. */
#define SLABS_MOST 5.5

/* Whether so many pairs are worth sorting, for a table of these lists that was made for so many keys. */
static bool suits(const heddle_table *table, const hd_slab_view *view, uint64_t capacity,
                  uint64_t n)
{
    const hd_slab_ops *ops = hd_slabs(table)->ops;
    const hd_view *lists = &view->buckets;
    const double count =
        (double)lists->region_buckets * (double)(UINT64_C(1) << lists->region_bits);
    return ops->fill != NULL && ops->can_fill(table->device, view) &&
           n >= hd_regions_least(table) && n <= HD_APPEND_MAX &&
           lists->region_bits <= HD_PARTITION_BITS_MAX &&
           (double)n <= PAIRS_MOST * (double)capacity &&
           (hd_slabs_multi(table) || (double)n <= SLABS_MOST * ops->slots * count);
}

/* The same for a call: nobody asks for single keys, and the arrays are on the device. */
static bool suits_call(const heddle_table *table, const void *keys, const void *values, uint64_t n,
                       const heddle_insert_options *options)
{
    const hd_slabs_storage *storage = &hd_slabs(table)->storage;
    const hd_span spans[2] = {
        {(void *)(uintptr_t)keys, hd_key_width(table), true, false},
        {(void *)(uintptr_t)values, hd_value_width(table), true, false},
    };
    return suits(table, &storage->view, storage->capacity, n) && options->outcomes == NULL &&
           options->failed_capacity == 0 && !hd_any_staged(table, spans, 2);
}

/* ---------------------------------------------------------------------------------------- fill */

typedef struct slab_filling {
    heddle_table *table;
    const heddle_insert_options *options;
    hd_partition job;
    hd_sort_layout l;
    char *memory;
    hd_scratch scratch; /* where it is of our own */
    void *stream;
} slab_filling;

/* The caller's memory, or our own; *there says whether there is enough. */
static heddle_status take_memory(slab_filling *f, bool *there)
{
    void *memory = NULL;
    heddle_status status = HEDDLE_OK;
    f->memory = (char *)f->options->workspace;
    *there = f->memory != NULL && f->options->workspace_bytes >= f->l.bytes;
    if (f->memory != NULL) return HEDDLE_OK;
    status = hd_scratch_take(&f->scratch, f->l.bytes, &memory);
    f->memory = (char *)memory;
    *there = status == HEDDLE_OK;
    return status == HEDDLE_ERROR_NO_MEMORY ? HEDDLE_OK : status;
}

static heddle_status fill_regions(slab_filling *f, const hd_call *call)
{
    heddle_table *table = f->table;
    const hd_slabs_table *t = hd_slabs(table);
    hd_partition *job = &f->job;
    hd_slab_batch batch;
    hd_sort_lay(job, &f->l, f->memory, NULL);
    const hd_sorted sorted = {job->pairs, job->starts, job->starts + 1,      NULL, 0,
                              UINT64_MAX, job->spare,  &call->words->cursor, 0};
    memset(&batch, 0, sizeof batch);
    batch.operation = HD_SLAB_INSERT;
    batch.policy = hd_slabs_policy(table, f->options);
    batch.multi = hd_slabs_multi(table);
    batch.counts = call->counts;
    batch.born = &table->control->born;
    batch.died = &table->control->died;
    HD_TRY(table->engine->partition(table->device, job, f->stream));
    return t->ops->fill(table->device, &t->storage.view, &batch, &sorted, f->stream);
}

/* The pairs that are listed are inserted, from copies of them; *counts gets their sums. */
static heddle_status insert_rest(slab_filling *f, uint64_t listed, hd_counts *counts)
{
    heddle_table *table = f->table;
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    hd_mixed all = {NULL, NULL, NULL, listed, NULL};
    void *keys = NULL, *values = NULL;
    bool waits = true;
    heddle_status status = hd_sort_split(table, &f->job.mix, f->job.spare, listed, &f->scratch,
                                         &keys, &values, f->stream);
    all.keys = keys;
    all.values = values;
    options.policy = f->options->policy;
    if (status == HEDDLE_OK)
        status = hd_slabs_mixed(table, &all, &options, &waits, counts, f->stream);
    if (status != HEDDLE_OK && counts->at[HD_FAILED] == 0) counts->at[HD_FAILED] = listed;
    return status;
}

/* Fills a table in which nothing is and was; *done is false where there is no memory for it. */
static heddle_status fill(heddle_table *table, const void *keys, const void *values, uint64_t n,
                          const heddle_insert_options *options, bool *done, hd_counts *counts,
                          void *stream)
{
    slab_filling f;
    hd_counts rest;
    hd_call call;
    memset(&f, 0, sizeof f);
    memset(&rest, 0, sizeof rest);
    f.table = table;
    f.options = options;
    f.scratch.device = table->device;
    f.stream = stream;
    f.job = hd_sort_job(table, &hd_slabs(table)->storage.view.buckets, n);
    f.job.keys = keys;
    f.job.values = values;
    f.job.ones = values == NULL;
    f.l = hd_sort_layout_of(table, &f.job, false);
    heddle_status status = take_memory(&f, done);
    if (status == HEDDLE_OK && *done) {
        status = hd_call_begin(table, true, stream, &call);
        if (status == HEDDLE_OK) {
            status = fill_regions(&f, &call);
            if (status == HEDDLE_OK) status = hd_call_read(table, &call, stream, counts);
            hd_call_end(table, &call);
        }
        if (status == HEDDLE_OK) {
            const uint64_t listed = counts->at[HD_FAILED];
            counts->at[HD_FAILED] = 0;
            hd_slabs_note_erased(table, counts->at[HD_KEPT] + counts->at[HD_UPDATED]);
            if (listed != 0) status = insert_rest(&f, listed, &rest);
            for (int i = 0; i < HD_COUNTS; i++) counts->at[i] += rest.at[i];
        }
    }
    hd_scratch_free(&f.scratch);
    return status;
}

/* --------------------------------------------------------------------------------------- calls */

heddle_status hd_slabs_insert(heddle_table *table, const void *keys, const void *values, uint64_t n,
                              const heddle_insert_options *options, bool *waited, hd_counts *counts,
                              void *stream)
{
    const hd_mixed all = {NULL, keys, values, n, NULL};
    const bool waits = *waited || !hd_slabs_fixed(table);
    if (waits && suits_call(table, keys, values, n, options)) {
        uint64_t born = 1;
        bool done = false;
        heddle_status status =
            hd_read_back(table, &born, &table->control->born, sizeof born, stream);
        if (status == HEDDLE_OK && born == 0)
            status = fill(table, keys, values, n, options, &done, counts, stream);
        *waited = true;
        if (status != HEDDLE_OK || done) return status;
    }
    return hd_slabs_mixed(table, &all, options, waited, counts, stream);
}

/* An empty table that may grow is made large enough first. */
heddle_status hd_slabs_build(heddle_table *table, const void *keys, const void *values, uint64_t n,
                             const heddle_insert_options *options, hd_counts *counts, void *stream)
{
    hd_slabs_storage *storage = &hd_slabs(table)->storage;
    bool waits = true;
    if (!hd_slabs_fixed(table) && n > storage->capacity) {
        hd_slabs_storage fresh;
        HD_TRY(hd_slabs_start(table, &fresh, n, table->options.seed, stream));
        hd_slabs_adopt(table, &fresh, table->options.seed);
        HD_TRY(hd_table_set_count(table, 0, stream));
    } else {
        HD_TRY(hd_slabs_clear(table, stream));
    }
    return hd_slabs_insert(table, keys, values, n, options, &waits, counts, stream);
}

/* Of the lists that the table has, or will have for so many pairs. */
heddle_status hd_slabs_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    const hd_slabs_storage *storage = &hd_slabs(table)->storage;
    hd_slab_view view = storage->view;
    uint64_t capacity = storage->capacity;
    *bytes = 0;
    if (!hd_slabs_fixed(table) && n > capacity) {
        hd_slabs_plan plan;
        const heddle_status status = hd_slabs_plan_for(table, n, &plan);
        if (status != HEDDLE_OK) return status;
        view.buckets.region_bits = plan.region_bits;
        view.buckets.region_buckets = plan.region_buckets;
        capacity = n;
    }
    if (!suits(table, &view, capacity, n)) return HEDDLE_OK;
    const hd_partition job = hd_sort_job(table, &view.buckets, n);
    *bytes = hd_sort_layout_of(table, &job, false).bytes;
    return HEDDLE_OK;
}
