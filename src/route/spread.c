/*
 * spread.c: see spread.h.
 *
 * Even loads. A bin with many rows of one key cannot be cut. So bins with more than a 32nd of a member's
 * fair share are given away first, the largest first, each to the member that has least. The others are
 * cut into ranges that fill all members up to the same level, as water would; what is left unlike is half
 * of such a bin on either side of a range, a few hundredths. A member that has more than the level from
 * one heavy bin alone gets nothing else.
 */
#include "route/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/seed.h"

#define HEAVY_SHARE 32
/* Counted for every bin besides its rows, and a share of their mean: a batch, a small one above all, says
   little of the rows that come later. */
#define ROWS_TO_COME 4
#define SHARE_TO_COME 256
#define NO_OWNER UINT32_MAX

_Static_assert(HEDDLE_CLUSTER_MEMBERS_MAX *HD_BINS_A_MEMBER <= 1 << HD_BIN_BITS_MAX,
               "a member of the largest cluster has fewer bins");

/* The members that have a bin: [first, end). */
static uint32_t first_member(uint32_t owner) { return owner == HD_OWNER_ALL ? 0 : owner; }

static uint32_t end_member(const hd_spread *spread, uint32_t owner)
{
    return owner == HD_OWNER_ALL ? spread->members : owner + 1;
}

/* Whether a run of a member that has this bin begins with it. */
static bool begins_run(const hd_spread *spread, uint32_t bin, uint32_t member)
{
    const uint32_t before = bin == 0 ? NO_OWNER : spread->owners[bin - 1];
    return before != member && before != HD_OWNER_ALL;
}

/* Where the runs of every member begin; returns how many there are of all. */
static uint64_t count_runs(const hd_spread *spread, uint64_t *next)
{
    uint64_t at = 0;
    memset(next, 0, spread->members * sizeof *next);
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++) {
        const uint32_t owner = spread->owners[bin], end = end_member(spread, owner);
        for (uint32_t m = first_member(owner); m < end; m++) next[m] += begins_run(spread, bin, m);
    }
    for (uint32_t m = 0; m < spread->members; m++) {
        const uint64_t runs = next[m];
        next[m] = at;
        at += runs;
    }
    return at;
}

static void fill_runs(hd_spread *spread, uint64_t *next)
{
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++) {
        const uint32_t owner = spread->owners[bin], end = end_member(spread, owner);
        for (uint32_t m = first_member(owner); m < end; m++) {
            const hd_bin_run run = {bin, bin + 1, m};
            if (begins_run(spread, bin, m)) spread->runs[next[m]++] = run;
            else spread->runs[next[m] - 1].end++;
        }
    }
}

/* Makes the runs of the owners. Frees these, too, where it fails. */
static heddle_status find_runs(hd_spread *spread)
{
    uint64_t *next = (uint64_t *)hd_allocate(spread->members * sizeof *next);
    if (next != NULL) {
        const uint64_t runs = count_runs(spread, next);
        spread->run_count = (uint32_t)runs;
        spread->runs = (hd_bin_run *)hd_allocate(runs * sizeof *spread->runs);
        if (spread->runs != NULL) fill_runs(spread, next);
    }
    free(next);
    if (spread->runs != NULL) return HEDDLE_OK;
    hd_spread_free(spread);
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the bins of a table");
}

/* The owners alone. */
static heddle_status allocate(hd_spread *spread)
{
    const size_t bins = hd_spread_bins(spread);
    spread->runs = NULL;
    spread->owners = (uint32_t *)hd_allocate(bins * sizeof *spread->owners);
    return spread->owners != NULL
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the bins of a table");
}

heddle_status hd_spread_init(hd_spread *spread, uint32_t members, uint64_t seed)
{
    memset(spread, 0, sizeof *spread);
    spread->members = members;
    spread->bits = hd_spread_bits(members);
    hd_mix_init(&spread->mix, seed);
    HD_TRY(allocate(spread));
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++)
        spread->owners[bin] = (uint32_t)((uint64_t)bin * members >> spread->bits);
    return find_runs(spread);
}

void hd_spread_free(hd_spread *spread)
{
    free(spread->owners);
    free(spread->runs);
    spread->owners = NULL;
    spread->runs = NULL;
}

/* The first run of a member, or where it would be: runs are in the order of their owners. */
static uint32_t first_run(const hd_spread *spread, uint32_t member)
{
    uint32_t low = 0, high = spread->run_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (spread->runs[middle].owner < member) low = middle + 1;
        else high = middle;
    }
    return low;
}

uint64_t hd_spread_load(const hd_spread *spread, const uint64_t *counts, uint32_t member)
{
    uint64_t rows = 0;
    for (uint32_t i = first_run(spread, member);
         i < spread->run_count && spread->runs[i].owner == member; i++)
        for (uint32_t bin = spread->runs[i].first; bin < spread->runs[i].end; bin++)
            rows += counts[bin];
    return rows;
}

/* ------------------------------------------------------------------------------------ balanced */

typedef struct heavy_bin {
    uint64_t rows;
    uint32_t bin;
} heavy_bin;

