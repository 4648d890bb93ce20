/*
 * set_operation.c: set operations over clusters (heddle/cluster_relations.h): keys of both arrays go to the members that
 * own them (relation.h), and each works on those that have come to it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/relation/relation.h"
#include "host/seed.h"

/* A call, the same for all local members. */
typedef struct operation {
    hd_relation relation;
    heddle_column columns[2];
    uint32_t kind, key_bits;
    char *keys;
    uint64_t capacity;
    uint64_t counts[HEDDLE_CLUSTER_MEMBERS_MAX]; /* of local members */
    uint64_t count;
} operation;

/* What a member's keys come to, in memory of its own. */
static heddle_status operate(const operation *o, const hd_relating *r, hd_buffer *result,
                             uint64_t *count)
{
    heddle_device *device = r->member->device;
    const uint64_t a = r->transfer[0].arrived, b = r->transfer[1].arrived;
    heddle_status status = hd_buffer_room(result, device, (a + b) * o->key_bits / 8);
    if (status == HEDDLE_OK)
        status = heddle_set_operation(device, o->kind, o->key_bits, r->columns[0][0].data, a,
                                      r->columns[1][0].data, b, result->memory, a + b, count, NULL);
    hd_phase(r->member, HEDDLE_PHASE_WORK);
    return status;
}

/* Copies the keys of a member to the caller's array when all fit. The status is agreed upon. */
static heddle_status hand_out(operation *o, hd_member *member, const hd_buffer *result)
{
    const uint32_t width = o->key_bits / 8, local = hd_exchange_of(member)->local;
    uint64_t first = 0, sum = 0;
    heddle_status status = HEDDLE_OK;
    for (uint32_t i = 0; i < local; i++) {
        if (i < member->local) first += o->counts[i];
        sum += o->counts[i];
    }
    if (member->local == 0) o->count = sum;
    if (sum > o->capacity || (sum != 0 && o->keys == NULL))
        status = hd_fail(HEDDLE_ERROR_TOO_SMALL,
                         "cluster_set_operation: %llu keys do not fit into an array of %llu",
                         (unsigned long long)sum, (unsigned long long)o->capacity);
    status = hd_member_agree(member, status);
    if (status != HEDDLE_OK) return status;
    if (o->counts[member->local] != 0)
        status = hd_member_copy(member, o->keys + first * width, result->memory,
                                o->counts[member->local] * width);
    return hd_member_agree(member, status);
}

/* hd_member_work. */
static heddle_status work(hd_member *member, void *context)
{
    operation *o = (operation *)context;
    hd_buffer result = {NULL, NULL, 0};
    hd_relating *r = (hd_relating *)hd_allocate(sizeof *r);
    heddle_status status = HEDDLE_OK;
    if (r == NULL) status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a set operation");
    status = hd_member_agree(member, status);
    if (status == HEDDLE_OK) {
        status = hd_relate(r, &o->relation, member);
        if (status == HEDDLE_OK)
            status = hd_member_agree(member, operate(o, r, &result, &o->counts[member->local]));
        hd_relating_end(r);
    }
    free(r);
    if (status == HEDDLE_OK) status = hand_out(o, member, &result);
    hd_buffer_free(&result);
    return status;
}

static heddle_status check_operation(const operation *o)
{
    if (o->kind < HEDDLE_SET_UNION || o->kind > HEDDLE_SET_DIFFERENCE)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_set_operation: %u is no operation", o->kind);
    if (o->key_bits != 32 && o->key_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_set_operation: keys have 32 or 64 bits, not %u", o->key_bits);
    if ((uintptr_t)o->keys % (o->key_bits / 8) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_set_operation: the array for the result is not aligned");
    return HEDDLE_OK;
}

heddle_status heddle_cluster_set_operation(heddle_cluster *cluster, uint32_t kind,
                                           uint32_t key_bits, const void *a, uint64_t a_count,
                                           const void *b, uint64_t b_count, void *keys,
                                           uint64_t capacity, uint64_t *count)
{
    operation o;
    heddle_status status;
    if (cluster == NULL || count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_set_operation needs a cluster and a place for the count");
    memset(&o, 0, sizeof o);
    o.columns[0].data = a;
    o.columns[1].data = b;
    o.columns[0].width = o.columns[1].width = key_bits / 8;
    o.kind = kind;
    o.key_bits = key_bits;
    o.keys = (char *)keys;
    o.capacity = capacity;
    o.relation.cluster = cluster;
    o.relation.what = "cluster_set_operation";
    o.relation.sides = 2;
    o.relation.columns = 1;
    o.relation.given[0] = &o.columns[0];
    o.relation.given[1] = &o.columns[1];
    o.relation.rows[0] = a_count;
    o.relation.rows[1] = b_count;
    o.relation.row_bits = 64;
    o.relation.seed = hd_seed_draw();
    o.relation.choices = kind;
    hd_relation_check(&o.relation, check_operation(&o));
    status = hd_relation_run(cluster, work, &o, NULL);
    *count = o.count;
    return status;
}
