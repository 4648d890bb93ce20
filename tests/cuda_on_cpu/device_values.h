/*
 * device_values.h: tests of multimaps in kernels of a user's own (heddle/device.cuh), of either scheme, under
 * the emulator and held against a model: tiles and single threads insert and erase the same keys at the same time.
 */
#ifndef DEVICE_VALUES_H
#define DEVICE_VALUES_H

#include <map>
#include <set>

#include "arrays.h"

#define BLOCK 128

/* What the tests call, by tiles and by threads, and how such a table is made (STORE). */
#define INSTANCE(name, by_tiles, by_threads, store)                                                \
    struct name {                                                                                  \
        typedef by_tiles::table table;                                                             \
        typedef by_tiles::key_type key_type;                                                       \
        typedef by_tiles::value_type value_type;                                                   \
        typedef by_tiles::writer tile_writer;                                                      \
        typedef by_threads::writer thread_writer;                                                  \
        typedef by_threads::table thread_table;                                                    \
        typedef store store_type;                                                                  \
        enum { tile_size = by_tiles::tile_size };                                                  \
    }

/* A number for a key, and one that the value is made from. */
typedef std::pair<uint64_t, uint64_t> number_pair;
typedef std::vector<number_pair> number_list;

/* n pairs of keys below a limit; every value but a few is another one. */
static number_list some_pairs(uint64_t n, uint64_t below)
{
    number_list list(n);
    for (number_pair &pair : list) {
        pair.first = warps_random() % below;
        pair.second = warps_random() % 16 == 0 ? 5 : warps_random();
    }
    return list;
}

template <class I> struct values_run {
    typedef typename I::key_type key_type;
    typedef typename I::value_type value_type;
    typedef std::multiset<value_type> value_set;
    typename I::store_type t;
    typename I::thread_table same; /* the same table, as single threads see it */
    std::map<key_type, value_set> model;
    uint64_t pairs = 0;

    explicit values_run(uint64_t capacity) : t(capacity) { same.at = t.inside.at; }
    static key_type key(uint64_t number)
    {
        return (key_type)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 8 * sizeof(key_type)));
    }
    uint64_t add(const number_list &list);
    void check_keys(uint64_t range);
    void check_all(uint64_t range);
    void erase(const number_list &list);
};

/* One of two warps inserts by tiles, the other by threads. Returns how many found no room. */
template <class I> uint64_t values_run<I>::add(const number_list &list)
{
    std::vector<int> outcomes(list.size(), -1);
    const uint64_t n = list.size(), half = n / 2;
    uint64_t failed = 0;
    warps_launch(2, BLOCK, [&] {
        const uint32_t warp = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
        const uint32_t step = 2 * BLOCK / 64, tiles = 32 / I::tile_size;
        if (warp % 2 == 0) {
            typename I::tile_writer writer(t.inside);
            for (uint64_t i = warp / 2 * tiles + lane / I::tile_size; i < half; i += step * tiles) {
                const int outcome = writer.insert(key(list[i].first), (value_type)list[i].second);
                if (lane % I::tile_size == 0) outcomes[i] = outcome;
            }
        } else {
            typename I::thread_writer writer(same);
            for (uint64_t i = half + warp / 2 * 32 + lane; i < n; i += step * 32)
                outcomes[i] = writer.insert(key(list[i].first), (value_type)list[i].second);
        }
    });
    for (uint64_t i = 0; i < n; i++) {
        CHECK(outcomes[i] == HEDDLE_OUTCOME_INSERTED || outcomes[i] == HEDDLE_OUTCOME_FAILED,
              "pair %llu: outcome %d", (ull)i, outcomes[i]);
        if (outcomes[i] == HEDDLE_OUTCOME_FAILED) failed++;
        else model[key(list[i].first)].insert((value_type)list[i].second);
    }
    pairs += n - failed;
    CHECK(t.size() == pairs, "%llu pairs, not %llu", (ull)t.size(), (ull)pairs);
    t.check_rest(model.size());
    return failed;
}

