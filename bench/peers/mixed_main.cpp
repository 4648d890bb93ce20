// heddle-mixed-peers: insertions, erasures and finds at the same time, by Heddle's slab hash and by the
// concurrent tables of TBB and Boost, on the same batches in one run. See README.md.
//
//     heddle-mixed-peers [KEYS [THREADS [ROUNDS]]]
#include "mixed_contestants.h"

#include <algorithm>
#include <chrono>

namespace
{
constexpr uint64_t batch_size = 1 << 20;
constexpr int shares[] = {100, 40, 20}; // percent of operations that change the table

// The table always holds the keys of the numbers [low, high). Batches erase from below, insert above,
// and find keys in between or far away.
struct Contents {
    uint64_t low = 0, high;
};

struct Entrant {
    const char *name;
    std::unique_ptr<Mixed> map;
    std::vector<double> seconds[std::size(shares)];
    bool right = true;
};

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return uint64_t((unsigned __int128)mix(++*state) * bound >> 64);
}

void put(Batch *b, uint64_t i, Operation operation, uint64_t number, bool success)
{
    b->keys[i] = mix(Key(number));
    b->values[i] = value_of(b->keys[i]);
    b->operations[i] = operation;
    b->success[i] = success;
}

void swap_operations(Batch *b, uint64_t i, uint64_t j)
{
    std::swap(b->keys[i], b->keys[j]);
    std::swap(b->values[i], b->values[j]);
    std::swap(b->operations[i], b->operations[j]);
    std::swap(b->success[i], b->success[j]);
}

void make_batch(Batch *b, int share, Contents *contents, uint64_t *state)
{
    const uint64_t changes = b->n * share / 200, absent = uint64_t(1) << 31;
    const uint64_t low = contents->low + changes, stay = contents->high - low;
    for (uint64_t i = 0; i < b->n; i++) {
        if (i < changes) put(b, i, INSERT, contents->high + i, true);
        else if (i < 2 * changes) put(b, i, ERASE, contents->low + i - changes, true);
        else if (i % 2) put(b, i, FIND, low + random_below(state, stay), true);
        else put(b, i, FIND, absent + random_below(state, absent), false);
    }
    for (uint64_t i = b->n - 1; i > 0; i--) swap_operations(b, i, random_below(state, i + 1));
    contents->low += changes;
    contents->high += changes;
}

bool is_right(const Batch &b, Mixed *map)
{
    for (uint64_t i = 0; i < b.n; i++) {
        const bool found = b.operations[i] == FIND && b.success[i];
        if (map->is_success(b.outcomes[i]) != bool(b.success[i])) return false;
        if (b.found[i] != (found ? value_of(b.keys[i]) : nothing<Key>)) return false;
    }
    return true;
}

double seconds_now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void take_turn(Entrant *c, size_t share, const Batch &b)
{
    std::fill_n(b.found.data(), b.n, nothing<Key>);
    std::fill_n(b.outcomes.data(), b.n, uint8_t(0xee));
    const double begin = seconds_now();
    c->map->run(b);
    c->seconds[share].push_back(seconds_now() - begin);
    c->right = c->right && is_right(b, c->map.get());
}

std::vector<Entrant> make_contestants(uint64_t n, int threads)
{
    std::vector<Entrant> all;
    auto add = [&](const char *name, Mixed *map) {
        all.emplace_back();
        all.back().name = name;
        all.back().map.reset(map);
    };
#if defined(WITH_HEDDLE) && defined(HEDDLE_OPERATION_INSERT)
    add("heddle slab", new HeddleMixed(n, threads));
#endif
#ifdef WITH_TBB
    add("tbb", new TbbMixed<tbb::tbb_allocator<std::pair<const Key, Key>>>(n));
    add("tbb, malloc", new TbbMixed<std::allocator<std::pair<const Key, Key>>>(n));
#endif
#ifdef WITH_BOOST
    add("boost", new BoostMixed(n));
#endif
    HugeArray<Key> keys(n, threads), values(n, threads);
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = mix(Key(i));
        values[i] = value_of(keys[i]);
    }
    for (Entrant &c : all) c.map->fill(keys.data(), values.data(), n, threads);
    return all;
}

// Of all rounds but the first, in which memory is touched.
double rate(const std::vector<double> &seconds)
{
    double sum = 0;
    for (size_t r = 1; r < seconds.size(); r++) sum += seconds[r];
    return double(batch_size) * double(seconds.size() - 1) / sum / 1e6;
}

bool report(const std::vector<Entrant> &all)
{
    bool right = true;
    double best_tbb[std::size(shares)] = {};
    for (const Entrant &c : all)
        for (size_t s = 0; s < std::size(shares) && !std::string(c.name).compare(0, 3, "tbb"); s++)
            best_tbb[s] = std::max(best_tbb[s], rate(c.seconds[s]));
    for (const Entrant &c : all) {
        std::printf("%-14s", c.name);
        for (size_t s = 0; s < std::size(shares); s++)
            std::printf(" %9.2f (%5.2f)", rate(c.seconds[s]), rate(c.seconds[s]) / best_tbb[s]);
        std::printf("  %s\n", c.right ? "right" : "WRONG");
        right = right && c.right;
    }
    return right;
}
} // namespace

int main(int argc, char **argv)
{
    start_with_huge_malloc(argv);
    malloc_keeps_memory();
    const uint64_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : uint64_t(1) << 22;
    const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 12;
    if (n < batch_size || n > uint64_t(1) << 29 || threads < 1 || rounds < 1 || rounds > 400) {
        std::fprintf(stderr, "usage: heddle-mixed-peers [KEYS, 2^20 to 2^29 [THREADS [ROUNDS]]]\n");
        return 2;
    }
    std::vector<Entrant> all = make_contestants(n, threads);
    Batch batch(batch_size, threads);
    Contents contents{0, n};
    uint64_t state = 7;
    for (int r = 0; r <= rounds; r++)
        for (size_t s = 0; s < std::size(shares); s++) {
            make_batch(&batch, shares[s], &contents, &state);
            for (size_t c = 0; c < all.size(); c++)
                take_turn(&all[(c + size_t(r)) % all.size()], s, batch);
        }
    std::printf("%llu pairs of u32, batches of %llu, %d threads, %d rounds: million operations/s "
                "(ratio to the best of TBB)\n%-14s",
                (unsigned long long)n, (unsigned long long)batch_size, threads, rounds, "updates");
    for (int share : shares) std::printf("            %3d %%", share);
    std::printf("\n");
    return report(all) ? 0 : 1;
}
