/* bare_graph.cpp: see bare_graph.h. */
#include "bare_graph.h"

static unsigned some_blocks() { return 1 + (unsigned)random_below(3); }

/* ---------------------------------------------------------------------------------------- place */

static uint32_t count_wide(const std::vector<const sorted_list *> &sources, uint32_t region_bits)
{
    uint32_t wide = 0;
    for (size_t r = 0; r < (size_t)1 << region_bits; r++) {
        uint64_t pairs = 0;
        for (const sorted_list *source : sources)
            pairs += source->starts[r + 1] - source->starts[r];
        wide += pairs > HD_NARROW_MAX;
    }
    return wide;
}

static uint32_t row_numbers(uint32_t vertices) { return (vertices + 1 + 7) / 8 * 8; }

bare_graph::bare_graph(const hd_mix &mix, uint32_t region_bits, uint32_t vertices,
                       const std::vector<const sorted_list *> &sources, const pair_list &list)
    : graph(), n(list.size()), starts(((size_t)1 << region_bits) + 1),
      offsets((size_t)row_numbers(vertices) << region_bits), lengths(offsets.n),
      wide((size_t)count_wide(sources, region_bits) * (vertices + 1)),
      wide_lengths((size_t)count_wide(sources, region_bits) * vertices), wide_used(1, 0),
      edges(n * HD_PAIR_WORDS), model(list.begin(), list.end())
{
    graph.region_bits = region_bits;
    graph.region_vertices = vertices;
    graph.region_row = row_numbers(vertices);
    graph.wide_rows = count_wide(sources, region_bits);
    graph.starts = starts.get();
    graph.offsets = offsets.get();
    graph.wide = wide.get();
    graph.wide_used = wide_used.get();
    graph.edges = edges.get();
    graph.mix = mix;
    place(sources);
    lists_are_right();
}

/* As look of cuda/graph/graph.cu, but now and then with votes on long lists where there are none. */
template <int WHAT> static void run_look(const hd_graph &graph, const hd_graph_batch &batch)
{
    const bool wide = graph.wide_rows != 0 || random_below(2) == 0;
    warps_launch(some_blocks(), LOOK_BLOCK, [&] {
        if (wide) graph_look<WHAT, true>(graph, batch);
        else graph_look<WHAT, false>(graph, batch);
    });
}

/* As place of cuda/graph/graph.cu. */
static void run_place(const hd_graph &graph, const hd_graph_placing &placing)
{
    const unsigned blocks = some_blocks();
    const unsigned regions = placing.stretch.end_region - placing.stretch.first_region;
    warps_launch(regions, VERTEX_BLOCK, place_bytes(graph.region_row),
                 [&] { graph_place(graph, placing); });
    if (graph.wide_rows == 0) return;
    warps_launch(1, VERTEX_BLOCK, [&] { graph_wide_plan(graph, placing); });
    warps_launch(blocks, VERTEX_BLOCK, (size_t)row_words(graph.region_row) * 4,
                 [&] { graph_wide_count(graph, placing); });
    warps_launch(blocks, VERTEX_BLOCK, [&] { graph_wide_scan(graph, placing.wide_done); });
    if (random_below(2) == 0)
        warps_launch(blocks, VERTEX_BLOCK, wide_place_bytes(graph.region_row),
                     [&] { graph_wide_place(graph, placing); });
    else warps_launch(blocks, VERTEX_BLOCK, [&] { graph_wide_place_plain(graph, placing); });
    warps_launch(1, VERTEX_BLOCK, [&] { graph_wide_end(graph, placing.wide_done); });
}

/* The pairs of a list from number `base` on that belong to regions before `end`. */
static device_array<uint32_t> cut_pairs(const sorted_list &list, uint64_t base, uint32_t end)
{
    const uint64_t n = list.starts[end] - base;
    device_array<uint32_t> cut(n * HD_PAIR_WORDS);
    memcpy(cut.get(), list.pairs.get() + base * HD_PAIR_WORDS, n * HD_PAIR_WORDS * 4);
    return cut;
}

/* Some regions after the other, or all at once; their pairs lie as a pass has them. */
void bare_graph::place(const std::vector<const sorted_list *> &lists)
{
    const uint32_t regions = 1u << graph.region_bits, passes = 1 + (uint32_t)random_below(3);
    for (uint32_t first = 0, end; first < regions; first = end) {
        std::vector<device_array<uint32_t>> cuts;
        hd_graph_placing placing = {};
        end = first + 1 + (uint32_t)random_below(regions);
        if (passes == 1 || end > regions) end = regions;
        placing.count = (uint32_t)lists.size();
        placing.wide_done = *wide_used.get();
        placing.stretch.first_region = first;
        placing.stretch.end_region = end;
        for (size_t i = 0; i < lists.size(); i++) {
            const uint64_t base = hd_partition_base(lists[i]->starts[first]);
            cuts.push_back(cut_pairs(*lists[i], base, end));
            placing.sources[i] = {cuts[i].get(), lists[i]->starts.get(), base};
        }
        run_place(graph, placing);
    }
    CHECK(wide_used[0] == graph.wide_rows, "%u wide rows of %u", wide_used[0], graph.wide_rows);
}

