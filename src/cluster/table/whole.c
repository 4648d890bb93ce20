/* whole.c: what concerns all keys of a table of a cluster: size, export, clear, statistics, validation. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/table/table.h"
#include "host/public_struct.h"
#include "table/check.h"

/* ------------------------------------------------------------------------------- size and clear */

typedef struct sizing {
    heddle_cluster_table *table;
    uint64_t count;
} sizing;

static heddle_status size_part(hd_member *member, void *context)
{
    sizing *s = (sizing *)context;
    hd_exchange *exchange = hd_exchange_of(member);
    uint64_t keys = 0;
    heddle_status status = heddle_table_size(hd_part_of(s->table, member), &keys, NULL);
    status = exchange->ops->reduce(exchange, member->number, status, &keys, 1, HD_REDUCE_SUM);
    if (member->local == 0) s->count = keys;
    return status;
}

heddle_status heddle_cluster_table_size(heddle_cluster_table *table, uint64_t *count)
{
    sizing s = {table, 0};
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "size: there is no place for the count");
    HD_TRY(hd_cluster_call(table, "size", size_part, &s, NULL));
    *count = s.count;
    return HEDDLE_OK;
}

typedef struct clearing {
    heddle_cluster_table *table;
    hd_effect effect;
} clearing;

static heddle_status clear_part(hd_member *member, void *context)
{
    clearing *c = (clearing *)context;
    heddle_status status = heddle_table_clear(hd_part_of(c->table, member), NULL);
    status = hd_member_agree(member, status);
    if (status != HEDDLE_OK) hd_effect_breaks(&c->effect);
    return status;
}

static void cleared(void *context, heddle_status status)
{
    clearing *c = (clearing *)context;
    if (status != HEDDLE_OK) return;
    c->effect.repaired = true;
    memset(c->table->rows, 0, c->table->spread.members * sizeof *c->table->rows);
    c->table->folded = 0;
}

heddle_status heddle_cluster_table_clear(heddle_cluster_table *table)
{
    clearing c = {table, {true, false, false, cleared}};
    return hd_cluster_call(table, "clear", clear_part, &c, &c.effect);
}

/* -------------------------------------------------------------------------------------- export */

typedef struct exporting {
    heddle_cluster_table *table;
    char *keys, *values;
    uint64_t capacity;
    uint64_t *count;
} exporting;

/* How many pairs the local members before this one have, and how many all local ones. */
static heddle_status find_place(hd_member *member, const heddle_cluster_table *table,
                                uint64_t *before, uint64_t *all)
{
    *before = *all = 0;
    for (uint32_t i = 0; i < hd_exchange_of(member)->local; i++) {
        uint64_t keys = 0;
        HD_TRY(heddle_table_size(table->parts[i], &keys, NULL));
        if (i < member->local) *before += keys;
        *all += keys;
    }
    return HEDDLE_OK;
}

/* By way of memory of the member, where the arrays lie on another device. */
static heddle_status export_by_copy(exporting *e, hd_member *member, uint64_t before, uint64_t n)
{
    const uint32_t kw = hd_cluster_key_width(e->table), vw = hd_cluster_value_width(e->table);
    HD_BUFFER(keys);
    HD_BUFFER(values);
    HD_TRY(hd_buffer_room(&keys, member->device, n * kw));
    if (e->values != NULL) HD_TRY(hd_buffer_room(&values, member->device, n * vw));
    HD_TRY(
        heddle_table_export(hd_part_of(e->table, member), keys.memory, values.memory, n, &n, NULL));
    HD_TRY(hd_member_copy(member, e->keys + before * kw, keys.memory, n * kw));
    if (e->values == NULL) return HEDDLE_OK;
    return hd_member_copy(member, e->values + before * vw, values.memory, n * vw);
}

