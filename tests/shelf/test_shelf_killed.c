/*
 * test_shelf_killed.c: a process that changes a shelf is killed before every call of the system in turn. The next opener
 * sees the shelf as it was or as the call makes it, whole and valid, and removes what is left of the other one.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "support/files.h"
#include "support/shelf_endings.h"
#include "support/striking.h"

static uint64_t points;

/* A call that is killed, and what it has left. */
typedef struct killing {
    ending_case c;
    uint64_t before, after, parts, manifests; /* how often */
} killing;

/* In a child. To open the shelf, with its sweep, is part of it. */
static heddle_status call_killed(void *context)
{
    shelved *s = &((killing *)context)->c.s;
    HD_TRY(heddle_shelf_open(s->device, s->directory, &s->options, &s->shelf));
    HD_TRY(((killing *)context)->c.ending->call(s));
    heddle_shelf_close(s->shelf);
    return HEDDLE_OK;
}

/* Files that the child was writing. */
static void count_left(killing *k)
{
    DIR *entries = opendir(k->c.s.directory);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".part") != 0) continue;
        k->parts += strncmp(entry->d_name, "part_", 5) == 0;
        k->manifests += strncmp(entry->d_name, "manifest", 8) == 0;
    }
    closedir(entries);
}

static void killed(void *context, const strike *result)
{
    killing *k = context;
    shelved *s = &k->c.s;
    count_left(k);
    check_ok(heddle_shelf_open(s->device, s->directory, &s->options, &s->shelf));
    if (result->status != HEDDLE_OK && shelved_holds(s, s->model.pairs, s->model.size)) {
        k->before++;
        check(k->after == 0, "a change that counted does not count");
    } else {
        k->after += result->status != HEDDLE_OK;
        k->c.ending->model(&s->model);
    }
    shelved_check(s); /* what is left has been swept, too */
    check_ok(k->c.ending->call(s));
    ending_case_lay(&k->c);
}

static void each_call_is_killed(const shared_kind *kind, const char *device)
{
    (void)device;
    if (!endings_has(kind)) return;
    endings_prepare(kind);
    for (size_t i = 0; i < ENDINGS_WRITE; i++) {
        killing k = {ending_case_make(kind, &endings[i]), 0, 0, 0, 0};
        case_note("%s of %s", endings[i].name, kind->name);
        const uint64_t n = strike_dead(call_killed, killed, &k, case_quick() ? 40 : 200);
        if (case_verbose())
            printf("%s of %s: killed %llu times before it counted, %llu after; left %llu parts, "
                   "%llu manifests\n",
                   endings[i].name, kind->name, (unsigned long long)k.before,
                   (unsigned long long)k.after, (unsigned long long)k.parts,
                   (unsigned long long)k.manifests);
        check(k.before != 0 && k.after != 0 && k.manifests != 0,
              "killed %llu times before it counted, %llu times after", (unsigned long long)k.before,
              (unsigned long long)k.after);
        points += n;
        ending_case_free(&k.c);
    }
}
static void calls_are_killed(void **state)
{
    (void)state;
    shelved_run(each_call_is_killed);
    case_note("%s", "");
}

/* ------------------------------------------------------------------------------------ creation */

typedef struct creating {
    heddle_device *device;
    char directory[440];
    uint64_t none, some;
} creating;

static heddle_status call_create(void *context)
{
    const creating *c = context;
    heddle_shelf *shelf = NULL;
    HD_TRY(heddle_shelf_create(c->device, c->directory, NULL, NULL, &shelf));
    heddle_shelf_close(shelf);
    return HEDDLE_OK;
}

/* There is an empty shelf, or none, and then one can be made. */
static void creation_killed(void *context, const strike *result)
{
    creating *c = context;
    heddle_shelf *shelf = NULL;
    if (heddle_shelf_open(c->device, c->directory, NULL, &shelf) == HEDDLE_OK) {
        c->some += result->status != HEDDLE_OK;
    } else {
        check(result->status != HEDDLE_OK, "%s", heddle_last_error());
        check(strstr(heddle_last_error(), "there is no shelf") != NULL, "%s", heddle_last_error());
        c->none++;
        check_ok(call_create(c));
        check_ok(heddle_shelf_open(c->device, c->directory, NULL, &shelf));
    }
    check_ok(heddle_shelf_validate(shelf));
    heddle_shelf_close(shelf);
    shelved_remove(c->directory);
}

static void creations_are_killed(void **state)
{
    creating c = {NULL, "", 0, 0};
    (void)state;
    snprintf(c.directory, sizeof c.directory, "%s", files_path("shelf_new"));
    check_ok(heddle_device_open("cpu:1", &c.device));
    points += strike_dead(call_create, creation_killed, &c, STRIKES_MAX);
    check(c.none != 0 && c.some != 0, "killed %llu times before, %llu times after",
          (unsigned long long)c.none, (unsigned long long)c.some);
    heddle_device_close(c.device);
}

/* --------------------------------------------------------------------------------- left over files */

/* Every kind of file that a killed process may leave is removed by the next writer, and by no reader; others stay. */
static void left_files_are_swept(void **state)
{
    static const struct {
        const char *name;
        bool stays;
    } files[] = {{"part_0000000000000001.heddle.0123456789abcdef.part", false},
                 {"part_00000000000000ff.heddle.fedcba9876543210.part", false},
                 {"part_00000000000000ff.heddle.part", false},
                 {"part_00000000000000ff.heddle", false},
                 {"manifest.heddle.0123456789abcdef.part", false},
                 {"spill_a1B2c3", false},
                 {"part_00000000000000ff.heddle.0123456789abcdef.partly", true},
                 {"part_00000000000000ff.heddle.0123456789ABCDEF.part", true},
                 {"part_ff.heddle", true},
                 {"manifest.heddle.bak", true},
                 {"0123456789abcdef.part", true},
                 {"spill_of_notes", true},
                 {"notes.part", true}};
    enum { FILES = sizeof files / sizeof files[0] };
    char path[800];
    (void)state;
    endings_prepare(&shared_kinds[0]);
    ending_case c = ending_case_make(&shared_kinds[0], &endings[0]);
    for (uint32_t writes = 0; writes < 2; writes++) {
        for (int i = 0; i < FILES; i++) {
            snprintf(path, sizeof path, "%s/%s", c.s.directory, files[i].name);
            files_write(path, (const uint8_t *)"x", 1);
        }
        c.s.options.flags = writes ? 0 : HEDDLE_SHELF_READ_ONLY;
        check_ok(heddle_shelf_open(c.s.device, c.s.directory, &c.s.options, &c.s.shelf));
        check_ok(heddle_shelf_validate(c.s.shelf));
        for (int i = 0; i < FILES; i++) {
            snprintf(path, sizeof path, "%s/%s", c.s.directory, files[i].name);
            check((access(path, F_OK) == 0) == (files[i].stays || !writes), "%s", files[i].name);
            (void)unlink(path);
        }
        if (writes) shelved_check(&c.s);
        heddle_shelf_close(c.s.shelf);
        c.s.shelf = NULL;
    }
    ending_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(calls_are_killed), ONCE(creations_are_killed),
                                       ONCE(left_files_are_swept)};
    strike_in_memory();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    endings_free();
    printf("%llu points\n", (unsigned long long)points);
    return failed;
}