/* Every function that looks a key up, by tiles and by threads. */
template <class I> void values_run<I>::check_keys(uint64_t range)
{
    static const value_set none;
    warps_launch(1, BLOCK, [&] {
        for (uint64_t i = threadIdx.x / 32 * 32; i < range; i += BLOCK) {
            const key_type asked = key(i + threadIdx.x % 32);
            const auto at = model.find(asked);
            const value_set &expected = at != model.end() ? at->second : none;
            const bool there = !expected.empty();
            value_type one = 77;
            CHECK(find_each(t.inside, asked, &one, true) == there, "find, number %llu", (ull)i);
            CHECK(there ? expected.count(one) != 0 : one == 77, "find, value of number %llu",
                  (ull)i);
            CHECK(contains_each(t.inside, asked, true) == there, "contains, number %llu", (ull)i);
            CHECK(count_each(t.inside, asked, true) == expected.size(), "count, number %llu",
                  (ull)i);
            CHECK(count(same, asked) == expected.size() && contains(same, asked) == there,
                  "by a thread, number %llu", (ull)i);
            /* Not all of them fit. */
            std::vector<value_type> room(expected.size() / 2 + 1, 0);
            CHECK(retrieve(same, asked, room.data(), room.size()) == expected.size(),
                  "retrieve, number %llu", (ull)i);
            for (size_t j = 0; j < room.size() && j < expected.size(); j++)
                CHECK(expected.count(room[j]) != 0, "retrieve, value of number %llu", (ull)i);
        }
    });
}

/* Visits: every pair once, by key and all of them. */
template <class I> void values_run<I>::check_all(uint64_t range)
{
    std::map<key_type, value_set> seen, asked;
    device_array<key_type> keys(range);
    for (uint64_t i = 0; i < range; i++) keys[i] = key(i);
    warps_launch(2, BLOCK, [&] {
        for_all(t.inside, [&](key_type k, value_type value) { seen[k].insert(value); });
    });
    CHECK(seen == model, "other pairs than those that were inserted");
    warps_launch(2, BLOCK, [&] {
        for_each(t.inside, keys.get(), range, [&](uint64_t row, key_type k, value_type value) {
            CHECK(k == keys[row], "row %llu", (ull)row);
            asked[k].insert(value);
        });
    });
    CHECK(asked == model, "other pairs than those that were inserted, by key");
}

/* Every key by a tile and by a thread at least: one of them erases it. */
template <class I> void values_run<I>::erase(const number_list &list)
{
    uint64_t gone = 0, expected = 0;
    warps_launch(1, BLOCK, [&] {
        const uint32_t lane = threadIdx.x % 32;
        if (threadIdx.x / 32 % 2 == 0) {
            typename I::tile_writer writer(t.inside);
            for (uint64_t i = threadIdx.x / 64 * 32; i < list.size(); i += BLOCK / 2) {
                const bool mine = i + lane < list.size();
                gone += writer.erase_each(key(mine ? list[i + lane].first : 0), mine);
            }
        } else {
            typename I::thread_writer writer(same);
            for (uint64_t i = threadIdx.x / 64 * 32 + lane; i < list.size(); i += BLOCK / 2)
                gone += writer.erase(key(list[i].first));
        }
    });
    for (const number_pair &pair : list) {
        const auto at = model.find(key(pair.first));
        if (at == model.end()) continue;
        pairs -= at->second.size();
        expected++;
        model.erase(at);
    }
    CHECK(gone == expected, "%llu keys erased, not %llu", (ull)gone, (ull)expected);
    CHECK(t.size() == pairs, "%llu pairs are left, not %llu", (ull)t.size(), (ull)pairs);
    t.check_rest(model.size());
}

/* Few keys with many values, many keys, more than there is room for; erased and inserted again. */
template <class I> static void test_values(uint64_t capacity)
{
    values_run<I> r(capacity);
    uint64_t failed = 0;
    CHECK(r.add(some_pairs(capacity / 4, 3)) == 0, "few keys found no room");
    r.check_keys(64);
    CHECK(r.add(some_pairs(capacity / 4, capacity / 4)) == 0, "no room in a half empty table");
    r.check_keys(capacity / 2);
    r.check_all(capacity / 2);
    r.erase(some_pairs(capacity / 8, capacity / 4));
    r.check_keys(capacity / 2);
    for (int i = 0; i < 24 && failed == 0; i++) failed = r.add(some_pairs(capacity / 2, capacity));
    CHECK(failed != 0, "more pairs than there is room for");
    CHECK(r.pairs > capacity / 2, "%llu pairs fill the table", (ull)r.pairs);
    r.check_keys(capacity);
    r.check_all(capacity);
    r.erase(some_pairs(capacity, capacity));
    r.check_keys(capacity);
    r.check_all(capacity);
}

#endif
