/* bare_table.cpp: see bare_table.h. */
#include "bare_table.h"

#include "sort_by_region.h"

/* Few blocks: the fewer, the more tiles work at the same time here. */
static unsigned some_blocks() { return 1 + (unsigned)(warps_random() % 4 == 0); }
/* Of kernels that have a thread for every key: more than are needed do no harm. */
static unsigned blocks_of(uint64_t keys) { return (unsigned)(keys / BLOCK) + some_blocks(); }

static hd_view view_of(uint64_t capacity, double load, uint32_t hashes, uint64_t seed)
{
    hd_table_ops ops = {};
    hd_view view = {};
    ops.scheme = HD_SCHEME_ID;
    ops.key_bits = HD_KEY_BITS;
    ops.value_bits = HD_VALUE_BITS;
    ops.bucket = HD_BUCKET;
    ops.slot_bytes = sizeof(hd_word);
    ops.value_bytes = HD_APART ? sizeof(hd_value) : 0;
    if (!HD_EVICTS && !HD_CHOOSES) hashes *= 16; /* pairs that cannot be moved need more buckets */
    if (HD_CHOOSES) hashes = 3;
    CHECK(hd_geometry_init(&view, &ops, capacity, load, hashes, seed) == HEDDLE_OK, "geometry");
    if (HD_CHOOSES) {
        const double thresholds[] = {0, 0.5, 0.8, 1};
        view.threshold = hd_geometry_threshold(&ops, thresholds[warps_random() % 4]);
    }
    return view;
}

bare_table::bare_table(uint64_t capacity, double load, uint32_t hashes, uint64_t seed)
    : view(view_of(capacity, load, hashes, seed)),
      slots(((uint64_t)view.region_buckets << view.region_bits) * HD_BUCKET), words(slots, 0xff),
      apart(HD_APART ? slots : 1), heads((size_t)1 << view.region_bits, 0xff),
      locks(HD_CHOOSES ? slots / HD_BUCKET / 32 + 1 : 1, 0)
{
    view.slots = words.get();
    view.values = HD_APART ? apart.get() : NULL;
    view.locks = HD_CHOOSES ? locks.get() : NULL;
}

void bare_table::is_settled()
{
    for (size_t r = 0; r < heads.n; r++)
        CHECK(heads[r] == HD_NO_KEY, "settle left keys in the list of region %zu", r);
    for (size_t i = 0; HD_CHOOSES && i < locks.n; i++)
        CHECK(locks[i] == 0, "place left buckets locked: %x", locks[i]);
}

/* Brings the model up to date with what the outcomes say, and checks the values. */
void bare_table::apply(const key_list &keys, const value_list &values, uint32_t policy,
                       const std::vector<uint8_t> &outcomes, const std::vector<bool> &worked)
{
    const uint8_t present =
        policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
    for (size_t i = 0; i < keys.size(); i++) {
        if (!worked[i] || outcomes[i] != HEDDLE_OUTCOME_INSERTED) continue;
        CHECK(model.emplace(keys[i], HD_HAS_VALUES ? values[i] : 0).second,
              "key %llx inserted twice", (ull)keys[i]);
    }
    for (size_t i = 0; i < keys.size(); i++) {
        if (!worked[i] || outcomes[i] == HEDDLE_OUTCOME_INSERTED ||
            outcomes[i] == HEDDLE_OUTCOME_FAILED)
            continue;
        CHECK(outcomes[i] == present, "key %llx: outcome %u", (ull)keys[i], outcomes[i]);
        const auto at = model.find(keys[i]);
        CHECK(at != model.end(), "key %llx: present, but never inserted", (ull)keys[i]);
        if (!HD_HAS_VALUES) continue;
        if (policy == HEDDLE_POLICY_ADD) at->second += values[i];
        if (policy == HEDDLE_POLICY_MIN && values[i] < at->second) at->second = values[i];
        if (policy == HEDDLE_POLICY_MAX && values[i] > at->second) at->second = values[i];
    }
}

