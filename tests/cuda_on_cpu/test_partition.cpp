/*
 * test_partition.cpp: sorting by region for one kind of pair, run on the CPU by warps.h under random
 * schedules. A failure names the seed; given as the argument, that seed alone runs.
 */
#include "shim.h"

/* A fiber a thread: few of them, and few targets, so that there are several of everything. */
#define PASS_BITS 7
#define COUNT_BITS 9
#define SORT_BLOCK 64
#define COUNT_BLOCK 64
#define COUNT_CHUNK 700
#include "cuda/partition/partition_kernels.h"

#include "sorted_lists.h"

/* The same steps as sort_once and sort_twice of cuda/partition/partition.cu. */
struct sorting {
    hd_partition job;
    uint32_t first, second;
    device_array<uint64_t> cursors, first_starts, first_cursors;
    unsigned tiles;

    explicit sorting(const hd_partition &job, uint32_t first_bits)
        : job(job), first(first_bits), second(job.region_bits - first),
          cursors((size_t)1 << job.region_bits), first_starts(((size_t)1 << first) + 1),
          first_cursors((size_t)1 << first), tiles((unsigned)((job.n + SORT_TILE - 1) / SORT_TILE))
    {
    }

    void count_all(uint32_t bits, uint64_t *counts)
    {
        memset(counts, 0, sizeof(uint64_t) << bits);
        count_more(bits, counts);
    }
    void count_more(uint32_t bits, uint64_t *counts)
    {
        warps_launch(1 + (unsigned)random_below(3), COUNT_BLOCK, sizeof(uint32_t) << bits,
                     [&] { count_keys<false>(job, bits, 0, (unsigned long long *)counts); });
    }
    /* More regions than a block has counters. */
    void count_some(uint64_t *counts)
    {
        for (uint32_t begin = 0; begin < 1u << job.region_bits; begin += 1u << COUNT_BITS)
            warps_launch(
                1 + (unsigned)random_below(3), COUNT_BLOCK, sizeof(uint32_t) << COUNT_BITS, [&] {
                    count_keys<true>(job, job.region_bits, begin, (unsigned long long *)counts);
                });
    }
    void scan(uint32_t bits, uint64_t *starts, uint64_t *fine, uint64_t *coarse)
    {
        warps_launch(1, COUNT_BLOCK,
                     [&] { scan_counts(1u << bits, starts, fine, coarse, bits - first); });
    }
    void sort_first(const device_array<uint64_t> &to, void *out)
    {
        warps_launch(tiles, SORT_BLOCK, sizeof(sort_scratch), [&] {
            sort_keys(job, first, (unsigned long long *)to.get(), (uint32_t *)out);
        });
    }
    void sort_once()
    {
        count_all(job.region_bits, job.starts);
        scan(job.region_bits, job.starts, cursors.get(), NULL);
        sort_first(cursors, job.pairs);
    }
    void count_again()
    {
        memset(job.starts, 0, sizeof(uint64_t) << job.region_bits);
        warps_launch((unsigned)((job.n + COUNT_CHUNK - 1) / COUNT_CHUNK), COUNT_BLOCK, [&] {
            count_pairs((const uint32_t *)job.spare, job.n, first_starts.get(), first, second,
                        (unsigned long long *)job.starts);
        });
        scan(job.region_bits, job.starts, cursors.get(), NULL);
    }
    void sort_twice()
    {
        const bool all_counted = job.region_bits <= COUNT_BITS;
        const uint32_t counted = all_counted ? job.region_bits : first;
        uint64_t *starts = all_counted ? job.starts : first_starts.get();
        count_all(counted, starts);
        scan(counted, starts, all_counted ? cursors.get() : NULL, first_cursors.get());
        sort_first(first_cursors, job.spare);
        if (!all_counted) count_again();
        warps_launch(tiles, SORT_BLOCK, sizeof(sort_scratch), [&] {
            sort_pairs((const uint32_t *)job.spare, 0, job.n, job.starts, second, first, second,
                       (unsigned long long *)cursors.get(), (uint32_t *)job.pairs);
        });
    }
};

/* The same steps as in partition_steps.h. */
struct stepping : sorting {
    bool counted;
    uint64_t n;

