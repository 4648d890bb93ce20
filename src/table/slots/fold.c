/*
 * fold.c: regions that many copies of few keys come to. One block would work on such a region alone
 * while all others wait. So its pairs are cut into parts; each part is folded in local memory, equal
 * keys by the policy, and what is left of all parts is folded again, until it is little enough to be
 * filled like any other region. Every round works on all crowded regions at once.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"
#include "table/slots/regions.h"

#define PARTS 128     /* of a crowded region, at most: enough for all processors of a device */
#define ROUNDS_MAX 16 /* each halves the pairs at least, or is the last */

/* One crowded region: where its pairs are now. */
typedef struct crowd {
    uint64_t begin, end;
} crowd;

typedef struct folding {
    hd_region_call *rc;
    uint64_t part_min, limit; /* pairs */
    uint32_t count;
    uint32_t *regions; /* host: their numbers */
    crowd *crowds;
    hd_fold_task *tasks;
    uint64_t *cursors;
    /* The same on the device, and room for what is left. */
    uint32_t *device_regions;
    hd_fold_task *device_tasks;
    uint64_t *device_cursors; /* `count` begins, then `count` ends */
    char *room;
    uint64_t total; /* pairs in all of them */
} folding;

static uint64_t part_of(const folding *f, uint64_t pairs)
{
    const uint64_t even = (pairs + PARTS - 1) / PARTS;
    return even > f->part_min ? even : f->part_min;
}

static uint32_t count_tasks(const folding *f)
{
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const uint64_t pairs = f->crowds[i].end - f->crowds[i].begin;
        tasks += (uint32_t)((pairs + part_of(f, pairs) - 1) / part_of(f, pairs));
    }
    return tasks;
}

/* Reads where all regions begin and notes the crowded ones. */
static heddle_status find_crowds(folding *f)
{
    heddle_table *table = f->rc->table;
    const uint64_t regions = UINT64_C(1) << hd_slots(table)->storage.view.region_bits;
    const uint64_t bytes = (regions + 1) * sizeof(uint64_t);
    uint64_t *starts = (uint64_t *)hd_allocate(bytes);
    heddle_status status = HEDDLE_OK;
    f->regions = (uint32_t *)calloc(regions, sizeof *f->regions);
    f->crowds = (crowd *)calloc(regions, sizeof *f->crowds);
    if (starts == NULL || f->regions == NULL || f->crowds == NULL)
        status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to fold crowded regions");
    if (status == HEDDLE_OK)
        status =
            table->engine->copy(table->device, starts, f->rc->job.starts, bytes, f->rc->stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, f->rc->stream);
    for (uint64_t r = 0; r < regions && status == HEDDLE_OK; r++) {
        if (starts[r + 1] - starts[r] <= f->limit) continue;
        f->regions[f->count] = (uint32_t)r;
        f->crowds[f->count].begin = starts[r];
        f->crowds[f->count].end = starts[r + 1];
        f->total += starts[r + 1] - starts[r];
        f->count++;
    }
    free(starts);
    return status;
}

static heddle_status make_room(folding *f)
{
    heddle_table *table = f->rc->table;
    const uint32_t tasks = count_tasks(f); /* no later round has more */
    const uint32_t pair = hd_pair_bytes(f->rc->job.key_bits, f->rc->job.value_bits);
    f->tasks = (hd_fold_task *)calloc(tasks, sizeof *f->tasks);
    f->cursors = (uint64_t *)calloc(2 * f->count, sizeof *f->cursors);
    if (f->tasks == NULL || f->cursors == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to fold crowded regions");
    HD_TRY(hd_block_take(table->device, f->total * pair, (void **)&f->room));
    HD_TRY(hd_block_take(table->device, tasks * sizeof *f->tasks, (void **)&f->device_tasks));
    HD_TRY(
        hd_block_take(table->device, f->count * sizeof *f->regions, (void **)&f->device_regions));
    return hd_block_take(table->device, 2 * f->count * sizeof *f->cursors,
                         (void **)&f->device_cursors);
}

static void folding_end(folding *f)
{
    heddle_table *table = f->rc->table;
    void *const device[] = {f->device_regions, f->device_tasks, f->device_cursors, f->room};
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
        if (device[i] != NULL) hd_block_give(table->device, device[i]);
    free(f->regions);
    free(f->crowds);
    free(f->tasks);
    free(f->cursors);
}

static uint32_t plan_tasks(folding *f)
{
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const crowd *c = &f->crowds[i];
        const uint64_t part = part_of(f, c->end - c->begin);
        for (uint64_t at = c->begin; at < c->end; at += part) {
            f->tasks[tasks].begin = at;
            f->tasks[tasks].end = c->end - at < part ? c->end : at + part;
            f->tasks[tasks].cursor = i;
            tasks++;
        }
    }
    return tasks;
}

