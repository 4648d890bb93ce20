/*
 * filter.c: Bloom filters on the CPU, for keys of one width. Built once for each by a generated stub
 * that defines HD_KEY_BITS and HD_SYMBOL. Exports HD_SYMBOL alone.
 *
 * filter_loops.h has the loops over keys; bloom_avx2.h looks at a block as one vector.
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

/* Where keys come from and who else sets bits. */
typedef enum mode { ALONE, SHARED, SORTED, MODES } mode;

typedef void add_function(const part *p);
typedef uint64_t contains_function(const part *p, uint8_t *found);

/* The loops for h hashes, each a function of its own: in one function all of them take a compiler half a minute. */
#define LOOPS(h, width, wide, attribute)                                                           \
    attribute static void add_alone_##width##h(const part *p)                                      \
    {                                                                                              \
        add_loop(p->view, p->keys, p->begin, p->end, false, false, h, wide);                       \
    }                                                                                              \
    attribute static void add_shared_##width##h(const part *p)                                     \
    {                                                                                              \
        add_loop(p->view, p->keys, p->begin, p->end, false, true, h, wide);                        \
    }                                                                                              \
    attribute static void add_sorted_##width##h(const part *p)                                     \
    {                                                                                              \
        add_loop(p->view, p->keys, p->begin, p->end, true, false, h, wide);                        \
    }                                                                                              \
    attribute static uint64_t contains_##width##h(const part *p, uint8_t *found)                   \
    {                                                                                              \
        return contains_loop(p->view, p->keys, p->begin, p->end, found, h, wide);                  \
    }
#define NARROW_LOOPS(h) LOOPS(h, narrow, false, )
#define ADDS_NARROW(h) [h] = {add_alone_narrow##h, add_shared_narrow##h, add_sorted_narrow##h},
#define CONTAINS_NARROW(h) [h] = contains_narrow##h,
HD_FOR_HASHES(NARROW_LOOPS)
static add_function *const adds[][MODES] = {HD_FOR_HASHES(ADDS_NARROW)};
static contains_function *const looks[] = {HD_FOR_HASHES(CONTAINS_NARROW)};

#if HD_WIDE_BLOCKS
#define WIDE_LOOPS(h) LOOPS(h, wide, true, HD_WIDE)
#define ADDS_WIDE(h) [h] = {add_alone_wide##h, add_shared_wide##h, add_sorted_wide##h},
#define CONTAINS_WIDE(h) [h] = contains_wide##h,
HD_FOR_HASHES(WIDE_LOOPS)
static add_function *const wide_adds[][MODES] = {HD_FOR_HASHES(ADDS_WIDE)};
static contains_function *const wide_looks[] = {HD_FOR_HASHES(CONTAINS_WIDE)};
#else
#define wide_adds adds
#define wide_looks looks
#endif

static void add_part(const part *p, mode how, bool wide)
{
    (wide ? wide_adds : adds)[p->view->hashes][how](p);
}

static uint64_t contains_part(const part *p, uint8_t *found, bool wide)
{
    return (wide ? wide_looks : looks)[p->view->hashes](p, found);
}

/* ----------------------------------------------------------------------------------- operations */

static heddle_status add(heddle_device *device, const hd_filter_view *view, const void *keys,
                         uint64_t n, void *stream)
{
    const bool wide = is_wide(device);
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, n))
    {
        const hd_share share = hd_share_of(n);
        const part p = {view, (const hd_key *)keys, share.begin, share.end};
        const mode how = omp_get_num_threads() > 1 ? SHARED : ALONE;
        add_part(&p, how, wide);
    }
    return HEDDLE_OK;
}

static heddle_status add_sorted(heddle_device *device, const hd_filter_view *view,
                                const hd_filter_sorted *sorted, void *stream)
{
    const bool wide = is_wide(device);
    const uint32_t regions = UINT32_C(1) << sorted->region_bits;
    (void)stream;
#pragma omp parallel for schedule(dynamic) num_threads(hd_cpu_team(device, sorted->n))
    for (uint32_t r = 0; r < regions; r++) {
        const part p = {view, (const hd_key *)sorted->mixed, sorted->starts[r],
                        sorted->starts[r + 1]};
        add_part(&p, SORTED, wide);
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
#pragma omp parallel num_threads(hd_cpu_team(device, n)) reduction(+ : all)
    {
        const hd_share share = hd_share_of(n);
        const part p = {view, (const hd_key *)keys, share.begin, share.end};
        all += contains_part(&p, found, wide);
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
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(device, pairs))
    for (uint64_t i = 0; i < pairs; i++)
        store_relaxed_64(&into[i], load_relaxed_64(&into[i]) | load_relaxed_64(&with[i]));
    return HEDDLE_OK;
}

static heddle_status inspect(heddle_device *device, const hd_filter_view *view,
                             hd_filter_census *census, void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, view->blocks))
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