uint64_t bare_table::insert(const key_list &keys, const value_list &values, uint32_t policy,
                            std::vector<uint8_t> *outcomes, bool retry)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<hd_value> v = upload(values);
    const device_array<uint32_t> next(keys.size());
    std::vector<bool> worked(keys.size(), true);
    hd_counts counts = {};
    hd_batch batch = {};
    uint64_t born = 0, inserted = 0, failed = 0, count = 0;
    if (!retry) outcomes->assign(keys.size(), 0xee);
    for (size_t i = 0; i < keys.size(); i++) {
        worked[i] = !retry || (*outcomes)[i] == HEDDLE_OUTCOME_FAILED;
        count += worked[i];
    }
    batch.keys = k.get();
    batch.values = HD_HAS_VALUES ? v.get() : NULL;
    batch.outcomes = outcomes->data();
    batch.n = keys.size();
    batch.policy = policy;
    batch.retry = retry;
    batch.counts = &counts;
    batch.tally = &born;
    batch.heads = heads.get();
    batch.next = next.get();
    warps_launch(some_blocks(), BLOCK, [&] { emulated_place(view, batch); });
    warps_launch(some_blocks(), SETTLE_BLOCK, [&] { emulated_settle(view, batch, hd_view(), 0); });
    is_settled();
    apply(keys, values, policy, *outcomes, worked);
    for (size_t i = 0; i < keys.size(); i++) {
        inserted += worked[i] && (*outcomes)[i] == HEDDLE_OUTCOME_INSERTED;
        failed += worked[i] && (*outcomes)[i] == HEDDLE_OUTCOME_FAILED;
    }
    CHECK(born == inserted && counts.at[HD_INSERTED] == inserted, "%llu born", (ull)born);
    CHECK(counts.at[HD_FAILED] == failed, "%llu failed", (ull)failed);
    CHECK(counts.at[HD_UPDATED] + counts.at[HD_KEPT] == count - inserted - failed, "present");
    CHECK(counts.at[policy == HEDDLE_POLICY_KEEP ? HD_UPDATED : HD_KEPT] == 0,
          "present, but by another policy");
    return failed;
}

/* Folds every region in two parts, in place of its pairs; the ends are those of what is left. */
static void fold_regions(const hd_view &view, const hd_batch &batch, device_array<uint32_t> *pairs,
                         const std::vector<uint64_t> &starts, device_array<uint64_t> *ends)
{
    const device_array<uint32_t> left(pairs->n);
    std::vector<hd_fold_task> tasks;
    for (uint32_t r = 0; r + 1 < starts.size(); r++) {
        const uint64_t middle = (starts[r] + starts[r + 1]) / 2;
        if (starts[r] < middle) tasks.push_back({starts[r], middle, r});
        if (middle < starts[r + 1]) tasks.push_back({middle, starts[r + 1], r});
        (*ends)[r] = starts[r]; /* the cursors */
    }
    warps_launch((unsigned)tasks.size(), FILL_BLOCK, [&] {
        emulated_fold(view, batch, pairs->get(), tasks.data(), left.get(),
                      (unsigned long long *)ends->get());
    });
    memcpy(pairs->get(), left.get(), pairs->n * sizeof(uint32_t));
}

/* The pairs that a fill has listed. */
uint64_t bare_table::insert_listed(const device_array<uint32_t> &failed, uint64_t count,
                                   uint32_t policy)
{
    key_list keys;
    value_list values;
    std::vector<uint8_t> outcomes;
    for (uint64_t i = 0; i < count; i++) {
        const hd_sorted_pair pair = sorted_load(failed.get(), i);
        keys.push_back(unmix_key(&view.mix, sorted_key(pair)));
        values.push_back((hd_value)sorted_value(pair));
    }
    return insert(keys, values, policy, &outcomes, false);
}

