/*
 * rate.c: the rate of false positives of a blocked Bloom filter, by theory.
 *
 * With n keys in b blocks, the number of keys in a block is distributed as Poisson's law with mean n / b
 * has it. A block is cut into as many sectors as there are hashes, and each of its j keys has one bit in every
 * sector, independent of all others. So a bit of a sector of s bits is still 0 with probability
 * (1 - 1/s)^j, and a key that was not added passes with
 *
 *     rate = sum over j of  Poisson(j; n/b) * product over sectors of (1 - (1 - 1/s)^j)
 *
 * That blocks are filled unevenly makes the rate higher than that of a filter without blocks. It is
 * exact for random hash functions. (32-bit keys are few: when a good part of all 2^32 keys is in the filter,
 * blocks are filled more evenly than that, and the rate is a little lower.)
 */
#include <math.h>

#include "filter/filter.h"

/* With so many keys to a block all its bits are set, whatever the hashes: 256 * exp(-40) are not. */
#define KEYS_ALL_SET (40.0 * HD_FILTER_BLOCK_BITS)

/* The chance to pass a block with j keys. All sectors have one of two sizes. */
static double block_rate(double j, uint32_t hashes)
{
    const uint32_t larger = HD_FILTER_BLOCK_BITS % hashes;
    const double bits = HD_FILTER_BLOCK_BITS / hashes;
    return pow(1 - pow(1 - 1 / bits, j), hashes - larger) *
           pow(1 - pow(1 - 1 / (bits + 1), j), larger);
}

double hd_filter_rate(uint64_t keys, uint64_t blocks, uint32_t hashes)
{
    const double mean = (double)keys / (double)blocks, reach = 12 * sqrt(mean) + 30;
    const double first = mean > reach ? floor(mean - reach) : 0;
    double share, shares = 0, rate = 0;
    if (keys == 0) return 0;
    if (mean > KEYS_ALL_SET) return 1;
    share = exp(first * log(mean) - mean - lgamma(first + 1));
    for (double j = first; j <= mean + reach; j++) {
        rate += share * block_rate(j, hashes);
        shares += share; /* 1, except for rounding */
        share *= mean / (j + 1);
    }
    return rate < shares ? rate / shares : 1;
}

uint32_t hd_filter_best_hashes(uint64_t keys, uint64_t blocks)
{
    uint32_t best = 1;
    double least = 2;
    for (uint32_t hashes = 1; hashes <= HD_FILTER_HASHES_MAX; hashes++) {
        const double rate = hd_filter_rate(keys, blocks, hashes);
        if (rate < least) best = hashes;
        if (rate < least) least = rate;
    }
    return best;
}