    explicit stepping(const hd_partition &job)
        : sorting(job, job.region_bits < PASS_BITS ? job.region_bits : PASS_BITS),
          counted(job.region_bits <= COUNT_BITS), n(job.n)
    {
    }

    /* The job becomes a batch of `count` pairs from `at` on, or all of them again. */
    void batch(const hd_partition &whole, uint64_t at, uint64_t count)
    {
        job = whole;
        job.keys = (const hd_key *)whole.keys + at;
        if (whole.values != NULL) job.values = (const hd_value *)whole.values + at;
        job.first_row = whole.first_row + at;
        job.n = count;
        tiles = (unsigned)((count + SORT_TILE - 1) / SORT_TILE);
    }
    void into_parts()
    {
        const hd_partition whole = job;
        const uint32_t bits = counted ? job.region_bits : first;
        uint64_t *counters = counted ? job.starts : first_starts.get();
        const uint64_t cut = random_below(n + 1), cuts[] = {0, cut, n};
        memset(counters, 0, sizeof(uint64_t) << bits);
        for (int i = 0; i < 2; i++) {
            batch(whole, cuts[i], cuts[i + 1] - cuts[i]);
            if (job.n != 0) count_more(bits, counters);
        }
        scan(bits, counters, counted ? cursors.get() : NULL, first_cursors.get());
        for (int i = 1; i >= 0; i--) {
            batch(whole, cuts[i], cuts[i + 1] - cuts[i]);
            if (job.n != 0) sort_first(first_cursors, job.spare);
        }
        batch(whole, 0, n);
        if (!counted) count_again();
    }
    /* The regions of some parts, in memory that ends where they do; gathered in `all`. */
    void sort_regions(uint32_t begin, uint32_t end, uint32_t *all)
    {
        const uint64_t from = job.starts[(uint64_t)begin << second];
        const uint64_t to = job.starts[(uint64_t)end << second], base = hd_partition_base(from);
        const device_array<uint32_t> pairs((to - base) * HD_PAIR_WORDS);
        uint32_t *out = (uint32_t *)((uintptr_t)pairs.get() - base * HD_PAIR_WORDS * 4);
        if (second == 0)
            memcpy(pairs.get() + (from - base) * HD_PAIR_WORDS,
                   (const uint32_t *)job.spare + from * HD_PAIR_WORDS,
                   (to - from) * HD_PAIR_WORDS * 4);
        else if (to != from)
            warps_launch((unsigned)((to - from + SORT_TILE - 1) / SORT_TILE), SORT_BLOCK,
                         sizeof(sort_scratch), [&] {
                             sort_pairs((const uint32_t *)job.spare, from, to, job.starts, second,
                                        first, second, (unsigned long long *)cursors.get(), out);
                         });
        memcpy(all + from * HD_PAIR_WORDS, pairs.get() + (from - base) * HD_PAIR_WORDS,
               (to - from) * HD_PAIR_WORDS * 4);
    }
    void sort_in_steps()
    {
        const uint32_t parts = 1u << first;
        into_parts();
        for (uint32_t begin = 0, end; begin < parts; begin = end) {
            end = begin + 1 + (uint32_t)random_below(parts);
            if (end > parts) end = parts;
            sort_regions(begin, end, (uint32_t *)job.pairs);
        }
    }
};

/* The keys counted alone, in two batches, beside the starts that sorting them has left. */
static void counts_are_right(const hd_partition &job)
{
    const uint64_t regions = UINT64_C(1) << job.region_bits;
    const device_array<uint64_t> counts(regions);
    memset(counts.get(), 0, regions * sizeof(uint64_t));
    for (int batch = 0; batch < 2; batch++) {
        hd_partition some = job;
        some.n = batch == 0 ? job.n / 2 : job.n - job.n / 2;
        some.keys = (const hd_key *)job.keys + (batch == 0 ? 0 : job.n / 2);
        sorting s(some, job.region_bits);
        if (some.n == 0) continue;
        if (job.region_bits <= COUNT_BITS) s.count_more(job.region_bits, counts.get());
        else s.count_some(counts.get());
    }
    for (uint64_t r = 0; r < regions; r++)
        CHECK(counts[r] == job.starts[r + 1] - job.starts[r], "%llu keys of region %llu",
              (ull)counts[r], (ull)r);
}

