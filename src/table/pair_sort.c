/* pair_sort.c: see pair_sort.h. */
#include "table/pair_sort.h"

#include <string.h>

#include "base/error.h"

hd_partition hd_sort_job(const heddle_table *table, uint32_t region_bits, const hd_mix *mix,
                         uint64_t n)
{
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = table->options.key_bits;
    job.value_bits = table->options.value_bits;
    job.region_bits = region_bits;
    job.mix = *mix;
    job.n = n;
    return job;
}

hd_sort_layout hd_sort_layout_of(const heddle_table *table, const hd_partition *job,
                                 bool spare_elsewhere)
{
    const uint64_t pairs = hd_aligned(job->n * hd_pair_bytes(job->key_bits, job->value_bits));
    hd_sort_layout l;
    l.spare = pairs;
    l.starts = l.spare + (spare_elsewhere ? 0 : pairs);
    l.work = l.starts + hd_aligned(((UINT64_C(1) << job->region_bits) + 1) * sizeof(uint64_t));
    l.bytes = l.work + hd_aligned(table->engine->partition_work(table->device, job));
    return l;
}

void hd_sort_lay(hd_partition *job, const hd_sort_layout *l, char *memory, void *spare)
{
    job->pairs = memory;
    job->spare = spare != NULL ? spare : memory + l->spare;
    job->starts = (uint64_t *)(void *)(memory + l->starts);
    job->work = memory + l->work;
}

heddle_status hd_sort_split(const heddle_table *table, const hd_partition *job, uint64_t n,
                            hd_scratch *scratch, hd_request *rest)
{
    const uint32_t key_width = hd_key_width(table), value_width = hd_value_width(table);
    const hd_graph_ops *graph = table->engine->graph(key_width * 8, value_width * 8);
    void *keys = NULL, *values = NULL;
    HD_TRY(hd_scratch_take(scratch, n * key_width, &keys));
    if (value_width != 0) HD_TRY(hd_scratch_take(scratch, n * value_width, &values));
    rest->keys = keys;
    rest->values = values;
    rest->n = n;
    return graph->split(table->device, &job->mix, job->spare, n, keys, values, rest->stream);
}
