/*
 * test_device_iceberg.cpp: iceberg tables in kernels of a user's own (heddle/device.cuh), under the
 * emulator and held against a model: tiles and single threads insert the same keys into the same table at
 * the same time, through locks, until nothing fits any more; then they erase.
 */
#include <map>

#include "arrays.h"
#include "shim.h"

#define HEDDLE_NAME pairs
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME pairs_by_threads
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

/* Their slots are claimed by way of BUSY. */
#define HEDDLE_NAME wide
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME wide_by_threads
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HEDDLE_NAME mixed
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME mixed_by_threads
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HEDDLE_NAME ids
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 32
#include <heddle/device.cuh>

#include "plain_table.h"

#define BLOCK 128

/* The functions of one instance that the tests call, by tiles and by threads. */
#define INSTANCE(name, by_tiles, by_threads)                                                       \
    struct name {                                                                                  \
        typedef by_tiles::table table;                                                             \
        typedef by_tiles::key_type key_type;                                                       \
        typedef by_tiles::value_type value_type;                                                   \
        typedef by_tiles::writer tile_writer;                                                      \
        typedef by_threads::writer thread_writer;                                                  \
        typedef by_threads::table thread_table;                                                    \
        enum { tile_size = by_tiles::tile_size };                                                  \
    }
INSTANCE(pair_instance, pairs, pairs_by_threads);
INSTANCE(wide_instance, wide, wide_by_threads);
INSTANCE(mixed_instance, mixed, mixed_by_threads);

template <class I> struct run {
    typedef typename I::key_type key_type;
    typedef typename I::value_type value_type;
    plain_table<typename I::table> t;
    typename I::thread_table same;
    std::map<key_type, value_type> model;

    explicit run(const plain_options &o) : t(o)
    {
        t.inside.at.view.threshold = 1 + (uint32_t)(warps_random() % o.bucket);
        same.at = t.inside.at;
    }
    static key_type key(uint64_t number)
    {
        return (key_type)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 8 * sizeof(key_type)));
    }
    uint32_t add(const std::vector<uint64_t> &numbers);
    void check(uint64_t range);
    void erase(const std::vector<uint64_t> &numbers);
};

/* One of two warps inserts by tiles, the other by threads. Returns how many found no room. */
template <class I> uint32_t run<I>::add(const std::vector<uint64_t> &numbers)
{
    std::vector<int> outcomes(numbers.size(), -1);
    const uint64_t n = numbers.size(), half = n / 2;
    uint32_t failed = 0;
    warps_launch(1, BLOCK, [&] {
        const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, step = BLOCK / 64;
        if (warp % 2 == 0) {
            typename I::tile_writer writer(t.inside);
            const uint32_t tiles = 32 / I::tile_size;
            for (uint64_t i = warp / 2 * tiles + lane / I::tile_size; i < half; i += step * tiles) {
                const int outcome =
                    writer.insert(key(numbers[i]), (value_type)numbers[i], HEDDLE_POLICY_ADD);
                if (lane % I::tile_size == 0) outcomes[i] = outcome;
            }
        } else {
            typename I::thread_writer writer(same);
            for (uint64_t i = half + warp / 2 * 32 + lane; i < n; i += step * 32)
                outcomes[i] =
                    writer.insert(key(numbers[i]), (value_type)numbers[i], HEDDLE_POLICY_ADD);
        }
    });
    t.check_rest();
    for (uint64_t i = 0; i < n; i++) {
        CHECK(outcomes[i] >= 0, "number %llu has no outcome", (ull)i);
        if (outcomes[i] == HEDDLE_OUTCOME_FAILED) failed++;
        else model[key(numbers[i])] += (value_type)numbers[i];
    }
    CHECK(t.size() == model.size(), "%llu keys, not %zu", (ull)t.size(), model.size());
    return failed;
}

