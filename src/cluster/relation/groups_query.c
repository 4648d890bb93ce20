/*
 * groups_query.c: what a group-by over a cluster of devices knows. First rows, keys and sizes are there and are
 * copied out; values to be aggregated go the way the keys went, and numbers of groups go that way back.
 */
#include <string.h>

#include "base/error.h"
#include "cluster/relation/groups.h"
#include "table/check.h"

static uint32_t type_width(uint32_t type) { return type <= HEDDLE_TYPE_F32 ? 4 : 8; }

/* ------------------------------------------------------------------------------ what is there */

enum { ASK_FIRST, ASK_KEYS, ASK_SIZES };

/* A call, the same for all local members. */
typedef struct question {
    heddle_cluster_groups *by;
    uint32_t kind, column;
    char *out;
    uint32_t width; /* of an element of it */
    uint8_t *valid;
} question;

/* The places of a member's groups in the caller's array. */
static heddle_status open_places(hd_member *member, const hd_by_part *part, void *user,
                                 uint32_t width, hd_buffer *buffer, hd_lent *lent)
{
    return hd_member_lend(member, user != NULL ? (char *)user + part->first * width : NULL,
                          part->count * width, false, buffer, lent);
}

static heddle_status ask_part(const question *q, hd_by_part *part, void *out, uint8_t *valid)
{
    if (q->kind == ASK_SIZES) return heddle_groups_sizes(part->groups, (uint64_t *)out, NULL);
    if (q->kind == ASK_KEYS) return heddle_groups_keys(part->groups, q->column, out, valid, NULL);
    /* Rows do not arrive in their order: the lowest number of each group is looked for. */
    return heddle_groups_aggregate(part->groups, HEDDLE_AGGREGATE_MIN,
                                   q->width == 4 ? HEDDLE_TYPE_U32 : HEDDLE_TYPE_U64,
                                   part->relating.names[0]->to.memory, NULL, out, NULL, NULL);
}

/* hd_member_work; members do not talk to each other. */
static heddle_status ask_member(hd_member *member, void *context)
{
    const question *q = (const question *)context;
    hd_by_part *part = &q->by->parts[member->local];
    HD_BUFFER(out_buffer);
    HD_BUFFER(valid_buffer);
    hd_lent out, valid;
    if (part->count == 0) return HEDDLE_OK;
    HD_TRY(open_places(member, part, q->out, q->width, &out_buffer, &out));
    HD_TRY(open_places(member, part, q->valid, 1, &valid_buffer, &valid));
    HD_TRY(ask_part(q, part, out.memory, (uint8_t *)valid.memory));
    HD_TRY(member->device->engine->synchronize(member->device, NULL));
    HD_TRY(hd_member_take_back(member, &out));
    return q->valid != NULL ? hd_member_take_back(member, &valid) : HEDDLE_OK;
}

static heddle_status ask(heddle_cluster_groups *by, uint32_t kind, uint32_t column, void *out,
                         uint32_t width, uint8_t *valid, const char *name)
{
    question q = {by, kind, column, (char *)out, width, valid};
    const uint32_t alignment = width == 2 || width == 4 || width == 8 ? width : 1;
    HD_TRY(hd_check_array(out, by->count, alignment, name));
    return hd_relation_run_apart(by->cluster, ask_member, &q);
}

static heddle_status check_by(const heddle_cluster_groups *by, const char *what)
{
    return by != NULL ? HEDDLE_OK : hd_fail(HEDDLE_ERROR_INVALID, "%s: the groups are NULL", what);
}

heddle_status heddle_cluster_groups_first(heddle_cluster_groups *by, void *rows)
{
    HD_TRY(check_by(by, "cluster_groups_first"));
    return ask(by, ASK_FIRST, 0, rows, by->row_bits / 8, NULL, "rows");
}

