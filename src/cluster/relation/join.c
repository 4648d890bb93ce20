/*
 * join.c: joins over clusters (heddle/cluster_relations.h). The rows of both sides go to the members that own
 * their keys (relation.h), which join what has come. In an inner join they go by their numbers in the whole cluster. Other
 * kinds need flags for a member's rows, so its result has their numbers there; `names` says what rows of the whole
 * cluster these are.
 */
#include "cluster/relation/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/relation/relation.h"
#include "host/public_struct.h"
#include "host/seed.h"
#include "relation/join/join.h"
#include "relation/relation.h"

/* The seed of the members' own mixes, which must not be that of the bins. */
#define OTHER_SEED UINT64_C(0x8e4b2f1d6a3c5907)

/* A creation. */
typedef struct creation {
    hd_relation relation;
    heddle_cluster_join *join;
    heddle_join_options options;
} creation;

static heddle_status read_options(const heddle_join_options *given, heddle_join_options *options)
{
    HD_TRY(hd_read_struct(options, given, &hd_join_options_kind));
    if (options->kind < HEDDLE_JOIN_INNER || options->kind > HEDDLE_JOIN_ANTI)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_join_create: %u is no kind of join",
                       options->kind);
    if (options->flags != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_join_create: there are no flags yet");
    return HEDDLE_OK;
}

/* Joins what has come to a member. In an inner join rows go by their names at once. */
static heddle_status join_rows(const creation *c, hd_relating *r, hd_join_part *part)
{
    hd_join_keys keys = {{r->columns[0], r->columns[1]},
                         c->relation.columns,
                         {r->transfer[0].arrived, r->transfer[1].arrived},
                         {NULL, NULL}};
    heddle_join_options options = c->options;
    heddle_status status;
    part->named = options.kind == HEDDLE_JOIN_INNER;
    for (uint32_t side = 0; side < 2 && part->named; side++)
        keys.names[side] = r->names[side]->to.memory;
    if (!part->named) options.row_bits = hd_relating_row_bits(r);
    part->row_bits = options.row_bits;
    if (options.seed != 0) options.seed ^= OTHER_SEED;
    status = hd_join_create_named(r->member->device, &keys, &options, &part->join, NULL);
    if (status == HEDDLE_OK) status = heddle_join_count(part->join, &part->count, &part->slice_min);
    hd_phase(r->member, HEDDLE_PHASE_WORK);
    return status;
}

/* hd_member_work. */
static heddle_status create_part(hd_member *member, void *context)
{
    creation *c = (creation *)context;
    hd_join_part *part = c->join != NULL ? &c->join->parts[member->local] : NULL;
    hd_relating *r = part == NULL ? NULL : (hd_relating *)hd_allocate(sizeof *r);
    heddle_status status = HEDDLE_OK;
    if (r == NULL) status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    status = hd_member_agree(member, status);
    if (status == HEDDLE_OK) {
        status = hd_relate(r, &c->relation, member);
        if (status == HEDDLE_OK) {
            const heddle_status joined = join_rows(c, r, part);
            status = hd_relate_results(r, joined, part->count);
        }
        for (uint32_t side = 0; side < 2; side++)
            if (r->names[side] != NULL && !part->named) { /* they stay */
                part->names[side] = r->names[side]->to;
                memset(&r->names[side]->to, 0, sizeof r->names[side]->to);
            }
        hd_relating_end(r);
    }
    free(r);
    return status;
}

static void join_free(heddle_cluster_join *join)
{
    for (uint32_t i = 0; join->parts != NULL && i < join->cluster->exchange->local; i++) {
        hd_join_part *part = &join->parts[i];
        heddle_join_destroy(part->join);
        for (uint32_t side = 0; side < 2; side++) {
            hd_buffer_free(&part->names[side]);
            hd_buffer_free(&part->rows[side]);
            hd_buffer_free(&part->staged[side]);
        }
    }
    free(join->parts);
    free(join);
}

static heddle_cluster_join *join_allocate(heddle_cluster *cluster)
{
    heddle_cluster_join *join = (heddle_cluster_join *)hd_allocate_zeroed(1, sizeof *join);
    if (join == NULL) return NULL;
    join->cluster = cluster;
    join->parts = (hd_join_part *)hd_allocate_zeroed(cluster->exchange->local, sizeof *join->parts);
    if (join->parts != NULL) return join;
    free(join);
    return NULL;
}

static void fill_in(creation *c, heddle_cluster *cluster)
{
    hd_relation *relation = &c->relation;
    const uint32_t kind = c->options.kind;
    relation->cluster = cluster;
    relation->what = "cluster_join_create";
    relation->sides = 2;
    relation->row_bits = c->options.row_bits;
    relation->choices = kind;
    relation->numbered[0] = true;
    relation->numbered[1] = kind != HEDDLE_JOIN_SEMI && kind != HEDDLE_JOIN_ANTI;
    /* The other side's rows without a match must be nobody's concern. */
    relation->may_stay[0] = kind != HEDDLE_JOIN_RIGHT && kind != HEDDLE_JOIN_FULL;
    relation->may_stay[1] = kind == HEDDLE_JOIN_INNER || kind == HEDDLE_JOIN_RIGHT;
    relation->seed = c->options.seed != 0 ? c->options.seed : hd_seed_draw();
}

heddle_status heddle_cluster_join_create(heddle_cluster *cluster, const heddle_column *left,
                                         const heddle_column *right, uint32_t columns,
                                         uint64_t left_rows, uint64_t right_rows,
                                         const heddle_join_options *options,
                                         heddle_cluster_join **join)
{
    static const heddle_join_options usual = HEDDLE_JOIN_OPTIONS_INIT;
    creation c;
    heddle_status status;
    if (cluster == NULL || join == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_join_create needs a cluster and a place for the join");
    *join = NULL;
    memset(&c, 0, sizeof c);
    c.options = usual;
    status = read_options(options, &c.options);
    fill_in(&c, cluster);
    c.relation.columns = columns;
    c.relation.given[0] = left;
    c.relation.given[1] = right;
    c.relation.rows[0] = left_rows;
    c.relation.rows[1] = right_rows;
    c.join = join_allocate(cluster);
    hd_relation_check(&c.relation, status);
    status = hd_relation_run(cluster, create_part, &c, c.relation.stats.seconds);
    if (c.join == NULL) return status; /* all have failed together */
    c.join->row_bits = c.options.row_bits;
    c.join->kind = c.options.kind;
    c.join->stats = c.relation.stats;
    if (status == HEDDLE_OK) *join = c.join;
    else join_free(c.join);
    return status;
}

void heddle_cluster_join_destroy(heddle_cluster_join *join)
{
    if (join != NULL) join_free(join);
}

heddle_status heddle_cluster_join_get_stats(heddle_cluster_join *join, heddle_relation_stats *stats)
{
    if (join == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_join_get_stats: the join is NULL");
    HD_TRY(hd_check_struct(stats, &hd_relation_stats_kind));
    hd_write_struct(stats, &join->stats, &hd_relation_stats_kind);
    return HEDDLE_OK;
}

heddle_status heddle_cluster_join_check_row_bits(const heddle_cluster_join *join, uint32_t row_bits)
{
    if (join == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the join is NULL");
    return hd_check_row_bits("join", join->row_bits, row_bits);
}