/* Rooms follow each other without gaps; all lists together hold what the model does. */
void bare_graph::lists_are_right()
{
    const uint32_t regions = 1u << graph.region_bits;
    pair_list found;
    uint64_t at = 0;
    for (uint32_t region = 0; region < regions; region++) {
        const hd_graph_region r = region_get(&graph, region);
        CHECK(r.begin == at, "region %u begins at %llu", region, (ull)r.begin);
        for (uint32_t v = 0; v < graph.region_vertices; v++) {
            const hd_list room = list_room(&graph, &r, v), list = list_in(&graph, &r, v);
            CHECK(room.begin == at && room.begin <= list.end && list.end <= room.end,
                  "region %u, vertex %u: [%llu, %llu)", region, v, (ull)room.begin, (ull)room.end);
            at = room.end;
            for (uint64_t i = list.begin; i < list.end; i++) {
                const hd_key mixed = edge_key(edges.get(), i);
                CHECK(graph_region(&graph, mixed) == region && graph_vertex(&graph, mixed) == v,
                      "edge %llu is not of region %u, vertex %u", (ull)i, region, v);
                found.push_back({unmix_key(&graph.mix, mixed), edge_value(edges.get(), i)});
            }
        }
        CHECK(r.end == at, "region %u ends at %llu, not %llu", region, (ull)r.end, (ull)at);
    }
    CHECK(at == n, "%llu edges of %llu", (ull)at, (ull)n);
    same_pairs(found, list(), "edges");
}

/* ----------------------------------------------------------------------------------------- look */

static void counts_are(const hd_counts &counts, uint64_t asked, uint64_t found)
{
    CHECK(counts.at[HD_ASKED] == asked && counts.at[HD_FOUND] == found, "%llu of %llu found",
          (ull)counts.at[HD_FOUND], (ull)found);
}

void bare_graph::look_first(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> found(keys.size());
    const device_array<hd_value> values(keys.size());
    hd_counts counts = {};
    hd_graph_batch batch = {};
    uint64_t expected = 0;
    batch.keys = k.get();
    batch.n = keys.size();
    batch.found = found.get();
    batch.values = HD_VALUE_BITS != 0 ? values.get() : NULL;
    batch.counts = &counts;
    run_look<LOOK_FIRST>(graph, batch);
    for (size_t i = 0; i < keys.size(); i++) {
        const hd_key mixed = mix_key(&graph.mix, keys[i]);
        const hd_list list = list_of(&graph, mixed);
        const bool there = model.count(keys[i]) != 0;
        hd_value value;
        memset(&value, ARRAY_BYTE, sizeof value);
        if (there && HD_VALUE_BITS != 0)
            value = edge_value(edges.get(), list_next(&graph, &list, list.begin, mixed));
        expected += there;
        CHECK(found[i] == there && values[i] == value, "key %llx: found %u", (ull)keys[i],
              found[i]);
    }
    counts_are(counts, keys.size(), expected);
}

void bare_graph::look_count(const key_list &keys, std::vector<uint64_t> *matches)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint64_t> out(keys.size());
    hd_counts counts = {};
    hd_graph_batch batch = {};
    uint64_t expected = 0, probes = 0;
    batch.keys = k.get();
    batch.n = keys.size();
    batch.matches = out.get();
    batch.counts = &counts;
    run_look<LOOK_COUNT>(graph, batch);
    for (size_t i = 0; i < keys.size(); i++) {
        const hd_list list = list_of(&graph, mix_key(&graph.mix, keys[i]));
        CHECK(out[i] == model.count(keys[i]), "key %llx: %llu matches of %zu", (ull)keys[i],
              (ull)out[i], model.count(keys[i]));
        matches->push_back(out[i]);
        expected += out[i] != 0;
        probes += list.end - list.begin;
    }
    counts_are(counts, keys.size(), expected);
    CHECK(counts.at[HD_PROBES] == probes, "%llu probes", (ull)counts.at[HD_PROBES]);
}

