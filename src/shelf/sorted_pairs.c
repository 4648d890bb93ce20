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
    hd_window keys, values;
    hd_route route;
    heddle_status status = hd_sorting_route(s, s->shelf->options.value_bits, n, &route);
    if (status == HEDDLE_OK)
        status = hd_window_open(&s->member, p->keys, n * kw, true, &staged[0], &keys);
    if (status == HEDDLE_OK)
        status = hd_window_open(&s->member, vw != 0 ? p->values : NULL, n * vw, true, &staged[1],
                                &values);
    if (status == HEDDLE_OK) status = hd_route_slice(&route, keys.memory, values.memory, n);
    if (status == HEDDLE_OK)
        status = hd_member_copy(&s->member, p->keys, route.keys.memory, n * kw);
    if (status == HEDDLE_OK && vw != 0)
        status = hd_member_copy(&s->member, p->values, route.values.memory, n * vw);
    if (status == HEDDLE_OK) {
        p->starts[0] = 0;
        for (uint32_t i = first; i < end; i++)
            p->starts[i + 1 - first] = p->starts[i - first] + route.send[i];
        if (p->starts[end - first] != n)
            status = hd_fail(HEDDLE_ERROR_CORRUPT, "a part holds keys that belong to others");
    }
    for (int i = 0; i < 2; i++) hd_buffer_free(&staged[i]);
    hd_route_end(&route);
    return status;
}
