/*
 * lookup_stream.inl: finding and testing the keys of a batch where most walks end at their first bucket, as a
 * stream. Included by lookup.inl.
 *
 * First looks are all alike and hardly have a branch that could be guessed wrong. A block of keys is aimed at once, by
 * vectors; the first bucket of every key is asked for AHEAD keys before it is looked at. Walks that go on wait
 * with their next bucket on its way, nearly always for a turn at least, and are looked at together.
 *
 * Answers are gathered in a ring and delivered in whole runs, past the caches where there are many. Written one by
 * one, they would cost as much of what limits a core here, its requests to memory under way, as every fourth
 * bucket does: a line is read before the first answer goes into it. Values that lie apart from their keys are one more
 * read: they are asked for when the key is found, and taken when the run is delivered.
 */
#ifndef HD_INSTANCE_NAME
#error "included by instance.c alone"
#endif
#ifndef HD_CPU_LOOKUP_STREAM_H
#define HD_CPU_LOOKUP_STREAM_H

#define AHEAD 32
#define AIMED 64            /* keys aimed at once, at least AHEAD */
#define TURN 32             /* first looks between two turns of the walks that go on */
#define RUN 64              /* answers delivered together */
#define RING 512            /* answers at hand */
#define RING_OLD (RING / 2) /* a walk that is so far behind is not waited for any longer */
/* Answers of fewer keys than that stay in the caches, where the caller will look for them. */
#define PAST_CACHES (UINT64_C(1) << 20)

/* Walks that go on, and the numbers of their keys in the chunk. */
typedef struct stream_queue {
    hd_walk walks[2 * TURN];
    uint32_t keys[2 * TURN];
    uint32_t count;
    uint32_t oldest; /* the first of the keys */
} stream_queue;

/* What a thread has at hand for a chunk of keys. */
typedef struct looking {
    const hd_view *view;
    const hd_batch *batch;
    uint64_t first; /* number of the chunk's first key in the batch */
    hd_key leans[2 * AIMED];
    uint64_t buckets[2 * AIMED];
    stream_queue queues[2];
    uint32_t waiting;   /* the queue of the walks whose bucket was asked for since the last turn */
    uint32_t delivered; /* keys whose answers are delivered */
    uint32_t settled;   /* keys that had an answer at the last turn */
    bool past;          /* answers go past the caches */
    uint8_t found[RING] __attribute__((aligned(64)));
#if HD_APART
    uint64_t slots[RING]; /* whose values are on their way */
#else
    hd_value values[RING] __attribute__((aligned(64)));
#endif
} looking;

static inline void stream_aim(looking *s, uint32_t from, uint32_t count)
{
    const hd_key *keys = (const hd_key *)s->batch->keys + s->first + from;
    hd_key *leans = s->leans + from % (2 * AIMED);
    uint64_t *buckets = s->buckets + from % (2 * AIMED);
    for (uint32_t i = 0; i < count; i++) {
        const hd_walk walk = walk_start(s->view, keys[i]);
        leans[i] = walk.lean;
        buckets[i] = walk_bucket(s->view, &walk);
    }
}

/* ------------------------------------------------------------------------------------- answers */

/* The answer to the i-th key. Where nothing was found, the slot is some slot. */
static inline void stream_tell(int op, looking *s, uint32_t i, bool found, uint64_t slot)
{
#if HD_APART
    if (op == FIND) {
        s->slots[i % RING] = found ? slot : 0;
        __builtin_prefetch(slot_value_at(s->view, s->slots[i % RING]), 0, 2);
    }
#elif HD_VALUE_BITS != 0
    if (op == FIND)
        s->values[i % RING] = word_value(s->view, slot, ((const hd_word *)s->view->slots)[slot]);
#else
    (void)op, (void)slot;
#endif
    s->found[i % RING] = found;
}

/* A whole run of answers, which begins at a cache line in both places if it goes past the caches. */
static inline void run_write(bool past, void *to, const void *from, uint32_t bytes)
{
    if (!past) {
        memcpy(to, from, bytes);
        return;
    }
    for (uint32_t i = 0; i < bytes; i += 16) hd_stream_16((char *)to + i, (const char *)from + i);
}

/* The values of keys that are absent stay as they are. */
static inline void run_write_values(const looking *s, uint64_t first, const uint8_t *found,
                                    uint32_t count)
{
    hd_value *out = (hd_value *)s->batch->values_out + first;
#if HD_APART
    hd_value values[RUN] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < count; i++)
        values[i] = *slot_value_at(s->view, s->slots[s->delivered % RING + i]);
#else
    const hd_value *values = s->values + s->delivered % RING;
#endif
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++) all += found[i];
    if (all == RUN) run_write(s->past, out, values, RUN * sizeof *out);
    else if (all != 0)
        for (uint32_t i = 0; i < count; i++)
            if (found[i]) out[i] = values[i];
}

/* The answers to the next keys, a run of them or less. */
static inline void run_deliver(int op, looking *s, uint32_t count)
{
    const uint8_t *found = s->found + s->delivered % RING;
    const uint64_t first = s->first + s->delivered;
    if (HD_VALUE_BITS != 0 && op == FIND) run_write_values(s, first, found, count);
    if (s->batch->found != NULL)
        run_write(s->past && count == RUN, s->batch->found + first, found, count);
    s->delivered += count;
}