/* An insertion of one pair into the model. */
void bare_table::merge(hd_key key, hd_value put, uint32_t policy)
{
    const auto at = model.emplace(key, put);
    if (at.second || !HD_HAS_VALUES) return;
    hd_value *const value = &at.first->second;
    if (policy == HEDDLE_POLICY_REPLACE) *value = put;
    if (policy == HEDDLE_POLICY_ADD) *value += put;
    if (policy == HEDDLE_POLICY_MIN && put < *value) *value = put;
    if (policy == HEDDLE_POLICY_MAX && put > *value) *value = put;
}

uint64_t bare_table::queue(const key_list &keys, const value_list &values, uint32_t policy,
                           bool fresh)
{
    std::vector<uint64_t> begins, first, last;
    const device_array<uint32_t> pairs = upload(sort_by_region(view, keys, values, &begins));
    const uint32_t regions = UINT32_C(1) << view.region_bits;
    const uint64_t room = 1 + warps_random() % (2 * keys.size() / regions + 2);
    const device_array<uint32_t> parts(regions * room * HD_PAIR_WORDS);
    const device_array<uint32_t> list(keys.size() * HD_PAIR_WORDS), next(keys.size());
    uint64_t listed = 0, born = 0;
    for (uint32_t r = 0; r < regions; r++) {
        first.push_back(r * room);
        last.push_back(r * room + begins[r + 1] - begins[r]);
        for (uint64_t i = begins[r]; i < begins[r + 1]; i++) {
            const hd_sorted_pair pair = sorted_load(pairs.get(), i);
            if (i - begins[r] < room) sorted_store(parts.get(), r * room + i - begins[r], pair);
            else sorted_store(list.get(), listed++, pair);
        }
    }
    const device_array<uint64_t> starts = upload(first), ends = upload(last);
    hd_counts counts = {};
    hd_batch batch = {};
    hd_sorted sorted = {};
    batch.policy = policy;
    batch.counts = &counts;
    batch.tally = &born;
    batch.n = keys.size();
    sorted.pairs = parts.get();
    sorted.starts = starts.get();
    sorted.ends = ends.get();
    sorted.limit = UINT64_MAX;
    sorted.failed = list.get();
    sorted.failed_count = &listed;
    sorted.room = room;
    sorted.retried = true;
    if (fresh) {
        memset((void *)words.get(), 0xee, slots * sizeof(hd_word));
        model.clear();
    }
    warps_launch(some_blocks(), FILL_BLOCK, [&] {
        if (fresh) emulated_fill_fresh(view, batch, sorted, regions);
        else emulated_fill_more(view, batch, sorted, regions);
    });
    CHECK(counts.at[HD_FAILED] == 0, "%llu failed before their last try",
          (ull)counts.at[HD_FAILED]);
    batch.heads = heads.get();
    batch.next = next.get();
    batch.listed = list.get();
    batch.listed_count = &listed;
    warps_launch(some_blocks(), BLOCK, [&] { emulated_place(view, batch); });
    warps_launch(some_blocks(), SETTLE_BLOCK, [&] { emulated_settle(view, batch, hd_view(), 0); });
    is_settled();
    const size_t before = model.size();
    if (counts.at[HD_FAILED] != 0) return counts.at[HD_FAILED];
    for (size_t i = 0; i < keys.size(); i++) merge(keys[i], HD_HAS_VALUES ? values[i] : 0, policy);
    const uint64_t fresh_keys = model.size() - before;
    CHECK(born == fresh_keys && counts.at[HD_INSERTED] == fresh_keys, "%llu of %llu keys born",
          (ull)born, (ull)fresh_keys);
    CHECK(counts.at[HD_UPDATED] + counts.at[HD_KEPT] == keys.size() - fresh_keys, "present");
    return 0;
}

