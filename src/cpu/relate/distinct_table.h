/*
 * distinct_table.h: a thread's table of the distinct keys it has met, for questions that need no row numbers.
 *
 * A slot holds a key and nothing else, so that a line of the cache holds as many as can be. A slot without a
 * key holds `empty`: in a region of sorted keys one that belongs to another region; among the caller's keys
 * one drawn at random, which has a slot of its own behind the others in case it is met.
 *
 * Rows are worked on in blocks: first the slot of every row is found, then what is asked for is counted, each
 * in a loop of its own. The first loop looks at two slots and branches for keys that are in neither. Whether
 * a key of a sorted region is new decides only how far the end of the list of keys moves. The list may lie
 * where the rows are: it is never ahead of them.
 */
#ifndef HD_CPU_DISTINCT_TABLE_H
#define HD_CPU_DISTINCT_TABLE_H

#include "cpu/relate/group_few.h"

#define DISTINCT_BLOCK 256
#define DISTINCT_BITS_MIN 9 /* of the slots: a block's keys and no more fill half of them */

/* Where rows come from: the caller's keys, or records (a key, mixed, and where rows are asked for its row). */
typedef struct distinct_source {
    const hd_key *keys;
    const char *records;
    hd_key mul[2]; /* of the mix of the caller's keys */
    uint32_t used; /* leading bits that all keys of the records have in common */
} distinct_source;

typedef struct distinct_table {
    hd_key *slots;   /* 2^bits and one */
    uint64_t *sizes; /* by slot; NULL where nobody asks */
    uint32_t *at;    /* by number of the key: its slot */
    uint64_t *dense; /* by number: sizes, once they are gathered */
    char *out;       /* records of the keys met */
    hd_key empty;
    bool odd; /* the key that is like an empty slot was met */
    uint32_t bits, bits_most;
    uint64_t most; /* keys at most: records have room for no more */
    uint64_t count;
} distinct_table;

/* Keys that a table with so many slots takes. */
HD_FN uint64_t distinct_room(uint32_t bits) { return UINT64_C(1) << (bits - 1); }

HD_FN uint32_t distinct_bits(uint64_t keys)
{
    uint32_t bits = DISTINCT_BITS_MIN;
    while (distinct_room(bits) < keys) bits++;
    return bits;
}