static inline bool is_line(const void *at) { return (uintptr_t)at % 64 == 0; }

static inline bool goes_past(int op, const hd_batch *batch)
{
    return batch->n >= PAST_CACHES && is_line(batch->found) &&
           (op != FIND || is_line(batch->values_out));
}

/* --------------------------------------------------------------------------------------- looks */

/* Asks for the bucket a walk has come to. */
static inline void stream_wait(looking *s, const hd_walk *walk, uint32_t i)
{
    stream_queue *q = &s->queues[s->waiting];
    bucket_prefetch_far(s->view, walk_bucket(s->view, walk));
    q->walks[q->count] = *walk;
    q->keys[q->count++] = i;
    if (i < q->oldest) q->oldest = i;
}

/*
 * The first look for a key: the scheme's find_step in other words. That step returns as soon as a key is found, a branch
 * that is guessed wrong wherever some keys are present and others not; here only a walk that goes on takes one.
 */
static inline void stream_first(int op, looking *s, uint32_t i, sums *sum)
{
    const hd_key lean = s->leans[i % (2 * AIMED)];
    const hd_bucket b = bucket_load(tile_here(), s->view, s->buckets[i % (2 * AIMED)]);
    hd_hit hit;
    const bool found = bucket_lookup(tile_here(), s->view, &b, lean, &hit);
    const bool passed = bucket_is_passed(tile_here(), s->view, &b, lean);
    stream_tell(op, s, i, found, hit.slot);
    sum->found += found;
    if (__builtin_expect(!find_ends(found, passed), 0)) {
        hd_walk walk = walk_start(s->view, ((const hd_key *)s->batch->keys)[s->first + i]);
        if (walk_advance(s->view, &walk)) stream_wait(s, &walk, i);
    }
}

/* Looks at the walks that have waited for a turn; the others will have at the next. */
static inline void stream_turn(int op, looking *s, sums *sum)
{
    stream_queue *q = &s->queues[s->waiting ^ 1];
    sum->looks += q->count;
    for (uint32_t n = 0; n < q->count; n++) {
        hd_walk walk = q->walks[n];
        const hd_bucket b = bucket_load(tile_here(), s->view, walk_bucket(s->view, &walk));
        hd_hit hit;
        const int step = find_step(tile_here(), s->view, &walk, &b, &hit);
        sum->found += step == HD_STEP_FOUND;
        if (step == HD_STEP_ON) stream_wait(s, &walk, q->keys[n]);
        else stream_tell(op, s, q->keys[n], step == HD_STEP_FOUND, hit.slot);
    }
    q->count = 0;
    q->oldest = UINT32_MAX;
    s->waiting ^= 1;
}

/* The queue of the walks that the next turn looks at. */
static inline const stream_queue *stream_ready(const looking *s)
{
    return &s->queues[s->waiting ^ 1];
}

/*
 * A turn after the first looks at the keys before `end`: room is made for what the next keys may add. Values that lie
 * apart are on their way until the next turn.
 */
static inline void stream_pause(int op, looking *s, uint32_t end, sums *sum)
{
    const bool waits = HD_APART && op == FIND;
    uint32_t oldest;
    do {
        stream_turn(op, s, sum);
        oldest = stream_ready(s)->oldest < end ? stream_ready(s)->oldest : end;
    } while (stream_ready(s)->count > TURN || end - oldest > RING_OLD);
    if (!waits) s->settled = oldest;
    while (s->settled - s->delivered >= RUN) run_deliver(op, s, RUN);
    s->settled = oldest;
}

static inline void stream_begin(int op, looking *s, const hd_view *view, const hd_batch *batch,
                                uint64_t first)
{
    s->view = view;
    s->batch = batch;
    s->first = first;
    s->waiting = s->queues[0].count = s->queues[1].count = 0;
    s->queues[0].oldest = s->queues[1].oldest = UINT32_MAX;
    s->delivered = s->settled = 0;
    s->past = goes_past(op, batch);
}

static inline void stream_chunk(int op, const hd_view *view, const hd_batch *batch, uint64_t first,
                                uint64_t end, sums *sum)
{
    const uint32_t n = (uint32_t)(end - first);
    looking s;
    stream_begin(op, &s, view, batch, first);
    sum->looks += n;
    for (uint32_t i = 0; i < n + AHEAD; i++) {
        if (i % AIMED == 0 && i < n) stream_aim(&s, i, n - i < AIMED ? n - i : AIMED);
        if (i < n) bucket_prefetch_far(view, s.buckets[i % (2 * AIMED)]);
        if (i < AHEAD) continue;
        stream_first(op, &s, i - AHEAD, sum);
        if (i % TURN == TURN - 1) stream_pause(op, &s, i + 1 - AHEAD, sum);
    }
    do stream_turn(op, &s, sum);
    while (stream_ready(&s)->count != 0);
    while (n - s.delivered >= RUN) run_deliver(op, &s, RUN);
    if (s.delivered != n) run_deliver(op, &s, n - s.delivered);
    hd_stream_end();
}

#endif
