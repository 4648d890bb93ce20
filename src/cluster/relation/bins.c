/* bins.c: which member works on which rows of a relation; see relation.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/relation/relation.h"

/* A side stays where its rows of a bin are more than this share of what a member should have, ... */
#define HEAVY_SHARE 4
/* ... and to copy the other side costs less than this share of them. */
#define COPY_SHARE 2

static uint32_t count_of(const hd_relation_bins *b) { return hd_spread_bins(&b->spread); }

heddle_status hd_relation_bins_begin(hd_relation_bins *b, const hd_relating *r)
{
    const uint32_t members = hd_exchange_of(r->member)->members;
    memset(b, 0, sizeof *b);
    HD_TRY(hd_spread_init(&b->spread, members, r->seed));
    const size_t bins = count_of(b);
    b->own = (uint64_t *)hd_allocate_zeroed(6 * bins + 2 * members, sizeof *b->own);
    if (b->own == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of bins");
    b->all = b->own + 2 * bins;
    b->weights = b->all + 2 * bins;
    b->ways = (uint32_t *)(b->weights + bins);
    b->loads = b->weights + 2 * bins;
    b->worked = b->loads + members;
    return HEDDLE_OK;
}

void hd_relation_bins_end(hd_relation_bins *b)
{
    hd_spread_free(&b->spread);
    hd_spread_free(&b->sides[0]);
    hd_spread_free(&b->sides[1]);
    free(b->own);
    b->own = NULL;
}

/* Whether so many rows of a bin stay, and `other` rows of the other side are copied instead. */
static bool pays(uint64_t rows, uint64_t other, uint64_t fair, uint32_t members)
{
    return rows > fair / HEAVY_SHARE && other <= rows / COPY_SHARE / members;
}

/* Says which sides of which bins stay; true where any does. */
static bool choose_ways(hd_relation_bins *b, const hd_relating *r)
{
    const uint32_t bins = count_of(b), members = hd_exchange_of(r->member)->members;
    const uint64_t fair = (r->all_rows[0] + r->all_rows[1]) / members;
    bool any = false;
    for (uint32_t bin = 0; bin < bins; bin++) {
        const uint64_t left = b->all[bin], right = b->all[bins + bin];
        b->ways[bin] = HD_NOBODY_STAYS;
        if (members == 1) continue;
        if (r->relation->may_stay[0] && pays(left, right, fair, members)) b->ways[bin] = 0;
        else if (r->relation->may_stay[1] && pays(right, left, fair, members)) b->ways[bin] = 1;
        any = any || b->ways[bin] != HD_NOBODY_STAYS;
    }
    return any;
}

/* All learn what stays on everybody. */
static heddle_status tell_loads(hd_relation_bins *b, const hd_relating *r)
{
    hd_exchange *exchange = hd_exchange_of(r->member);
    const uint32_t bins = count_of(b);
    heddle_status status;
    for (uint32_t bin = 0; bin < bins; bin++)
        if (b->ways[bin] != HD_NOBODY_STAYS)
            b->loads[r->member->number] += b->own[b->ways[bin] * bins + bin];
    status = exchange->ops->reduce(exchange, r->member->number, HEDDLE_OK, b->loads,
                                   exchange->members, HD_REDUCE_SUM);
    for (uint32_t i = 0; i < exchange->members; i++) b->stayed += b->loads[i];
    return status;
}

/* The owners as they are for one side of this member. */
static heddle_status make_side(hd_relation_bins *b, const hd_relating *r, const hd_spread *even,
                               uint32_t side)
{
    const uint32_t bins = count_of(b);
    uint32_t *owners = (uint32_t *)(b->ways + bins);
    for (uint32_t bin = 0; bin < bins; bin++)
        owners[bin] = b->ways[bin] == HD_NOBODY_STAYS ? HD_OWNER_AS_IS
                      : b->ways[bin] == side          ? r->member->number
                                                      : HD_OWNER_ALL;
    return hd_spread_changed(even, owners, &b->sides[side]);
}

/* Every member finds out by itself: all have the same numbers. */
static heddle_status make_sides(hd_relation_bins *b, const hd_relating *r)
{
    const uint32_t bins = count_of(b);
    hd_spread even;
    heddle_status status;
    for (uint32_t bin = 0; bin < bins; bin++)
        if (b->ways[bin] == HD_NOBODY_STAYS) b->weights[bin] = b->all[bin] + b->all[bins + bin];
    status = hd_spread_balanced(&b->spread, b->weights, b->loads, false, &even);
    if (status != HEDDLE_OK) return status;
    for (uint32_t side = 0; side < r->relation->sides && status == HEDDLE_OK; side++)
        status = make_side(b, r, &even, side);
    hd_spread_free(&even);
    return status;
}

heddle_status hd_relation_bins_divide(hd_relation_bins *b, const hd_relating *r, heddle_status mine)
{
    hd_exchange *exchange = hd_exchange_of(r->member);
    const uint64_t numbers = 2 * (uint64_t)count_of(b);
    heddle_status status;
    if (mine == HEDDLE_OK) memcpy(b->all, b->own, numbers * sizeof *b->all);
    status =
        exchange->ops->reduce(exchange, r->member->number, mine, b->all, numbers, HD_REDUCE_SUM);
    if (status == HEDDLE_OK && choose_ways(b, r)) status = tell_loads(b, r);
    hd_phase(r->member, HEDDLE_PHASE_EXCHANGE);
    if (status != HEDDLE_OK) return status;
    status = make_sides(b, r);
    hd_phase(r->member, HEDDLE_PHASE_PARTITION);
    return hd_member_agree(r->member, status);
}

uint64_t hd_relation_bins_sent(const hd_relation_bins *b, const hd_relating *r, uint32_t side)
{
    const uint32_t bins = count_of(b), members = hd_exchange_of(r->member)->members;
    uint64_t rows = 0;
    for (uint32_t bin = 0; bin < bins; bin++)
        rows +=
            b->own[side * bins + bin] * (b->sides[side].owners[bin] == HD_OWNER_ALL ? members : 1);
    return rows;
}

uint64_t hd_relation_bins_arrive(const hd_relation_bins *b, const hd_relating *r, uint32_t side)
{
    const uint32_t bins = count_of(b);
    uint64_t rows = 0;
    for (uint32_t bin = 0; bin < bins; bin++) {
        const uint32_t owner = b->sides[side].owners[bin];
        if (b->ways[bin] == side) rows += b->own[side * bins + bin];
        else if (owner == r->member->number || owner == HD_OWNER_ALL)
            rows += b->all[side * bins + bin];
    }
    return rows;
}

/* In one pass over the bins: there may be very many of both, and all members ask. */
void hd_relation_bins_work(const hd_relation_bins *b, const hd_relating *r)
{
    const uint32_t bins = count_of(b), members = hd_exchange_of(r->member)->members;
    uint64_t to_all = 0;
    memcpy(b->worked, b->loads, members * sizeof *b->worked);
    for (uint32_t side = 0; side < r->relation->sides; side++)
        for (uint32_t bin = 0; bin < bins; bin++) {
            const uint32_t owner = b->sides[side].owners[bin];
            if (b->ways[bin] == side) continue; /* in the loads */
            if (owner == HD_OWNER_ALL) to_all += b->all[side * bins + bin];
            else b->worked[owner] += b->all[side * bins + bin];
        }
    for (uint32_t i = 0; i < members; i++) b->worked[i] += to_all;
}
