/*
 * filter.c: Bloom filters on the CPU, for keys of one width. Built once for each by a generated stub
 * that defines HD_KEY_BITS and HD_SYMBOL. Exports HD_SYMBOL alone.
 *
 * Many keys are sorted by region first (partition.h): then every region belongs to one thread, lies in
 * its second-level cache, and bits are set without atomics. Few keys go one by one.
 */
#include <omp.h>

#include "cpu/columns/columns.h"
#include "cpu/filter/filter_loops.h"
#include "cpu/partition/partition.h"

/* Which loops a device runs: those with vectors of a block's size, where the tables have them too. */
static bool is_wide(const heddle_device *device)
{
    const char *tile = ((const hd_device_cpu *)device)->tile;
    return HD_WIDE_BLOCKS && (strcmp(tile, "avx2") == 0 || strcmp(tile, "avx512") == 0);
}

/* ---------------------------------------------------------------------------------------- loops */

/* One thread's keys. */
typedef struct part {
    const hd_filter_view *view;
    const hd_key *keys;
    uint64_t begin, end;
} part;

/* Where keys come from and who else sets bits; constants in every loop. */
typedef enum mode { ALONE, SHARED, SORTED } mode;

#define ADD(h, mixed, shared)                                                                      \
    case h:                                                                                        \
        add_loop(p->view, p->keys, p->begin, p->end, mixed, shared, h, WIDELY);                    \
        break;
#define ADD_ALONE(h) ADD(h, false, false)
#define ADD_SHARED(h) ADD(h, false, true)
#define ADD_SORTED(h) ADD(h, true, false)
#define CONTAINS_CASE(h)                                                                           \
    case h:                                                                                        \
        return contains_loop(p->view, p->keys, p->begin, p->end, found, h, WIDELY);

#define WIDELY false
static void add_part(const part *p, mode how)
{
    if (how == ALONE) switch (p->view->hashes) {
            HD_FOR_HASHES(ADD_ALONE)
        }
    else if (how == SHARED) switch (p->view->hashes) {
            HD_FOR_HASHES(ADD_SHARED)
        }
    else switch (p->view->hashes) {
            HD_FOR_HASHES(ADD_SORTED)
        }
}

static uint64_t contains_part(const part *p, uint8_t *found)
{
    switch (p->view->hashes) {
        HD_FOR_HASHES(CONTAINS_CASE)
    }
    return 0;
}
#undef WIDELY

#if HD_WIDE_BLOCKS
#define WIDELY true
HD_WIDE static void add_part_wide(const part *p, mode how)
{
    if (how == ALONE) switch (p->view->hashes) {
            HD_FOR_HASHES(ADD_ALONE)
        }
    else if (how == SHARED) switch (p->view->hashes) {
            HD_FOR_HASHES(ADD_SHARED)
        }
    else switch (p->view->hashes) {
            HD_FOR_HASHES(ADD_SORTED)
        }
}

HD_WIDE static uint64_t contains_part_wide(const part *p, uint8_t *found)
{
    switch (p->view->hashes) {
        HD_FOR_HASHES(CONTAINS_CASE)
    }
    return 0;
}
#undef WIDELY
#else
#define add_part_wide add_part
#define contains_part_wide contains_part
#endif

/* ----------------------------------------------------------------------------------- operations */

static heddle_status add(heddle_device *device, const hd_filter_view *view, const void *keys,
                         uint64_t n, void *stream)
{
    const bool wide = is_wide(device);
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, n))
    {
        const hd_share share = hd_share_of(n);
        const part p = {view, (const hd_key *)keys, share.begin, share.end};
        const mode how = omp_get_num_threads() > 1 ? SHARED : ALONE;
        if (wide) add_part_wide(&p, how);
        else add_part(&p, how);
    }
    return HEDDLE_OK;
}

static heddle_status add_sorted(heddle_device *device, const hd_filter_view *view,
                                const hd_filter_sorted *sorted, void *stream)
{
    const bool wide = is_wide(device);
    const uint32_t regions = UINT32_C(1) << sorted->region_bits;
    (void)stream;
#pragma omp parallel for schedule(dynamic) num_threads(hd_cpu_threads(device, sorted->n))
    for (uint32_t r = 0; r < regions; r++) {
        const part p = {view, (const hd_key *)sorted->mixed, sorted->starts[r],
                        sorted->starts[r + 1]};
        if (wide) add_part_wide(&p, SORTED);
        else add_part(&p, SORTED);
    }
    return HEDDLE_OK;
}

/* Fewer keys are added one by one. */
#define SORT_KEYS_MIN (UINT64_C(1) << 16)

/*
 * Regions of 32 to 64 KB, in one pass. Sorting takes as long as atomics do for two words of a block; one
 * thread, which needs none, is faster without.
 */
static uint32_t sort_bits(heddle_device *device, const hd_filter_view *view, uint64_t n)
{
    if (n < SORT_KEYS_MIN || hd_cpu_threads(device, n) == 1) return 0;
    return view->region_bits < HD_PASS_BITS ? view->region_bits : HD_PASS_BITS;
}

static heddle_status contains(heddle_device *device, const hd_filter_view *view, const void *keys,
                              uint64_t n, uint8_t *found, uint64_t *count, void *stream)
{
    const bool wide = is_wide(device);
    uint64_t all = 0;
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, n)) reduction(+ : all)
    {
        const hd_share share = hd_share_of(n);
        const part p = {view, (const hd_key *)keys, share.begin, share.end};
        all += wide ? contains_part_wide(&p, found) : contains_part(&p, found);
    }
    if (count != NULL) *count += all;
    return HEDDLE_OK;
}

static heddle_status merge(heddle_device *device, const hd_filter_view *view, const uint32_t *from,
                           void *stream)
{
    uint64_t *into = (uint64_t *)(void *)view->words;
    const uint64_t *with = (const uint64_t *)(const void *)from;
    const uint64_t pairs = (uint64_t)view->blocks * WORDS / 2;
    (void)stream;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_threads(device, pairs))
    for (uint64_t i = 0; i < pairs; i++)
        store_relaxed_64(&into[i], load_relaxed_64(&into[i]) | load_relaxed_64(&with[i]));
    return HEDDLE_OK;
}

static heddle_status inspect(heddle_device *device, const hd_filter_view *view,
                             hd_filter_census *census, void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, view->blocks))
    {
        const hd_share share = hd_share_of(view->blocks);
        hd_filter_census mine = {0, 0, 0, 0};
        for (uint64_t b = share.begin; b < share.end; b++) {
            uint32_t seen[WORDS];
            block_read(block_words(view, (uint32_t)b), seen);
            bloom_inspect(seen, view->hashes, &mine);
        }
#pragma omp critical
        {
            census->set += mine.set;
            census->keys += mine.keys;
            census->broken += mine.broken;
            census->passed += mine.passed;
        }
    }
    return HEDDLE_OK;
}

const hd_filter_ops HD_SYMBOL = {add, add_sorted, sort_bits, contains, merge, inspect};
