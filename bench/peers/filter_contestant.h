// The shape of a filter in the comparison, and the two that are written here: the textbook's Bloom filter,
// and a plain blocked one. Both hash once and are used by all threads.
#pragma once

#include "memory.h"
#include "workload.h"

#include <omp.h>
#include <string>

struct FilterContestant {
    std::string name;
    virtual ~FilterContestant() = default;
    virtual void clear() = 0;
    virtual void add(const uint32_t *keys, uint64_t n, int threads) = 0;
    virtual void contains(const uint32_t *keys, uint64_t n, uint8_t *found, int threads) = 0;
    virtual uint64_t bytes() const = 0;
};

// k bits anywhere, by double hashing (Kirsch and Mitzenmacher); added with atomics.
struct TextbookFilter : FilterContestant {
    HugeArray<uint64_t> words;
    uint64_t bits;
    int hashes;

    TextbookFilter(uint64_t n, double bits_per_key, int threads)
        : words(size_t(double(n) * bits_per_key / 64) + 1, threads), bits(words.size() * 64),
          hashes(int(bits_per_key * 0.6931 + 0.5))
    {
        name = "textbook Bloom filter, " + std::to_string(hashes) + " hashes";
    }
    uint64_t place(uint64_t hash, int i) const
    {
        const uint64_t h = hash + uint64_t(i) * (hash << 32 | hash >> 32 | 1);
        return uint64_t((unsigned __int128)h * bits >> 64);
    }
    void clear() override
    {
        std::fill(words.data(), words.data() + words.size(), 0);
    }
    void add(const uint32_t *keys, uint64_t n, int threads) override
    {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t hash = mix(uint64_t(keys[k]));
            for (int i = 0; i < hashes; i++) {
                const uint64_t at = place(hash, i);
                __atomic_fetch_or(&words[at / 64], uint64_t(1) << at % 64, __ATOMIC_RELAXED);
            }
        }
    }
    void contains(const uint32_t *keys, uint64_t n, uint8_t *found, int threads) override
    {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t hash = mix(uint64_t(keys[k]));
            bool all = true;
            for (int i = 0; i < hashes && all; i++) {
                const uint64_t at = place(hash, i);
                all = words[at / 64] >> at % 64 & 1;
            }
            found[k] = all;
        }
    }
    uint64_t bytes() const override
    {
        return words.size() * sizeof words[0];
    }
};

// 8 bits of a key in a block of 256, a word each, and 16 blocks on their way. With one writer no atomics
// are needed; with several threads they are.
template <bool ONE_WRITER> struct BlockedFilter : FilterContestant {
    static const int AHEAD = 16;
    struct alignas(32) Block {
        uint32_t words[8];
    };
    HugeArray<Block> blocks;

    BlockedFilter(uint64_t n, double bits_per_key, int threads)
        : blocks(size_t(double(n) * bits_per_key / 256) + 1, threads)
    {
        name = ONE_WRITER ? "plain blocked, prefetch, one writer"
                          : "plain blocked, prefetch, atomics";
    }
    Block &block(uint64_t hash) const
    {
        return blocks[size_t((hash >> 32) * blocks.size() >> 32)];
    }
    static uint32_t bit(uint64_t hash, int word)
    {
        static const uint32_t odd[8] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f,
                                        0x165667b1, 0xd3a2646d, 0xfd7046c5, 0xb55a4f09};
        return uint32_t(1) << (uint32_t(hash) * odd[word] >> 27);
    }
    void clear() override
    {
        memset(blocks.data(), 0, blocks.bytes());
    }
    void add(const uint32_t *keys, uint64_t n, int threads) override
    {
#pragma omp parallel for num_threads(ONE_WRITER ? 1 : threads) schedule(static)
        for (uint64_t k = 0; k < n; k++) {
            if (k + AHEAD < n) __builtin_prefetch(&block(mix(uint64_t(keys[k + AHEAD]))), 1);
            const uint64_t hash = mix(uint64_t(keys[k]));
            Block &b = block(hash);
            for (int w = 0; w < 8; w++) {
                if (ONE_WRITER) b.words[w] |= bit(hash, w);
                else __atomic_fetch_or(&b.words[w], bit(hash, w), __ATOMIC_RELAXED);
            }
        }
    }
    void contains(const uint32_t *keys, uint64_t n, uint8_t *found, int threads) override
    {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (uint64_t k = 0; k < n; k++) {
            if (k + AHEAD < n) __builtin_prefetch(&block(mix(uint64_t(keys[k + AHEAD]))));
            const uint64_t hash = mix(uint64_t(keys[k]));
            const Block &b = block(hash);
            uint32_t missing = 0;
            for (int w = 0; w < 8; w++) missing |= bit(hash, w) & ~b.words[w];
            found[k] = missing == 0;
        }
    }
    uint64_t bytes() const override
    {
        return blocks.size() * sizeof(Block);
    }
};
