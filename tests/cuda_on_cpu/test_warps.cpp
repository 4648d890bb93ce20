/*
 * test_warps.cpp: the kernels of one compiled table, run on the CPU by warps.h under many random
 * schedules. Compiled once for each of a few tables (cuda_on_cpu.cmake).
 *
 * A failure names the seed; given as the argument, that seed alone runs.
 */
#include "bare_table.cpp" /* kernels are static: one translation unit */

#define KEYS 600
#if defined(__SANITIZE_ADDRESS__) || defined(FEW_SEEDS)
#define SEEDS 2 /* sanitizers take five times as long */
#elif HD_CHOOSES
#define SEEDS 4 /* larger buckets take longer */
#else
#define SEEDS 6
#endif

/* Keys with many equal ones, close together and far apart. */
static key_list some_keys(size_t n, size_t distinct)
{
    key_list pool(distinct), keys(n);
    for (hd_key &key : pool) key = (hd_key)(warps_random() << 32 ^ warps_random());
    for (size_t i = 0; i < n; i++)
        keys[i] = i != 0 && warps_random() % 4 == 0
                      ? keys[i - 1]
                      : pool[i < distinct ? i : warps_random() % distinct];
    return keys;
}

static value_list some_values(size_t n)
{
    value_list values(n);
    for (hd_value &value : values) value = (hd_value)(warps_random() << 32 ^ warps_random());
    return values;
}

static void read_all(bare_table *t, const key_list &keys)
{
    key_list asked = some_keys(keys.size() / 2 + 1, keys.size() / 4 + 1); /* these are absent */
    asked.insert(asked.end(), keys.begin(), keys.end());
    t->inspect();
    t->find(asked);
    t->contains(asked);
    t->locate(asked);
    t->collect();
}

/* Fills a table by two batches that share keys, with room for all, and erases half. */
static void roomy(uint32_t hashes, uint32_t policy)
{
    bare_table t(KEYS, 0.9, hashes, warps_random());
    std::vector<uint8_t> outcomes;
    key_list keys = some_keys(KEYS, KEYS * 3 / 4);
    t.insert(keys, some_values(KEYS), HEDDLE_POLICY_KEEP, &outcomes, false);
    read_all(&t, keys);
    for (size_t i = 0; i < KEYS; i += 3) keys[i] = (hd_key)(warps_random() << 32 ^ warps_random());
    t.insert(keys, some_values(KEYS), policy, &outcomes, false);
    read_all(&t, keys);
    t.erase(key_list(keys.begin(), keys.begin() + KEYS / 2));
    read_all(&t, keys);
    t.insert(keys, some_values(KEYS), policy, &outcomes,
             false); /* over marks that erased keys left */
    read_all(&t, keys);
    t.erase(key_list(keys.begin(), keys.begin() + KEYS / 2));
    t.renew_marks();
    read_all(&t, keys);
    t.insert(keys, some_values(KEYS), policy, &outcomes, false);
    read_all(&t, keys);
    t.erase(keys);
    t.renew_marks();
}

/* Many copies of few keys at once, so that most tiles want what others have, or hold. */
static void contended(uint32_t policy)
{
    bare_table t(KEYS / 12, 0.6, 3, warps_random());
    std::vector<uint8_t> outcomes;
    const key_list keys = some_keys(KEYS, KEYS / 12);
    t.insert(keys, some_values(KEYS), policy, &outcomes, false);
    read_all(&t, keys);
    t.erase(key_list(keys.begin(), keys.begin() + KEYS / 24));
    t.insert(keys, some_values(KEYS), policy, &outcomes, false);
    read_all(&t, keys);
}