static heddle_status export_pairs(exporting *e, hd_member *member, uint64_t before)
{
    const uint32_t kw = hd_cluster_key_width(e->table), vw = hd_cluster_value_width(e->table);
    heddle_table *part = hd_part_of(e->table, member);
    uint64_t n = 0;
    HD_TRY(heddle_table_size(part, &n, NULL));
    if (n == 0) return HEDDLE_OK;
    if (!hd_member_takes(member, e->keys) || !hd_member_takes(member, e->values))
        return export_by_copy(e, member, before, n);
    return heddle_table_export(part, e->keys + before * kw,
                               e->values != NULL ? e->values + before * vw : NULL, n, &n, NULL);
}

/* The arrays are there and large enough; `before` as find_place has it. */
static heddle_status check_export(const exporting *e, hd_member *member, uint64_t *before)
{
    uint64_t all;
    HD_TRY(hd_check_array(e->keys, e->capacity, hd_cluster_key_width(e->table), "keys"));
    if (e->values != NULL)
        HD_TRY(hd_check_array(e->values, e->capacity, hd_cluster_value_width(e->table), "values"));
    HD_TRY(find_place(member, e->table, before, &all));
    if (member->local == 0) *e->count = all;
    if (all <= e->capacity) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_TOO_SMALL, "export: %llu pairs do not fit into arrays of %llu",
                   (unsigned long long)all, (unsigned long long)e->capacity);
}

static heddle_status export_part(hd_member *member, void *context)
{
    exporting *e = (exporting *)context;
    uint64_t before = 0;
    HD_TRY(hd_member_agree(member, check_export(e, member, &before)));
    return hd_member_agree(member, export_pairs(e, member, before));
}

