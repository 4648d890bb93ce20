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

heddle_status hd_sorted_pairs_sort(hd_sorting *s, uint32_t end, uint64_t n, hd_sorted_pairs *p)
{
    const uint32_t first = p->first;
    const uint32_t kw = hd_shelf_key_width(s->shelf), vw = hd_shelf_value_width(s->shelf);
    hd_buffer staged[2] = {{NULL, NULL, 0}, {NULL, NULL, 0}};
    const void *keys = NULL, *values = NULL;
    hd_router router;
    heddle_status status = hd_sorting_route(s, s->shelf->options.value_bits, false, n, &router);
    if (status == HEDDLE_OK) status = hd_sorting_stage(s, p->keys, n * kw, &staged[0], &keys);
    if (status == HEDDLE_OK)
        status = hd_sorting_stage(s, vw != 0 ? p->values : NULL, n * vw, &staged[1], &values);
    if (status == HEDDLE_OK) status = hd_router_slice(&router, keys, values, n);
    if (status == HEDDLE_OK) status = hd_sorting_fetch(s, p->keys, router.keys.memory, n * kw);
    if (status == HEDDLE_OK && vw != 0)
        status = hd_sorting_fetch(s, p->values, router.values.memory, n * vw);
    if (status == HEDDLE_OK) {
        p->starts[0] = 0;
        for (uint32_t i = first; i < end; i++)
            p->starts[i + 1 - first] = p->starts[i - first] + router.send[i];
        if (p->starts[end - first] != n)
            status = hd_fail(HEDDLE_ERROR_CORRUPT, "a part holds keys that belong to others");
    }
    for (int i = 0; i < 2; i++) hd_buffer_free(&staged[i]);
    hd_router_end(&router);
    return status;
}
