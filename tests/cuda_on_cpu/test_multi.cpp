/*
 * test_multi.cpp: the kernels of a compiled table as a multimap, run on the CPU by warps.h under many
 * random schedules, against a model of pairs. Many pairs have few keys: tiles fight for the same windows,
 * keys leave their regions, and several tiles erase the same key.
 *
 * A failure names the seed; given as the argument, that seed alone runs.
 */
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "arrays.h"

#define HD_SCHEME_HEADER "scheme/open.h"
#define HD_SYMBOL emulated
#define FILL_BLOCK 128
#define MULTI_PAIRS_MAX (HD_BUCKET * 45) /* so that regions have more */
#include "cuda/slots/kernels.h"

extern "C" {
#include "table/slots/geometry.h"
}

#if defined(__SANITIZE_ADDRESS__) || defined(FEW_SEEDS)
#define SEEDS 3
#else
#define SEEDS 6
#endif

typedef std::vector<hd_key> key_list;
typedef std::vector<hd_value> value_list;
typedef std::multimap<hd_key, hd_value> pair_model;

static unsigned some_blocks() { return 1 + (unsigned)(warps_random() % 4 == 0); }
static uint64_t random_64() { return warps_random() << 32 ^ warps_random(); }

static heddle_status counts(heddle_device *, const hd_view *, const hd_batch *, void *)
{
    return HEDDLE_OK;
}

/* Small regions, so that keys leave them. */
static hd_view view_of(uint64_t capacity, uint32_t region_bits, uint32_t hashes)
{
    hd_table_ops ops = {};
    hd_view view = {};
    ops.scheme = HD_SCHEME_ID;
    ops.key_bits = HD_KEY_BITS;
    ops.value_bits = HD_VALUE_BITS;
    ops.bucket = HD_BUCKET;
    ops.slot_bytes = sizeof(hd_word);
    ops.count = counts; /* a multimap */
    CHECK(hd_geometry_init(&view, &ops, capacity, 0.8, hashes, random_64() | 1) == HEDDLE_OK,
          "geometry");
    view.region_bits = region_bits;
    return view;
}

struct bare_multi {
    hd_view view;
    uint64_t slots;
    device_array<hd_word> words;
    device_array<hd_value> apart;
    pair_model model;
    device_array<uint32_t> notes;

    bare_multi(uint64_t capacity, uint32_t region_bits, uint32_t hashes)
        : view(view_of(capacity, region_bits, hashes)),
          slots(((uint64_t)view.region_buckets << view.region_bits) * HD_BUCKET),
          words(slots, 0xff), apart(HD_APART ? slots : 1),
          notes(HINTS * sizeof(hint) / sizeof(uint32_t))
    {
        view.slots = words.get();
        view.values = HD_APART ? apart.get() : NULL;
    }

    /* Room for notes, or now and then none. */
    uint32_t *fresh_notes()
    {
        if (warps_random() % 4 == 0) return NULL;
        warps_launch(1, BLOCK, [&] { emulated_multi_clear_hints((hint *)notes.get()); });
        return notes.get();
    }
    uint64_t append(const key_list &keys, const value_list &values, std::vector<uint8_t> *outcomes,
                    bool retry);
    uint64_t fill(const key_list &keys, const value_list &values, bool fresh, uint64_t *left);
    void run_fill(const hd_batch &batch, const hd_sorted &sorted, bool fresh, uint64_t *left);
    void rehome(const bare_multi &from);
    void look(const key_list &keys);
    void retrieve(const key_list &keys);
    void erase(const key_list &keys);
    void check();
};

