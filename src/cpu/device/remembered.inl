/*
 * remembered.inl: what a thread remembers of the keys of a batch whose search was long, so that the next equal key is
 * not searched again: k questions for a key of k pairs, or of k pairs that were erased, would take k * k looks. What is
 * remembered is a number: how many pairs there are, or where the search has ended. Keys are mixed ones, so that nobody who
 * does not know the seed can choose keys that share a slot. A slot that two keys want belongs to the later one.
 */
#ifndef HD_KEY_BITS
#error "included by cpu/graph/graph.c, cpu/slabs/batch.h, cpu/slots/instance.c: they know hd_key"
#endif
#ifndef HD_CPU_REMEMBERED_H
#define HD_CPU_REMEMBERED_H

#include <stdbool.h>
#include <string.h>

#define REMEMBERED_BITS 9
#define REMEMBERED_FROM 32 /* looks, or lines of a list, that make it worth while */

typedef struct remembered {
    bool any;                          /* else nothing below means anything */
    hd_key keys[1 << REMEMBERED_BITS]; /* mixed */
    uint64_t numbers[1 << REMEMBERED_BITS];
    bool known[1 << REMEMBERED_BITS];
} remembered;

static inline uint32_t remembered_slot(hd_key key)
{
    return (uint32_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - REMEMBERED_BITS));
}

/* Whether the key's number is known. */
static inline bool remembered_get(const remembered *r, hd_key key, uint64_t *number)
{
    const uint32_t at = remembered_slot(key);
    if (!r->any || !r->known[at] || r->keys[at] != key) return false;
    *number = r->numbers[at];
    return true;
}

static inline void remembered_put(remembered *r, hd_key key, uint64_t number)
{
    const uint32_t at = remembered_slot(key);
    if (!r->any) memset(r->known, 0, sizeof r->known);
    r->any = true;
    r->known[at] = true;
    r->keys[at] = key;
    r->numbers[at] = number;
}

#endif
