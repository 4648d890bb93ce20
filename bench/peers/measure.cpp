#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <sstream>
#include <unistd.h>

const char *const op_names[op_count] = {"build", "insert", "find", "miss"};

double median(std::vector<double> numbers)
{
    if (numbers.empty())
        return 0;
    std::sort(numbers.begin(), numbers.end());
    size_t middle = numbers.size() / 2;
    return numbers.size() % 2 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

double Row::rate(Op op) const
{
    return median(rates[op]);
}
double Results::roof() const
{
    return median(roofs);
}

template <class F> static double million_a_second(uint64_t n, F f)
{
    auto start = std::chrono::steady_clock::now();
    f();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return double(n) / seconds.count() / 1e6;
}

// The machine's own limit: for every query, taken in order, one random 64-byte line of memory as
// large as the pairs at load 0.8, fetched 32 queries ahead. A find that needs one line a key can
// come near to it, and none that has to leave the cache for each key can pass it.
template <class K> class Roof
{
  public:
    explicit Roof(const Workload<K> &work)
        : work_(work), lines_(work.n * 2 * sizeof(K) * 10 / 8 / 64 + 1, work.threads)
    {
    }
    double bytes() const
    {
        return double(lines_.bytes());
    }

    double measure() const
    {
        constexpr uint64_t ahead = 32;
        const K *queries = work_.queries.data();
        uint64_t sum = 0;
        double rate = million_a_second(work_.n, [&] {
            in_pieces(work_.n, work_.threads, [&](uint64_t begin, uint64_t end) {
                uint64_t part = 0;
                for (uint64_t i = begin; i < end; i++) {
                    if (i + ahead < end)
                        __builtin_prefetch(line(queries[i + ahead]));
                    part += line(queries[i])->word[0];
                }
                __atomic_fetch_add(&sum, part, __ATOMIC_RELAXED);
            });
        });
        if (sum != 0) // never: keeps the reads alive
            fprintf(stderr, "the roof's memory changed\n");
        return rate;
    }

  private:
    struct alignas(64) Line {
        uint64_t word[8];
    };
    const Line *line(K key) const // queries are random already
    {
        return &lines_[uint64_t((unsigned __int128)key * lines_.size() >> 8 * sizeof(K))];
    }
    const Workload<K> &work_;
    HugeArray<Line> lines_;
};

// One contestant's tables: made, and built once to touch its memory, when first used.
template <class K> class Runner
{
  public:
    Runner(Entry<K> entry, const Workload<K> &work) : entry_(std::move(entry)), work_(work)
    {
        row.name = entry_.name;
        row.note = entry_.note;
        row.kind = entry_.kind;
    }

    void round(bool keep)
    {
        if (!row.error.empty())
            return;
        try {
            if (!table_)
                warm_up();
            table_->clear();
            time(op_build, [&] { table_->build(work_.keys.data(), work_.values.data(), work_.n); });
            find_all();
            if (table_->has_insert()) {
                table_->clear();
                time(op_insert,
                     [&] { table_->insert(work_.keys.data(), work_.values.data(), work_.n); });
                find_all();
            }
        } catch (const std::exception &failure) {
            row.error = failure.what();
            row.verified = false;
            table_.reset();
        }
        if (!keep)
            discard();
    }

    void discard()
    {
        table_.reset();
        malloc_returns_memory();
    }

    Row row;

  private:
    template <class F> void time(Op op, F f)
    {
        row.rates[op].push_back(million_a_second(work_.n, f));
    }

    void warm_up()
    {
        MemoryUse before = memory_use();
        table_ = entry_.make(work_);
        table_->build(work_.keys.data(), work_.values.data(), work_.n);
        MemoryUse after = memory_use();
        double n = double(work_.n), resident = double(after.resident) - double(before.resident);
        uint64_t own = table_->bytes();
        row.bytes = (own ? double(own) : double(after.heap) - double(before.heap)) / n;
        row.resident = resident / n;
        row.huge = 0;
        if (resident > 0) // above 1 when the kernel merged pages of others meanwhile
            row.huge = std::min(1.0, (double(after.huge) - double(before.huge)) / resident);
        std::string detail = table_->detail();
        if (!detail.empty())
            row.note = detail + "; " + entry_.note;
    }

    void find_all()
    {
        work_.wipe_answers();
        time(op_find, [&] { table_->find(work_.queries.data(), work_.n, work_.answers.data()); });
        row.verified &= work_.all_found();
        work_.wipe_answers();
        time(op_miss, [&] { table_->find(work_.absent.data(), work_.n, work_.answers.data()); });
        row.verified &= work_.all_missed();
    }

    Entry<K> entry_;
    const Workload<K> &work_;
    std::unique_ptr<Contestant<K>> table_;
};

// Whether a text of `list` (separated by commas) is part of `name`; an empty list has all names.
static bool chosen(const std::string &name, const std::string &list)
{
    std::stringstream texts(list);
    std::string text;
    bool found = list.empty();
    while (std::getline(texts, text, ','))
        found |= !text.empty() && name.find(text) != std::string::npos;
    return found;
}

template <class K> Results measure(const Settings &settings)
{
    // All tables at once need about this much for each byte of pairs; else one at a time.
    constexpr double tables = 40;
    uint64_t pairs = settings.n * 2 * sizeof(K);
    bool fresh = settings.fresh || double(pairs) * tables > 0.7 * double(memory_available());

    Workload<K> work(settings.n, settings.threads);
    Roof<K> roof(work);
    std::vector<Runner<K>> runners;
    for (Entry<K> &entry : contestants<K>(settings.load, settings.n <= uint64_t(1) << 22))
        if (chosen(entry.name, settings.only))
            runners.emplace_back(std::move(entry), work);

    Results results;
    results.roof_bytes = roof.bytes();
    results.fresh = fresh;
    for (int round = 0; round < settings.repeat; round++) {
        for (size_t i = 0; i < runners.size(); i++) {
            // A different start in every round: nobody always follows the same neighbour.
            Runner<K> &runner = runners[(i + size_t(round)) % runners.size()];
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[Kround %d of %d: %s", round + 1, settings.repeat,
                        runner.row.name.c_str());
            results.roofs.push_back(roof.measure()); // beside everybody: it sees the same noise
            runner.round(!fresh);
        }
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    for (Runner<K> &runner : runners)
        results.rows.push_back(runner.row);
    return results;
}

template Results measure<uint32_t>(const Settings &);
template Results measure<uint64_t>(const Settings &);