/* Which pairs came in the outcomes tell; that the sums agree with them is checked. */
uint64_t bare_multi::append(const key_list &keys, const value_list &values,
                            std::vector<uint8_t> *outcomes, bool retry)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<hd_value> v = upload(values);
    hd_counts sums = {};
    hd_batch batch = {};
    uint64_t born = 0, inserted = 0, failed = 0;
    std::vector<uint8_t> before(keys.size(), HEDDLE_OUTCOME_FAILED);
    if (retry) before = *outcomes;
    else outcomes->assign(keys.size(), 0xee);
    batch.keys = k.get();
    batch.values = v.get();
    batch.outcomes = outcomes->data();
    batch.n = keys.size();
    batch.retry = retry;
    batch.next = fresh_notes();
    batch.counts = &sums;
    batch.tally = &born;
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_append(view, batch); });
    for (size_t i = 0; i < keys.size(); i++) {
        if (before[i] != HEDDLE_OUTCOME_FAILED) continue;
        inserted += (*outcomes)[i] == HEDDLE_OUTCOME_INSERTED;
        failed += (*outcomes)[i] == HEDDLE_OUTCOME_FAILED;
        if ((*outcomes)[i] == HEDDLE_OUTCOME_INSERTED) model.emplace(keys[i], values[i]);
    }
    CHECK(born == inserted && sums.at[HD_INSERTED] == inserted, "%llu born", (ull)born);
    CHECK(sums.at[HD_FAILED] == failed, "%llu failed", (ull)sums.at[HD_FAILED]);
    CHECK(sums.at[HD_KEPT] + sums.at[HD_UPDATED] == 0, "pairs are never there before");
    return failed;
}

/* The kernels alone. *left: pairs that had no room in the images of their regions. */
void bare_multi::run_fill(const hd_batch &batch, const hd_sorted &sorted, bool fresh,
                          uint64_t *left)
{
    if (!fresh) {
        warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_fill(view, batch, sorted); });
        return;
    }
    model.clear();
    memset((void *)words.get(), 0xee, slots * sizeof(hd_word));
    CHECK(multi_image_fits(&view, 64 << 10), "no room for an image");
    warps_launch(some_blocks(), FILL_BLOCK,
                 [&] { emulated_multi_fill_fresh(view, batch, sorted); });
    *left = *sorted.failed_count;
    CHECK(batch.counts->at[HD_INSERTED] + *left == batch.n && batch.counts->at[HD_FAILED] == 0,
          "%llu filled in, %llu left", (ull)batch.counts->at[HD_INSERTED], (ull)*left);
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_fill_rest(view, batch, sorted); });
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_fill_end(sorted); });
}

/* Returns how many failed; `fresh`, whatever was there before is gone. */
uint64_t bare_multi::fill(const key_list &keys, const value_list &values, bool fresh,
                          uint64_t *left)
{
    std::vector<uint64_t> begins((1u << view.region_bits) + 1);
    std::vector<std::pair<hd_key, hd_value>> mixed;
    std::vector<uint32_t> sorted;
    hd_counts sums = {};
    hd_batch batch = {};
    uint64_t born = 0;
    for (size_t i = 0; i < keys.size(); i++)
        mixed.emplace_back(mix_key(&view.mix, keys[i]), values[i]);
    std::stable_sort(mixed.begin(), mixed.end(), [&](const auto &a, const auto &b) {
        return region_of(&view, a.first) < region_of(&view, b.first);
    });
    for (const auto &pair : mixed) {
        const hd_sorted_pair made = sorted_make(pair.first, pair.second);
        sorted.insert(sorted.end(), made.words, made.words + HD_PAIR_WORDS);
        begins[region_of(&view, pair.first) + 1]++;
    }
    for (size_t r = 1; r < begins.size(); r++) begins[r] += begins[r - 1];
    const device_array<uint64_t> starts = upload(begins);
    const device_array<uint32_t> pairs = upload(sorted);
    batch.n = keys.size();
    batch.counts = &sums;
    batch.tally = &born;
    batch.next = fresh_notes();
    const device_array<uint32_t> failed(sorted.size());
    uint64_t failed_count = 0;
    const hd_sorted all = {pairs.get(), starts.get(), starts.get() + 1, NULL, 0,
                           UINT64_MAX,  failed.get(), &failed_count,    0};
    run_fill(batch, all, fresh, left);
    CHECK(born == sums.at[HD_INSERTED] && born + failed_count == keys.size() &&
              sums.at[HD_FAILED] == failed_count,
          "%llu of %zu filled in", (ull)born, keys.size());
    for (size_t i = 0; i < keys.size(); i++) model.emplace(keys[i], values[i]);
    for (uint64_t i = 0; i < failed_count; i++) { /* these are not in the table */
        const hd_sorted_pair pair = sorted_load(failed.get(), i);
        const auto range = model.equal_range(unmix_key(&view.mix, sorted_key(pair)));
        auto at = range.first;
        while (at != range.second && at->second != (hd_value)sorted_value(pair)) ++at;
        CHECK(at != range.second, "a pair that was never given failed");
        model.erase(at);
    }
    return failed_count;
}

