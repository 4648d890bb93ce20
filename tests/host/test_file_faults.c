/*
 * test_file_faults.c: files of tables, filters and columns on a system that fails. Every call of the system fails in
 * turn, by every error that fits it; signals end calls, and reads and writes are made in part; the disk is full at every
 * byte; the process is killed before every call. The library says so, a file that was there is whole, and no other file
 * stays.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/file.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/shared_model.h"
#include "support/striking.h"

#define KEYS 300
#define OLD_KEYS 100

static uint64_t points;
static char path[600];

/* ------------------------------------------------------------------------- tables and filters */

/* What is saved and loaded: a table or a filter. */
typedef struct thing {
    heddle_device *device;
    const shared_kind *kind; /* NULL: a filter */
    heddle_table *table;
    heddle_filter *filter;
} thing;

static thing thing_make(heddle_device *device, const shared_kind *kind, uint64_t n)
{
    thing t = {device, kind, NULL, NULL};
    const uint32_t bits = kind != NULL ? kind->key_bits : 64;
    uint64_t keys[KEYS], values[KEYS];
    keys_fill(keys, n, KEYS_RANDOM, bits, 77);
    shared_values(values, keys, n, 1);
    void *narrow = shared_narrow(keys, n, bits);
    if (kind != NULL) {
        heddle_table_options options = shared_options(kind);
        void *v = shared_narrow(values, n, kind->value_bits);
        options.capacity = n;
        options.seed = case_seed();
        check_ok(heddle_table_create(device, &options, &t.table));
        check_ok(heddle_table_insert(t.table, narrow, v, n, NULL, NULL, NULL));
        free(v);
    } else {
        heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
        options.capacity = n * 10;
        options.seed = case_seed();
        check_ok(heddle_filter_create(device, &options, &t.filter));
        check_ok(heddle_filter_add(t.filter, narrow, n, NULL));
    }
    free(narrow);
    return t;
}

static heddle_status thing_save(const thing *t, const char *to)
{
    return t->kind != NULL ? heddle_table_save(t->table, to, NULL)
                           : heddle_filter_save(t->filter, to, NULL);
}
static heddle_status thing_load(thing *t, const char *from)
{
    return t->kind != NULL ? heddle_table_load(t->device, from, NULL, &t->table)
                           : heddle_filter_load(t->device, from, &t->filter);
}
static void thing_free(thing *t)
{
    heddle_table_destroy(t->table);
    heddle_filter_destroy(t->filter);
    t->table = NULL;
    t->filter = NULL;
}

static int compare_pairs(const void *a, const void *b) { return memcmp(a, b, sizeof(shared_pair)); }

/* All pairs of a table, in an order that does not depend on its seed; caller frees. */
static shared_pair *pairs_of(const thing *t, uint64_t *n)
{
    uint64_t keys[KEYS], values[KEYS];
    check_ok(heddle_table_validate(t->table, NULL));
    check_ok(heddle_table_export(t->table, keys, t->kind->value_bits != 0 ? values : NULL, KEYS, n,
                                 NULL));
    shared_pair *pairs = calloc(KEYS, sizeof *pairs);
    for (uint64_t i = 0; i < *n; i++) {
        pairs[i].key = shared_at(keys, i, t->kind->key_bits);
        if (t->kind->value_bits != 0) pairs[i].value = shared_at(values, i, t->kind->value_bits);
    }
    qsort(pairs, *n, sizeof *pairs, compare_pairs);
    return pairs;
}

static void check_same_filter(const thing *a, const thing *b)
{
    uint64_t one_bytes = 0, other_bytes = 0;
    check_ok(thing_save(a, files_path("one")));
    check_ok(thing_save(b, files_path("other")));
    uint8_t *one = files_read(files_path("one"), &one_bytes);
    uint8_t *other = files_read(files_path("other"), &other_bytes);
    check(one_bytes == other_bytes && memcmp(one, other, one_bytes) == 0, "not the same filter");
    free(one);
    free(other);
    unlink(files_path("one"));
    unlink(files_path("other"));
}

static void check_same(const thing *a, const thing *b)
{
    uint64_t n = 0, m = 0;
    if (a->kind == NULL) {
        check_same_filter(a, b);
        return;
    }
    shared_pair *one = pairs_of(a, &n), *other = pairs_of(b, &m);
    check(n == m && memcmp(one, other, n * sizeof *one) == 0, "not the same pairs");
    free(one);
    free(other);
}

/* ---------------------------------------------------------------------------------------- save */

/* A thing that is saved where an older file is, or none. */
typedef struct saving {
    thing now;
    uint8_t *old, *fresh; /* contents */
    uint64_t old_bytes, fresh_bytes;
    bool had;
} saving;

static void restore(const saving *s)
{
    if (s->had) files_write(path, s->old, s->old_bytes);
    else (void)unlink(path);
}

