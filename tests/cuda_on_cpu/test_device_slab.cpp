/*
 * test_device_slab.cpp: slab hashes in kernels of a user's own (heddle/device.cuh), under the emulator: tiles, lanes
 * of tiles and single threads insert, erase and look up the same few keys at the same time, in maps, sets and
 * multimaps. What every key went through must be explained by some order, and the lists must be whole. Multimaps
 * also go through the tests of device_values.h.
 */
#include "shim.h"

#define HEDDLE_NAME pairs
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME pairs_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HEDDLE_NAME wide
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME wide_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include <heddle/device.cuh>

#define HEDDLE_NAME long_values
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 10
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME long_values_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 10
#include <heddle/device.cuh>

#define HEDDLE_NAME long_keys
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 10
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME long_keys_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 10
#include <heddle/device.cuh>

#define HEDDLE_NAME ids
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 30
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME ids_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 30
#include <heddle/device.cuh>

#define HEDDLE_NAME wide_ids
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME wide_ids_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HEDDLE_NAME multi
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME multi_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HEDDLE_NAME wide_multi
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME wide_multi_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include <heddle/device.cuh>

#define HEDDLE_NAME long_multi
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 10
#include <heddle/device.cuh>

#define HD_ONE_LANE
#define HEDDLE_NAME long_multi_by_threads
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 10
#include <heddle/device.cuh>

/* A table of slots beside them. */
#define HEDDLE_NAME slots
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#include "device_slab_mix.h"
#include "device_values.h"
#include "plain_slabs.h"

/* A table NAME with so many lists and slabs more. */
#define STORE(name, key_bits, is_unique)                                                           \
    struct name##_store : plain_slabs<name::table> {                                               \
        name##_store(uint32_t lists, uint32_t spare)                                               \
            : plain_slabs<name::table>(key_bits, lists, spare, is_unique, name::slab_inspect)      \
        {                                                                                          \
        }                                                                                          \
        explicit name##_store(uint64_t capacity)                                                   \
            : name##_store(1, (uint32_t)(2 * capacity / name::bucket_size))                        \
        {                                                                                          \
        }                                                                                          \
    };                                                                                             \
    INSTANCE(name##_instance, name, name##_by_threads, name##_store)
STORE(pairs, 32, true);
STORE(wide, 64, true);
STORE(long_values, 32, true);
STORE(long_keys, 64, true);
STORE(ids, 32, true);
STORE(wide_ids, 64, true);
STORE(multi, 32, false);
STORE(wide_multi, 64, false);
STORE(long_multi, 32, false);

/* Few keys and many, with slabs for all and for some. */
template <class I, bool HAS_VALUES> static void test_mixed(void)
{
    typename I::store_type few(1, 500), many(3, 500), scarce(1, (uint32_t)warps_random() % 8);
    CHECK((mixed_rounds<I, HAS_VALUES>(&few, 3) == 0), "the pool had slabs");
    CHECK((mixed_rounds<I, HAS_VALUES>(&many, 150) == 0), "the pool had slabs");
    ran_out += mixed_rounds<I, HAS_VALUES>(&scarce, 400) != 0;
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (uint64_t seed = first; seed <= (argc > 1 ? first : SEEDS); seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed);
        warps_seed(seed);
        test_mixed<pairs_instance, true>();
        test_mixed<wide_instance, true>();
        test_mixed<long_values_instance, true>();
        test_mixed<long_keys_instance, true>();
        test_mixed<ids_instance, false>();
        test_mixed<wide_ids_instance, false>();
        test_values<multi_instance>(400);
        test_values<wide_multi_instance>(400);
        test_values<long_multi_instance>(400);
        many_at_once<multi_instance>();
        many_at_once<wide_multi_instance>();
        many_at_once<long_multi_instance>();
    }
    CHECK(ran_out != 0, "no pool ran out");
    return 0;
}
