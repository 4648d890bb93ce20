/*
 * test_slab_look.c: a slab looked at with vectors beside the same with the scalar code, which is the specification:
 * slabs that are empty, full and all between, with the key and with keys that differ from it in one bit, in every
 * state, at every slot, and in the bytes that hold no key. Compiled for all widths and every vector tile (slab.cmake).
 */
#include <string.h>

#include "support/cases.h"
#include "support/keys.h"
#include "tile/slab_tile.h"
#include "tile_here.h"

#define slab_look slab_look_by_slots
#include "tile/slab_scalar.inl"
#undef slab_look

#define LEAN_MASK ((hd_key)~HD_STATE_MASK)

static _Alignas(HD_SLAB_BYTES) char slab[HD_SLAB_BYTES];

/* States that a key can be seen in. */
static const hd_key states[] = {HD_STATE_DEAD, HD_STATE_LIVE, HD_STATE_PENDING};
enum { STATES = HD_SLAB_IN_ONE ? 2 : 3 };

static void check_look(hd_key lean, const char *what)
{
    const hd_slab_look seen = slab_look(slab_tile_here(), slab, lean);
    const hd_slab_look should = slab_look_by_slots(slab_tile_here(), slab, lean);
    check(seen.live == should.live, "%s: live %x, should be %x", what, seen.live, should.live);
    check(seen.pending == should.pending, "%s: pending %x, should be %x", what, seen.pending,
          should.pending);
    check((seen.vacant & (0 - seen.vacant)) == should.vacant, "%s: vacant %x, first should be %x",
          what, seen.vacant, should.vacant);
    const uint32_t before = should.vacant != 0 ? should.vacant - 1 : UINT32_MAX;
    check((seen.dead & before) == should.dead, "%s: dead %x, should be %x", what, seen.dead,
          should.dead);
    check(should.vacant != 0 || seen.next == should.next, "%s: next %x, should be %x", what,
          seen.next, should.next);
}

/* Every byte that belongs to no key is part of this word, over and over: a value, the address, what is unused. */
static void fill_others(hd_key word)
{
    for (uint32_t at = 0; at < HD_SLAB_BYTES; at += sizeof word)
        memcpy(slab + at, &word, sizeof word);
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) *slab_key_at(slab, i) = 0;
}

/* The first `count` slots hold other keys: random ones, or `lean` with one bit changed; in any state. */
static void fill_slots(uint64_t *state, hd_key lean, uint32_t count, bool near)
{
    for (uint32_t i = 0; i < count; i++) {
        const hd_key bit = (hd_key)1 << keys_below(state, HD_STATE_SHIFT);
        hd_key other = near ? lean ^ bit : (hd_key)keys_below(state, UINT64_MAX) & LEAN_MASK;
        if (other == lean) other ^= bit;
        *slab_key_at(slab, i) = other | states[keys_below(state, STATES)];
    }
}

static hd_key some_lean(uint64_t *state, uint32_t round)
{
    if (round == 0) return 0;
    if (round == 1) return LEAN_MASK;
    return (hd_key)keys_below(state, UINT64_MAX) & LEAN_MASK;
}

/* So many slots in use; the key in none of them, then in each of them, in each state. */
static void one_key(void **unused)
{
    uint64_t state = 5;
    (void)unused;
    for (uint32_t round = 0; round < 24; round++) {
        const hd_key lean = some_lean(&state, round / 4);
        const hd_key others = round % 2 == 0 ? 0 : lean | states[round / 4 % STATES];
        for (uint32_t count = 0; count <= HD_SLAB_SLOTS; count++) {
            fill_others(others);
            fill_slots(&state, lean, count, round % 4 < 2);
            check_look(lean, "without the key");
            for (uint32_t i = 0; i < count; i++) {
                const hd_key before = *slab_key_at(slab, i);
                for (uint32_t s = 0; s < STATES; s++) {
                    *slab_key_at(slab, i) = lean | states[s];
                    check_look(lean, "with the key");
                }
                *slab_key_at(slab, i) = before;
            }
        }
    }
}

/* Slots that are the key's or another's by chance, in any state: pairs of equal keys, and dead ones. */
static void keys_by_chance(void **unused)
{
    uint64_t state = 6;
    (void)unused;
    for (uint32_t round = 0; round < 20000; round++) {
        const hd_key lean = some_lean(&state, round);
        const uint32_t count = (uint32_t)keys_below(&state, HD_SLAB_SLOTS + 1);
        fill_others((hd_key)keys_below(&state, UINT64_MAX));
        fill_slots(&state, lean, count, round % 2 == 0);
        for (uint32_t i = 0; i < count; i++)
            if (keys_below(&state, 3) == 0)
                *slab_key_at(slab, i) = lean | states[keys_below(&state, STATES)];
        check_look(lean, "by chance");
    }
}

/* The vacant slots of a look are all of them, or none: bits that stand for no slot are never set. */
static void no_bit_without_a_slot(void **unused)
{
    (void)unused;
    memset(slab, 0, sizeof slab);
    assert_int_equal(slab_look(slab_tile_here(), slab, 0).vacant & ~HD_SLAB_ALL, 0);
    for (uint32_t s = 0; s < STATES; s++) {
        for (uint32_t at = 0; at < HD_SLAB_BYTES; at += sizeof(hd_key))
            memcpy(slab + at, &states[s], sizeof(hd_key));
        const hd_slab_look look = slab_look(slab_tile_here(), slab, 0);
        assert_int_equal(look.live, states[s] == HD_STATE_LIVE ? HD_SLAB_ALL : 0);
        assert_int_equal(look.pending, states[s] == HD_STATE_PENDING ? HD_SLAB_ALL : 0);
        assert_int_equal(look.vacant, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_key),
        cmocka_unit_test(keys_by_chance),
        cmocka_unit_test(no_bit_without_a_slot),
    };
    if (!tile_runs_here()) return TILE_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
