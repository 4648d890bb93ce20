/* sorting.c: see sorting.h. A batch sorted slice by slice into the rows of every place. */
#include "shelf/sorting.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/team.h"
#include "engine/blocks.h"
#include "host/seed.h"

#define SPILL_SHARE 4 /* a batch stays in memory while it takes no more than this share of it */

heddle_status hd_sorting_route(hd_sorting *s, uint32_t value_bits, bool numbers, uint64_t slice,
                               hd_router *router)
{
    const hd_rows rows = {s->shelf->options.key_bits, value_bits, slice, numbers, false, false};
    return hd_router_begin(router, s->shelf->device, &s->spread, &rows);
}

heddle_status hd_sorting_stage(hd_sorting *s, const void *array, uint64_t bytes, hd_buffer *buffer,
                               const void **staged)
{
    heddle_device *device = s->shelf->device;
    *staged = array;
    if (array == NULL || device->engine->host_memory) return HEDDLE_OK;
    HD_TRY(hd_buffer_room(buffer, device, bytes));
    *staged = buffer->memory;
    return hd_conveyor_copy(&s->conveyor, buffer->memory, array, bytes, true);
}

heddle_status hd_sorting_fetch(hd_sorting *s, void *to, const void *from, uint64_t bytes)
{
    heddle_device *device = s->shelf->device;
    if (device->engine->host_memory) return device->engine->copy(device, to, from, bytes, NULL);
    return hd_conveyor_copy(&s->conveyor, to, from, bytes, false);
}

