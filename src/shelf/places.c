/* places.c: the places that the rows of a batch are sorted to, by how many there are for every bin; see sorting.h. */
#include <stdlib.h>

#include "base/alloc.h"
#include "shelf/sorting.h"

#define SLICE_SHARE 8
#define SLICE_MIN 64
#define SLICE_MAX (UINT64_C(1) << 24)
#define SLICE_SORTED                                                                               \
    (UINT64_C(1) << 19) /* enough for the sorting to pay, few enough for the cache */
#define PLACES_A_PART 4 /* of a part that may become too large, at least */
#define BITS_MIN 8
#define BITS_MORE 4
#define COUNT_MIN (UINT64_C(1) << 16) /* rows between two calls of the progress function */
#define COUNT_MAX (UINT64_C(1) << 24)

/* ------------------------------------------------------------------------------------ counting */

uint32_t hd_parts_bits(const hd_shelf_parts *parts)
{
    uint32_t all = 0, bits = HD_SHELF_BITS;
    for (uint32_t i = 0; i < parts->count; i++) all |= parts->at[i].first;
    while (bits > 0 && (all >> (HD_SHELF_BITS - bits) & 1) == 0) bits--;
    return bits;
}

static uint64_t shelf_pairs(const heddle_shelf *shelf)
{
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < shelf->parts.count; i++) pairs += shelf->parts.at[i].count;
    return pairs;
}

/* Enough for the borders that there are, and, where parts may be divided, for those to come. */
static uint32_t choose_bits(const hd_sorting *s)
{
    const heddle_shelf *shelf = s->shelf;
    const uint64_t pairs = s->n + (s->fresh ? 0 : shelf_pairs(shelf));
    uint32_t bits = s->fresh ? 0 : hd_parts_bits(&shelf->parts), more = BITS_MORE;
    if (bits < BITS_MIN) bits = BITS_MIN;
    if (!s->divides) return bits;
    while (more < HD_SHELF_BITS && pairs >> (more - BITS_MORE) > shelf->limit) more++;
    return bits > more ? bits : more;
}

/* Rows that can be sorted with the memory for that. */
static uint64_t choose_slice(const hd_sorting *s)
{
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    uint64_t slice = s->shelf->memory / SLICE_SHARE / (4 * (kw + 4) + vw);
    const uint64_t most =
        s->shelf->device->engine->host_memory && s->place_count <= SLICE_SORTED / 256 ? SLICE_SORTED
                                                                                      : SLICE_MAX;
    if (slice > most) slice = most;
    if (slice < SLICE_MIN) slice = SLICE_MIN;
    return slice < s->n ? slice : s->n;
}

/* Some rows of the batch, in slices that can be sorted if need be. */
static heddle_status count_step(hd_sorting *s, hd_bin_counter *counter, hd_buffer *staged,
                                const char *keys, uint64_t n)
{
    const uint32_t width = hd_shelf_key_width(s->shelf);
    for (uint64_t first = 0; first < n; first += s->slice) {
        const uint64_t length = n - first < s->slice ? n - first : s->slice;
        const void *slice = NULL;
        HD_TRY(hd_sorting_stage(s, keys + first * width, length * width, staged, &slice));
        HD_TRY(hd_bin_counter_add(counter, slice, length));
    }
    return HEDDLE_OK;
}

static heddle_status count_rows(hd_sorting *s, hd_bin_counter *counter, hd_buffer *staged)
{
    const uint32_t width = hd_shelf_key_width(s->shelf);
    const uint64_t fitting = s->shelf->memory / SLICE_SHARE / width;
    const uint64_t step = fitting < COUNT_MIN   ? COUNT_MIN
                          : fitting > COUNT_MAX ? COUNT_MAX
                                                : fitting;
    for (uint64_t first = 0; first < s->n; first += step) {
        const uint64_t length = s->n - first < step ? s->n - first : step;
        HD_TRY(hd_shelf_progress(s->shelf, HEDDLE_SHELF_COUNT, first, s->n));
        HD_TRY(count_step(s, counter, staged, s->keys + first * width, length));
    }
    return hd_shelf_progress(s->shelf, HEDDLE_SHELF_COUNT, s->n, s->n);
}

/* How many rows of the batch every bin has. */
static heddle_status count_bins(hd_sorting *s, uint64_t *counts)
{
    hd_buffer staged = {NULL, NULL, 0};
    hd_bin_counter counter;
    heddle_status status = hd_bin_counter_begin(&counter, s->shelf->device, &s->spread,
                                                s->shelf->options.key_bits, s->slice);
    if (status == HEDDLE_OK) status = count_rows(s, &counter, &staged);
    if (status == HEDDLE_OK) status = hd_bin_counter_read(&counter, counts);
    hd_buffer_free(&staged);
    hd_bin_counter_end(&counter);
    return status;
}

