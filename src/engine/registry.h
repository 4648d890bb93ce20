/*
 * registry.h: what is compiled more than once, by what it is compiled for. cmake/instances.cmake makes the source files
 * and their list, which registry.c reads; no other file names their symbols.
 *
 * A target is a tile of the CPU's ("scalar", "avx2", "avx512", "neon"), "cpu" where the tile does not matter, or "cuda".
 */
#ifndef HD_ENGINE_REGISTRY_H
#define HD_ENGINE_REGISTRY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_table_ops;

/* The kinds of records, named as their types. */
typedef enum hd_compiled_kind {
    HD_KIND_hd_filter_ops,
    HD_KIND_hd_graph_ops,
    HD_KIND_hd_list_ops,
    HD_KIND_hd_owner_steps,
    HD_KIND_hd_owners_ops,
    HD_KIND_hd_partition_cpu,
    HD_KIND_hd_partition_cuda,
    HD_KIND_hd_relate_ops,
    HD_KIND_hd_slab_ops,
    HD_KIND_hd_slab_runs
} hd_compiled_kind;

/* The record of a type for keys and values of these widths (0: none) on a target; NULL where none was compiled. */
#define HD_COMPILED_FOR(type, key_bits, value_bits, target)                                        \
    ((const type *)hd_compiled_for(HD_KIND_##type, key_bits, value_bits, target))
const void *hd_compiled_for(hd_compiled_kind kind, uint32_t key_bits, uint32_t value_bits,
                            const char *target);

/* All tables of a target; NULL and 0 where none was compiled. */
const struct hd_table_ops *const *hd_compiled_tables(const char *target, uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif
