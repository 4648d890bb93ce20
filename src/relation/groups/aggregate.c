/* aggregate.c: sums and the like of a column of values, by group. */
#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "relation/groups/groups.h"
#include "table/table.h"

static uint32_t result_width(uint32_t aggregate, uint32_t type)
{
    return aggregate == HEDDLE_AGGREGATE_MIN || aggregate == HEDDLE_AGGREGATE_MAX
               ? hd_type_width(type)
               : 8;
}

/* The kind, the type and the values; `n` rows. */
static heddle_status check_values(const hd_reduce *r, uint64_t n, const char *call)
{
    if (r->aggregate < HEDDLE_AGGREGATE_COUNT || r->aggregate > HEDDLE_AGGREGATE_MEAN)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: %u is no aggregate", call, r->aggregate);
    if (r->type < HEDDLE_TYPE_U32 || r->type > HEDDLE_TYPE_F64)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: %u is no type", call, r->type);
    if (r->aggregate == HEDDLE_AGGREGATE_COUNT && r->column == NULL) return HEDDLE_OK;
    return hd_check_array(r->column, n, hd_type_width(r->type), "values");
}

static heddle_status check_out(const heddle_groups *groups, const hd_reduce *r, const void *out)
{
    return hd_check_array(out, groups->made.groups, result_width(r->aggregate, r->type), "results");
}

/* `reduce` names the caller's arrays; they are replaced by those that the device works on. */
static heddle_status run(const heddle_groups *groups, hd_scratch *scratch, hd_reduce reduce,
                         void *stream)
{
    const hd_grouped grouped = hd_row_groups_view(&groups->made);
    const hd_engine *engine = groups->engine;
    const uint32_t width = result_width(reduce.aggregate, reduce.type);
    const void *valid = NULL;
    hd_lent out, out_valid;
    hd_arrange arrange, arrange_valid;
    void *work = NULL;
    if (reduce.aggregate == HEDDLE_AGGREGATE_COUNT) reduce.column = NULL; /* nobody looks at it */
    HD_TRY(hd_lend_in(scratch, reduce.column, grouped.n * hd_type_width(reduce.type),
                      &reduce.column, stream));
    HD_TRY(hd_lend_in(scratch, reduce.valid, grouped.n, &valid, stream));
    HD_TRY(hd_scratch_take(scratch, engine->columns->work(groups->device, grouped.n), &work));
    HD_TRY(hd_lend_out(scratch, reduce.out, grouped.groups * width, &out));
    HD_TRY(hd_lend_out(scratch, reduce.out_valid, grouped.groups, &out_valid));
    HD_TRY(hd_arrange_begin(groups, scratch, out.memory, width, &arrange));
    HD_TRY(hd_arrange_begin(groups, scratch, out_valid.memory, 1, &arrange_valid));
    reduce.valid = (const uint8_t *)valid;
    reduce.out = arrange.memory;
    reduce.out_valid = (uint8_t *)arrange_valid.memory;
    HD_TRY(engine->columns->reduce(hd_on(groups->device, work, stream), &grouped, &reduce));
    HD_TRY(hd_arrange_end(groups, &arrange, stream));
    HD_TRY(hd_arrange_end(groups, &arrange_valid, stream));
    HD_TRY(hd_take_back(groups->device, &out, stream));
    return hd_take_back(groups->device, &out_valid, stream);
}

heddle_status heddle_groups_aggregate(heddle_groups *groups, uint32_t aggregate, uint32_t type,
                                      const void *values, const uint8_t *valid, void *out,
                                      uint8_t *out_valid, void *stream)
{
    const hd_reduce reduce = {aggregate, type, values, valid, out, out_valid};
    HD_TRY(hd_check_asked(groups, HEDDLE_GROUPS_ROWS, stream, "groups_aggregate"));
    HD_TRY(check_values(&reduce, groups->made.n, "groups_aggregate"));
    HD_TRY(check_out(groups, &reduce, out));
    if (groups->made.groups == 0) return HEDDLE_OK;
    HD_SCRATCH(scratch, groups->device);
    return run(groups, &scratch, reduce, stream);
}

/* --------------------------------------------------------------------- aggregates named by options */

heddle_status hd_groups_read_values(heddle_groups *groups, const heddle_groups_options *options)
{
    const char *at = (const char *)options->aggregates;
    if (options->aggregate_count > HEDDLE_AGGREGATES_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: %u aggregates are more than %u",
                       options->aggregate_count, HEDDLE_AGGREGATES_MAX);
    if (options->aggregate_count != 0 && at == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: the aggregates are NULL");
    for (uint32_t i = 0; i < options->aggregate_count; i++) {
        heddle_aggregate a = HEDDLE_AGGREGATE_INIT;
        uint32_t size;
        HD_TRY(hd_read_struct(&a, at, &hd_aggregate_kind));
        memcpy(&size, at, sizeof size); /* the caller's, for the next one */
        at += size;
        const hd_reduce reduce = {a.aggregate, a.type, a.values, a.valid, NULL, NULL};
        if (a.flags != 0)
            return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: aggregates have no flags yet");
        HD_TRY(check_values(&reduce, groups->rows, "groups_create"));
        groups->values[i] = reduce;
        if (a.aggregate == HEDDLE_AGGREGATE_COUNT) groups->values[i].column = NULL;
    }
    groups->value_count = options->aggregate_count;
    return HEDDLE_OK;
}

/* What was worked out while the groups were made. */
static heddle_status fetch_value(const heddle_groups *groups, hd_scratch *scratch, uint32_t i,
                                 const hd_reduce *to, void *stream)
{
    const uint64_t count = groups->made.groups;
    hd_lent out, out_valid;
    HD_TRY(hd_lend_out(scratch, to->out, count * result_width(to->aggregate, to->type), &out));
    HD_TRY(hd_lend_out(scratch, to->out_valid, count, &out_valid));
    HD_TRY(
        hd_fetch_distinct_value(&groups->made, i, out.memory, (uint8_t *)out_valid.memory, stream));
    HD_TRY(hd_take_back(groups->device, &out, stream));
    return hd_take_back(groups->device, &out_valid, stream);
}

heddle_status heddle_groups_aggregated(heddle_groups *groups, uint32_t i, void *out,
                                       uint8_t *out_valid, void *stream)
{
    hd_reduce reduce;
    HD_TRY(hd_check_groups(groups, stream, "groups_aggregated"));
    if (i >= groups->value_count)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_aggregated: there is no aggregate %u among %u",
                       i, groups->value_count);
    reduce = groups->values[i];
    HD_TRY(check_out(groups, &reduce, out));
    if (groups->made.groups == 0) return HEDDLE_OK;
    reduce.out = out;
    reduce.out_valid = out_valid;
    HD_SCRATCH(scratch, groups->device);
    return hd_groups_distinct(groups) ? fetch_value(groups, &scratch, i, &reduce, stream)
                                      : run(groups, &scratch, reduce, stream);
}
