/*
 * test_graph.cpp: the kernels of graphs of one kind of pair, run on the CPU by warps.h under random
 * schedules. A failure names the seed; given as the argument, that seed alone runs.
 */
#include "bare_graph.cpp" /* kernels are static: one translation unit */

static hd_mix some_mix()
{
    hd_mix mix;
    hd_mix_init(&mix, random_64());
    return mix;
}

static uint32_t some_vertices()
{
    const uint32_t vertices[] = {1, 7, 8, 63, 200, 1100};
    return vertices[random_below(6)];
}

/* Keys of the list, some twice, some that are not there, in any order. */
static key_list some_keys(const hd_mix &mix, uint32_t region_bits, const pair_list &list, size_t n)
{
    key_list keys;
    for (size_t i = 0; i < n; i++) {
        const uint32_t region = (uint32_t)random_below(UINT64_C(1) << region_bits);
        if (list.empty() || i % 5 == 4) keys.push_back(key_in(&mix, region, region_bits));
        else keys.push_back(list[random_below(list.size())].first);
        if (i % 7 == 0) keys.push_back(keys[random_below(keys.size())]);
    }
    return keys;
}

/* Regions of every size that is treated in its own way, with many equal keys or few. */
static pair_list some_pairs(const hd_mix &mix, uint32_t region_bits)
{
    const size_t sizes[] = {0,
                            1,
                            (size_t)random_below(PLACE_PAIRS),
                            PLACE_PAIRS,
                            PLACE_PAIRS + 1,
                            (size_t)HD_NARROW_MAX,
                            (size_t)HD_NARROW_MAX + 1,
                            (size_t)HD_NARROW_MAX * 2 + random_below(HD_NARROW_MAX)};
    pair_list list;
    const uint32_t regions = 1u << region_bits, turn = (uint32_t)random_below(regions);
    for (uint32_t r = 0; r < regions; r++) {
        const size_t n = r < 8 ? sizes[(r + turn) % 8] : (size_t)random_below(9);
        const size_t distinct[] = {n, n / 2 + 1, 3, 1};
        add_pairs(&list, &mix, r, region_bits, n, distinct[random_below(4)]);
    }
    return list;
}

/* Asks, erases twice, gathers the rest, and builds from it and another list. */
static void all_steps(bool whole)
{
    const uint32_t bits = 3;
    const hd_mix mix = some_mix();
    const pair_list first = some_pairs(mix, bits), second = some_pairs(mix, bits);
    const sorted_list sorted = sort_list(first, &mix, bits);
    bare_graph g(mix, bits, some_vertices(), {&sorted}, first);
    g.look(some_keys(mix, bits, first, 300));
    g.inspect(true);
    if (whole) g.damage();
    g.compact();
    for (int i = 0; i < 2; i++) { /* the second time some are gone already */
        const key_list keys = some_keys(mix, bits, first, i == 0 ? 60 : 120);
        g.erase(keys);
        g.look(keys);
        g.look(some_keys(mix, bits, first, 200));
        g.inspect(i == 0);
    }
    if (!whole) g.damage();
    const sorted_list left = g.compact(), more = sort_list(second, &mix, bits);
    pair_list both = g.list();
    both.insert(both.end(), second.begin(), second.end());
    bare_graph merged(mix, bits, some_vertices(), {&left, &more}, both);
    merged.look(some_keys(mix, bits, both, 300));
    merged.erase(some_keys(mix, bits, both, 100));
    merged.inspect(false);
    merged.compact();
}

/* More regions than a block has threads, most of them small. */
static void many_regions()
{
    const uint32_t bits = 7;
    const hd_mix mix = some_mix();
    const pair_list list = some_pairs(mix, bits);
    const sorted_list sorted = sort_list(list, &mix, bits);
    bare_graph g(mix, bits, some_vertices(), {&sorted}, list);
    g.erase(some_keys(mix, bits, list, 50));
    g.look(some_keys(mix, bits, list, 100));
    g.compact();
}

/* One key, as often as 16-bit numbers can count, and once more. */
static void one_key(size_t n)
{
    const hd_mix mix = some_mix();
    pair_list list;
    add_pairs(&list, &mix, 1, 1, n, 1);
    add_pairs(&list, &mix, 0, 1, 2, 2);
    const sorted_list sorted = sort_list(list, &mix, 1);
    bare_graph g(mix, 1, 5, {&sorted}, list);
    g.look({list[0].first});
    g.inspect(false);
    g.erase({list[n].first, list[0].first, list[0].first});
    g.inspect(false);
    CHECK(g.model.size() == 1, "%zu edges left", g.model.size());
    g.compact();
}

static void nothing()
{
    const hd_mix mix = some_mix();
    const sorted_list sorted = sort_list(pair_list(), &mix, 2);
    bare_graph g(mix, 2, 9, {&sorted, &sorted}, pair_list());
    g.look(some_keys(mix, 2, pair_list(), 70));
    g.erase(some_keys(mix, 2, pair_list(), 70));
    g.inspect(true);
    g.compact();
}

static void test(uint64_t seed)
{
    narrow_max = 400;
    all_steps(seed % 2 == 0);
    many_regions();
    nothing();
    if (seed > 2) return;
    narrow_max = 65535;
    one_key(65535 + seed - 1);
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 8, test); }
