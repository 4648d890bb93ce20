/*
 * test_filter.cpp: the kernels of Bloom filters for keys of one width, run on the CPU by warps.h under
 * random schedules. A plain model sets the bits of every key by the scheme's words, one hash after the
 * other; filters must be equal to it bit by bit, and answers must be its answers. A failure names the
 * seed; given as the argument, that seed alone runs.
 */
#include "shim.h"

#define FILTER_BLOCK 64 /* a fiber a thread: few of them */
#define FILL_BLOCK 32
#include "cuda/filter/filter_kernels.h"

#include "cuda/partition/sorted_pair.h"
#include "sorted_lists.h"

/* A filter as the kernels see it, and its model. */
struct bare_filter {
    hd_filter_view view;
    device_array<uint32_t> words;
    std::vector<uint32_t> model;

    bare_filter(uint32_t blocks, uint32_t region_bits, uint32_t hashes)
        : view(), words((size_t)blocks * BLOOM_WORDS, 0), model((size_t)blocks * BLOOM_WORDS)
    {
        view.words = words.get();
        view.blocks = blocks;
        view.region_bits = region_bits;
        view.hashes = hashes;
        hd_mix_init(&view.mix, random_64() | 1);
    }
    /* Where bit `hash` of a key is. */
    size_t bit_of(hd_key key, uint32_t hash) const
    {
        const hd_key mixed = mix_key(&view.mix, key);
        return (size_t)bloom_block(&view, mixed) * HD_FILTER_BLOCK_BITS +
               bloom_position(bloom_spread(mixed), bloom_salt(hash), hash, view.hashes);
    }
    void expect(const key_list &keys)
    {
        for (const hd_key key : keys)
            for (uint32_t h = 0; h < view.hashes; h++)
                model[bit_of(key, h) / 32] |= 1u << bit_of(key, h) % 32;
    }
    bool has(hd_key key) const
    {
        for (uint32_t h = 0; h < view.hashes; h++)
            if ((model[bit_of(key, h) / 32] >> bit_of(key, h) % 32 & 1) == 0) return false;
        return true;
    }
    void is_right(const char *what) const
    {
        for (size_t i = 0; i < model.size(); i++)
            CHECK(words[i] == model[i], "%s, %u hashes: word %zu is %x, not %x", what, view.hashes,
                  i, words[i], model[i]);
    }
};

static key_list some_keys(size_t n, size_t distinct)
{
    key_list pool(distinct), keys(n);
    for (hd_key &key : pool) key = (hd_key)random_64();
    for (size_t i = 0; i < n; i++) keys[i] = distinct < n ? pool[random_below(distinct)] : pool[i];
    return keys;
}

/* The keys `shift` elements behind an aligned address. */
static device_array<hd_key> place_keys(const key_list &keys, size_t shift)
{
    device_array<hd_key> placed(keys.size() + shift);
    for (size_t i = 0; i < keys.size(); i++) placed[shift + i] = keys[i];
    return placed;
}

/* ------------------------------------------------------------------------------------ one by one */

template <int HASHES> static void add(bare_filter *f, const key_list &keys)
{
    const device_array<hd_key> placed = place_keys(keys, 0);
    warps_launch((unsigned)((keys.size() + FILTER_BLOCK - 1) / FILTER_BLOCK), FILTER_BLOCK,
                 [&] { add_keys<HASHES>(f->view, placed.get(), keys.size()); });
    f->expect(keys);
    f->is_right("add");
}

template <int HASHES> static void look(const bare_filter &f, const key_list &keys, size_t shift)
{
    const size_t n = keys.size();
    const device_array<hd_key> placed = place_keys(keys, shift);
    const device_array<uint8_t> found(n + shift);
    const unsigned threads = (unsigned)((n + LOOK_KEYS - 1) / LOOK_KEYS + 1);
    uint64_t count = 5, expected = 5;
    warps_launch((threads + FILTER_BLOCK - 1) / FILTER_BLOCK, FILTER_BLOCK, [&] {
        contains_keys<HASHES>(f.view, placed.get() + shift, n, found.get() + shift, &count);
    });
    for (size_t i = 0; i < n; i++) {
        CHECK(found[shift + i] == (f.has(keys[i]) ? 1 : 0), "%d hashes: key %zu of %zu", HASHES, i,
              n);
        expected += found[shift + i];
    }
    for (size_t i = 0; i < shift; i++) CHECK(found[i] == ARRAY_BYTE, "flags before the first");
    CHECK(count == expected, "%d hashes: %llu found, not %llu", HASHES, (ull)count, (ull)expected);
}

