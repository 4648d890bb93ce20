/*
 * slot.h: what a slot is, and the steps that change one.
 *
 * A slot is one word of view->slots. Three kinds, by the widths of key and value:
 *
 *   one word     32- or 64-bit keys of sets; 32-bit key and value packed into 64 bits. One CAS
 *                moves the whole slot.
 *   wide         64-bit key and value, 16 bytes. One 128-bit CAS where the machine has it;
 *                elsewhere the key is first made BUSY, then the value written, then the key.
 *   apart        12-byte pairs: the word is the key, the value lies in view->values at the same
 *                index, so that no byte is lost to padding. Claimed by way of BUSY.
 *
 * A slot keeps its marks (hash.h) whatever is put into it; pairs are handed on with bare keys. A scheme
 * that clears marks in buckets with room, where slots are being claimed, defines HD_MARKS_ANYWHERE.
 *
 * Slots are numbered through the whole table: slot = bucket * HD_BUCKET + position.
 *
 * The files of this room; a unit has one of the three kinds:
 *
 *     slot_word.inl, slot_wide.inl, slot_apart.inl   claiming, reading, changing and erasing a slot of that kind
 *     slab_slot.h                                    the slots of slab hashes, which have states of their own
 */
#ifndef HD_SLOT_H
#define HD_SLOT_H

#include <heddle/heddle.h>

#include "base/atomic.h"
#include "model/hash.h"

#define HD_HAS_VALUES (HD_VALUE_BITS != 0)
#define HD_APART (HD_VALUE_BITS != 0 && HD_VALUE_BITS != HD_KEY_BITS)
#define HD_WIDE (HD_KEY_BITS == 64 && HD_VALUE_BITS == 64)
/* Key-sized lanes in a word. */
#define HD_STRIDE (HD_VALUE_BITS == HD_KEY_BITS ? 2 : 1)

/* A pair on the move. */
typedef struct hd_pair {
    hd_key lean;
    hd_value value;
} hd_pair;

#if HD_APART
#include "slot/slot_apart.inl"
#elif HD_WIDE
#include "slot/slot_wide.inl"
#else
#include "slot/slot_word.inl"
#endif

/* How a slot is claimed from `seen` without a CAS on the whole of it. Shared by wide and apart. */
#if HD_APART || HD_WIDE
HD_FN bool key_cas(hd_key *key, hd_key from, hd_key to)
{
#if HD_KEY_BITS == 32
    return cas_32(key, from, to);
#else
    return cas_64(key, from, to);
#endif
}

/* Puts a key in the place of BUSY; `marks` are those it was made BUSY with. */
HD_FN void key_arrive(const hd_view *view, hd_key *key, hd_key lean, hd_key marks)
{
#if defined(HD_MARKS_ANYWHERE) /* marks that were cleared since stay cleared */
    const hd_key turns = key_bare(view, HD_KEY_BUSY) ^ lean;
    (void)marks;
#if HD_KEY_BITS == 32
    xor_release_32(key, turns);
#else
    xor_release_64(key, turns);
#endif
#elif HD_KEY_BITS == 32
    store_release_32(key, key_with_marks(view, lean, marks));
#else
    store_release_64(key, key_with_marks(view, lean, marks));
#endif
}

HD_FN bool slot_claim_by_key(const hd_view *view, uint64_t slot, hd_key seen, hd_pair pair)
{
    hd_key *key = slot_key_at(view, slot);
    if (!key_cas(key, seen, key_with_marks(view, HD_KEY_BUSY, seen))) return false;
    *slot_value_at(view, slot) = pair.value;
    key_arrive(view, key, pair.lean, seen);
    return true;
}
#endif

/* Clears a mark in the key word of a slot, beside others that do the same. */
HD_FN void slot_mark(const hd_view *view, uint64_t slot, hd_key bit)
{
#if HD_KEY_BITS == 32
    and_relaxed_32(slot_key_at(view, slot), ~bit);
#else
    and_relaxed_64(slot_key_at(view, slot), ~bit);
#endif
}

/* Applies a policy to a value, beside others that do the same. */
HD_FN void value_update(hd_value *at, uint32_t policy, hd_value value)
{
#if HD_VALUE_BITS == 64
    if (policy == HEDDLE_POLICY_REPLACE) store_relaxed_64(at, value);
    if (policy == HEDDLE_POLICY_ADD) add_relaxed_64(at, value);
    if (policy == HEDDLE_POLICY_MIN) min_relaxed_64(at, value);
    if (policy == HEDDLE_POLICY_MAX) max_relaxed_64(at, value);
#else
    if (policy == HEDDLE_POLICY_REPLACE) store_relaxed_32(at, value);
    if (policy == HEDDLE_POLICY_ADD) add_relaxed_32(at, value);
    if (policy == HEDDLE_POLICY_MIN) min_relaxed_32(at, value);
    if (policy == HEDDLE_POLICY_MAX) max_relaxed_32(at, value);
#endif
}

/* The same to the value of a live slot. */
HD_FN void slot_update(const hd_view *view, uint64_t slot, uint32_t policy, hd_value value)
{
#if HD_VALUE_BITS != 0
    value_update(slot_value_at(view, slot), policy, value);
#else
    (void)view, (void)slot, (void)policy, (void)value;
#endif
}

/* The same by a tile that has the region to itself. */
HD_FN void slot_update_alone(const hd_view *view, uint64_t slot, uint32_t policy, hd_value value)
{
#if HD_VALUE_BITS != 0
    hd_value *at = slot_value_at(view, slot);
    if (policy == HEDDLE_POLICY_REPLACE) *at = value;
    if (policy == HEDDLE_POLICY_ADD) *at += value;
    if (policy == HEDDLE_POLICY_MIN && value < *at) *at = value;
    if (policy == HEDDLE_POLICY_MAX && value > *at) *at = value;
#else
    (void)view, (void)slot, (void)policy, (void)value;
#endif
}

#endif
