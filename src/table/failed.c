/* failed.c: see failed.h. */
#include "table/failed.h"
#include "base/alloc.h"

#include <stdlib.h>

heddle_status hd_failed_begin(heddle_table *table, const heddle_insert_options *options,
                              hd_failed_list *list)
{
    list->options = options;
    list->listed = 0;
    list->host = NULL;
    if (!hd_failed_wanted(options) || table->engine->host_memory) return HEDDLE_OK;
    list->host = (uint8_t *)hd_allocate(table->engine->slice_max);
    return list->host != NULL ? HEDDLE_OK
                              : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
}

heddle_status hd_failed_add(heddle_table *table, hd_failed_list *list, const uint8_t *outcomes,
                            uint64_t first, uint64_t n, void *stream)
{
    const heddle_insert_options *o = list->options;
    if (!hd_failed_wanted(o)) return HEDDLE_OK;
    if (list->host != NULL) {
        const heddle_status status = hd_read_back(table, list->host, outcomes, n, stream);
        if (status != HEDDLE_OK) return status;
        outcomes = list->host;
    }
    for (uint64_t i = 0; i < n && list->listed < o->failed_capacity; i++)
        if (outcomes[i] == HEDDLE_OUTCOME_FAILED) o->failed[list->listed++] = first + i;
    return HEDDLE_OK;
}

void hd_failed_end(hd_failed_list *list) { free(list->host); }
