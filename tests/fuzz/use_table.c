/* use_table.c: a table that came from a file is a table in every call; see fuzz.h. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define MORE 40 /* keys that are inserted besides */

typedef struct content {
    heddle_table *table;
    heddle_table_options options;
    uint64_t size;
    char *keys, *values; /* room for MORE elements more */
} content;

static uint64_t number_at(const char *array, uint64_t i, uint32_t bits)
{
    uint64_t number = 0;
    memcpy(&number, array + i * bits / 8, bits / 8);
    return number;
}

static content take_content(heddle_table *table)
{
    content c = {table, HEDDLE_TABLE_OPTIONS_INIT, 0, NULL, NULL};
    uint64_t exported = 0;
    fuzz_ok(heddle_table_validate(table, NULL));
    fuzz_ok(heddle_table_get_options(table, &c.options));
    fuzz_ok(heddle_table_size(table, &c.size, NULL));
    c.keys = (char *)fuzz_allocate((c.size + MORE) * 8);
    c.values = (char *)fuzz_allocate((c.size + MORE) * 8);
    fuzz_ok(heddle_table_export(table, c.keys, c.options.value_bits != 0 ? c.values : NULL, c.size,
                                &exported, NULL));
    fuzz_check(exported == c.size, "%llu pairs are exported of %llu", (unsigned long long)exported,
               (unsigned long long)c.size);
    return c;
}

static void free_content(content *c)
{
    free(c->keys);
    free(c->values);
}

/* Every key that was exported is there, with its value, in every way of asking. */
static void look_up(const content *c)
{
    const uint32_t bits = c->options.value_bits;
    const bool multi = c->options.container == HEDDLE_CONTAINER_MULTIMAP;
    char *found = (char *)fuzz_allocate(c->size), *values = (char *)fuzz_allocate(c->size * 8);
    uint64_t *matches = (uint64_t *)fuzz_allocate(c->size * 8);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    fuzz_ok(heddle_table_contains(c->table, c->keys, c->size, (uint8_t *)found, &totals, NULL));
    fuzz_check(totals.found == c->size, "a key of the table is absent");
    fuzz_ok(heddle_table_count(c->table, c->keys, c->size, matches, NULL, NULL));
    for (uint64_t i = 0; i < c->size; i++)
        fuzz_check(found[i] == 1 && (multi ? matches[i] >= 1 : matches[i] == 1),
                   "key %llu has %llu matches", (unsigned long long)i,
                   (unsigned long long)matches[i]);
    if (bits != 0) {
        fuzz_ok(heddle_table_find(c->table, c->keys, c->size, values, NULL, &totals, NULL));
        for (uint64_t i = 0; !multi && i < c->size; i++)
            fuzz_check(number_at(values, i, bits) == number_at(c->values, i, bits),
                       "key %llu has another value than was exported", (unsigned long long)i);
    }
    free(found);
    free(values);
    free(matches);
}

/* Saved and loaded again it is the same table. */
static void save_and_load(const content *c)
{
    const char *const path = fuzz_path("again");
    heddle_table *again = NULL;
    fuzz_ok(heddle_table_save(c->table, path, NULL));
    fuzz_ok(heddle_table_load(fuzz_device(), path, NULL, &again));
    content d = take_content(again);
    d.options.seed = c->options.seed;
    d.options.capacity = c->options.capacity;
    if (c->options.scheme == HEDDLE_SCHEME_OPEN)
        d.options.hashes = c->options.hashes; /* growth raises it */
    fuzz_check(memcmp(&c->options, &d.options, sizeof d.options) == 0, "other options are loaded");
    fuzz_check(d.size == c->size, "another size is loaded");
    for (uint64_t i = 0; i < c->size; i++) {
        uint64_t matches = 0;
        const char *const key = c->keys + i * c->options.key_bits / 8;
        if (i >= 64) break;
        fuzz_ok(heddle_table_count(again, key, 1, &matches, NULL, NULL));
        fuzz_check(matches != 0, "a key is lost");
    }
    free_content(&d);
    heddle_table_destroy(again);
}

/* Half of the keys go, others come; the table stays whole. */
static void change(content *c)
{
    const uint32_t kb = c->options.key_bits, vb = c->options.value_bits;
    const bool fixed = (c->options.flags & HEDDLE_FLAG_FIXED) != 0;
    uint64_t before = c->size, after = 0, random = c->size + 7;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    fuzz_ok(heddle_table_erase(c->table, c->keys, c->size / 2, NULL, &totals, NULL));
    fuzz_ok(heddle_table_validate(c->table, NULL));
    fuzz_ok(heddle_table_size(c->table, &before, NULL));
    if (c->options.container != HEDDLE_CONTAINER_MULTIMAP)
        fuzz_check(before == c->size - c->size / 2, "%llu keys are left of %llu",
                   (unsigned long long)before, (unsigned long long)c->size);
    for (uint64_t i = 0; i < MORE; i++) {
        const uint64_t key = fuzz_random(&random) >> (i % 2 == 0 ? 0 : 60);
        memcpy(c->keys + i * kb / 8, &key, kb / 8);
        if (vb != 0) memcpy(c->values + i * vb / 8, &key, vb / 8);
    }
    const heddle_status status = heddle_table_insert(c->table, c->keys, vb != 0 ? c->values : NULL,
                                                     MORE, NULL, &totals, NULL);
    fuzz_check(status == HEDDLE_OK || (fixed && status == HEDDLE_ERROR_FULL), "insert gave \"%s\"",
               heddle_status_string(status));
    fuzz_check(totals.inserted + totals.updated + totals.kept + totals.failed == MORE,
               "the totals of an insertion do not add up");
    fuzz_ok(heddle_table_validate(c->table, NULL));
    fuzz_ok(heddle_table_size(c->table, &after, NULL));
    fuzz_check(after == before + totals.inserted, "the size is wrong after an insertion");
}

void fuzz_use_table(heddle_table *table)
{
    content c = take_content(table);
    look_up(&c);
    save_and_load(&c);
    /* What a list takes is the caller's wish: large ones would take long. */
    if (c.options.list_first <= 1024) change(&c);
    free_content(&c);
    heddle_table_destroy(table);
}