uint64_t bare_table::fill(const key_list &keys, const value_list &values, uint32_t policy,
                          bool fresh, bool folds)
{
    std::vector<uint64_t> begins;
    device_array<uint32_t> pairs = upload(sort_by_region(view, keys, values, &begins));
    const device_array<uint64_t> starts = upload(begins);
    device_array<uint64_t> ends = upload(std::vector<uint64_t>(begins.begin() + 1, begins.end()));
    hd_counts counts = {};
    hd_batch batch = {};
    uint64_t born = 0;
    batch.policy = policy;
    batch.counts = &counts;
    batch.tally = &born;
    if (fresh) {
        memset((void *)words.get(), 0xee, slots * sizeof(hd_word));
        model.clear();
    }
    if (folds) fold_regions(view, batch, &pairs, begins, &ends);
    const device_array<uint32_t> failed(pairs.n);
    uint64_t listed = 0;
    const hd_sorted sorted = {pairs.get(), starts.get(), ends.get(), NULL, 0,
                              UINT64_MAX,  failed.get(), &listed,    0};
    const uint32_t regions = UINT32_C(1) << view.region_bits;
    const std::vector<hd_word> were(words.get(), words.get() + slots);
    warps_launch(some_blocks(), FILL_BLOCK, [&] {
        if (fresh) emulated_fill_fresh(view, batch, sorted, regions);
        else emulated_fill_more(view, batch, sorted, regions);
    });
    if (fresh && counts.at[HD_FAILED] != 0) return counts.at[HD_FAILED];
    for (uint64_t i = 0; HD_CHOOSES && !fresh && i < slots; i++) /* such a scheme moves nothing */
        CHECK(key_is_vacant(word_key(were[i])) ||
                  key_is(&view, word_key(words[i]), key_bare(&view, word_key(were[i]))),
              "the key in slot %llu has moved", (ull)i);
    CHECK(counts.at[HD_FAILED] == listed, "%llu failed, %llu are listed", (ull)counts.at[HD_FAILED],
          (ull)listed);
    std::unordered_set<hd_key> left_out;
    for (uint64_t i = 0; i < listed; i++)
        left_out.insert(unmix_key(&view.mix, sorted_key(sorted_load(failed.get(), i))));
    const size_t before = model.size();
    for (size_t i = 0; i < keys.size(); i++) {
        if (left_out.count(keys[i]) != 0) {
            CHECK(model.count(keys[i]) == 0, "key %llx is there and failed", (ull)keys[i]);
            continue;
        }
        merge(keys[i], HD_HAS_VALUES ? values[i] : 0, policy);
    }
    const uint64_t fresh_keys = model.size() - before;
    CHECK(born == fresh_keys && counts.at[HD_INSERTED] == fresh_keys, "%llu of %llu keys born",
          (ull)born, (ull)fresh_keys);
    CHECK(counts.at[HD_UPDATED] + counts.at[HD_KEPT] == keys.size() - fresh_keys - listed,
          "present");
    return listed != 0 ? insert_listed(failed, listed, policy) : 0;
}

/* What the lookups share: `k` and `found` have as many elements. */
static hd_batch lookup_batch(const device_array<hd_key> &k, const device_array<uint8_t> &found,
                             hd_counts *counts)
{
    hd_batch batch = {};
    batch.keys = k.get();
    batch.found = found.get();
    batch.n = k.n;
    batch.counts = counts;
    return batch;
}

static void counts_are(const hd_counts *counts, uint64_t asked, uint64_t found)
{
    CHECK(counts->at[HD_ASKED] == asked, "%llu of %llu asked", (ull)counts->at[HD_ASKED],
          (ull)asked);
    CHECK(counts->at[HD_FOUND] == found, "%llu of %llu found", (ull)counts->at[HD_FOUND],
          (ull)found);
    CHECK(counts->at[HD_PROBES] >= asked, "%llu probes", (ull)counts->at[HD_PROBES]);
}

