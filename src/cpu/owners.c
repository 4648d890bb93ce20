/*
 * owners.c: rows to the members that own their keys and answers back (engine/owners.h) on the CPU, for keys of
 * one width. Built once for each by a generated stub that defines HD_KEY_BITS and HD_SYMBOL. Exports HD_SYMBOL
 * alone.
 *
 * A tile is worked through by one thread, row by row, with the next place of every owner at hand: the rank of a
 * row is how many came before it.
 */
#include "engine/owners.h"

#include <string.h>

#include "base/hash.h"
#include "cpu/engine_cpu.h"

#define TILE (UINT64_C(1) << 12)
/* Keys that are mixed at once, by vectors where the machine has them. */
#define BLOCK 64

static uint64_t tiles_of(uint64_t n) { return (n + TILE - 1) / TILE; }

/* places[owner * tiles + tile]. */
static uint64_t work(heddle_device *device, uint32_t members, uint64_t n)
{
    (void)device;
    return members * tiles_of(n) * sizeof(uint32_t);
}

/* What a thread has at hand. */
typedef struct desk {
    const hd_owners *batch;
    uint64_t tiles;
    uint32_t *places;
    uint32_t next[HD_OWNERS_MAX]; /* the place of the owner's next row; in `plan` its rows so far */
    uint16_t owners[BLOCK];
} desk;

static void desk_lay(desk *d, const hd_owners *batch)
{
    d->batch = batch;
    d->tiles = tiles_of(batch->n);
    d->places = (uint32_t *)batch->work;
}

static void tile_begin(desk *d, uint64_t tile)
{
    for (uint32_t i = 0; i < d->batch->members; i++) d->next[i] = d->places[i * d->tiles + tile];
}

static inline uint64_t tile_end(const desk *d, uint64_t tile)
{
    return d->batch->n - tile * TILE < TILE ? d->batch->n : (tile + 1) * TILE;
}

static inline uint32_t block_length(uint64_t first, uint64_t end)
{
    return end - first < BLOCK ? (uint32_t)(end - first) : BLOCK;
}

/* Who owns the rows from `first` on. */
static inline void block_aim(desk *d, uint64_t first, uint32_t count)
{
    const hd_key *keys = (const hd_key *)d->batch->keys + first;
    const uint16_t *owners = d->batch->owners;
    const hd_mix mix = d->batch->mix;
    const uint32_t shift = HD_KEY_BITS - d->batch->bits;
    uint32_t bins[BLOCK];
    for (uint32_t i = 0; i < count; i++) bins[i] = (uint32_t)(mix_key(&mix, keys[i]) >> shift);
    for (uint32_t i = 0; i < count; i++) d->owners[i] = owners[bins[i]];
}

/* ---------------------------------------------------------------------------------------- plan */

static void count_tile(desk *d, uint64_t tile)
{
    const uint64_t end = tile_end(d, tile);
    memset(d->next, 0, d->batch->members * sizeof *d->next);
    for (uint64_t i = tile * TILE; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_aim(d, i, count);
        for (uint32_t j = 0; j < count; j++) d->next[d->owners[j]]++;
    }
    for (uint32_t i = 0; i < d->batch->members; i++) d->places[i * d->tiles + tile] = d->next[i];
}

/* Counts become places: one behind the other, owner by owner. */
static void add_up(const hd_owners *batch)
{
    const uint64_t tiles = tiles_of(batch->n);
    uint32_t *places = (uint32_t *)batch->work;
    uint64_t at = 0;
    for (uint32_t i = 0; i < batch->members; i++) {
        batch->starts[i] = at;
        for (uint64_t tile = 0; tile < tiles; tile++) {
            const uint32_t rows = places[i * tiles + tile];
            places[i * tiles + tile] = (uint32_t)at;
            at += rows;
        }
    }
    batch->starts[batch->members] = at;
}

