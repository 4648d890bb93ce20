// Tables on which insertions, erasures and finds may go on at the same time, as the stop-watch of
// mixed_main.cpp sees them: one virtual call for a batch.
#pragma once

#include "contestant.h"

#include <cstdio>
#include <cstdlib>
#ifdef WITH_BOOST
#include <boost/unordered/concurrent_flat_map.hpp>
#endif
#ifdef WITH_TBB
#include <tbb/concurrent_hash_map.h>
#endif
#ifdef WITH_HEDDLE
#include <heddle/heddle.h>
#endif

using Key = uint32_t;

enum Operation : uint8_t { INSERT, ERASE, FIND };

struct Batch {
    HugeArray<Key> keys, values; // to insert
    HugeArray<uint8_t> operations;
    HugeArray<uint8_t> success;  // what the right answers are: inserted, erased, found
    HugeArray<uint8_t> outcomes; // what a contestant says instead
    HugeArray<Key> found;        // values of finds; others are left as they are
    uint64_t n;
    int threads;
    Batch(uint64_t count, int many)
        : keys(count, many), values(count, many), operations(count, many), success(count, many),
          outcomes(count, many), found(count, many), n(count), threads(many)
    {
    }
};

struct Mixed {
    virtual ~Mixed() = default;
    // Into the empty table. Not timed.
    virtual void fill(const Key *keys, const Key *values, uint64_t n, int threads) = 0;
    virtual void run(const Batch &b) = 0;
    // Whether an outcome that it has written says that a key was inserted, erased or found.
    virtual bool is_success(uint8_t outcome) { return outcome != 0; }
};

#ifdef WITH_TBB
template <class Allocator> struct TbbMixed : Mixed {
    using Map = tbb::concurrent_hash_map<Key, Key, tbb::tbb_hash_compare<Key>, Allocator>;
    Map map;
    explicit TbbMixed(uint64_t n) { map.rehash(n); }
    void fill(const Key *keys, const Key *values, uint64_t n, int threads) override
    {
        in_pieces(n, threads, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) map.emplace(keys[i], values[i]);
        });
    }
    bool operate(const Batch &b, uint64_t i)
    {
        if (b.operations[i] == INSERT) return map.emplace(b.keys[i], b.values[i]);
        if (b.operations[i] == ERASE) return map.erase(b.keys[i]);
        typename Map::const_accessor accessor;
        if (!map.find(accessor, b.keys[i])) return false;
        b.found[i] = accessor->second;
        return true;
    }
    void run(const Batch &b) override
    {
        in_pieces(b.n, b.threads, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) b.outcomes[i] = operate(b, i);
        });
    }
};
#endif

#ifdef WITH_BOOST
struct BoostMixed : Mixed {
    boost::concurrent_flat_map<Key, Key> map;
    explicit BoostMixed(uint64_t n) { map.reserve(n + n / 4); }
    void fill(const Key *keys, const Key *values, uint64_t n, int threads) override
    {
        in_pieces(n, threads, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) map.emplace(keys[i], values[i]);
        });
    }
    bool operate(const Batch &b, uint64_t i)
    {
        if (b.operations[i] == INSERT) return map.emplace(b.keys[i], b.values[i]);
        if (b.operations[i] == ERASE) return map.erase(b.keys[i]) != 0;
        return map.cvisit(b.keys[i], [&](const auto &pair) { b.found[i] = pair.second; }) != 0;
    }
    void run(const Batch &b) override
    {
        in_pieces(b.n, b.threads, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) b.outcomes[i] = operate(b, i);
        });
    }
};
#endif

#if defined(WITH_HEDDLE) && defined(HEDDLE_OPERATION_INSERT)
static_assert(INSERT == HEDDLE_OPERATION_INSERT && ERASE == HEDDLE_OPERATION_ERASE &&
              FIND == HEDDLE_OPERATION_FIND);

struct HeddleMixed : Mixed {
    heddle_device *device = nullptr;
    heddle_table *table = nullptr;
    HeddleMixed(uint64_t n, int threads)
    {
        heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
        options.scheme = HEDDLE_SCHEME_SLAB;
        options.capacity = n;
        check(heddle_device_open(("cpu:" + std::to_string(threads)).c_str(), &device));
        check(heddle_table_create(device, &options, &table));
    }
    ~HeddleMixed() override
    {
        heddle_table_destroy(table);
        heddle_device_close(device);
    }
    void fill(const Key *keys, const Key *values, uint64_t n, int) override
    {
        check(heddle_table_insert(table, keys, values, n, nullptr, nullptr, nullptr));
    }
    void run(const Batch &b) override
    {
        heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
        options.outcomes = b.outcomes.data();
        check(heddle_table_mixed(table, b.operations.data(), b.keys.data(), b.values.data(), b.n,
                                 b.found.data(), &options, nullptr, nullptr));
    }
    bool is_success(uint8_t outcome) override
    {
        return outcome == HEDDLE_OUTCOME_INSERTED || outcome == HEDDLE_OUTCOME_FOUND;
    }
    static void check(heddle_status status)
    {
        if (status == HEDDLE_OK) return;
        std::fprintf(stderr, "%s\n", heddle_last_error());
        std::exit(1);
    }
};
#endif
