/*
 * join_fetch.c: the result of a join over a cluster, piece by piece. Members whose whole rest fits the caller's
 * arrays write it at the same time, one behind the other; the first whose rest does not fit writes what does, and
 * comes last. So there are no gaps, and members go on from where they were.
 */
#include <string.h>

#include "base/error.h"
#include "cluster/relation/join.h"
#include "cluster/relation/relation.h"

/* Rows that are renumbered at a time: they stay in the cache of a CPU, and fill a GPU. */
#define PIECE_HOST (UINT64_C(1) << 15)
#define PIECE_DEVICE (UINT64_C(1) << 24)

/* A call, the same for all local members. */
typedef struct fetching {
    heddle_cluster_join *join;
    char *out[2];
    uint64_t begin[HEDDLE_CLUSTER_MEMBERS_MAX],
        end[HEDDLE_CLUSTER_MEMBERS_MAX]; /* places of members */
} fetching;

static uint64_t rest_of(const hd_join_part *part) { return part->count - part->fetched; }

/* Gives every member its places; how many have been given. */
static uint64_t divide(fetching *f, uint64_t capacity)
{
    uint64_t at = 0;
    bool fits = true;
    for (uint32_t i = 0; i < f->join->cluster->exchange->local; i++) {
        const hd_join_part *part = &f->join->parts[i];
        const uint64_t room = capacity - at, rest = rest_of(part);
        f->begin[i] = at;
        if (fits && rest <= room) at += rest;
        else if (fits && part->slice_min <= room) at = capacity;
        fits = fits && rest <= room;
        f->end[i] = at;
    }
    return at;
}

/* Brings what is in `rows` to the caller's array, by the numbers of the whole cluster. */
static heddle_status write_side(fetching *f, hd_member *member, uint32_t side, uint64_t at,
                                uint64_t n)
{
    hd_join_part *part = &f->join->parts[member->local];
    heddle_device *device = member->device;
    const uint32_t bits = f->join->row_bits;
    char *user = f->out[side] + at * bits / 8;
    hd_lent lent;
    if (part->named) return hd_member_copy(member, user, part->rows[side].memory, n * bits / 8);
    HD_TRY(hd_member_lend(member, user, n * bits / 8, false, &part->staged[side], &lent));
    HD_TRY(device->engine->columns->renumber(
        hd_on(device, NULL, NULL), hd_at_rows(part->rows[side].memory, part->row_bits, n),
        hd_names_of(part->names[side].memory, 0, bits), lent.memory));
    HD_TRY(device->engine->synchronize(device, NULL));
    return hd_member_take_back(member, &lent);
}

/* The same rows straight to the caller's arrays. */
static heddle_status fetch_named(fetching *f, hd_member *member, uint64_t at, uint64_t room,
                                 uint64_t *count)
{
    hd_join_part *part = &f->join->parts[member->local];
    const uint32_t width = f->join->row_bits / 8;
    heddle_status status =
        heddle_join_fetch(part->join, f->out[0] != NULL ? f->out[0] + at * width : NULL,
                          f->out[1] != NULL ? f->out[1] + at * width : NULL, room, count, NULL);
    if (status == HEDDLE_OK) status = member->device->engine->synchronize(member->device, NULL);
    part->fetched += *count;
    return status;
}

/* The next rows of a member, at most `room`, to the places from `at` on. */
static heddle_status fetch_piece(fetching *f, hd_member *member, uint64_t at, uint64_t room,
                                 uint64_t *count)
{
    hd_join_part *part = &f->join->parts[member->local];
    uint64_t piece = member->device->engine->host_memory ? PIECE_HOST : PIECE_DEVICE;
    heddle_status status = HEDDLE_OK;
    if (part->named && room >= part->slice_min && hd_member_takes(member, f->out[0]) &&
        hd_member_takes(member, f->out[1]))
        return fetch_named(f, member, at, room, count);
    if (piece > room) piece = room;
    if (piece < part->slice_min) piece = part->slice_min; /* there is room for what is left */
    for (uint32_t side = 0; side < 2 && status == HEDDLE_OK; side++)
        if (f->out[side] != NULL)
            status = hd_buffer_room(&part->rows[side], member->device, piece * part->row_bits / 8);
    if (status == HEDDLE_OK)
        status =
            heddle_join_fetch(part->join, f->out[0] != NULL ? part->rows[0].memory : NULL,
                              f->out[1] != NULL ? part->rows[1].memory : NULL, piece, count, NULL);
    if (status != HEDDLE_OK) return status;
    part->fetched += *count;
    for (uint32_t side = 0; side < 2 && status == HEDDLE_OK && *count != 0; side++)
        if (f->out[side] != NULL) status = write_side(f, member, side, at, *count);
    return status;
}

