/*
 * insert_independent.c: build and insert in independent mode: every member takes its own part of the batch into its
 * own table, from the caller's arrays where the table takes them, else from a copy.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cluster/table/insert.h"

/* The part's arrays: the caller's, or copies in memory of the member. */
static heddle_status open_arrays(hd_writing *g, const void **keys, const void **values)
{
    const char *user_keys = g->n != 0 ? g->w->keys + g->first * g->key_width : NULL;
    const char *user_values =
        g->n != 0 && g->value_width != 0 ? g->w->values + g->first * g->value_width : NULL;
    hd_window window;
    heddle_status status = HEDDLE_OK;
    *keys = user_keys;
    *values = user_values;
    if (!hd_member_takes(g->member, user_keys)) {
        status =
            hd_window_open(g->member, user_keys, g->n * g->key_width, true, &g->staged[0], &window);
        *keys = window.memory;
    }
    if (status == HEDDLE_OK && !hd_member_takes(g->member, user_values)) {
        status = hd_window_open(g->member, user_values, g->n * g->value_width, true, &g->staged[1],
                                &window);
        *values = window.memory;
    }
    return status;
}

/* The part counts its failed keys from 0; the caller's list is shared by the local members. */
static void add_failed(hd_write *w, const uint64_t *failed, uint64_t count, uint64_t first)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = __atomic_fetch_add(&w->listed, 1, __ATOMIC_RELAXED);
        if (at >= w->options.failed_capacity) return;
        w->options.failed[at] = failed[i] + first;
    }
}

static heddle_status write_own(hd_writing *g, const void *keys, const void *values,
                               heddle_insert_options *options, heddle_totals *totals)
{
    heddle_table *part = hd_part_of(g->w->table, g->member);
    heddle_status status =
        g->w->builds ? heddle_table_build(part, keys, values, g->n, options, totals, NULL)
                     : heddle_table_insert(part, keys, values, g->n, options, totals, NULL);
    const uint64_t failed = totals->failed;
    if (status != HEDDLE_OK && options->failed != NULL)
        add_failed(g->w, options->failed,
                   failed < options->failed_capacity ? failed : options->failed_capacity, g->first);
    return hd_write_result(g, status, totals, g->n);
}

heddle_status hd_write_alone(hd_writing *g, heddle_status *agreed)
{
    heddle_insert_options options = g->w->options;
    const uint64_t listed = options.failed_capacity < g->n ? options.failed_capacity : g->n;
    const void *keys = NULL, *values = NULL;
    hd_window outcomes = {NULL, NULL, 0};
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status = open_arrays(g, &keys, &values);
    if (status == HEDDLE_OK && options.outcomes != NULL)
        status = hd_window_open(g->member, options.outcomes + g->first, g->n, false, &g->staged[2],
                                &outcomes);
    options.outcomes = (uint8_t *)outcomes.memory;
    options.failed_capacity = listed;
    options.failed = NULL;
    if (status == HEDDLE_OK && listed != 0) {
        options.failed = (uint64_t *)hd_allocate(listed * sizeof(uint64_t));
        if (options.failed == NULL)
            status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
    }
    *agreed = hd_member_agree(g->member, status);
    if (*agreed == HEDDLE_OK) {
        g->changing = true;
        g->received = g->n;
        if (outcomes.memory != NULL && g->n != 0)
            status = g->member->device->engine->fill(g->member->device, outcomes.memory,
                                                     HEDDLE_OUTCOME_FAILED, g->n, NULL);
        if (status == HEDDLE_OK) status = write_own(g, keys, values, &options, &totals);
        if (status == HEDDLE_OK) status = hd_window_close(g->member, &outcomes);
        hd_phase(g->member, HEDDLE_PHASE_WORK);
    }
    free(options.failed);
    return status;
}
