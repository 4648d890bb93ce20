/*
 * slab_whole.h: what is done to a list of slabs (scheme/slab.h) by one thread while nobody else touches it:
 * compacting it and checking it.
 */
#ifndef HD_SLAB_WHOLE_H
#define HD_SLAB_WHOLE_H

#include "scheme/slab.h"

/* A slot of a list, in the order in which slots are filled. */
typedef struct hd_slab_place {
    char *slab;
    uint32_t address; /* HD_SLAB_NONE in the base slab */
    uint32_t bit;     /* HD_SLAB_ORDER: behind the last */
} hd_slab_place;

/* The next bit from `bit` on that is a slot's. */
HD_FN uint32_t slab_bit(uint32_t bit)
{
    while (bit < HD_SLAB_ORDER && slab_slot(bit) >= HD_SLAB_SLOTS) bit++;
    return bit;
}

HD_FN hd_slab_place place_first(char *slab)
{
    hd_slab_place place;
    place.slab = slab;
    place.address = HD_SLAB_NONE;
    place.bit = slab_bit(0);
    return place;
}

/* From behind the last slot of a slab on to the first of the next; false: the list ends. */
HD_FN bool place_enter(const hd_slab_pool *pool, hd_slab_place *place)
{
    const uint32_t next = *slab_next_at(place->slab);
    if (place->bit < HD_SLAB_ORDER) return true;
    if (next == HD_SLAB_NONE) return false;
    *place = place_first(pool_slab(pool, next));
    place->address = next;
    return true;
}

HD_FN hd_key place_key(const hd_slab_place *place)
{
    return *slab_key_at(place->slab, slab_slot(place->bit));
}

HD_FN void place_copy(const hd_slab_place *to, const hd_slab_place *from)
{
    *slab_key_at(to->slab, slab_slot(to->bit)) = place_key(from);
#if HD_VALUE_BITS != 0
    *slab_value_at(to->slab, slab_slot(to->bit)) = *slab_value_at(from->slab, slab_slot(from->bit));
#endif
}

HD_FN void place_clear(const hd_slab_place *place)
{
    *slab_key_at(place->slab, slab_slot(place->bit)) = 0;
#if HD_VALUE_BITS != 0
    *slab_value_at(place->slab, slab_slot(place->bit)) = 0;
#endif
}

/* Gives back the slabs from `address` on, all 0; how many these are. */
HD_FN uint32_t slabs_give(const hd_slab_pool *pool, uint32_t address)
{
    uint32_t given = 0;
    while (address != HD_SLAB_NONE) {
        char *const slab = pool_slab(pool, address);
        const uint32_t next = *slab_next_at(slab);
        memset(slab, 0, HD_SLAB_BYTES);
        slab_return(pool, address);
        address = next;
        given++;
    }
    return given;
}

typedef struct hd_slab_compacted {
    uint32_t dead;  /* slots that are vacant again */
    uint32_t given; /* slabs that went back to the pool */
} hd_slab_compacted;

/* Moves the pairs of a list together, in their order, and gives back the slabs that it needs no more. */
HD_FN hd_slab_compacted slab_compact(const hd_slab_view *view, uint64_t bucket)
{
    hd_slab_place from = place_first(base_slab(&view->buckets, bucket)), to = from;
    hd_slab_compacted done = {0, 0};
    for (; place_enter(&view->pool, &from) && place_key(&from) != 0;
         from.bit = slab_bit(from.bit + 1)) {
        if ((place_key(&from) & HD_STATE_MASK) != HD_STATE_LIVE) {
            done.dead++;
            continue;
        }
        (void)place_enter(&view->pool, &to);
        if (done.dead != 0) place_copy(&to, &from);
        to.bit = slab_bit(to.bit + 1);
    }
    if (done.dead == 0) return done; /* nothing has moved */
    for (; to.bit < HD_SLAB_ORDER; to.bit = slab_bit(to.bit + 1)) place_clear(&to);
    done.given = slabs_give(&view->pool, *slab_next_at(to.slab));
    *slab_next_at(to.slab) = HD_SLAB_NONE;
    *slab_hint_at(base_slab(&view->buckets, bucket)) = to.address;
    return done;
}

/* How many slots of a slab are not VACANT, and how many LIVE. */
typedef struct hd_slab_used {
    uint32_t taken, live;
} hd_slab_used;