void bare_table::find(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> flags(keys.size());
    const device_array<hd_value> out(keys.size());
    const hd_value untouched = out[0];
    hd_counts counts = {};
    hd_batch batch = lookup_batch(k, flags, &counts);
    uint64_t expected = 0;
    const bool near = warps_random() % 2 == 0;
    batch.values_out = out.get();
    warps_launch(blocks_of(k.n), BLOCK, [&] {
        if (near) emulated_find_near(view, batch);
        else emulated_find(view, batch);
    });
    for (size_t i = 0; i < keys.size(); i++) {
        const auto at = model.find(keys[i]);
        const bool there = at != model.end();
        expected += there;
        CHECK(flags[i] == there, "key %llx: found %u", (ull)keys[i], flags[i]);
        const hd_value value = there && HD_HAS_VALUES ? at->second : untouched;
        CHECK(out[i] == value, "key %llx: %llx, not %llx", (ull)keys[i], (ull)out[i], (ull)value);
    }
    counts_are(&counts, keys.size(), expected);
}

void bare_table::contains(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> flags(keys.size());
    hd_counts counts = {};
    const hd_batch batch = lookup_batch(k, flags, &counts);
    const bool near = warps_random() % 2 == 0;
    uint64_t expected = 0;
    warps_launch(blocks_of(k.n), BLOCK, [&] {
        if (near) emulated_contains_near(view, batch);
        else emulated_contains(view, batch);
    });
    for (size_t i = 0; i < keys.size(); i++) {
        expected += model.count(keys[i]);
        CHECK(flags[i] == model.count(keys[i]), "key %llx: contained %u", (ull)keys[i], flags[i]);
    }
    counts_are(&counts, keys.size(), expected);
}

void bare_table::locate(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys), back(keys.size());
    const device_array<uint64_t> handles(keys.size());
    const device_array<uint8_t> flags(keys.size());
    const device_array<hd_value> out(keys.size());
    hd_counts counts = {};
    hd_batch batch = {}, read = {};
    uint64_t expected = 0;
    batch.keys = k.get();
    batch.slots = read.slots = handles.get();
    batch.n = read.n = k.n;
    batch.counts = &counts;
    warps_launch(blocks_of(k.n), BLOCK, [&] { emulated_locate(view, batch); });
    for (size_t i = 0; i < keys.size(); i++) {
        expected += model.count(keys[i]);
        CHECK(model.count(keys[i]) ? handles[i] < slots : handles[i] == HEDDLE_NO_SLOT,
              "key %llx: slot %llx", (ull)keys[i], (ull)handles[i]);
        if (handles[i] == HEDDLE_NO_SLOT && i % 2 == 0) handles.get()[i] = slots + i % 3;
    }
    counts_are(&counts, keys.size(), expected);
    read.keys_out = back.get();
    read.values_out = HD_HAS_VALUES ? out.get() : NULL;
    read.found = flags.get();
    warps_launch(some_blocks(), BLOCK, [&] { emulated_at(view, read); });
    for (size_t i = 0; i < keys.size(); i++) {
        const auto at = model.find(keys[i]);
        CHECK(flags[i] == (at != model.end()), "key %llx: at %u", (ull)keys[i], flags[i]);
        if (at == model.end()) continue;
        CHECK(back[i] == keys[i], "key %llx: its slot holds %llx", (ull)keys[i], (ull)back[i]);
        if (HD_HAS_VALUES) CHECK(out[i] == at->second, "value of %llx", (ull)keys[i]);
    }
}

void bare_table::erase(const key_list &keys)
{
    const device_array<hd_key> k = upload(keys);
    const device_array<uint8_t> flags(keys.size());
    hd_counts counts = {};
    hd_batch batch = lookup_batch(k, flags, &counts);
    uint64_t died = 0, expected = 0;
    std::unordered_set<hd_key> gone;
    batch.tally = &died;
    warps_launch(some_blocks(), BLOCK, [&] { emulated_erase(view, batch); });
    for (size_t i = 0; i < keys.size(); i++) {
        CHECK(flags[i] <= 1, "flag %u", flags[i]);
        if (flags[i])
            CHECK(model.count(keys[i]) && gone.insert(keys[i]).second, "key %llx erased",
                  (ull)keys[i]);
    }
    for (const hd_key key : keys) expected += model.erase(key);
    CHECK(gone.size() == expected && died == expected, "%llu of %llu erased", (ull)died,
          (ull)expected);
    counts_are(&counts, keys.size(), expected);
}

