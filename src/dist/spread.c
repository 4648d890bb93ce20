/*
 * spread.c: see spread.h.
 *
 * Even loads. A bin with many rows of one key cannot be cut. So bins with more than a 32nd of a member's
 * fair share are given away first, the largest first, each to the member that has least. The others are
 * cut into ranges that fill all members up to the same level, as water would; what is left unlike is half
 * of such a bin on either side of a range, a few hundredths. A member that has more than the level from
 * one heavy bin alone gets nothing else.
 */
#include "dist/spread.h"

#include <stdlib.h>
#include <string.h>

#include "api/geometry.h"
#include "engine/error.h"

#define BIN_BITS 8
#define BINS_A_MEMBER 64 /* at least, up to HD_BIN_BITS_MAX */
#define HEAVY_SHARE 32
/* Counted for every bin besides its rows, and a share of their mean: a batch, a small one above all, says
   little of the rows that come later. */
#define ROWS_TO_COME 4
#define SHARE_TO_COME 256
#define NO_OWNER UINT32_MAX

/* Fills in the runs from the owners. */
static void find_runs(hd_spread *spread)
{
    const uint32_t bins = hd_spread_bins(spread);
    spread->run_count = 0;
    for (uint32_t member = 0; member < spread->members; member++)
        for (uint32_t bin = 0; bin < bins; bin++) {
            hd_bin_run *last = &spread->runs[spread->run_count - (spread->run_count != 0)];
            if (spread->owners[bin] != member && spread->owners[bin] != HD_OWNER_ALL) continue;
            if (spread->run_count != 0 && last->owner == member && last->end == bin) {
                last->end++;
            } else {
                const hd_bin_run run = {bin, bin + 1, member};
                spread->runs[spread->run_count++] = run;
            }
        }
}

/* With room for so many runs. */
static heddle_status allocate(hd_spread *spread, size_t runs)
{
    const size_t bins = hd_spread_bins(spread);
    spread->owners = hd_fault_due() ? NULL : (uint32_t *)malloc(bins * sizeof *spread->owners);
    spread->runs = hd_fault_due() ? NULL : (hd_bin_run *)malloc(runs * sizeof *spread->runs);
    if (spread->owners != NULL && spread->runs != NULL) return HEDDLE_OK;
    hd_spread_free(spread);
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the bins of a table");
}

heddle_status hd_spread_init(hd_spread *spread, uint32_t members, uint64_t seed)
{
    memset(spread, 0, sizeof *spread);
    spread->members = members;
    spread->bits = BIN_BITS;
    while (spread->bits < HD_BIN_BITS_MAX && hd_spread_bins(spread) < members * BINS_A_MEMBER)
        spread->bits++;
    hd_mix_init(&spread->mix, seed);
    const heddle_status status = allocate(spread, hd_spread_bins(spread));
    if (status != HEDDLE_OK) return status;
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++)
        spread->owners[bin] = (uint32_t)((uint64_t)bin * members >> spread->bits);
    find_runs(spread);
    return HEDDLE_OK;
}

void hd_spread_free(hd_spread *spread)
{
    free(spread->owners);
    free(spread->runs);
    spread->owners = NULL;
    spread->runs = NULL;
}

uint64_t hd_spread_load(const hd_spread *spread, const uint64_t *counts, uint32_t member)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < spread->run_count; i++)
        if (spread->runs[i].owner == member)
            for (uint32_t bin = spread->runs[i].first; bin < spread->runs[i].end; bin++)
                rows += counts[bin];
    return rows;
}

/* ------------------------------------------------------------------------------------ balanced */

static uint32_t least_loaded(const uint64_t *loads, uint32_t members)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < members; i++)
        if (loads[i] < loads[least]) least = i;
    return least;
}

/* Gives the heavy bins away, the largest first; returns how many rows the others have. */
static uint64_t place_heavy(hd_spread *spread, const uint64_t *counts, uint64_t heavy,
                            uint64_t *loads)
{
    const uint32_t bins = hd_spread_bins(spread);
    uint64_t light = 0;
    for (uint32_t bin = 0; bin < bins; bin++) {
        spread->owners[bin] = NO_OWNER;
        if (counts[bin] <= heavy) light += counts[bin];
    }
    for (;;) {
        uint32_t largest = NO_OWNER;
        for (uint32_t bin = 0; bin < bins; bin++)
            if (counts[bin] > heavy && spread->owners[bin] == NO_OWNER &&
                (largest == NO_OWNER || counts[bin] > counts[largest]))
                largest = bin;
        if (largest == NO_OWNER) return light;
        spread->owners[largest] = least_loaded(loads, spread->members);
        loads[spread->owners[largest]] += counts[largest];
    }
}