void bare_multi::rehome(const bare_multi &from)
{
    const uint64_t part = 1 + warps_random() % from.slots;
    hd_counts sums = {};
    for (uint64_t first = 0; first < from.slots; first += part) {
        hd_batch batch = {};
        batch.n = from.slots - first < part ? from.slots - first : part;
        batch.counts = &sums;
        batch.next = fresh_notes();
        warps_launch(some_blocks(), BLOCK,
                     [&] { emulated_multi_rehome(view, batch, from.view, first); });
    }
    model = from.model;
    CHECK(sums.at[HD_INSERTED] == model.size() && sums.at[HD_FAILED] == 0, "%llu of %zu moved",
          (ull)sums.at[HD_INSERTED], model.size());
}

/* find, contains, count. */
void bare_multi::look(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> flags(keys.size()), contained(keys.size());
    const device_array<uint64_t> matches(keys.size());
    const device_array<hd_value> out(keys.size());
    const hd_value untouched = out[0];
    hd_counts sums = {};
    hd_batch batch = {};
    uint64_t expected = 0;
    batch.keys = k.get();
    batch.n = keys.size();
    batch.counts = &sums;
    batch.found = flags.get();
    batch.values_out = out.get();
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_find(view, batch); });
    batch.found = contained.get();
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_contains(view, batch); });
    batch.found = NULL;
    batch.matches = matches.get();
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_count(view, batch); });
    for (size_t i = 0; i < keys.size(); i++) {
        const auto range = model.equal_range(keys[i]);
        const uint64_t count = model.count(keys[i]);
        bool is_value = count == 0 && out[i] == untouched;
        for (auto at = range.first; at != range.second; ++at) is_value |= at->second == out[i];
        expected += count != 0;
        CHECK(flags[i] == (count != 0) && contained[i] == (count != 0), "key %llx: found %u %u",
              (ull)keys[i], flags[i], contained[i]);
        CHECK(matches[i] == count, "key %llx: %llu of %llu", (ull)keys[i], (ull)matches[i],
              (ull)count);
        CHECK(is_value, "key %llx: value %llx", (ull)keys[i], (ull)out[i]);
    }
    CHECK(sums.at[HD_ASKED] == 3 * keys.size() && sums.at[HD_FOUND] == 3 * expected, "%llu found",
          (ull)sums.at[HD_FOUND]);
    CHECK(sums.at[HD_PROBES] >= 3 * keys.size(), "%llu probes", (ull)sums.at[HD_PROBES]);
}

void bare_multi::retrieve(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    std::vector<uint64_t> begins;
    uint64_t total = 0;
    for (const hd_key key : keys) {
        begins.push_back(total);
        total += model.count(key);
    }
    const device_array<uint64_t> places = upload(begins);
    const device_array<hd_value> out(total + 1);
    const hd_value untouched = out[total];
    hd_counts sums = {};
    hd_batch batch = {};
    batch.keys = k.get();
    batch.n = keys.size();
    batch.counts = &sums;
    batch.places = places.get();
    batch.values_out = out.get();
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_retrieve(view, batch); });
    for (size_t i = 0; i < keys.size(); i++) {
        std::multiset<hd_value> got, expected;
        const auto range = model.equal_range(keys[i]);
        for (auto at = range.first; at != range.second; ++at) expected.insert(at->second);
        for (size_t j = 0; j < expected.size(); j++) got.insert(out[begins[i] + j]);
        CHECK(got == expected, "key %llx: other values", (ull)keys[i]);
    }
    CHECK(out[total] == untouched, "written behind the end");
}

