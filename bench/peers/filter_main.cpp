// heddle-filter-peers [KEYS [BITS_PER_KEY [THREADS [ROUNDS]]]]: Bloom filters beside each other on the CPU:
// all take turns, the median of the rounds counts, every answer is checked.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "filter_libraries.h"

struct Score {
    std::vector<double> add, hit, miss; // million keys a second
    double rate = 0;                    // of false positives
    bool right = true;
};

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

template <class F> static double rate_of(uint64_t n, F run)
{
    const double begin = omp_get_wtime();
    run();
    return double(n) / (omp_get_wtime() - begin) / 1e6;
}

static void take_turn(FilterContestant &c, const Workload<uint32_t> &w, uint8_t *found, Score *s,
                      bool counts)
{
    uint64_t lost = 0, extra = 0;
    c.clear();
    const double add = rate_of(w.n, [&] { c.add(w.keys.data(), w.n, w.threads); });
    memset(found, 7, w.n);
    const double hit = rate_of(w.n, [&] { c.contains(w.queries.data(), w.n, found, w.threads); });
    for (uint64_t i = 0; i < w.n; i++) lost += found[i] != 1;
    const double miss = rate_of(w.n, [&] { c.contains(w.absent.data(), w.n, found, w.threads); });
    for (uint64_t i = 0; i < w.n; i++) extra += found[i];
    s->right = s->right && lost == 0;
    s->rate = double(extra) / double(w.n);
    if (!counts) return;
    s->add.push_back(add);
    s->hit.push_back(hit);
    s->miss.push_back(miss);
}

static std::vector<std::unique_ptr<FilterContestant>> contestants(uint64_t n, double bits,
                                                                  int threads)
{
    std::vector<std::unique_ptr<FilterContestant>> all;
#ifdef WITH_HEDDLE
    all.emplace_back(new HeddleFilter(n, bits, threads));
#endif
#ifdef WITH_PARQUET
    all.emplace_back(new ParquetFilter(n, bits, threads));
#endif
#ifdef WITH_LIBBLOOM
    all.emplace_back(new LibBloom(n, bits, threads));
#endif
    all.emplace_back(new BlockedFilter<true>(n, bits, threads));
    all.emplace_back(new BlockedFilter<false>(n, bits, threads));
    all.emplace_back(new TextbookFilter(n, bits, threads));
    return all;
}

int main(int argc, char **argv)
{
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : UINT64_C(1) << 25;
    const double bits = argc > 2 ? atof(argv[2]) : 16;
    const int threads = argc > 3 ? atoi(argv[3]) : omp_get_max_threads();
    const int rounds = argc > 4 ? atoi(argv[4]) : 5;
    const Workload<uint32_t> work(n, threads);
    const HugeArray<uint8_t> found(n, threads);
    const auto all = contestants(n, bits, threads);
    std::vector<Score> scores(all.size());
    bool right = true;
    for (int round = -1; round < rounds; round++) // the first warms up
        for (size_t i = 0; i < all.size(); i++) {
            const size_t turn = (i + size_t(round + 1)) % all.size();
            take_turn(*all[turn], work, found.data(), &scores[turn], round >= 0);
        }
    printf("# %llu keys of 32 bits, %g bits a key, %d threads, median of %d rounds\n",
           (unsigned long long)n, bits, threads, rounds);
    printf("filter,add_mops,contains_mops,miss_mops,bits_per_key,false_positives,right\n");
    for (size_t i = 0; i < all.size(); i++) {
        const Score &s = scores[i];
        printf("\"%s\",%.1f,%.1f,%.1f,%.1f,%.3g,%s\n", all[i]->name.c_str(), median(s.add),
               median(s.hit), median(s.miss), double(all[i]->bytes()) * 8 / double(n), s.rate,
               s.right ? "true" : "false");
        right = right && s.right;
    }
    return right ? 0 : 1;
}
