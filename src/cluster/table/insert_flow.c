/*
 * insert_flow.c: pairs that are inserted as they come (insert.h): a slice goes into the member's part while the next
 * one is on its way. So a build is hidden behind an exchange that is slower than insertions, as links between machines
 * are, and needs memory for two slices instead of all pairs. Where members read each other's memory, to gather
 * all and build at once is faster (insert_gather.c).
 */
#include <string.h>

#include "base/error.h"
#include "cluster/table/insert.h"
#include "table/table.h"

/*
 * Whether pairs flow into this member's part. A hashgraph and lists of values want all at once; rows of hot keys come
 * last, to be added to what was gathered (cluster/route/hot.h).
 */
bool hd_flow_suits(const hd_writing *g, uint64_t rounds)
{
    const hd_exchange *exchange = hd_exchange_of(g->member);
    const heddle_table_options *o = &g->w->table->options;
    return exchange->overlaps && exchange->links && rounds > 1 && !g->w->combines &&
           o->container != HEDDLE_CONTAINER_MULTIMAP && o->scheme != HEDDLE_SCHEME_HASHGRAPH;
}

heddle_status hd_flow_begin(hd_writing *g, uint64_t expected)
{
    heddle_table *part = hd_part_of(g->w->table, g->member);
    const uint32_t flags = g->w->table->options.flags;
    heddle_status status;
    if (!g->w->builds) return HEDDLE_OK;
    status = heddle_table_clear(part, NULL);
    if (status != HEDDLE_OK || (flags & HEDDLE_FLAG_FIXED) != 0 || expected == 0) return status;
    /* As a build of so many rows would. Without memory for that the part grows as it must: fewer may be different. */
    status = heddle_table_reserve(part, expected, NULL);
    return status == HEDDLE_ERROR_NO_MEMORY ? HEDDLE_OK : status;
}

heddle_status hd_flow_room(hd_writing *g, hd_delivery *d)
{
    hd_arrived *to = &g->arrived[g->arriving];
    heddle_device *device = g->member->device;
    HD_TRY(hd_buffer_ample(&to->keys, device, d->total * g->key_width));
    if (g->value_width != 0)
        HD_TRY(hd_buffer_ample(&to->values, device, d->total * g->value_width));
    to->pairs = d->total;
    d->to[0] = to->keys.memory;
    d->to[1] = to->values.memory;
    g->arriving ^= 1;
    g->received += d->total;
    return HEDDLE_OK;
}

heddle_status hd_flow_insert(hd_writing *g, uint32_t turn)
{
    hd_arrived *from = &g->arrived[turn];
    const void *values = g->value_width != 0 ? from->values.memory : NULL;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status;
    if (from->pairs == 0) return HEDDLE_OK;
    status = heddle_table_insert(hd_part_of(g->w->table, g->member), from->keys.memory, values,
                                 from->pairs, &g->w->options, &totals, NULL);
    status = hd_write_result(g, status, &totals, from->pairs);
    from->pairs = 0;
    hd_phase(g->member, HEDDLE_PHASE_WORK);
    return status;
}

void hd_flow_end(hd_writing *g)
{
    for (int i = 0; i < 2; i++) {
        hd_buffer_free(&g->arrived[i].keys);
        hd_buffer_free(&g->arrived[i].values);
    }
}
