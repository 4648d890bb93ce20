/*
 * test_device.cpp: heddle/device.cuh under the emulator: kernels of a user's own on two tables at once,
 * one by tiles and one by single threads on the same memory, beside a model.
 */
#include <map>

#include "arrays.h"
#include "shim.h"

#define HEDDLE_NAME by_tiles
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME by_threads
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HEDDLE_NAME ids
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#include "plain_table.h"

#define BLOCK 64
#define KEYS 400

typedef std::map<uint32_t, uint32_t> model;

/* Every key some times, by tiles or by threads; what each call says adds up. */
template <bool TILES> static void add_all(plain_table<by_tiles::table> *t, model *m, uint32_t n)
{
    device_array<uint32_t> keys(n);
    uint32_t came = 0, fresh = 0;
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = (uint32_t)(warps_random() % KEYS) * 2654435761u;
        fresh += m->count(keys[i]) == 0;
        (*m)[keys[i]] += i;
    }
    by_threads::table same;
    same.at = t->inside.at;
    warps_launch(2, BLOCK, [&] {
        if (TILES) {
            by_tiles::writer writer(t->inside);
            const uint64_t tiles = (uint64_t)gridDim.x * BLOCK / by_tiles::tile_size;
            for (uint64_t i = by_tiles::tile_number(); i < n; i += tiles) {
                const int outcome = writer.insert(keys[i], (uint32_t)i, HEDDLE_POLICY_ADD);
                CHECK(outcome != HEDDLE_OUTCOME_FAILED, "no room");
                if (threadIdx.x % by_tiles::tile_size == 0)
                    came += outcome == HEDDLE_OUTCOME_INSERTED;
            }
        } else {
            by_threads::writer writer(same);
            for (uint32_t base = 0; base < n; base += gridDim.x * BLOCK) {
                const uint32_t i = base + blockIdx.x * BLOCK + threadIdx.x;
                const int outcome =
                    writer.insert_each(i < n ? keys[i] : 0, i, HEDDLE_POLICY_ADD, i < n);
                came += i < n && outcome == HEDDLE_OUTCOME_INSERTED;
            }
        }
    });
    CHECK(came == fresh, "%u keys came, not %u", came, fresh);
    CHECK(t->size() == m->size(), "%llu keys, not %zu", (ull)t->size(), m->size());
}

static void find_all(plain_table<by_tiles::table> *t, const model &m)
{
    by_threads::table same;
    same.at = t->inside.at;
    uint32_t visited = 0;
    warps_launch(1, BLOCK, [&] {
        for (uint32_t i = threadIdx.x; i < 2 * KEYS; i += BLOCK) {
            const uint32_t key = i * 2654435761u;
            const auto expected = m.find(key);
            uint32_t one = 77, other = 77;
            const bool found = by_tiles::find_each(t->inside, key, &one, true);
            CHECK(found == (expected != m.end()) && one == (found ? expected->second : 77),
                  "tiles");
            CHECK(by_threads::find(same, key, &other) == found && one == other, "threads");
            CHECK(by_tiles::contains_each(t->inside, key, i % 3 == 0) == (found && i % 3 == 0),
                  "flag");
        }
    });
    warps_launch(2, BLOCK, [&] {
        by_tiles::for_all(t->inside, [&](uint32_t key, uint32_t value) {
            const auto expected = m.find(key);
            CHECK(expected != m.end() && expected->second == value, "a pair that is not there");
            visited++;
        });
    });
    CHECK(visited == m.size(), "%u pairs visited, not %zu", visited, m.size());
}

static void erase_some(plain_table<by_tiles::table> *t, model *m)
{
    uint32_t gone = 0;
    warps_launch(1, BLOCK, [&] {
        by_tiles::writer writer(t->inside);
        for (uint32_t i = threadIdx.x; i < KEYS; i += BLOCK) {
            /* Two lanes have the same key: one of them erases it. */
            const uint32_t key = (i / 2) * 2654435761u;
            gone += writer.erase_each(key, true);
        }
    });
    const size_t before = m->size();
    for (uint32_t i = 0; i < KEYS; i++) m->erase((i / 2) * 2654435761u);
    CHECK(gone == before - m->size(), "%u keys erased, not %zu", gone, before - m->size());
    CHECK(t->size() == m->size(), "%llu keys are left, not %zu", (ull)t->size(), m->size());
}

static void a_set(void)
{
    plain_table<ids::table> t({HEDDLE_SCHEME_CUCKOO, 64, 0, 8, KEYS, 3, false});
    warps_launch(1, BLOCK, [&] {
        ids::writer writer(t.inside);
        for (uint64_t i = ids::tile_number(); i < KEYS; i += BLOCK / ids::tile_size)
            writer.insert(i % (KEYS / 2) << 33, 0, HEDDLE_POLICY_KEEP);
    });
    CHECK(t.size() == KEYS / 2, "%llu keys in the set", (ull)t.size());
    warps_launch(1, BLOCK, [&] {
        for (uint64_t i = ids::tile_number(); i < KEYS; i += BLOCK / ids::tile_size)
            CHECK(ids::contains(t.inside, i << 33) == (i < KEYS / 2), "key %llu", (ull)i);
    });
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (uint64_t seed = first; seed <= (argc > 1 ? first : 6); seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed);
        warps_seed(seed);
        plain_table<by_tiles::table> t({HEDDLE_SCHEME_OPEN, 32, 32, 16, KEYS, 64, false});
        model m;
        add_all<true>(&t, &m, KEYS);
        find_all(&t, m);
        add_all<false>(&t, &m, KEYS);
        find_all(&t, m);
        erase_some(&t, &m);
        find_all(&t, m);
        add_all<true>(&t, &m, KEYS);
        find_all(&t, m);
        a_set();
    }
    return 0;
}
