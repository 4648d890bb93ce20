/* tile_queries.inl: one tile's answers; compiled for every width, bucket and tile of the CPU's (fuzz.cmake). */
#ifndef HD_TILE_SYMBOL
#error "included by sources of fuzz.cmake alone"
#endif
#include <string.h>

#include "fuzz/tile_queries.h"
#include "tile/slab_tile.h"
#include "tile/tile.h"
#include "tile/tile_multi.h"

static hd_view view_of(const tile_question *q)
{
    hd_view view;
    memset(&view, 0, sizeof view);
    view.slots = q->slots;
    view.values = q->values;
    view.locks = q->lock;
    view.region_bits = q->mark_bits + 1;
    view.region_buckets = 1;
    view.mark_bits = q->mark_bits;
    view.key_mask = ~((((uint64_t)1 << q->mark_bits) - 1) << (HD_KEY_BITS - 1 - q->mark_bits));
    return view;
}

static void ask_one_key(hd_tile t, const hd_view *view, hd_key lean, tile_answers *a)
{
    const hd_bucket b = bucket_load(t, view, 0), shared = bucket_load_shared(t, view, 0);
    hd_hit hit = {0};
    hd_value value = 0, values[HD_BUCKET];
    a->equal = bucket_equal(view, &b, lean);
    a->equal_shared = bucket_equal(view, &shared, lean);
    a->vacant = b.vacant;
    a->found = bucket_lookup(t, view, &b, lean, &hit);
    a->hit_slot = hit.slot;
    hit_locate(t, hit, &a->located);
    hit_deliver(t, view, hit, &value);
    a->delivered = value;
    a->passed = bucket_is_passed(t, view, &b, lean);
    a->matches = bucket_matches(t, view, &b, lean);
    a->delivered_count = bucket_deliver(t, view, &b, lean, values, true);
    for (uint32_t i = 0; i < a->delivered_count; i++) a->values[i] = values[i];
}

static void ask_bucket(hd_tile t, const hd_view *view, const tile_question *q, tile_answers *a)
{
    const hd_bucket b = bucket_load(t, view, 0);
    hd_vacancy v;
    a->keys = bucket_keys(t, &b);
    a->has_vacancy = bucket_vacancy(t, view, &b, &v);
    a->vacancy_slot = v.slot;
    a->busy = a->has_vacancy && vacancy_is_busy(t, view, v);
    a->before = vacancy_is_before(t, v, q->number % (HD_BUCKET + 1));
    a->room = bucket_room(t, view, &b, &v);
    if (a->room == HD_ROOM_FREE) a->room_slot = v.slot;
    for (uint32_t i = 0; i < HD_BUCKET; i++) {
        hd_key marks = 0;
        const hd_pair pair = bucket_pair(t, view, &b, i, &marks);
        a->leans[i] = pair.lean;
        a->marks[i] = marks + bucket_slot(t, &b, i);
    }
    a->locked = bucket_lock(t, view, q->number % 32, true);
    a->locked_twice = bucket_lock(t, view, q->number % 32, true);
    if (a->locked) bucket_unlock(t, view, q->number % 32, true);
    a->lock_left = *q->lock;
}

static void ask_slab(const tile_question *q, tile_answers *a)
{
    char *const slab = (char *)q->slab;
    const hd_slab_tile t = slab_tile_here();
    const hd_key from =
        q->like_slot >= 0 ? slab_key(slab, (uint32_t)q->like_slot % HD_SLAB_SLOTS) : (hd_key)q->key;
    const hd_key lean = from & ~HD_STATE_MASK;
    hd_slab_look look = slab_look(t, slab, lean);
    const uint32_t first = look.vacant & -look.vacant,
                   before = first != 0 ? first - 1 : HD_SLAB_ALL;
    a->slab_vacant = first;
    a->slab_live = look.live &= before;
    a->slab_pending =
        HD_SLAB_IN_ONE ? 0 : look.pending & before; /* nobody makes a word of both PENDING */
    a->slab_dead = look.dead & before;
    a->slab_next = first == 0 ? look.next : 0;
    a->slab_pending_now = slab_pending(t, slab, lean);
#if HD_VALUE_BITS != 0
    hd_value value = 0, values[HD_SLAB_SLOTS];
    memset(values, 0, sizeof values);
    if (look.live != 0) slab_deliver(t, slab, &look, &value);
    a->slab_value = value;
    slab_deliver_all(t, slab, &look, values);
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) a->slab_values[i] = values[i];
#endif
}

static void change(hd_tile t, const hd_view *view, const tile_question *q, hd_key lean,
                   tile_answers *a)
{
    const hd_bucket b = bucket_load(t, view, 0);
    const hd_pair pair = {lean, (hd_value)q->value};
    hd_hit hit = {0}, first = {0};
    hd_vacancy v;
    bool has_first = (q->number & 1) != 0;
    const bool found = bucket_lookup(t, view, &b, lean, &hit),
               room = bucket_vacancy(t, view, &b, &v);
    switch (q->change) {
    case TILE_UPDATE:
        if (found) hit_update(t, view, hit, q->policy, pair.value, true);
        break;
    case TILE_ERASE: a->changed = hit_erase(t, view, hit); break;
    case TILE_CLAIM: a->changed = room && vacancy_claim(t, view, v, pair, true); break;
    case TILE_FILL:
        if (room) vacancy_fill(t, view, v, pair);
        break;
    case TILE_MARK: bucket_mark(t, view, &b, lean, true); break;
    case TILE_VACATE:
        a->vacated = bucket_vacate(t, view, &b, lean, &first, &has_first, true);
        break;
    case TILE_PUT: tile_put(t, view, q->number % HD_BUCKET, pair, 0); break;
    default: break;
    }
}

/* The tile may be asked for repeats in a bucket in which all marks are set. */
static bool ask_repeats(const hd_view *view)
{
    hd_word words[HD_BUCKET];
    hd_view marked = *view;
    memcpy(words, view->slots, sizeof words);
    marked.slots = words;
    for (uint32_t i = 0; i < HD_BUCKET; i++) {
        /* By bytes: a compiler may take a key and the word that holds it for different memory. */
        hd_key key;
        memcpy(&key, slot_key_at(&marked, i), sizeof key);
        key |= ~(hd_key)view->key_mask;
        memcpy(slot_key_at(&marked, i), &key, sizeof key);
    }
    return words_repeat(words);
}

static void ask(const tile_question *q, tile_answers *a)
{
    const hd_view view = view_of(q);
    const hd_key from = q->like_slot >= 0 ? *slot_key_at(&view, (uint32_t)q->like_slot % HD_BUCKET)
                                          : (hd_key)q->key;
    const hd_key lean = from & (hd_key)view.key_mask & ~HD_TOP_BIT;
    const hd_tile t = q->number & 2 ? tile_owner() : tile_here();
    ask_one_key(t, &view, lean, a);
    ask_bucket(t, &view, q, a);
    a->repeats = ask_repeats(&view);
    ask_slab(q, a);
    change(t, &view, q, lean, a);
}

const tile_kind HD_TILE_SYMBOL = {HD_KEY_BITS,     HD_VALUE_BITS, HD_BUCKET,
                                  sizeof(hd_word), HD_TILE_NAME,  ask};
