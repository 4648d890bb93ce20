// What every table in the comparison looks like to the stop-watch: one virtual call for a whole
// batch, so that nothing of the harness is inside a loop that is timed. K is the type of keys and
// values alike.
#pragma once

#include "workload.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

enum class Kind {
    heddle,
    concurrent_peer, // several threads may build it: what Heddle is measured against
    plain,           // the baseline written here
    single_writer,   // built by one thread, read by all
};

template <class K> class Contestant
{
  public:
    virtual ~Contestant() = default;
    // Empties the table and leaves it with room for n keys in touched memory. Not timed.
    virtual void clear() = 0;
    // Into the empty table.
    virtual void build(const K *keys, const K *values, uint64_t n) = 0;
    // A second way to fill the empty table, for those that have two.
    virtual bool has_insert() const
    {
        return false;
    }
    virtual void insert(const K *, const K *, uint64_t)
    {
    }
    // Writes the value of queries[i] to answers[i]; leaves it alone when there is none.
    virtual void find(const K *queries, uint64_t n, K *answers) = 0;
    // All memory of the table in bytes; 0 when malloc knows.
    virtual uint64_t bytes()
    {
        return 0;
    }
    // What the table calls itself, beyond its name here.
    virtual std::string detail()
    {
        return "";
    }
};

template <class K> struct Entry {
    std::string name;
    Kind kind;
    std::string note; // anything that a reader of the figures should know
    std::function<std::unique_ptr<Contestant<K>>(const Workload<K> &)> make;
};

// The contestants compiled in. `load` is Heddle's; `small` also lists those that are too slow or
// too large for many keys.
template <class K> std::vector<Entry<K>> contestants(double load, bool small);

// Calls f(begin, end) for pieces of [0, n) on `threads` threads. Pieces are handed out on demand:
// on a shared machine one of two fixed halves would often wait for the other.
template <class F> void in_pieces(uint64_t n, int threads, F f)
{
    constexpr uint64_t piece = 8192;
    uint64_t pieces = (n + piece - 1) / piece;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (uint64_t p = 0; p < pieces; p++)
        f(p * piece, p * piece + piece < n ? p * piece + piece : n);
}
