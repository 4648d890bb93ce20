/* pair_sort.c: see pair_sort.h. */
#include "table/pair_sort.h"

#include <string.h>

#define ALIGNMENT UINT64_C(256)

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

hd_partition hd_sort_job(const heddle_table *table, const hd_view *view, uint64_t n)
{
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = hd_key_width(table) * 8;
    job.value_bits = hd_value_width(table) * 8;
    job.region_bits = view->region_bits;
    job.mix = view->mix;
    job.n = n;
    return job;
}

hd_sort_layout hd_sort_layout_of(const heddle_table *table, const hd_partition *job,
                                 bool spare_elsewhere)
{
    const uint64_t pairs = aligned(job->n * hd_pair_bytes(job->key_bits, job->value_bits));
    hd_sort_layout l;
    l.spare = pairs;
    l.starts = l.spare + (spare_elsewhere ? 0 : pairs);
    l.work = l.starts + aligned(((UINT64_C(1) << job->region_bits) + 1) * sizeof(uint64_t));
    l.bytes = l.work + aligned(table->engine->partition_work(table->device, job));
    return l;
}

void hd_sort_lay(hd_partition *job, const hd_sort_layout *l, char *memory, void *spare)
{
    job->pairs = memory;
    job->spare = spare != NULL ? spare : memory + l->spare;
    job->starts = (uint64_t *)(void *)(memory + l->starts);
    job->work = memory + l->work;
}

heddle_status hd_sort_split(const heddle_table *table, const hd_mix *mix, const void *pairs,
                            uint64_t n, hd_scratch *scratch, void **keys, void **values,
                            void *stream)
{
    const uint32_t key_width = hd_key_width(table), value_width = hd_value_width(table);
    const hd_graph_ops *graph = table->engine->graph(key_width * 8, value_width * 8);
    heddle_status status = hd_scratch_take(scratch, n * key_width, keys);
    *values = NULL;
    if (status == HEDDLE_OK && value_width != 0)
        status = hd_scratch_take(scratch, n * value_width, values);
    return status == HEDDLE_OK ? graph->split(table->device, mix, pairs, n, *keys, *values, stream)
                               : status;
}
