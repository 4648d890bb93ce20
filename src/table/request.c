/* request.c: see request.h. */
#include "table/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/lent.h"
#include "table/table.h"

/* Element number `first` of an array; NULL stays NULL. */
static void *from(const void *array, uint64_t first, uint32_t width)
{
    return array != NULL ? (char *)(uintptr_t)array + first * width : NULL;
}

hd_request hd_request_part(const heddle_table *table, const hd_request *r, uint64_t first,
                           uint64_t n)
{
    hd_request part = *r;
    part.keys = from(r->keys, first, hd_key_width(table));
    part.values = from(r->values, first, hd_value_width(table));
    part.operations = (const uint8_t *)from(r->operations, first, 1);
    part.options.outcomes = (uint8_t *)from(r->options.outcomes, first, 1);
    part.values_out = from(r->values_out, first, hd_value_width(table));
    part.found = (uint8_t *)from(r->found, first, 1);
    part.matches = (uint64_t *)from(r->matches, first, sizeof *r->matches);
    part.n = n;
    memset(&part.counts, 0, sizeof part.counts);
    return part;
}

bool hd_request_is_direct(const heddle_table *table, const hd_request *r)
{
    return hd_is_direct(table->device, r->keys) && hd_is_direct(table->device, r->values);
}

bool hd_request_asks_each(const hd_request *r)
{
    return r->options.outcomes != NULL || hd_failed_wanted(&r->options);
}

hd_slices hd_insert_slices(heddle_table *table, const hd_request *r)
{
    const uint32_t kw = hd_key_width(table), vw = hd_value_width(table);
    const hd_slices slices = {
        .device = table->device,
        .spans = {hd_span_in(r->keys, kw), hd_span_in(r->values, vw),
                  hd_span_out(r->options.outcomes, 1), hd_span_in(r->operations, 1),
                  hd_span_update(r->values_out, vw)},
        .n = r->n,
        .slice = &table->slice,
        .stream = r->stream,
    };
    return slices;
}

hd_slices hd_lookup_slices(heddle_table *table, const hd_request *r)
{
    const uint32_t kw = hd_key_width(table), vw = hd_value_width(table);
    const hd_slices slices = {
        .device = table->device,
        .spans = {hd_span_in(r->keys, kw), hd_span_out(r->found, 1),
                  hd_span_update(r->values_out, vw), hd_span_out(r->matches, sizeof *r->matches)},
        .n = r->n,
        .slice = &table->slice,
        .at_once = true,
        .stream = r->stream,
    };
    return slices;
}

void hd_counts_add(hd_counts *sums, const hd_counts *more)
{
    for (int i = 0; i < HD_COUNTS; i++) sums->at[i] += more->at[i];
}

/* --------------------------------------------------------------------------------- failed keys */

heddle_status hd_failed_begin(heddle_table *table, const heddle_insert_options *options,
                              hd_failed_list *list)
{
    list->table = table;
    list->options = options;
    list->listed = 0;
    list->host = NULL;
    if (!hd_failed_wanted(options) || table->engine->host_memory) return HEDDLE_OK;
    list->host = (uint8_t *)hd_allocate(table->engine->slice_max);
    return list->host != NULL ? HEDDLE_OK
                              : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
}

heddle_status hd_failed_add(hd_failed_list *list, const uint8_t *outcomes, uint64_t first,
                            uint64_t n, void *stream)
{
    const heddle_insert_options *o = list->options;
    if (!hd_failed_wanted(o)) return HEDDLE_OK;
    if (list->host != NULL) {
        HD_TRY(hd_read_back(list->table, list->host, outcomes, n, stream));
        outcomes = list->host;
    }
    for (uint64_t i = 0; i < n && list->listed < o->failed_capacity; i++)
        if (outcomes[i] == HEDDLE_OUTCOME_FAILED) o->failed[list->listed++] = first + i;
    return HEDDLE_OK;
}

void hd_failed_end(hd_failed_list *list) { free(list->host); }