template <class I> void run<I>::check(uint64_t range)
{
    std::map<key_type, value_type> seen;
    warps_launch(1, BLOCK, [&] {
        for (uint64_t i = threadIdx.x / 32 * 32; i < range; i += BLOCK) {
            const key_type asked = key(i + threadIdx.x % 32);
            const auto expected = model.find(asked);
            value_type one = 7, other = 7;
            const bool there = expected != model.end();
            CHECK(find_each(t.inside, asked, &one, true) == there &&
                      one == (there ? expected->second : 7),
                  "by tiles: number %llu", (ull)i);
            CHECK(find(same, asked, &other) == there && other == one, "by threads: number %llu",
                  (ull)i);
        }
    });
    warps_launch(1, BLOCK, [&] {
        for_all(t.inside, [&](key_type key, value_type value) {
            CHECK(seen.emplace(key, value).second, "a key twice");
        });
    });
    CHECK(seen == model, "other pairs than those that were inserted");
}

template <class I> void run<I>::erase(const std::vector<uint64_t> &numbers)
{
    uint64_t gone = 0, expected = 0;
    warps_launch(1, BLOCK, [&] {
        typename I::tile_writer writer(t.inside);
        for (uint64_t i = threadIdx.x / 32 * 32; i < numbers.size(); i += BLOCK) {
            const uint64_t at = i + threadIdx.x % 32;
            const bool mine = at < numbers.size();
            gone += writer.erase_each(key(mine ? numbers[at] : 0), mine);
        }
    });
    for (const uint64_t number : numbers) expected += model.erase(key(number));
    CHECK(gone == expected, "%llu erased, not %llu", (ull)gone, (ull)expected);
    CHECK(t.size() == model.size(), "%llu keys are left", (ull)t.size());
}

/* So many numbers below a limit. */
static std::vector<uint64_t> some(uint64_t n, uint64_t below)
{
    std::vector<uint64_t> numbers(n);
    for (uint64_t &number : numbers) number = warps_random() % below;
    return numbers;
}

template <class I> static void test(const plain_options &o)
{
    run<I> r(o);
    const uint64_t slots = r.t.slots();
    uint32_t failed = 0;
    CHECK(r.add(some(slots / 2, 16)) == 0, "few keys found no room"); /* many copies of few keys */
    CHECK(r.add(some(slots / 2, slots / 2)) == 0, "keys found no room in a half empty table");
    r.check(slots);
    r.erase(some(slots / 3, slots / 2));
    r.check(slots);
    for (int i = 0; i < 4 && failed == 0; i++) failed = r.add(some(slots, 2 * slots));
    CHECK(failed != 0, "more keys than slots");
    CHECK(r.model.size() > slots / 2, "%zu keys fill %llu slots", r.model.size(), (ull)slots);
    r.check(2 * slots);
    r.erase(some(slots, 2 * slots));
    r.check(2 * slots);
}

static void a_set(void)
{
    plain_table<ids::table> t({HEDDLE_SCHEME_ICEBERG, 32, 0, 32, 500, 3, false});
    warps_launch(1, BLOCK, [&] {
        ids::writer writer(t.inside);
        for (uint32_t i = threadIdx.x; i < 512; i += BLOCK)
            writer.insert_each(i % 300 * 2654435761u, 0, HEDDLE_POLICY_KEEP, i < 500);
    });
    CHECK(t.size() == 300, "%llu keys in the set", (ull)t.size());
    warps_launch(1, BLOCK, [&] {
        for (uint64_t i = ids::tile_number(); i < 400; i += BLOCK / ids::tile_size)
            CHECK(ids::contains(t.inside, (uint32_t)i * 2654435761u) == (i < 300), "key %llu",
                  (ull)i);
    });
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (uint64_t seed = first; seed <= (argc > 1 ? first : 6); seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed);
        warps_seed(seed);
        test<pair_instance>({HEDDLE_SCHEME_ICEBERG, 32, 32, 16, 300, 3, false});
        test<wide_instance>({HEDDLE_SCHEME_ICEBERG, 64, 64, 16, 300, 3, false});
        test<mixed_instance>({HEDDLE_SCHEME_ICEBERG, 64, 32, 16, 300, 3, false});
        a_set();
    }
    return 0;
}