/* -------------------------------------------------------------------------------------- places */

/* One part that holds nothing and is all of the shelf: what a build begins with. */
static const hd_shelf_part nothing = {0, 0, 0, 0, NULL, 0, false};
static const hd_shelf_parts one_empty = {(hd_shelf_part *)(uintptr_t)&nothing, 1, 1};

static const hd_shelf_parts *parts_of(const hd_sorting *s)
{
    return s->fresh ? &one_empty : &s->shelf->parts;
}

/*
 * The places of a part: bins are taken together until they hold a share of what a part may, counting both the
 * rows and the pairs that are there, which are taken to be spread evenly.
 */
static void divide_part(hd_sorting *s, uint32_t part, const uint64_t *counts)
{
    const hd_shelf_parts *parts = parts_of(s);
    const uint32_t shift = HD_SHELF_BITS - s->bits;
    const uint32_t first = parts->at[part].first >> shift,
                   end = hd_shelf_part_end(parts, part) >> shift;
    const double pairs = (double)parts->at[part].count / (double)(end - first);
    const double share = (double)s->shelf->limit / PLACES_A_PART;
    hd_place place = {first << shift, 0, part, 0, 0};
    uint64_t rows = 0;
    for (uint32_t bin = first; bin < end; bin++) rows += counts[bin];
    const bool whole = !s->divides || parts->at[part].count + rows <= s->shelf->limit;
    for (uint32_t bin = first; bin < end; bin++) {
        const uint32_t bins = bin - (place.first >> shift);
        if (!whole && bins != 0 &&
            (double)(place.rows + counts[bin]) + pairs * (bins + 1) > share) {
            place.end = bin << shift;
            s->places[s->place_count++] = place;
            place.first = place.end;
            place.rows = 0;
        }
        place.rows += counts[bin];
    }
    place.end = end << shift;
    s->places[s->place_count++] = place;
}

static heddle_status choose_places(hd_sorting *s, const uint64_t *counts)
{
    uint64_t at = 0;
    s->places = (hd_place *)hd_allocate((UINT64_C(1) << s->bits) * sizeof *s->places);
    if (s->places == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a batch");
    for (uint32_t part = 0; part < parts_of(s)->count; part++) divide_part(s, part, counts);
    for (uint32_t i = 0; i < s->place_count; i++) {
        s->places[i].at = at;
        at += s->places[i].rows;
    }
    return HEDDLE_OK;
}

/* ----------------------------------------------------------------------------------------- all */

/* One place for all rows: there is nothing to sort. */
bool hd_places_are_one(const hd_sorting *s)
{
    const hd_shelf_parts *parts = parts_of(s);
    if (s->n == 0) return true;
    return parts->count == 1 && (!s->divides || s->n + parts->at[0].count <= s->shelf->limit);
}

heddle_status hd_places_take_one(hd_sorting *s)
{
    const hd_shelf_parts *parts = parts_of(s);
    s->direct = true;
    s->bits = hd_parts_bits(parts);
    s->places = (hd_place *)hd_allocate_zeroed(parts->count, sizeof *s->places);
    if (s->places == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a batch");
    for (uint32_t i = 0; i < parts->count; i++) {
        const hd_place place = {parts->at[i].first, hd_shelf_part_end(parts, i), i,
                                i == 0 ? 0 : s->n, i == 0 ? s->n : 0};
        s->places[i] = place;
    }
    s->place_count = parts->count;
    return HEDDLE_OK;
}

heddle_status hd_places_choose(hd_sorting *s)
{
    const hd_place all = {0, HD_SHELF_BINS, 0, 0, 0};
    uint64_t *counts HD_FREED = NULL;
    s->bits = choose_bits(s);
    s->slice = choose_slice(s);
    HD_TRY(hd_sorting_spread(s, &all, 1, s->bits));
    counts = (uint64_t *)hd_allocate_zeroed(hd_spread_bins(&s->spread), sizeof *counts);
    if (counts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a batch");
    HD_TRY(count_bins(s, counts));
    HD_TRY(choose_places(s, counts));
    s->slice = choose_slice(s); /* fewer rows where the places are many */
    return hd_sorting_spread(s, s->places, s->place_count, s->bits);
}