/* hd_member_work; members do not talk to each other. Sets the end of what it has written. */
static heddle_status fetch_part(hd_member *member, void *context)
{
    fetching *f = (fetching *)context;
    const hd_join_part *part = &f->join->parts[member->local];
    uint64_t at = f->begin[member->local];
    const uint64_t end = f->end[member->local];
    heddle_status status = HEDDLE_OK;
    while (at < end && status == HEDDLE_OK) {
        uint64_t count = 0;
        if (end - at < rest_of(part) && end - at < part->slice_min) break;
        status = fetch_piece(f, member, at, end - at, &count);
        if (status == HEDDLE_OK && count == 0) break;
        at += count;
    }
    f->end[member->local] = at;
    return status;
}

static heddle_status check_fetch(const heddle_cluster_join *join, const void *left,
                                 const void *right, const uint64_t *count)
{
    if (join == NULL || count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_join_fetch needs a join and a place for the count");
    if (right != NULL && (join->kind == HEDDLE_JOIN_SEMI || join->kind == HEDDLE_JOIN_ANTI))
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_join_fetch: semi and anti joins have no right rows");
    if (((uintptr_t)left | (uintptr_t)right) % (join->row_bits / 8) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_join_fetch: an array is not aligned to its row numbers");
    return HEDDLE_OK;
}

static uint64_t largest_slice(const heddle_cluster_join *join)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < join->cluster->exchange->local; i++)
        if (join->parts[i].slice_min > most) most = join->parts[i].slice_min;
    return most;
}

/* The cluster's lock is held. */
static heddle_status fetch_held(heddle_cluster_join *join, void *left, void *right,
                                uint64_t capacity, uint64_t *count)
{
    fetching f;
    uint64_t rest = 0;
    heddle_status status;
    for (uint32_t i = 0; i < join->cluster->exchange->local; i++) rest += rest_of(&join->parts[i]);
    f.join = join;
    f.out[0] = (char *)left;
    f.out[1] = (char *)right;
    if (capacity < largest_slice(join))
        return hd_fail(HEDDLE_ERROR_TOO_SMALL,
                       "cluster_join_fetch: there is room for %llu rows, and %llu are needed",
                       (unsigned long long)capacity, (unsigned long long)largest_slice(join));
    if (rest == 0) return HEDDLE_OK;
    (void)divide(&f, capacity);
    status = hd_relation_run_held(join->cluster, fetch_part, &f);
    for (uint32_t i = 0; i < join->cluster->exchange->local; i++) *count += f.end[i] - f.begin[i];
    return status;
}

heddle_status heddle_cluster_join_fetch(heddle_cluster_join *join, void *left, void *right,
                                        uint64_t capacity, uint64_t *count)
{
    heddle_status status = check_fetch(join, left, right, count);
    if (status != HEDDLE_OK) return status;
    *count = 0;
    pthread_mutex_lock(&join->cluster->lock);
    status = fetch_held(join, left, right, capacity, count);
    pthread_mutex_unlock(&join->cluster->lock);
    return status;
}

heddle_status heddle_cluster_join_count(heddle_cluster_join *join, uint64_t *count,
                                        uint64_t *slice_min)
{
    if (join == NULL || count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "cluster_join_count needs a join and a place for the count");
    *count = 0;
    for (uint32_t i = 0; i < join->cluster->exchange->local; i++) *count += join->parts[i].count;
    if (slice_min != NULL) *slice_min = largest_slice(join);
    return HEDDLE_OK;
}

heddle_status heddle_cluster_join_rewind(heddle_cluster_join *join)
{
    heddle_status status = HEDDLE_OK;
    if (join == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "cluster_join_rewind: the join is NULL");
    pthread_mutex_lock(&join->cluster->lock);
    for (uint32_t i = 0; i < join->cluster->exchange->local && status == HEDDLE_OK; i++) {
        join->parts[i].fetched = 0;
        status = heddle_join_rewind(join->parts[i].join);
    }
    pthread_mutex_unlock(&join->cluster->lock);
    return status;
}
