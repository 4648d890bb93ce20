/*
 * join_lists.h: the left rows of a task, hashed: a graph from vertices to rows in compressed sparse row
 * form, for one core and its second-level cache.
 *
 *     vertex v:  keys[offsets[v]] .. keys[offsets[v + 1] - 1], and rows beside them
 *
 * The vertex of a key is what follows the region in its mixed key. Keys of other vertices can never be
 * equal to one's own, so whoever looks for a key may compare a fixed window of keys from the beginning
 * of its list and count the equal ones: no branch depends on how long the list is. Lists that are
 * longer than a window are sorted, so that equal keys lie together and many copies cost one search.
 */
#ifndef HD_JOIN_LISTS_H
#define HD_JOIN_LISTS_H

#include <string.h>

#include "model/hash.h"

typedef hd_value hd_row; /* the values of pairs are row numbers */

#define PAIR_BYTES (sizeof(hd_key) + sizeof(hd_row))
#define WINDOW_LANES (16 / sizeof(hd_key)) /* of a vector that every machine has */
#define WINDOW (2 * WINDOW_LANES)
#define VERTEX_BITS_MAX 15 /* more would not stay in the caches */

typedef struct lists {
    uint32_t shift, mask; /* of the mixed key, to get the vertex */
    uint32_t *offsets;
    hd_key *keys;     /* WINDOW more than there are rows, which equal no key of the region */
    hd_row *rows;     /* NULL where nobody asks which rows they are; else WINDOW more, too */
    uint8_t *matched; /* one a row */
} lists;

static inline hd_key pair_key(const char *pair)
{
    hd_key mixed;
    memcpy(&mixed, pair, sizeof mixed);
    return mixed;
}

static inline hd_row pair_row(const char *pair)
{
    hd_row row;
    memcpy(&row, pair + sizeof(hd_key), sizeof row);
    return row;
}

static inline uint32_t vertex_of(const lists *l, hd_key mixed)
{
    return (uint32_t)(mixed >> l->shift) & l->mask;
}

/* ---------------------------------------------------------------------------------------- windows */

/* A vector of keys, which the compiler makes of what the machine has. */
typedef hd_key key_lanes __attribute__((vector_size(16)));

static inline key_lanes keys_load(const hd_key *keys)
{
    key_lanes lanes;
    memcpy(&lanes, keys, sizeof lanes);
    return lanes;
}

/* Which keys of a window equal `key`: a bit for each. */
static inline uint32_t window_hits(const hd_key *keys, hd_key key)
{
#if HD_KEY_BITS == 32
    return hd_equals_8(keys, key);
#else
    uint32_t hits = 0;
    for (uint32_t i = 0; i < WINDOW; i++) hits |= (uint32_t)(keys[i] == key) << i;
    return hits;
#endif
}

/* ------------------------------------------------------------------------------------ long lists */

static inline void swap_rows(const lists *l, uint32_t a, uint32_t b)
{
    const hd_key key = l->keys[a];
    l->keys[a] = l->keys[b];
    l->keys[b] = key;
    if (l->rows != NULL) {
        const hd_row row = l->rows[a];
        l->rows[a] = l->rows[b];
        l->rows[b] = row;
    }
}

/* Quicksort in three parts: less, equal, more. Linear when there are few keys, however many copies. */
static void sort_list(const lists *l, uint32_t begin, uint32_t end)
{
    while (end - begin > 1) {
        const hd_key pivot = l->keys[begin + (end - begin) / 2];
        uint32_t less = begin, more = end;
        for (uint32_t i = begin; i < more;) {
            if (l->keys[i] < pivot) swap_rows(l, i++, less++);
            else if (l->keys[i] > pivot) swap_rows(l, i, --more);
            else i++;
        }
        /* The larger part goes on here, so that calls nest no deeper than the logarithm. */
        if (less - begin < end - more) {
            sort_list(l, begin, less);
            begin = more;
        } else {
            sort_list(l, more, end);
            end = less;
        }
    }
}

