/* sorted_pairs.c: see sorted_pairs.h. */
#include "shelf/sorted_pairs.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void hd_sorted_pairs_free(hd_sorted_pairs *p)
{
    free(p->keys);
    free(p->values);
    free(p->starts);
}

heddle_status hd_sorted_pairs_make(const hd_sorting *s, uint32_t first, uint32_t end, uint64_t n,
                                   hd_sorted_pairs *p)
{
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    memset(p, 0, sizeof *p);
    p->first = first;
    p->keys = (char *)hd_allocate(n * kw + 1);
    p->values = (char *)hd_allocate(n * vw + 1);
    p->starts = (uint64_t *)hd_allocate((end - first + UINT64_C(1)) * sizeof *p->starts);
    return p->keys != NULL && p->values != NULL && p->starts != NULL
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to divide a part");
}

typedef struct sorter {
    hd_router router;
    hd_buffer keys, values; /* on their way to a device with memory of its own */
} sorter;

/* Sorts the pairs where they are. */
static heddle_status sort_pairs(hd_sorting *s, hd_sorted_pairs *p, uint64_t n, sorter *t)
{
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    const void *keys = NULL, *values = NULL;
    HD_TRY(hd_sorting_route(s, s->shelf->options.value_bits, false, n, &t->router));
    HD_TRY(hd_sorting_stage(s, p->keys, n * kw, &t->keys, &keys));
    HD_TRY(hd_sorting_stage(s, vw != 0 ? p->values : NULL, n * vw, &t->values, &values));
    HD_TRY(hd_router_slice(&t->router, keys, values, n));
    HD_TRY(hd_sorting_fetch(s, p->keys, t->router.keys.memory, n * kw));
    if (vw != 0) HD_TRY(hd_sorting_fetch(s, p->values, t->router.values.memory, n * vw));
    return HEDDLE_OK;
}

heddle_status hd_sorted_pairs_sort(hd_sorting *s, uint32_t end, uint64_t n, hd_sorted_pairs *p)
{
    const uint32_t first = p->first;
    sorter t;
    heddle_status status;
    memset(&t, 0, sizeof t);
    status = sort_pairs(s, p, n, &t);
    p->starts[0] = 0;
    for (uint32_t i = first; i < end && status == HEDDLE_OK; i++)
        p->starts[i + 1 - first] = p->starts[i - first] + t.router.send[i];
    if (status == HEDDLE_OK && p->starts[end - first] != n)
        status = hd_fail(HEDDLE_ERROR_CORRUPT, "a part holds keys that belong to others");
    hd_buffer_free(&t.keys);
    hd_buffer_free(&t.values);
    hd_router_end(&t.router);
    return status;
}
