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
#include "table/check.h"

/* Keys that are sorted at a time. */
#define SORT_KEYS_MAX (UINT64_C(1) << 28)

static uint32_t key_width(const heddle_filter *filter) { return filter->options.key_bits / 8; }

static heddle_status check_keys(const heddle_filter *filter, const void *keys, uint64_t n,
                                const void *stream, const char *what)
{
    HD_TRY(hd_filter_check(filter, stream, what));
    return hd_check_array(keys, n, key_width(filter), "keys");
}

/* A call: n keys are added, or looked for. Also the context for the slices of its arrays. */
typedef struct filter_call {
    heddle_filter *filter;
    const void *keys;
    uint64_t n;
    uint8_t *found;  /* or NULL */
    uint64_t *count; /* device memory, or NULL */
    void *stream;
} filter_call;

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
    const filter_call *c = (const filter_call *)context;
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

/* Adds keys in device memory by the leading `bits` of their mixed keys. */
static heddle_status add_sorted(heddle_filter *filter, const void *keys, uint64_t n, uint32_t bits,
                                void *stream)
{
    HD_SCRATCH(scratch, filter->device);
    hd_partition job;
    hd_filter_sorted sorted;
    memset(&job, 0, sizeof job);
    job.key_bits = filter->options.key_bits;
    job.region_bits = bits;
    job.mix = filter->view.mix;
    job.keys = keys;
    job.n = n;
    if (!take_sort_memory(&scratch, &job)) return add_direct(filter, keys, n, stream);
    sorted.mixed = job.pairs;
    sorted.starts = job.starts;
    sorted.n = n;
    sorted.region_bits = bits;
    HD_TRY(filter->engine->partition(filter->device, &job, stream));
    return filter->ops->add_sorted(filter->device, &filter->view, &sorted, stream);
}

static heddle_status add_device(heddle_filter *filter, const char *keys, uint64_t n, void *stream)
{
    const bool direct = (filter->options.flags & HEDDLE_FILTER_DIRECT) != 0;
    for (uint64_t first = 0; first < n; first += SORT_KEYS_MAX) {
        const uint64_t length = n - first < SORT_KEYS_MAX ? n - first : SORT_KEYS_MAX;
        const char *from = keys + first * key_width(filter);
        const uint32_t bits =
            direct ? 0 : filter->ops->sort_bits(filter->device, &filter->view, length);
        const heddle_status status = bits != 0 ? add_sorted(filter, from, length, bits, stream)
                                               : add_direct(filter, from, length, stream);
        HD_TRY(counted(filter, status, length));
    }
    return HEDDLE_OK;
}

static hd_slices slices_of(const filter_call *c)
{
    const hd_slices slices = {
        .device = c->filter->device,
        .spans = {hd_span_in(c->keys, key_width(c->filter)), hd_span_out(c->found, 1)},
        .n = c->n,
        .slice = &c->filter->slice,
        .stream = c->stream,
    };
    return slices;
}

static heddle_status add_any(filter_call *c)
{
    const hd_slices slices = slices_of(c);
    return hd_any_staged(&slices) ? hd_for_slices(&slices, add_slice, c)
                                  : add_device(c->filter, (const char *)c->keys, c->n, c->stream);
}

heddle_status heddle_filter_add(heddle_filter *filter, const void *keys, uint64_t n, void *stream)
{
    filter_call c = {filter, keys, n, NULL, NULL, stream};
    heddle_status status;
    HD_TRY(check_keys(filter, keys, n, stream, "add"));
    if (n == 0) return HEDDLE_OK;
    if (filter->engine->host_memory) pthread_mutex_lock(&filter->adder);
    status = add_any(&c);
    if (filter->engine->host_memory) pthread_mutex_unlock(&filter->adder);
    return status;
}

/* ------------------------------------------------------------------------------------ contains */

/* hd_slice_work */
static heddle_status contains_slice(void *context, void *const arrays[HD_SPANS_MAX], uint64_t first,
                                    uint64_t n)
{
    const filter_call *c = (const filter_call *)context;
    (void)first;
    return c->filter->ops->contains(c->filter->device, &c->filter->view, arrays[0], n,
                                    (uint8_t *)arrays[1], c->count, c->stream);
}

static heddle_status look(filter_call *c)
{
    heddle_filter *filter = c->filter;
    const hd_slices slices = slices_of(c);
    return hd_any_staged(&slices) ? hd_for_slices(&slices, contains_slice, c)
                                  : filter->ops->contains(filter->device, &filter->view, c->keys,
                                                          c->n, c->found, c->count, c->stream);
}

