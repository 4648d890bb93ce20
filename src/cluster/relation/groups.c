/*
 * groups.c: group-by over clusters of devices (heddle/cluster_relations.h). Rows go to the members that own their
 * keys (relation.h), and each groups what has come to it. The way that the rows came is kept, for values to be
 * aggregated, and for the numbers of groups on their way back (groups_query.c).
 */
#include "cluster/relation/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/public_struct.h"
#include "host/seed.h"
#include "relation/relation.h"

/* The seed of the members' own mixes, which must not be that of the bins. */
#define OTHER_SEED UINT64_C(0x51d7348d9f06b2ea)

/* A creation. */
typedef struct creation {
    heddle_cluster_groups *by;
    heddle_groups_options options;
} creation;

static heddle_status read_options(const heddle_groups_options *given,
                                  heddle_groups_options *options)
{
    HD_TRY(hd_read_struct(options, given, &hd_groups_options_kind));
    if (options->order != HEDDLE_GROUPS_UNORDERED)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_groups_create: groups on several members have no order");
    if (options->flags != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_groups_create: there are no flags yet");
    if (options->aggregate_count != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_groups_create: aggregates are asked for one by one");
    return HEDDLE_OK;
}

/* Groups what has come to a member. */
static heddle_status group_rows(const creation *c, hd_by_part *part)
{
    const hd_relating *r = &part->relating;
    heddle_groups_options options = c->options;
    heddle_status status;
    options.row_bits = part->row_bits = hd_relating_row_bits(r);
    if (options.seed != 0) options.seed ^= OTHER_SEED;
    status = heddle_groups_create(r->member->device, r->columns[0], c->by->columns,
                                  r->transfer[0].arrived, &options, &part->groups, NULL);
    if (status == HEDDLE_OK) status = heddle_groups_count(part->groups, &part->count);
    hd_phase(r->member, HEDDLE_PHASE_WORK);
    return status;
}

/* All learn how many groups the members before them have. The status is agreed upon. */
static heddle_status number_groups(heddle_cluster_groups *by, const hd_member *member)
{
    hd_exchange *exchange = hd_exchange_of(member);
    uint64_t *counts = (uint64_t *)hd_allocate_zeroed(exchange->members, sizeof *counts);
    heddle_status status = HEDDLE_OK;
    if (counts == NULL)
        status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the groups of members");
    if (counts != NULL) counts[member->number] = by->parts[member->local].count;
    status = exchange->ops->reduce(exchange, member->number, status, counts, exchange->members,
                                   HD_REDUCE_SUM);
    if (status == HEDDLE_OK && member->local == 0) {
        for (uint32_t i = 0; i < exchange->first; i++) by->first += counts[i];
        for (uint32_t i = 0; i < exchange->local; i++) {
            by->parts[i].first = by->count;
            by->count += counts[exchange->first + i];
        }
    }
    free(counts);
    return status;
}

/* hd_member_work. */
static heddle_status create_part(hd_member *member, void *context)
{
    const creation *c = (const creation *)context;
    heddle_status status = HEDDLE_OK;
    if (c->by == NULL) status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for groups");
    status = hd_member_agree(member, status);
    if (status != HEDDLE_OK) return status;
    hd_by_part *part = &c->by->parts[member->local];
    status = hd_relate(&part->relating, &c->by->relation, member);
    if (status == HEDDLE_OK) {
        const heddle_status grouped = group_rows(c, part);
        status = hd_relate_results(&part->relating, grouped, part->count);
    }
    if (status == HEDDLE_OK) status = number_groups(c->by, member);
    return status;
}

static void by_free(heddle_cluster_groups *by)
{
    for (uint32_t i = 0; by->parts != NULL && i < by->cluster->exchange->local; i++) {
        heddle_groups_destroy(by->parts[i].groups);
        hd_relating_end(&by->parts[i].relating);
    }
    free(by->parts);
    free(by);
}

static heddle_cluster_groups *by_allocate(heddle_cluster *cluster)
{
    heddle_cluster_groups *by = (heddle_cluster_groups *)hd_allocate_zeroed(1, sizeof *by);
    if (by == NULL) return NULL;
    by->cluster = cluster;
    by->parts = (hd_by_part *)hd_allocate_zeroed(cluster->exchange->local, sizeof *by->parts);
    if (by->parts != NULL) return by;
    free(by);
    return NULL;
}

static void fill_in(heddle_cluster_groups *by, const heddle_column *keys,
                    const heddle_groups_options *options, heddle_status read)
{
    hd_relation *relation = &by->relation;
    by->row_bits = options->row_bits;
    relation->cluster = by->cluster;
    relation->what = "cluster_groups_create";
    relation->sides = 1;
    relation->columns = by->columns;
    relation->given[0] = keys;
    relation->rows[0] = by->rows;
    relation->numbered[0] = relation->keeps_ways = true;
    relation->row_bits = options->row_bits;
    relation->seed = options->seed != 0 ? options->seed : hd_seed_draw();
    hd_relation_check(relation, read);
}

heddle_status heddle_cluster_groups_create(heddle_cluster *cluster, const heddle_column *keys,
                                           uint32_t columns, uint64_t rows,
                                           const heddle_groups_options *options,
                                           heddle_cluster_groups **by)
{
    static const heddle_groups_options usual = HEDDLE_GROUPS_OPTIONS_INIT;
    creation c;
    heddle_status status;
    if (cluster == NULL || by == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_groups_create needs a cluster and a place for the groups");
    *by = NULL;
    c.options = usual;
    status = read_options(options, &c.options);
    c.by = by_allocate(cluster);
    if (c.by == NULL)
        return hd_relation_run(cluster, create_part, &c, NULL); /* all fail together */
    c.by->columns = columns;
    c.by->rows = rows;
    fill_in(c.by, keys, &c.options, status);
    status = hd_relation_run(cluster, create_part, &c, c.by->relation.stats.seconds);
    c.by->relation.given[0] = NULL;
    if (status == HEDDLE_OK) *by = c.by;
    else by_free(c.by);
    return status;
}

void heddle_cluster_groups_destroy(heddle_cluster_groups *by)
{
    if (by != NULL) by_free(by);
}

heddle_status heddle_cluster_groups_count(heddle_cluster_groups *by, uint64_t *count,
                                          uint64_t *first)
{
    if (by == NULL || count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_groups_count needs groups and a place for the count");
    *count = by->count;
    if (first != NULL) *first = by->first;
    return HEDDLE_OK;
}

heddle_status heddle_cluster_groups_get_stats(heddle_cluster_groups *by,
                                              heddle_relation_stats *stats)
{
    if (by == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_groups_get_stats: the group-by is NULL");
    HD_TRY(hd_check_struct(stats, &hd_relation_stats_kind));
    hd_write_struct(stats, &by->relation.stats, &hd_relation_stats_kind);
    return HEDDLE_OK;
}

heddle_status heddle_cluster_groups_check_row_bits(const heddle_cluster_groups *by,
                                                   uint32_t row_bits)
{
    if (by == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the group-by is NULL");
    return hd_check_row_bits("group-by", by->row_bits, row_bits);
}
