// The simplest table that takes the hardware seriously: linear probing, one CAS an insert, the slot
// of the key `Ahead` places later prefetched, huge pages. It has no growth, no erase, a reserved
// key, and no defence against bad keys; what it shows is how fast so little can be. With Ahead = 0
// and load 0.5 it is the algorithm of growt's "folklore" table, which no package carries.
#pragma once

#include "contestant.h"

#include <atomic>

template <class K, unsigned Ahead> class LinearProbing : public Contestant<K>
{
  public:
    LinearProbing(const Workload<K> &work, double load)
        : empty_(work.reserved), threads_(work.threads),
          slots_(uint64_t(work.n / load) + 1, threads_)
    {
        clear();
    }
    uint64_t bytes() override
    {
        return slots_.size() * sizeof(Slot);
    }

    void clear() override
    {
        in_pieces(slots_.size(), threads_, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++)
                slots_[i] = Slot{empty_, 0};
        });
    }

    void build(const K *keys, const K *values, uint64_t n) override
    {
        in_pieces(n, threads_, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) {
                if (Ahead && i + Ahead < end)
                    __builtin_prefetch(&slots_[home(keys[i + Ahead])], 1);
                insert_one(keys[i], values[i]);
            }
        });
    }

    void find(const K *queries, uint64_t n, K *answers) override
    {
        in_pieces(n, threads_, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) {
                if (Ahead && i + Ahead < end)
                    __builtin_prefetch(&slots_[home(queries[i + Ahead])]);
                for (uint64_t at = home(queries[i]);; at = next(at)) {
                    Slot slot = slots_[at];
                    if (slot.key == queries[i])
                        answers[i] = slot.value;
                    if (slot.key == queries[i] || slot.key == empty_)
                        break;
                }
            }
        });
    }

  private:
    struct alignas(2 * sizeof(K)) Slot {
        K key, value;
    };

    uint64_t home(K key) const // a multiplicative hash, scaled to any number of slots
    {
        return uint64_t((unsigned __int128)(key * 0x9e3779b97f4a7c15u) * slots_.size() >> 64);
    }
    uint64_t next(uint64_t at) const
    {
        return at + 1 == slots_.size() ? 0 : at + 1;
    }

    // Reads and writes never overlap in this benchmark, so a pair of two words needs no more than a
    // claim of its key; a pair in one word goes in whole.
    void insert_one(K key, K value)
    {
        for (uint64_t at = home(key);; at = next(at)) {
            Slot &slot = slots_[at];
            K seen = __atomic_load_n(&slot.key, __ATOMIC_RELAXED);
            if (seen == empty_ && claim(slot, seen, key, value))
                return;
            if (seen == key)
                return;
        }
    }
    // On failure `seen` is the key that came first.
    bool claim(Slot &slot, K &seen, K key, K value)
    {
        if constexpr (sizeof(K) == 4) {
            Slot expected{empty_, 0}, wanted{key, value};
            bool won = __atomic_compare_exchange(&slot, &expected, &wanted, false, __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED);
            seen = expected.key;
            return won;
        } else {
            bool won = __atomic_compare_exchange_n(&slot.key, &seen, key, false, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED);
            if (won || seen == key)
                slot.value = value;
            return won;
        }
    }

    K empty_;
    int threads_;
    HugeArray<Slot> slots_;
};
