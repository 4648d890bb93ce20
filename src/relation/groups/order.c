/*
 * order.c: groups in the order in which their first rows appear. First rows are marked among all
 * rows; the marks before a first row are then the number of its group.
 */
#include "base/error.h"
#include "engine/blocks.h"
#include "relation/groups/groups.h"

typedef struct ordering {
    heddle_groups *groups;
    hd_scratch scratch;
    void *stream;
    void *flags;  /* 1 where a row is the first of its group */
    void *firsts; /* one a group */
    void *by_row; /* a number for every row */
    void *work, *count;
} ordering;

static heddle_status take_memory(ordering *o)
{
    heddle_groups *groups = o->groups;
    const uint64_t n = groups->made.n, bytes = groups->made.groups * hd_row_width(groups);
    heddle_device *device = groups->device;
    HD_TRY(hd_scratch_take(&o->scratch, n, &o->flags));
    HD_TRY(hd_scratch_take(&o->scratch, bytes, &o->firsts));
    HD_TRY(hd_scratch_take(&o->scratch, n * hd_row_width(groups), &o->by_row));
    HD_TRY(hd_scratch_take(&o->scratch, groups->engine->columns->work(device, n), &o->work));
    HD_TRY(hd_scratch_take(&o->scratch, sizeof(uint64_t), &o->count));
    HD_TRY(hd_block_take(device, bytes, &groups->names));
    return hd_block_take(device, bytes, &groups->order);
}

/* names[g]: how many first rows are before that of the engine's group g. */
static heddle_status find_names(ordering *o)
{
    heddle_groups *groups = o->groups;
    const hd_column_ops *columns = groups->engine->columns;
    const hd_grouped grouped = hd_row_groups_view(&groups->made);
    heddle_device *device = groups->device;
    const hd_site on = hd_on(device, o->work, o->stream);
    const uint32_t bits = grouped.row_bits;
    const hd_row_numbers firsts = hd_at_rows(o->firsts, bits, grouped.groups);
    HD_TRY(columns->describe(on, &grouped, o->firsts, NULL, NULL));
    HD_TRY(groups->engine->fill(device, o->flags, 0, grouped.n, o->stream));
    HD_TRY(columns->scatter(on, hd_elements_of(NULL, 1), firsts, o->flags));
    HD_TRY(columns->rank(on, (const uint8_t *)o->flags, grouped.n, o->by_row, bits));
    return columns->gather(on, hd_elements_of(o->by_row, bits / 8), firsts, groups->names);
}

/* order[g]: which of the engine's groups has the g-th of all first rows. */
static heddle_status find_order(ordering *o)
{
    heddle_groups *groups = o->groups;
    const hd_column_ops *columns = groups->engine->columns;
    const hd_grouped grouped = hd_row_groups_view(&groups->made);
    const hd_site on = hd_on(groups->device, o->work, o->stream);
    const uint32_t bits = grouped.row_bits;
    const hd_row_numbers firsts = hd_at_rows(o->firsts, bits, grouped.groups);
    HD_TRY(columns->number(on, &grouped, NULL, o->by_row));
    HD_TRY(columns->select(on, hd_flags_of((const uint8_t *)o->flags, grouped.n, true), o->firsts,
                           bits, (uint64_t *)o->count));
    return columns->gather(on, hd_elements_of(o->by_row, bits / 8), firsts, groups->order);
}

static heddle_status make_order(ordering *o)
{
    HD_TRY(take_memory(o));
    HD_TRY(find_names(o));
    HD_TRY(find_order(o));
    return o->groups->engine->synchronize(o->groups->device, o->stream);
}

heddle_status hd_groups_order(heddle_groups *groups, void *stream)
{
    ordering o = {groups, {groups->device, 0, {NULL}}, stream, NULL, NULL, NULL, NULL, NULL};
    heddle_status status;
    if (groups->made.groups == 0 || groups->made.numbers != NULL)
        return HEDDLE_OK; /* nothing to order, or in that order anyway */
    status = make_order(&o);
    hd_scratch_free(&o.scratch);
    return status;
}

heddle_status hd_arrange_begin(const heddle_groups *groups, hd_scratch *scratch, void *out,
                               uint32_t width, hd_arrange *arrange)
{
    arrange->out = arrange->memory = out;
    arrange->width = width;
    if (out == NULL || groups->order == NULL) return HEDDLE_OK;
    return hd_scratch_take(scratch, groups->made.groups * width, &arrange->memory);
}

heddle_status hd_arrange_end(const heddle_groups *groups, const hd_arrange *arrange, void *stream)
{
    if (arrange->memory == arrange->out) return HEDDLE_OK;
    return groups->engine->columns->gather(
        hd_on(groups->device, NULL, stream), hd_elements_of(arrange->memory, arrange->width),
        hd_at_rows(groups->order, groups->made.row_bits, groups->made.groups), arrange->out);
}