/* The level to which `light` rows fill the members, those above it left as they are. */
static double water_level(const uint64_t *loads, uint32_t members, uint64_t light)
{
    double low = 0, high = (double)light;
    for (uint32_t i = 0; i < members; i++) high += (double)loads[i];
    for (int step = 0; step < 64; step++) {
        const double level = (low + high) / 2;
        double room = 0;
        for (uint32_t i = 0; i < members; i++)
            if ((double)loads[i] < level) room += level - (double)loads[i];
        if (room < (double)light) low = level;
        else high = level;
    }
    return high;
}

/* The next member from `member` on that is below the level; NO_OWNER: none. */
static uint32_t next_below(const uint64_t *loads, uint32_t members, uint32_t member, double level)
{
    while (member < members && (double)loads[member] >= level) member++;
    return member < members ? member : NO_OWNER;
}

/* Cuts the bins without owner into ranges, one for every member below the level, that fill it up. */
static void place_light(hd_spread *spread, const uint64_t *counts, const uint64_t *loads,
                        double level)
{
    uint32_t member = next_below(loads, spread->members, 0, level);
    double at = 0, end; /* of the member's rows, counted over the light bins */
    if (member == NO_OWNER) member = least_loaded(loads, spread->members);
    end = level - (double)loads[member];
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++) {
        if (spread->owners[bin] != NO_OWNER) continue;
        while (at + (double)counts[bin] / 2 > end) {
            const uint32_t next = next_below(loads, spread->members, member + 1, level);
            if (next == NO_OWNER) break;
            member = next;
            end += level - (double)loads[member];
        }
        spread->owners[bin] = member;
        at += (double)counts[bin];
    }
}

static void balance(hd_spread *spread, const uint64_t *weights, uint64_t *loads)
{
    const uint32_t bins = hd_spread_bins(spread);
    uint64_t sum = 0, heavy, light;
    for (uint32_t bin = 0; bin < bins; bin++) sum += weights[bin];
    heavy = sum / spread->members / HEAVY_SHARE;
    if (heavy < sum / bins * 2) heavy = sum / bins * 2;
    light = place_heavy(spread, weights, heavy, loads);
    place_light(spread, weights, loads, water_level(loads, spread->members, light));
    find_runs(spread);
}

heddle_status hd_spread_balanced(const hd_spread *like, const uint64_t *counts,
                                 const uint64_t *loads, bool grows, hd_spread *spread)
{
    const uint32_t bins = hd_spread_bins(like);
    uint64_t rows = 0, *weights;
    heddle_status status;
    *spread = *like;
    status = allocate(spread, bins);
    if (status != HEDDLE_OK) return status;
    weights = hd_fault_due() ? NULL : (uint64_t *)calloc(bins + like->members, sizeof *weights);
    if (weights == NULL) {
        hd_spread_free(spread);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the loads of a group");
    }
    for (uint32_t i = 0; loads != NULL && i < like->members; i++) weights[bins + i] = loads[i];
    for (uint32_t bin = 0; bin < bins; bin++) rows += counts[bin];
    for (uint32_t bin = 0; bin < bins; bin++)
        weights[bin] = counts[bin] + (grows ? ROWS_TO_COME + rows / bins / SHARE_TO_COME : 0);
    balance(spread, weights, weights + bins);
    free(weights);
    return HEDDLE_OK;
}

heddle_status hd_spread_changed(const hd_spread *like, const uint32_t *owners, hd_spread *spread)
{
    const uint32_t bins = hd_spread_bins(like);
    size_t runs = bins;
    heddle_status status;
    for (uint32_t bin = 0; bin < bins; bin++)
        if (owners[bin] == HD_OWNER_ALL) runs += like->members;
    *spread = *like;
    status = allocate(spread, runs);
    if (status != HEDDLE_OK) return status;
    for (uint32_t bin = 0; bin < bins; bin++)
        spread->owners[bin] = owners[bin] == HD_OWNER_AS_IS ? like->owners[bin] : owners[bin];
    find_runs(spread);
    return HEDDLE_OK;
}