/* Waits for the stream and brings a number from device memory. */
static heddle_status bring_number(const filter_call *c, const void *from, uint64_t *to)
{
    const hd_engine *engine = c->filter->engine;
    HD_TRY(engine->copy(c->filter->device, to, from, sizeof *to, c->stream));
    return engine->synchronize(c->filter->device, c->stream);
}

static heddle_status look_and_count(filter_call *c, uint64_t *count)
{
    heddle_filter *filter = c->filter;
    HD_SCRATCH(scratch, filter->device);
    void *sum = NULL;
    HD_TRY(hd_scratch_take(&scratch, sizeof *count, &sum));
    HD_TRY(filter->engine->fill(filter->device, sum, 0, sizeof *count, c->stream));
    c->count = (uint64_t *)sum;
    HD_TRY(look(c));
    return bring_number(c, sum, count);
}

heddle_status heddle_filter_contains(heddle_filter *filter, const void *keys, uint64_t n,
                                     uint8_t *found, uint64_t *count, void *stream)
{
    filter_call c = {filter, keys, n, found, NULL, stream};
    if (count != NULL) *count = 0;
    HD_TRY(check_keys(filter, keys, n, stream, "contains"));
    if (n == 0 || (found == NULL && count == NULL)) return HEDDLE_OK;
    return count != NULL ? look_and_count(&c, count) : look(&c);
}

/* -------------------------------------------------------------------------------------- select */

/* A selection. The call's keys and flags are device memory, or the flags and the rows alone are. */
typedef struct selection {
    filter_call call;
    hd_scratch *scratch;
    void *work, *number;
    void *rows; /* NULL when nobody needs them */
    hd_lent rows_out, selected;
} selection;

/* `selected` and `rows` are the caller's; either may be NULL. */
static heddle_status selection_take(selection *s, void *selected, uint64_t *rows)
{
    filter_call *c = &s->call;
    heddle_device *device = c->filter->device;
    const uint64_t n = c->n, bytes = n * key_width(c->filter);
    void *flags;
    HD_TRY(hd_scratch_take(s->scratch, n, &flags));
    c->found = (uint8_t *)flags;
    HD_TRY(hd_scratch_take(s->scratch, device->engine->columns->work(device, n), &s->work));
    HD_TRY(hd_scratch_take(s->scratch, sizeof(uint64_t), &s->number));
    HD_TRY(hd_lend_out(s->scratch, rows, n * sizeof *rows, &s->rows_out));
    HD_TRY(hd_lend_out(s->scratch, selected, bytes, &s->selected));
    s->rows = s->rows_out.memory;
    if (selected == NULL) return HEDDLE_OK;
    if (rows == NULL) HD_TRY(hd_scratch_take(s->scratch, n * sizeof *rows, &s->rows));
    return hd_lend_in(s->scratch, c->keys, bytes, &c->keys, c->stream);
}

static heddle_status select_keys(selection *s, uint64_t *count)
{
    filter_call *c = &s->call;
    heddle_device *device = c->filter->device;
    const hd_column_ops *columns = device->engine->columns;
    const hd_site on = hd_on(device, s->work, c->stream);
    const uint32_t width = key_width(c->filter);
    HD_TRY(look(c));
    HD_TRY(
        columns->select(on, hd_flags_of(c->found, c->n, true), s->rows, 64, (uint64_t *)s->number));
    HD_TRY(bring_number(c, s->number, count));
    if (s->selected.user != NULL)
        HD_TRY(columns->gather(on, hd_elements_of(c->keys, width), hd_at_rows(s->rows, 64, *count),
                               s->selected.memory));
    s->rows_out.bytes = *count * sizeof(uint64_t);
    s->selected.bytes = *count * width;
    HD_TRY(hd_take_back(device, &s->rows_out, c->stream));
    return hd_take_back(device, &s->selected, c->stream);
}

heddle_status heddle_filter_select(heddle_filter *filter, const void *keys, uint64_t n,
                                   void *selected, uint64_t *rows, uint64_t *count, void *stream)
{
    selection s;
    HD_TRY(check_keys(filter, keys, n, stream, "select"));
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "select: there is no place for the count");
    *count = 0;
    if (selected != NULL) HD_TRY(hd_check_array(selected, n, key_width(filter), "selected keys"));
    if (rows != NULL) HD_TRY(hd_check_array(rows, n, sizeof *rows, "rows"));
    if (n == 0) return HEDDLE_OK;
    HD_SCRATCH(scratch, filter->device);
    memset(&s, 0, sizeof s);
    s.scratch = &scratch;
    s.call.filter = filter;
    s.call.keys = keys;
    s.call.n = n;
    s.call.stream = stream;
    HD_TRY(selection_take(&s, selected, rows));
    return select_keys(&s, count);
}