/* What balancing works with. */
typedef struct balancing {
    uint64_t *weights; /* of every bin */
    uint64_t *loads;   /* of every member */
    uint32_t *heap;    /* all members, the one that has least first */
    heavy_bin *heavy;  /* room for all bins */
} balancing;

static void balancing_free(balancing *b)
{
    free(b->weights);
    free(b->heavy);
}

static heddle_status balancing_make(balancing *b, uint32_t bins, uint32_t members)
{
    b->weights = (uint64_t *)hd_allocate_zeroed(bins + 2 * (size_t)members, sizeof *b->weights);
    b->heavy = (heavy_bin *)hd_allocate(bins * sizeof *b->heavy);
    b->loads = b->weights != NULL ? b->weights + bins : NULL;
    b->heap = b->weights != NULL ? (uint32_t *)(b->loads + members) : NULL;
    if (b->weights == NULL || b->heavy == NULL) {
        balancing_free(b);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the loads of a cluster");
    }
    return HEDDLE_OK;
}

static uint32_t least_loaded(const uint64_t *loads, uint32_t members)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < members; i++)
        if (loads[i] < loads[least]) least = i;
    return least;
}

/* Of two members the one that has less; of equal ones the first. */
static bool has_less(const balancing *b, uint32_t one, uint32_t other)
{
    return b->loads[one] != b->loads[other] ? b->loads[one] < b->loads[other] : one < other;
}

/* Lets the member at this place of the heap sink below those that have less. */
static void sink(const balancing *b, uint32_t members, uint32_t at)
{
    const uint32_t member = b->heap[at];
    for (uint32_t child = 2 * at + 1; child < members; child = 2 * at + 1) {
        if (child + 1 < members && has_less(b, b->heap[child + 1], b->heap[child])) child++;
        if (has_less(b, member, b->heap[child])) break;
        b->heap[at] = b->heap[child];
        at = child;
    }
    b->heap[at] = member;
}

/* The largest first; of equal ones the first, so that all members come to the same owners. */
static int compare_heavy(const void *one, const void *other)
{
    const heavy_bin *a = (const heavy_bin *)one, *b = (const heavy_bin *)other;
    if (a->rows != b->rows) return a->rows > b->rows ? -1 : 1;
    return a->bin < b->bin ? -1 : a->bin > b->bin;
}

/* Gives the heavy bins away, the largest first; returns how many rows the others have. */
static uint64_t place_heavy(hd_spread *spread, const balancing *b, uint64_t heavy)
{
    uint64_t light = 0;
    size_t count = 0;
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++) {
        const heavy_bin one = {b->weights[bin], bin};
        spread->owners[bin] = NO_OWNER;
        if (one.rows > heavy) b->heavy[count++] = one;
        else light += one.rows;
    }
    qsort(b->heavy, count, sizeof *b->heavy, compare_heavy);
    for (uint32_t i = 0; i < spread->members; i++) b->heap[i] = i;
    for (uint32_t i = spread->members; i-- != 0;) sink(b, spread->members, i);
    for (size_t i = 0; i < count; i++) {
        spread->owners[b->heavy[i].bin] = b->heap[0];
        b->loads[b->heap[0]] += b->heavy[i].rows;
        sink(b, spread->members, 0);
    }
    return light;
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

static void balance(hd_spread *spread, const balancing *b)
{
    const uint32_t bins = hd_spread_bins(spread);
    uint64_t sum = 0, heavy, light;
    for (uint32_t bin = 0; bin < bins; bin++) sum += b->weights[bin];
    heavy = sum / spread->members / HEAVY_SHARE;
    if (heavy < sum / bins * 2) heavy = sum / bins * 2;
    light = place_heavy(spread, b, heavy);
    place_light(spread, b->weights, b->loads, water_level(b->loads, spread->members, light));
}

heddle_status hd_spread_balanced(const hd_spread *like, const uint64_t *counts,
                                 const uint64_t *loads, bool grows, hd_spread *spread)
{
    const uint32_t bins = hd_spread_bins(like);
    uint64_t rows = 0;
    balancing b;
    heddle_status status;
    *spread = *like;
    status = allocate(spread);
    if (status != HEDDLE_OK) return status;
    status = balancing_make(&b, bins, like->members);
    if (status != HEDDLE_OK) {
        hd_spread_free(spread);
        return status;
    }
    for (uint32_t i = 0; loads != NULL && i < like->members; i++) b.loads[i] = loads[i];
    for (uint32_t bin = 0; bin < bins; bin++) rows += counts[bin];
    for (uint32_t bin = 0; bin < bins; bin++)
        b.weights[bin] = counts[bin] + (grows ? ROWS_TO_COME + rows / bins / SHARE_TO_COME : 0);
    balance(spread, &b);
    balancing_free(&b);
    return find_runs(spread);
}

heddle_status hd_spread_changed(const hd_spread *like, const uint32_t *owners, hd_spread *spread)
{
    const uint32_t bins = hd_spread_bins(like);
    *spread = *like;
    HD_TRY(allocate(spread));
    for (uint32_t bin = 0; bin < bins; bin++)
        spread->owners[bin] = owners[bin] == HD_OWNER_AS_IS ? like->owners[bin] : owners[bin];
    return find_runs(spread);
}
