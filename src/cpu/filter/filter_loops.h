/*
 * filter_loops.h: the loops over keys of the CPU's Bloom filter, for cpu/filter/filter.c. `hashes` and `wide`
 * are constants at every call.
 *
 * Keys go in waves: the blocks of the next wave are on their way to the caches while those of this
 * one are looked at. With `wide` a block is read and written as one vector. On the machines where that
 * is used it does no harm when others read or write it; without it every access is an atomic one.
 */
#ifndef HD_FILTER_LOOPS_H
#define HD_FILTER_LOOPS_H

#include "base/atomic.h"
#include "cpu/filter/bloom_avx2.h"
#include "scheme/bloom.h"

#define WAVE 32
#define WORDS HD_FILTER_BLOCK_WORDS

/* Keys whose blocks have been asked for. */
typedef struct wave {
    uint32_t count;
    uint32_t block[WAVE], spread[WAVE];
} wave;

/* Takes the keys from `at` on; `mixed` says that they are that already. */
HD_FN void wave_take(const hd_filter_view *view, const hd_key *keys, uint64_t at, uint64_t end,
                     bool mixed, wave *w)
{
    w->count = (uint32_t)(end - at < WAVE ? end - at : WAVE);
    for (uint32_t i = 0; i < w->count; i++) {
        const hd_key key = mixed ? keys[at + i] : mix_key(&view->mix, keys[at + i]);
        w->block[i] = bloom_block(view, key);
        w->spread[i] = bloom_spread(key);
    }
}

HD_FN uint32_t *block_words(const hd_filter_view *view, uint32_t block)
{
    return view->words + (uint64_t)block * WORDS;
}

HD_FN void wave_fetch(const hd_filter_view *view, const wave *w, int for_writing)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const uint32_t *words = block_words(view, w->block[i]);
        if (for_writing) __builtin_prefetch(words, 1);
        else __builtin_prefetch(words, 0);
    }
}

/* A snapshot of a block, by atomic steps. */
HD_FN void block_read(const uint32_t *words, uint32_t seen[WORDS])
{
    for (int w = 0; w < WORDS; w += 2) {
        const uint64_t pair = load_relaxed_64((const uint64_t *)(const void *)(words + w));
        memcpy(seen + w, &pair, sizeof pair);
    }
}

/* Whether every sector is a word, so that a loop over words is one over hashes. */
#define SECTORS_ARE_WORDS(hashes) ((hashes) == WORDS)

HD_FN bool block_has(const uint32_t seen[WORDS], uint32_t spread, uint32_t hashes)
{
    uint32_t missing = 0;
    if (SECTORS_ARE_WORDS(hashes)) {
        for (uint32_t w = 0; w < WORDS; w++)
            missing |= ~seen[w] & UINT32_C(1) << (spread * bloom_salt(w) >> 27);
        return missing == 0;
    }
    for (uint32_t i = 0; i < hashes; i++) {
        const uint32_t position = bloom_position(spread, bloom_salt(i), i, hashes);
        missing |= ~seen[position / 32] >> position % 32;
    }
    return (missing & 1) == 0;
}

/* The key's bits. */
HD_FN void block_bits(uint32_t spread, uint32_t hashes, uint32_t bits[WORDS])
{
    if (SECTORS_ARE_WORDS(hashes)) {
        for (uint32_t w = 0; w < WORDS; w++)
            bits[w] = UINT32_C(1) << (spread * bloom_salt(w) >> 27);
        return;
    }
    memset(bits, 0, WORDS * sizeof *bits);
    for (uint32_t i = 0; i < hashes; i++) {
        const uint32_t position = bloom_position(spread, bloom_salt(i), i, hashes);
        bits[position / 32] |= UINT32_C(1) << position % 32;
    }
}

/* Sets bits of a block. `shared`: another thread may be setting others. */
HD_FN void block_set(uint32_t *words, const uint32_t bits[WORDS], bool shared, bool wide)
{
    uint32_t seen[WORDS];
    if (wide && !shared) { /* no copy: it would be read back before it is stored */
        for (int w = 0; w < WORDS; w++) words[w] |= bits[w];
        return;
    }
    block_read(words, seen);
    for (int w = 0; w < WORDS; w++) seen[w] = shared ? bits[w] & ~seen[w] : bits[w] | seen[w];
    for (int w = 0; w < WORDS; w += 2) {
        uint64_t *pair = (uint64_t *)(void *)(words + w), with;
        memcpy(&with, seen + w, sizeof with);
        if (!shared) store_relaxed_64(pair, with);
        else if (with != 0) or_relaxed_64(pair, with);
    }
}

/* Adds keys [begin, end). */
HD_FN void add_loop(const hd_filter_view *view, const hd_key *keys, uint64_t begin, uint64_t end,
                    bool mixed, bool shared, uint32_t hashes, bool wide)
{
    wave waves[2];
    wave_take(view, keys, begin, end, mixed, &waves[0]);
    wave_fetch(view, &waves[0], 1);
    for (uint64_t at = begin, turn = 0; at < end; at += WAVE, turn ^= 1) {
        const wave *w = &waves[turn];
        const uint64_t next = end - at < WAVE ? end : at + WAVE;
        wave_take(view, keys, next, end, mixed, &waves[turn ^ 1]);
        wave_fetch(view, &waves[turn ^ 1], 1);
        for (uint32_t i = 0; i < w->count; i++) {
            uint32_t *words = block_words(view, w->block[i]), bits[WORDS];
            if (wide && !shared && SECTORS_ARE_WORDS(hashes)) {
                wide_set(words, w->spread[i]);
                continue;
            }
            block_bits(w->spread[i], hashes, bits);
            block_set(words, bits, shared, wide);
        }
    }
}

/* Looks for keys [begin, end) and returns how many may be there. */
HD_FN uint64_t contains_loop(const hd_filter_view *view, const hd_key *keys, uint64_t begin,
                             uint64_t end, uint8_t *found, uint32_t hashes, bool wide)
{
    wave waves[2];
    uint64_t count = 0;
    wave_take(view, keys, begin, end, false, &waves[0]);
    wave_fetch(view, &waves[0], 0);
    for (uint64_t at = begin, turn = 0; at < end; at += WAVE, turn ^= 1) {
        const wave *w = &waves[turn];
        const uint64_t next = end - at < WAVE ? end : at + WAVE;
        wave_take(view, keys, next, end, false, &waves[turn ^ 1]);
        wave_fetch(view, &waves[turn ^ 1], 0);
        for (uint32_t i = 0; i < w->count; i++) {
            const uint32_t *words = block_words(view, w->block[i]);
            uint32_t seen[WORDS];
            if (!wide) block_read(words, seen);
            const bool has = wide && SECTORS_ARE_WORDS(hashes)
                                 ? wide_has(words, w->spread[i])
                                 : block_has(wide ? words : seen, w->spread[i], hashes);
            if (found != NULL) found[at + i] = has;
            count += has;
        }
    }
    return count;
}

#endif
