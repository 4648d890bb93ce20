/* answers_of_all.c: see answers_of_all.h. */
#include "cluster/table/answers_of_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

heddle_status hd_merge_begin(hd_merge *merge, hd_member *member, uint64_t slice, uint32_t width)
{
    const uint64_t rows = slice * ((uint64_t)hd_exchange_of(member)->members + 1);
    merge->member = member;
    merge->slice = slice;
    merge->width = width;
    merge->host = (uint8_t *)hd_allocate(rows * (1 + (uint64_t)width) + 8);
    return merge->host != NULL ? HEDDLE_OK
                               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to merge answers");
}

void hd_merge_end(hd_merge *merge)
{
    free(merge->host);
    merge->host = NULL;
}

/* Where the parts of the host memory are. The values come first: they are aligned. */
typedef struct answers {
    uint8_t *values, *merged_values;
    uint8_t *found, *merged_found;
} answers;

static answers answers_of(const hd_merge *merge)
{
    const uint64_t members = hd_exchange_of(merge->member)->members;
    answers d;
    d.values = merge->host;
    d.merged_values = d.values + members * merge->slice * merge->width;
    d.found = d.merged_values + merge->slice * merge->width;
    d.merged_found = d.found + members * merge->slice;
    return d;
}

static uint64_t value_at(const uint8_t *values, uint32_t width, uint64_t i)
{
    uint64_t wide;
    uint32_t narrow;
    if (width == 8) {
        memcpy(&wide, values + i * 8, 8);
        return wide;
    }
    memcpy(&narrow, values + i * 4, 4);
    return narrow;
}

static void value_set(uint8_t *values, uint32_t width, uint64_t i, uint64_t value)
{
    const uint32_t narrow = (uint32_t)value;
    if (width == 8) memcpy(values + i * 8, &value, 8);
    else memcpy(values + i * 4, &narrow, 4);
}

/* All answers to one question. */
static void merge_one(const hd_merge *merge, const hd_merge_job *job, const answers *d, uint64_t i)
{
    const uint64_t members = hd_exchange_of(merge->member)->members;
    uint64_t sum = 0;
    bool any = false;
    for (uint64_t m = 0; m < members; m++) {
        const uint64_t at = m * job->n + i;
        const uint64_t value = job->width != 0 ? value_at(d->values, job->width, at) : 0;
        const bool found = job->found != NULL ? d->found[at] != 0 : value != 0;
        if (!found) continue;
        if (job->sums || !any) sum += value;
        any = true;
    }
    d->merged_found[i] = any;
    /* A count is always an answer; a value only where there is one. */
    if (job->width != 0 && (any || job->found == NULL))
        value_set(d->merged_values, job->width, i, sum);
}

heddle_status hd_merge_answers(hd_merge *merge, const hd_merge_job *job, heddle_totals *totals)
{
    hd_member *member = merge->member;
    const uint64_t rows = job->n * hd_exchange_of(member)->members;
    const answers d = answers_of(merge);
    heddle_status status = HEDDLE_OK;
    if (job->found != NULL) status = hd_member_copy(member, d.found, job->found, rows);
    if (status == HEDDLE_OK && job->values != NULL)
        status = hd_member_copy(member, d.values, job->values, rows * job->width);
    if (status == HEDDLE_OK && job->values_out != NULL) /* absent keys leave them as they are */
        status = hd_member_copy(member, d.merged_values, job->values_out, job->n * job->width);
    if (status != HEDDLE_OK) return status;
    for (uint64_t i = 0; i < job->n; i++) {
        merge_one(merge, job, &d, i);
        totals->found += d.merged_found[i];
        totals->absent += d.merged_found[i] == 0;
    }
    if (job->found_out != NULL)
        status = hd_member_copy(member, job->found_out, d.merged_found, job->n);
    if (status == HEDDLE_OK && job->values_out != NULL)
        status = hd_member_copy(member, job->values_out, d.merged_values, job->n * job->width);
    return status;
}
