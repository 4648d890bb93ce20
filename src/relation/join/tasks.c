/* tasks.c: the tasks of a join, their matches, and the rows that have none; see join.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"
#include "relation/join/join.h"

static void *host_array(uint64_t count, size_t width)
{
    return hd_allocate_zeroed(count + 1, width);
}

/* ----------------------------------------------------------------------------------------- tasks */

static uint64_t parts_of(uint64_t rows, uint64_t limit) { return (rows + limit - 1) / limit; }

/* The parts of a region; its rows are shared out evenly. */
typedef struct region_cut {
    uint64_t begin[2], rows[2], parts[2]; /* by the engine's sides: hashed, passing */
} region_cut;

static region_cut cut_region(const heddle_join *join, uint64_t region)
{
    region_cut cut;
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t *starts = join->sides[join->hashed ^ i].starts;
        cut.begin[i] = starts[region];
        cut.rows[i] = starts[region + 1] - starts[region];
        cut.parts[i] = parts_of(cut.rows[i], hd_join_limit(join, i));
    }
    return cut;
}

static uint64_t part_begin(const region_cut *cut, uint32_t side, uint64_t part)
{
    const uint64_t each = parts_of(cut->rows[side], cut->parts[side]);
    const uint64_t skip = each * part < cut->rows[side] ? each * part : cut->rows[side];
    return cut->begin[side] + skip;
}

static uint32_t add_tasks(hd_join_task *tasks, const region_cut *cut)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < cut->parts[0]; i++)
        for (uint64_t k = 0; k < cut->parts[1]; k++) {
            hd_join_task *t = &tasks[count];
            t->left_begin = part_begin(cut, 0, i);
            t->left_end = part_begin(cut, 0, i + 1);
            t->right_begin = part_begin(cut, 1, k);
            t->right_end = part_begin(cut, 1, k + 1);
            /* Even parts of few rows can leave nothing for the last. */
            count += t->left_begin != t->left_end && t->right_begin != t->right_end;
        }
    return count;
}

