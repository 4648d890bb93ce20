/*
 * owners.c: rows to the members that own their keys and answers back (engine/owners.h) on the CPU, for keys of
 * one width. Built once for each by a generated stub that defines HD_KEY_BITS and HD_SYMBOL. Exports HD_SYMBOL
 * alone. What is done with a tile of rows is compiled apart, for every vector tile (owner_steps.c); where few members
 * own the rows, by packed vectors (owner_few.inl).
 */
#include "engine/owners.h"

#include "cpu/device/engine.h"
#include "cpu/route/owner_steps.h"
#include "engine/registry.h"

#define KEY_BYTES (HD_KEY_BITS / 8)

/* What was compiled for the device's tile. */
static const hd_owner_steps *steps_of(const heddle_device *device)
{
    return HD_COMPILED_FOR(hd_owner_steps, HD_KEY_BITS, 0, ((const hd_device_cpu *)device)->tile);
}

static uint64_t tiles_of(uint64_t n) { return (n + HD_OWNER_TILE - 1) / HD_OWNER_TILE; }

static uint64_t places_bytes(uint32_t members, uint64_t n)
{
    return members * tiles_of(n) * sizeof(uint32_t);
}

/* Places, and of few members a bit for every row and member. */
static uint64_t work(heddle_device *device, uint32_t members, uint64_t n)
{
    const uint64_t vectors = tiles_of(n) * (HD_OWNER_TILE * HD_KEY_BITS / 512);
    (void)device;
    return places_bytes(members, n) +
           (members <= HD_OWNER_FEW ? vectors * members * sizeof(uint16_t) : 0);
}

/* Where the bins of every member begin, if they lie one behind the other. */
static void find_limits(hd_owner_scratch *d, uint32_t bins)
{
    const uint32_t members = d->batch->members;
    uint32_t seen = 0; /* members whose limit is known */
    d->in_order = members <= HD_OWNER_FEW && d->batch->bits <= HD_OWNER_BITS_FEW;
    for (uint32_t i = 0; i < bins && d->in_order; i++) {
        d->in_order = i == 0 || d->owners[i - 1] <= d->owners[i];
        while (d->in_order && seen <= d->owners[i]) d->limits[seen++] = i;
    }
    while (d->in_order && seen < members) d->limits[seen++] = bins;
}

static void scratch_lay(hd_owner_scratch *d, const hd_owners *batch)
{
    const uint32_t bins = UINT32_C(1) << batch->bits;
    d->batch = batch;
    d->tiles = tiles_of(batch->n);
    d->places = (uint32_t *)batch->work;
    d->rows = (uint16_t *)((char *)batch->work + places_bytes(batch->members, batch->n));
    for (uint32_t i = 0; i < bins && batch->bits <= HD_OWNER_BITS_FEW; i++)
        d->owners[i] = batch->owners[i];
    find_limits(d, bins);
}

/* ---------------------------------------------------------------------------------------- plan */

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
    const hd_owner_steps *steps = steps_of(device);
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        hd_owner_scratch d;
        scratch_lay(&d, batch);
#pragma omp for schedule(static)
        for (uint64_t tile = 0; tile < d.tiles; tile++) steps->count(&d, tile);
    }
    add_up(batch);
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------------- send */

/*
 * Element `place` of the array for all members, or of the member's own, which begins with its first row; NULL where
 * there is neither.
 */
static char *place_in(const hd_owner_scratch *d, void *all, void *const *own, uint32_t member,
                      uint64_t place, uint32_t width)
{
    if (own != NULL) return (char *)own[member] + (place - d->batch->starts[member]) * width;
    return all != NULL ? (char *)all + place * width : NULL;
}

static void aim_at(hd_owner_scratch *d, const hd_owners_sent *sent, uint64_t tile)
{
    for (uint32_t i = 0; i < d->batch->members; i++) {
        const uint64_t place = d->places[i * d->tiles + tile];
        d->keys[i] = place_in(d, sent->keys, sent->keys_to, i, place, KEY_BYTES);
        if (sent->values != NULL)
            d->values[i] = place_in(d, sent->values_out, sent->values_to, i, place, sent->width);
    }
}

static heddle_status send(heddle_device *device, const hd_owners *batch, const hd_owners_sent *sent,
                          void *stream)
{
    const hd_owner_steps *steps = steps_of(device);
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        hd_owner_scratch d;
        scratch_lay(&d, batch);
#pragma omp for schedule(static)
        for (uint64_t tile = 0; tile < d.tiles; tile++) {
            aim_at(&d, sent, tile);
            steps->send(&d, sent, tile);
        }
    }
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- fetch */

static void look_at(hd_owner_scratch *d, const hd_owners_answers *answers, uint64_t tile)
{
    for (uint32_t i = 0; i < d->batch->members; i++) {
        const uint64_t place = d->places[i * d->tiles + tile];
        d->found[i] = (const uint8_t *)place_in(d, (void *)(uintptr_t)answers->found,
                                                answers->found_of, i, place, 1);
        d->values[i] = place_in(d, (void *)(uintptr_t)answers->values, answers->values_of, i, place,
                                answers->width);
    }
}

static heddle_status fetch(heddle_device *device, const hd_owners *batch,
                           const hd_owners_answers *answers, void *stream)
{
    const hd_owner_steps *steps = steps_of(device);
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        hd_owner_scratch d;
        scratch_lay(&d, batch);
#pragma omp for schedule(static)
        for (uint64_t tile = 0; tile < d.tiles; tile++) {
            look_at(&d, answers, tile);
            steps->fetch(&d, answers, tile);
        }
    }
    return HEDDLE_OK;
}

const hd_owners_ops HD_SYMBOL = {work, plan, send, fetch};