void bare_graph::look_all(const key_list &keys, const std::vector<uint64_t> &matches)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> found(keys.size());
    std::vector<uint64_t> sums;
    uint64_t sum = 0;
    for (const uint64_t more : matches) {
        sums.push_back(sum);
        sum += more;
    }
    const device_array<uint64_t> places = upload(sums);
    const device_array<hd_value> all(sum);
    hd_counts counts = {};
    hd_graph_batch batch = {};
    pair_list expected, got;
    batch.keys = k.get();
    batch.n = keys.size();
    batch.found = found.get();
    batch.places = places.get();
    batch.all = all.get();
    batch.counts = &counts;
    run_look<LOOK_ALL>(graph, batch);
    for (size_t i = 0; i < keys.size(); i++) {
        const auto range = model.equal_range(keys[i]);
        CHECK(found[i] == (matches[i] != 0), "key %llx: found %u", (ull)keys[i], found[i]);
        expected.insert(expected.end(), range.first, range.second);
        for (uint64_t m = 0; m < matches[i]; m++) got.push_back({keys[i], all[sums[i] + m]});
    }
    same_pairs(got, expected, "all values");
}

void bare_graph::look(const key_list &keys)
{
    std::vector<uint64_t> matches;
    look_first(keys);
    look_count(keys, &matches);
    if (HD_VALUE_BITS != 0) look_all(keys, matches);
}

/* ---------------------------------------------------------------------------------------- erase */

void bare_graph::erase(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> found(keys.size());
    const device_array<uint32_t> dead((n + 31) / 32, 0);
    const bool fresh = graph.lengths == NULL;
    std::unordered_set<hd_key> gone;
    hd_counts counts = {};
    hd_graph_batch batch = {};
    uint64_t erased = 0, expected = 0, present = 0;
    graph.lengths = lengths.get();
    graph.wide_lengths = wide_lengths.get();
    batch.keys = k.get();
    batch.n = keys.size();
    batch.found = found.get();
    batch.counts = &counts;
    warps_launch(some_blocks(), LOOK_BLOCK,
                 [&] { graph_mark(graph, batch, dead.get(), &erased, fresh); });
    warps_launch(some_blocks(), LOOK_BLOCK, [&] { graph_sweep(graph, dead.get(), fresh); });
    for (size_t i = 0; i < keys.size(); i++) {
        CHECK(found[i] <= 1, "flag %u", found[i]);
        if (found[i])
            CHECK(model.count(keys[i]) && gone.insert(keys[i]).second, "key %llx erased",
                  (ull)keys[i]);
    }
    for (const hd_key key : keys) {
        const size_t edges_gone = model.erase(key);
        expected += edges_gone;
        present += edges_gone != 0;
    }
    CHECK(erased == expected && gone.size() == present, "%llu edges of %llu erased", (ull)erased,
          (ull)expected);
    counts_are(counts, keys.size(), present);
    lists_are_right();
}

/* -------------------------------------------------------------------------------------- compact */

void bare_graph::split(const sorted_list &left)
{
    const uint64_t m = model.size();
    const device_array<hd_key> keys(m), keys_alone(m);
    const device_array<hd_value> values(HD_VALUE_BITS != 0 ? m : 0);
    hd_value *const to = HD_VALUE_BITS != 0 ? values.get() : NULL;
    pair_list got;
    warps_launch(some_blocks(), LOOK_BLOCK,
                 [&] { graph_split(graph.mix, left.pairs.get(), m, keys.get(), to); });
    warps_launch(some_blocks(), LOOK_BLOCK,
                 [&] { graph_split(graph.mix, left.pairs.get(), m, keys_alone.get(), NULL); });
    for (uint64_t i = 0; i < m; i++) {
        got.push_back({keys[i], to != NULL ? values[i] : 0});
        CHECK(keys[i] == keys_alone[i], "key %llu without values", (ull)i);
    }
    same_pairs(got, list(), "split pairs");
}

sorted_list bare_graph::compact()
{
    const unsigned regions = 1u << graph.region_bits;
    sorted_list left = {device_array<uint32_t>(model.size() * HD_PAIR_WORDS),
                        device_array<uint64_t>(regions + 1)};
    warps_launch(regions, VERTEX_BLOCK,
                 [&] { graph_live(graph, (unsigned long long *)left.starts.get()); });
    warps_launch(1, COUNT_BLOCK, [&] { scan_counts(regions, left.starts.get(), NULL, NULL, 0); });
    const uint32_t half = (uint32_t)random_below(regions);
    const uint64_t base = left.starts[half]; /* the second half as if it lay alone */
    if (half != 0)
        warps_launch(half, VERTEX_BLOCK,
                     [&] { graph_compact(graph, 0, left.starts.get(), 0, left.pairs.get()); });
    warps_launch(regions - half, VERTEX_BLOCK, [&] {
        graph_compact(graph, half, left.starts.get(), base,
                      left.pairs.get() + base * HD_PAIR_WORDS);
    });
    CHECK(left.starts[0] == 0 && left.starts[regions] == model.size(), "%llu edges left",
          (ull)left.starts[regions]);
    for (uint32_t r = 0; r < regions; r++)
        for (uint64_t i = left.starts[r]; i < left.starts[r + 1]; i++)
            CHECK(graph_region(&graph, sorted_key(sorted_load(left.pairs.get(), i))) == r,
                  "pair %llu is not of region %u", (ull)i, r);
    same_pairs(list_sorted(&graph.mix, left.pairs.get(), model.size()), list(), "compact pairs");
    split(left);
    return left;
}

