/*
 * test_numbered.cpp: aggregates of groups known by number (src/cuda/columns/numbered_kernels.h), run on the CPU by
 * warps.h: of every type, with few groups and copies of their cells, and with groups that have no cells.
 */
#include <cmath>

#include "shim.h"

#define NUMBERED_BLOCK 64 /* a fiber a thread: few of them */
#define NUMBERED_ITEMS 3
#include "cuda/columns/numbered_kernels.h"
#include "model/hash.h"

#include "cuda/partition/sorted_pair.h"
#include "sorted_lists.h"

using std::isnan;

/* Rows, their groups and which of them are there. */
struct rows {
    std::vector<uint32_t> groups;
    std::vector<uint8_t> valid;
    uint64_t count;
};

/* Every group has a row; `kind` 0: in any order, 1: sorted, 2: most rows of the first one. */
static rows make_rows(size_t n, uint64_t count, uint64_t kind)
{
    rows r = {{}, {}, count < n ? count : n};
    for (size_t i = 0; i < n; i++) {
        uint64_t group = i < r.count ? i : random_below(r.count);
        if (kind == 1) group = i * r.count / n;
        if (kind == 2 && i >= r.count && random_below(10) != 0) group = 0;
        r.groups.push_back((uint32_t)group);
        r.valid.push_back(random_below(4) != 0);
    }
    return r;
}

template <class TYPE> static TYPE any_value()
{
    const uint64_t x = random_64();
    if (std::is_floating_point<TYPE>::value)
        return (TYPE)(int64_t)random_below(2001) - 1000; /* sums of them are exact */
    return (TYPE)x;
}

/* What the kernels made of a column. */
template <class WAY> struct result {
    device_array<typename WAY::number> out;
    device_array<unsigned long long> counts;
};

template <class WAY, class TYPE, bool COUNTS>
static result<WAY> reduce(const rows &r, const std::vector<TYPE> &column, bool nulls, uint32_t near,
                          uint32_t copies)
{
    typedef numbered_values<WAY, TYPE> values;
    const device_array<uint32_t> groups = upload(r.groups);
    const device_array<uint8_t> valid = upload(r.valid);
    const device_array<TYPE> there = upload(column);
    result<WAY> made = {device_array<typename WAY::number>(r.count),
                        device_array<unsigned long long>(r.count, 0)};
    numbered_job job = {groups.get(), groups.n, r.count, nulls ? valid.get() : NULL, near, copies};
    if (job.near > r.count) job.near = (uint32_t)r.count;
    warps_launch(2, NUMBERED_BLOCK, [&] {
        numbered_fill<typename WAY::number>(made.out.get(), values::neutral(), r.count);
    });
    warps_launch(3, NUMBERED_BLOCK, job.near * copies * numbered_width<values>(COUNTS), [&] {
        numbered_reduce<WAY, TYPE, COUNTS>(job, there.get(), made.out.get(), made.counts.get());
    });
    return made;
}

static bool is_in(const rows &r, size_t i, uint32_t group, bool nulls)
{
    return r.groups[i] == group && (!nulls || r.valid[i] != 0);
}

template <class WAY, class TYPE, bool COUNTS>
static void check_one(const rows &r, const std::vector<TYPE> &column, bool nulls, uint32_t near,
                      uint32_t copies)
{
    const result<WAY> made = reduce<WAY, TYPE, COUNTS>(r, column, nulls, near, copies);
    for (uint32_t g = 0; g < r.count; g++) {
        typename WAY::number expected = WAY::neutral();
        uint64_t count = 0;
        for (size_t i = 0; i < column.size(); i++)
            if (is_in(r, i, g, nulls)) {
                expected = WAY::both(expected, WAY::take(column[i]));
                count++;
            }
        CHECK(made.out[g] == expected, "group %u of %llu, near %u, copies %u", g, (ull)r.count,
              near, copies);
        if (COUNTS) CHECK(made.counts[g] == count, "group %u has %llu rows", g, made.counts[g]);
    }
}

template <class SUM, class TYPE>
static void check_type(const rows &r, uint32_t near, uint32_t copies)
{
    std::vector<TYPE> column(r.groups.size());
    for (TYPE &x : column) x = any_value<TYPE>();
    typedef extreme<TYPE, true> least;
    typedef extreme<TYPE, false> most;
    check_one<SUM, TYPE, false>(r, column, false, near, copies);
    check_one<SUM, TYPE, true>(r, column, true, near, copies);
    check_one<least, TYPE, false>(r, column, false, near, copies);
    check_one<most, TYPE, true>(r, column, true, near, copies);
    check_one<sum_floats<float>, float, true>(r, std::vector<float>(column.size(), 1.5f), true,
                                              near, copies);
}

static void check_counts(const rows &r, bool nulls, uint32_t near, uint32_t copies)
{
    const std::vector<uint32_t> none;
    const auto made = reduce<no_values, uint32_t, true>(r, none, nulls, near, copies);
    for (uint32_t g = 0; g < r.count; g++) {
        uint64_t count = 0;
        for (size_t i = 0; i < r.groups.size(); i++) count += is_in(r, i, g, nulls);
        CHECK(made.counts[g] == count, "group %u has %llu rows, not %llu", g, made.counts[g],
              (ull)count);
    }
}

static void check_mean()
{
    std::vector<int64_t> sums = {-7, 0, 9};
    const device_array<int64_t> out = upload(sums);
    const device_array<unsigned long long> counts =
        upload(std::vector<unsigned long long>{2, 0, 4});
    warps_launch(1, NUMBERED_BLOCK,
                 [&] { numbered_mean_end<int64_t>(counts.get(), 3, out.get()); });
    const double *means = (const double *)out.get();
    CHECK(means[0] == -3.5 && means[1] == 0 && means[2] == 2.25, "a mean");
    const device_array<uint8_t> any(3);
    warps_launch(1, NUMBERED_BLOCK, [&] { numbered_any(counts.get(), 3, any.get()); });
    CHECK(any[0] == 1 && any[1] == 0 && any[2] == 1, "a flag");
}

static void test(uint64_t seed)
{
    static const uint64_t counts[] = {1, 2, 5, 40, 300};
    for (uint64_t count : counts) {
        const rows r = make_rows(1 + random_below(900), count, seed % 3);
        const uint32_t near = (seed + count) % 2 == 0 ? (uint32_t)count : 1 + (uint32_t)count / 3;
        const uint32_t copies = count < 40 ? 1u << random_below(6) : 1;
        check_counts(r, seed % 2 == 0, near, copies);
        switch (seed % 6) {
        case 0: check_type<sum_integers<uint32_t>, uint32_t>(r, near, copies); break;
        case 1: check_type<sum_integers<int32_t>, int32_t>(r, near, copies); break;
        case 2: check_type<sum_floats<float>, float>(r, near, copies); break;
        case 3: check_type<sum_integers<uint64_t>, uint64_t>(r, near, copies); break;
        case 4: check_type<sum_integers<int64_t>, int64_t>(r, near, copies); break;
        default: check_type<sum_floats<double>, double>(r, near, copies); break;
        }
    }
    check_mean();
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 18, test); }
