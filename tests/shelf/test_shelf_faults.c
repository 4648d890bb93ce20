/*
 * test_shelf_faults.c: shelves on a system that fails. Every call of the system in every call on a shelf fails in turn,
 * by every error that fits it; signals end calls, and reads and writes are made in part; the disk is full at every point.
 * The shelf holds what it held, or what the call has made of it where the call says so; another opener sees the same;
 * no file is too many; and a second try succeeds.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/files.h"
#include "support/shelf_endings.h"
#include "support/striking.h"

static uint64_t points;

/* ---------------------------------------------------------------------------- calls on a shelf */

static void lay_out(ending_case *c)
{
    ending_case_lay(c);
    check_ok(heddle_shelf_open(c->s.device, c->s.directory, &c->s.options, &c->s.shelf));
}

static heddle_status call_ending(void *context)
{
    ending_case *c = context;
    return c->ending->call(&c->s);
}

static bool has_changed(const strike *result)
{
    return result->status == HEDDLE_OK || strstr(heddle_last_error(), "has changed") != NULL;
}

static void ended(void *context, const strike *result)
{
    ending_case *c = context;
    if (result->status == HEDDLE_OK && result->report.struck == NULL)
        check(result->report.careless == NULL, "%s: %s", c->ending->name, result->report.careless);
    if (has_changed(result) && c->ending->model != NULL) c->ending->model(&c->s.model);
    shelved_check_pairs(&c->s);
    shelved_reopen(&c->s); /* which removes what could not be removed */
    shelved_check(&c->s);
    if (!has_changed(result)) {
        check_ok(c->ending->call(&c->s));
        if (c->ending->model != NULL) c->ending->model(&c->s.model);
        shelved_check(&c->s);
    }
    lay_out(c);
}

static void each_call_fails(const shared_kind *kind, const char *device)
{
    (void)device;
    if (!endings_has(kind)) return;
    endings_prepare(kind);
    for (size_t i = 0; i < ENDINGS; i++) {
        case_note("%s of %s", endings[i].name, kind->name);
        ending_case c = ending_case_make(kind, &endings[i]);
        lay_out(&c);
        const uint64_t n = strike_everywhere(call_ending, ended, &c, case_quick() ? 25 : 60);
        if (case_verbose())
            printf("%s of %s: %llu\n", endings[i].name, kind->name, (unsigned long long)n);
        points += n;
        strike_gently(call_ending, ended, &c, case_quick() ? 3 : 1);
        ending_case_free(&c);
    }
}
static void calls_survive(void **state)
{
    (void)state;
    shelved_run(each_call_fails);
    case_note("%s", "");
}

static void each_disk_is_full(const shared_kind *kind, const char *device)
{
    (void)device;
    if (!endings_has(kind)) return;
    endings_prepare(kind);
    for (size_t i = 0; i < ENDINGS_SPILL; i++) {
        case_note("%s of %s", endings[i].name, kind->name);
        ending_case c = ending_case_make(kind, &endings[i]);
        lay_out(&c);
        points += strike_full(call_ending, ended, &c, case_quick() ? 10 : 30);
        ending_case_free(&c);
    }
}
static void disks_are_full(void **state)
{
    (void)state;
    shelved_run(each_disk_is_full);
}

/* -------------------------------------------------------------------------- making and opening */

/* A shelf that is made, or opened; and closed again. */
typedef struct opening {
    shelved s; /* one that is there */
    char directory[440];
    bool creates;
} opening;

static heddle_status call_open(void *context)
{
    const opening *o = context;
    heddle_shelf *shelf = NULL;
    const heddle_status status =
        o->creates ? heddle_shelf_create(o->s.device, o->directory, NULL, &o->s.options, &shelf)
                   : heddle_shelf_open(o->s.device, o->directory, &o->s.options, &shelf);
    check((status == HEDDLE_OK) == (shelf != NULL), "a shelf of a failed call");
    heddle_shelf_close(shelf);
    return status;
}

