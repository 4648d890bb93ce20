/*
 * calls.c: adding keys to Bloom filters and looking for them.
 *
 * A large batch in device memory is sorted by region and added region by region (engine/filter.h). When
 * there is no memory for that, keys are added one by one, which takes longer and no memory.
 */
#include <string.h>

#include "base/error.h"
#include "filter/filter.h"
#include "host/lent.h"
#include "host/stage.h"

/* Keys that are sorted at a time. */
#define SORT_KEYS_MAX (UINT64_C(1) << 28)

static uint32_t key_width(const heddle_filter *filter) { return filter->options.key_bits / 8; }

static heddle_status check_keys(const heddle_filter *filter, const void *keys, uint64_t n,
                                const void *stream, const char *what)
{
    HD_TRY(hd_filter_check(filter, stream, what));
    return hd_check_array(keys, n, key_width(filter), "keys");
}

/* A call's context for the slices of its arrays. */
typedef struct slice_call {
    heddle_filter *filter;
    uint64_t *count; /* device memory, or NULL */
    void *stream;
} slice_call;

/* ----------------------------------------------------------------------------------------- add */

/* Adds keys in device memory one by one. */
static heddle_status add_direct(heddle_filter *filter, const void *keys, uint64_t n, void *stream)
{
    return filter->ops->add(filter->device, &filter->view, keys, n, stream);
}

/* A failure may come after some keys, so each part counts its own. */
static heddle_status counted(heddle_filter *filter, heddle_status status, uint64_t n)
{
    if (status == HEDDLE_OK) __atomic_fetch_add(&filter->added, n, __ATOMIC_RELAXED);
    return status;
}

/* hd_slice_work */
static heddle_status add_slice(void *context, void *const arrays[HD_SPANS_MAX], uint64_t first,
                               uint64_t n)
{
    const slice_call *c = (const slice_call *)context;
    (void)first;
    return counted(c->filter, add_direct(c->filter, arrays[0], n, c->stream), n);
}

/* Takes the memory to sort n keys; a failure is no reason to fail. */
static bool take_sort_memory(hd_scratch *scratch, hd_partition *job)
{
    const hd_engine *engine = scratch->device->engine;
    const uint64_t regions = UINT64_C(1) << job->region_bits, bytes = job->n * job->key_bits / 8;
    return hd_scratch_take(scratch, bytes, &job->pairs) == HEDDLE_OK &&
           hd_scratch_take(scratch, bytes, &job->spare) == HEDDLE_OK &&
           hd_scratch_take(scratch, (regions + 1) * sizeof(uint64_t), (void **)&job->starts) ==
               HEDDLE_OK &&
           hd_scratch_take(scratch, engine->partition_work(scratch->device, job), &job->work) ==
               HEDDLE_OK;
}

static heddle_status add_sorted(heddle_filter *filter, const char *keys, uint64_t n, uint32_t bits,
                                void *stream)
{
    hd_scratch scratch = {filter->device, 0, {NULL}};
    hd_partition job;
    hd_filter_sorted sorted;
    heddle_status status;
    memset(&job, 0, sizeof job);
    job.key_bits = filter->options.key_bits;
    job.region_bits = bits;
    job.mix = filter->view.mix;
    job.keys = keys;
    job.n = n;
    if (take_sort_memory(&scratch, &job)) {
        sorted.mixed = job.pairs;
        sorted.starts = job.starts;
        sorted.n = n;
        sorted.region_bits = bits;
        status = filter->engine->partition(filter->device, &job, stream);
        if (status == HEDDLE_OK)
            status = filter->ops->add_sorted(filter->device, &filter->view, &sorted, stream);
    } else {
        status = add_direct(filter, keys, n, stream);
    }
    hd_scratch_free(&scratch);
    return status;
}