void bare_table::inspect()
{
    hd_census c = {};
    uint64_t reached = 0;
    warps_launch(some_blocks(), BLOCK, [&] { emulated_inspect(view, &c); });
    for (const uint64_t keys : c.probes) reached += keys;
    CHECK(c.misplaced == 0 && c.unreachable == 0 && c.twice == 0 && c.busy == 0,
          "census: %llu misplaced, %llu unreachable, %llu twice, %llu busy", (ull)c.misplaced,
          (ull)c.unreachable, (ull)c.twice, (ull)c.busy);
    CHECK(c.keys == model.size() && reached == c.keys, "census: %llu keys of %zu", (ull)c.keys,
          model.size());
}

/* No mark more than before, none in an empty table, and all that the keys need: inspect tells. */
void bare_table::renew_marks()
{
    hd_census before = {}, after = {};
    warps_launch(some_blocks(), BLOCK, [&] { emulated_inspect(view, &before); });
    warps_launch(some_blocks(), BLOCK, [&] { emulated_renew_marks(view); });
    warps_launch(some_blocks(), BLOCK, [&] { emulated_inspect(view, &after); });
    CHECK(after.marks <= before.marks && (!model.empty() || after.marks == 0),
          "%llu marks, %llu when renewed, of %zu keys", (ull)before.marks, (ull)after.marks,
          model.size());
    inspect();
}

void bare_table::collect()
{
    const device_array<hd_key> keys(slots);
    const device_array<hd_value> values(slots);
    const uint64_t part = 1 + warps_random() % slots; /* in two parts that end anywhere in a warp */
    uint64_t cursor = 0;
    std::unordered_set<hd_key> seen;
    warps_launch(1, BLOCK,
                 [&] { emulated_collect(view, 0, part, keys.get(), values.get(), &cursor); });
    if (part < slots)
        warps_launch(1, BLOCK, [&] {
            emulated_collect(view, part, slots - part, keys.get(), values.get(), &cursor);
        });
    CHECK(cursor == model.size(), "%llu collected", (ull)cursor);
    for (uint64_t i = 0; i < cursor; i++) {
        const auto at = model.find(keys[i]);
        CHECK(at != model.end() && seen.insert(keys[i]).second, "key %llx collected", (ull)keys[i]);
        if (HD_HAS_VALUES) CHECK(at->second == values[i], "value of %llx", (ull)keys[i]);
    }
}

void bare_table::rehome(const bare_table &from)
{
    const device_array<uint32_t> next(from.slots);
    const uint64_t part = 1 + warps_random() % from.slots;
    hd_counts counts = {};
    for (uint64_t first = 0; first < from.slots; first += part) {
        hd_batch batch = {};
        batch.n = from.slots - first < part ? from.slots - first : part;
        batch.policy = HEDDLE_POLICY_KEEP;
        batch.counts = &counts;
        batch.heads = heads.get();
        batch.next = next.get();
        warps_launch(some_blocks(), BLOCK, [&] { emulated_rehome(view, batch, from.view, first); });
        warps_launch(some_blocks(), SETTLE_BLOCK,
                     [&] { emulated_settle(view, batch, from.view, first); });
        is_settled();
    }
    model = from.model;
    CHECK(counts.at[HD_INSERTED] == model.size() && counts.at[HD_FAILED] == 0 &&
              counts.at[HD_KEPT] == 0,
          "%llu of %zu moved", (ull)counts.at[HD_INSERTED], model.size());
}