/* One round, from `source` to `room`, where each region has as much room as it had pairs. */
static heddle_status fold_round(folding *f, const void *source, char *room)
{
    heddle_table *table = f->rc->table;
    const hd_engine *engine = table->engine;
    void *stream = f->rc->stream;
    const uint32_t tasks = plan_tasks(f);
    const uint64_t bytes = f->count * sizeof *f->cursors;
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        f->cursors[i] = at;
        at += f->crowds[i].end - f->crowds[i].begin;
        f->crowds[i].begin = f->cursors[i];
    }
    HD_TRY(engine->copy(table->device, f->device_cursors, f->cursors, bytes, stream));
    HD_TRY(
        engine->copy(table->device, f->device_tasks, f->tasks, tasks * sizeof *f->tasks, stream));
    HD_TRY(hd_slots(table)->ops->fold(table->device, &hd_slots(table)->storage.view, &f->rc->batch,
                                      source, f->device_tasks, tasks, room, f->device_cursors,
                                      stream));
    HD_TRY(engine->copy(table->device, f->cursors, f->device_cursors, bytes, stream));
    HD_TRY(engine->synchronize(table->device, stream));
    for (uint32_t i = 0; i < f->count; i++) f->crowds[i].end = f->cursors[i];
    return HEDDLE_OK;
}

static bool is_crowded(const folding *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->crowds[i].end - f->crowds[i].begin > f->limit) return true;
    return false;
}

static uint64_t pairs_left(const folding *f)
{
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < f->count; i++) pairs += f->crowds[i].end - f->crowds[i].begin;
    return pairs;
}

/* Folds until no region is crowded, or folding brings no more; *at is where the pairs then are. */
static heddle_status fold_all(folding *f, char **at)
{
    char *source = (char *)f->rc->job.pairs, *room = f->room;
    for (int round = 0; round < ROUNDS_MAX && is_crowded(f); round++) {
        const uint64_t before = pairs_left(f);
        const heddle_status status = fold_round(f, source, room);
        if (status != HEDDLE_OK) return status;
        char *const swap =
            source; /* the sorted pairs of all regions are used up: room for the next */
        source = room;
        room = swap;
        if (pairs_left(f) > before / 2) break;
    }
    *at = source;
    return HEDDLE_OK;
}

static heddle_status fill_crowds(folding *f, const char *pairs, bool fresh, bool *filled)
{
    heddle_table *table = f->rc->table;
    const hd_engine *engine = table->engine;
    void *stream = f->rc->stream;
    const hd_sorted sorted = {pairs,
                              f->device_cursors,
                              f->device_cursors + f->count,
                              f->device_regions,
                              f->count,
                              UINT64_MAX,
                              f->rc->failed_count != NULL ? f->rc->job.spare : NULL,
                              f->rc->failed_count,
                              0};
    hd_counts counts;
    for (uint32_t i = 0; i < f->count; i++) {
        f->cursors[i] = f->crowds[i].begin;
        f->cursors[f->count + i] = f->crowds[i].end;
    }
    HD_TRY(engine->copy(table->device, f->device_cursors, f->cursors,
                        2 * f->count * sizeof *f->cursors, stream));
    HD_TRY(engine->copy(table->device, f->device_regions, f->regions, f->count * sizeof *f->regions,
                        stream));
    HD_TRY(hd_slots(table)->ops->fill(table->device, &hd_slots(table)->storage.view, &f->rc->batch,
                                      &sorted, fresh, stream));
    HD_TRY(hd_call_read(table, &f->rc->call, stream, &counts));
    *filled = counts.at[HD_FAILED] == 0 || f->rc->failed_count != NULL;
    return HEDDLE_OK;
}

/* Fills the crowded regions of a table that keeps what it holds as they are, without memory to fold them. */
static heddle_status fill_unfolded(const folding *f)
{
    const hd_region_call *rc = f->rc;
    const hd_slots_table *slots = hd_slots(rc->table);
    const hd_sorted sorted = {rc->job.pairs, rc->job.starts, rc->job.starts + 1, NULL,    0,
                              UINT64_MAX,    rc->job.spare,  rc->failed_count,   f->limit};
    return slots->ops->fill(rc->table->device, &slots->storage.view, &rc->batch, &sorted, false,
                            rc->stream);
}

heddle_status hd_regions_fold(hd_region_call *rc, bool fresh, bool *filled)
{
    const heddle_table *table = rc->table;
    const uint64_t slots =
        (uint64_t)hd_slots(table)->storage.view.region_buckets * hd_slots(table)->ops->bucket;
    folding f = {0};
    char *pairs = NULL;
    heddle_status status;
    *filled = false;
    f.rc = rc;
    f.limit = slots * hd_regions_crowded(table);
    f.part_min = f.limit;
    status = find_crowds(&f);
    if (status == HEDDLE_OK) status = make_room(&f);
    if (status == HEDDLE_OK) status = fold_all(&f, &pairs);
    if (status == HEDDLE_OK) status = fill_crowds(&f, pairs, fresh, filled);
    folding_end(&f);
    if (status != HEDDLE_ERROR_NO_MEMORY) return status;
    /* The table is filled in the slower way. All memory was asked for before the first pair was touched. */
    *filled = rc->failed_count != NULL;
    return *filled ? fill_unfolded(&f) : HEDDLE_OK;
}
