/*
 * insert_large.c: builds of slab hashes, and large insertions into a table that has never held anything. Where the
 * engine can, the pairs are sorted by region and every region is filled by itself. What is left then is inserted by
 * mixed.c.
 */
#include <string.h>

#include "base/error.h"
#include "table/pair_sort.h"
#include "table/slabs/slabs.h"
#include "table/slots/regions.h"

/*
 * With many more pairs than the table is for, lists become long, or have many equal keys: a matter
 * of insertion.
 */
#define PAIRS_MOST 1.25
/*
 * Slabs of a list on average, where keys are unique: those of much longer lists are not held
 * against each other.
 */
#define SLABS_MOST 5.5

/*
 * Whether so many pairs are worth sorting, for a table of these lists that was made for so many
 * keys.
 */
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
static bool suits_call(const heddle_table *table, const hd_request *r)
{
    const hd_slabs_storage *storage = &hd_slabs(table)->storage;
    return suits(table, &storage->view, storage->capacity, r->n) && !hd_request_asks_each(r) &&
           hd_request_is_direct(table, r);
}

/* ---------------------------------------------------------------------------------------- fill */

typedef struct filling {
    heddle_table *table;
    const hd_request *r;
    hd_partition job;
    hd_sort_layout l;
    char *memory;
    hd_scratch *scratch; /* for memory of our own */
} filling;

/* The caller's memory, or our own; *there says whether there is enough. */
static heddle_status take_memory(filling *f, bool *there)
{
    const heddle_insert_options *o = &f->r->options;
    f->memory = (char *)o->workspace;
    *there = f->memory != NULL && o->workspace_bytes >= f->l.bytes;
    if (f->memory != NULL) return HEDDLE_OK;
    const heddle_status status = hd_scratch_take(f->scratch, f->l.bytes, (void **)&f->memory);
    *there = status == HEDDLE_OK;
    return status == HEDDLE_ERROR_NO_MEMORY ? HEDDLE_OK : status;
}

/* Sorts the pairs and fills the regions; the sums are those of the call so far. */
static heddle_status fill_regions(filling *f, hd_counts *counts)
{
    heddle_table *table = f->table;
    const hd_slabs_table *t = hd_slabs(table);
    void *stream = f->r->stream;
    hd_partition *job = &f->job;
    HD_CALL(call);
    HD_TRY(hd_call_begin(table, true, stream, &call));
    hd_sort_lay(job, &f->l, f->memory, NULL);
    const hd_sorted sorted = {.pairs = job->pairs,
                              .starts = job->starts,
                              .ends = job->starts + 1,
                              .limit = UINT64_MAX,
                              .failed = job->spare,
                              .failed_count = &call.words->cursor};
    hd_slab_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.operation = HD_SLAB_INSERT;
    batch.policy = hd_slabs_policy(table, &f->r->options);
    batch.multi = hd_slabs_multi(table);
    batch.counts = call.counts;
    batch.born = &table->control->born;
    batch.died = &table->control->died;
    HD_TRY(table->engine->partition(table->device, job, stream));
    HD_TRY(t->ops->fill(table->device, &t->storage.view, &batch, &sorted, stream));
    return hd_call_read(&call, counts);
}

/* The pairs that are listed are inserted, from copies of them; their sums are added. */
static heddle_status insert_rest(const filling *f, uint64_t listed, hd_counts *sums)
{
    hd_request rest = {.options = HEDDLE_INSERT_OPTIONS_INIT, .waits = true};
    rest.stream = f->r->stream;
    rest.options.policy = f->r->options.policy;
    heddle_status status = hd_sort_split(f->table, &f->job, listed, f->scratch, &rest);
    if (status == HEDDLE_OK) status = hd_slabs_mixed(f->table, &rest);
    if (status != HEDDLE_OK && rest.counts.at[HD_FAILED] == 0) rest.counts.at[HD_FAILED] = listed;
    hd_counts_add(sums, &rest.counts);
    return status;
}

/* Fills a table in which nothing is and was; *done is false where there is no memory for it. */
static heddle_status fill(heddle_table *table, hd_request *r, bool *done)
{
    const hd_view *lists = &hd_slabs(table)->storage.view.buckets;
    HD_SCRATCH(scratch, table->device);
    filling f = {.table = table, .r = r, .scratch = &scratch};
    f.job = hd_sort_job(table, lists->region_bits, &lists->mix, r->n);
    f.job.keys = r->keys;
    f.job.values = r->values;
    f.job.ones = r->values == NULL;
    f.l = hd_sort_layout_of(table, &f.job, false);
    HD_TRY(take_memory(&f, done));
    if (!*done) return HEDDLE_OK;
    HD_TRY(fill_regions(&f, &r->counts));
    const uint64_t listed = r->counts.at[HD_FAILED];
    r->counts.at[HD_FAILED] = 0;
    hd_slabs_note_erased(table, r->counts.at[HD_KEPT] + r->counts.at[HD_UPDATED]);
    return listed != 0 ? insert_rest(&f, listed, &r->counts) : HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- calls */

heddle_status hd_slabs_insert_large(heddle_table *table, hd_request *r, bool *done)
{
    uint64_t born = 1;
    *done = false;
    if ((!r->waits && hd_slabs_fixed(table)) || !suits_call(table, r)) return HEDDLE_OK;
    r->waits = true;
    HD_TRY(hd_read_back(table, &born, &table->control->born, sizeof born, r->stream));
    return born == 0 ? fill(table, r, done) : HEDDLE_OK;
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
        HD_TRY(hd_slabs_plan_for(table, n, &plan));
        view.buckets.region_bits = plan.region_bits;
        view.buckets.region_buckets = plan.region_buckets;
        capacity = n;
    }
    if (!suits(table, &view, capacity, n)) return HEDDLE_OK;
    const hd_partition job = hd_sort_job(table, view.buckets.region_bits, &view.buckets.mix, n);
    *bytes = hd_sort_layout_of(table, &job, false).bytes;
    return HEDDLE_OK;
}