void bare_multi::erase(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> flags(keys.size());
    hd_counts sums = {};
    hd_batch batch = {};
    uint64_t died = 0, pairs = 0, distinct = 0;
    std::set<hd_key> gone;
    batch.keys = k.get();
    batch.n = keys.size();
    batch.counts = &sums;
    batch.found = flags.get();
    batch.tally = &died;
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_erase(view, batch); });
    for (size_t i = 0; i < keys.size(); i++) {
        CHECK(flags[i] <= 1, "flag %u", flags[i]);
        if (flags[i] == 1)
            CHECK(model.count(keys[i]) != 0 && gone.insert(keys[i]).second, "key %llx erased",
                  (ull)keys[i]);
    }
    for (const hd_key key : keys) {
        const uint64_t erased = model.erase(key);
        pairs += erased;
        distinct += erased != 0;
    }
    CHECK(died == pairs, "%llu of %llu pairs erased", (ull)died, (ull)pairs);
    CHECK(gone.size() == distinct && sums.at[HD_FOUND] == distinct, "%zu of %llu keys erased",
          gone.size(), (ull)distinct);
}

/* The census agrees with the model, and so does the export. */
void bare_multi::check()
{
    const device_array<hd_key> keys(slots);
    const device_array<hd_value> values(slots);
    std::multiset<std::pair<hd_key, hd_value>> got, expected(model.begin(), model.end());
    hd_census c = {};
    uint64_t reached = 0, cursor = 0;
    warps_launch(some_blocks(), BLOCK, [&] { emulated_multi_inspect(view, &c); });
    for (const uint64_t pairs : c.probes) reached += pairs;
    CHECK(c.misplaced == 0 && hd_census_unmet(&c) == 0 && c.twice == 0 && c.busy == 0,
          "census: %llu misplaced, %llu unreachable, %llu busy", (ull)c.misplaced,
          (ull)hd_census_unmet(&c), (ull)c.busy);
    CHECK(c.keys == model.size() && reached == c.keys, "census: %llu pairs of %zu", (ull)c.keys,
          model.size());
    warps_launch(1, BLOCK,
                 [&] { emulated_collect(view, 0, slots, keys.get(), values.get(), &cursor); });
    for (uint64_t i = 0; i < cursor; i++) got.emplace(keys[i], values[i]);
    CHECK(got == expected, "%llu pairs collected, of %zu", (ull)cursor, model.size());
}

/* ------------------------------------------------------------------------------------- scenarios */

/* Every fourth pair or so has one of the first two keys. */
static key_list some_keys(size_t n, size_t distinct)
{
    key_list pool(distinct), keys(n);
    for (hd_key &key : pool) key = (hd_key)random_64();
    for (hd_key &key : keys)
        key = pool[warps_random() % 4 == 0 ? warps_random() % 2 : warps_random() % distinct];
    return keys;
}

/* Few different values: equal pairs are kept apart too. */
static value_list some_values(size_t n)
{
    value_list values(n);
    for (hd_value &value : values) value = (hd_value)(random_64() % 3 == 0 ? 7 : random_64());
    return values;
}

static void read_all(bare_multi *t, const key_list &keys)
{
    key_list asked(keys.begin(), keys.begin() + (keys.size() < 80 ? keys.size() : 80));
    for (int i = 0; i < 20; i++) asked.push_back((hd_key)random_64()); /* these are absent */
    t->check();
    t->look(asked);
    t->retrieve(asked);
}

/* Hot keys cross regions; erased and inserted again over the marks that they have left. */
static void hot(uint32_t region_bits)
{
    bare_multi t(80, region_bits, 64);
    const size_t n = (size_t)t.slots / 3;
    std::vector<uint8_t> outcomes;
    const key_list keys = some_keys(n, n / 8 + 3);
    CHECK(t.append(keys, some_values(n), &outcomes, false) == 0 || region_bits == 2, "no room");
    read_all(&t, keys);
    t.erase(key_list(keys.begin(), keys.begin() + n / 3));
    read_all(&t, keys);
    t.append(key_list(keys.begin(), keys.begin() + n / 2), some_values(n / 2), &outcomes, false);
    read_all(&t, keys);
    t.erase(keys);
    CHECK(t.model.empty(), "not all are gone");
    t.check();
}

