/*
 * test_validate.c: heddle_table_validate. A healthy table passes; a table whose slots are damaged
 * on purpose, through the library's internals, is reported, and passes again once they are mended.
 *
 * What the damage relies on (model/hash.h): the key of a slot stands first in its word, all ones is
 * EMPTY, all ones but the lowest bit BUSY, and the topmost bit is set in vacant slots only.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "table/slots/slots.h"

/* A copy of a table's slots in host memory. */
typedef struct slots {
    const checked *t;
    uint64_t count;
    uint32_t width;
    uint8_t *words;
} slots;

static slots slots_read(const checked *t)
{
    const hd_view *view = hd_table_view(t->table);
    slots s = {t, 0, t->c->ops->slot_bytes, NULL};
    s.count = ((uint64_t)view->region_buckets << view->region_bits) * t->c->ops->bucket;
    s.words = malloc(s.count * s.width);
    assert_non_null(s.words);
    check_ok(heddle_memory_copy(t->c->device, s.words, view->slots, s.count * s.width, NULL));
    return s;
}

static void slots_write(const slots *s)
{
    check_ok(heddle_memory_copy(s->t->c->device, hd_table_view(s->t->table)->slots, s->words,
                                s->count * s->width, NULL));
}

static uint64_t slot_key(const slots *s, uint64_t i)
{
    uint64_t key = 0;
    memcpy(&key, s->words + i * s->width, s->t->options.key_bits / 8);
    return key;
}

static void slot_set_key(slots *s, uint64_t i, uint64_t key)
{
    memcpy(s->words + i * s->width, &key, s->t->options.key_bits / 8);
}

static bool is_live(const slots *s, uint64_t i)
{
    return slot_key(s, i) >> (s->t->options.key_bits - 1) == 0;
}

/* Sets all of a slot's key but its marks. */
static void slot_set_bare(slots *s, uint64_t i, uint64_t key)
{
    const uint64_t mask = hd_table_view(s->t->table)->key_mask;
    slot_set_key(s, i, (key & mask) | (slot_key(s, i) & ~mask));
}

/* Each does one kind of harm and says whether it found anything to harm. */
typedef bool (*damage)(slots *s);

/* A key vanishes: the number of keys no longer fits. */
static bool lose_a_key(slots *s)
{
    for (uint64_t i = s->count; i-- > 0;) {
        if (is_live(s, i)) {
            slot_set_bare(s, i, ~UINT64_C(0)); /* EMPTY, so that nothing else is wrong */
            return true;
        }
    }
    return false;
}

/* Keys turn into others that do not belong where they stand. */
static bool alter_keys(slots *s)
{
    uint32_t altered = 0;
    for (uint64_t i = 0; i < s->count && altered < 16; i++) {
        if (is_live(s, i)) {
            slot_set_key(s, i, slot_key(s, i) ^ 0x5aa5);
            altered++;
        }
    }
    return altered == 16;
}

/* A key stands twice in one bucket, in place of another. */
static bool double_a_key(slots *s)
{
    const uint32_t bucket = s->t->c->ops->bucket;
    for (uint64_t i = 0; i + 1 < s->count; i++) {
        if (i % bucket != bucket - 1 && is_live(s, i) && is_live(s, i + 1)) {
            memcpy(s->words + (i + 1) * s->width, s->words + i * s->width, s->width);
            return true;
        }
    }
    return false;
}

/* A slot looks as if a writer had stopped half way. */
static bool leave_a_slot_busy(slots *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        if (!is_live(s, i)) {
            slot_set_bare(s, i, ~UINT64_C(1));
            return true;
        }
    }
    return false;
}

/* No bucket knows any longer which keys were pushed past it: lookups stop too early. */
static bool forget_marks(slots *s)
{
    for (uint64_t i = 0; i < s->count; i++)
        slot_set_key(s, i, slot_key(s, i) | ~hd_table_view(s->t->table)->key_mask);
    return true;
}

static const struct {
    const char *name;
    damage harm;
    const char *report; /* how it begins, where that can be told */
} damages[] = {
    {"lose a key", lose_a_key, "the table counts "},
    {"alter keys", alter_keys, ""},
    {"double a key", double_a_key, "2 slots hold a key that stands in another slot too"},
    {"leave a slot busy", leave_a_slot_busy, "1 slots were left half written"},
    {"forget marks", forget_marks, ""},
};

/* A crowded table with erased slots: every kind of harm finds something. */
static checked create_crowded(const test_case *c)
{
    enum { N = 3000 };
    uint64_t keys[N];
    uint64_t values[N];
    heddle_table_options options = case_options(c);
    options.capacity = N;
    options.load = 0.95;
    options.flags = HEDDLE_FLAG_FIXED;
    options.seed = 163;
    checked t = checked_create(c, &options);
    keys_fill(keys, N, KEYS_RANDOM, options.key_bits, 163);
    keys_fill_values(values, N, 163);
    checked_insert(&t, keys, values, N, HEDDLE_POLICY_KEEP);
    checked_erase(&t, keys, N / 5);
    check_ok(heddle_table_validate(t.table, NULL));
    return t;
}

static void damage_is_reported(const test_case *c)
{
    checked t = create_crowded(c);
    for (uint32_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        slots healthy = slots_read(&t);
        slots harmed = slots_read(&t);
        case_note("%s", damages[i].name);
        if (damages[i].harm(&harmed)) {
            slots_write(&harmed);
            check_status(heddle_table_validate(t.table, NULL), HEDDLE_ERROR_CORRUPT);
            assert_true(strlen(heddle_last_error()) > 10);
            check(strncmp(heddle_last_error(), damages[i].report, strlen(damages[i].report)) == 0,
                  "the report is \"%s\"", heddle_last_error());
            slots_write(&healthy);
        } else {
            check(c->ops->bucket == 1 && damages[i].harm == double_a_key, "nothing to harm");
        }
        check_ok(heddle_table_validate(t.table, NULL));
        free(healthy.words);
        free(harmed.words);
    }
    checked_all(&t);
    checked_destroy(&t);
}

static void healthy_tables_pass(const test_case *c)
{
    enum { N = 1200 };
    uint64_t keys[N];
    uint64_t values[N];
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        case_note("keys %s", keys_name(set));
        checked t = checked_create(c, NULL);
        check_ok(heddle_table_validate(t.table, NULL));
        keys_fill(keys, N, set, t.options.key_bits, 167);
        keys_fill_values(values, N, set);
        checked_insert(&t, keys, values, N, HEDDLE_POLICY_KEEP);
        check_ok(heddle_table_validate(t.table, NULL));
        checked_erase(&t, keys, N / 2);
        check_ok(heddle_table_validate(t.table, NULL));
        checked_clear(&t);
        check_ok(heddle_table_validate(t.table, NULL));
        checked_destroy(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(healthy_tables_pass),
        OVER_INSTANCES(damage_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
