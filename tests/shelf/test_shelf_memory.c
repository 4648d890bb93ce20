/*
 * test_shelf_memory.c: calls on a shelf keep to the memory that it is allowed. The process may take as much beside what it
 * has before a call (RLIMIT_DATA), and the call succeeds. What a call needs is found by trying.
 */
#define _POSIX_C_SOURCE 200809L
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support/counted_memory.h"
#include "support/keys.h"
#include "support/shelf_model.h"
#include "support/striking.h"

#define MIB (UINT64_C(1) << 20)
#define ALLOWED (32 * MIB)

static uint64_t rows;
static uint64_t *keys, *values;
static void *narrow_keys, *narrow_values, *answers;
static uint8_t *found;
static uint64_t *offsets;

static heddle_status call_build(shelved *s)
{
    return heddle_shelf_build(s->shelf, narrow_keys, narrow_values, rows, NULL, NULL);
}
static heddle_status call_insert(shelved *s)
{
    const uint32_t kw = s->model.options.key_bits / 8, vw = s->model.options.value_bits / 8;
    return heddle_shelf_insert(s->shelf, (char *)narrow_keys + rows * kw,
                               narrow_values != NULL ? (char *)narrow_values + rows * vw : NULL,
                               rows, NULL, NULL);
}
static heddle_status call_find(shelved *s)
{
    if (s->model.options.value_bits == 0)
        return heddle_shelf_contains(s->shelf, narrow_keys, rows, found, NULL);
    return heddle_shelf_find(s->shelf, narrow_keys, rows, answers, found, NULL);
}
static heddle_status call_retrieve(shelved *s)
{
    uint64_t count = 0;
    if (s->model.options.value_bits == 0)
        return heddle_shelf_count(s->shelf, narrow_keys, rows, offsets, NULL);
    return heddle_shelf_retrieve(s->shelf, narrow_keys, rows, offsets, answers, 4 * rows, &count);
}
static heddle_status call_export(shelved *s)
{
    uint64_t count = 0;
    return heddle_shelf_export(s->shelf, answers, NULL, 4 * rows, &count);
}
static heddle_status call_validate(shelved *s) { return heddle_shelf_validate(s->shelf); }
static heddle_status call_erase(shelved *s)
{
    return heddle_shelf_erase(s->shelf, narrow_keys, rows / 4, found, NULL);
}

static const struct {
    const char *name;
    heddle_status (*call)(shelved *s);
} calls[] = {{"build", call_build},       {"insert", call_insert}, {"find", call_find},
             {"retrieve", call_retrieve}, {"export", call_export}, {"validate", call_validate},
             {"erase", call_erase}};
#define CALLS (sizeof calls / sizeof calls[0])

/* MiB that a call needs, from nothing in memory. */
static void measure(const shared_kind *kind, const char *device)
{
    if (getenv("KIND") != NULL && strstr(kind->name, getenv("KIND")) == NULL) return;
    rows = 1500000;
    keys = keys_allocate(2 * rows);
    values = keys_allocate(2 * rows);
    keys_fill(keys, 2 * rows, KEYS_RANDOM, kind->key_bits, 5);
    shared_values(values, keys, 2 * rows, 1);
    narrow_keys = shared_narrow(keys, 2 * rows, kind->key_bits);
    narrow_values = shared_narrow(values, 2 * rows, kind->value_bits);
    answers = malloc(4 * rows * 8);
    found = malloc(2 * rows);
    offsets = malloc((2 * rows + 1) * 8);
    shelved s = shelved_create(kind, "cpu:1", ALLOWED);
    printf("%-28s", kind->name);
    for (size_t i = 0; i < CALLS; i++) {
        shelved_reopen(&s);
        check_ok(heddle_device_trim(s.device));
        const uint64_t before = counted_memory_begin();
        check_ok(calls[i].call(&s));
        const double least = (double)(counted_memory_most() - before) / MIB;
        printf(" %s %.1f", calls[i].name, least);
    }
    const heddle_shelf_stats stats = shelved_stats(&s);
    printf(" parts %u most %llu limit %llu\n", stats.parts, (unsigned long long)stats.keys_most,
           (unsigned long long)stats.keys_limit);
    shelved_destroy(&s);
    free(keys);
    free(values);
    free(narrow_keys);
    free(narrow_values);
    free(answers);
    free(found);
    free(offsets);
    (void)device;
}

static void measure_all(void **state)
{
    (void)state;
    shelved_run(measure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(measure_all)};
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 16);
    setvbuf(stdout, NULL, _IONBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