static bool is_there(const uint8_t *content, uint64_t bytes)
{
    uint64_t there = 0;
    if (access(path, F_OK) != 0) return false;
    uint8_t *file = files_read(path, &there);
    const bool same = there == bytes && memcmp(file, content, bytes) == 0;
    free(file);
    return same;
}

static heddle_status call_save(void *context)
{
    return thing_save(&((const saving *)context)->now, path);
}

/* The file is the new one after a success, and the old one after a failure. A second try succeeds. */
static void saved(void *context, const strike *result)
{
    const saving *s = context;
    if (result->status == HEDDLE_OK) {
        check(is_there(s->fresh, s->fresh_bytes), "a save that is OK has not saved");
        check(result->report.careless == NULL || result->report.struck != NULL, "%s",
              result->report.careless);
    } else {
        check(s->had ? is_there(s->old, s->old_bytes) : access(path, F_OK) != 0,
              "a save that failed has changed the file");
        check(strstr(heddle_last_error(), path) != NULL, "'%s' names no file", heddle_last_error());
        assert_int_equal(files_count(), s->had ? 1 : 0);
        check_ok(thing_save(&s->now, path));
        check(is_there(s->fresh, s->fresh_bytes), "the second try has not saved");
    }
    assert_int_equal(files_count(), 1);
    restore(s);
}

/* After a kill: as before or as after; what else is there is known as left over. */
static void save_killed(void *context, const strike *result)
{
    const saving *s = context;
    const bool fresh = is_there(s->fresh, s->fresh_bytes);
    check(fresh || (result->status != HEDDLE_OK &&
                    (s->had ? is_there(s->old, s->old_bytes) : access(path, F_OK) != 0)),
          "the file is neither the old nor the new one");
    const uint32_t count = files_count();
    check(count <= 1u + (fresh || s->had), "%u files are left", count);
    files_remove_others(path, hd_file_is_leftover);
    assert_int_equal(files_count(), fresh || s->had);
    restore(s);
}

static void save_thing(heddle_device *device, const shared_kind *kind, bool had)
{
    thing old = thing_make(device, kind, OLD_KEYS);
    saving s = {thing_make(device, kind, KEYS), NULL, NULL, 0, 0, had};
    check_ok(thing_save(&old, path));
    s.old = files_read(path, &s.old_bytes);
    check_ok(thing_save(&s.now, path));
    s.fresh = files_read(path, &s.fresh_bytes);
    restore(&s);
    points += strike_everywhere(call_save, saved, &s, STRIKES_MAX);
    strike_gently(call_save, saved, &s, 1);
    points += strike_full(call_save, saved, &s, case_quick() ? 40 : 4000);
    points += strike_dead(call_save, save_killed, &s, STRIKES_MAX);
    s.had = true;
    restore(&s);
    thing again = {device, kind, NULL, NULL};
    check_ok(thing_load(&again, path));
    check_same(&old, &again);
    thing_free(&again);
    thing_free(&old);
    thing_free(&s.now);
    free(s.old);
    free(s.fresh);
    unlink(path);
}

/* ---------------------------------------------------------------------------------------- load */

typedef struct loading {
    thing saved, loaded;
} loading;

static heddle_status call_load(void *context)
{
    return thing_load(&((loading *)context)->loaded, path);
}

static void loaded(void *context, const strike *result)
{
    loading *l = context;
    const bool is = l->loaded.table != NULL || l->loaded.filter != NULL;
    check(is == (result->status == HEDDLE_OK), "a load that failed has made something");
    if (is) check_same(&l->saved, &l->loaded);
    else
        check(strstr(heddle_last_error(), path) != NULL, "'%s' names no file", heddle_last_error());
    thing_free(&l->loaded);
}

static void load_thing(heddle_device *device, const shared_kind *kind)
{
    loading l = {thing_make(device, kind, KEYS), {device, kind, NULL, NULL}};
    check_ok(thing_save(&l.saved, path));
    points += strike_everywhere(call_load, loaded, &l, STRIKES_MAX);
    strike_gently(call_load, loaded, &l, 1);
    thing_free(&l.saved);
    unlink(path);
}

static void for_things(void (*run)(heddle_device *device, const shared_kind *kind))
{
    heddle_device *device = NULL;
    check_ok(heddle_device_open("cpu:1", &device));
    for (uint32_t k = 0; k < shared_kind_count; k++) {
        if (!shared_is_compiled(&shared_kinds[k])) continue;
        case_note("%s", shared_kinds[k].name);
        run(device, &shared_kinds[k]);
    }
    case_note("a filter");
    run(device, NULL);
    case_note("%s", "");
    heddle_device_close(device);
}

static void save_both(heddle_device *device, const shared_kind *kind)
{
    save_thing(device, kind, true);
    save_thing(device, kind, false);
}

