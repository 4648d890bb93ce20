/*
 * stage.h: works through the arrays of a call slice by slice, wherever they lie.
 *
 * An array that the device can use is handed on as it is. Host arrays of a GPU go through two sets
 * of pinned and device buffers: while the device works on one slice, the host fills the next and
 * empties the one before. The buffers belong to the device, which keeps them for the next call;
 * calls that run at the same time have buffers of their own.
 */
#ifndef HD_STAGE_H
#define HD_STAGE_H

#include "engine/engine.h"

#define HD_SPANS_MAX 5

/* One array of a call. */
typedef struct hd_span {
    void *user;     /* NULL: there is none */
    uint32_t width; /* bytes of an element */
    bool in;        /* the operation reads it */
    bool out;       /* the operation writes it */
} hd_span;

static inline hd_span hd_span_in(const void *user, uint32_t width)
{
    const hd_span span = {(void *)(uintptr_t)user, width, true, false};
    return span;
}
static inline hd_span hd_span_out(void *user, uint32_t width)
{
    const hd_span span = {user, width, false, true};
    return span;
}
/* Read too: what the operation leaves as it is comes back. */
static inline hd_span hd_span_update(void *user, uint32_t width)
{
    const hd_span span = {user, width, true, true};
    return span;
}

/* The arrays of a call, and how they are cut into slices. */
typedef struct hd_slices {
    heddle_device *device;
    hd_span spans[HD_SPANS_MAX];
    uint64_t n;            /* elements of each */
    const uint64_t *slice; /* elements worked on at a time; the work may change it */
    bool at_once;          /* all of them are, where no array has to be staged */
    void *stream;
} hd_slices;

/* The work on a slice: device[k] is where span k's elements from `first` on are, or NULL. */
typedef heddle_status (*hd_slice_work)(void *context, void *const device[HD_SPANS_MAX],
                                       uint64_t first, uint64_t n);

/* Does the work in order of slices. Waits for the stream if any array had to be staged. */
heddle_status hd_for_slices(const hd_slices *slices, hd_slice_work work, void *context);

/* Whether any of the arrays lies where the device cannot use it. */
bool hd_any_staged(const hd_slices *slices);

/* Makes sure that the next call over n elements has its buffers, before other memory is taken. */
heddle_status hd_stage_ready(heddle_device *device, uint64_t n);
/* Frees the buffers that a device keeps for the next call with host arrays. */
void hd_stages_free(heddle_device *device);

#endif