/* -------------------------------------------------------------------------------------- inspect */

hd_graph_census bare_graph::census(bool unique)
{
    hd_graph_census c = {};
    warps_launch(some_blocks(), LOOK_BLOCK, [&] { graph_inspect(graph, unique, &c); });
    return c;
}

void bare_graph::inspect(bool unique)
{
    const hd_graph_census c = census(unique);
    hd_graph_census e = {};
    std::unordered_set<hd_key> distinct;
    for (uint32_t region = 0; region < 1u << graph.region_bits; region++) {
        const hd_graph_region r = region_get(&graph, region);
        for (uint32_t v = 0; v < graph.region_vertices; v++) {
            const hd_list list = list_in(&graph, &r, v);
            const uint64_t length = list.end - list.begin;
            e.edges += length;
            e.used += length != 0;
            e.longest = std::max(e.longest, length);
            e.lists[length < 4     ? length
                    : length < 8   ? 4
                    : length < 16  ? 5
                    : length < 256 ? 6
                                   : 7]++;
        }
    }
    for (const auto &pair : model) distinct.insert(pair.first);
    if (unique) e.twice = model.size() - distinct.size();
    CHECK(memcmp(&c, &e, sizeof c) == 0,
          "census: %llu of %llu edges, %llu misplaced, %llu disordered, %llu twice", (ull)c.edges,
          (ull)e.edges, (ull)c.misplaced, (ull)c.disordered, (ull)c.twice);
}

void bare_graph::damage_shows(const char *what)
{
    const hd_graph_census c = census(false);
    CHECK(c.misplaced + c.disordered != 0, "damage to %s is not seen", what);
}

/* Sets a number wrong, looks, and sets it right again. */
template <class T, class F> static void with(T *number, typename same<T>::type wrong, const F &look)
{
    const T right = *number;
    *number = wrong;
    look();
    *number = right;
}

void bare_graph::damage_wide()
{
    const uint32_t row = (uint32_t)random_below(graph.wide_rows);
    const uint32_t v = (uint32_t)random_below(graph.region_vertices + 1);
    const uint64_t wrongs[] = {UINT64_MAX, UINT64_MAX - 5, n + 1, UINT64_C(1) << 63};
    for (const uint64_t wrong : wrongs)
        with(&wide_row(&graph, row)[v], wrong, [&] { damage_shows("a wide row"); });
    if (graph.lengths != NULL && v < graph.region_vertices)
        for (const uint64_t wrong : wrongs)
            with(&wide_length_row(&graph, row)[v], wrong, [&] { damage_shows("a wide length"); });
    for (uint32_t region = 0; region < 1u << graph.region_bits; region++) {
        const hd_graph_region r = region_get(&graph, region);
        if (!region_is_wide(&r)) continue;
        with((uint32_t *)r.row, graph.wide_rows, [&] { damage_shows("a wide number"); });
        with((uint32_t *)r.row, UINT32_MAX, [&] { damage_shows("a wide number"); });
    }
}

void bare_graph::damage()
{
    const uint32_t region = (uint32_t)random_below(UINT64_C(1) << graph.region_bits);
    const hd_graph_region r = region_get(&graph, region);
    const uint32_t v = (uint32_t)random_below(graph.region_vertices + 1);
    if (!region_is_wide(&r)) {
        with(&r.row[v], (uint16_t)(r.end - r.begin + 1), [&] { damage_shows("a row"); });
        with(&r.row[v], UINT16_MAX, [&] { damage_shows("a row"); });
        with(&r.row[0], (uint16_t)1, [&] { damage_shows("a row's begin"); });
        if (r.lengths != NULL && v < graph.region_vertices)
            with(&r.lengths[v], UINT16_MAX, [&] { damage_shows("a length"); });
    }
    with(&graph.starts[region], UINT64_MAX - 9, [&] { damage_shows("starts"); });
    with(&graph.starts[region], n + 70000, [&] { damage_shows("starts"); });
    if (region + 1 < 1u << graph.region_bits)
        with(&graph.starts[region + 1], n + 3, [&] { damage_shows("starts"); });
    if (graph.wide_rows != 0) damage_wide();
    const hd_list list = list_in(&graph, &r, v < graph.region_vertices ? v : 0);
    if (list.begin == list.end) return;
    uint32_t *top = &edges[list.begin * HD_PAIR_WORDS + HD_KEY_WORDS - 1];
    with(top, *top ^ 0x80000000u, [&] { damage_shows("an edge"); });
    inspect(false); /* all is mended */
}
