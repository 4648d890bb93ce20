/*
 * device_functions.cu: tables inside kernels that other languages compile (Julia, Numba). Not part of the
 * library: it is compiled to PTX and to LTO-IR, which a just-in-time linker joins with a kernel. For every
 * table NAME, with K and V its keys and values:
 *
 *   int32_t heddle_NAME_insert(const void *view, K key, V value, uint32_t policy)   HEDDLE_OUTCOME_*
 *   int32_t heddle_NAME_find(const void *view, K key, V *value)      1 or 0; of a set without `value`
 *   int32_t heddle_NAME_erase(const void *view, K key)               1 when this call erased it
 *
 * and for every multimap, whose `find` gives any one of the values of a key,
 *
 *   int32_t heddle_NAME_insert(const void *view, K key, V value)      HEDDLE_OUTCOME_INSERTED or _FAILED
 *   int32_t heddle_NAME_find(const void *view, K key, V *value)       1 or 0
 *   uint64_t heddle_NAME_count(const void *view, K key)
 *   uint64_t heddle_NAME_retrieve(const void *view, K key, V *values, uint64_t capacity)
 *                                                      how many there are; writes up to `capacity` of them
 *   int32_t heddle_NAME_erase(const void *view, K key)                1 when this call erased the last pair
 *
 * `view` is device memory with the bytes that heddle_table_get_view gives. Each call is one thread's own:
 * tiles are unknown to these languages. What may run at the same time: see heddle/device.cuh.
 *
 * The tables are those marked `device` in instances.def, the slab hashes and the bucket lists: cmake/device.cmake
 * makes the list.
 */
#define HD_PASTE_(a, b, c) a##b##c
#define HD_PASTE(a, b, c) HD_PASTE_(a, b, c)
#define HD_EXPORT(name, operation) extern "C" __device__ int32_t HD_PASTE(heddle_, name, operation)
#define HD_EXPORT_COUNT(name, operation)                                                           \
    extern "C" __device__ uint64_t HD_PASTE(heddle_, name, operation)

#include "instances_device.h"
