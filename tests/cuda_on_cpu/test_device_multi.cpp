/* test_device_multi.cpp: multimaps by open addressing in kernels of a user's own; see device_values.h. */
#include "shim.h"

#define HEDDLE_NAME pairs
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME pairs_by_threads
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

/* Slots of the others are claimed by way of BUSY. */
#define HEDDLE_NAME wide
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME wide_by_threads
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HEDDLE_NAME mixed
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME mixed_by_threads
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

/* A map of the same widths beside them. */
#define HEDDLE_NAME singles
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#include "device_values.h"
#include "plain_table.h"

#define HASHES 200 /* windows in a row that a search looks at in vain */

/* Two regions in every zone, so that keys leave theirs. */
template <class TABLE, uint32_t KEY_BITS, uint32_t VALUE_BITS, uint32_t WINDOW>
struct multi_store : plain_table<TABLE> {
    explicit multi_store(uint64_t capacity)
        : plain_table<TABLE>(
              {HEDDLE_SCHEME_OPEN, KEY_BITS, VALUE_BITS, WINDOW, capacity / 2, HASHES, true}, 3)
    {
    }
    void check_rest(size_t) {}
};
typedef multi_store<pairs::table, 32, 32, 8> pair_store;
typedef multi_store<wide::table, 64, 64, 8> wide_store;
typedef multi_store<mixed::table, 32, 64, 16> mixed_store;
INSTANCE(pair_instance, pairs, pairs_by_threads, pair_store);
INSTANCE(wide_instance, wide, wide_by_threads, wide_store);
INSTANCE(mixed_instance, mixed, mixed_by_threads, mixed_store);

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (uint64_t seed = first; seed <= (argc > 1 ? first : 5); seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed);
        warps_seed(seed);
        test_values<pair_instance>(400);
        test_values<wide_instance>(400);
        test_values<mixed_instance>(400);
    }
    return 0;
}
