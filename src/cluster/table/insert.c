/*
 * insert.c: build and insert into a table of a cluster: the four phases.
 *
 *   partition    every member counts its keys by bin; the counts of all are summed up; where the table is
 *                empty and balanced by rows, bins get new owners (route/spread.h). Now every member knows
 *                how many pairs it will get. A table balanced by keys does without counting at first:
 *                a member expects its share of the rows, and makes more room if more come. When there is
 *                no memory for that the call begins anew and counts. Instead of counting, a member samples
 *                its keys: the rows of those with very many are made one before they are sent (cluster/table/hot_rows.h).
 *   reorganise   slice by slice, pairs are laid out by destination (route/route.h),
 *   exchange     and sent there, where they are gathered in one array (insert_gathered.c). Members that reach each other's
 *                memory write them there at once. A member whose device works by itself lays out a slice while the
 *                one before it is on its way to other processes.
 *   work         When all are there, each member builds its part, or inserts into it, in one call. Where links are slow
 *                beside that, it inserts each slice while the next one is on its way (insert_flowing.c).
 *
 * So nothing changes before all that can fail but the tables' own work is done, unless pairs flow. Where a member has no
 * memory to gather its pairs, all insert in pieces instead, as large as fit (CHUNKS). When the caller
 * wants to know what became of single keys, pairs are inserted slice by slice and the outcomes sent
 * home (insert_with_outcomes.c).
 */
#include "cluster/table/insert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/public_struct.h"
#include "table/check.h"

/* ----------------------------------------------------------------------------------- partition */

