/* whole.c: what concerns all keys of a shelf: size, statistics, export, clear, validation. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/public_struct.h"
#include "shelf/sorting.h"

/* The lock is held. */
static uint64_t count_pairs(const heddle_shelf *shelf)
{
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < shelf->parts.count; i++) pairs += shelf->parts.at[i].count;
    return pairs;
}

heddle_status heddle_shelf_size(heddle_shelf *shelf, uint64_t *count)
{
    HD_TRY(hd_shelf_enter(shelf, false, "size"));
    if (count == NULL)
        return hd_shelf_leave(
            shelf, hd_fail(HEDDLE_ERROR_INVALID, "size: there is no place for the count"));
    *count = count_pairs(shelf);
    return hd_shelf_leave(shelf, HEDDLE_OK);
}

static void collect_stats(const heddle_shelf *shelf, heddle_shelf_stats *stats)
{
    for (uint32_t i = 0; i < shelf->parts.count; i++) {
        const hd_shelf_part *part = &shelf->parts.at[i];
        stats->parts_filled += part->count != 0;
        stats->parts_loaded += part->table != NULL;
        stats->keys += part->count;
        stats->bytes_files += part->bytes;
        if (part->count > stats->keys_most) stats->keys_most = part->count;
    }
    stats->parts = shelf->parts.count;
    stats->keys_limit = shelf->limit;
    stats->memory = shelf->memory;
    stats->bytes_loaded = shelf->loaded;
    stats->bytes_read = shelf->bytes_read;
    stats->bytes_written = shelf->bytes_written;
    stats->bytes_spilled = shelf->bytes_spilled;
    stats->divided = shelf->divided;
    memcpy(stats->seconds, shelf->seconds, sizeof stats->seconds);
}

