/*
 * fold.c: regions that many copies of few keys come to. One block would work on such a region alone
 * while all others wait. So its pairs are cut into parts; each part is folded in local memory,
 * equal keys by the policy, and what is left of all parts is folded again, until it is little
 * enough to be filled like any other region. Every round works on all crowded regions at once.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/scratch.h"
#include "table/slots/regions.h"

#define PARTS 128     /* of a crowded region, at most: enough for all processors of a device */
#define ROUNDS_MAX 16 /* each halves the pairs at least, or is the last */

/* One crowded region: where its pairs are now. */
typedef struct crowd {
    uint64_t begin, end;
} crowd;

typedef struct folding {
    hd_region_call *rc;
    const hd_slots_table *t;
    hd_scratch scratch;
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

static heddle_status no_memory(void)
{
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to fold crowded regions");
}

/* Reads where all regions begin and notes the crowded ones. */
static heddle_status find_crowds(folding *f)
{
    const uint64_t regions = UINT64_C(1) << f->t->storage.view.region_bits;
    const uint64_t bytes = (regions + 1) * sizeof(uint64_t);
    uint64_t *starts HD_FREED = (uint64_t *)hd_allocate(bytes);
    f->regions = (uint32_t *)hd_allocate_zeroed(regions, sizeof *f->regions);
    f->crowds = (crowd *)hd_allocate_zeroed(regions, sizeof *f->crowds);
    if (starts == NULL || f->regions == NULL || f->crowds == NULL) return no_memory();
    HD_TRY(hd_read_back(f->rc->table, starts, f->rc->job.starts, bytes, f->rc->stream));
    for (uint64_t r = 0; r < regions; r++) {
        if (starts[r + 1] - starts[r] <= f->limit) continue;
        f->regions[f->count] = (uint32_t)r;
        f->crowds[f->count].begin = starts[r];
        f->crowds[f->count].end = starts[r + 1];
        f->total += starts[r + 1] - starts[r];
        f->count++;
    }
    return HEDDLE_OK;
}

static heddle_status make_room(folding *f)
{
    const uint32_t tasks = count_tasks(f); /* no later round has more */
    const uint32_t pair = hd_pair_bytes(f->rc->job.key_bits, f->rc->job.value_bits);
    f->tasks = (hd_fold_task *)hd_allocate_zeroed(tasks, sizeof *f->tasks);
    f->cursors = (uint64_t *)hd_allocate_zeroed(2 * f->count, sizeof *f->cursors);
    if (f->tasks == NULL || f->cursors == NULL) return no_memory();
    HD_TRY(hd_scratch_take(&f->scratch, f->total * pair, (void **)&f->room));
    HD_TRY(hd_scratch_take(&f->scratch, tasks * sizeof *f->tasks, (void **)&f->device_tasks));
    HD_TRY(
        hd_scratch_take(&f->scratch, f->count * sizeof *f->regions, (void **)&f->device_regions));
    return hd_scratch_take(&f->scratch, 2 * f->count * sizeof *f->cursors,
                           (void **)&f->device_cursors);
}

static void folding_end(folding *f)
{
    hd_scratch_free(&f->scratch);
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
    const hd_fold fold = {source, f->device_tasks, tasks, room, f->device_cursors};
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        f->cursors[i] = at;
        at += f->crowds[i].end - f->crowds[i].begin;
        f->crowds[i].begin = f->cursors[i];
    }
    HD_TRY(engine->copy(table->device, f->device_cursors, f->cursors, bytes, stream));
    HD_TRY(
        engine->copy(table->device, f->device_tasks, f->tasks, tasks * sizeof *f->tasks, stream));
    HD_TRY(f->t->ops->fold(table->device, &f->t->storage.view, &f->rc->batch, &fold, stream));
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
        HD_TRY(fold_round(f, source, room));
        /* The sorted pairs of all regions are used up: they are room for the next round. */
        char *const swap = source;
        source = room;
        room = swap;
        if (pairs_left(f) > before / 2) break;
    }
    *at = source;
    return HEDDLE_OK;
}

static heddle_status fill_crowds(folding *f, const char *pairs, bool *filled)
{
    const hd_region_call *rc = f->rc;
    const hd_engine *engine = rc->table->engine;
    heddle_device *device = rc->table->device;
    const uint64_t cursors = 2 * f->count * sizeof *f->cursors;
    const hd_sorted sorted = {.pairs = pairs,
                              .starts = f->device_cursors,
                              .ends = f->device_cursors + f->count,
                              .regions = f->device_regions,
                              .count = f->count,
                              .limit = UINT64_MAX,
                              .failed = rc->failed_count != NULL ? rc->job.spare : NULL,
                              .failed_count = rc->failed_count};
    hd_counts counts;
    for (uint32_t i = 0; i < f->count; i++) {
        f->cursors[i] = f->crowds[i].begin;
        f->cursors[f->count + i] = f->crowds[i].end;
    }
    HD_TRY(engine->copy(device, f->device_cursors, f->cursors, cursors, rc->stream));
    HD_TRY(engine->copy(device, f->device_regions, f->regions, f->count * sizeof *f->regions,
                        rc->stream));
    HD_TRY(
        f->t->ops->fill(device, &f->t->storage.view, &rc->batch, &sorted, rc->fresh, rc->stream));
    HD_TRY(hd_call_read(rc->call, &counts));
    *filled = counts.at[HD_FAILED] == 0 || rc->failed_count != NULL;
    return HEDDLE_OK;
}

/*
 * Fills the crowded regions of a table that keeps what it holds as they are, without memory to
 * fold.
 */
static heddle_status fill_unfolded(const hd_region_call *rc)
{
    const hd_slots_table *t = hd_slots(rc->table);
    const hd_sorted sorted = {.pairs = rc->job.pairs,
                              .starts = rc->job.starts,
                              .ends = rc->job.starts + 1,
                              .limit = UINT64_MAX,
                              .failed = rc->job.spare,
                              .failed_count = rc->failed_count,
                              .least = hd_regions_crowded(rc->table)};
    return t->ops->fill(rc->table->device, &t->storage.view, &rc->batch, &sorted, false,
                        rc->stream);
}

static heddle_status fold(hd_region_call *rc, bool *filled)
{
    folding f __attribute__((cleanup(folding_end))) = {.rc = rc, .t = hd_slots(rc->table)};
    char *pairs = NULL;
    f.scratch.device = rc->table->device;
    f.limit = f.part_min = hd_regions_crowded(rc->table);
    HD_TRY(find_crowds(&f));
    HD_TRY(make_room(&f));
    HD_TRY(fold_all(&f, &pairs));
    return fill_crowds(&f, pairs, filled);
}

heddle_status hd_regions_fold(hd_region_call *rc, bool *filled)
{
    *filled = false;
    const heddle_status status = fold(rc, filled);
    if (status != HEDDLE_ERROR_NO_MEMORY) return status;
    /* The slower way. All memory was asked for before the first pair was touched. */
    *filled = rc->failed_count != NULL;
    return *filled ? fill_unfolded(rc) : HEDDLE_OK;
}
