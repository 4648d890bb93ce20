/*
 * insert_flowing.c: pairs that are inserted as they come (insert.h): a slice goes into the member's part while the next
 * one is on its way. So a build is hidden behind an exchange that is slower than insertions, as links between machines
 * are, and needs memory for two slices instead of all pairs. Where members read each other's memory, to gather
 * all and build at once is faster (insert_gathered.c).
 */
#include <string.h>

#include "base/error.h"
#include "cluster/table/insert.h"

/*
 * Whether pairs flow into this member's part. A hashgraph and lists of values want all at once; rows of hot keys come
 * last, to be added to what was gathered (cluster/table/hot_rows.h).
 */
bool hd_flowing_suits(const hd_inserting *p, uint64_t rounds)
{
    const hd_exchange *exchange = hd_exchange_of(p->member);
    const heddle_table_options *o = &p->call->table->options;
    return exchange->overlaps && exchange->links && rounds > 1 && !p->call->has_hot &&
           o->container != HEDDLE_CONTAINER_MULTIMAP && o->scheme != HEDDLE_SCHEME_HASHGRAPH;
}

heddle_status hd_flowing_begin(hd_inserting *p, uint64_t expected)
{
    heddle_table *part = hd_part_of(p->call->table, p->member);
    const uint32_t flags = p->call->table->options.flags;
    heddle_status status;
    if (!p->call->builds) return HEDDLE_OK;
    status = heddle_table_clear(part, NULL);
    if (status != HEDDLE_OK || (flags & HEDDLE_FLAG_FIXED) != 0 || expected == 0) return status;
    /* As a build of so many rows would. Without memory for that the part grows as it must: fewer may be different. */
    status = heddle_table_reserve(part, expected, NULL);
    return status == HEDDLE_ERROR_NO_MEMORY ? HEDDLE_OK : status;
}

heddle_status hd_flowing_room(hd_inserting *p, hd_delivery *d)
{
    hd_arrived *to = &p->arrived[p->arriving];
    heddle_device *device = p->member->device;
    HD_TRY(hd_buffer_ample(&to->keys, device, d->total * p->key_width));
    if (p->value_width != 0)
        HD_TRY(hd_buffer_ample(&to->values, device, d->total * p->value_width));
    to->pairs = d->total;
    d->to[0] = to->keys.memory;
    d->to[1] = to->values.memory;
    p->arriving ^= 1;
    p->received += d->total;
    return HEDDLE_OK;
}

heddle_status hd_flowing_insert(hd_inserting *p, uint32_t turn)
{
    hd_arrived *from = &p->arrived[turn];
    const void *values = p->value_width != 0 ? from->values.memory : NULL;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status;
    if (from->pairs == 0) return HEDDLE_OK;
    status = heddle_table_insert(hd_part_of(p->call->table, p->member), from->keys.memory, values,
                                 from->pairs, &p->call->options, &totals, NULL);
    status = hd_insert_result(p, status, &totals, from->pairs);
    from->pairs = 0;
    hd_phase(p->member, HEDDLE_PHASE_WORK);
    return status;
}

void hd_flowing_end(hd_inserting *p)
{
    for (int i = 0; i < 2; i++) {
        hd_buffer_free(&p->arrived[i].keys);
        hd_buffer_free(&p->arrived[i].values);
    }
}