static void result_is_right(const hd_partition &job, const pair_list &expected)
{
    const uint32_t *pairs = (const uint32_t *)job.pairs;
    const uint64_t regions = UINT64_C(1) << job.region_bits;
    CHECK(job.starts[0] == 0 && job.starts[regions] == job.n, "starts end at %llu",
          (ull)job.starts[regions]);
    for (uint64_t r = 0; r < regions; r++) {
        CHECK(job.starts[r] <= job.starts[r + 1], "starts of region %llu", (ull)r);
        for (uint64_t i = job.starts[r]; i < job.starts[r + 1]; i++)
            CHECK(leading(sorted_key(sorted_load(pairs, i)), job.region_bits) == r,
                  "pair %llu is not of region %llu", (ull)i, (ull)r);
    }
    same_pairs(list_sorted(&job.mix, pairs, job.n), expected, "sorted pairs");
}

/* `shift`: elements between an aligned address and the arrays. Without values they are row numbers. */
static void sort(const key_list &list, uint32_t region_bits, bool with_values, size_t shift)
{
    const size_t n = list.size();
    const device_array<hd_key> keys(n + shift);
    const device_array<hd_value> values(n + shift);
    const device_array<uint32_t> pairs(n * HD_PAIR_WORDS), spare(n * HD_PAIR_WORDS);
    const device_array<uint64_t> starts(((size_t)1 << region_bits) + 1);
    hd_partition job = {};
    pair_list expected;
    job.key_bits = HD_KEY_BITS;
    job.value_bits = HD_VALUE_BITS;
    job.region_bits = region_bits;
    hd_mix_init(&job.mix, random_64());
    job.keys = keys.get() + shift;
    job.values = with_values ? values.get() + shift : NULL;
    job.first_row = random_value();
    job.n = n;
    job.pairs = pairs.get();
    job.spare = spare.get();
    job.starts = starts.get();
    for (size_t i = 0; i < n; i++) {
        keys[shift + i] = list[i];
        values[shift + i] = (hd_value)random_value();
        const hd_value row = (hd_value)(job.first_row + i);
        expected.push_back({list[i], HD_VALUE_BITS == 0 ? 0
                                     : with_values      ? values[shift + i]
                                                        : row});
    }
    sorting s(job, region_bits <= PASS_BITS ? region_bits : (region_bits + 1) / 2);
    if (s.second == 0) s.sort_once();
    else s.sort_twice();
    result_is_right(job, expected);
    memset(pairs.get(), ARRAY_BYTE, n * HD_PAIR_WORDS * 4);
    memset(starts.get(), ARRAY_BYTE, starts.n * sizeof(uint64_t));
    stepping(job).sort_in_steps();
    result_is_right(job, expected);
    counts_are_right(job);
}