static void opened(void *context, const strike *result)
{
    const opening *o = context;
    heddle_shelf *shelf = NULL;
    uint64_t size = 1;
    check(result->status == HEDDLE_OK || strstr(heddle_last_error(), o->directory) != NULL,
          "'%s' names no directory", heddle_last_error());
    check(result->report.careless == NULL || result->report.struck != NULL, "%s",
          result->report.careless);
    if (result->status != HEDDLE_OK && o->creates) check_ok(call_open(context)); /* once more */
    check_ok(heddle_shelf_open(o->s.device, o->directory, &o->s.options, &shelf));
    check_ok(heddle_shelf_size(shelf, &size));
    assert_int_equal(size, o->creates ? 0 : o->s.model.size);
    check_ok(heddle_shelf_validate(shelf));
    heddle_shelf_close(shelf);
    if (o->creates) shelved_remove(o->directory);
}

static void making_and_opening_survive(void **state)
{
    const shared_kind *kind = &shared_kinds[0];
    const heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    (void)state;
    endings_prepare(kind);
    opening o = {endings_filled(kind, "cpu:1", &options), "", true};
    heddle_shelf_close(o.s.shelf);
    o.s.shelf = NULL;
    snprintf(o.directory, sizeof o.directory, "%s_other", o.s.directory);
    points += strike_everywhere(call_open, opened, &o, STRIKES_MAX);
    points += strike_full(call_open, opened, &o, case_quick() ? 40 : 200);
    strike_gently(call_open, opened, &o, 1);
    o.creates = false;
    snprintf(o.directory, sizeof o.directory, "%s", o.s.directory);
    points += strike_everywhere(call_open, opened, &o, STRIKES_MAX);
    strike_gently(call_open, opened, &o, 1);
    o.s.options.flags = HEDDLE_SHELF_READ_ONLY;
    points += strike_everywhere(call_open, opened, &o, STRIKES_MAX);
    o.s.options.flags = 0;
    shelved_reopen(&o.s);
    shelved_check(&o.s);
    shelved_destroy(&o.s);
}

/* -------------------------------------------------------------------------------- left by others */

/* A pipe where a file of a shelf should be: nobody waits for its other end. */
static void pipes_do_not_hang(void **state)
{
    static const char *const names[] = {"manifest.heddle", "lock"};
    const heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    const shared_kind *kind = &shared_kinds[0];
    char path[800], part[800] = "";
    (void)state;
    endings_prepare(kind);
    shelved s = endings_filled(kind, "cpu:1", &options);
    heddle_shelf_close(s.shelf);
    s.shelf = NULL;
    shelved_a_part(&s, part, sizeof part);
    for (int i = 0; i < 3; i++) {
        if (i < 2) snprintf(path, sizeof path, "%s/%s", s.directory, names[i]);
        else snprintf(path, sizeof path, "%s", part);
        uint64_t bytes = 0;
        uint8_t *content = files_read(path, &bytes);
        unlink(path);
        assert_int_equal(mkfifo(path, 0600), 0);
        for (uint32_t flags = 0; flags < 2; flags++) {
            s.options.flags = flags;
            (void)alarm(60);
            const heddle_status status =
                heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf);
            (void)alarm(0);
            check(status == (i == 2   ? HEDDLE_ERROR_FORMAT
                             : i == 1 ? HEDDLE_OK
                                      : HEDDLE_ERROR_IO),
                  "%s: %s", heddle_status_string(status), heddle_last_error());
            check(status == HEDDLE_OK || strstr(heddle_last_error(), path) != NULL, "%s",
                  heddle_last_error());
            heddle_shelf_close(s.shelf); /* to lock a pipe is as good as to lock a file */
            s.shelf = NULL;
        }
        unlink(path);
        files_write(path, content, bytes);
        free(content);
    }
    s.options.flags = 0;
    check_ok(heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf));
    shelved_check(&s);
    shelved_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(calls_survive), ONCE(disks_are_full),
                                       ONCE(making_and_opening_survive), ONCE(pipes_do_not_hang)};
    strike_in_memory();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    endings_free();
    printf("%llu points\n", (unsigned long long)points);
    return failed;
}
