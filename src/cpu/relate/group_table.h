/*
 * group_table.h: a thread's table of the distinct keys it has met, which numbers them as they come. Small
 * enough for the second-level cache; open addressing, at most half full.
 */
#ifndef HD_CPU_GROUP_TABLE_H
#define HD_CPU_GROUP_TABLE_H

#include <string.h>

#include "model/hash.h"

#define GROUP_TABLE_BITS_MIN 6
#define GROUP_TABLE_BITS_MAX 16
#define GROUP_FEW 4096 /* keys that are worked on without sorting */
#define GROUP_KEYS_MAX (UINT32_C(1) << (GROUP_TABLE_BITS_MAX - 1)) /* distinct ones in a table */

typedef struct group_slot {
    hd_key key;      /* mixed */
    uint32_t number; /* of the key, and 1; 0 in a slot without a key */
} group_slot;

/* One thread's table of distinct keys. A key's place in it comes from the bits behind `used`. */
typedef struct group_table {
    group_slot slots[UINT32_C(1) << GROUP_TABLE_BITS_MAX];
    hd_key keys[GROUP_KEYS_MAX];     /* by number */
    uint64_t places[GROUP_KEYS_MAX]; /* pairs by number, and then where the next one goes */
    uint64_t firsts[GROUP_FEW];      /* where a thread's part of a group begins (group_few.h) */
    uint32_t bits;                   /* of the slots in use: as many as the last region needed */
    uint32_t used;
    uint32_t count;
} __attribute__((aligned(64))) group_table;

HD_FN uint32_t group_home(const group_table *t, hd_key mixed)
{
    return (uint32_t)((hd_key)(mixed << t->used) >> (HD_KEY_BITS - t->bits));
}

/* The slot that holds the key or could. */
HD_FN group_slot *group_find(group_table *t, hd_key mixed)
{
    const uint32_t mask = (UINT32_C(1) << t->bits) - 1;
    uint32_t at = group_home(t, mixed);
    while (t->slots[at].number != 0 && t->slots[at].key != mixed) at = (at + 1) & mask;
    return &t->slots[at];
}

static void group_table_clear(group_table *t)
{
    memset(t->slots, 0, sizeof(group_slot) << t->bits);
}

static void group_table_begin(group_table *t, uint32_t used)
{
    while (t->bits > GROUP_TABLE_BITS_MIN && t->count * UINT32_C(8) < UINT32_C(1) << t->bits)
        t->bits--;
    t->used = used;
    t->count = 0;
    group_table_clear(t);
}

static void group_table_grow(group_table *t)
{
    t->bits += t->bits + 1 < GROUP_TABLE_BITS_MAX ? 2 : 1;
    group_table_clear(t);
    for (uint32_t i = 0; i < t->count; i++) {
        group_slot *slot = group_find(t, t->keys[i]);
        slot->key = t->keys[i];
        slot->number = i + 1;
    }
}

/* The number of a key, new or not; GROUP_KEYS_MAX when there is no room for it. */
HD_FN uint32_t group_number(group_table *t, hd_key mixed)
{
    group_slot *slot = group_find(t, mixed);
    if (slot->number != 0) return slot->number - 1;
    if (t->count == UINT32_C(1) << (t->bits - 1)) {
        if (t->bits == GROUP_TABLE_BITS_MAX) return GROUP_KEYS_MAX;
        group_table_grow(t);
        slot = group_find(t, mixed);
    }
    t->keys[t->count] = mixed;
    t->places[t->count] = 0;
    slot->key = mixed;
    slot->number = ++t->count;
    return t->count - 1;
}

#endif
