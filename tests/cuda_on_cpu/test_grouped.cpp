/*
 * test_grouped.cpp: the tiles of rows in groups (src/cuda/columns/grouped.h), run on the CPU by warps.h: each
 * row finds its group, however large the groups are.
 */
#include "shim.h"

#define GROUPED_BLOCK 64 /* a fiber a thread: few of them */
#define GROUPED_ITEMS 3
#include "cuda/columns/grouped.h"
#include "model/hash.h"

#include "cuda/partition/sorted_pair.h"
#include "sorted_lists.h"

/* As number_rows of cuda/columns/columns.cu. */
static void number_rows(const hd_grouped &grouped, uint64_t *out)
{
    __shared__ grouped_scratch scratch;
    const grouped_tile tile = grouped_tile_of(grouped, &scratch);
    for (uint32_t i = threadIdx.x; i < tile.count; i += GROUPED_BLOCK)
        out[tile.begin + i] = tile.group + grouped_find(&scratch, tile, i);
}

/* Groups of up to `most` rows. */
static void number(size_t groups, size_t most)
{
    std::vector<uint64_t> starts, expected;
    for (size_t g = 0; g < groups; g++) {
        starts.push_back(expected.size());
        expected.insert(expected.end(), 1 + random_below(most), g);
    }
    starts.push_back(expected.size());
    const device_array<uint64_t> begins = upload(starts), out(expected.size());
    hd_grouped grouped = {};
    grouped.n = expected.size();
    grouped.starts = begins.get();
    grouped.groups = groups;
    warps_launch(grouped_tiles(&grouped), GROUPED_BLOCK, [&] { number_rows(grouped, out.get()); });
    for (size_t i = 0; i < out.n; i++)
        CHECK(out[i] == expected[i], "row %zu is of group %llu, not %llu", i, (ull)out[i],
              (ull)expected[i]);
}

static void test(uint64_t)
{
    number(1, 1);
    number(1, 5 * GROUPED_TILE);
    number(5 * GROUPED_TILE, 1);
    number(GROUPED_TILE, 1);
    number(40, GROUPED_TILE);
    number(300, 20);
    number(8, 3 * GROUPED_TILE);
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 40, test); }
