/* stage.c: see stage.h. */
#include "host/stage.h"
#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define STAGE_KEYS_MIN (UINT64_C(1) << 14)
#define STAGE_KEYS (UINT64_C(1) << 20) /* elements of a staged slice, at most */
#define ELEMENT_MAX 8

/* One of the two sets of buffers: every span has its own in each. */
typedef struct stage_set {
    char *device[HD_SPANS_MAX];
    char *pinned[HD_SPANS_MAX];
    void *done;     /* event: the results of its last slice are in `pinned` */
    uint64_t first; /* that slice */
    uint64_t n;
} stage_set;

struct hd_stage {
    hd_stage *next; /* in the device's list of idle ones */
    stage_set sets[2];
    uint64_t keys; /* elements each buffer has room for */
};

static void stage_free(heddle_device *device, hd_stage *stage)
{
    for (int s = 0; s < 2; s++) {
        const stage_set *set = &stage->sets[s];
        for (int k = 0; k < HD_SPANS_MAX; k++) {
            if (set->device[k] != NULL) device->engine->free(device, set->device[k]);
            if (set->pinned[k] != NULL) device->engine->free_pinned(device, set->pinned[k]);
        }
        if (set->done != NULL) device->engine->event_destroy(device, set->done);
    }
    free(stage);
}

/* The idle buffers that come first, which then are the caller's; NULL: there are none. */
static hd_stage *take_idle(heddle_device *device)
{
    hd_stage *idle;
    pthread_mutex_lock(&device->lock);
    idle = device->idle_stages;
    if (idle != NULL) device->idle_stages = idle->next;
    pthread_mutex_unlock(&device->lock);
    return idle;
}

void hd_stages_free(heddle_device *device)
{
    for (hd_stage *stage; (stage = take_idle(device)) != NULL;) stage_free(device, stage);
}