heddle_status heddle_cluster_groups_sizes(heddle_cluster_groups *by, uint64_t *sizes)
{
    HD_TRY(check_by(by, "cluster_groups_sizes"));
    return ask(by, ASK_SIZES, 0, sizes, sizeof *sizes, NULL, "sizes");
}

heddle_status heddle_cluster_groups_keys(heddle_cluster_groups *by, uint32_t column, void *keys,
                                         uint8_t *valid)
{
    HD_TRY(check_by(by, "cluster_groups_keys"));
    if (column >= by->columns)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_groups_keys: there is no column %u among %u",
                       column, by->columns);
    return ask(by, ASK_KEYS, column, keys, by->parts[0].relating.columns[0][column].width, valid,
               "keys");
}

/* ------------------------------------------------------------------------------- groups of rows */

typedef struct numbering {
    heddle_cluster_groups *by;
    char *numbers;
} numbering;

/* The groups of the rows that have arrived, counted over all members. */
static heddle_status number_arrivals(const heddle_cluster_groups *by, hd_by_part *part,
                                     hd_member *member, hd_buffer *local, hd_buffer *whole)
{
    heddle_device *device = member->device;
    const uint64_t rows = part->relating.transfer[0].arrived;
    HD_TRY(hd_buffer_room(local, device, rows * part->row_bits / 8));
    HD_TRY(hd_buffer_room(whole, device, rows * by->row_bits / 8));
    HD_TRY(heddle_groups_of_rows(part->groups, local->memory, NULL));
    HD_TRY(device->engine->columns->renumber(
        hd_on(device, NULL, NULL), hd_at_rows(local->memory, part->row_bits, rows),
        hd_names_of(NULL, by->first + part->first, by->row_bits), whole->memory));
    HD_TRY(device->engine->synchronize(device, NULL));
    hd_phase(member, HEDDLE_PHASE_WORK);
    return HEDDLE_OK;
}

/* hd_member_work. */
static heddle_status number_part(hd_member *member, void *context)
{
    const numbering *n = (const numbering *)context;
    hd_by_part *part = &n->by->parts[member->local];
    HD_BUFFER(local);
    HD_BUFFER(whole);
    heddle_status mine = hd_check_array(n->numbers, n->by->rows, n->by->row_bits / 8, "numbers");
    if (mine == HEDDLE_OK) mine = number_arrivals(n->by, part, member, &local, &whole);
    return hd_transfer_return(&part->relating.transfer[0], mine, whole.memory, n->by->row_bits / 8,
                              n->numbers);
}

heddle_status heddle_cluster_groups_of_rows(heddle_cluster_groups *by, void *numbers)
{
    numbering n = {by, (char *)numbers};
    HD_TRY(check_by(by, "cluster_groups_of_rows"));
    return hd_relation_run(by->cluster, number_part, &n, NULL);
}

/* ---------------------------------------------------------------------------------- aggregates */

typedef struct aggregation {
    heddle_cluster_groups *by;
    uint32_t aggregate, type;
    const void *values;
    const uint8_t *valid;
    char *out;
    uint8_t *out_valid;
} aggregation;

static uint32_t result_width(const aggregation *a)
{
    const bool of_type =
        a->aggregate == HEDDLE_AGGREGATE_MIN || a->aggregate == HEDDLE_AGGREGATE_MAX;
    return of_type ? type_width(a->type) : 8;
}

static heddle_status check_aggregation(const aggregation *a)
{
    if (a->aggregate < HEDDLE_AGGREGATE_COUNT || a->aggregate > HEDDLE_AGGREGATE_MEAN)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_groups_aggregate: %u is no aggregate",
                       a->aggregate);
    if (a->type < HEDDLE_TYPE_U32 || a->type > HEDDLE_TYPE_F64)
        return hd_fail(HEDDLE_ERROR_INVALID, "cluster_groups_aggregate: %u is no type", a->type);
    if (a->aggregate != HEDDLE_AGGREGATE_COUNT || a->values != NULL)
        HD_TRY(hd_check_array(a->values, a->by->rows, type_width(a->type), "values"));
    return hd_check_array(a->out, a->by->count, result_width(a), "results");
}

