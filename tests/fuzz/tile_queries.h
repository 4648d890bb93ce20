/* tile_queries.h: every question that a tile of one thread answers of a bucket or a slab, and all that it answers. */
#ifndef TEST_TILE_QUERIES_H
#define TEST_TILE_QUERIES_H

#include <stdbool.h>
#include <stdint.h>

#define TILE_SLOTS_MOST 32

/* A bucket in memory of its own, and what is asked of it. Keys and values are cut to their widths. */
typedef struct tile_question {
    void *slots;    /* one bucket, aligned to 16 bytes */
    void *values;   /* of its slots, where they lie apart */
    void *slab;     /* 128 bytes, aligned to them */
    uint32_t *lock; /* one word */
    uint32_t mark_bits, policy, number;
    uint64_t key; /* under the mask it is the key that is looked for */
    uint64_t value;
    int32_t like_slot; /* not below 0: the key of this slot instead */
    uint32_t change;   /* what is changed at the end: TILE_CHANGES, or more for nothing */
} tile_question;
enum {
    TILE_UPDATE,
    TILE_ERASE,
    TILE_CLAIM,
    TILE_FILL,
    TILE_MARK,
    TILE_VACATE,
    TILE_PUT,
    TILE_CHANGES
};

/* The slab's answers are those up to its first vacant slot, behind which there is nothing to know. */
typedef struct tile_answers {
    uint64_t equal, vacant, equal_shared, hit_slot, located, delivered, vacancy_slot, room_slot;
    uint64_t values[TILE_SLOTS_MOST], leans[TILE_SLOTS_MOST], marks[TILE_SLOTS_MOST];
    uint64_t slab_value, slab_values[TILE_SLOTS_MOST];
    uint32_t keys, matches, delivered_count, vacated, locked, locked_twice, lock_left;
    int32_t room;
    uint32_t slab_live, slab_pending, slab_dead, slab_vacant, slab_next, slab_pending_now;
    bool found, passed, has_vacancy, busy, before, repeats, changed;
} tile_answers;

/* One kind of bucket, as one tile sees it. */
typedef struct tile_kind {
    uint32_t key_bits, value_bits, bucket, slot_bytes;
    const char *tile;
    void (*ask)(const tile_question *q, tile_answers *a); /* `a` is all zeros */
} tile_kind;

extern const tile_kind
    *const tile_kinds[]; /* those of one bucket one behind the other, scalar first */
extern const uint32_t tile_kind_count;

#endif
