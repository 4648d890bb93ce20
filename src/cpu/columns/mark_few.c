/* mark_few.c: which rows have one of a few keys (engine/columns.h), on a CPU. */
#include "cpu/columns/columns.h"

static uint64_t key_at(const void *keys, uint32_t width, uint64_t i)
{
    return width == 4 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

heddle_status hd_mark_few_cpu(hd_site on, const hd_few *few, const hd_few_search *search)
{
    const hd_few f = *few;
    const uint64_t n = search->n;
    const void *keys = search->keys;
    uint8_t *flags = search->flags;
    uint64_t found = 0;
#pragma omp parallel for num_threads(hd_cpu_team(on.device, n)) schedule(static) \
    reduction(+ : found)
    for (uint64_t i = 0; i < n; i++) {
        flags[i] = hd_few_has(f.keys, f.used, f.bits, key_at(keys, f.width, i));
        found += flags[i];
    }
    *search->count = found;
    return HEDDLE_OK;
}
