/*
 * test_deliver.cpp: lists that come back in another order than that of the questions
 * (src/cuda/columns/deliver_kernels.h), run on the CPU by warps.h.
 */
#include "shim.h"

#define DELIVER_BLOCK 64 /* a fiber a thread: few of them */
#include "cuda/columns/deliver_kernels.h"
#include "model/hash.h"

#include "cuda/partition/sorted_pair.h"
#include "sorted_lists.h"

static std::vector<uint32_t> random_order(size_t n)
{
    std::vector<uint32_t> rows;
    for (size_t i = 0; i < n; i++) rows.push_back((uint32_t)i);
    shuffle(&rows);
    return rows;
}

template <class VALUE> static void deliver_many(size_t n, size_t most, unsigned blocks)
{
    const uint64_t base = 55;
    const std::vector<uint32_t> order = random_order(n);
    std::vector<uint64_t> places, to_places, starts;
    std::vector<VALUE> values, expected;
    uint64_t at = base, sum = 0;
    for (size_t i = 0; i < n; i++) {
        places.push_back(at);
        at += random_below(3) == 0 ? 0 : random_below(most + 1);
    }
    places.push_back(at);
    expected.resize(at - base);
    for (size_t i = 0; i < n; i++) {
        starts.push_back(sum);
        to_places.push_back(places[order[i]]);
        for (uint64_t to = places[order[i]]; to < places[order[i] + 1]; to++, sum++) {
            values.push_back((VALUE)random_64());
            expected[to - base] = values.back();
        }
    }
    starts.push_back(sum);
    if (sum == 0) return;
    const device_array<uint64_t> place_in = upload(to_places), start_in = upload(starts);
    const device_array<VALUE> from = upload(values), out(sum);
    const hd_answer_lists lists = {
        n, sum, start_in.get(), from.get(), sizeof(VALUE), place_in.get(), base, out.get()};
    warps_launch(blocks, DELIVER_BLOCK, [&] { deliver_elements<VALUE>(lists); });
    for (size_t i = 0; i < sum; i++) CHECK(out[i] == expected[i], "element %zu", i);
}

template <class ROW, class NAME> static void renumber(size_t n, unsigned blocks, bool named)
{
    std::vector<ROW> rows;
    std::vector<NAME> names;
    const uint64_t base = random_below(1000);
    for (size_t i = 0; i < n; i++) {
        rows.push_back(random_below(4) == 0 ? (ROW) ~(ROW)0 : (ROW)random_below(n));
        names.push_back((NAME)random_below(100000));
    }
    const device_array<ROW> from = upload(rows);
    const device_array<NAME> name_in = upload(names), out(n);
    warps_launch(blocks, DELIVER_BLOCK, [&] {
        renumber_rows<ROW, NAME>(from.get(), n, named ? name_in.get() : NULL, base, out.get());
    });
    for (size_t i = 0; i < n; i++) {
        const NAME expected = rows[i] == (ROW) ~(ROW)0 ? (NAME) ~(NAME)0
                              : named                  ? (NAME)(base + names[rows[i]])
                                                       : (NAME)(base + rows[i]);
        CHECK(out[i] == expected, "number %zu", i);
    }
}

static void test(uint64_t)
{
    for (unsigned blocks = 1; blocks <= 3; blocks += 2) {
        deliver_many<uint32_t>(1, 300, blocks);
        deliver_many<uint32_t>(200, 4, blocks);
        deliver_many<uint64_t>(30, 40, blocks);
        renumber<uint32_t, uint32_t>(500, blocks, true);
        renumber<uint32_t, uint64_t>(333, blocks, false);
        renumber<uint64_t, uint32_t>(100, blocks, true);
        renumber<uint64_t, uint64_t>(77, blocks, true);
    }
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 10, test); }
