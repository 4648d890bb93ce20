// Multimaps of 32-bit keys and values on the CPU: Heddle's beside those of the standard library, TBB and
// Boost, in the same run and on the same pairs. Pairs are inserted into an empty table with room for them;
// then all values of every key are fetched, each key once, in a random order.
//
//     heddle-multimap-peers [PAIRS] [COPIES,...] [THREADS] [ROUNDS]
//
// The best of the rounds counts. std and Boost have one writer; all read with all threads. What was
// fetched is summed up, and the sums of all contestants must agree.
#include "contestant.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_map>
#ifdef WITH_BOOST
#include <boost/unordered/unordered_map.hpp>
#endif
#ifdef WITH_TBB
#include <tbb/concurrent_unordered_map.h>
#endif
#ifdef WITH_HEDDLE
#include <heddle/heddle.h>
#endif

namespace
{
using Key = uint32_t;

struct Pairs {
    std::vector<Key> keys, values, distinct;
    int threads;
};

struct Multimap {
    virtual ~Multimap() = default;
    virtual void clear() = 0;
    virtual void insert(const Pairs &p) = 0;
    // The values of all distinct keys, somewhere in `out`; their number.
    virtual uint64_t retrieve(const Pairs &p, std::vector<Key> *out) = 0;
};

// Whatever has equal_range. `several` threads insert where the table allows it.
template <class M> struct Nodes : Multimap {
    M map;
    uint64_t n;
    bool several;
    Nodes(uint64_t pairs, bool many) : n(pairs), several(many) { clear(); }
    void clear() override
    {
        map = M();
        map.rehash(n);
    }
    void insert(const Pairs &p) override
    {
        in_pieces(p.keys.size(), several ? p.threads : 1, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++)
                map.emplace(p.keys[i], p.values[i]);
        });
    }
    uint64_t retrieve(const Pairs &p, std::vector<Key> *out) override
    {
        // Counts, offsets and values, as Heddle gives them.
        std::vector<uint64_t> at(p.distinct.size() + 1);
        in_pieces(p.distinct.size(), p.threads, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++)
                at[i + 1] = map.count(p.distinct[i]);
        });
        for (size_t i = 1; i < at.size(); i++)
            at[i] += at[i - 1];
        in_pieces(p.distinct.size(), p.threads, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) {
                uint64_t to = at[i];
                auto range = map.equal_range(p.distinct[i]);
                for (auto pair = range.first; pair != range.second; ++pair)
                    (*out)[to++] = pair->second;
            }
        });
        return at.back();
    }
};

#ifdef WITH_HEDDLE
void check(heddle_status status)
{
    if (status == HEDDLE_OK)
        return;
    std::fprintf(stderr, "%s\n", heddle_last_error());
    std::exit(1);
}

struct HeddleMultimap : Multimap {
    heddle_device *device = nullptr;
    heddle_table *table = nullptr;
    std::vector<uint64_t> offsets;
    HeddleMultimap(uint32_t scheme, uint32_t bucket, const Pairs &p) : offsets(p.distinct.size() + 1)
    {
        heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
        options.container = HEDDLE_CONTAINER_MULTIMAP;
        options.scheme = scheme;
        options.bucket = bucket;
        options.capacity = p.keys.size();
        check(heddle_device_open(("cpu:" + std::to_string(p.threads)).c_str(), &device));
        check(heddle_table_create(device, &options, &table));
    }
    ~HeddleMultimap() override
    {
        heddle_table_destroy(table);
        heddle_device_close(device);
    }
    void clear() override { check(heddle_table_clear(table, nullptr)); }
    void insert(const Pairs &p) override
    {
        check(heddle_table_insert(table, p.keys.data(), p.values.data(), p.keys.size(), nullptr,
                                  nullptr, nullptr));
    }
    uint64_t retrieve(const Pairs &p, std::vector<Key> *out) override
    {
        uint64_t count = 0;
        check(heddle_table_retrieve(table, p.distinct.data(), p.distinct.size(), offsets.data(),
                                    out->data(), out->size(), &count, nullptr));
        return count;
    }
};
#endif

Pairs make_pairs(uint64_t n, uint64_t copies, int threads)
{
    Pairs p;
    std::mt19937 random(7);
    p.threads = threads;
    for (uint64_t i = 0; i < (n + copies - 1) / copies; i++)
        p.distinct.push_back((Key)(i * 2654435761u + 12345));
    for (uint64_t i = 0; i < n; i++) {
        p.keys.push_back(p.distinct[i / copies]);
        p.values.push_back((Key)i);
    }
    std::shuffle(p.keys.begin(), p.keys.end(), random);
    std::shuffle(p.distinct.begin(), p.distinct.end(), random);
    return p;
}

double seconds_now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void measure(const char *name, Multimap *map, const Pairs &p, int rounds, uint64_t copies)
{
    double insert = 1e9, retrieve = 1e9;
    std::vector<Key> out(p.keys.size());
    uint64_t sum = 0, count = 0;
    for (int r = 0; r < rounds; r++) {
        map->clear();
        double begin = seconds_now();
        map->insert(p);
        insert = std::min(insert, seconds_now() - begin);
        begin = seconds_now();
        count = map->retrieve(p, &out);
        retrieve = std::min(retrieve, seconds_now() - begin);
    }
    for (Key value : out)
        sum += value;
    uint64_t n = p.keys.size();
    std::printf("%-28s %6llu %10.2f %10.2f  %s\n", name, (unsigned long long)copies,
                (double)n / insert / 1e6, (double)n / retrieve / 1e6,
                count == n && sum == n * (n - 1) / 2 ? "right" : "WRONG");
    std::fflush(stdout);
}
} // namespace

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4u << 20;
    std::string list = argc > 2 ? argv[2] : "1,32";
    int threads = argc > 3 ? std::atoi(argv[3]) : 2, rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    std::printf("%llu pairs of u32, %d threads, best of %d, million pairs/s\n",
                (unsigned long long)n, threads, rounds);
    std::printf("%-28s %6s %10s %10s\n", "", "copies", "insert", "retrieve");
    for (size_t at = 0; at < list.size(); at = list.find(',', at) == std::string::npos
                                                   ? list.size()
                                                   : list.find(',', at) + 1) {
        uint64_t copies = std::strtoull(list.c_str() + at, nullptr, 10);
        Pairs p = make_pairs(n, copies, threads);
#ifdef WITH_HEDDLE
        {
            HeddleMultimap map(HEDDLE_SCHEME_OPEN, 0, p);
            measure("heddle open", &map, p, rounds, copies);
        }
        {
            HeddleMultimap map(HEDDLE_SCHEME_OPEN, 16, p);
            measure("heddle open, windows of 16", &map, p, rounds, copies);
        }
        {
            HeddleMultimap map(HEDDLE_SCHEME_HASHGRAPH, 0, p);
            measure("heddle hashgraph", &map, p, rounds, copies);
        }
#endif
        {
            Nodes<std::unordered_multimap<Key, Key>> map(n, false);
            measure("std, one writer", &map, p, rounds, copies);
        }
#ifdef WITH_TBB
        {
            Nodes<tbb::concurrent_unordered_multimap<Key, Key>> map(n, true);
            measure("tbb concurrent", &map, p, rounds, copies);
        }
#endif
#ifdef WITH_BOOST
        {
            Nodes<boost::unordered_multimap<Key, Key>> map(n, false);
            measure("boost, one writer", &map, p, rounds, copies);
        }
#endif
    }
}
