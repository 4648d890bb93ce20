/*
 * device_functions.cu: tables inside kernels that other languages compile (Julia, Numba). Not part of the
 * library: it is compiled to PTX and to LTO-IR, which a just-in-time linker joins with a kernel. For every
 * table NAME below, with K and V its keys and values:
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
 * tiles are unknown to these languages. What may run at the same time: see heddle/device.cuh. Slab hashes are in
 * functions_slab.inl.
 */
#define HD_PASTE_(a, b, c) a##b##c
#define HD_PASTE(a, b, c) HD_PASTE_(a, b, c)
#define HD_EXPORT(name, operation) extern "C" __device__ int32_t HD_PASTE(heddle_, name, operation)
#define HD_EXPORT_COUNT(name, operation)                                                           \
    extern "C" __device__ uint64_t HD_PASTE(heddle_, name, operation)

#define HEDDLE_NAME cuckoo_k32_v32_b8
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME cuckoo_k32_v64_b16
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME cuckoo_k64_v32_b8
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME cuckoo_k64_v64_b8
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME cuckoo_k32_b16
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME cuckoo_k64_b8
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME open_k32_v32_b8
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME open_k32_v64_b16
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME open_k64_v32_b8
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME open_k64_v64_b8
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME open_k32_b16
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME open_k64_b8
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME iceberg_k32_v32_b16
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME iceberg_k32_v64_b16
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME iceberg_k64_v32_b16
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME iceberg_k64_v64_b16
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME iceberg_k32_b16
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME iceberg_k64_b16
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME open_multimap_k32_v32_b8
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME open_multimap_k32_v64_b16
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME open_multimap_k64_v32_b8
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME open_multimap_k64_v64_b8
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME bucket_list_k32_v32_b8
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME bucket_list_k32_v64_b8
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME bucket_list_k64_v32_b8
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME bucket_list_k64_v64_b8
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include "cuda/inside/functions_multi.inl"

#include "cuda/inside/functions_slab.inl"