#if HD_CHOOSES && (HD_APART || HD_WIDE)
/* A mark that is cleared while its word is BUSY stays cleared when the key arrives: seldom met by chance. */
static void mark_in_a_busy_word()
{
    bare_table t(KEYS, 0.7, 3, warps_random());
    const hd_mark mark = mark_of(&t.view, 77);
    hd_key *const word = slot_key_at(&t.view, 5);
    const hd_key seen = *word, lean = lean_key(&t.view, (hd_key)warps_random());
    warps_launch(1, 32, [&] {
        if (threadIdx.x != 0) return;
        *word = key_with_marks(&t.view, HD_KEY_BUSY, seen);
        slot_mark(&t.view, 5, mark_bit(mark));
        key_arrive(&t.view, word, lean, seen);
    });
    CHECK(key_is(&t.view, *word, lean), "the word is %llx, not %llx", (ull)*word, (ull)lean);
    CHECK(key_is_marked(*word, mark), "the mark is lost");
}
#else
static void mark_in_a_busy_word() {}
#endif

/* More keys than slots: what fails leaves all others in place, and goes in once the table has grown. */
static void crowded(uint32_t hashes)
{
    bare_table small(60, 0.9, hashes, warps_random());
    const size_t n = (size_t)small.slots * 2 + 5;
    const key_list keys = some_keys(n, n * 3 / 4);
    const value_list values = some_values(n);
    std::vector<uint8_t> outcomes;
    CHECK(small.insert(keys, values, HEDDLE_POLICY_ADD, &outcomes, false) != 0, "nothing failed");
    read_all(&small, keys);
    bare_table large(n * 2, 0.9, hashes < 3 ? 3 : hashes, warps_random());
    large.rehome(small);
    read_all(&large, keys);
    large.insert(keys, values, HEDDLE_POLICY_ADD, &outcomes, true);
    read_all(&large, keys);
}

/* Equal values for equal keys where any of them may be taken. */
static value_list values_for(const key_list &keys, uint32_t policy, hd_value round)
{
    value_list values = some_values(keys.size());
    if (policy == HEDDLE_POLICY_KEEP || policy == HEDDLE_POLICY_REPLACE)
        for (size_t i = 0; i < keys.size(); i++) values[i] = (hd_value)(keys[i] * 3 + round);
    return values;
}

/* Builds by regions, nearly full, in one piece or two, and goes on with insertions and erasures. */
static void by_regions(uint32_t hashes, uint32_t policy)
{
    const bool folds = warps_random() % 2 == 0;
    const double load = HD_BUCKET == 1 ? 0.15 * hashes : hashes < 3 ? 0.7 : 0.85;
    bare_table t(KEYS, load, hashes, warps_random());
    std::vector<uint8_t> outcomes;
    key_list keys = some_keys(KEYS, KEYS * 3 / 4);
    uint64_t failed = t.fill(keys, values_for(keys, policy, 0), policy, true, folds);
    if (HD_BUCKET == 1 && failed == 1)
        return; /* three keys with the same two slots: no order helps */
    CHECK(failed == 0, "%llu keys failed", (ull)failed);
    read_all(&t, keys);
    for (size_t i = 0; i < KEYS; i += 3) keys[i] = (hd_key)(warps_random() << 32 ^ warps_random());
    (void)t.fill(keys, values_for(keys, policy, 1), policy, false,
                 !folds); /* some may fail: more keys than it was made for */
    read_all(&t, keys);
    t.erase(key_list(keys.begin(), keys.begin() + KEYS / 2));
    t.insert(keys, some_values(KEYS), HEDDLE_POLICY_ADD, &outcomes, false);
    read_all(&t, keys);
}