static void saves_survive(void **state)
{
    (void)state;
    for_things(save_both);
}
static void loads_survive(void **state)
{
    (void)state;
    for_things(load_thing);
}

/* ------------------------------------------------------------------------------ not to be read */

/* To read what is no regular file is refused, and at once: nobody waits for a writer. */
static void refuse_thing(heddle_device *device, const shared_kind *kind)
{
    const char *const names[] = {path, "/dev/zero", files_directory()};
    thing t = {device, kind, NULL, NULL};
    assert_int_equal(mkfifo(path, 0600), 0);
    for (int i = 0; i < 3; i++) {
        (void)alarm(60);
        check_status(thing_load(&t, names[i]), HEDDLE_ERROR_IO);
        (void)alarm(0);
        check(strstr(heddle_last_error(), "no regular file") != NULL &&
                  strstr(heddle_last_error(), names[i]) != NULL,
              "%s", heddle_last_error());
        assert_true(t.table == NULL && t.filter == NULL);
    }
    unlink(path);
}
static void pipes_are_refused(void **state)
{
    (void)state;
    for_things(refuse_thing);
}

/* ------------------------------------------------------------------------------------- columns */

#define ROWS 5000

typedef struct column {
    bool creates, had, writes;
    uint64_t old_bytes;
    uint8_t *old;
    heddle_column_file *made;
} column;

static heddle_status call_column(void *context)
{
    column *c = context;
    heddle_status status = c->creates ? heddle_column_file_create(path, 32, ROWS, &c->made)
                                      : heddle_column_file_open(path, c->writes, 32, &c->made);
    if (status == HEDDLE_OK && c->writes) {
        uint32_t *rows = heddle_column_file_data(c->made);
        for (uint32_t i = 0; i < ROWS; i++) rows[i] = i * 3;
        status = heddle_column_file_flush(c->made);
        if (status == HEDDLE_OK)
            status = heddle_column_file_advise(c->made, 0, ROWS, HEDDLE_ADVICE_DONE);
    }
    if (status == HEDDLE_OK)
        for (uint32_t i = 0; i < ROWS; i++)
            check(((uint32_t *)heddle_column_file_data(c->made))[i] == i * 3, "row %u", i);
    heddle_column_file_close(c->made);
    return status;
}

static void column_struck(void *context, const strike *s)
{
    column *c = context;
    uint64_t bytes = 0;
    struct stat info;
    const bool there = stat(path, &info) == 0;
    const bool opened = c->made != NULL;
    if (s->status == HEDDLE_OK || opened) {
        uint8_t *content = files_read(path, &bytes);
        check(bytes == (c->old != NULL ? c->old_bytes : bytes), "the file has another length");
        if (s->status == HEDDLE_OK && c->old != NULL)
            check(memcmp(content, c->old, bytes) == 0, "the file has another content");
        free(content);
    } else if (!c->creates) {
        check(there && (uint64_t)info.st_size == c->old_bytes, "a file that was only read changed");
    } else if (c->had) {
        check(there && (info.st_size == 0 || (uint64_t)info.st_size == c->old_bytes),
              "a file that was there is half made");
    } else {
        check(!there, "a file of a failed call stays");
    }
    check(s->status == HEDDLE_OK || opened || strstr(heddle_last_error(), path) != NULL,
          "'%s' names no file", heddle_last_error());
    c->made = NULL;
    if (c->creates && !c->had) (void)unlink(path);
    else files_write(path, c->old, c->old_bytes);
}

static void columns_survive(void **state)
{
    (void)state;
    for (int npy = 0; npy < 2; npy++) {
        column c = {true, false, true, 0, NULL, NULL};
        snprintf(path, sizeof path, "%s", files_path(npy ? "column.npy" : "column"));
        check_ok(call_column(&c));
        c.old = files_read(path, &c.old_bytes);
        c.made = NULL;
        for (int i = 0; i < 4;
             i++) { /* made anew, made over an old one, opened to write, to read */
            case_note("column %d", i);
            c.creates = i < 2;
            c.had = i != 0;
            c.writes = i < 3;
            if (i == 0) (void)unlink(path);
            points += strike_everywhere(call_column, column_struck, &c, STRIKES_MAX);
            strike_gently(call_column, column_struck, &c, 1);
            if (c.creates) points += strike_full(call_column, column_struck, &c, 20);
            if (i == 0) files_write(path, c.old, c.old_bytes);
        }
        (void)unlink(path);
        free(c.old);
    }
    case_note("%s", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(saves_survive), ONCE(loads_survive),
                                       ONCE(pipes_are_refused), ONCE(columns_survive)};
    strike_in_memory();
    snprintf(path, sizeof path, "%s", files_path("it"));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("%llu points\n", (unsigned long long)points);
    return failed;
}
