/*
 * insert_independent.c: build and insert in independent mode: every member takes its own part of the batch into its
 * own table, from the caller's arrays where the table takes them, else from a copy.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cluster/table/insert.h"

/* The part's arrays: the caller's, or copies in memory of the member. */
static heddle_status open_arrays(hd_inserting *p, const void **keys, const void **values)
{
    const char *user_keys = p->n != 0 ? p->call->keys + p->first * p->key_width : NULL;
    const char *user_values =
        p->n != 0 && p->value_width != 0 ? p->call->values + p->first * p->value_width : NULL;
    hd_lent lent;
    heddle_status status = HEDDLE_OK;
    *keys = user_keys;
    *values = user_values;
    if (!hd_member_takes(p->member, user_keys)) {
        status =
            hd_member_lend(p->member, user_keys, p->n * p->key_width, true, &p->staged[0], &lent);
        *keys = lent.memory;
    }
    if (status == HEDDLE_OK && !hd_member_takes(p->member, user_values)) {
        status = hd_member_lend(p->member, user_values, p->n * p->value_width, true, &p->staged[1],
                                &lent);
        *values = lent.memory;
    }
    return status;
}

/* The part counts its failed keys from 0; the caller's list is shared by the local members. */
static void add_failed(hd_insertion *call, const uint64_t *failed, uint64_t count, uint64_t first)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = __atomic_fetch_add(&call->listed, 1, __ATOMIC_RELAXED);
        if (at >= call->options.failed_capacity) return;
        call->options.failed[at] = failed[i] + first;
    }
}

static heddle_status write_own(hd_inserting *p, const void *keys, const void *values,
                               heddle_insert_options *options, heddle_totals *totals)
{
    heddle_table *part = hd_part_of(p->call->table, p->member);
    heddle_status status =
        p->call->builds ? heddle_table_build(part, keys, values, p->n, options, totals, NULL)
                        : heddle_table_insert(part, keys, values, p->n, options, totals, NULL);
    const uint64_t failed = totals->failed;
    if (status != HEDDLE_OK && options->failed != NULL)
        add_failed(p->call, options->failed,
                   failed < options->failed_capacity ? failed : options->failed_capacity, p->first);
    return hd_insert_result(p, status, totals, p->n);
}

heddle_status hd_insert_independent(hd_inserting *p, heddle_status *agreed)
{
    heddle_insert_options options = p->call->options;
    const uint64_t listed = options.failed_capacity < p->n ? options.failed_capacity : p->n;
    const void *keys = NULL, *values = NULL;
    hd_lent outcomes = {NULL, NULL, 0};
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status = open_arrays(p, &keys, &values);
    if (status == HEDDLE_OK && options.outcomes != NULL)
        status = hd_member_lend(p->member, options.outcomes + p->first, p->n, false, &p->staged[2],
                                &outcomes);
    options.outcomes = (uint8_t *)outcomes.memory;
    options.failed_capacity = listed;
    options.failed = NULL;
    if (status == HEDDLE_OK && listed != 0) {
        options.failed = (uint64_t *)hd_allocate(listed * sizeof(uint64_t));
        if (options.failed == NULL)
            status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
    }
    *agreed = hd_member_agree(p->member, status);
    if (*agreed == HEDDLE_OK) {
        p->changing = true;
        p->received = p->n;
        if (outcomes.memory != NULL && p->n != 0)
            status = p->member->device->engine->fill(p->member->device, outcomes.memory,
                                                     HEDDLE_OUTCOME_FAILED, p->n, NULL);
        if (status == HEDDLE_OK) status = write_own(p, keys, values, &options, &totals);
        if (status == HEDDLE_OK) status = hd_member_take_back(p->member, &outcomes);
        hd_phase(p->member, HEDDLE_PHASE_WORK);
    }
    free(options.failed);
    return status;
}
