/*
 * test_warps.cpp: the kernels of one compiled table, run on the CPU by warps.h under many random
 * schedules. Compiled once for each of a few tables (cuda_on_cpu.cmake).
 *
 * A failure names the seed; given as the argument, that seed alone runs.
 */
#include "bare_table.cpp" /* kernels are static: one translation unit */

#define KEYS 600
#define SEEDS 3

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
}

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
        crowded(2 + seed % 3);
    }
    return 0;
}