/* The same in calls that do not wait: into an empty table and into one that holds keys, few different ones or many. */
static void queued(uint32_t hashes, uint32_t policy)
{
    const double load = HD_BUCKET == 1 ? 0.12 * hashes : hashes < 3 ? 0.6 : 0.75;
    bare_table t(KEYS, load, hashes, warps_random());
    std::vector<uint8_t> outcomes;
    const bool fresh = warps_random() % 2 == 0;
    key_list keys = some_keys(KEYS, warps_random() % 4 == 0 ? 3 : KEYS / 2);
    uint64_t failed = t.queue(keys, values_for(keys, policy, 0), policy, fresh);
    CHECK(failed == 0 || HD_BUCKET == 1, "%llu keys failed", (ull)failed);
    if (failed != 0) return;
    read_all(&t, keys);
    for (size_t i = 0; i < KEYS; i += 3) keys[i] = (hd_key)(warps_random() << 32 ^ warps_random());
    if (t.queue(keys, values_for(keys, policy, 1), policy, false) != 0) return;
    read_all(&t, keys);
    t.erase(key_list(keys.begin(), keys.begin() + KEYS / 2));
    t.insert(keys, some_values(KEYS), HEDDLE_POLICY_ADD, &outcomes, false);
    read_all(&t, keys);
}

/* Goes on by regions with a table that was filled key by key, until it is as full as it gets. */
static void on_by_regions(uint32_t hashes, uint32_t policy)
{
    bare_table t(KEYS, 0.9, hashes, warps_random());
    std::vector<uint8_t> outcomes;
    key_list all;
    for (int part = 0; part < 4; part++) {
        key_list keys = some_keys((size_t)t.slots / 3, (size_t)t.slots / 4);
        for (size_t i = 0; i < keys.size() && i < all.size(); i += 5)
            keys[i] = all[warps_random() % all.size()];
        all.insert(all.end(), keys.begin(), keys.end());
        /* erased keys leave gaps, which not all schemes can fill (fills_gaps) */
        if (part % 2 == 0) t.insert(keys, values_for(keys, policy, 0), policy, &outcomes, false);
        else t.fill(keys, values_for(keys, policy, 0), policy, false, warps_random() % 2 == 0);
        read_all(&t, all);
        if (HD_CHOOSES) t.erase(key_list(keys.begin(), keys.begin() + (long)keys.size() / 4));
    }
}

/* Many copies of few keys: more than can wait in a region's slots. */
static void by_regions_copies(uint32_t hashes, uint32_t policy)
{
    bare_table t(KEYS / 4, 0.8, hashes, warps_random());
    const key_list keys = some_keys(KEYS * 2, KEYS / 5);
    if (t.fill(keys, values_for(keys, policy, 0), policy, true, false) == 0) read_all(&t, keys);
}

/* As full as it gets: many keys move in at once, into the same few buckets. */
static void by_regions_full(uint32_t policy)
{
    for (int i = 0; i < 20; i++) {
        bare_table t(KEYS / 4, 0.99, 4, warps_random());
        key_list keys((size_t)t.slots * (88 + i % 8) / 100);
        for (hd_key &key : keys) key = (hd_key)(warps_random() << 32 ^ warps_random());
        if (t.fill(keys, values_for(keys, policy, 0), policy, true, false) == 0) t.inspect();
    }
}

#if HD_CHOOSES
/* How many of these different keys find no room when they come one after the other to an empty table. */
static uint64_t failed_one_by_one(const hd_view *view, uint64_t slots, const key_list &keys)
{
    std::vector<uint32_t> count(slots / HD_BUCKET);
    uint64_t failed = 0;
    for (const hd_key key : keys) {
        hd_walk walk = walk_start(view, key);
        uint32_t *const home = &count[walk_bucket(view, &walk)];
        walk_advance(view, &walk);
        uint32_t *const first = &count[walk_bucket(view, &walk)];
        walk_advance(view, &walk);
        uint32_t *const second = &count[walk_bucket(view, &walk)];
        uint32_t *to = *home < view->threshold ? home : *second < *first ? second : first;
        if (*to == HD_BUCKET) to = home;
        if (*to == HD_BUCKET) failed++;
        else ++*to;
    }
    return failed;
}

