/*
 * test_shelf_memory.c: calls on a shelf keep to the memory that it is allowed. All that the program takes beside what it had
 * before a call is counted (support/counted_memory.h), while batches are sorted in memory and in files, and parts are made,
 * loaded, divided, saved and kept. An eighth more is allowed, for an estimate, and what does not scale down.
 */
#define _POSIX_C_SOURCE 200809L
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/counted_memory.h"
#include "support/keys.h"
#include "support/shelf_model.h"

#define MIB (UINT64_C(1) << 20)
#define ROWS_A_MIB 46000 /* more than fit: several parts, and a batch that is sorted in files */

typedef struct filled {
    shelved s;
    uint64_t rows; /* of a batch; there are two */
    uint32_t kw, vw;
    char *keys, *values, *answers;
    uint8_t *found;
    uint64_t *offsets;
} filled;

static char *values_at(const filled *f, uint64_t row)
{
    return f->vw != 0 ? f->values + row * f->vw : NULL;
}

/* A batch that is sorted in memory. */
static heddle_status call_small(filled *f)
{
    return heddle_shelf_insert(f->s.shelf, f->keys, values_at(f, 0), f->rows / 4, NULL, NULL);
}
static heddle_status call_build(filled *f)
{
    return heddle_shelf_build(f->s.shelf, f->keys, values_at(f, 0), f->rows, NULL, NULL);
}
static heddle_status call_insert(filled *f)
{
    return heddle_shelf_insert(f->s.shelf, f->keys + f->rows * f->kw, values_at(f, f->rows),
                               f->rows, NULL, NULL);
}
static heddle_status call_find(filled *f)
{
    if (f->vw == 0) return heddle_shelf_contains(f->s.shelf, f->keys, f->rows, f->found, NULL);
    return heddle_shelf_find(f->s.shelf, f->keys, f->rows, f->answers, f->found, NULL);
}
static heddle_status call_retrieve(filled *f)
{
    uint64_t count = 0;
    if (f->vw == 0) return heddle_shelf_count(f->s.shelf, f->keys, f->rows, f->offsets, NULL);
    return heddle_shelf_retrieve(f->s.shelf, f->keys, f->rows, f->offsets, f->answers, 4 * f->rows,
                                 &count);
}
static heddle_status call_export(filled *f)
{
    uint64_t count = 0;
    return heddle_shelf_export(f->s.shelf, f->answers, NULL, 4 * f->rows, &count);
}
static heddle_status call_validate(filled *f) { return heddle_shelf_validate(f->s.shelf); }
static heddle_status call_erase(filled *f)
{
    return heddle_shelf_erase(f->s.shelf, f->keys, f->rows / 4, f->found, NULL);
}

static const struct {
    const char *name;
    heddle_status (*call)(filled *f);
} calls[] = {{"small insert", call_small}, {"build", call_build},       {"insert", call_insert},
             {"find", call_find},          {"retrieve", call_retrieve}, {"export", call_export},
             {"validate", call_validate},  {"erase", call_erase}};
#define CALLS (sizeof calls / sizeof calls[0])

/* Tables and scratch that are as large however little memory is allowed: where equal keys are brought together more. */
static uint64_t fixed_bytes(const shared_kind *kind)
{
    const bool groups =
        kind->scheme == HEDDLE_SCHEME_BUCKET_LIST ||
        (kind->scheme == HEDDLE_SCHEME_HASHGRAPH && kind->container != HEDDLE_CONTAINER_MULTIMAP);
    return groups ? 6 * MIB : MIB;
}

static filled fill(const shared_kind *kind, uint64_t allowed)
{
    filled f;
    memset(&f, 0, sizeof f);
    f.rows = allowed / MIB * ROWS_A_MIB;
    f.kw = kind->key_bits / 8;
    f.vw = kind->value_bits / 8;
    uint64_t *keys = keys_allocate(2 * f.rows), *values = keys_allocate(2 * f.rows);
    keys_fill(keys, 2 * f.rows, KEYS_RANDOM, kind->key_bits, 5);
    shared_values(values, keys, 2 * f.rows, 1);
    f.keys = shared_narrow(keys, 2 * f.rows, kind->key_bits);
    f.values = shared_narrow(values, 2 * f.rows, kind->value_bits);
    f.answers = malloc(4 * f.rows * 8);
    f.found = malloc(f.rows);
    f.offsets = malloc((f.rows + 1) * 8);
    f.s = shelved_create(kind, "cpu:1", allowed);
    free(keys);
    free(values);
    return f;
}

static void drop(filled *f)
{
    shelved_destroy(&f->s);
    free(f->keys), free(f->values), free(f->answers), free(f->found), free(f->offsets);
}

/* Every call begins with nothing in memory. */
static void measure(const shared_kind *kind, const char *device)
{
    const uint64_t allowed = (case_quick() ? 4 : 32) * MIB,
                   bound = allowed + allowed / 8 + fixed_bytes(kind);
    if (strncmp(device, "cpu", 3) != 0 || !counted_memory_works()) return;
    filled f = fill(kind, allowed);
    for (size_t i = 0; i < CALLS; i++) {
        shelved_reopen(&f.s);
        check_ok(heddle_device_trim(f.s.device));
        const uint64_t before = counted_memory_begin();
        check_ok(calls[i].call(&f));
        const uint64_t most = counted_memory_most() - before;
        if (case_verbose())
            printf("%s: %s takes %.1f MiB\n", kind->name, calls[i].name, (double)most / MIB);
        check(most <= bound, "%s: %s takes %.1f MiB where %.1f are allowed", kind->name,
              calls[i].name, (double)most / MIB, (double)allowed / MIB);
    }
    const uint32_t parts = shelved_stats(&f.s).parts;
    check(parts > 1, "%s: there are %u parts", kind->name, parts); /* sets of 32 bits have few */
    drop(&f);
}

static void calls_keep_to_their_memory(void **state)
{
    (void)state;
    shelved_run(measure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(calls_keep_to_their_memory)};
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 16); /* what is freed does not stay in the heap */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
