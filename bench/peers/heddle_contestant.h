// Heddle through its public C interface, on "cpu:T", in a table that never grows.
#pragma once

#include "contestant.h"

#include <heddle/heddle.h>
#include <stdexcept>

template <class K> class Heddle : public Contestant<K>
{
  public:
    Heddle(const Workload<K> &work, double load)
    {
        heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
        options.key_bits = options.value_bits = 8 * sizeof(K);
        options.flags = HEDDLE_FLAG_FIXED;
        options.capacity = work.n;
        options.load = load;
        check(heddle_device_open(("cpu:" + std::to_string(work.threads)).c_str(), &device_));
        check(heddle_table_create(device_, &options, &table_));
        // All contestants have their memory beforehand; this is Heddle's for building.
        check(heddle_table_build_workspace(table_, work.n, &options_.workspace_bytes));
        check(heddle_memory_allocate(device_, options_.workspace_bytes + 1, &options_.workspace));
    }
    ~Heddle() override
    {
        heddle_table_destroy(table_);
        heddle_memory_free(device_, options_.workspace);
        heddle_device_close(device_);
    }
    void clear() override
    {
        check(heddle_table_clear(table_, nullptr));
    }
    void build(const K *keys, const K *values, uint64_t n) override // empties the table itself, too
    {
        check(heddle_table_build(table_, keys, values, n, &options_, nullptr, nullptr));
    }
    bool has_insert() const override
    {
        return true;
    }
    void insert(const K *keys, const K *values, uint64_t n) override
    {
        check(heddle_table_insert(table_, keys, values, n, &options_, nullptr, nullptr));
    }
    void find(const K *queries, uint64_t n, K *answers) override
    {
        check(heddle_table_find(table_, queries, n, answers, nullptr, nullptr, nullptr));
    }
    uint64_t bytes() override
    {
        heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
        check(heddle_table_get_stats(table_, &stats, nullptr));
        return stats.bytes_total;
    }
    std::string detail() override
    {
        heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
        heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
        check(heddle_table_get_options(table_, &options));
        check(heddle_device_get_info(device_, &info));
        return std::string(heddle_table_instance(table_)) + ", " + std::to_string(options.hashes) +
               " hashes, " + info.features + ", version " + heddle_version_string();
    }

  private:
    static void check(heddle_status status)
    {
        if (status != HEDDLE_OK)
            throw std::runtime_error(std::string(heddle_status_string(status)) + ": " +
                                     heddle_last_error());
    }

    heddle_device *device_ = nullptr;
    heddle_table *table_ = nullptr;
    heddle_insert_options options_ = HEDDLE_INSERT_OPTIONS_INIT;
};