/* Regions of many buckets, where all threads choose at once: no key fails that would fit one by one. */
static void by_regions_tip()
{
    bare_table t(6000, 0.8, 3, warps_random());
    const uint32_t most = HD_BUCKET == 16 ? 87 : 94; /* percent; one by one just fits */
    key_list keys((size_t)t.slots * most / 100);
    std::unordered_set<hd_key> drawn;
    for (hd_key &key : keys) do
            key = (hd_key)(warps_random() << 32 ^ warps_random());
        while (!drawn.insert(key).second);
    t.view.threshold = HD_BUCKET * 4 / 5;
    for (uint32_t percent = 80; percent <= most; percent += most - 80) {
        const key_list some(keys.begin(), keys.begin() + (ptrdiff_t)(t.slots * percent / 100));
        const uint64_t failed =
            t.fill(some, some_values(some.size()), HEDDLE_POLICY_ADD, true, false);
        CHECK(failed == 0 || failed_one_by_one(&t.view, t.slots, some) != 0,
              "%llu keys failed at %u percent", (ull)failed, percent);
        if (failed == 0) read_all(&t, some);
    }
}
/* The same for the second half of the keys, when the first has been seen and has to stay. */
static void on_by_regions_tip()
{
    bare_table t(6000, 0.8, 3, warps_random());
    std::vector<uint8_t> outcomes;
    key_list keys((size_t)t.slots * (HD_BUCKET == 16 ? 84 : 91) / 100);
    for (hd_key &key : keys) key = (hd_key)(warps_random() << 32 ^ warps_random());
    const key_list first(keys.begin(), keys.begin() + (long)keys.size() / 2);
    const key_list second(keys.begin() + (long)keys.size() / 2, keys.end());
    t.insert(first, some_values(first.size()), HEDDLE_POLICY_KEEP, &outcomes, false);
    const uint64_t failed =
        t.fill(second, values_for(second, HEDDLE_POLICY_KEEP, 0), HEDDLE_POLICY_KEEP, false, false);
    CHECK(failed <= failed_one_by_one(&t.view, t.slots, keys), "%llu keys failed", (ull)failed);
    t.inspect();
}
#endif

/* Every slot taken, or keys that cannot fit: said so, and no key twice. */
static void by_regions_crowded(uint32_t hashes)
{
    bare_table t(60, 0.9, hashes, warps_random());
    const size_t n = (size_t)t.slots * 2;
    const key_list keys = some_keys(n, n * 3 / 4);
    CHECK(t.fill(keys, some_values(n), HEDDLE_POLICY_ADD, true, false) != 0, "nothing failed");
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t last = argc > 1 ? first : SEEDS;
    for (uint64_t seed = first; seed <= last; seed++) {
        const uint32_t policies[] = {HEDDLE_POLICY_ADD, HEDDLE_POLICY_KEEP, HEDDLE_POLICY_MIN,
                                     HEDDLE_POLICY_MAX};
        fprintf(stderr, "seed %llu\n", (ull)seed); /* before it runs: a deadlock aborts */
        warps_seed(seed);
        roomy(2 + seed % 3, policies[(seed - 1) % 4]);
        contended(policies[seed % 4]);
        mark_in_a_busy_word();
        crowded(2 + seed % 3);
        for (uint32_t policy = 0; policy <= HEDDLE_POLICY_MAX; policy++)
            by_regions(2 + (seed + policy) % 3, policy);
        on_by_regions(2 + seed % 3, policies[(seed + 1) % 4]);
        queued(2 + seed % 3, policies[(seed + 2) % 4]);
        by_regions_copies(2 + seed % 3, HEDDLE_POLICY_ADD);
        by_regions_copies(3, HEDDLE_POLICY_REPLACE);
        by_regions_full(HEDDLE_POLICY_ADD);
        by_regions_crowded(2 + seed % 3);
#if HD_CHOOSES
        by_regions_tip();
        on_by_regions_tip();
#endif
    }
    return 0;
}