HD_FN hd_slab_used slab_used(char *slab)
{
    hd_slab_used used = {0, 0};
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) {
        const hd_key key = *slab_key_at(slab, i);
        used.taken += key != 0;
        used.live += (key & HD_STATE_MASK) == HD_STATE_LIVE;
    }
    return used;
}

/* From a slot on the next one whose state is this, in the order in which slots are filled. */
HD_FN hd_slab_place place_of_state(hd_slab_place place, hd_key state)
{
    while (place.bit < HD_SLAB_ORDER && (place_key(&place) & HD_STATE_MASK) != state)
        place.bit = slab_bit(place.bit + 1);
    return place;
}

/*
 * Makes a list of several slabs shorter where that gives slabs back: of two slabs, by moving the pairs of the second
 * into dead slots of the first. Its other dead slots stay, for insertions to take. Not for multimaps, in which pairs
 * have an order.
 */
HD_FN hd_slab_compacted slab_shorten(const hd_slab_view *view, uint64_t bucket)
{
    char *const base = base_slab(&view->buckets, bucket);
    const uint32_t address = *slab_next_at(base);
    hd_slab_compacted done = {0, 0};
    if (address == HD_SLAB_NONE) return done;
    char *const second = pool_slab(&view->pool, address);
    if (*slab_next_at(second) != HD_SLAB_NONE) return slab_compact(view, bucket);
    const hd_slab_used behind = slab_used(second);
    if (slab_used(base).live + behind.live > HD_SLAB_SLOTS) return done;
    hd_slab_place to = place_of_state(place_first(base), HD_STATE_DEAD);
    hd_slab_place from = place_of_state(place_first(second), HD_STATE_LIVE);
    while (from.bit < HD_SLAB_ORDER) {
        place_copy(&to, &from);
        to = place_of_state(to, HD_STATE_DEAD);
        from.bit = slab_bit(from.bit + 1);
        from = place_of_state(from, HD_STATE_LIVE);
    }
    *slab_next_at(base) = HD_SLAB_NONE;
    *slab_hint_at(base) = HD_SLAB_NONE;
    done.dead = behind.taken; /* the dead ones, and as many as there were pairs */
    done.given = slabs_give(&view->pool, address);
    return done;
}

/* The dead slots, of `dead`, that count for a need: where short lists are left, not those that were left before. */
HD_FN uint64_t slab_dead_for(const hd_slab_need *need, const hd_slab_words *words, uint64_t dead)
{
    const uint64_t left = need->long_lists ? words->found - words->cleared : 0;
    return dead > left ? dead - left : 0;
}

HD_BOTH uint64_t slab_lists(const hd_slab_view *view)
{
    return (uint64_t)view->buckets.region_buckets << view->buckets.region_bits;
}

/* A slab by its number: those of the base, then those of the pool. */
typedef struct hd_slab_at {
    char *slab;      /* NULL: nobody has taken it */
    uint32_t region; /* one with the leading bits of its keys */
} hd_slab_at;

HD_FN hd_slab_at slab_by_number(const hd_slab_view *view, uint64_t number)
{
    const hd_view *v = &view->buckets;
    const uint64_t buckets = slab_lists(view);
    hd_slab_at at;
    at.slab = NULL;
    at.region = 0;
    if (number < buckets) {
        at.slab = base_slab(v, number);
        at.region = (uint32_t)(number / v->region_buckets);
        return at;
    }
    const uint32_t word = (uint32_t)((number - buckets) / 32),
                   bit = (uint32_t)(number - buckets) % 32;
    if ((view->pool.taken[word] >> bit & 1) == 0) return at;
    at.slab = pool_slab(&view->pool, pool_address(&view->pool, word, bit));
    at.region = *slab_quarter_at(at.slab) << (v->region_bits - 2);
    return at;
}

/* A list of several slabs: its number, and the address of the second one. */
typedef struct hd_slab_long {
    uint32_t bucket;
    uint32_t address;
} hd_slab_long;

/*
 * The list whose second slab is the one with this number in the pool; false: it is none's. Its first slot tells the
 * list, since that is filled first, and keys stay there when they are dead. While others compact lists: what slabs behind a
 * second one hold may change, but none of them is ever a second one then.
 */