heddle_status hd_join_make_tasks(heddle_join *join)
{
    const uint64_t regions = UINT64_C(1) << join->region_bits;
    uint64_t count = 0;
    for (uint64_t r = 0; r < regions; r++) {
        const region_cut cut = cut_region(join, r);
        count += cut.parts[0] * cut.parts[1];
        if (count >= UINT32_MAX / 2)
            return hd_fail(HEDDLE_ERROR_NO_MEMORY, "too many copies of one key on both sides");
    }
    join->tasks = (hd_join_task *)host_array(count, sizeof(hd_join_task));
    join->places = (uint64_t *)host_array(count, sizeof(uint64_t));
    join->slice_places = (uint64_t *)host_array(count, sizeof(uint64_t));
    if (join->tasks == NULL || join->places == NULL || join->slice_places == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the tasks of a join");
    for (uint64_t r = 0; r < regions; r++) {
        const region_cut cut = cut_region(join, r);
        join->tasks_count += add_tasks(join->tasks + join->tasks_count, &cut);
    }
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- matches */

hd_join_job hd_join_job_of(const heddle_join *join, const hd_join_task *tasks, uint32_t count,
                           uint64_t *places)
{
    hd_join_job job;
    memset(&job, 0, sizeof job);
    job.region_bits = join->region_bits;
    job.count = count;
    job.left = join->sides[join->hashed].pairs;
    job.right = join->sides[join->hashed ^ 1].pairs;
    job.tasks = tasks;
    job.places = places;
    return job;
}

static heddle_status send_tasks(heddle_join *join, void *stream)
{
    return join->engine->copy(join->device, join->device_tasks, join->tasks,
                              join->tasks_count * sizeof(hd_join_task), stream);
}

static heddle_status make_flags(heddle_join *join, void *stream)
{
    for (uint32_t i = HD_LEFT; i <= HD_RIGHT; i++) {
        hd_join_side *side = &join->sides[i];
        if (!hd_join_flags(join, i) || side->rows == 0) continue;
        HD_TRY(hd_block_take(join->device, side->rows, (void **)&side->matched));
        HD_TRY(join->engine->fill(join->device, side->matched, 0, side->rows, stream));
    }
    return HEDDLE_OK;
}

/* Tasks without matches are dropped: the others are all that is ever looked at again. */
static heddle_status keep_tasks(heddle_join *join, void *stream)
{
    uint32_t kept = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < join->tasks_count; i++) {
        const uint64_t matches = join->places[i];
        if (matches == 0) continue;
        join->tasks[kept] = join->tasks[i];
        join->places[kept++] = sum;
        sum += matches;
    }
    join->places[kept] = sum;
    join->tasks_count = kept;
    return send_tasks(join, stream);
}

/* The largest piece in which matches can be written: a task, or what one row of a larger task has at most. */
static heddle_status measure_slices(heddle_join *join)
{
    bool parts = false;
    for (uint32_t i = 0; i < join->tasks_count; i++) {
        uint64_t piece = join->places[i + 1] - join->places[i];
        if (piece > hd_join_part_matches()) {
            piece = join->tasks[i].left_end - join->tasks[i].left_begin;
            parts = true;
        }
        if (piece > join->slice_min) join->slice_min = piece;
    }
    if (!parts) return HEDDLE_OK;
    HD_TRY(hd_block_take(join->device, HD_JOIN_PARTS * sizeof(hd_join_task),
                         (void **)&join->device_parts));
    return hd_block_take(join->device, (HD_JOIN_PARTS + 1) * sizeof(uint64_t),
                         (void **)&join->device_part_places);
}

/* Counts the matches of every task, and sets the flags of rows that have one. */
static heddle_status count_tasks(heddle_join *join, void *stream)
{
    const uint64_t count = join->tasks_count;
    hd_join_job job;
    HD_TRY(hd_block_take(join->device, count * sizeof(hd_join_task), (void **)&join->device_tasks));
    HD_TRY(
        hd_block_take(join->device, (count + 1) * sizeof(uint64_t), (void **)&join->device_places));
    HD_TRY(send_tasks(join, stream));
    job = hd_join_job_of(join, join->device_tasks, join->tasks_count, join->device_places);
    job.left_matched = join->sides[join->hashed].matched;
    job.right_matched = join->sides[join->hashed ^ 1].matched;
    HD_TRY(join->ops->join_count(join->device, &job, stream));
    HD_TRY(join->engine->copy(join->device, join->places, join->device_places,
                              count * sizeof(uint64_t), stream));
    return join->engine->synchronize(join->device, stream);
}

heddle_status hd_join_count_matches(heddle_join *join, void *stream)
{
    HD_TRY(make_flags(join, stream));
    if (join->tasks_count == 0) return HEDDLE_OK;
    HD_TRY(count_tasks(join, stream));
    if (hd_join_has_pairs(join)) HD_TRY(keep_tasks(join, stream));
    else join->places[0] = join->tasks_count = 0;
    return measure_slices(join);
}

/* ------------------------------------------------------------------------------ rows in the lists */

/* The rows of a side by their flags: counted first, so that the list is as long as it has to be. */
static heddle_status list_side(heddle_join *join, hd_join_side *side, bool matched, void *stream)
{
    const hd_column_ops *columns = join->engine->columns;
    hd_site on = hd_on(join->device, NULL, stream);
    const hd_flags listed = hd_flags_of(side->matched, side->rows, matched);
    HD_SCRATCH(scratch, join->device);
    void *count;
    HD_TRY(hd_scratch_take(&scratch, columns->work(join->device, side->rows), &on.work));
    HD_TRY(hd_scratch_take(&scratch, sizeof(uint64_t), &count));
    HD_TRY(columns->select(on, listed, NULL, join->row_bits, (uint64_t *)count));
    HD_TRY(join->engine->copy(join->device, &side->listed, count, sizeof side->listed, stream));
    HD_TRY(join->engine->synchronize(join->device, stream));
    if (side->listed == 0) return HEDDLE_OK;
    HD_TRY(hd_block_take(join->device, side->listed * hd_join_row_bytes(join), &side->list));
    HD_TRY(columns->select(on, listed, side->list, join->row_bits, (uint64_t *)count));
    return join->engine->synchronize(join->device, stream);
}

static void free_device(heddle_join *join, void **memory)
{
    if (*memory != NULL) hd_block_give(join->device, *memory);
    *memory = NULL;
}

heddle_status hd_join_list_rows(heddle_join *join, void *stream)
{
    const bool matched = join->kind == HEDDLE_JOIN_SEMI;
    for (uint32_t i = HD_LEFT; i <= HD_RIGHT; i++) {
        hd_join_side *side = &join->sides[i];
        if (side->matched != NULL) HD_TRY(list_side(join, side, matched, stream));
        free_device(join, (void **)&side->matched);
        if (!hd_join_has_pairs(join)) free_device(join, &side->pairs);
    }
    return HEDDLE_OK;
}