static heddle_status add_device(heddle_filter *filter, const char *keys, uint64_t n, void *stream)
{
    const bool direct = (filter->options.flags & HEDDLE_FILTER_DIRECT) != 0;
    heddle_status status = HEDDLE_OK;
    for (uint64_t first = 0; first < n && status == HEDDLE_OK; first += SORT_KEYS_MAX) {
        const uint64_t length = n - first < SORT_KEYS_MAX ? n - first : SORT_KEYS_MAX;
        const char *from = keys + first * key_width(filter);
        const uint32_t bits =
            direct ? 0 : filter->ops->sort_bits(filter->device, &filter->view, length);
        status = bits != 0 ? add_sorted(filter, from, length, bits, stream)
                           : add_direct(filter, from, length, stream);
        status = counted(filter, status, length);
    }
    return status;
}

heddle_status heddle_filter_add(heddle_filter *filter, const void *keys, uint64_t n, void *stream)
{
    heddle_status status = check_keys(filter, keys, n, stream, "add");
    if (status != HEDDLE_OK || n == 0) return status;
    const hd_span spans[] = {{(void *)(uintptr_t)keys, key_width(filter), true, false}};
    slice_call c = {filter, NULL, stream};
    if (filter->engine->host_memory) pthread_mutex_lock(&filter->adder);
    status =
        hd_any_staged_on(filter->device, spans, 1)
            ? hd_for_slices_on(filter->device, &filter->slice, spans, 1, n, add_slice, &c, stream)
            : add_device(filter, (const char *)keys, n, stream);
    if (filter->engine->host_memory) pthread_mutex_unlock(&filter->adder);
    return status;
}

/* ------------------------------------------------------------------------------------ contains */

/* hd_slice_work */
static heddle_status contains_slice(void *context, void *const arrays[HD_SPANS_MAX], uint64_t first,
                                    uint64_t n)
{
    const slice_call *c = (const slice_call *)context;
    (void)first;
    return c->filter->ops->contains(c->filter->device, &c->filter->view, arrays[0], n,
                                    (uint8_t *)arrays[1], c->count, c->stream);
}

/* `count` is device memory. */
static heddle_status look(heddle_filter *filter, const void *keys, uint64_t n, uint8_t *found,
                          uint64_t *count, void *stream)
{
    const hd_span spans[] = {{(void *)(uintptr_t)keys, key_width(filter), true, false},
                             {found, 1, false, true}};
    slice_call c = {filter, count, stream};
    if (!hd_any_staged_on(filter->device, spans, 2))
        return filter->ops->contains(filter->device, &filter->view, keys, n, found, count, stream);
    return hd_for_slices_on(filter->device, &filter->slice, spans, 2, n, contains_slice, &c,
                            stream);
}

/* Waits for the stream and brings a number from device memory. */
static heddle_status bring_number(heddle_filter *filter, const void *from, uint64_t *to,
                                  void *stream)
{
    HD_TRY(filter->engine->copy(filter->device, to, from, sizeof *to, stream));
    return filter->engine->synchronize(filter->device, stream);
}

static heddle_status look_and_count(heddle_filter *filter, const void *keys, uint64_t n,
                                    uint8_t *found, uint64_t *count, void *stream)
{
    hd_scratch scratch = {filter->device, 0, {NULL}};
    void *sum = NULL;
    heddle_status status = hd_scratch_take(&scratch, sizeof *count, &sum);
    if (status == HEDDLE_OK)
        status = filter->engine->fill(filter->device, sum, 0, sizeof *count, stream);
    if (status == HEDDLE_OK) status = look(filter, keys, n, found, (uint64_t *)sum, stream);
    if (status == HEDDLE_OK) status = bring_number(filter, sum, count, stream);
    hd_scratch_free(&scratch);
    return status;
}

heddle_status heddle_filter_contains(heddle_filter *filter, const void *keys, uint64_t n,
                                     uint8_t *found, uint64_t *count, void *stream)
{
    const heddle_status status = check_keys(filter, keys, n, stream, "contains");
    if (count != NULL) *count = 0;
    if (status != HEDDLE_OK || n == 0 || (found == NULL && count == NULL)) return status;
    return count != NULL ? look_and_count(filter, keys, n, found, count, stream)
                         : look(filter, keys, n, found, NULL, stream);
}