static heddle_status plan(heddle_device *device, const hd_owners *batch, void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, batch->n))
    {
        desk d;
        desk_lay(&d, batch);
#pragma omp for schedule(static)
        for (uint64_t tile = 0; tile < d.tiles; tile++) count_tile(&d, tile);
    }
    add_up(batch);
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------------- send */

/* `width` is a constant: a copy of a value is then one move. */
HD_FN void send_block(desk *d, const hd_owners_sent *sent, uint64_t first, uint32_t count,
                      uint32_t width)
{
    const hd_key *keys = (const hd_key *)d->batch->keys + first;
    const char *values = (const char *)sent->values + first * width;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t to = d->next[d->owners[i]]++;
        ((hd_key *)sent->keys)[to] = keys[i];
        if (width != 0) memcpy((char *)sent->values_out + to * width, values + i * width, width);
    }
}

static void send_tile(desk *d, const hd_owners_sent *sent, uint64_t tile)
{
    const uint64_t end = tile_end(d, tile);
    tile_begin(d, tile);
    for (uint64_t i = tile * TILE; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_aim(d, i, count);
        if (sent->values == NULL) send_block(d, sent, i, count, 0);
        else if (sent->width == 4) send_block(d, sent, i, count, 4);
        else send_block(d, sent, i, count, 8);
    }
}

static heddle_status send(heddle_device *device, const hd_owners *batch, const hd_owners_sent *sent,
                          void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, batch->n))
    {
        desk d;
        desk_lay(&d, batch);
#pragma omp for schedule(static)
        for (uint64_t tile = 0; tile < d.tiles; tile++) send_tile(&d, sent, tile);
    }
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- fetch */

/* What is known of all rows of a call; constants, as `width` above. */
typedef struct wishes {
    uint32_t width; /* 0: no values are wanted */
    bool asks;      /* whether a row was found makes a difference */
    bool tells;     /* and is told */
} wishes;

HD_FN void fetch_block(desk *d, const hd_owners_answers *a, uint64_t first, uint32_t count,
                       wishes wish)
{
    char *out = (char *)a->values_out;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t from = d->next[d->owners[i]]++, row = first + i;
        const uint8_t found = wish.asks ? a->found[from] : 1;
        if (wish.tells) a->found_out[row] = found;
        if (wish.width != 0 && found != 0)
            memcpy(out + row * wish.width, (const char *)a->values + from * wish.width, wish.width);
    }
}

HD_FN void fetch_width(desk *d, const hd_owners_answers *a, uint64_t first, uint32_t count,
                       uint32_t width)
{
    const bool asks = a->found != NULL, tells = a->found_out != NULL;
    if (asks && tells) fetch_block(d, a, first, count, (wishes){width, true, true});
    else if (asks) fetch_block(d, a, first, count, (wishes){width, true, false});
    else if (tells) fetch_block(d, a, first, count, (wishes){width, false, true});
    else fetch_block(d, a, first, count, (wishes){width, false, false});
}

static void fetch_tile(desk *d, const hd_owners_answers *a, uint64_t tile)
{
    const uint64_t end = tile_end(d, tile);
    tile_begin(d, tile);
    for (uint64_t i = tile * TILE; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_aim(d, i, count);
        if (a->values_out == NULL) fetch_width(d, a, i, count, 0);
        else if (a->width == 4) fetch_width(d, a, i, count, 4);
        else fetch_width(d, a, i, count, 8);
    }
}

static heddle_status fetch(heddle_device *device, const hd_owners *batch,
                           const hd_owners_answers *answers, void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, batch->n))
    {
        desk d;
        desk_lay(&d, batch);
#pragma omp for schedule(static)
        for (uint64_t tile = 0; tile < d.tiles; tile++) fetch_tile(&d, answers, tile);
    }
    return HEDDLE_OK;
}

const hd_owners_ops HD_SYMBOL = {work, plan, send, fetch};
