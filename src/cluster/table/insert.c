/*
 * insert.c: build and insert into a table of a cluster: the four phases.
 *
 *   partition    every member counts its keys by bin; the counts of all are summed up; where the table is
 *                empty and balanced by rows, bins get new owners (route/spread.h). Now every member knows
 *                how many pairs it will get. A table balanced by keys does without counting at first:
 *                a member expects its share of the rows, and makes more room if more come. When there is
 *                no memory for that the call begins anew and counts. Instead of counting, a member samples
 *                its keys: the rows of those with very many are made one before they are sent (cluster/route/hot.h).
 *   reorganise   slice by slice, pairs are laid out by destination (cluster/route/dispatch.h),
 *   exchange     and sent there, where they are gathered in one array (insert_gather.c). Members that reach each other's
 *                memory write them there at once. A member whose device works by itself lays out a slice while the
 *                one before it is on its way to other processes.
 *   work         When all are there, each member builds its part, or inserts into it, in one call. Where links are slow
 *                beside that, it inserts each slice while the next one is on its way (insert_flow.c).
 *
 * So nothing changes before all that can fail but the tables' own work is done, unless pairs flow. Where a member has no
 * memory to gather its pairs, all insert in pieces instead, as large as fit (CHUNKS). When the caller
 * wants to know what became of single keys, pairs are inserted slice by slice and the outcomes sent
 * home (insert_outcomes.c).
 */
#include "cluster/table/insert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/public_struct.h"
#include "table/table.h"

/* ----------------------------------------------------------------------------------- partition */

