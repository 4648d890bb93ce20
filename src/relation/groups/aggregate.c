/* aggregate.c: sums and the like of a column of values, by group. */
#include "base/error.h"
#include "relation/groups/groups.h"
#include "table/table.h"

static uint32_t type_width(uint32_t type) { return type <= HEDDLE_TYPE_F32 ? 4 : 8; }

static uint32_t result_width(uint32_t aggregate, uint32_t type)
{
    return aggregate == HEDDLE_AGGREGATE_MIN || aggregate == HEDDLE_AGGREGATE_MAX ? type_width(type)
                                                                                  : 8;
}

static heddle_status check_aggregate(const heddle_groups *groups, const hd_reduce *r)
{
    if (r->aggregate < HEDDLE_AGGREGATE_COUNT || r->aggregate > HEDDLE_AGGREGATE_MEAN)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_aggregate: %u is no aggregate", r->aggregate);
    if (r->type < HEDDLE_TYPE_U32 || r->type > HEDDLE_TYPE_F64)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_aggregate: %u is no type", r->type);
    if (r->aggregate != HEDDLE_AGGREGATE_COUNT || r->column != NULL)
        HD_TRY(hd_check_array(r->column, groups->made.n, type_width(r->type), "values"));
    return hd_check_array(r->out, groups->made.groups, result_width(r->aggregate, r->type),
                          "results");
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
    HD_TRY(hd_lend_in(scratch, reduce.column, grouped.n * type_width(reduce.type), &reduce.column,
                      stream));
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
    HD_TRY(check_aggregate(groups, &reduce));
    if (groups->made.groups == 0) return HEDDLE_OK;
    HD_SCRATCH(scratch, groups->device);
    return run(groups, &scratch, reduce, stream);
}