HD_FN uint64_t distinct_line(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Bytes of the arrays of a table; records of keys are elsewhere. */
static uint64_t distinct_table_bytes(uint32_t bits, bool sizes)
{
    const uint64_t slots = (UINT64_C(1) << bits) + 1, keys = distinct_room(bits);
    return distinct_line(slots * sizeof(hd_key)) + distinct_line(keys * sizeof(uint32_t)) +
           (sizes ? distinct_line(slots * sizeof(uint64_t)) + distinct_line(keys * sizeof(uint64_t))
                  : 0);
}

static void distinct_table_lay_out(distinct_table *t, char *memory, uint32_t bits, bool sizes)
{
    const uint64_t slots = (UINT64_C(1) << bits) + 1, keys = distinct_room(bits);
    memset(t, 0, sizeof *t);
    t->bits_most = bits;
    t->most = keys;
    t->slots = (hd_key *)(void *)memory;
    memory += distinct_line(slots * sizeof(hd_key));
    t->at = (uint32_t *)(void *)memory;
    memory += distinct_line(keys * sizeof(uint32_t));
    if (!sizes) return;
    t->sizes = (uint64_t *)(void *)memory;
    t->dense = (uint64_t *)(void *)(memory + distinct_line(slots * sizeof(uint64_t)));
}

static void distinct_clear(distinct_table *t)
{
    const uint64_t slots = UINT64_C(1) << t->bits;
    for (uint64_t i = 0; i < slots; i++) t->slots[i] = t->empty;
}

/* An empty table with slots for as many keys as the last time, or for `keys`. */
static void distinct_begin(distinct_table *t, uint64_t keys, hd_key empty, char *out)
{
    t->bits = distinct_bits(keys + keys / 4 + DISTINCT_BLOCK);
    if (t->bits > t->bits_most) t->bits = t->bits_most;
    t->empty = empty;
    t->odd = false;
    t->out = out;
    t->count = 0;
    distinct_clear(t);
}

HD_FN hd_key distinct_key(const char *records, uint64_t i, bool rows)
{
    hd_key key;
    memcpy(&key, records + i * (rows ? GROUP_PAIR : sizeof key), sizeof key);
    return key;
}

HD_FN group_row distinct_row(const char *records, uint64_t i)
{
    group_row row;
    memcpy(&row, records + i * GROUP_PAIR + sizeof(hd_key), sizeof row);
    return row;
}

HD_FN void distinct_put(char *records, uint64_t i, bool rows, hd_key key, group_row row)
{
    char *to = records + i * (rows ? GROUP_PAIR : sizeof key);
    memcpy(to, &key, sizeof key);
    if (rows) memcpy(to + sizeof key, &row, sizeof row);
}

/* Bits that spread the keys over the slots. Those of records are mixed; their first bits are all the same. */
HD_FN hd_key distinct_spread(const distinct_source *s, bool raw, hd_key key)
{
    return raw ? group_few_mix(key, s->mul[0], s->mul[1]) : (hd_key)(key << s->used);
}

/* Sizes by number of the key. */
static void distinct_gather(distinct_table *t)
{
    if (t->sizes == NULL) return;
    for (uint64_t i = 0; i < t->count; i++) t->dense[i] = t->sizes[t->at[i]];
}

/* The slot of a key, which is there or gets the slot. */
HD_FN uint32_t distinct_slot(distinct_table *t, hd_key key, hd_key spread, bool raw, bool *met)
{
    const uint32_t mask = (UINT32_C(1) << t->bits) - 1;
    uint32_t at = (uint32_t)(spread >> (HD_KEY_BITS - t->bits));
    if (raw && key == t->empty) {
        *met = t->odd;
        t->odd = true;
        return mask + 1;
    }
    while (t->slots[at] != key && t->slots[at] != t->empty) at = (at + 1) & mask;
    *met = t->slots[at] == key;
    t->slots[at] = key;
    return at;
}

/* Four times the slots. */
static void distinct_grow(const distinct_source *s, distinct_table *t, bool raw, bool rows)
{
    distinct_gather(t);
    t->bits = t->bits + 2 < t->bits_most ? t->bits + 2 : t->bits_most;
    t->odd = false;
    distinct_clear(t);
    for (uint64_t i = 0; i < t->count; i++) {
        const hd_key key = distinct_key(t->out, i, rows);
        bool met;
        t->at[i] = distinct_slot(t, key, distinct_spread(s, raw, key), raw, &met);
        if (t->sizes != NULL) t->sizes[t->at[i]] = t->dense[i];
    }
}

/* Makes room for one more block; false when there is none. */
static bool distinct_make_room(const distinct_source *s, distinct_table *t, bool raw, bool rows)
{
    if (t->count + DISTINCT_BLOCK > t->most) return false;
    if (t->count + DISTINCT_BLOCK > distinct_room(t->bits)) distinct_grow(s, t, raw, rows);
    return true;
}

/* 1 where a slot holds another key; by a sum, of which no compiler makes branches. */
HD_FN uint32_t distinct_other(hd_key there, hd_key key, hd_key empty)
{
    return ((uint32_t)(there != key) + (uint32_t)(there != empty)) >> 1;
}

/* The rows [begin, end), a block at most: slots[i] is that of row begin + i. New keys go to the list. */
HD_FN void distinct_find(const distinct_source *s, distinct_table *t, uint64_t begin, uint64_t end,
                         uint32_t *found, bool raw, bool rows)
{
    /* Copies: what is written could lie anywhere. */
    const distinct_source from = *s;
    hd_key *const slots = t->slots;
    uint32_t *const places = t->at;
    char *const out = t->out;
    const hd_key empty = t->empty;
    const uint32_t shift = HD_KEY_BITS - t->bits, mask = (UINT32_C(1) << t->bits) - 1;
    uint64_t count = t->count;
    for (uint64_t i = begin; i < end; i++) {
        const hd_key key = raw ? from.keys[i] : distinct_key(from.records, i, rows);
        const group_row row = raw || !rows ? (group_row)i : distinct_row(from.records, i);
        const uint32_t home = (uint32_t)(distinct_spread(&from, raw, key) >> shift);
        const hd_key first = slots[home], second = slots[(home + 1) & mask];
        const uint32_t apart = distinct_other(first, key, empty);
        uint32_t at = (home + apart) & mask;
        hd_key there = first ^ ((first ^ second) & (0 - (hd_key)apart));
        if (__builtin_expect(distinct_other(there, key, empty) != 0, 0)) do {
                at = (at + 1) & mask;
                there = slots[at];
            } while (there != key && there != empty);
        if (raw && __builtin_expect(key == empty, 0)) {
            at = mask + 1;
            there = t->odd ? key : (hd_key)~key;
            t->odd = true;
        }
        found[i - begin] = at;
        /* Few keys are hardly ever new, of many nobody can guess: then all is written, new or not. */
        if (raw && __builtin_expect(there == key, 1)) continue;
        slots[at] = key;
        distinct_put(out, count, rows, key, row);
        places[count] = at;
        count += there != key;
    }
    t->count = count;
}

/* One block; false when there are too many keys. */
HD_FN bool distinct_block(const distinct_source *s, distinct_table *t, uint64_t begin, uint64_t end,
                          bool raw, bool rows)
{
    uint32_t found[DISTINCT_BLOCK];
    const uint64_t known = t->count;
    if (!distinct_make_room(s, t, raw, rows)) return false;
    distinct_find(s, t, begin, end, found, raw, rows);
    if (t->sizes == NULL) return true;
    uint64_t *const sizes = t->sizes;
    for (uint64_t i = known; i < t->count; i++) sizes[t->at[i]] = 0;
    for (uint64_t i = 0; i < end - begin; i++) sizes[found[i]]++;
    return true;
}

/* One compiled loop for each kind of source. */
static bool distinct_block_any(const distinct_source *s, distinct_table *t, uint64_t begin,
                               uint64_t end, bool rows)
{
    if (s->keys != NULL)
        return rows ? distinct_block(s, t, begin, end, true, true)
                    : distinct_block(s, t, begin, end, true, false);
    return rows ? distinct_block(s, t, begin, end, false, true)
                : distinct_block(s, t, begin, end, false, false);
}

/* The rows [begin, end); false when there are too many keys, or another thread has met too many. */
static bool distinct_rows(const distinct_source *s, distinct_table *t, uint64_t begin, uint64_t end,
                          bool rows, const bool *many)
{
    while (begin < end) {
        const uint64_t stop = end - begin < DISTINCT_BLOCK ? end : begin + DISTINCT_BLOCK;
        if (__atomic_load_n(many, __ATOMIC_RELAXED) || !distinct_block_any(s, t, begin, stop, rows))
            return false;
        begin = stop;
    }
    return true;
}

/* Adds `count` keys that another table has met, and their sizes; false when there are too many. */
static bool distinct_add(const distinct_source *s, distinct_table *t, const char *records,
                         const uint64_t *sizes, uint64_t count, bool rows)
{
    const bool raw = s->keys != NULL;
    for (uint64_t i = 0; i < count; i++) {
        const hd_key key = distinct_key(records, i, rows);
        bool met;
        uint32_t at;
        if (!distinct_make_room(s, t, raw, rows)) return false;
        at = distinct_slot(t, key, distinct_spread(s, raw, key), raw, &met);
        if (!met) {
            if (t->sizes != NULL) t->sizes[at] = 0;
            t->at[t->count] = at;
            distinct_put(t->out, t->count++, rows, key, rows ? distinct_row(records, i) : 0);
        }
        if (t->sizes != NULL) t->sizes[at] += sizes[i];
    }
    return true;
}

#endif
