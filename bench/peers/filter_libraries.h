// Filters of libraries, each where it was found when this was built.
#pragma once

#include "filter_contestant.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#ifdef WITH_HEDDLE
#include <heddle/heddle.h>

struct HeddleFilter : FilterContestant {
    heddle_device *device = nullptr;
    heddle_filter *filter = nullptr;

    static void check(heddle_status status)
    {
        if (status == HEDDLE_OK) return;
        fprintf(stderr, "heddle: %s\n", heddle_last_error());
        exit(1);
    }
    HeddleFilter(uint64_t n, double bits_per_key, int threads)
    {
        heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
        options.capacity = n;
        options.bits_per_key = bits_per_key;
        name = "Heddle";
        check(heddle_device_open(("cpu:" + std::to_string(threads)).c_str(), &device));
        check(heddle_filter_create(device, &options, &filter));
    }
    ~HeddleFilter() override
    {
        heddle_filter_destroy(filter);
        heddle_device_close(device);
    }
    void clear() override
    {
        check(heddle_filter_clear(filter, NULL));
    }
    void add(const uint32_t *keys, uint64_t n, int) override
    {
        check(heddle_filter_add(filter, keys, n, NULL));
    }
    void contains(const uint32_t *keys, uint64_t n, uint8_t *found, int) override
    {
        check(heddle_filter_contains(filter, keys, n, found, NULL, NULL));
    }
    uint64_t bytes() const override
    {
        heddle_filter_stats stats = HEDDLE_FILTER_STATS_INIT;
        check(heddle_filter_get_stats(filter, &stats, NULL));
        return stats.bits / 8;
    }
};
#endif

#ifdef WITH_LIBBLOOM
#include <bloom.h>

// Is told a rate instead of bits: the one that a filter without blocks has with so many bits. One writer.
struct LibBloom : FilterContestant {
    bloom filter;

    LibBloom(uint64_t n, double bits_per_key, int)
    {
        name = "libbloom, one writer";
        if (bloom_init(&filter, int(n), exp(-bits_per_key * 0.4804)) != 0) exit(1);
    }
    ~LibBloom() override
    {
        bloom_free(&filter);
    }
    void clear() override
    {
        bloom_reset(&filter);
    }
    void add(const uint32_t *keys, uint64_t n, int) override
    {
        for (uint64_t k = 0; k < n; k++) bloom_add(&filter, &keys[k], sizeof keys[k]);
    }
    void contains(const uint32_t *keys, uint64_t n, uint8_t *found, int threads) override
    {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (uint64_t k = 0; k < n; k++)
            found[k] = uint8_t(bloom_check(&filter, &keys[k], sizeof keys[k]));
    }
    uint64_t bytes() const override
    {
        return uint64_t(filter.bytes);
    }
};
#endif

#ifdef WITH_PARQUET
#include <arrow/memory_pool.h>
#include <parquet/bloom_filter.h>

// The split block filter of Parquet: blocks of 256 bits, 8 hashes. The size is a power of two. One writer.
struct ParquetFilter : FilterContestant {
    parquet::BlockSplitBloomFilter filter;
    uint32_t size;

    ParquetFilter(uint64_t n, double bits_per_key, int)
    {
        size = 32;
        while (double(size) * 8 < double(n) * bits_per_key) size *= 2;
        name = "parquet::BlockSplitBloomFilter, one writer";
        filter.Init(size);
    }
    void clear() override
    {
        filter.Init(size);
    }
    void add(const uint32_t *keys, uint64_t n, int) override
    {
        for (uint64_t k = 0; k < n; k++) filter.InsertHash(mix(uint64_t(keys[k])));
    }
    void contains(const uint32_t *keys, uint64_t n, uint8_t *found, int threads) override
    {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (uint64_t k = 0; k < n; k++) found[k] = filter.FindHash(mix(uint64_t(keys[k])));
    }
    uint64_t bytes() const override
    {
        return size;
    }
};
#endif
