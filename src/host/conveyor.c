/* conveyor.c: see conveyor.h. */
#include "host/conveyor.h"

#include "base/error.h"
#include "base/team.h"

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

static heddle_status make(hd_conveyor *c)
{
    const hd_engine *engine = c->device->engine;
    for (int i = 0; i < 2; i++) {
        if (c->pinned[i] == NULL) HD_TRY(engine->allocate_pinned(c->device, PIECE, &c->pinned[i]));
        if (c->moved[i] == NULL) HD_TRY(engine->event_create(c->device, &c->moved[i]));
    }
    return HEDDLE_OK;
}

/* Whether there is all it takes. */
static bool is_ready(hd_conveyor *c)
{
    if (make(c) == HEDDLE_OK) return true;
    hd_conveyor_free(c);
    return false;
}

static void copy_piece(const hd_conveyor *c, char *to, const char *from, uint64_t bytes)
{
    const uint64_t stretches = (bytes + STRETCH - 1) / STRETCH;
    const int threads = hd_team(c->threads);
#pragma omp parallel for num_threads(threads) schedule(static)
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
    for (uint64_t at = 0, i = 0; at < bytes; at += PIECE, i++) {
        const uint64_t length = piece_at(bytes, at);
        if (i >= 2) HD_TRY(engine->event_wait(c->device, c->moved[i % 2]));
        copy_piece(c, (char *)c->pinned[i % 2], from + at, length);
        HD_TRY(engine->copy(c->device, to + at, c->pinned[i % 2], length, NULL));
        HD_TRY(engine->event_record(c->device, c->moved[i % 2], NULL));
    }
    return HEDDLE_OK;
}

static heddle_status copy_out(hd_conveyor *c, char *to, const char *from, uint64_t bytes)
{
    const hd_engine *engine = c->device->engine;
    const uint64_t pieces = (bytes + PIECE - 1) / PIECE;
    for (uint64_t i = 0; i <= pieces; i++) {
        if (i < pieces) {
            HD_TRY(engine->copy(c->device, c->pinned[i % 2], from + i * PIECE,
                                piece_at(bytes, i * PIECE), NULL));
            HD_TRY(engine->event_record(c->device, c->moved[i % 2], NULL));
        }
        if (i == 0) continue;
        HD_TRY(engine->event_wait(c->device, c->moved[(i - 1) % 2]));
        copy_piece(c, to + (i - 1) * PIECE, (const char *)c->pinned[(i - 1) % 2],
                   piece_at(bytes, (i - 1) * PIECE));
    }
    return HEDDLE_OK;
}

heddle_status hd_conveyor_copy(hd_conveyor *c, void *to, const void *from, uint64_t bytes, bool in)
{
    const hd_engine *engine = c->device->engine;
    heddle_status status;
    if (bytes < HD_CONVEYOR_LEAST || !is_ready(c))
        status = engine->copy(c->device, to, from, bytes, NULL);
    else if (in) status = copy_in(c, (char *)to, (const char *)from, bytes);
    else status = copy_out(c, (char *)to, (const char *)from, bytes);
    /* Also after a failure: what is under way uses this memory. */
    const heddle_status waited = engine->synchronize(c->device, NULL);
    HD_TRY(status);
    return waited;
}
