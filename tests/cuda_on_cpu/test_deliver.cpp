/*
 * test_deliver.cpp: answers that come back in another order than that of the questions
 * (src/cuda/deliver_kernels.h), run on the CPU by warps.h.
 */
#include "shim.h"

#define DELIVER_BLOCK 64 /* a fiber a thread: few of them */
#include "base/hash.h"
#include "cuda/deliver_kernels.h"

#include "cuda/sorted_pair.h"
#include "sorted_lists.h"

static std::vector<uint32_t> random_order(size_t n)
{
    std::vector<uint32_t> rows;
    for (size_t i = 0; i < n; i++) rows.push_back((uint32_t)i);
    shuffle(&rows);
    return rows;
}

template <class VALUE> static void deliver(size_t n, unsigned blocks, bool flags)
{
    const std::vector<uint32_t> order = random_order(n);
    std::vector<VALUE> values;
    std::vector<uint8_t> found;
    for (size_t i = 0; i < n; i++) {
        values.push_back((VALUE)random_64());
        found.push_back((uint8_t)(random_below(3) != 0));
    }
    const device_array<uint32_t> rows = upload(order);
    const device_array<VALUE> from = upload(values);
    const device_array<uint8_t> found_in = upload(found);
    const device_array<VALUE> out(n);
    const device_array<uint8_t> found_out(n);
    const hd_answers answers = {
        rows.get(), n, found_in.get(), from.get(), sizeof(VALUE), flags ? found_out.get() : NULL,
        out.get()};
    warps_launch(blocks, DELIVER_BLOCK, [&] { deliver_answers<VALUE>(answers); });
    for (size_t i = 0; i < n; i++) {
        VALUE poison;
        memset(&poison, ARRAY_BYTE, sizeof poison);
        CHECK(out[order[i]] == (found[i] ? values[i] : poison), "answer %zu", i);
        CHECK(found_out[order[i]] == (flags ? found[i] : ARRAY_BYTE), "flag %zu", i);
    }
}

template <class VALUE> static void deliver_many(size_t n, size_t most, unsigned blocks)
{
    const uint64_t base = 55;
    const std::vector<uint32_t> order = random_order(n);
    std::vector<uint64_t> places, starts;
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
        for (uint64_t to = places[order[i]]; to < places[order[i] + 1]; to++, sum++) {
            values.push_back((VALUE)random_64());
            expected[to - base] = values.back();
        }
    }
    starts.push_back(sum);
    if (sum == 0) return;
    const device_array<uint32_t> rows = upload(order);
    const device_array<uint64_t> place_in = upload(places), start_in = upload(starts);
    const device_array<VALUE> from = upload(values), out(sum);
    const hd_answer_lists lists = {rows.get(),     n,          sum,
                                   start_in.get(), from.get(), sizeof(VALUE),
                                   place_in.get(), base,       out.get()};
    warps_launch(blocks, DELIVER_BLOCK, [&] { deliver_elements<VALUE>(lists); });
    for (size_t i = 0; i < sum; i++) CHECK(out[i] == expected[i], "element %zu", i);
}

static void test(uint64_t)
{
    for (unsigned blocks = 1; blocks <= 3; blocks += 2) {
        deliver<uint32_t>(1, blocks, true);
        deliver<uint32_t>(500, blocks, false);
        deliver<uint64_t>(333, blocks, true);
        deliver_many<uint32_t>(1, 300, blocks);
        deliver_many<uint32_t>(200, 4, blocks);
        deliver_many<uint64_t>(30, 40, blocks);
    }
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 10, test); }