/* Refuses what a part would refuse, before anything is done. */
static heddle_status check_insertion(const hd_insertion *call)
{
    if (call->received == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the rows of members");
    if (call->refused != HEDDLE_OK) return hd_fail(call->refused, "%s", call->reason);
    const hd_request request = {
        .keys = call->keys, .values = call->values, .n = call->n, .options = call->options};
    return hd_check_insertion(&call->table->options, &request, NULL,
                              call->builds ? "build" : "insert");
}

static void note_wants(const hd_insertion *call, uint64_t *counts)
{
    counts[HD_SUM_WITH_VALUES] = call->n != 0 && call->values != NULL;
    counts[HD_SUM_WITHOUT_VALUES] = call->n != 0 && call->values == NULL;
    counts[HD_SUM_REPORTS] = call->options.outcomes != NULL || call->options.failed_capacity != 0;
}

/* Counts all keys by bin, and how many the table holds: the sums of all members. Agreed upon. */
static heddle_status count_bins(hd_inserting *p, heddle_status mine)
{
    hd_insertion *call = p->call;
    const hd_spread *spread = &call->table->spread;
    const uint32_t bins = hd_spread_bins(spread);
    hd_exchange *exchange = hd_exchange_of(p->member);
    heddle_status status = mine;
    free(p->counts);
    p->counts = (uint64_t *)hd_allocate_zeroed((size_t)bins + HD_SUMS, sizeof *p->counts);
    free(p->rows);
    p->rows = (uint64_t *)hd_allocate_zeroed((size_t)exchange->members + 2, sizeof *p->rows);
    if (status == HEDDLE_OK && (p->counts == NULL || p->rows == NULL))
        status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of bins");
    if (status == HEDDLE_OK && !p->guesses)
        status = hd_member_count(p->member, spread, call->table->options.key_bits,
                                 call->n != 0 ? call->keys + p->first * p->key_width : NULL, p->n,
                                 p->counts);
    if (status == HEDDLE_OK) status = hd_hot_find(p);
    if (status == HEDDLE_OK) {
        note_wants(call, p->counts + bins);
        p->counts[bins + HD_SUM_ROWS] = p->n - p->hot.expected;
        p->counts[bins + HD_SUM_HOT] = p->hot.n != 0;
    }
    if (status == HEDDLE_OK)
        status = heddle_table_size(hd_part_of(call->table, p->member),
                                   &p->counts[bins + HD_SUM_HELD], NULL);
    status = exchange->ops->reduce(exchange, p->member->number, status, p->counts, bins + HD_SUMS,
                                   HD_REDUCE_SUM);
    hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* The first local member finds out, for all, who owns what. */
static heddle_status divide(hd_inserting *p)
{
    hd_insertion *call = p->call;
    const hd_spread *spread = &call->table->spread;
    const uint64_t *sums = p->counts + hd_spread_bins(spread);
    free(call->counts);
    call->counts = p->counts;
    p->counts = NULL;
    call->reports = sums[HD_SUM_REPORTS] != 0;
    call->has_hot = sums[HD_SUM_HOT] != 0 && !call->reports;
    call->has_values = sums[HD_SUM_WITH_VALUES] != 0;
    call->from_empty = call->builds || sums[HD_SUM_HELD] == 0;
    call->spread = spread;
    if (sums[HD_SUM_WITH_VALUES] != 0 && sums[HD_SUM_WITHOUT_VALUES] != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "some members are given values and some are not");
    if (!call->from_empty || call->table->balance != HEDDLE_BALANCE_ROWS) return HEDDLE_OK;
    HD_TRY(hd_spread_balanced(spread, call->counts, NULL, true, &call->fresh));
    call->spread = &call->fresh;
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- the result */

heddle_status hd_insert_result(hd_inserting *p, heddle_status status, heddle_totals *totals,
                               uint64_t n)
{
    const uint64_t known = totals->inserted + totals->updated + totals->kept + totals->failed;
    if (status != HEDDLE_OK && status != HEDDLE_ERROR_FULL && status != HEDDLE_ERROR_NO_MEMORY)
        return status;
    p->nothing = status != HEDDLE_OK && known == 0;
    if (status != HEDDLE_OK && known < n) totals->failed += n - known; /* none of these is in */
    hd_totals_sum(&p->totals, totals);
    if (status != HEDDLE_OK && p->soft != HEDDLE_ERROR_NO_MEMORY) {
        p->soft = status;
        strncpy(p->reason, heddle_last_error(), sizeof p->reason - 1);
    }
    return HEDDLE_OK;
}

heddle_status hd_insert_open(hd_inserting *p, uint64_t first, uint64_t n, hd_slice *slice)
{
    const hd_insertion *call = p->call;
    hd_lent keys, values = {NULL, NULL, 0};
    memset(slice, 0, sizeof *slice);
    if (n == 0) return HEDDLE_OK;
    HD_TRY(hd_member_lend(p->member, call->keys + (p->first + first) * p->key_width,
                          n * p->key_width, true, &p->staged[0], &keys));
    if (p->value_width != 0)
        HD_TRY(hd_member_lend(p->member, call->values + (p->first + first) * p->value_width,
                              n * p->value_width, true, &p->staged[1], &values));
    slice->keys = keys.memory;
    slice->values = values.memory;
    slice->n = n;
    return HEDDLE_OK;
}

/* A build that some member could not finish leaves nothing. */
static void empty_part(hd_inserting *p)
{
    if (heddle_table_clear(hd_part_of(p->call->table, p->member), NULL) != HEDDLE_OK)
        hd_effect_breaks(&p->call->effect);
}

/* Everybody learns how many rows everybody got, and how many members ran out of memory. */
static heddle_status share_rows(hd_inserting *p, uint64_t *without_memory)
{
    hd_exchange *exchange = hd_exchange_of(p->member);
    const uint32_t members = exchange->members;
    uint64_t *numbers = p->rows;
    heddle_status status;
    numbers[p->member->number] = p->received;
    numbers[members] = p->soft == HEDDLE_ERROR_NO_MEMORY;
    numbers[members + 1] = p->hot.folded;
    status = exchange->ops->reduce(exchange, p->member->number, HEDDLE_OK, numbers, members + 2,
                                   HD_REDUCE_SUM);
    *without_memory = numbers[members];
    if (status == HEDDLE_OK && p->member->local == 0) {
        for (uint32_t i = 0; i < members; i++) p->call->received[i] = numbers[i];
        p->call->folded = numbers[members + 1];
    }
    return status;
}

/* Sums up what became of the keys. */
static heddle_status conclude(hd_inserting *p, heddle_status mine)
{
    uint64_t without_memory = 0;
    HD_TRY(hd_cluster_totals(p->member, mine, &p->totals));
    if (p->call->has_hot && p->totals.failed != 0) HD_TRY(hd_hot_settle(p, &p->totals));
    HD_TRY(share_rows(p, &without_memory));
    if (without_memory != 0 && p->call->builds) {
        p->totals.failed += p->totals.inserted + p->totals.updated + p->totals.kept;
        p->totals.inserted = p->totals.updated = p->totals.kept = 0;
        empty_part(p);
        if (p->member->local == 0) p->call->emptied = true;
    }
    if (p->member->local == 0) p->call->totals = p->totals;
    p->counted = true;
    if (p->soft != HEDDLE_OK) hd_fail(p->soft, "%s", p->reason);
    return hd_member_agree(p->member, p->soft);
}

/* ------------------------------------------------------------------------------------ the call */

static void inserting_begin(hd_inserting *p, hd_insertion *call, hd_member *member)
{
    memset(p, 0, sizeof *p);
    p->call = call;
    p->member = member;
    p->key_width = hd_cluster_key_width(call->table);
    hd_member_part(member, call->n, &p->first, &p->n);
}

static void inserting_end(hd_inserting *p)
{
    hd_buffer *const all[] = {&p->keys, &p->values, &p->staged[0], &p->staged[1], &p->staged[2]};
    hd_router_end(&p->router);
    hd_router_end(&p->ahead);
    hd_flowing_end(p);
    hd_hot_end(&p->hot);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
    free(p->counts);
    free(p->rows);
    p->counts = p->rows = NULL;
}

/* When all know how the call goes: how long slices are, and how many rounds of them all go through. Agreed upon. */
static heddle_status choose_slices(hd_inserting *p, uint64_t *rounds)
{
    const heddle_cluster_table *table = p->call->table;
    p->value_width = p->call->has_values ? hd_cluster_value_width(table) : 0;
    if (p->call->reports)
        p->slice = hd_member_slice(p->member, table->options.scheme == HEDDLE_SCHEME_HASHGRAPH);
    else p->slice = hd_member_long_slice(p->member, p->n, p->key_width + p->value_width);
    if (p->n < p->slice) p->slice = p->n != 0 ? p->n : 1;
    return hd_cluster_rounds(p->member, HEDDLE_OK, p->n, p->slice, rounds);
}

/* What a failure that all know of leaves behind. */
static void clean_up(hd_inserting *p, heddle_status status)
{
    if (status == HEDDLE_ERROR_PEER)
        hd_effect_breaks(&p->call->effect); /* who knows how far others are */
    if (!p->changing || p->counted || status == HEDDLE_ERROR_PEER) return;
    if (p->call->builds) {
        empty_part(p);
        if (p->member->local == 0) p->call->emptied = true;
    } else {
        hd_effect_breaks(&p->call->effect);
    }
}

/* The dispatcher: partition, then one of the ways, which reorganises, exchanges and works; and what became of it. */
static heddle_status insert_in_phases(hd_inserting *p)
{
    uint64_t rounds = 0;
    heddle_status mine, agreed = HEDDLE_OK;
    HD_TRY(count_bins(p, check_insertion(p->call)));
    HD_TRY(hd_member_agree(p->member, p->member->local == 0 ? divide(p) : HEDDLE_OK));
    HD_TRY(choose_slices(p, &rounds));
    if (p->call->table->independent) mine = hd_insert_independent(p, &agreed);
    else if (p->call->reports) mine = hd_insert_with_outcomes(p, rounds, &agreed);
    else mine = hd_insert_gathered(p, rounds, &agreed);
    HD_TRY(agreed);
    return conclude(p, mine);
}

/* hd_member_work: a member that guessed how much comes, and has no memory for what does, counts instead. */
static heddle_status insert_member(hd_member *member, void *context)
{
    hd_insertion *call = (hd_insertion *)context;
    hd_inserting p;
    heddle_status status;
    inserting_begin(&p, call, member);
    p.guesses = call->table->balance == HEDDLE_BALANCE_KEYS;
    status = insert_in_phases(&p);
    if (status == HEDDLE_ERROR_NO_MEMORY && p.guesses && !p.changing) {
        inserting_end(&p);
        inserting_begin(&p, call, member);
        status = insert_in_phases(&p);
    }
    if (status != HEDDLE_OK) clean_up(&p, status);
    if (member->local == 0) call->counted = p.counted;
    inserting_end(&p);
    return status;
}

/*
 * hd_effect.after: the table goes by the new owners from now on, and the rows that everybody got are counted.
 * A call that changed nothing leaves all as it was.
 */
static void take_over(void *context, heddle_status status)
{
    hd_insertion *call = (hd_insertion *)context;
    heddle_cluster_table *table = call->table;
    (void)status;
    if (!call->counted && !call->emptied) return;
    call->effect.repaired = call->builds;
    if (call->from_empty || call->emptied) {
        memset(table->rows, 0, table->spread.members * sizeof *table->rows);
        table->folded = 0;
    }
    if (!call->emptied) table->folded += call->folded;
    for (uint32_t i = 0; i < table->spread.members && !call->emptied; i++)
        table->rows[i] += call->received[i];
    if (call->spread == &call->fresh) {
        hd_spread_free(&table->spread);
        table->spread = call->fresh;
        memset(&call->fresh, 0, sizeof call->fresh);
    }
}

/* Reads the caller's structs. What is wrong with them is said by the call, so that the other processes learn it. */
static void insertion_begin(hd_insertion *call, const heddle_insert_options *options,
                            const heddle_totals *totals)
{
    static const heddle_insert_options defaults = HEDDLE_INSERT_OPTIONS_INIT;
    call->options = defaults;
    call->refused = hd_check_totals(totals);
    if (call->refused == HEDDLE_OK)
        call->refused = hd_read_struct(&call->options, options, &hd_insert_options_kind);
    if (call->refused != HEDDLE_OK)
        snprintf(call->reason, sizeof call->reason, "%s", heddle_last_error());
    call->effect.repairs = call->builds;
    call->effect.after = take_over;
    if (call->table != NULL) /* else the call says so */
        call->received =
            (uint64_t *)hd_allocate_zeroed(call->table->spread.members, sizeof *call->received);
}

/* Gives the caller the totals, and the status of the call back. */
static heddle_status insertion_end(hd_insertion *call, heddle_totals *totals, heddle_status status)
{
    if (totals != NULL && call->refused == HEDDLE_OK) hd_write_totals(totals, &call->totals);
    hd_spread_free(&call->fresh);
    free(call->counts);
    free(call->received);
    return status;
}

heddle_status heddle_cluster_table_build(heddle_cluster_table *table, const void *keys,
                                         const void *values, uint64_t n,
                                         const heddle_insert_options *options,
                                         heddle_totals *totals)
{
    hd_insertion call = {.table = table,
                         .builds = true,
                         .keys = (const char *)keys,
                         .values = (const char *)values,
                         .n = n};
    insertion_begin(&call, options, totals);
    return insertion_end(&call, totals,
                         hd_cluster_call(table, "build", insert_member, &call, &call.effect));
}

heddle_status heddle_cluster_table_insert(heddle_cluster_table *table, const void *keys,
                                          const void *values, uint64_t n,
                                          const heddle_insert_options *options,
                                          heddle_totals *totals)
{
    hd_insertion call = {
        .table = table, .keys = (const char *)keys, .values = (const char *)values, .n = n};
    insertion_begin(&call, options, totals);
    return insertion_end(&call, totals,
                         hd_cluster_call(table, "insert", insert_member, &call, &call.effect));
}
