/* stage.c: see stage.h. */
#include "host/stage.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/team.h"
#include "host/lent.h"

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

static heddle_status set_make(heddle_device *device, uint64_t bytes, stage_set *set)
{
    const hd_engine *engine = device->engine;
    for (int k = 0; k < HD_SPANS_MAX; k++) {
        HD_TRY(engine->allocate(device, bytes, (void **)&set->device[k]));
        HD_TRY(engine->allocate_pinned(device, bytes, (void **)&set->pinned[k]));
    }
    return engine->event_create(device, &set->done);
}

static heddle_status stage_make(heddle_device *device, uint64_t keys, hd_stage **made)
{
    hd_stage *stage = (hd_stage *)hd_allocate_zeroed(1, sizeof *stage);
    heddle_status status = HEDDLE_OK;
    if (stage == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to stage host arrays");
    stage->keys = keys;
    for (int s = 0; s < 2 && status == HEDDLE_OK; s++)
        status = set_make(device, keys * ELEMENT_MAX, &stage->sets[s]);
    if (status == HEDDLE_OK) *made = stage;
    else stage_free(device, stage);
    return status;
}

/*
 * Buffers for slices of up to `wanted` elements, as far as that is sensible: idle ones, or new.
 * Where memory is short they are smaller, and slices more.
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

bool hd_any_staged(const hd_slices *slices)
{
    if (slices->device->engine->host_memory) return false;
    for (int k = 0; k < HD_SPANS_MAX; k++)
        if (!hd_is_direct(slices->device, slices->spans[k].user)) return true;
    return false;
}

/* Arrays at work, some of them staged. */
typedef struct staging {
    const hd_slices *slices;
    bool staged[HD_SPANS_MAX];
    hd_stage *stage;
} staging;

/* Large copies between pageable and pinned memory are worth several threads. */
static void copy_parallel(char *to, const char *from, uint64_t bytes)
{
    const uint64_t step = UINT64_C(1) << 20;
    const int threads = bytes > 2 * step ? hd_team(4) : 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (uint64_t at = 0; at < bytes; at += step)
        memcpy(to + at, from + at, bytes - at < step ? bytes - at : step);
}

/* Waits for a set's last slice and gives its results to the caller. */
static heddle_status set_drain(const staging *g, stage_set *set)
{
    heddle_device *device = g->slices->device;
    const uint64_t n = set->n;
    if (n == 0) return HEDDLE_OK;
    set->n = 0;
    HD_TRY(device->engine->event_wait(device, set->done));
    for (int k = 0; k < HD_SPANS_MAX; k++) {
        const hd_span *span = &g->slices->spans[k];
        if (g->staged[k] && span->out)
            copy_parallel((char *)span->user + set->first * span->width, set->pinned[k],
                          n * span->width);
    }
    return HEDDLE_OK;
}

static heddle_status set_send(const staging *g, stage_set *set, uint64_t first, uint64_t n)
{
    heddle_device *device = g->slices->device;
    for (int k = 0; k < HD_SPANS_MAX; k++) {
        const hd_span *span = &g->slices->spans[k];
        const uint64_t bytes = n * span->width;
        if (!g->staged[k] || !span->in) continue;
        copy_parallel(set->pinned[k], (const char *)span->user + first * span->width, bytes);
        HD_TRY(
            device->engine->copy(device, set->device[k], set->pinned[k], bytes, g->slices->stream));
    }
    set->first = first;
    return HEDDLE_OK;
}

static heddle_status set_receive(const staging *g, stage_set *set, uint64_t n)
{
    heddle_device *device = g->slices->device;
    for (int k = 0; k < HD_SPANS_MAX; k++) {
        const hd_span *span = &g->slices->spans[k];
        if (g->staged[k] && span->out)
            HD_TRY(device->engine->copy(device, set->pinned[k], set->device[k], n * span->width,
                                        g->slices->stream));
    }
    HD_TRY(device->engine->event_record(device, set->done, g->slices->stream));
    set->n = n;
    return HEDDLE_OK;
}

/* An array from `first` on, where the device can use it. */
static void *direct(const hd_span *span, uint64_t first)
{
    return span->user != NULL ? (char *)span->user + first * span->width : NULL;
}

/* One slice, in the buffers of a set. */
static heddle_status run_set(const staging *g, stage_set *set, const uint64_t range[2],
                             hd_slice_work work, void *context)
{
    const uint64_t first = range[0], n = range[1];
    void *device[HD_SPANS_MAX];
    HD_TRY(set_drain(g, set));
    HD_TRY(set_send(g, set, first, n));
    for (int k = 0; k < HD_SPANS_MAX; k++)
        device[k] = g->staged[k] ? set->device[k] : direct(&g->slices->spans[k], first);
    HD_TRY(work(context, device, first, n));
    return set_receive(g, set, n);
}

static heddle_status run_staged(const staging *g, hd_slice_work work, void *context)
{
    const uint64_t n = g->slices->n, most = g->stage->keys;
    const uint64_t slice = *g->slices->slice < most ? *g->slices->slice : most;
    heddle_status status = HEDDLE_OK;
    for (uint64_t first = 0, turn = 0; first < n && status == HEDDLE_OK;
         first += slice, turn ^= 1) {
        const uint64_t range[2] = {first, n - first < slice ? n - first : slice};
        status = run_set(g, &g->stage->sets[turn], range, work, context);
    }
    for (int s = 0; s < 2; s++) {
        const heddle_status drained = set_drain(g, &g->stage->sets[s]);
        if (status == HEDDLE_OK) status = drained;
    }
    return status;
}

static heddle_status run_direct(const hd_slices *slices, hd_slice_work work, void *context)
{
    const uint64_t n = slices->n;
    for (uint64_t first = 0, length; first < n; first += length) {
        const uint64_t slice = slices->at_once ? n : *slices->slice; /* it changes as tables grow */
        void *device[HD_SPANS_MAX];
        length = n - first < slice ? n - first : slice;
        for (int k = 0; k < HD_SPANS_MAX; k++) device[k] = direct(&slices->spans[k], first);
        HD_TRY(work(context, device, first, length));
    }
    return HEDDLE_OK;
}

heddle_status hd_for_slices(const hd_slices *slices, hd_slice_work work, void *context)
{
    staging g = {slices, {false}, NULL};
    if (!hd_any_staged(slices)) return run_direct(slices, work, context);
    for (int k = 0; k < HD_SPANS_MAX; k++)
        g.staged[k] = !hd_is_direct(slices->device, slices->spans[k].user);
    HD_TRY(stage_take(slices->device, slices->n, &g.stage));
    const heddle_status status = run_staged(&g, work, context);
    stage_return(slices->device, g.stage);
    return status;
}
