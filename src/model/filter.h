/*
 * filter.h: a Bloom filter in a device's memory (scheme/bloom.h has the scheme, engine/filter.h the operations).
 *
 *   blocks          of 256 bits, a multiple of 2^region_bits
 *   region of a key the leading bits of its mixed key (hash.h), as many of them as one likes up to
 *                   region_bits: its blocks lie one behind the other and belong to no other region
 */
#ifndef HD_MODEL_FILTER_H
#define HD_MODEL_FILTER_H

#include <heddle/heddle.h>

#include "model/view.h"

/* Of 32 bits: one sector of a GPU's memory, half a line of a CPU's. */
#define HD_FILTER_BLOCK_WORDS 8
#define HD_FILTER_BLOCK_BITS (32 * HD_FILTER_BLOCK_WORDS)
#define HD_FILTER_BLOCK_BYTES (4 * HD_FILTER_BLOCK_WORDS)
#define HD_FILTER_HASHES_MAX 16
/* CASE(h) for every number of hashes: loops over keys are compiled for each. */
/* clang-format off */
#define HD_FOR_HASHES(CASE)                                                                        \
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11)      \
    CASE(12) CASE(13) CASE(14) CASE(15) CASE(16)
/* clang-format on */
/* A block's number has 32 bits, and its multiples fit 64. */
#define HD_FILTER_BLOCKS_MAX (UINT64_C(1) << 31)
/* Blocks of the smallest regions, at most: 64 KB, which the local memory of every engine holds. */
#define HD_FILTER_REGION_BLOCKS 2048

typedef struct hd_filter_view {
    uint32_t *words;
    uint32_t blocks;
    uint32_t region_bits;
    uint32_t hashes; /* 1 to HD_FILTER_HASHES_MAX */
    hd_mix mix;
} hd_filter_view;

/* Mixed keys sorted by the leading region_bits bits, which are no more than those of the view. */
typedef struct hd_filter_sorted {
    const void *mixed;
    const uint64_t *starts; /* regions + 1 */
    uint64_t n;
    uint32_t region_bits;
} hd_filter_sorted;

/* What a look at all blocks finds. */
typedef struct hd_filter_census {
    uint64_t set;    /* bits */
    uint64_t keys;   /* that there must have been at least */
    uint64_t broken; /* blocks where some hashes have bits and others none */
    double passed;   /* the sum over all blocks of the chance that a key of it passes */
} hd_filter_census;

#endif