heddle_status heddle_cluster_table_export(heddle_cluster_table *table, void *keys, void *values,
                                          uint64_t capacity, uint64_t *count)
{
    exporting e = {table, (char *)keys, (char *)values, capacity, count};
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: there is no place for the count");
    if (table != NULL && values != NULL && table->options.value_bits == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: a set has no values");
    return hd_cluster_call(table, "export", export_part, &e, NULL);
}

/* ------------------------------------------------------------------------------------- for all */

typedef struct visiting {
    heddle_visitor visit;
    void *context;
    bool ended; /* by the visitor */
} visiting;

/* heddle_visitor */
static uint32_t visit_pairs(void *context, const void *keys, const void *values,
                            const uint64_t *rows, uint64_t n)
{
    visiting *v = (visiting *)context;
    const uint32_t answer = v->visit(v->context, keys, values, rows, n);
    v->ended = answer != 0;
    return answer;
}

heddle_status heddle_cluster_table_for_all(heddle_cluster_table *table, heddle_visitor visit,
                                           void *context)
{
    visiting v = {visit, context, false};
    heddle_status status = HEDDLE_OK;
    if (visit == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "for_all: there is no visitor");
    HD_TRY(hd_cluster_hold(table, "for_all"));
    for (uint32_t i = 0; i < table->cluster->exchange->local && !v.ended && status == HEDDLE_OK;
         i++)
        status = heddle_table_for_all(table->parts[i], visit_pairs, &v, NULL);
    hd_cluster_release(table);
    return status;
}

/* ---------------------------------------------------------------------------------- statistics */

typedef struct measuring {
    heddle_cluster_table *table;
    heddle_cluster_stats *stats;
} measuring;

static heddle_status measure_part(hd_member *member, void *context)
{
    measuring *m = (measuring *)context;
    hd_exchange *exchange = hd_exchange_of(member);
    heddle_table_stats own = HEDDLE_TABLE_STATS_INIT;
    const heddle_status mine = heddle_table_get_stats(hd_part_of(m->table, member), &own, NULL);
    uint64_t sums[3] = {own.keys, own.slots, own.bytes_total};
    uint64_t most[2] = {own.keys, UINT64_MAX - own.keys};
    HD_TRY(exchange->ops->reduce(exchange, member->number, mine, sums, 3, HD_REDUCE_SUM));
    HD_TRY(exchange->ops->reduce(exchange, member->number, HEDDLE_OK, most, 2, HD_REDUCE_MAX));
    if (member->local != 0) return HEDDLE_OK;
    m->stats->keys = sums[0];
    m->stats->slots = sums[1];
    m->stats->bytes_total = sums[2];
    m->stats->keys_most = most[0];
    m->stats->keys_least = UINT64_MAX - most[1];
    return HEDDLE_OK;
}

static double more_than_mean(uint64_t most, uint64_t sum, uint32_t members)
{
    return sum != 0 ? (double)most * members / (double)sum - 1 : 0;
}

heddle_status heddle_cluster_table_get_stats(heddle_cluster_table *table,
                                             heddle_cluster_stats *stats)
{
    heddle_cluster_stats own = HEDDLE_CLUSTER_STATS_INIT;
    measuring m = {table, &own};
    uint64_t most = 0;
    double seconds[HEDDLE_PHASES];
    heddle_status status;
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "get_stats: the table is NULL");
    HD_TRY(hd_check_struct(stats, &hd_cluster_stats_kind));
    memcpy(seconds, table->seconds, sizeof seconds); /* of the call before this one */
    status = hd_cluster_call(table, "get_stats", measure_part, &m, NULL);
    memcpy(table->seconds, seconds, sizeof seconds);
    if (status != HEDDLE_OK) return status;
    own.members = table->spread.members;
    own.imbalance = more_than_mean(own.keys_most, own.keys, own.members);
    own.rows = 0;
    for (uint32_t i = 0; i < own.members; i++) {
        own.rows += table->rows[i];
        if (table->rows[i] > most) most = table->rows[i];
    }
    own.row_imbalance = more_than_mean(most, own.rows, own.members);
    own.rows += table->folded;
    memcpy(own.seconds, seconds, sizeof seconds);
    hd_write_struct(stats, &own, &hd_cluster_stats_kind);
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- validation */

/* The keys of a part, counted by bin a piece at a time: there need be no memory for all of them. */
typedef struct counting_part {
    hd_member *member;
    const heddle_cluster_table *table;
    uint64_t *counts;
    heddle_status status;
} counting_part;

/* heddle_visitor. */
static uint32_t count_piece(void *context, const void *keys, const void *values,
                            const uint64_t *rows, uint64_t n)
{
    counting_part *c = (counting_part *)context;
    (void)values, (void)rows;
    c->status = hd_member_count(c->member, &c->table->spread, c->table->options.key_bits, keys, n,
                                c->counts);
    return c->status != HEDDLE_OK;
}

/* All keys of a part lie in bins that the member owns. */
static heddle_status check_owner(counting_part *c)
{
    const hd_spread *spread = &c->table->spread;
    HD_TRY(heddle_table_for_all(hd_part_of(c->table, c->member), count_piece, c, NULL));
    HD_TRY(c->status);
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++)
        if (c->counts[bin] != 0 && spread->owners[bin] != c->member->number)
            return hd_fail(
                HEDDLE_ERROR_CORRUPT, "member %u holds %llu keys of bin %u, which is member %u's",
                c->member->number, (unsigned long long)c->counts[bin], bin, spread->owners[bin]);
    return HEDDLE_OK;
}

static heddle_status validate_alone(hd_member *member, const heddle_cluster_table *table)
{
    uint64_t *counts HD_FREED = NULL;
    counting_part c = {member, table, NULL, HEDDLE_OK};
    HD_TRY(heddle_table_validate(hd_part_of(table, member), NULL));
    if (table->independent) return HEDDLE_OK;
    counts = (uint64_t *)hd_allocate_zeroed(hd_spread_bins(&table->spread), sizeof *counts);
    if (counts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of bins");
    c.counts = counts;
    return check_owner(&c);
}

static heddle_status validate_part(hd_member *member, void *context)
{
    const heddle_cluster_table *table = (const heddle_cluster_table *)context;
    return hd_member_agree(member, validate_alone(member, table));
}

heddle_status heddle_cluster_table_validate(heddle_cluster_table *table)
{
    return hd_cluster_call(table, "validate", validate_part, table, NULL);
}
