/*
 * test_device_lists.cpp: bucket lists in kernels of a user's own; see device_values.h. With keys of 32 bits
 * the kernels work on tables of the CPU engine, whose slots have the same order there: batch calls go on where
 * kernels ended, and the other way round, and validate what they left.
 */
#include "shim.h"

#define HEDDLE_NAME pairs
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME pairs_by_threads
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HEDDLE_NAME wide
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME wide_by_threads
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

/* An open map beside them. */
#define HEDDLE_NAME singles
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#include "device_values.h"
#include "plain_table.h"

extern "C" {
#include "table/lists/lists.h"
}

#define check_ok(call) CHECK((call) == HEDDLE_OK, "%s", heddle_last_error())

static heddle_device *cpu;
static uint64_t made_in_vain; /* how often lists were left over, as the tests mean to bring about */

/* A table of the CPU engine. */
struct table_store {
    static bool grows; /* in batch calls */
    heddle_table *table = NULL;
    pairs::table inside;

    explicit table_store(uint64_t capacity)
    {
        heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
        const double growths[] = {1, 1.5, 2};
        o.container = HEDDLE_CONTAINER_MULTIMAP;
        o.scheme = HEDDLE_SCHEME_BUCKET_LIST;
        o.key_bits = o.value_bits = 32;
        o.bucket = 8;
        o.capacity = capacity;
        o.flags = grows ? 0 : HEDDLE_FLAG_FIXED;
        o.list_first = 1 + warps_random() % 3;
        o.list_growth = growths[warps_random() % 3];
        check_ok(heddle_table_create(cpu, &o, &table));
        check_ok(hd_lists_view(table, &inside.at));
    }
    table_store(const table_store &) = delete;
    ~table_store() { heddle_table_destroy(table); }
    uint64_t size() const
    {
        uint64_t pairs = 0;
        check_ok(heddle_table_size(table, &pairs, NULL));
        return pairs;
    }
    void check_rest(size_t keys) const
    {
        made_in_vain += hd_lists(table)->storage.words->spares != 0;
        check_ok(heddle_table_validate(table, NULL));
        CHECK(hd_lists(table)->storage.key_count == keys, "%llu keys, not %zu",
              (ull)hd_lists(table)->storage.key_count, keys);
    }
};
bool table_store::grows = false;
INSTANCE(pair_instance, pairs, pairs_by_threads, table_store);

/* The same from plain memory: an index of 64-bit keys, records and one chunk. */
struct wide_store {
    plain_table<wide::keys::table> index;
    uint64_t room;
    device_array<hd_list_record> records;
    device_array<char> chunk;
    device_array<char *> chunks;
    device_array<hd_list_words> words;
    device_array<uint64_t> counts;
    wide::table inside;

    explicit wide_store(uint64_t capacity)
        : index({HEDDLE_SCHEME_OPEN, 64, 64, 8, capacity, 64, false}), room(4 * capacity),
          records(index.slots() + 2 * BLOCK), chunk(room * HD_LIST_UNIT), chunks(1, 0), words(1, 0),
          counts(2, 0)
    {
        chunks[0] = chunk.get();
        inside.at = {};
        inside.at.keys = index.at();
        inside.at.pool.records = records.get();
        inside.at.pool.chunks = chunks.get();
        inside.at.pool.first = 1;
        inside.at.pool.growth = 2;
        inside.at.pool.room = room;
        inside.at.pool.cursor = &words[0].cursor;
        inside.at.words = words.get();
        inside.at.records_room = records.n;
        inside.at.born = counts.get();
        inside.at.died = counts.get() + 1;
    }
    uint64_t size() const { return counts[0] - counts[1]; }
    void check_rest(size_t keys) const
    {
        CHECK(index.size() == keys, "%llu keys, not %zu", (ull)index.size(), keys);
        CHECK(words[0].records <= records.n + 2 * BLOCK, "records");
        CHECK(words[0].dead <= room, "%llu dead units", (ull)words[0].dead);
    }
};
INSTANCE(wide_instance, wide, wide_by_threads, wide_store);

