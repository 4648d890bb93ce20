// khash of klib, in the copy that htslib ships. Its macros define functions for one type each, so
// the choice between the two widths is made at every call, by constants.
#pragma once

#include "contestant.h"

#include <new>
#include <type_traits>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <htslib/khash.h>
KHASH_INIT(peer32, uint32_t, uint32_t, 1, kh_int_hash_func, kh_int_hash_equal)
KHASH_INIT(peer64, uint64_t, uint64_t, 1, kh_int64_hash_func, kh_int64_hash_equal)
#pragma GCC diagnostic pop

template <class K> class Khash : public Contestant<K>
{
  public:
    explicit Khash(const Workload<K> &work) : threads_(work.threads)
    {
        khint_t buckets = khint_t(work.n / 0.77) + 2; // its own highest load
        int status;
        if constexpr (narrow)
            status = kh_resize(peer32, table_ = kh_init(peer32), buckets);
        else
            status = kh_resize(peer64, table_ = kh_init(peer64), buckets);
        if (status < 0)
            throw std::bad_alloc();
    }
    ~Khash() override
    {
        if constexpr (narrow)
            kh_destroy(peer32, table_);
        else
            kh_destroy(peer64, table_);
    }
    void clear() override // keeps its arrays
    {
        if constexpr (narrow)
            kh_clear(peer32, table_);
        else
            kh_clear(peer64, table_);
    }

    void build(const K *keys, const K *values, uint64_t n) override
    {
        for (uint64_t i = 0; i < n; i++) {
            int absent;
            khint_t at;
            if constexpr (narrow)
                at = kh_put(peer32, table_, keys[i], &absent);
            else
                at = kh_put(peer64, table_, keys[i], &absent);
            kh_value(table_, at) = values[i];
        }
    }

    void find(const K *queries, uint64_t n, K *answers) override
    {
        in_pieces(n, threads_, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; i++) {
                khint_t at;
                if constexpr (narrow)
                    at = kh_get(peer32, table_, queries[i]);
                else
                    at = kh_get(peer64, table_, queries[i]);
                if (at != kh_end(table_))
                    answers[i] = kh_value(table_, at);
            }
        });
    }

  private:
    static constexpr bool narrow = sizeof(K) == 4;
    std::conditional_t<narrow, kh_peer32_t, kh_peer64_t> *table_;
    int threads_;
};
