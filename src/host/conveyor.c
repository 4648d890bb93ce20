/* conveyor.c: see conveyor.h. */
#include "host/conveyor.h"

#include <omp.h>
#include <string.h>

#define PIECE (UINT64_C(1) << 24)
#define STRETCH (UINT64_C(1) << 18) /* of a piece, that a thread copies at a time */
#define THREADS_MOST 8

void hd_conveyor_init(hd_conveyor *c, heddle_device *device, uint32_t sharers)
{
    memset(c, 0, sizeof *c);
    c->device = device;
    c->threads = omp_get_num_procs() / (int)(sharers != 0 ? sharers : 1);
    if (c->threads > THREADS_MOST) c->threads = THREADS_MOST;
    if (c->threads < 1) c->threads = 1;
}

void hd_conveyor_free(hd_conveyor *c)
{
    for (int i = 0; i < 2; i++) {
        if (c->pinned[i] != NULL) c->device->engine->free_pinned(c->device, c->pinned[i]);
        if (c->moved[i] != NULL) c->device->engine->event_destroy(c->device, c->moved[i]);
        c->pinned[i] = c->moved[i] = NULL;
    }
}

/* Whether there is all it takes. */
static bool make(hd_conveyor *c)
{
    const hd_engine *engine = c->device->engine;
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < 2 && status == HEDDLE_OK; i++) {
        if (c->pinned[i] == NULL) status = engine->allocate_pinned(c->device, PIECE, &c->pinned[i]);
        if (status == HEDDLE_OK && c->moved[i] == NULL)
            status = engine->event_create(c->device, &c->moved[i]);
    }
    if (status != HEDDLE_OK) hd_conveyor_free(c);
    return status == HEDDLE_OK;
}

static void copy_piece(const hd_conveyor *c, char *to, const char *from, uint64_t bytes)
{
    const uint64_t stretches = (bytes + STRETCH - 1) / STRETCH;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (uint64_t i = 0; i < stretches; i++) {
        const uint64_t at = i * STRETCH, left = bytes - at;
        memcpy(to + at, from + at, left < STRETCH ? left : STRETCH);
    }
}

static uint64_t piece_at(uint64_t bytes, uint64_t at)
{
    return bytes - at < PIECE ? bytes - at : PIECE;
}

static heddle_status copy_in(hd_conveyor *c, char *to, const char *from, uint64_t bytes)
{
    const hd_engine *engine = c->device->engine;
    heddle_status status = HEDDLE_OK;
    for (uint64_t at = 0, i = 0; at < bytes && status == HEDDLE_OK; at += PIECE, i++) {
        const uint64_t length = piece_at(bytes, at);
        if (i >= 2) status = engine->event_wait(c->device, c->moved[i % 2]);
        if (status != HEDDLE_OK) break;
        copy_piece(c, (char *)c->pinned[i % 2], from + at, length);
        status = engine->copy(c->device, to + at, c->pinned[i % 2], length, NULL);
        if (status == HEDDLE_OK) status = engine->event_record(c->device, c->moved[i % 2], NULL);
    }
    return status;
}

static heddle_status copy_out(hd_conveyor *c, char *to, const char *from, uint64_t bytes)
{
    const hd_engine *engine = c->device->engine;
    const uint64_t pieces = (bytes + PIECE - 1) / PIECE;
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i <= pieces && status == HEDDLE_OK; i++) {
        if (i < pieces)
            status = engine->copy(c->device, c->pinned[i % 2], from + i * PIECE,
                                  piece_at(bytes, i * PIECE), NULL);
        if (i < pieces && status == HEDDLE_OK)
            status = engine->event_record(c->device, c->moved[i % 2], NULL);
        if (i == 0 || status != HEDDLE_OK) continue;
        status = engine->event_wait(c->device, c->moved[(i - 1) % 2]);
        if (status == HEDDLE_OK)
            copy_piece(c, to + (i - 1) * PIECE, (const char *)c->pinned[(i - 1) % 2],
                       piece_at(bytes, (i - 1) * PIECE));
    }
    return status;
}

heddle_status hd_conveyor_copy(hd_conveyor *c, void *to, const void *from, uint64_t bytes, bool in)
{
    const hd_engine *engine = c->device->engine;
    heddle_status status;
    if (bytes < HD_CONVEYOR_LEAST || !make(c))
        status = engine->copy(c->device, to, from, bytes, NULL);
    else
        status = in ? copy_in(c, (char *)to, (const char *)from, bytes)
                    : copy_out(c, (char *)to, (const char *)from, bytes);
    /* Also after a failure: what is under way uses this memory. */
    const heddle_status waited = engine->synchronize(c->device, NULL);
    return status == HEDDLE_OK ? waited : status;
}