heddle_status heddle_shelf_get_stats(heddle_shelf *shelf, heddle_shelf_stats *stats)
{
    heddle_shelf_stats own = HEDDLE_SHELF_STATS_INIT;
    if (shelf == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "stats: the shelf is NULL");
    HD_TRY(hd_check_struct(stats, &hd_shelf_stats_kind));
    pthread_mutex_lock(&shelf->mutex); /* not hd_shelf_enter, which forgets the last call's times */
    collect_stats(shelf, &own);
    pthread_mutex_unlock(&shelf->mutex);
    hd_write_struct(stats, &own, &hd_shelf_stats_kind);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------ all parts */

/* What is done with a part that holds pairs; its table is loaded. *ends: the call is over. */
typedef heddle_status (*part_work)(heddle_shelf *shelf, hd_shelf_part *part, void *context,
                                   bool *ends);

/* What is done with every part, and how far it is. */
typedef struct walk {
    part_work work;
    void *context;
    uint64_t done, pairs;
    bool ends;
} walk;

static heddle_status for_part(heddle_shelf *shelf, uint32_t number, walk *w)
{
    hd_shelf_part *part = &shelf->parts.at[number];
    heddle_status status;
    HD_TRY(hd_shelf_progress(shelf, HEDDLE_SHELF_WORK, w->done, w->pairs));
    status = hd_part_load(shelf, part, 0);
    if (number + 1 < shelf->parts.count) hd_part_read_ahead(shelf, part + 1);
    if (status == HEDDLE_OK) status = w->work(shelf, part, w->context, &w->ends);
    hd_part_release(shelf, part);
    w->done += part->count;
    return status;
}

static heddle_status for_parts(heddle_shelf *shelf, part_work work, void *context)
{
    walk w = {work, context, 0, count_pairs(shelf), false};
    for (uint32_t i = 0; i < shelf->parts.count && !w.ends; i++)
        if (shelf->parts.at[i].count != 0) HD_TRY(for_part(shelf, i, &w));
    return w.ends ? HEDDLE_OK : hd_shelf_progress(shelf, HEDDLE_SHELF_WORK, w.pairs, w.pairs);
}

typedef struct exporting {
    char *keys, *values;
    uint64_t at;
} exporting;

static heddle_status export_part(heddle_shelf *shelf, hd_shelf_part *part, void *context,
                                 bool *ends)
{
    exporting *e = (exporting *)context;
    const uint32_t kw = hd_shelf_key_width(shelf), vw = hd_shelf_value_width(shelf);
    uint64_t n = 0;
    const heddle_status status = heddle_table_export(
        part->table, e->keys + e->at * kw, e->values != NULL ? e->values + e->at * vw : NULL,
        part->count, &n, NULL);
    (void)ends;
    e->at += part->count;
    return status;
}

/* The lock is held. */
static heddle_status export_all(heddle_shelf *shelf, void *keys, void *values, uint64_t capacity,
                                uint64_t *count)
{
    exporting e = {(char *)keys, (char *)values, 0};
    const uint64_t n = count_pairs(shelf);
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: there is no place for the count");
    if (values != NULL && hd_shelf_value_width(shelf) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: a set has no values");
    *count = n;
    if (n > capacity)
        return hd_fail(HEDDLE_ERROR_TOO_SMALL, "export: there is room for %llu pairs, not for %llu",
                       (unsigned long long)capacity, (unsigned long long)n);
    HD_TRY(hd_shelf_check(shelf, keys, n, hd_shelf_key_width(shelf), "keys"));
    if (values != NULL)
        HD_TRY(hd_shelf_check(shelf, values, n, hd_shelf_value_width(shelf), "values"));
    return for_parts(shelf, export_part, &e);
}

heddle_status heddle_shelf_export(heddle_shelf *shelf, void *keys, void *values, uint64_t capacity,
                                  uint64_t *count)
{
    HD_TRY(hd_shelf_enter(shelf, false, "export"));
    return hd_shelf_leave(shelf, export_all(shelf, keys, values, capacity, count));
}

typedef struct visiting {
    heddle_visitor visit;
    void *context;
    bool ended;
} visiting;

/* heddle_visitor: hands on, and remembers whether the caller has had enough. */
static uint32_t visit_pairs(void *context, const void *keys, const void *values,
                            const uint64_t *rows, uint64_t n)
{
    visiting *v = (visiting *)context;
    v->ended = v->visit(v->context, keys, values, rows, n) != 0;
    return v->ended;
}

static heddle_status visit_part(heddle_shelf *shelf, hd_shelf_part *part, void *context, bool *ends)
{
    visiting *v = (visiting *)context;
    const heddle_status status = heddle_table_for_all(part->table, visit_pairs, v, NULL);
    (void)shelf;
    *ends = v->ended;
    return status;
}

heddle_status heddle_shelf_for_all(heddle_shelf *shelf, heddle_visitor visit, void *context)
{
    visiting v = {visit, context, false};
    HD_TRY(hd_shelf_enter(shelf, false, "for_all"));
    return hd_shelf_leave(shelf, visit == NULL
                                     ? hd_fail(HEDDLE_ERROR_INVALID, "for_all: there is no visitor")
                                     : for_parts(shelf, visit_part, &v));
}

static heddle_status clear(heddle_shelf *shelf)
{
    const hd_shelf_part all = {0, 0, 0, 0, NULL, 0, false};
    hd_shelf_parts made = {NULL, 0, 0};
    HD_TRY(hd_parts_append(&made, &all));
    return hd_parts_commit(shelf, &made);
}

heddle_status heddle_shelf_clear(heddle_shelf *shelf)
{
    HD_TRY(hd_shelf_enter(shelf, true, "clear"));
    return hd_shelf_leave(shelf, clear(shelf));
}

/* ------------------------------------------------------------------------------------- validate */

typedef struct sorter {
    hd_router router;
    hd_buffer staged;
} sorter;

/* How many of the part's keys belong to it. */
static heddle_status count_own(heddle_shelf *shelf, const hd_shelf_part *part, hd_sorting *s,
                               const char *keys, sorter *t)
{
    const void *given = NULL;
    HD_TRY(hd_sorting_route(s, 0, false, part->count, &t->router));
    HD_TRY(hd_sorting_stage(s, keys, part->count * hd_shelf_key_width(shelf), &t->staged, &given));
    return hd_router_plan(&t->router, given, NULL, part->count);
}

/* Sorts the part's keys by parts: all must come out as its own. */
static heddle_status check_keys(heddle_shelf *shelf, const hd_shelf_part *part, hd_sorting *s,
                                const char *keys)
{
    sorter t;
    heddle_status status;
    memset(&t, 0, sizeof t);
    status = count_own(shelf, part, s, keys, &t);
    if (status == HEDDLE_OK && t.router.send[part - shelf->parts.at] != part->count)
        status =
            hd_fail(HEDDLE_ERROR_CORRUPT, "part %016llx holds %llu keys that belong to other parts",
                    (unsigned long long)part->file,
                    (unsigned long long)(part->count - t.router.send[part - shelf->parts.at]));
    hd_buffer_free(&t.staged);
    hd_router_end(&t.router);
    return status;
}

static heddle_status validate_part(heddle_shelf *shelf, hd_shelf_part *part, void *context,
                                   bool *ends)
{
    char *keys HD_FREED = NULL;
    uint64_t n = 0;
    (void)ends;
    HD_TRY(heddle_table_validate(part->table, NULL));
    keys = (char *)hd_allocate(part->count * hd_shelf_key_width(shelf));
    if (keys == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the keys of a part");
    HD_TRY(heddle_table_export(part->table, keys, NULL, part->count, &n, NULL));
    return check_keys(shelf, part, (hd_sorting *)context, keys);
}

/* The files, and whether every part has its own keys alone. */
static heddle_status validate_parts(heddle_shelf *shelf, hd_sorting *s)
{
    const uint32_t bits = hd_parts_bits(&shelf->parts);
    hd_place *places HD_FREED = (hd_place *)hd_allocate_zeroed(shelf->parts.count, sizeof *places);
    if (places == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the list of parts");
    for (uint32_t i = 0; i < shelf->parts.count; i++) {
        places[i].first = shelf->parts.at[i].first;
        places[i].end = hd_shelf_part_end(&shelf->parts, i);
        hd_part_unload(shelf, &shelf->parts.at[i]); /* it is the files that are looked at */
        HD_TRY(hd_part_check(shelf, &shelf->parts.at[i]));
    }
    HD_TRY(hd_sorting_spread(s, places, shelf->parts.count, bits < 8 ? 8 : bits));
    return for_parts(shelf, validate_part, s);
}

/* The lock is held. */
static heddle_status validate(heddle_shelf *shelf)
{
    hd_sorting s;
    heddle_status status;
    hd_sorting_begin(&s, shelf, NULL, NULL, 0);
    status = validate_parts(shelf, &s);
    hd_sorting_end(&s);
    return status;
}

heddle_status heddle_shelf_validate(heddle_shelf *shelf)
{
    HD_TRY(hd_shelf_enter(shelf, false, "validate"));
    return hd_shelf_leave(shelf, validate(shelf));
}