/* More pairs than a zone or the table holds: what fails leaves the rest in place, and goes in later. */
static void crowded(uint32_t hashes)
{
    bare_multi small(60, 3, hashes), large(1200, 4, 4096);
    const size_t n = (size_t)small.slots + 50;
    const key_list keys = some_keys(n, n / 4);
    const value_list values = some_values(n);
    std::vector<uint8_t> outcomes;
    CHECK(small.append(keys, values, &outcomes, false) != 0, "nothing failed");
    read_all(&small, keys);
    large.rehome(small);
    read_all(&large, keys);
    CHECK(large.append(keys, values, &outcomes, true) == 0, "no room in the large one");
    CHECK(large.model.size() == n, "pairs are missing");
    read_all(&large, keys);
}

static void sorted(void)
{
    bare_multi t(150, 4, 4096);
    const size_t n = (size_t)t.slots / 4;
    const key_list keys = some_keys(n, n / 3);
    CHECK(t.fill(keys, some_values(n), false, NULL) == 0, "no room");
    read_all(&t, keys);
    t.fill(key_list(keys.begin(), keys.begin() + n / 8), some_values(n / 8), false, NULL);
    read_all(&t, keys);
    const key_list more = some_keys((size_t)t.slots, n);
    CHECK(t.fill(more, some_values((size_t)t.slots), false, NULL) != 0, "more pairs than slots");
    read_all(&t, more);
}

/* `copies` of each key. */
static key_list copied_keys(size_t n, size_t copies)
{
    key_list keys(n);
    for (size_t i = 0; i < n; i += copies) {
        const hd_key key = (hd_key)random_64();
        for (size_t j = i; j < n && j < i + copies; j++) keys[j] = key;
    }
    for (size_t i = n; i-- > 1;) std::swap(keys[i], keys[warps_random() % (i + 1)]);
    return keys;
}

/* Empty tables in shared memory: regions with few pairs, with none, and with more than they hold. */
static void fresh(uint32_t hashes, size_t copies)
{
    bare_multi t(HD_BUCKET * 108, 3, hashes);
    const size_t n = (size_t)t.slots / 3;
    const key_list keys = copied_keys(n, copies);
    const key_list hot_keys = some_keys((size_t)t.slots * 4 / 5, n / copies);
    const key_list too_many = some_keys((size_t)t.slots * 5 / 4, n);
    std::vector<uint8_t> outcomes;
    uint64_t left = 0;
    CHECK(t.fill(keys, some_values(n), true, &left) == 0 || hashes < 64, "no room");
    CHECK(left < n / 8 || hashes < 64, "%llu of %zu pairs are left over", (ull)left, n);
    read_all(&t, keys);
    t.append(hot_keys, some_values(hot_keys.size()), &outcomes, false);
    read_all(&t, hot_keys);
    t.fill(hot_keys, some_values(hot_keys.size()), true, &left);
    CHECK(left != 0, "a frequent key has room in a region");
    read_all(&t, hot_keys);
    t.erase(key_list(hot_keys.begin(), hot_keys.begin() + 40));
    read_all(&t, hot_keys);
    CHECK(t.fill(too_many, some_values(too_many.size()), true, &left) != 0, "more than slots");
    read_all(&t, too_many);
    t.fill(key_list(keys.begin(), keys.begin() + 3), some_values(3), true, &left);
    CHECK(left == 0, "no room for three pairs");
    read_all(&t, keys);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t last = argc > 1 ? first : SEEDS;
    for (uint64_t seed = first; seed <= last; seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed);
        warps_seed(seed);
        hot(2 + (uint32_t)seed % 4);
        crowded(seed % 2 == 0 ? 4096 : 8);
        sorted();
        fresh(seed % 3 == 0 ? 8 : 4096, (size_t)1 << seed % 6);
    }
    return 0;
}
