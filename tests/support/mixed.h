/* mixed.h: the mix of model/hash.h, which is compiled for one width of keys, written once more for both. */
#ifndef TEST_MIXED_H
#define TEST_MIXED_H

#include "model/view.h"

static inline uint64_t mixed(const hd_mix *mix, uint64_t key, uint32_t bits)
{
    if (bits == 32) {
        uint32_t k = (uint32_t)key + (uint32_t)mix->add;
        k = (k ^ k >> 16) * (uint32_t)mix->mul[0];
        k = (k ^ k >> 15) * (uint32_t)mix->mul[1];
        return k ^ k >> 16;
    }
    key += mix->add;
    key = (key ^ key >> 32) * mix->mul[0];
    key = (key ^ key >> 29) * mix->mul[1];
    return key ^ key >> 32;
}

#endif
