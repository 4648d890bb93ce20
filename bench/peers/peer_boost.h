// boost::concurrent_flat_map with bulk visit, which hashes and prefetches 16 keys at a time.
#pragma once

#include "contestant.h"

#include <boost/unordered/concurrent_flat_map.hpp>

template <class K> class BoostConcurrentFlatMap : public Contestant<K>
{
  public:
    explicit BoostConcurrentFlatMap(const Workload<K> &work) : threads_(work.threads)
    {
        map_.reserve(work.n);
    }
    void clear() override
    {
        map_.clear();
    } // keeps its arrays

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
            // The visitor is told the element, not which query it answers. Elements come in the
            // order of the queries, so the place is mostly the next one; the search finds it in
            // any case. Writing answers, as all contestants do, costs Boost about a quarter of the
            // rate of a visitor that only sums, be it with this search or without.
            uint64_t at = begin;
            const auto &map = map_;
            map.visit(queries + begin, queries + end, [&](const auto &pair) {
                while (queries[at] != pair.first)
                    at = at + 1 == end ? begin : at + 1;
                answers[at] = pair.second;
                at = at + 1 == end ? begin : at + 1;
            });
        });
    }

  private:
    boost::concurrent_flat_map<K, K> map_;
    int threads_;
};
