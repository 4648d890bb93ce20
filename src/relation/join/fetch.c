/*
 * fetch.c: the result of a join, slice by slice; see join.h.
 *
 * A slice is whole tasks, for which the creation has found out where their matches go. A task that has
 * very many (a key with many copies on both sides) is cut by its right rows, and the parts are counted
 * when they are written. After the matches come the lists of rows.
 */
#include <string.h>

#include "base/error.h"
#include "relation/join/join.h"

#define STAGED_ROWS (UINT64_C(1) << 22) /* at a time, where an array lies in host memory */

static uint64_t task_matches(const heddle_join *join, uint32_t task)
{
    return join->places[task + 1] - join->places[task];
}

static uint64_t result_rows(const heddle_join *join)
{
    return join->places[join->tasks_count] + join->sides[HD_LEFT].listed +
           join->sides[HD_RIGHT].listed;
}

static uint64_t slice_min(const heddle_join *join)
{
    return join->slice_min != 0 ? join->slice_min : result_rows(join) != 0;
}

heddle_status heddle_join_count(const heddle_join *join, uint64_t *count, uint64_t *least)
{
    if (join == NULL || count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_count needs a join and a place for the count");
    *count = result_rows(join);
    if (least != NULL) *least = slice_min(join);
    return HEDDLE_OK;
}

heddle_status heddle_join_rewind(heddle_join *join)
{
    if (join == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "join_rewind: the join is NULL");
    memset(&join->cursor, 0, sizeof join->cursor);
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- matches */

/* Where the next rows go: device memory with room for so many; either array may be NULL. */
typedef struct piece {
    void *rows[2];
    uint64_t room;
    uint64_t written;
    bool moved; /* fetching has come further, even if nothing was written */
    void *stream;
} piece;

static heddle_status write_tasks(heddle_join *join, hd_join_job job, piece *to)
{
    job.left_rows = to->rows[join->hashed];
    job.right_rows = to->rows[join->hashed ^ 1];
    if (job.left_rows == NULL && job.right_rows == NULL) return HEDDLE_OK;
    return join->ops->join_write(join->device, &job, to->stream);
}

/* As many whole tasks as there is room for, up to one that goes in parts. */
static heddle_status fetch_whole(heddle_join *join, piece *to)
{
    const uint32_t first = join->cursor.task;
    const uint64_t begin = join->places[first];
    uint32_t end = first;
    while (end < join->tasks_count && task_matches(join, end) <= hd_join_part_matches() &&
           join->places[end + 1] - begin <= to->room) {
        join->slice_places[end - first] = join->places[end] - begin;
        end++;
    }
    join->slice_places[end - first] = join->places[end] - begin;
    if (end == first) return HEDDLE_OK;
    HD_TRY(join->engine->copy(join->device, join->device_places, join->slice_places,
                              ((uint64_t)(end - first) + 1) * sizeof(uint64_t), to->stream));
    HD_TRY(write_tasks(
        join, hd_join_job_of(join, join->device_tasks + first, end - first, join->device_places),
        to));
    to->written = join->places[end] - begin;
    to->moved = true;
    join->cursor.task = end;
    return HEDDLE_OK;
}

/* Parts of a task, each with some of its right rows, and where the matches of each go. */
typedef struct parts {
    hd_join_task tasks[HD_JOIN_PARTS];
    uint64_t places[HD_JOIN_PARTS + 1];
    uint32_t count;
} parts;

static void cut_parts(const hd_join_task *task, uint64_t done, uint64_t rows, parts *p)
{
    uint64_t at = task->right_begin + done;
    for (p->count = 0; p->count < HD_JOIN_PARTS && at < task->right_end; p->count++) {
        hd_join_task *part = &p->tasks[p->count];
        *part = *task;
        part->right_begin = at;
        at = task->right_end - at < rows ? task->right_end : at + rows;
        part->right_end = at;
    }
}

/* Counts the matches of the parts and keeps as many parts as there is room for. */
static heddle_status count_parts(heddle_join *join, parts *p, const piece *to)
{
    const hd_join_job job =
        hd_join_job_of(join, join->device_parts, p->count, join->device_part_places);
    uint64_t sum = 0;
    uint32_t fitting = 0;
    HD_TRY(join->engine->copy(join->device, join->device_parts, p->tasks,
                              p->count * sizeof(hd_join_task), to->stream));
    HD_TRY(join->ops->join_count(join->device, &job, to->stream));
    HD_TRY(join->engine->copy(join->device, p->places, join->device_part_places,
                              p->count * sizeof(uint64_t), to->stream));
    HD_TRY(join->engine->synchronize(join->device, to->stream));
    while (fitting < p->count && sum + p->places[fitting] <= to->room) {
        const uint64_t matches = p->places[fitting];
        p->places[fitting++] = sum;
        sum += matches;
    }
    p->places[fitting] = sum;
    p->count = fitting;
    return HEDDLE_OK;
}

/*
 * The next parts of a task, none where there is no room. Their rows are guessed from the average, and fewer when
 * that was too many.
 */
static heddle_status choose_parts(heddle_join *join, parts *p, const piece *to)
{
    const hd_join_task *task = &join->tasks[join->cursor.task];
    const uint64_t all = task->right_end - task->right_begin;
    const uint64_t each = task_matches(join, join->cursor.task) / all + 1;
    const uint64_t most = to->room < hd_join_part_matches() ? to->room : hd_join_part_matches();
    p->count = 0;
    for (uint64_t rows = most / each + (most < each); rows != 0 && p->count == 0; rows /= 2) {
        cut_parts(task, join->cursor.done, rows, p);
        HD_TRY(count_parts(join, p, to));
    }
    return HEDDLE_OK;
}

static heddle_status write_parts(heddle_join *join, const parts *p, piece *to)
{
    HD_TRY(join->engine->copy(join->device, join->device_part_places, p->places,
                              (p->count + 1) * sizeof(uint64_t), to->stream));
    HD_TRY(write_tasks(
        join, hd_join_job_of(join, join->device_parts, p->count, join->device_part_places), to));
    /* The places are copied from the caller's stack. */
    return join->engine->synchronize(join->device, to->stream);
}

static heddle_status fetch_parts(heddle_join *join, piece *to)
{
    const hd_join_task *task = &join->tasks[join->cursor.task];
    parts p;
    HD_TRY(choose_parts(join, &p, to));
    if (p.count == 0) return HEDDLE_OK;
    HD_TRY(write_parts(join, &p, to));
    to->written = p.places[p.count];
    to->moved = true;
    join->cursor.done = p.tasks[p.count - 1].right_end - task->right_begin;
    if (task->right_begin + join->cursor.done == task->right_end) {
        join->cursor.done = 0;
        join->cursor.task++;
    }
    return HEDDLE_OK;
}

/* ----------------------------------------------------------------------------------------- lists */

static heddle_status fetch_list(heddle_join *join, uint32_t number, piece *to)
{
    const hd_join_side *side = &join->sides[number];
    const uint32_t width = hd_join_row_bytes(join);
    const uint64_t from = join->cursor.listed[number], left = side->listed - from;
    const uint64_t n = left < to->room ? left : to->room;
    void *other = to->rows[number ^ 1];
    if (to->rows[number] != NULL)
        HD_TRY(join->engine->copy(join->device, to->rows[number],
                                  (const char *)side->list + from * width, n * width, to->stream));
    if (other != NULL) HD_TRY(join->engine->fill(join->device, other, 0xff, n * width, to->stream));
    to->written = n;
    to->moved = true;
    join->cursor.listed[number] += n;
    return HEDDLE_OK;
}

/* The next rows, from one source. Nothing moves when all are fetched or the room does not suffice. */
static heddle_status fetch_piece(heddle_join *join, piece *to)
{
    if (join->cursor.task < join->tasks_count) {
        return task_matches(join, join->cursor.task) > hd_join_part_matches()
                   ? fetch_parts(join, to)
                   : fetch_whole(join, to);
    }
    for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++)
        if (join->cursor.listed[side] < join->sides[side].listed) return fetch_list(join, side, to);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------------ call */

/* The caller's arrays, and device memory in between for those that the device cannot write to. */
typedef struct output {
    char *user[2];
    bool is_staged[2];
    void *staged[2];
    uint64_t staged_rows;
    hd_scratch scratch;
} output;

static heddle_status output_begin(heddle_join *join, output *o, uint64_t capacity)
{
    const uint64_t left = result_rows(join);
    o->staged_rows = slice_min(join) > STAGED_ROWS ? slice_min(join) : STAGED_ROWS;
    if (o->staged_rows > capacity) o->staged_rows = capacity;
    if (o->staged_rows > left) o->staged_rows = left;
    for (uint32_t i = 0; i < 2; i++) {
        o->is_staged[i] = o->user[i] != NULL && !join->engine->host_memory &&
                          !join->engine->is_device_memory(join->device, o->user[i]);
        if (o->is_staged[i])
            HD_TRY(hd_scratch_take(&o->scratch, o->staged_rows * hd_join_row_bytes(join),
                                   &o->staged[i]));
    }
    return HEDDLE_OK;
}

/* Brings what a piece has written to where the caller wants it, behind `done` rows. */
static heddle_status output_take(const heddle_join *join, const output *o, const piece *p,
                                 uint64_t done)
{
    const uint32_t width = hd_join_row_bytes(join);
    for (uint32_t i = 0; i < 2; i++)
        if (o->is_staged[i])
            HD_TRY(join->engine->copy(join->device, o->user[i] + done * width, o->staged[i],
                                      p->written * width, p->stream));
    return HEDDLE_OK;
}

static heddle_status fetch_all(heddle_join *join, const output *o, uint64_t capacity,
                               uint64_t *done, void *stream)
{
    const uint32_t width = hd_join_row_bytes(join);
    const bool staged = o->is_staged[0] || o->is_staged[1];
    for (*done = 0; *done < capacity;) {
        piece p = {{NULL, NULL}, capacity - *done, 0, false, stream};
        if (staged && p.room > o->staged_rows) p.room = o->staged_rows;
        for (uint32_t i = 0; i < 2; i++) {
            if (o->is_staged[i]) p.rows[i] = o->staged[i];
            else if (o->user[i] != NULL) p.rows[i] = o->user[i] + *done * width;
        }
        HD_TRY(fetch_piece(join, &p));
        HD_TRY(output_take(join, o, &p, *done));
        if (!p.moved) break;
        *done += p.written;
    }
    return HEDDLE_OK;
}

typedef struct fetch_arguments {
    const void *left, *right;
    uint64_t capacity;
    const uint64_t *count;
    const void *stream;
} fetch_arguments;

static heddle_status check_fetch(const heddle_join *join, const fetch_arguments *a)
{
    if (join == NULL || a->count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_fetch needs a join and a place for the count");
    if (a->stream != NULL && join->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_fetch: the stream must be NULL on the CPU");
    if (a->right != NULL && !hd_join_has_pairs(join))
        return hd_fail(HEDDLE_ERROR_INVALID, "join_fetch: this kind of join has no right rows");
    if (((uintptr_t)a->left | (uintptr_t)a->right) % hd_join_row_bytes(join) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "join_fetch: an array is not aligned to its row numbers of %u bytes",
                       hd_join_row_bytes(join));
    if (a->capacity < slice_min(join))
        return hd_fail(HEDDLE_ERROR_TOO_SMALL,
                       "join_fetch: there must be room for at least %llu rows",
                       (unsigned long long)slice_min(join));
    return HEDDLE_OK;
}

heddle_status heddle_join_fetch(heddle_join *join, void *left, void *right, uint64_t capacity,
                                uint64_t *count, void *stream)
{
    heddle_status status, waited;
    hd_join_cursor before;
    output o;
    const fetch_arguments arguments = {left, right, capacity, count, stream};
    HD_TRY(check_fetch(join, &arguments));
    *count = 0;
    before = join->cursor;
    memset(&o, 0, sizeof o);
    o.user[HD_LEFT] = (char *)left;
    o.user[HD_RIGHT] = (char *)right;
    o.scratch.device = join->device;
    status = output_begin(join, &o, capacity);
    if (status == HEDDLE_OK) status = fetch_all(join, &o, capacity, count, stream);
    waited = join->engine->synchronize(join->device, stream);
    if (status == HEDDLE_OK) status = waited;
    hd_scratch_free(&o.scratch);
    if (status != HEDDLE_OK) {
        join->cursor = before;
        *count = 0;
    }
    return status;
}