/* -------------------------------------------------------------------------------------- select */

/* The arrays of a selection, in device memory. */
typedef struct selection {
    const void *keys;
    void *flags, *work, *number;
    void *rows; /* NULL when nobody needs them */
    hd_lent rows_out, selected;
} selection;

static heddle_status selection_take(hd_scratch *scratch, heddle_filter *filter, const void *keys,
                                    uint64_t n, void *selected, uint64_t *rows, selection *s,
                                    void *stream)
{
    const hd_engine *engine = filter->engine;
    heddle_status status = hd_scratch_take(scratch, n, &s->flags);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(scratch, engine->columns->work(filter->device, n), &s->work);
    if (status == HEDDLE_OK) status = hd_scratch_take(scratch, sizeof(uint64_t), &s->number);
    if (status == HEDDLE_OK) status = hd_lend_out(scratch, rows, n * sizeof *rows, &s->rows_out);
    if (status == HEDDLE_OK)
        status = hd_lend_out(scratch, selected, n * key_width(filter), &s->selected);
    s->rows = s->rows_out.memory;
    if (status == HEDDLE_OK && selected != NULL && rows == NULL)
        status = hd_scratch_take(scratch, n * sizeof *rows, &s->rows);
    s->keys = keys;
    if (status == HEDDLE_OK && selected != NULL)
        status = hd_lend_in(scratch, keys, n * key_width(filter), &s->keys, stream);
    return status;
}

static heddle_status select_keys(hd_scratch *scratch, heddle_filter *filter, selection *s,
                                 uint64_t n, uint64_t *count, void *stream)
{
    const hd_column_ops *columns = filter->engine->columns;
    heddle_device *device = filter->device;
    heddle_status status = look(filter, s->keys, n, (uint8_t *)s->flags, NULL, stream);
    if (status == HEDDLE_OK)
        status = columns->select(device, (const uint8_t *)s->flags, n, true, s->rows, 64,
                                 (uint64_t *)s->number, s->work, stream);
    if (status == HEDDLE_OK) status = bring_number(filter, s->number, count, stream);
    if (status == HEDDLE_OK && s->selected.user != NULL)
        status = columns->gather(device, s->keys, key_width(filter), s->rows, 64, *count,
                                 s->selected.memory, stream);
    s->rows_out.bytes = *count * sizeof(uint64_t);
    s->selected.bytes = *count * key_width(filter);
    if (status == HEDDLE_OK) status = hd_take_back(scratch->device, &s->rows_out, stream);
    if (status == HEDDLE_OK) status = hd_take_back(scratch->device, &s->selected, stream);
    return status;
}

heddle_status heddle_filter_select(heddle_filter *filter, const void *keys, uint64_t n,
                                   void *selected, uint64_t *rows, uint64_t *count, void *stream)
{
    heddle_status status = check_keys(filter, keys, n, stream, "select");
    if (status != HEDDLE_OK) return status;
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "select: there is no place for the count");
    *count = 0;
    if (selected != NULL) status = hd_check_array(selected, n, key_width(filter), "selected keys");
    if (status == HEDDLE_OK && rows != NULL) status = hd_check_array(rows, n, sizeof *rows, "rows");
    if (status != HEDDLE_OK || n == 0) return status;
    hd_scratch scratch = {filter->device, 0, {NULL}};
    selection s;
    memset(&s, 0, sizeof s);
    status = selection_take(&scratch, filter, keys, n, selected, rows, &s, stream);
    if (status == HEDDLE_OK) status = select_keys(&scratch, filter, &s, n, count, stream);
    if (status == HEDDLE_OK) status = filter->engine->synchronize(filter->device, stream);
    hd_scratch_free(&scratch);
    return status;
}
