// tbb::concurrent_hash_map: a lock a bucket, a node an element. With malloc for its nodes instead
// of TBB's own allocator, so that it runs on huge pages and its memory can be counted like the
// others'.
#pragma once

#include "contestant.h"

#include <tbb/concurrent_hash_map.h>

template <class K> class TbbConcurrentHashMap : public Contestant<K>
{
  public:
    explicit TbbConcurrentHashMap(const Workload<K> &work) : n_(work.n), threads_(work.threads)
    {
        map_.rehash(n_);
    }

    void clear() override
    {
        map_.clear(); // frees everything; malloc keeps it for the next round
        map_.rehash(n_);
    }

    void build(const K *keys, const K *values, uint64_t n) override
    {
        in_pieces(n, threads_, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++)
                map_.emplace(keys[i], values[i]);
        });
    }

    void find(const K *queries, uint64_t n, K *answers) override
    {
        in_pieces(n, threads_, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) {
                typename Map::const_accessor accessor;
                if (map_.find(accessor, queries[i]))
                    answers[i] = accessor->second;
            }
        });
    }

  private:
    using Map = tbb::concurrent_hash_map<K, K, tbb::tbb_hash_compare<K>,
                                         std::allocator<std::pair<const K, K>>>;
    Map map_;
    uint64_t n_;
    int threads_;
};