static heddle_status stage_make(heddle_device *device, uint64_t keys, hd_stage **made)
{
    hd_stage *stage = (hd_stage *)hd_allocate_zeroed(1, sizeof *stage);
    heddle_status status = HEDDLE_OK;
    if (stage == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to stage host arrays");
    stage->keys = keys;
    for (int s = 0; s < 2 && status == HEDDLE_OK; s++) {
        stage_set *set = &stage->sets[s];
        for (int k = 0; k < HD_SPANS_MAX && status == HEDDLE_OK; k++) {
            status = device->engine->allocate(device, keys * ELEMENT_MAX, (void **)&set->device[k]);
            if (status == HEDDLE_OK)
                status = device->engine->allocate_pinned(device, keys * ELEMENT_MAX,
                                                         (void **)&set->pinned[k]);
        }
        if (status == HEDDLE_OK) status = device->engine->event_create(device, &set->done);
    }
    if (status == HEDDLE_OK) *made = stage;
    else stage_free(device, stage);
    return status;
}

/*
 * Buffers for slices of up to `wanted` elements, as far as that is sensible: idle ones, or new. Where memory
 * is short they are smaller, and slices more.
 */
static heddle_status stage_take(heddle_device *device, uint64_t wanted, hd_stage **taken)
{
    uint64_t keys = STAGE_KEYS_MIN, have = STAGE_KEYS_MIN / 2;
    heddle_status status = HEDDLE_ERROR_NO_MEMORY;
    hd_stage *idle = take_idle(device);
    while (keys < wanted && keys < STAGE_KEYS) keys *= 2;
    *taken = idle;
    if (idle != NULL) have = idle->keys;
    if (have >= keys) return HEDDLE_OK;
    for (; status == HEDDLE_ERROR_NO_MEMORY && keys > have; keys /= 2)
        status = stage_make(device, keys, taken);
    if (status == HEDDLE_ERROR_NO_MEMORY && idle != NULL) return HEDDLE_OK;
    if (idle != NULL) stage_free(device, idle);
    return status;
}

static void stage_return(heddle_device *device, hd_stage *stage)
{
    pthread_mutex_lock(&device->lock);
    stage->next = device->idle_stages;
    device->idle_stages = stage;
    pthread_mutex_unlock(&device->lock);
}

heddle_status hd_stage_ready(heddle_device *device, uint64_t n)
{
    hd_stage *stage = NULL;
    HD_TRY(stage_take(device, n, &stage));
    stage_return(device, stage);
    return HEDDLE_OK;
}

static bool is_staged(heddle_device *device, const hd_span *span)
{
    return span->user != NULL && !device->engine->host_memory &&
           !device->engine->is_device_memory(device, span->user);
}

bool hd_any_staged_on(heddle_device *device, const hd_span *spans, int count)
{
    bool any = false;
    for (int k = 0; k < count; k++) any = any || is_staged(device, &spans[k]);
    return any;
}

bool hd_any_staged(const heddle_table *table, const hd_span *spans, int count)
{
    return hd_any_staged_on(table->device, spans, count);
}

/* A staged call over arrays. */
typedef struct staged_call {
    heddle_device *device;
    const uint64_t *slice;
    const hd_span *spans;
    int count;
    bool staged[HD_SPANS_MAX];
    hd_stage *stage; /* NULL when nothing is staged */
    void *stream;
} staged_call;

/* Large copies between pageable and pinned memory are worth several threads. */
static void copy_parallel(char *to, const char *from, uint64_t bytes)
{
    const uint64_t step = UINT64_C(1) << 20;
#pragma omp parallel for schedule(static) if (bytes > 2 * step) num_threads(4)
    for (uint64_t at = 0; at < bytes; at += step)
        memcpy(to + at, from + at, bytes - at < step ? bytes - at : step);
}

/* Waits for a set's last slice and gives its results to the caller. */
static heddle_status set_drain(const staged_call *c, stage_set *set)
{
    heddle_status status;
    if (set->n == 0) return HEDDLE_OK;
    status = c->device->engine->event_wait(c->device, set->done);
    for (int k = 0; k < c->count && status == HEDDLE_OK; k++) {
        const uint32_t width = c->spans[k].width;
        if (c->staged[k] && c->spans[k].out)
            copy_parallel((char *)c->spans[k].user + set->first * width, set->pinned[k],
                          set->n * width);
    }
    set->n = 0;
    return status;
}

static heddle_status set_send(const staged_call *c, stage_set *set, uint64_t first, uint64_t n)
{
    heddle_status status = HEDDLE_OK;
    for (int k = 0; k < c->count && status == HEDDLE_OK; k++) {
        const uint64_t bytes = n * c->spans[k].width;
        if (!c->staged[k] || !c->spans[k].in) continue;
        copy_parallel(set->pinned[k], (const char *)c->spans[k].user + first * c->spans[k].width,
                      bytes);
        status =
            c->device->engine->copy(c->device, set->device[k], set->pinned[k], bytes, c->stream);
    }
    set->first = first;
    return status;
}

static heddle_status set_receive(const staged_call *c, stage_set *set, uint64_t n)
{
    for (int k = 0; k < c->count; k++)
        if (c->staged[k] && c->spans[k].out)
            HD_TRY(c->device->engine->copy(c->device, set->pinned[k], set->device[k],
                                           n * c->spans[k].width, c->stream));
    HD_TRY(c->device->engine->event_record(c->device, set->done, c->stream));
    set->n = n;
    return HEDDLE_OK;
}

/* The device's view of the slice that begins at `first`. */
static void slice_pointers(const staged_call *c, const stage_set *set, uint64_t first,
                           void *device[HD_SPANS_MAX])
{
    for (int k = 0; k < HD_SPANS_MAX; k++) {
        device[k] = NULL;
        if (k >= c->count || c->spans[k].user == NULL) continue;
        device[k] =
            c->staged[k] ? set->device[k] : (char *)c->spans[k].user + first * c->spans[k].width;
    }
}

static heddle_status run_staged(const staged_call *c, uint64_t n, hd_slice_work work, void *context)
{
    const uint64_t slice = *c->slice < c->stage->keys ? *c->slice : c->stage->keys;
    heddle_status status = HEDDLE_OK;
    for (uint64_t first = 0, turn = 0; first < n && status == HEDDLE_OK;
         first += slice, turn ^= 1) {
        const uint64_t length = n - first < slice ? n - first : slice;
        stage_set *set = &c->stage->sets[turn];
        void *device[HD_SPANS_MAX];
        status = set_drain(c, set);
        if (status == HEDDLE_OK) status = set_send(c, set, first, length);
        slice_pointers(c, set, first, device);
        if (status == HEDDLE_OK) status = work(context, device, first, length);
        if (status == HEDDLE_OK) status = set_receive(c, set, length);
    }
    for (int s = 0; s < 2; s++) {
        const heddle_status drained = set_drain(c, &c->stage->sets[s]);
        if (status == HEDDLE_OK) status = drained;
    }
    return status;
}

static heddle_status run_direct(const staged_call *c, uint64_t n, hd_slice_work work, void *context)
{
    heddle_status status = HEDDLE_OK;
    for (uint64_t first = 0; first < n && status == HEDDLE_OK;) {
        const uint64_t slice = *c->slice; /* may change when the table grows */
        const uint64_t length = n - first < slice ? n - first : slice;
        void *device[HD_SPANS_MAX];
        slice_pointers(c, NULL, first, device);
        status = work(context, device, first, length);
        first += length;
    }
    return status;
}

heddle_status hd_for_slices_on(heddle_device *device, const uint64_t *slice, const hd_span *spans,
                               int count, uint64_t n, hd_slice_work work, void *context,
                               void *stream)
{
    staged_call c = {device, slice, spans, count, {false}, NULL, stream};
    heddle_status status;
    for (int k = 0; k < count; k++) c.staged[k] = is_staged(device, &spans[k]);
    if (!hd_any_staged_on(device, spans, count)) return run_direct(&c, n, work, context);
    status = stage_take(device, n, &c.stage);
    if (status != HEDDLE_OK) return status;
    status = run_staged(&c, n, work, context);
    stage_return(device, c.stage);
    return status;
}

heddle_status hd_for_slices(heddle_table *table, const hd_span *spans, int count, uint64_t n,
                            hd_slice_work work, void *context, void *stream)
{
    return hd_for_slices_on(table->device, &table->slice, spans, count, n, work, context, stream);
}

/* ---------------------------------------------------------------------------------- all pairs */

typedef struct pair_buffers {
    char *device_keys, *device_values, *host_keys, *host_values;
    uint64_t *cursor; /* device memory */
    uint64_t *count;  /* pinned host memory */
} pair_buffers;

static void pair_buffers_free(heddle_table *table, const pair_buffers *b)
{
    void *const device[] = {b->device_keys, b->device_values, b->cursor};
    void *const pinned[] = {b->host_keys, b->host_values, b->count};
    for (int i = 0; i < 3; i++) {
        if (device[i] != NULL) table->engine->free(table->device, device[i]);
        if (pinned[i] != NULL) table->engine->free_pinned(table->device, pinned[i]);
    }
}

/* With room for so many pairs. */
static heddle_status pair_buffers_make(heddle_table *table, uint64_t pairs, pair_buffers *b)
{
    const hd_engine *engine = table->engine;
    const uint64_t bytes = (pairs + 1) * ELEMENT_MAX;
    heddle_status status;
    memset(b, 0, sizeof *b);
    status = engine->allocate(table->device, bytes, (void **)&b->device_keys);
    if (status == HEDDLE_OK)
        status = engine->allocate(table->device, bytes, (void **)&b->device_values);
    if (status == HEDDLE_OK)
        status = engine->allocate(table->device, sizeof(uint64_t), (void **)&b->cursor);
    if (status == HEDDLE_OK)
        status = engine->allocate_pinned(table->device, bytes, (void **)&b->host_keys);
    if (status == HEDDLE_OK)
        status = engine->allocate_pinned(table->device, bytes, (void **)&b->host_values);
    if (status == HEDDLE_OK)
        status = engine->allocate_pinned(table->device, sizeof(uint64_t), (void **)&b->count);
    if (status != HEDDLE_OK) pair_buffers_free(table, b);
    return status;
}

/* Brings some pairs into the host buffers. */
static heddle_status fetch_pairs(heddle_table *table, const pair_buffers *b, hd_pairs_fetch fetch,
                                 const void *from, uint64_t first, uint64_t n, void *stream)
{
    const hd_engine *engine = table->engine;
    heddle_device *device = table->device;
    HD_TRY(engine->fill(device, b->cursor, 0, sizeof(uint64_t), stream));
    HD_TRY(fetch(table, from, first, n, b->device_keys, b->device_values, b->cursor, stream));
    HD_TRY(engine->copy(device, b->count, b->cursor, sizeof(uint64_t), stream));
    HD_TRY(engine->synchronize(device, stream));
    HD_TRY(engine->copy(device, b->host_keys, b->device_keys, *b->count * hd_key_width(table),
                        stream));
    if (hd_value_width(table) != 0)
        HD_TRY(engine->copy(device, b->host_values, b->device_values,
                            *b->count * hd_value_width(table), stream));
    return engine->synchronize(device, stream);
}

heddle_status hd_for_pieces(heddle_table *table, uint64_t items, uint32_t each,
                            hd_pairs_fetch fetch, const void *from, hd_pairs_take take,
                            void *context, void *stream)
{
    const uint64_t most = STAGE_KEYS / each, piece = items < most ? items : most;
    pair_buffers b;
    heddle_status status = pair_buffers_make(table, piece * each, &b);
    if (status != HEDDLE_OK) return status;
    for (uint64_t first = 0; first < items && status == HEDDLE_OK; first += piece) {
        status = fetch_pairs(table, &b, fetch, from, first,
                             items - first < piece ? items - first : piece, stream);
        if (status == HEDDLE_OK && *b.count != 0)
            status = take(context, b.host_keys, hd_value_width(table) != 0 ? b.host_values : NULL,
                          *b.count);
    }
    pair_buffers_free(table, &b);
    return status;
}

/* Arrays that pieces are appended to. */
typedef struct export_to {
    heddle_table *table;
    char *keys, *values;
    uint64_t written;
    void *stream;
} export_to;

/* hd_pairs_take: appends pairs that lie in host memory. */
static heddle_status export_piece(void *context, const void *keys, const void *values, uint64_t n)
{
    export_to *to = (export_to *)context;
    const uint32_t kw = hd_key_width(to->table), vw = hd_value_width(to->table);
    heddle_status status = to->table->engine->copy(to->table->device, to->keys + to->written * kw,
                                                   keys, n * kw, to->stream);
    if (status == HEDDLE_OK && to->values != NULL)
        status = to->table->engine->copy(to->table->device, to->values + to->written * vw, values,
                                         n * vw, to->stream);
    if (status == HEDDLE_OK) status = to->table->engine->synchronize(to->table->device, to->stream);
    to->written += n;
    return status;
}

heddle_status hd_collect_staged(heddle_table *table, void *keys, void *values, void *stream)
{
    export_to to = {table, (char *)keys, (char *)values, 0, stream};
    return table->kind->for_pairs(table, export_piece, &to, stream);
}