/* ----------------------------------------------------------------------------- region by region */

template <int HASHES>
static void fill(bare_filter *f, const key_list &keys, uint32_t region_bits, uint64_t limit)
{
    pair_list pairs;
    for (const hd_key key : keys) pairs.push_back({key, 0});
    const sorted_list list = sort_list(pairs, &f->view.mix, region_bits);
    const hd_filter_sorted sorted = {list.pairs.get(), list.starts.get(), keys.size(), region_bits};
    const size_t bytes = (size_t)(f->view.blocks >> region_bits) * HD_FILTER_BLOCK_BYTES;
    warps_launch(1u << region_bits, FILL_BLOCK, bytes,
                 [&] { fill_regions<HASHES>(f->view, sorted, limit); });
    warps_launch((unsigned)((keys.size() + limit - 1) / limit), FILL_BLOCK, bytes,
                 [&] { fill_crowded<HASHES>(f->view, sorted, limit); });
    f->expect(keys);
    f->is_right("sorted add");
}

/* -------------------------------------------------------------------------------- whole filters */

static void merge(bare_filter *into, const bare_filter &from)
{
    warps_launch(1 + (unsigned)random_below(3), FILTER_BLOCK,
                 [&] { merge_words(into->view, from.words.get()); });
    for (size_t i = 0; i < into->model.size(); i++) into->model[i] |= from.model[i];
    into->is_right("merge");
}

static void inspect(const bare_filter &f, uint64_t keys)
{
    const device_array<hd_filter_census> census(1, 0);
    uint64_t set = 0;
    double passed = 0;
    warps_launch(1 + (unsigned)random_below(3), FILTER_BLOCK,
                 [&] { inspect_blocks(f.view, census.get()); });
    for (size_t b = 0; b < f.model.size(); b += BLOOM_WORDS) {
        double passes = 1;
        for (uint32_t h = 0; h < f.view.hashes; h++) {
            uint32_t count = 0;
            const uint32_t begin = 256 * h / f.view.hashes, end = 256 * (h + 1) / f.view.hashes;
            for (uint32_t bit = begin; bit < end; bit++)
                count += f.model[b + bit / 32] >> bit % 32 & 1;
            set += count;
            passes *= (double)count / (end - begin);
        }
        passed += passes;
    }
    CHECK(census[0].set == set && census[0].broken == 0 && census[0].keys <= keys,
          "%llu bits set, not %llu; %llu blocks broken, %llu keys", (ull)census[0].set, (ull)set,
          (ull)census[0].broken, (ull)census[0].keys);
    CHECK(census[0].passed > passed * (1 - 1e-9) - 1e-30 &&
              census[0].passed < passed * (1 + 1e-9) + 1e-30,
          "passed %g, not %g", census[0].passed, passed);
    f.words[random_below(f.model.size())] ^= 1u; /* now some block is not what keys make of it */
    warps_launch(1, FILTER_BLOCK, [&] { inspect_blocks(f.view, census.get()); });
    CHECK(census[0].set != 2 * set, "a bit more or less is not seen");
}

template <int HASHES> static void test_hashes()
{
    const uint32_t regions[] = {0, 2, 3};
    const uint32_t bits = regions[random_below(3)];
    const uint32_t blocks = (1 + (uint32_t)random_below(9)) << bits;
    bare_filter f(blocks, bits, HASHES), other(blocks, bits, HASHES);
    other.view.mix = f.view.mix;
    const key_list added = some_keys(1 + random_below(100), 1 + random_below(60));
    key_list asked = some_keys(1 + random_below(3 * FILTER_BLOCK * LOOK_KEYS), 1 << 20);
    for (size_t i = 0; i < asked.size(); i += 3) asked[i] = added[random_below(added.size())];
    add<HASHES>(&f, added);
    look<HASHES>(f, asked, random_below(2) * random_below(6));
    const key_list sorted = some_keys(1 + random_below(300), 1 + random_below(200));
    fill<HASHES>(&other, sorted, (uint32_t)random_below(bits + 1), 1 + random_below(100));
    merge(&f, other);
    look<HASHES>(f, sorted, 0);
    inspect(f, added.size() + sorted.size());
}

static void test(uint64_t seed)
{
#define CASE(h)                                                                                    \
    if (seed % 4 == h % 4) test_hashes<h>();
    HD_FOR_HASHES(CASE)
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 40, test); }