/* Whether any process has nulls, and that all want the same. The status is agreed upon. */
static heddle_status compare_choices(const aggregation *a, const hd_member *member, bool *nulls)
{
    hd_exchange *exchange = hd_exchange_of(member);
    const uint64_t choice = (uint64_t)a->aggregate << 8 | a->type;
    uint64_t facts[3] = {choice, ~choice, a->valid != NULL && a->by->rows != 0};
    HD_TRY(exchange->ops->reduce(exchange, member->number, check_aggregation(a), facts, 3,
                                 HD_REDUCE_MAX));
    if (facts[0] != ~facts[1])
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_groups_aggregate: processes want different aggregates or types");
    *nulls = facts[2] != 0;
    return HEDDLE_OK;
}

/* Aggregates the values that have arrived. */
static heddle_status aggregate_arrived(const aggregation *a, hd_member *member, const void *values,
                                       const void *valid)
{
    hd_by_part *part = &a->by->parts[member->local];
    HD_BUFFER(out_buffer);
    HD_BUFFER(valid_buffer);
    hd_lent out, out_valid;
    if (part->count == 0) return HEDDLE_OK;
    HD_TRY(open_places(member, part, a->out, result_width(a), &out_buffer, &out));
    HD_TRY(open_places(member, part, a->out_valid, 1, &valid_buffer, &out_valid));
    HD_TRY(heddle_groups_aggregate(part->groups, a->aggregate, a->type, values,
                                   (const uint8_t *)valid, out.memory, (uint8_t *)out_valid.memory,
                                   NULL));
    HD_TRY(member->device->engine->synchronize(member->device, NULL));
    HD_TRY(hd_member_take_back(member, &out));
    if (a->out_valid != NULL) HD_TRY(hd_member_take_back(member, &out_valid));
    hd_phase(member, HEDDLE_PHASE_WORK);
    return HEDDLE_OK;
}

/* hd_member_work. */
static heddle_status aggregate_part(hd_member *member, void *context)
{
    const aggregation *a = (const aggregation *)context;
    hd_transfer *transfer = &a->by->parts[member->local].relating.transfer[0];
    hd_moved moved[2];
    uint32_t count = 0, values = 0, valid = 0; /* their places among the moved, from 1 on */
    bool nulls = false;
    heddle_status status = compare_choices(a, member, &nulls);
    if (status != HEDDLE_OK) return status;
    memset(moved, 0, sizeof moved);
    if (a->aggregate != HEDDLE_AGGREGATE_COUNT) { /* which looks at no value */
        values = ++count;
        moved[values - 1].width = type_width(a->type);
        moved[values - 1].user = (const char *)a->values;
    }
    if (nulls) {
        valid = ++count;
        moved[valid - 1].kind = a->valid != NULL ? HD_MOVED_COLUMN : HD_MOVED_ONES;
        moved[valid - 1].width = 1;
        moved[valid - 1].user = (const char *)a->valid;
    }
    if (count != 0) status = hd_transfer_send_more(transfer, HEDDLE_OK, moved, count);
    if (status == HEDDLE_OK)
        status = hd_member_agree(
            member, aggregate_arrived(a, member, values != 0 ? moved[values - 1].to.memory : NULL,
                                      valid != 0 ? moved[valid - 1].to.memory : NULL));
    hd_moved_free(&moved[0]);
    hd_moved_free(&moved[1]);
    return status;
}

heddle_status heddle_cluster_groups_aggregate(heddle_cluster_groups *by, uint32_t aggregate,
                                              uint32_t type, const void *values,
                                              const uint8_t *valid, void *out, uint8_t *out_valid)
{
    aggregation a = {by, aggregate, type, values, valid, (char *)out, out_valid};
    HD_TRY(check_by(by, "cluster_groups_aggregate"));
    return hd_relation_run(by->cluster, aggregate_part, &a, NULL);
}
