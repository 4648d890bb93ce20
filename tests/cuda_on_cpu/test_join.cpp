/*
 * test_join.cpp: the kernels of joins of one kind of pair, run on the CPU by warps.h under random
 * schedules and compared with every pair of rows. A failure names the seed; given as the argument,
 * that seed alone runs.
 */
#include "shim.h"

#define VERTEX_BLOCK 64 /* a fiber a thread: few of them, and few rows */
#define JOIN_ITEMS 3
#include "cuda/relate/join_kernels.h"

#include "sorted_lists.h"

typedef std::pair<uint64_t, uint64_t> match;
typedef std::vector<match> match_list;

struct join_side {
    pair_list list; /* keys and row numbers */
    sorted_list sorted;
};

/* Rows get their numbers here, from `first_row` on. */
static join_side make_side(pair_list list, const hd_mix &mix, uint32_t region_bits,
                           uint64_t first_row)
{
    shuffle(&list);
    for (size_t i = 0; i < list.size(); i++) list[i].second = first_row + i;
    return {list, sort_list(list, &mix, region_bits)};
}

static match_list nested_loops(const join_side &left, const join_side &right)
{
    std::unordered_multimap<hd_key, uint64_t> rows(left.list.begin(), left.list.end());
    match_list matches;
    for (const key_value &r : right.list) {
        const auto range = rows.equal_range(r.first);
        for (auto l = range.first; l != range.second; l++) matches.push_back({l->second, r.second});
    }
    std::sort(matches.begin(), matches.end());
    return matches;
}

/* Every part of a region's left side with every part of its right side, some with nothing. */
static std::vector<hd_join_task> make_tasks(const join_side &left, const join_side &right,
                                            uint32_t region_bits)
{
    std::vector<hd_join_task> tasks;
    for (size_t r = 0; r < (size_t)1 << region_bits; r++) {
        const uint64_t *l = &left.sorted.starts[r], *x = &right.sorted.starts[r];
        const uint64_t most = random_below(3) == 0 ? JOIN_LEFT : 1 + random_below(JOIN_LEFT);
        const uint64_t width = 1 + random_below(3 * VERTEX_BLOCK);
        for (uint64_t a = l[0]; a < l[1]; a += most)
            for (uint64_t b = x[0]; b < x[1]; b += width)
                tasks.push_back({a, std::min(a + most, l[1]), b, std::min(b + width, x[1])});
        tasks.push_back({l[0], l[0], x[0], x[1]});
        tasks.push_back({l[0], std::min(l[0] + most, l[1]), x[1], x[1]});
    }
    shuffle(&tasks);
    return tasks;
}

/* The rows that have a match are marked, and no others; the number of matches of a task does not change. */
static void marks_are_right(hd_join_job job, const join_side &left, const join_side &right,
                            const match_list &expected)
{
    const uint64_t first_left = left.list.empty() ? 0 : left.list[0].second;
    const uint64_t first_right = right.list.empty() ? 0 : right.list[0].second;
    const device_array<uint8_t> l(left.list.size(), 0), r(right.list.size(), 0);
    const device_array<uint64_t> counts(job.count + 1);
    std::vector<uint8_t> l_expected(l.n, 0), r_expected(r.n, 0);
    const uint64_t *const before = job.places;
    job.left_matched = l.get() - first_left;
    job.right_matched = r.get() - first_right;
    job.places = counts.get();
    warps_launch(job.count, VERTEX_BLOCK, sizeof(join_scratch), [&] { join_count<true>(job); });
    for (const match &m : expected) {
        l_expected[m.first - first_left] = 1;
        r_expected[m.second - first_right] = 1;
    }
    for (size_t i = 0; i < l.n; i++) CHECK(l[i] == l_expected[i], "left row %zu: %u", i, l[i]);
    for (size_t i = 0; i < r.n; i++) CHECK(r[i] == r_expected[i], "right row %zu: %u", i, r[i]);
    for (uint32_t i = 0; i < job.count; i++)
        CHECK(counts[i] == before[i], "task %u: %llu matches", i, (ull)counts[i]);
}

/* Counts become places. */
static uint64_t sum_up(const device_array<uint64_t> &places)
{
    uint64_t sum = 0;
    for (size_t i = 0; i + 1 < places.n; i++) {
        const uint64_t count = places[i];
        places[i] = sum;
        sum += count;
    }
    return places[places.n - 1] = sum;
}