heddle_status hd_sorting_spread(hd_sorting *s, const hd_place *places, uint32_t count,
                                uint32_t bits)
{
    const uint32_t shift = HD_SHELF_BITS - bits;
    hd_spread_free(&s->spread);
    s->spread.bits = bits;
    s->spread.members = s->spread.run_count = count;
    s->spread.runs = (hd_bin_run *)hd_allocate(count * sizeof *s->spread.runs);
    if (s->spread.runs == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a batch");
    for (uint32_t i = 0; i < count; i++) {
        s->spread.runs[i].first = places[i].first >> shift;
        s->spread.runs[i].end = places[i].end >> shift;
        s->spread.runs[i].owner = i;
    }
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------- sorting */

/* Sorts slice after slice; what a slice needs on its way, and what has become of it. */
typedef struct sorter {
    hd_sorting *sorting;
    hd_router router;
    hd_buffer staged;
    char *host;   /* room for keys, rows and values of a slice */
    uint64_t *at; /* of every place: where the rows that it has end */
    /* the sorted slice, in host memory */
    const char *keys, *values; /* values NULL: none */
    const uint32_t *rows;
} sorter;

/* Brings what the device has sorted to the host, if it is not there. */
static heddle_status fetch_slice(sorter *t, uint64_t n)
{
    hd_sorting *s = t->sorting;
    const uint32_t width = hd_shelf_key_width(s->shelf);
    t->keys = (const char *)t->router.keys.memory;
    t->rows = (const uint32_t *)t->router.values.memory;
    if (s->shelf->device->engine->host_memory) return HEDDLE_OK;
    HD_TRY(hd_sorting_fetch(s, t->host, t->keys, n * width));
    HD_TRY(hd_sorting_fetch(s, t->host + s->slice * width, t->rows, n * sizeof *t->rows));
    t->keys = t->host;
    t->rows = (const uint32_t *)(t->host + s->slice * width);
    return HEDDLE_OK;
}

/* The values that belong to the sorted rows; `from` are those of the slice as it came. */
static void gather_values(sorter *t, const char *from, uint64_t n)
{
    const uint32_t kw = hd_shelf_key_width(t->sorting->shelf);
    const uint32_t vw = hd_shelf_value_width(t->sorting->shelf);
    const uint32_t *rows = t->rows;
    char *to = t->host + (t->sorting->slice * (kw + sizeof *rows) + 7) / 8 * 8;
    const int threads = n > 1 << 16 ? hd_team(t->sorting->shelf->threads) : 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (uint64_t i = 0; i < n; i++)
        if (vw == 4) ((uint32_t *)to)[i] = ((const uint32_t *)from)[rows[i]];
        else ((uint64_t *)to)[i] = ((const uint64_t *)from)[rows[i]];
    t->values = to;
}

/* Appends the slice's run of a place, `count` rows that begin with `from`, to the rows of the place. */
static heddle_status append_run(sorter *t, uint32_t place, uint64_t from, uint64_t count)
{
    hd_sorting *s = t->sorting;
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    const uint64_t at = t->at[place];
    t->at[place] += count;
    HD_TRY(hd_spill_write(&s->sorted_keys, at * kw, t->keys + from * kw, count * kw));
    HD_TRY(hd_spill_write(&s->rows, at * sizeof *t->rows, t->rows + from, count * sizeof *t->rows));
    if (t->values == NULL) return HEDDLE_OK;
    return hd_spill_write(&s->sorted_values, at * vw, t->values + from * vw, count * vw);
}

static heddle_status append_slice(sorter *t)
{
    uint64_t from = 0;
    for (uint32_t i = 0; i < t->sorting->place_count; i++) {
        const uint64_t count = t->router.send[i];
        if (count != 0) HD_TRY(append_run(t, i, from, count));
        from += count;
    }
    return HEDDLE_OK;
}

static heddle_status sort_slice(sorter *t, uint64_t number)
{
    hd_sorting *s = t->sorting;
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    const uint64_t first = number * s->slice, left = s->n - first;
    const uint64_t n = left < s->slice ? left : s->slice;
    uint32_t *runs = hd_sorting_lengths(s, number);
    const void *staged = NULL;
    HD_TRY(hd_sorting_stage(s, s->keys + first * kw, n * kw, &t->staged, &staged));
    HD_TRY(hd_router_slice(&t->router, staged, NULL, n));
    HD_TRY(fetch_slice(t, n));
    if (s->values != NULL) gather_values(t, s->values + first * vw, n);
    for (uint32_t i = 0; i < s->place_count; i++) runs[i] = (uint32_t)t->router.send[i];
    return append_slice(t);
}

static heddle_status sort_slices(sorter *t)
{
    hd_sorting *s = t->sorting;
    HD_TRY(hd_sorting_route(s, 32, true, s->slice, &t->router));
    for (uint32_t i = 0; i < s->place_count; i++) t->at[i] = s->places[i].at;
    for (uint64_t i = 0; i < s->slices; i++) {
        HD_TRY(hd_shelf_progress(s->shelf, HEDDLE_SHELF_SORT, i * s->slice, s->n));
        HD_TRY(sort_slice(t, i));
    }
    hd_spill_done(&s->runs, 0, s->runs.bytes);
    return hd_shelf_progress(s->shelf, HEDDLE_SHELF_SORT, s->n, s->n);
}

/* The arrays for the sorted rows. */
static heddle_status make_arrays(hd_sorting *s, uint32_t answer_bytes)
{
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    const uint32_t row = kw + 4 + (s->values != NULL ? vw : 0);
    s->in_files = s->n > s->shelf->memory / SPILL_SHARE / (row + answer_bytes);
    s->slices = (s->n + s->slice - 1) / s->slice;
    HD_TRY(hd_spill_make(s->shelf, s->n * kw, s->in_files, &s->sorted_keys));
    HD_TRY(hd_spill_make(s->shelf, s->n * 4, s->in_files, &s->rows));
    if (s->values != NULL)
        HD_TRY(hd_spill_make(s->shelf, s->n * vw, s->in_files, &s->sorted_values));
    return hd_spill_make(s->shelf, s->slices * s->place_count * sizeof(uint32_t), s->in_files,
                         &s->runs);
}

static heddle_status sort_rows(hd_sorting *s, uint32_t answer_bytes)
{
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    char *host HD_FREED = (char *)hd_allocate(s->slice * (kw + 4 + vw) + 8);
    uint64_t *at HD_FREED = (uint64_t *)hd_allocate(s->place_count * sizeof *at);
    sorter t;
    heddle_status status;
    if (host == NULL || at == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to sort a batch");
    HD_TRY(make_arrays(s, answer_bytes));
    memset(&t, 0, sizeof t);
    t.sorting = s;
    t.host = host;
    t.at = at;
    status = sort_slices(&t);
    hd_router_end(&t.router);
    hd_buffer_free(&t.staged);
    return status;
}

/* ----------------------------------------------------------------------------------------- all */

void hd_sorting_begin(hd_sorting *s, heddle_shelf *shelf, const void *keys, const void *values,
                      uint64_t n)
{
    memset(s, 0, sizeof *s);
    s->shelf = shelf;
    s->keys = (const char *)keys;
    s->values = (const char *)values;
    s->n = n;
    s->sorted_keys.file = s->sorted_values.file = s->rows.file = s->runs.file = -1;
    hd_conveyor_init(&s->conveyor, shelf->device, 1);
    hd_mix_init(&s->spread.mix, shelf->seed);
}

static heddle_status choose_and_sort(hd_sorting *s, uint32_t answer_bytes)
{
    HD_TRY(hd_places_choose(s));
    return sort_rows(s, answer_bytes);
}

heddle_status hd_sorting_run(hd_sorting *s, uint32_t answer_bytes)
{
    heddle_status status;
    if (hd_places_are_one(s)) return hd_places_take_one(s);
    status = choose_and_sort(s, answer_bytes);
    (void)hd_blocks_drop(s->shelf->device); /* the memory is the tables' from here on */
    return status;
}

void hd_sorting_end(hd_sorting *s)
{
    hd_spill_free(&s->sorted_keys);
    hd_spill_free(&s->sorted_values);
    hd_spill_free(&s->rows);
    hd_spread_free(&s->spread);
    hd_spill_free(&s->runs);
    hd_conveyor_free(&s->conveyor);
    free(s->places);
    s->places = NULL;
}

const void *hd_sorting_keys(const hd_sorting *s, uint64_t at)
{
    const char *keys = s->direct ? s->keys : s->sorted_keys.memory;
    return keys != NULL ? keys + at * hd_shelf_key_width(s->shelf) : NULL;
}

const void *hd_sorting_values(const hd_sorting *s, uint64_t at)
{
    const char *values = s->direct ? s->values : s->sorted_values.memory;
    return values != NULL ? values + at * hd_shelf_value_width(s->shelf) : NULL;
}

void hd_sorting_read_ahead(const hd_sorting *s, uint32_t place)
{
    const uint32_t part = s->places[place].part;
    if (s->fresh) return;
    for (uint32_t i = place + 1; i < s->place_count; i++)
        if (s->places[i].part != part && s->places[i].rows != 0) {
            hd_part_read_ahead(s->shelf, &s->shelf->parts.at[s->places[i].part]);
            return;
        }
}

void hd_sorting_done(const hd_sorting *s, uint64_t at, uint64_t rows)
{
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    if (s->direct) return;
    hd_spill_done(&s->sorted_keys, at * kw, rows * kw);
    hd_spill_done(&s->sorted_values, at * vw, rows * vw);
}
