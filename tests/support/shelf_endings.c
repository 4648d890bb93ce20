/* shelf_endings.c: see shelf_endings.h. */
#define _POSIX_C_SOURCE 200809L
#include "support/shelf_endings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/files.h"
#include "support/keys.h"

#define FILLED 200
#define MORE 300
#define LITTLE 5000

static uint64_t keys[FILLED + MORE], values[FILLED + MORE];
static void *narrow_keys, *narrow_values;
static uint8_t found[FILLED + MORE], outcomes[FILLED + MORE], bytes[(FILLED + MORE) * 64];
static uint64_t numbers[FILLED + MORE + 1];

void endings_prepare(const shared_kind *kind)
{
    keys_fill(keys, FILLED + MORE, KEYS_EDGES, kind->key_bits, 191);
    shared_values(values, keys, FILLED + MORE, 3);
    endings_free();
    narrow_keys = shared_narrow(keys, FILLED + MORE, kind->key_bits);
    narrow_values = shared_narrow(values, FILLED + MORE, kind->value_bits);
}
static const void *keys_from(const shelved *s, uint64_t first)
{
    return (const char *)narrow_keys + first * s->model.options.key_bits / 8;
}
static const void *values_from(const shelved *s, uint64_t first)
{
    return narrow_values != NULL
               ? (const char *)narrow_values + first * s->model.options.value_bits / 8
               : NULL;
}

/* --------------------------------------------------------------------------------------- calls */

static heddle_status call_build(shelved *s)
{
    return heddle_shelf_build(s->shelf, keys_from(s, FILLED), values_from(s, FILLED), MORE, NULL,
                              NULL);
}
static heddle_status call_insert(shelved *s)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.outcomes = outcomes;
    return heddle_shelf_insert(s->shelf, keys_from(s, FILLED), values_from(s, FILLED), MORE,
                               &options, NULL);
}
static void model_insert(shared *m)
{
    shared_model_add(m, keys + FILLED, narrow_values != NULL ? values + FILLED : NULL, MORE, 0);
}
static void model_build(shared *m)
{
    m->size = 0;
    model_insert(m);
}
static heddle_status call_erase(shelved *s)
{
    return heddle_shelf_erase(s->shelf, narrow_keys, FILLED / 2, found, NULL);
}
static void model_erase(shared *m)
{
    uint64_t size = 0;
    for (uint64_t i = 0; i < m->size; i++) {
        bool gone = false;
        for (uint64_t j = 0; j < FILLED / 2 && !gone; j++) gone = keys[j] == m->pairs[i].key;
        if (!gone) m->pairs[size++] = m->pairs[i];
    }
    m->size = size;
}
static heddle_status call_clear(shelved *s) { return heddle_shelf_clear(s->shelf); }
static void model_clear(shared *m) { m->size = 0; }
static heddle_status call_find(shelved *s)
{
    if (s->model.options.value_bits == 0)
        return heddle_shelf_contains(s->shelf, narrow_keys, FILLED + MORE, found, NULL);
    return heddle_shelf_find(s->shelf, narrow_keys, FILLED + MORE, bytes, found, NULL);
}
static heddle_status call_retrieve(shelved *s)
{
    uint64_t count = 0;
    if (s->model.options.value_bits == 0)
        return heddle_shelf_count(s->shelf, narrow_keys, FILLED + MORE, numbers, NULL);
    return heddle_shelf_retrieve(s->shelf, narrow_keys, FILLED + MORE, numbers, bytes, FILLED,
                                 &count);
}
static heddle_status call_export(shelved *s)
{
    uint64_t count = 0;
    return heddle_shelf_export(s->shelf, bytes, NULL, FILLED, &count);
}
static uint32_t visit(void *context, const void *k, const void *v, const uint64_t *rows, uint64_t n)
{
    (void)context, (void)k, (void)v, (void)rows, (void)n;
    return 0;
}
static heddle_status call_for_all(shelved *s)
{
    return heddle_shelf_for_all(s->shelf, visit, NULL);
}
static heddle_status call_validate(shelved *s) { return heddle_shelf_validate(s->shelf); }

const ending endings[ENDINGS] = {
    {"build", call_build, model_build}, {"insert", call_insert, model_insert},
    {"erase", call_erase, model_erase}, {"clear", call_clear, model_clear},
    {"find", call_find, NULL},          {"retrieve", call_retrieve, NULL},
    {"export", call_export, NULL},      {"for_all", call_for_all, NULL},
    {"validate", call_validate, NULL},
};

/* --------------------------------------------------------------------------------------- shelf */

shelved endings_filled(const shared_kind *kind, const char *device,
                       const heddle_shelf_options *options)
{
    heddle_shelf_options little = *options;
    little.memory = LITTLE;
    shelved s = shelved_create_with(kind, device, &little);
    shelved_insert(&s, keys, narrow_values != NULL ? values : NULL, FILLED, HEDDLE_POLICY_KEEP,
                   false);
    return s;
}

void endings_free(void)
{
    free(narrow_keys);
    free(narrow_values);
    narrow_keys = narrow_values = NULL;
}

void ending_case_lay(ending_case *c)
{
    heddle_shelf_close(c->s.shelf);
    c->s.shelf = NULL;
    shelved_remove(c->s.directory);
    assert_int_equal(mkdir(c->s.directory, 0777), 0);
    files_copy_all(c->filled, c->s.directory);
    memcpy(c->s.model.pairs, c->pairs, c->size * sizeof *c->pairs);
    c->s.model.size = c->size;
}

ending_case ending_case_make(const shared_kind *kind, const ending *e)
{
    const heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    ending_case c = {e, endings_filled(kind, "cpu:1", &options), NULL, 0, ""};
    c.size = c.s.model.size;
    c.pairs = malloc((c.size + 1) * sizeof *c.pairs);
    memcpy(c.pairs, c.s.model.pairs, c.size * sizeof *c.pairs);
    heddle_shelf_close(c.s.shelf);
    c.s.shelf = NULL;
    snprintf(c.filled, sizeof c.filled, "%s_filled", c.s.directory);
    assert_int_equal(mkdir(c.filled, 0777), 0);
    files_copy_all(c.s.directory, c.filled);
    return c;
}

void ending_case_free(ending_case *c)
{
    shelved_remove(c->filled);
    shelved_destroy(&c->s);
    free(c->pairs);
}

bool endings_has(const shared_kind *kind)
{
    if (case_quick())
        return kind->key_bits == 32 && kind->value_bits == 32 &&
               (kind->container == HEDDLE_CONTAINER_MAP ? kind->scheme == HEDDLE_SCHEME_CUCKOO
                                                        : kind->scheme == HEDDLE_SCHEME_HASHGRAPH);
    return kind->key_bits == 32 || kind->scheme == HEDDLE_SCHEME_HASHGRAPH;
}