/* ------------------------------------------------------------------------ kernels and batch calls */

typedef values_run<pair_instance> pair_run;

/* After a call that has changed the lists. */
static void open_again(pair_run *r)
{
    check_ok(hd_lists_view(r->t.table, &r->t.inside.at));
    r->same.at = r->t.inside.at;
    r->t.check_rest(r->model.size());
}

/* Pairs by a batch call. */
static void insert_batch(pair_run *r, const number_list &list)
{
    std::vector<uint32_t> keys, values;
    for (const number_pair &pair : list) {
        keys.push_back(pair_run::key(pair.first));
        values.push_back((uint32_t)pair.second);
        r->model[keys.back()].insert(values.back());
    }
    r->pairs += list.size();
    check_ok(
        heddle_table_insert(r->t.table, keys.data(), values.data(), list.size(), NULL, NULL, NULL));
    open_again(r);
}

static void erase_batch(pair_run *r, uint64_t below)
{
    std::vector<uint32_t> keys;
    for (uint64_t i = 0; i < below; i++) {
        keys.push_back(pair_run::key(i));
        const auto at = r->model.find(keys.back());
        if (at == r->model.end()) continue;
        r->pairs -= at->second.size();
        r->model.erase(at);
    }
    check_ok(heddle_table_erase(r->t.table, keys.data(), below, NULL, NULL, NULL));
    open_again(r);
}

/* What batch calls say of the table that kernels have filled. */
static void read_batch(pair_run *r)
{
    std::vector<uint32_t> keys(r->pairs), values(r->pairs), asked;
    std::map<uint32_t, pair_run::value_set> seen;
    uint64_t n = 0;
    for (const auto &entry : r->model) asked.push_back(entry.first);
    std::vector<uint64_t> matches(asked.size());
    check_ok(
        heddle_table_count(r->t.table, asked.data(), asked.size(), matches.data(), NULL, NULL));
    for (size_t i = 0; i < asked.size(); i++)
        CHECK(matches[i] == r->model[asked[i]].size(), "count of key %u", asked[i]);
    check_ok(heddle_table_export(r->t.table, keys.data(), values.data(), r->pairs, &n, NULL));
    for (uint64_t i = 0; i < n; i++) seen[keys[i]].insert(values[i]);
    CHECK(n == r->pairs && seen == r->model, "other pairs than those that were inserted");
}

/* A table that grows in batch calls, which kernels cannot make it do. */
static void in_turns(void)
{
    pair_run r(64);
    for (int i = 0; i < 6; i++) {
        const number_list list = some_pairs(300, 100);
        const uint64_t failed = r.add(list);
        read_batch(&r);
        /* Others in the place of those that failed, and as many as a large batch has. */
        insert_batch(&r, some_pairs(failed + (i == 3 ? 1500 : 1), 100));
        r.check_keys(128);
        if (i % 2 == 0) erase_batch(&r, 20);
        r.erase(some_pairs(10, 100));
        read_batch(&r);
        if (i == 1) check_ok(heddle_table_reserve(r.t.table, 2000, NULL));
        if (i == 4) check_ok(heddle_table_rehash(r.t.table, 0, NULL));
        open_again(&r);
    }
    r.check_all(128);
    check_ok(heddle_table_clear(r.t.table, NULL));
    r.model.clear();
    r.pairs = 0;
    open_again(&r);
    CHECK(r.add(some_pairs(200, 50)) == 0, "no room in a table that was cleared");
    r.check_keys(64);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    check_ok(heddle_device_open("cpu:1", &cpu));
    for (uint64_t seed = first; seed <= (argc > 1 ? first : 5); seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed);
        warps_seed(seed);
        table_store::grows = false;
        test_values<pair_instance>(400);
        test_values<wide_instance>(400);
        table_store::grows = true;
        in_turns();
    }
    CHECK(made_in_vain != 0, "no two founded a list for the same key");
    heddle_device_close(cpu);
    return 0;
}
