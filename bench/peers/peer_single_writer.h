// The tables with the interface of std::unordered_map. One thread builds them, all read them. Their
// default hash and load are kept: the keys are random, so the identity that most of them use is
// as good as it gets for them.
#pragma once

#include "contestant.h"

template <class K, class Map> struct ClearKeepsMemory {
    static void prepare(Map &map, const Workload<K> &work)
    {
        map.reserve(work.n);
    }
    static void clear(Map &map, uint64_t)
    {
        map.clear();
    }
};

// absl frees its arrays; malloc keeps them for the reserve that follows.
template <class K, class Map> struct ClearFreesMemory : ClearKeepsMemory<K, Map> {
    static void clear(Map &map, uint64_t n)
    {
        map.clear();
        map.reserve(n);
    }
};

template <class K, class Map> struct DenseHashMap {
    static void prepare(Map &map, const Workload<K> &work)
    {
        map.set_empty_key(work.reserved);
        map.resize(work.n);
    }
    static void clear(Map &map, uint64_t)
    {
        map.clear_no_resize();
    }
};

template <class K, class Map, template <class, class> class Policy>
class SingleWriter : public Contestant<K>
{
  public:
    explicit SingleWriter(const Workload<K> &work) : n_(work.n), threads_(work.threads)
    {
        Policy<K, Map>::prepare(map_, work);
    }
    void clear() override
    {
        Policy<K, Map>::clear(map_, n_);
    }

    void build(const K *keys, const K *values, uint64_t n) override
    {
        for (uint64_t i = 0; i < n; i++)
            map_.insert({keys[i], values[i]});
    }

    void find(const K *queries, uint64_t n, K *answers) override
    {
        in_pieces(n, threads_, [&](uint64_t begin, uint64_t end) {
            const Map &map = map_;
            const auto none = map.end();
            for (uint64_t i = begin; i < end; i++) {
                auto hit = map.find(queries[i]);
                if (hit != none)
                    answers[i] = hit->second;
            }
        });
    }

  private:
    Map map_;
    uint64_t n_;
    int threads_;
};