HD_FN bool slab_second_of(const hd_slab_view *view, uint64_t number, hd_slab_long *list)
{
    const hd_view *v = &view->buckets;
    const hd_slab_at at = slab_by_number(view, slab_lists(view) + number);
    if (at.slab == NULL) return false;
    const hd_key word = *slab_key_at(at.slab, slab_slot(slab_bit(0)));
    if (word == 0) return false;
    list->bucket = (uint32_t)slab_bucket(v, mixed_from_lean(v, at.region, word & ~HD_STATE_MASK));
    list->address = pool_address(&view->pool, (uint32_t)(number / 32), (uint32_t)(number % 32));
    return *slab_next_at(base_slab(v, list->bucket)) == list->address;
}

/* Whether a list may go on at this address. `seen` has a bit for every slab, as pool->taken has. */
HD_FN bool census_may_follow(const hd_slab_pool *pool, uint32_t address, uint32_t *seen)
{
    const uint32_t bit = UINT32_C(1) << address % 32;
    if (!pool_has(pool, address) || (*pool_word(pool, address) & bit) == 0) return false;
    return (fetch_or_relaxed_32(seen + (pool_word(pool, address) - pool->taken), bit) & bit) == 0;
}

HD_FN void census_slot(const hd_slab_view *view, uint64_t bucket, hd_key word, uint32_t depth,
                       bool *vacant, hd_slab_census *census)
{
    const uint32_t region = (uint32_t)(bucket / view->buckets.region_buckets);
    const hd_key state = word & HD_STATE_MASK, lean = word & ~HD_STATE_MASK;
    census->gaps += *vacant && word != 0;
    *vacant = word == 0;
    if (word == 0) return;
    census->live += state == HD_STATE_LIVE;
    census->looks[depth < 8 ? depth : 7] += state == HD_STATE_LIVE;
    census->dead += state == HD_STATE_DEAD;
    census->pending += state == HD_STATE_PENDING || state == 0;
    census->misplaced +=
        slab_bucket(&view->buckets, mixed_from_lean(&view->buckets, region, lean)) != bucket;
}

/* Whether a key word stands in a list before this place. */
HD_FN bool census_met(const hd_slab_pool *pool, char *base, const hd_slab_place *here, hd_key word)
{
    for (hd_slab_place p = place_first(base); p.slab != here->slab || p.bit != here->bit;) {
        if (place_key(&p) == word) return true;
        p.bit = slab_bit(p.bit + 1);
        if (!place_enter(pool, &p)) return false;
    }
    return false;
}

/* Keys of a list without faults that stand there for the second time. */
HD_FN uint64_t census_twice(const hd_slab_view *view, char *base)
{
    uint64_t twice = 0;
    for (hd_slab_place p = place_first(base); place_enter(&view->pool, &p);
         p.bit = slab_bit(p.bit + 1)) {
        const hd_key word = place_key(&p);
        if (word == 0) break;
        if ((word & HD_STATE_MASK) == HD_STATE_LIVE)
            twice += census_met(&view->pool, base, &p, word);
    }
    return twice;
}

/* Counts and checks one list; `seen` is 0 before the first. Where keys are unique none may stand there twice. */
HD_FN void slab_inspect(const hd_slab_view *view, uint64_t bucket, bool unique, uint32_t *seen,
                        hd_slab_census *census)
{
    char *slab = base_slab(&view->buckets, bucket);
    const uint32_t region = (uint32_t)(bucket / view->buckets.region_buckets);
    const uint32_t quarter = region >> (view->buckets.region_bits - 2);
    uint32_t length = 0, hint = *slab_hint_at(slab); /* until it is met */
    bool vacant = false;
    for (;;) {
        for (uint32_t bit = slab_bit(0); bit < HD_SLAB_ORDER; bit = slab_bit(bit + 1))
            census_slot(view, bucket, *slab_key_at(slab, slab_slot(bit)), length, &vacant, census);
        const uint32_t next = *slab_next_at(slab);
        if (next == HD_SLAB_NONE) break;
        census->gaps += vacant;
        if (!census_may_follow(&view->pool, next, seen)) {
            census->astray++;
            unique = false;
            break;
        }
        length++;
        hint = hint == next ? HD_SLAB_NONE : hint;
        slab = pool_slab(&view->pool, next);
        census->astray += *slab_quarter_at(slab) != quarter;
    }
    census->astray += hint != HD_SLAB_NONE;
    if (unique) census->twice += census_twice(view, base_slab(&view->buckets, bucket));
    census->chained += length;
    census->lengths[length < 8 ? length : 7]++;
}

#endif