static void sort_long_lists(const lists *l)
{
    for (uint32_t v = 0; v <= l->mask; v++)
        if (l->offsets[v + 1] - l->offsets[v] > WINDOW)
            sort_list(l, l->offsets[v], l->offsets[v + 1]);
}

/* The rows with a key in a sorted list. */
typedef struct run {
    hd_key key;
    uint32_t begin, end;
} run;

static uint32_t first_not_less(const hd_key *keys, uint32_t begin, uint32_t end, hd_key key)
{
    uint32_t n = end - begin;
    while (n > 1) {
        const uint32_t half = n / 2;
        begin += keys[begin + half - 1] < key ? half : 0;
        n -= half;
    }
    return begin + (n == 1 && keys[begin] < key);
}

/* Looks for `key` from vertex v on; *last is what was found last, often the same key again. */
static inline void find_run(const lists *l, uint32_t v, hd_key key, run *last)
{
    if (last->key == key && last->end != 0) return;
    const uint32_t end = l->offsets[v + 1];
    const hd_key after = (hd_key)(key + 1); /* 0 after the last key: everything from begin on */
    last->key = key;
    last->begin = first_not_less(l->keys, l->offsets[v], end, key);
    last->end = after == 0 ? end : first_not_less(l->keys, last->begin, end, after);
}

/* -------------------------------------------------------------------------------------- building */

/* As few as keep lists within a window, but for a few in a thousand. */
static uint32_t vertex_bits(uint64_t rows, uint32_t region_bits)
{
    uint32_t bits = 1;
    while ((uint64_t)(WINDOW / 4) << bits < rows && bits < VERTEX_BITS_MAX) bits++;
    return bits < HD_KEY_BITS - region_bits ? bits : HD_KEY_BITS - region_bits;
}

/* Counts the rows of every vertex and turns the counts into places; returns the longest list. */
static uint32_t count_lists(const lists *l, const char *pairs, uint32_t n)
{
    uint32_t *cursors = l->offsets + 1;
    uint32_t at = 0, longest = 0;
    memset(l->offsets, 0, ((size_t)l->mask + 2) * sizeof *l->offsets);
    for (uint32_t i = 0; i < n; i++) cursors[vertex_of(l, pair_key(pairs + i * PAIR_BYTES))]++;
    for (uint32_t v = 0; v <= l->mask; v++) {
        const uint32_t count = cursors[v];
        cursors[v] = at;
        at += count;
        if (count > longest) longest = count;
    }
    return longest;
}

/*
 * Brings the pairs into their lists. cursors[v] = offsets[v + 1] is where the next row of v goes; at the
 * end that is where the list of v ends and the next begins, as it should be.
 */
static inline void place_pairs(const lists *l, const char *pairs, uint32_t n, hd_row *rows)
{
    uint32_t *cursors = l->offsets + 1;
    for (uint32_t i = 0; i < n; i++) {
        const char *pair = pairs + i * PAIR_BYTES;
        const hd_key key = pair_key(pair);
        const uint32_t at = cursors[vertex_of(l, key)]++;
        l->keys[at] = key;
        if (rows != NULL) rows[at] = pair_row(pair);
    }
}

/* Hashes n pairs of a region. */
static void build_lists(lists *l, const char *pairs, uint32_t n, uint32_t region_bits)
{
    const uint32_t bits = vertex_bits(n, region_bits);
    l->shift = HD_KEY_BITS - region_bits - bits;
    l->mask = (UINT32_C(1) << bits) - 1;
    const uint32_t longest = count_lists(l, pairs, n);
    if (l->rows != NULL) place_pairs(l, pairs, n, l->rows);
    else place_pairs(l, pairs, n, NULL);
    for (uint32_t i = 0; i < WINDOW; i++) l->keys[n + i] = pair_key(pairs) ^ HD_TOP_BIT;
    if (longest > WINDOW) sort_long_lists(l);
}

#endif
