/*
 * sorted_lists.h: lists of pairs to test with, and the same sorted by region as kernels take them
 * (model/partition.h). Include it after the kernels.
 */
#ifndef SORTED_LISTS_H
#define SORTED_LISTS_H

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "arrays.h"

extern "C" {
#include "table/slots/geometry.h"
}

typedef std::vector<hd_key> key_list;
typedef std::pair<hd_key, uint64_t> key_value;
typedef std::vector<key_value> pair_list;

static uint64_t random_64() { return warps_random() << 32 ^ warps_random(); }
static uint64_t random_below(uint64_t n) { return warps_random() % n; }

static uint64_t random_value()
{
    return HD_VALUE_BITS == 0 ? 0 : HD_VALUE_BITS == 32 ? (uint32_t)random_64() : random_64();
}

/* A key that belongs to this region. */
static hd_key key_in(const hd_mix *mix, uint32_t region, uint32_t region_bits)
{
    hd_key mixed = (hd_key)random_64();
    if (region_bits != 0)
        mixed = (hd_key)region << (HD_KEY_BITS - region_bits) | mixed >> region_bits;
    return unmix_key(mix, mixed);
}

template <class T> static void shuffle(std::vector<T> *list)
{
    for (size_t i = list->size(); i > 1; i--) std::swap((*list)[i - 1], (*list)[random_below(i)]);
}

/* n pairs of a region with at most so many different keys. */
static void add_pairs(pair_list *to, const hd_mix *mix, uint32_t region, uint32_t region_bits,
                      size_t n, size_t distinct)
{
    key_list pool(distinct);
    for (hd_key &key : pool) key = key_in(mix, region, region_bits);
    for (size_t i = 0; i < n; i++)
        to->push_back({pool[i < distinct ? i : random_below(distinct)], random_value()});
}

struct sorted_list {
    device_array<uint32_t> pairs;
    device_array<uint64_t> starts;
};

/* In a random order within the regions. */
static sorted_list sort_list(pair_list list, const hd_mix *mix, uint32_t region_bits)
{
    std::vector<pair_list> regions((size_t)1 << region_bits);
    std::vector<uint32_t> words;
    std::vector<uint64_t> starts;
    shuffle(&list);
    for (const key_value &pair : list) {
        const hd_key mixed = mix_key(mix, pair.first);
        regions[region_bits == 0 ? 0 : (size_t)(mixed >> (HD_KEY_BITS - region_bits))].push_back(
            {mixed, pair.second});
    }
    for (const pair_list &region : regions) {
        starts.push_back(words.size() / HD_PAIR_WORDS);
        for (const key_value &pair : region) {
            const hd_sorted_pair made = sorted_make(pair.first, pair.second);
            words.insert(words.end(), made.words, made.words + HD_PAIR_WORDS);
        }
    }
    starts.push_back(words.size() / HD_PAIR_WORDS);
    return {upload(words), upload(starts)};
}

/* Sorted pairs as keys and values again, in their own order. */
static pair_list list_sorted(const hd_mix *mix, const uint32_t *pairs, uint64_t n)
{
    pair_list list;
    for (uint64_t i = 0; i < n; i++) {
        const hd_sorted_pair pair = sorted_load(pairs, i);
        list.push_back({unmix_key(mix, sorted_key(pair)), sorted_value(pair)});
    }
    return list;
}

/* Whether two lists hold the same pairs, in whatever order. */
static void same_pairs(pair_list a, pair_list b, const char *what)
{
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    CHECK(a.size() == b.size(), "%s: %zu pairs, not %zu", what, a.size(), b.size());
    for (size_t i = 0; i < a.size(); i++)
        CHECK(a[i] == b[i], "%s: key %llx, value %llx, not %llx, %llx", what, (ull)a[i].first,
              (ull)a[i].second, (ull)b[i].first, (ull)b[i].second);
}

/* Runs `test` under so many seeds, or under the one that the program is given. */
static int run_seeds(int argc, char **argv, uint64_t seeds, void (*test)(uint64_t seed))
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
#ifdef __SANITIZE_ADDRESS__
    seeds = (seeds + 3) / 4; /* it takes several times as long */
#endif
    const uint64_t last = argc > 1 ? first : seeds;
    for (uint64_t seed = first; seed <= last; seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed); /* before it runs: a deadlock aborts */
        warps_seed(seed);
        test(seed);
    }
    return 0;
}

#endif
