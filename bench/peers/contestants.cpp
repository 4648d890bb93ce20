// The list of contestants: what was found at build time, in the order of the report.
#include "contestant.h"
#include "linear_probing.h"

#ifdef WITH_HEDDLE
#include "heddle_contestant.h"
#endif
#ifdef WITH_BOOST
#include "peer_boost.h"
#endif
#ifdef WITH_TBB
#include "peer_tbb.h"
#endif
#ifdef WITH_KHASH
#include "peer_khash.h"
#endif
#include "peer_single_writer.h"
#ifdef WITH_ROBIN_MAP
#include <tsl/robin_map.h>
#endif
#ifdef WITH_SPARSEHASH
#include <sparsehash/dense_hash_map>
#endif
#ifdef WITH_ABSL
#include <absl/container/flat_hash_map.h>
#endif
#include <unordered_map>

// An entry whose table is made from the workload and further arguments.
template <class Table, class K, class... Args>
static Entry<K> entry(const char *name, Kind kind, const char *note, Args... args)
{
    return {name, kind, note,
            [=](const Workload<K> &work) { return std::make_unique<Table>(work, args...); }};
}

template <class K> std::vector<Entry<K>> contestants(double load, bool small)
{
    std::vector<Entry<K>> all;
    (void)load;
#ifdef WITH_HEDDLE
    all.push_back(
        entry<Heddle<K>, K>("heddle", Kind::heddle, "build includes emptying the table", load));
#endif
#ifdef WITH_BOOST
    all.push_back(entry<BoostConcurrentFlatMap<K>, K>(
        "boost::concurrent_flat_map", Kind::concurrent_peer, "finds by bulk visit"));
#endif
#ifdef WITH_TBB
    all.push_back(entry<TbbConcurrentHashMap<K>, K>(
        "tbb::concurrent_hash_map", Kind::concurrent_peer,
        "clear frees; malloc keeps the memory warm; nodes from malloc"));
#endif
    all.push_back(entry<LinearProbing<K, 0>, K>("folklore, load 0.5", Kind::concurrent_peer,
                                                "growt's algorithm rewritten: CAS, no prefetch",
                                                0.5));
    all.push_back(entry<LinearProbing<K, 16>, K>("plain linear probing, 0.5", Kind::plain,
                                                 "16 prefetches; reserved key; never grows", 0.5));
    all.push_back(entry<LinearProbing<K, 16>, K>("plain linear probing, 0.8", Kind::plain,
                                                 "16 prefetches; reserved key; never grows", 0.8));
#ifdef WITH_ROBIN_MAP
    using Robin = tsl::robin_map<K, K>;
    all.push_back(entry<SingleWriter<K, Robin, ClearKeepsMemory>, K>("tsl::robin_map",
                                                                     Kind::single_writer, ""));
#endif
#ifdef WITH_SPARSEHASH
    using Dense = google::dense_hash_map<K, K>;
    all.push_back(entry<SingleWriter<K, Dense, DenseHashMap>, K>(
        "google::dense_hash_map", Kind::single_writer, "reserved key"));
#endif
#ifdef WITH_ABSL
    using Absl = absl::flat_hash_map<K, K>;
    all.push_back(entry<SingleWriter<K, Absl, ClearFreesMemory>, K>(
        "absl::flat_hash_map", Kind::single_writer, "clear frees; malloc keeps the memory warm"));
#endif
#ifdef WITH_KHASH
    all.push_back(entry<Khash<K>, K>("khash", Kind::single_writer, ""));
#endif
    using Std = std::unordered_map<K, K>;
    if (small)
        all.push_back(entry<SingleWriter<K, Std, ClearKeepsMemory>, K>(
            "std::unordered_map", Kind::single_writer,
            "nodes freed by clear, kept warm by malloc"));
    return all;
}

template std::vector<Entry<uint32_t>> contestants<uint32_t>(double, bool);
template std::vector<Entry<uint64_t>> contestants<uint64_t>(double, bool);