/* Without counting first: every pair is in its region or, where that is full, in the list. */
template <int ITEMS>
static void scatter(const key_list &list, uint32_t region_bits, uint32_t first, bool counts_only)
{
    const size_t n = list.size(), regions = (size_t)1 << region_bits, parts = (size_t)1 << first;
    const uint64_t room = 1 + random_below(2 * n / regions + 2);
    const uint64_t part_room = 1 + random_below(2 * n / parts + 2);
    const device_array<hd_key> keys(n);
    const device_array<hd_value> values(n);
    const device_array<uint32_t> pairs(regions * room * HD_PAIR_WORDS), over(n * HD_PAIR_WORDS);
    const device_array<uint32_t> spare(parts * part_room * HD_PAIR_WORDS);
    const device_array<uint64_t> starts(regions), ends(regions), part_ends(parts);
    const bool twice = first < region_bits;
    uint64_t listed = 77, inside = 0;
    hd_partition job = {};
    pair_list expected, found;
    hd_mix_init(&job.mix, random_64());
    job.keys = keys.get();
    job.values = values.get();
    job.n = n;
    for (size_t i = 0; i < n; i++) {
        keys[i] = list[i];
        values[i] = (hd_value)random_value();
        expected.push_back({list[i], HD_VALUE_BITS == 0 ? 0 : values[i]});
    }
    const scatter_targets whole = {pairs.get(), (unsigned long long *)ends.get(), room,
                                   counts_only ? NULL : over.get(), (unsigned long long *)&listed};
    scatter_targets coarse = whole;
    coarse.pairs = spare.get();
    coarse.cursors = (unsigned long long *)part_ends.get();
    coarse.room = part_room;
    warps_launch((unsigned)((regions + SORT_BLOCK - 1) / SORT_BLOCK), SORT_BLOCK, [&] {
        scatter_begin((uint32_t)regions, room, starts.get(), ends.get(),
                      twice ? (uint32_t)parts : 0, part_room, part_ends.get(), &listed);
    });
    const size_t tile = SORT_BLOCK * ITEMS;
    warps_launch(
        (unsigned)((n + tile - 1) / tile), SORT_BLOCK, sizeof(scatter_scratch<ITEMS>),
        [&] { scatter_keys<ITEMS>(job, twice ? first : region_bits, twice ? coarse : whole); });
    for (warps_row = 0; twice && warps_row < parts; warps_row++)
        warps_launch((unsigned)((part_room + SORT_TILE - 1) / SORT_TILE), SORT_BLOCK,
                     sizeof(scatter_scratch<SORT_ITEMS>), [&] {
                         scatter_parts(spare.get(), part_ends.get(), part_room, first,
                                       region_bits - first, whole);
                     });
    warps_row = 0;
    for (uint32_t r = 0; r < regions; r++) {
        CHECK(starts[r] == r * room && ends[r] >= starts[r], "region %u begins elsewhere", r);
        const uint64_t count = ends[r] - starts[r] < room ? ends[r] - starts[r] : room;
        inside += count;
        for (uint64_t i = starts[r]; i < starts[r] + count; i++)
            CHECK(leading(sorted_key(sorted_load(pairs.get(), i)), region_bits) == r,
                  "pair %llu is not of region %u", (ull)i, r);
        const pair_list some =
            list_sorted(&job.mix, pairs.get() + starts[r] * HD_PAIR_WORDS, count);
        found.insert(found.end(), some.begin(), some.end());
    }
    CHECK(inside + listed == n, "%llu pairs in regions, %llu beyond", (ull)inside, (ull)listed);
    if (counts_only) return;
    const pair_list rest = list_sorted(&job.mix, over.get(), listed);
    found.insert(found.end(), rest.begin(), rest.end());
    same_pairs(found, expected, "scattered pairs");
}

/* Keys with many equal ones: n of `distinct`. */
static key_list some_keys(size_t n, size_t distinct)
{
    key_list pool(distinct), keys(n);
    for (hd_key &key : pool) key = (hd_key)random_64();
    for (size_t i = 0; i < n; i++) keys[i] = distinct < n ? pool[random_below(distinct)] : pool[i];
    return keys;
}

static void test(uint64_t seed)
{
    const uint32_t bits[] = {0, 1, 5, PASS_BITS, PASS_BITS + 1, COUNT_BITS, COUNT_BITS + 1, 14};
    const size_t sizes[] = {
        1, 63, SORT_TILE - 1, SORT_TILE, SORT_TILE + 1, 2 * SORT_TILE, 3 * SORT_TILE + 77};
    for (size_t b = 0; b < 8; b++) {
        const size_t n = sizes[(b + seed) % 7];
        const size_t distinct[] = {n, n, n / 3 + 1, 2, 1};
        const bool with_values = HD_VALUE_BITS != 0 && random_below(3) != 0;
        sort(some_keys(n, distinct[random_below(5)]), bits[b], with_values,
             (size_t)(random_below(2) * random_below(4)));
    }
    const size_t n = sizes[seed % 7], distinct[] = {n, n / 3 + 1, 1};
    const key_list list = some_keys(n, distinct[random_below(3)]);
    scatter<2>(list, bits[seed % 4], PASS_BITS, random_below(4) == 0);
    scatter<SORT_ITEMS>(list, bits[seed % 4], PASS_BITS, random_below(4) == 0);
    scatter<4>(list, PASS_BITS + 1 + seed % 3, 3 + seed % 4, random_below(4) == 0);
    sort(some_keys(3 * SORT_TILE + 5, 4000), COUNT_BITS + 1, HD_VALUE_BITS != 0, 0);
    sort(some_keys(3 * SORT_TILE + 5, 4000), COUNT_BITS, false, 1);
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 40, test); }