/* Both sides' rows, then each alone: these are in the same order only within a task. */
static void matches_are_right(hd_join_job job, const match_list &expected)
{
    const size_t n = expected.size();
    const device_array<hd_row> l(n), r(n), l_alone(n), r_alone(n);
    match_list got;
    std::vector<uint64_t> a, b;
    job.left_rows = l.get();
    job.right_rows = r.get();
    warps_launch(job.count, VERTEX_BLOCK, sizeof(join_scratch), [&] { join_write(job); });
    for (size_t i = 0; i < n; i++) got.push_back({l[i], r[i]});
    std::sort(got.begin(), got.end());
    CHECK(got == expected, "the matches are not those of nested loops");
    job.left_rows = l_alone.get();
    job.right_rows = NULL;
    warps_launch(job.count, VERTEX_BLOCK, sizeof(join_scratch), [&] { join_write(job); });
    job.left_rows = NULL;
    job.right_rows = r_alone.get();
    warps_launch(job.count, VERTEX_BLOCK, sizeof(join_scratch), [&] { join_write(job); });
    for (const bool left : {true, false}) {
        a.clear();
        b.clear();
        for (size_t i = 0; i < n; i++) {
            a.push_back(left ? l_alone[i] : r_alone[i]);
            b.push_back(left ? expected[i].first : expected[i].second);
        }
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        CHECK(a == b, "the %s rows alone", left ? "left" : "right");
    }
}

static void join(const pair_list &left_list, const pair_list &right_list, const hd_mix &mix,
                 uint32_t region_bits)
{
    /* Row numbers that need all their bits. */
    const uint64_t first = HD_VALUE_BITS == 64 ? UINT64_C(1) << 45 : UINT64_C(3) << 30;
    const join_side left = make_side(left_list, mix, region_bits, first);
    const join_side right = make_side(right_list, mix, region_bits, first + 12345);
    const match_list expected = nested_loops(left, right);
    const device_array<hd_join_task> tasks = upload(make_tasks(left, right, region_bits));
    const device_array<uint64_t> places(tasks.n + 1);
    hd_join_job job = {};
    job.region_bits = region_bits;
    job.count = (uint32_t)tasks.n;
    job.left = left.sorted.pairs.get();
    job.right = right.sorted.pairs.get();
    job.tasks = tasks.get();
    job.places = places.get();
    warps_launch(job.count, VERTEX_BLOCK, sizeof(join_scratch), [&] { join_count<false>(job); });
    marks_are_right(job, left, right, expected);
    const uint64_t sum = sum_up(places);
    CHECK(sum == expected.size(), "%llu matches of %zu", (ull)sum, expected.size());
    matches_are_right(job, expected);
}

/* Some keys of the other side, and some others. */
static pair_list other_side(const pair_list &list, const hd_mix &mix, uint32_t region_bits,
                            size_t n)
{
    pair_list other;
    for (size_t i = 0; i < n; i++) {
        const uint32_t region = (uint32_t)random_below(UINT64_C(1) << region_bits);
        if (random_below(4) == 0) add_pairs(&other, &mix, region, region_bits, 1, 1);
        else other.push_back(list[random_below(list.size())]);
    }
    return other;
}

static void test(uint64_t seed)
{
    const uint32_t region_bits = (uint32_t)(seed % 4);
    hd_mix mix;
    hd_mix_init(&mix, random_64());
    pair_list few, many, one;
    for (uint32_t r = 0; r < 1u << region_bits; r++) {
        const size_t n = random_below(4) == 0 ? 0 : (size_t)random_below(3 * JOIN_LEFT);
        add_pairs(&few, &mix, r, region_bits, n, n);
        add_pairs(&many, &mix, r, region_bits, n, 2 + n / (2 * JOIN_ALONE));
    }
    add_pairs(&few, &mix, 0, region_bits, 5, 5);
    add_pairs(&many, &mix, 0, region_bits, 50, 1);
    add_pairs(&one, &mix, 0, region_bits, JOIN_LEFT + 9, 1);
    join(few, other_side(few, mix, region_bits, 400), mix, region_bits);
    join(many, other_side(many, mix, region_bits, 200), mix, region_bits);
    join(one, other_side(one, mix, region_bits, 70), mix, region_bits);
    join(few, pair_list(), mix, region_bits);
    join(pair_list(), few, mix, region_bits);
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 10, test); }