/* Refuses what a part would refuse, before anything is done. */
static heddle_status check_write(const hd_write *w)
{
    if (w->received == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the rows of members");
    if (w->refused != HEDDLE_OK) return hd_fail(w->refused, "%s", w->reason);
    const hd_request request = {
        .keys = w->keys, .values = w->values, .n = w->n, .options = w->options};
    return hd_check_insertion(&w->table->options, &request, NULL, w->builds ? "build" : "insert");
}

static void count_wishes(const hd_write *w, uint64_t *counts)
{
    counts[HD_COUNT_WITH_VALUES] = w->n != 0 && w->values != NULL;
    counts[HD_COUNT_WITHOUT_VALUES] = w->n != 0 && w->values == NULL;
    counts[HD_COUNT_REPORTS] = w->options.outcomes != NULL || w->options.failed_capacity != 0;
}

/* Counts all keys by bin, and how many the table holds: the sums of all members. Agreed upon. */
static heddle_status count_bins(hd_writing *g, heddle_status mine)
{
    hd_write *w = g->w;
    const hd_spread *spread = &w->table->spread;
    const uint32_t bins = hd_spread_bins(spread);
    hd_exchange *exchange = hd_exchange_of(g->member);
    heddle_status status = mine;
    free(g->counts);
    g->counts = (uint64_t *)hd_allocate_zeroed((size_t)bins + HD_COUNTS_TOLD, sizeof *g->counts);
    free(g->rows);
    g->rows = (uint64_t *)hd_allocate_zeroed((size_t)exchange->members + 2, sizeof *g->rows);
    if (status == HEDDLE_OK && (g->counts == NULL || g->rows == NULL))
        status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of bins");
    if (status == HEDDLE_OK && !g->guesses)
        status =
            hd_member_count(g->member, spread, w->table->options.key_bits,
                            w->n != 0 ? w->keys + g->first * g->key_width : NULL, g->n, g->counts);
    if (status == HEDDLE_OK) status = hd_combine_look(g);
    if (status == HEDDLE_OK) {
        count_wishes(w, g->counts + bins);
        g->counts[bins + HD_COUNT_ROWS] = g->n - g->combine.expected;
        g->counts[bins + HD_COUNT_COMBINES] = g->combine.hot != 0;
    }
    if (status == HEDDLE_OK)
        status = heddle_table_size(hd_part_of(w->table, g->member),
                                   &g->counts[bins + HD_COUNT_HELD], NULL);
    status = exchange->ops->reduce(exchange, g->member->number, status, g->counts,
                                   bins + HD_COUNTS_TOLD, HD_REDUCE_SUM);
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* The first local member finds out, for all, who owns what. */
static heddle_status divide(hd_writing *g)
{
    hd_write *w = g->w;
    const hd_spread *spread = &w->table->spread;
    const uint64_t *told = g->counts + hd_spread_bins(spread);
    free(w->counts);
    w->counts = g->counts;
    g->counts = NULL;
    w->reports = told[HD_COUNT_REPORTS] != 0;
    w->combines = told[HD_COUNT_COMBINES] != 0 && !w->reports;
    w->has_values = told[HD_COUNT_WITH_VALUES] != 0;
    w->from_empty = w->builds || told[HD_COUNT_HELD] == 0;
    w->spread = spread;
    if (told[HD_COUNT_WITH_VALUES] != 0 && told[HD_COUNT_WITHOUT_VALUES] != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "some members are given values and some are not");
    if (!w->from_empty || w->table->balance != HEDDLE_BALANCE_ROWS) return HEDDLE_OK;
    HD_TRY(hd_spread_balanced(spread, w->counts, NULL, true, &w->fresh));
    w->spread = &w->fresh;
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- the result */

heddle_status hd_write_result(hd_writing *g, heddle_status status, heddle_totals *totals,
                              uint64_t n)
{
    const uint64_t known = totals->inserted + totals->updated + totals->kept + totals->failed;
    if (status != HEDDLE_OK && status != HEDDLE_ERROR_FULL && status != HEDDLE_ERROR_NO_MEMORY)
        return status;
    g->nothing = status != HEDDLE_OK && known == 0;
    if (status != HEDDLE_OK && known < n) totals->failed += n - known; /* none of these is in */
    hd_totals_sum(&g->totals, totals);
    if (status != HEDDLE_OK && g->soft != HEDDLE_ERROR_NO_MEMORY) {
        g->soft = status;
        strncpy(g->reason, heddle_last_error(), sizeof g->reason - 1);
    }
    return HEDDLE_OK;
}

heddle_status hd_write_windows(hd_writing *g, uint64_t first, uint64_t n, hd_window *keys,
                               hd_window *values)
{
    HD_TRY(hd_window_open(g->member, g->w->keys + (g->first + first) * g->key_width,
                          n * g->key_width, true, &g->staged[0], keys));
    if (g->value_width != 0)
        HD_TRY(hd_window_open(g->member, g->w->values + (g->first + first) * g->value_width,
                              n * g->value_width, true, &g->staged[1], values));
    return HEDDLE_OK;
}

/* A build that some member could not finish leaves nothing. */
static void empty_part(hd_writing *g)
{
    if (heddle_table_clear(hd_part_of(g->w->table, g->member), NULL) != HEDDLE_OK)
        hd_mend_break(&g->w->mend);
}

/* Everybody learns how many rows everybody got, and how many members ran out of memory. */
static heddle_status tell_rows(hd_writing *g, uint64_t *without_memory)
{
    hd_exchange *exchange = hd_exchange_of(g->member);
    const uint32_t members = exchange->members;
    uint64_t *numbers = g->rows;
    heddle_status status;
    numbers[g->member->number] = g->received;
    numbers[members] = g->soft == HEDDLE_ERROR_NO_MEMORY;
    numbers[members + 1] = g->combine.folded;
    status = exchange->ops->reduce(exchange, g->member->number, HEDDLE_OK, numbers, members + 2,
                                   HD_REDUCE_SUM);
    *without_memory = numbers[members];
    if (status == HEDDLE_OK && g->member->local == 0) {
        for (uint32_t i = 0; i < members; i++) g->w->received[i] = numbers[i];
        g->w->folded = numbers[members + 1];
    }
    return status;
}

/* Sums up what became of the keys. */
static heddle_status conclude(hd_writing *g, heddle_status mine)
{
    uint64_t without_memory = 0;
    HD_TRY(hd_cluster_totals(g->member, mine, &g->totals));
    if (g->w->combines && g->totals.failed != 0) HD_TRY(hd_combine_settle(g, &g->totals));
    HD_TRY(tell_rows(g, &without_memory));
    if (without_memory != 0 && g->w->builds) {
        g->totals.failed += g->totals.inserted + g->totals.updated + g->totals.kept;
        g->totals.inserted = g->totals.updated = g->totals.kept = 0;
        empty_part(g);
        if (g->member->local == 0) g->w->emptied = true;
    }
    if (g->member->local == 0) g->w->totals = g->totals;
    g->counted = true;
    if (g->soft != HEDDLE_OK) hd_fail(g->soft, "%s", g->reason);
    return hd_member_agree(g->member, g->soft);
}

/* ------------------------------------------------------------------------------------ the call */

static void writing_begin(hd_writing *g, hd_write *w, hd_member *member)
{
    memset(g, 0, sizeof *g);
    g->w = w;
    g->member = member;
    g->key_width = hd_cluster_key_width(w->table);
    hd_member_part(member, w->n, &g->first, &g->n);
}

static void writing_end(hd_writing *g)
{
    hd_buffer *const all[] = {&g->keys, &g->values, &g->staged[0], &g->staged[1], &g->staged[2]};
    hd_dispatch_end(&g->dispatch);
    hd_dispatch_end(&g->ahead);
    hd_flow_end(g);
    hd_combine_end(&g->combine);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
    free(g->counts);
    free(g->rows);
    g->counts = g->rows = NULL;
}

/* When all know how the call goes. */
static void choose_way(hd_writing *g)
{
    const heddle_cluster_table *table = g->w->table;
    g->value_width = g->w->has_values ? hd_cluster_value_width(table) : 0;
    if (g->w->reports)
        g->slice = hd_member_slice(g->member, table->options.scheme == HEDDLE_SCHEME_HASHGRAPH);
    else g->slice = hd_member_long_slice(g->member, g->n, g->key_width + g->value_width);
    if (g->n < g->slice) g->slice = g->n != 0 ? g->n : 1;
}

/* What a failure that all know of leaves behind. */
static void clean_up(hd_writing *g, heddle_status status)
{
    if (status == HEDDLE_ERROR_PEER) hd_mend_break(&g->w->mend); /* who knows how far others are */
    if (!g->changing || g->counted || status == HEDDLE_ERROR_PEER) return;
    if (g->w->builds) {
        empty_part(g);
        if (g->member->local == 0) g->w->emptied = true;
    } else {
        hd_mend_break(&g->w->mend);
    }
}

static heddle_status move_and_work(hd_writing *g)
{
    uint64_t rounds = 0;
    heddle_status mine, status;
    choose_way(g);
    status = hd_cluster_rounds(g->member, HEDDLE_OK, g->n, g->slice, &rounds);
    if (status != HEDDLE_OK) return status;
    if (g->w->table->independent) mine = hd_write_alone(g, &status);
    else if (g->w->reports) mine = hd_write_outcomes(g, rounds, &status);
    else mine = hd_write_gathered(g, rounds, &status);
    return status == HEDDLE_OK ? conclude(g, mine) : status;
}

static heddle_status try_write(hd_writing *g)
{
    HD_TRY(count_bins(g, check_write(g->w)));
    HD_TRY(hd_member_agree(g->member, g->member->local == 0 ? divide(g) : HEDDLE_OK));
    return move_and_work(g);
}

/* hd_member_work. */
static heddle_status write_part(hd_member *member, void *context)
{
    hd_write *w = (hd_write *)context;
    hd_writing g;
    heddle_status status;
    writing_begin(&g, w, member);
    g.guesses = w->table->balance == HEDDLE_BALANCE_KEYS;
    status = try_write(&g);
    if (status == HEDDLE_ERROR_NO_MEMORY && g.guesses && !g.changing) {
        writing_end(&g);
        writing_begin(&g, w, member);
        status = try_write(&g);
    }
    if (status != HEDDLE_OK) clean_up(&g, status);
    if (member->local == 0) w->counted = g.counted;
    writing_end(&g);
    return status;
}

/*
 * hd_mend.after: the table goes by the new owners from now on, and the rows that everybody got are counted.
 * A call that changed nothing leaves all as it was.
 */
static void take_over(void *context, heddle_status status)
{
    hd_write *w = (hd_write *)context;
    heddle_cluster_table *table = w->table;
    (void)status;
    if (!w->counted && !w->emptied) return;
    w->mend.mended = w->builds;
    if (w->from_empty || w->emptied) {
        memset(table->rows, 0, table->spread.members * sizeof *table->rows);
        table->folded = 0;
    }
    if (!w->emptied) table->folded += w->folded;
    for (uint32_t i = 0; i < table->spread.members && !w->emptied; i++)
        table->rows[i] += w->received[i];
    if (w->spread == &w->fresh) {
        hd_spread_free(&table->spread);
        table->spread = w->fresh;
        memset(&w->fresh, 0, sizeof w->fresh);
    }
}

static heddle_status write_call(heddle_cluster_table *table, bool builds, const void *keys,
                                const void *values, uint64_t n,
                                const heddle_insert_options *options, heddle_totals *totals)
{
    static const heddle_insert_options defaults = HEDDLE_INSERT_OPTIONS_INIT;
    hd_write w;
    heddle_status status;
    memset(&w, 0, sizeof w);
    w.table = table;
    w.builds = builds;
    w.keys = (const char *)keys;
    w.values = (const char *)values;
    w.n = n;
    w.options = defaults;
    w.refused = hd_check_totals(totals);
    if (w.refused == HEDDLE_OK)
        w.refused = hd_read_struct(&w.options, options, &hd_insert_options_kind);
    if (w.refused != HEDDLE_OK) snprintf(w.reason, sizeof w.reason, "%s", heddle_last_error());
    w.mend.mends = builds;
    w.mend.after = take_over;
    if (table != NULL) { /* else the call says so */
        w.received = (uint64_t *)hd_allocate_zeroed(table->spread.members, sizeof *w.received);
    }
    status = hd_cluster_call(table, builds ? "build" : "insert", write_part, &w, &w.mend);
    if (totals != NULL && w.refused == HEDDLE_OK) hd_write_totals(totals, &w.totals);
    hd_spread_free(&w.fresh);
    free(w.counts);
    free(w.received);
    return status;
}

heddle_status heddle_cluster_table_build(heddle_cluster_table *table, const void *keys,
                                         const void *values, uint64_t n,
                                         const heddle_insert_options *options,
                                         heddle_totals *totals)
{
    return write_call(table, true, keys, values, n, options, totals);
}

heddle_status heddle_cluster_table_insert(heddle_cluster_table *table, const void *keys,
                                          const void *values, uint64_t n,
                                          const heddle_insert_options *options,
                                          heddle_totals *totals)
{
    return write_call(table, false, keys, values, n, options, totals);
}
