/* sort_by_region.h: pairs as kernels that fill tables take them (model/partition.h). Include it after the kernels. */
#ifndef SORT_BY_REGION_H
#define SORT_BY_REGION_H

#include <vector>

#include "cuda/partition/sorted_pair.h"

/* The pairs in the order of their regions, and where each region begins. */
static std::vector<uint32_t> sort_by_region(const hd_view &view, const std::vector<hd_key> &keys,
                                            const std::vector<hd_value> &values,
                                            std::vector<uint64_t> *starts)
{
    std::vector<std::vector<hd_sorted_pair>> regions((size_t)1 << view.region_bits);
    std::vector<uint32_t> words;
    for (size_t i = 0; i < keys.size(); i++) {
        const hd_key mixed = mix_key(&view.mix, keys[i]);
        regions[region_of(&view, mixed)].push_back(sorted_make(mixed, values[i]));
    }
    for (const auto &region : regions) {
        starts->push_back(words.size() / HD_PAIR_WORDS);
        for (const hd_sorted_pair &pair : region)
            words.insert(words.end(), pair.words, pair.words + HD_PAIR_WORDS);
    }
    starts->push_back(words.size() / HD_PAIR_WORDS);
    return words;
}

#endif
