/*
 * test_shelf_files.c: the files of a shelf. Processes are killed in the middle of calls; files are damaged, cut
 * off, missing, from another version; two want the same shelf; some only read.
 *
 * The program calls itself to be killed: test_shelf_files CALL DIRECTORY K does a call and kills itself when it is
 * asked the K-th time how it gets along.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/file.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/shelf_model.h"

#define LITTLE 6000
#define FILLED 900
#define MORE 900

static const char *program;
static uint64_t keys[FILLED + MORE], values[FILLED + MORE];
static const shared_kind *const kind = &shared_kinds[0]; /* a map of 32 bits */

static void fill_arrays(void)
{
    keys_fill(keys, FILLED + MORE, KEYS_RANDOM, 32, 77);
    shared_values(values, keys, FILLED + MORE, 1);
}

static shelved filled(void)
{
    shelved s = shelved_create(kind, "cpu:1", LITTLE);
    shelved_insert(&s, keys, values, FILLED, HEDDLE_POLICY_KEEP, false);
    return s;
}

/* -------------------------------------------------------------------------------------- killed */

static uint64_t asked, kill_at;
static uint32_t kill_me(void *context, uint32_t phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    if (++asked == kill_at) (void)raise(SIGKILL);
    return 0;
}

enum { KILL_INSERT, KILL_BUILD, KILL_ERASE, KILL_CLEAR, KILLS };

/* What the other process does; returns its exit status, if it lives to see it. */
static int victim(int call, const char *directory, uint64_t at)
{
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_device *device = NULL;
    heddle_shelf *shelf = NULL;
    heddle_status status = heddle_device_open("cpu:1", &device);
    void *k = shared_narrow(keys, FILLED + MORE, 32), *v = shared_narrow(values, FILLED + MORE, 32);
    const uint32_t *more_keys = (const uint32_t *)k + FILLED,
                   *more_values = (const uint32_t *)v + FILLED;
    options.memory = LITTLE;
    options.progress = kill_me;
    kill_at = at;
    if (status == HEDDLE_OK) status = heddle_shelf_open(device, directory, &options, &shelf);
    if (status != HEDDLE_OK) return 10;
    if (call == KILL_INSERT)
        status = heddle_shelf_insert(shelf, more_keys, more_values, MORE, NULL, NULL);
    else if (call == KILL_BUILD)
        status = heddle_shelf_build(shelf, more_keys, more_values, MORE, NULL, NULL);
    else if (call == KILL_ERASE) status = heddle_shelf_erase(shelf, k, FILLED / 2, NULL, NULL);
    else status = heddle_shelf_clear(shelf);
    heddle_shelf_close(shelf);
    heddle_device_close(device);
    free(k);
    free(v);
    return status == HEDDLE_OK ? 0 : 11;
}

/* Runs it; true when it was killed: by itself, or, with `after` not 0, after so many nanoseconds. */
static bool kill_process(int call, const char *directory, uint64_t at, uint64_t after)
{
    char call_text[16], at_text[32];
    int status = 0;
    snprintf(call_text, sizeof call_text, "%d", call);
    snprintf(at_text, sizeof at_text, "%llu", (unsigned long long)at);
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", program, call_text, directory, at_text, (char *)NULL);
        _exit(12);
    }
    assert_true(child > 0);
    if (after != 0) {
        const struct timespec wait = {0, (long)after};
        (void)nanosleep(&wait, NULL);
        (void)kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* What the model holds after the call. */
static void model_after(shared *m, int call)
{
    uint64_t size = 0;
    if (call == KILL_BUILD || call == KILL_CLEAR) m->size = 0;
    if (call == KILL_INSERT || call == KILL_BUILD)
        shared_model_add(m, keys + FILLED, values + FILLED, MORE, HEDDLE_POLICY_KEEP);
    if (call != KILL_ERASE) return;
    for (uint64_t i = 0; i < m->size; i++) {
        bool gone = false;
        for (uint64_t j = 0; j < FILLED / 2 && !gone; j++) gone = keys[j] == m->pairs[i].key;
        if (!gone) m->pairs[size++] = m->pairs[i];
    }
    m->size = size;
}

/* Has a call killed, and looks at what is left. -1: as before; 1: as after; 0: the call came to its end. */
static int kill_call(int call, uint64_t at, uint64_t after)
{
    shelved s = filled();
    int outcome = 1;
    heddle_shelf_close(s.shelf);
    s.shelf = NULL;
    const bool killed = kill_process(call, s.directory, at, after);
    check_ok(heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf));
    if (shelved_holds(&s, s.model.pairs, s.model.size)) {
        check(killed, "a call that came to its end has changed nothing");
        outcome = -1;
    } else {
        model_after(&s.model, call);
    }
    shelved_check(&s); /* what the other one has left is swept up, too */
    shelved_insert(&s, keys, values, FILLED + MORE, HEDDLE_POLICY_KEEP, false);
    shelved_check(&s);
    shelved_destroy(&s);
    return killed ? outcome : 0;
}

static void processes_are_killed(void **state)
{
    uint32_t before = 0, after = 0;
    (void)state;
    fill_arrays();
    for (int call = 0; call < KILLS; call++) {
        int outcome = 1;
        for (uint64_t at = 1; outcome != 0; at += case_quick() ? 5 : 1) {
            case_note("call %d, killed at %llu", call, (unsigned long long)at);
            outcome = kill_call(call, at, 0);
            before += outcome < 0;
            after += outcome > 0;
        }
    }
    check(before > 20 && (after != 0 || case_quick()), "killed %u times before, %u times after",
          before, after);
}

/* At any moment: in the middle of a file, too. */
static void processes_are_killed_at_any_time(void **state)
{
    uint64_t random = 5;
    (void)state;
    fill_arrays();
    for (uint64_t i = 0; i < case_size(120); i++) {
        const uint64_t after = 1 + keys_below(&random, 20000000);
        case_note("killed after %llu ns", (unsigned long long)after);
        (void)kill_call((int)(i % KILLS), 0, after);
    }
}

/* ------------------------------------------------------------------------------------- damaged */

/* Calls `each` with the path of every part. */
static uint32_t for_parts(const shelved *s, void (*each)(const char *path, void *context),
                          void *context)
{
    DIR *entries = opendir(s->directory);
    uint32_t parts = 0;
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", s->directory, entry->d_name);
        if (strncmp(entry->d_name, "part_", 5) != 0) continue;
        each(path, context);
        parts++;
    }
    closedir(entries);
    return parts;
}

typedef struct damage {
    uint8_t *whole;
    uint64_t bytes;
    char path[800];
} damage;

/* Remembers the last one. */
static void keep_part(const char *path, void *context)
{
    damage *d = context;
    free(d->whole);
    d->whole = files_read(path, &d->bytes);
    snprintf(d->path, sizeof d->path, "%s", path);
}

static void check_open(shelved *s, heddle_status expected, const char *reason)
{
    check_status(heddle_shelf_open(s->device, s->directory, &s->options, &s->shelf), expected);
    check(strstr(heddle_last_error(), reason) != NULL, "'%s' does not say '%s'",
          heddle_last_error(), reason);
    assert_null(s->shelf);
}

/* A bit anywhere in a part is noticed by the calls that need the part; the others go on. */
static void parts_are_damaged(void **state)
{
    uint8_t found[FILLED];
    damage d = {NULL, 0, ""};
    (void)state;
    fill_arrays();
    shelved s = filled();
    void *k = shared_narrow(keys, FILLED, 32);
    assert_true(for_parts(&s, keep_part, &d) > 4);
    for (uint64_t at = 0; at < d.bytes; at += 1 + d.bytes / 60) {
        case_note("byte %llu", (unsigned long long)at);
        heddle_shelf_close(s.shelf);
        d.whole[at] ^= 4;
        files_write(d.path, d.whole, d.bytes);
        d.whole[at] ^= 4;
        check_ok(heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf));
        check_status(heddle_shelf_contains(s.shelf, k, FILLED, found, NULL), HEDDLE_ERROR_FORMAT);
        check_status(heddle_shelf_validate(s.shelf), HEDDLE_ERROR_FORMAT);
        check_status(heddle_shelf_insert(s.shelf, k, k, FILLED, NULL, NULL), HEDDLE_ERROR_FORMAT);
        check_status(heddle_shelf_erase(s.shelf, k, FILLED, NULL, NULL), HEDDLE_ERROR_FORMAT);
        files_write(d.path, d.whole, d.bytes);
        shelved_check(&s); /* the whole file is good again, and no other part has been changed */
    }
    heddle_shelf_close(s.shelf);
    files_write(d.path, d.whole, d.bytes - 8);
    check_open(&s, HEDDLE_ERROR_FORMAT, "it was written with");
    assert_int_equal(unlink(d.path), 0);
    check_open(&s, HEDDLE_ERROR_IO, "cannot read");
    files_write(d.path, d.whole, d.bytes);
    check_ok(heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf));
    shelved_check(&s);
    free(d.whole);
    free(k);
    shelved_destroy(&s);
}

/* One part's file in the place of another of the same length: the keys are not its own. */
static void copy_over(const char *path, void *context)
{
    const damage *d = context;
    files_write(path, d->whole, d->bytes);
}
static void parts_are_exchanged(void **state)
{
    damage d = {NULL, 0, ""};
    (void)state;
    fill_arrays();
    shelved s = filled();
    for_parts(&s, keep_part, &d);
    heddle_shelf_close(s.shelf);
    s.shelf = NULL;
    for_parts(&s, copy_over, &d);
    const heddle_status status = heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf);
    check(status == HEDDLE_OK || status == HEDDLE_ERROR_FORMAT, "%s", heddle_last_error());
    if (status == HEDDLE_OK) { /* all parts happened to be as long */
        const heddle_status valid = heddle_shelf_validate(s.shelf);
        check(valid == HEDDLE_ERROR_CORRUPT || valid == HEDDLE_ERROR_FORMAT, "it passed as valid");
    }
    free(d.whole);
    shelved_destroy(&s);
}

static void manifests_are_damaged(void **state)
{
    char path[800];
    uint64_t bytes = 0;
    (void)state;
    fill_arrays();
    shelved s = filled();
    heddle_shelf_close(s.shelf);
    s.shelf = NULL;
    snprintf(path, sizeof path, "%s/manifest.heddle", s.directory);
    uint8_t *whole = files_read(path, &bytes);
    for (uint64_t at = 0; at < bytes; at++) {
        case_note("byte %llu", (unsigned long long)at);
        whole[at] ^= 1;
        files_write(path, whole, bytes);
        whole[at] ^= 1;
        check_open(&s, HEDDLE_ERROR_FORMAT, "");
        files_write(path, whole, at);
        check_open(&s, HEDDLE_ERROR_FORMAT, "");
    }
    whole[8] = 9;
    files_write(path, whole, bytes);
    check_open(&s, HEDDLE_ERROR_FORMAT, "version 9");
    whole[8] = 1;
    assert_int_equal(unlink(path), 0);
    check_open(&s, HEDDLE_ERROR_IO, "there is no shelf");
    files_write(path, whole, bytes);
    check_ok(heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf));
    shelved_check(&s); /* none of the failed openings has removed a part */
    free(whole);
    shelved_destroy(&s);
}

/* A manifest with good checksums whose parts hold more keys than their files have bytes: no memory is taken for them. */
/* Options that a newer library may have are not supported; all others are the file's fault. */
static void check_forged(shelved *s, uint32_t at)
{
    heddle_shelf *shelf = NULL;
    const heddle_status status = heddle_shelf_open(s->device, s->directory, &s->options, &shelf);
    check(status == HEDDLE_ERROR_FORMAT || status == HEDDLE_ERROR_UNSUPPORTED,
          "with a forged word at %u: status %d, %s", at, (int)status, heddle_last_error());
    assert_null(shelf);
}

static void manifests_are_forged(void **state)
{
    enum { HEADER = 192, BLOCK = HEADER + 16, PART = 32, COUNT = 16, UNUSED = 112 };
    char path[800];
    uint64_t bytes = 0, count = 0;
    (void)state;
    fill_arrays();
    shelved s = filled();
    heddle_shelf_close(s.shelf);
    s.shelf = NULL;
    snprintf(path, sizeof path, "%s/manifest.heddle", s.directory);
    uint8_t *whole = files_read(path, &bytes);
    for (uint64_t at = BLOCK; at < bytes; at += PART) {
        uint64_t had, parts, sum;
        memcpy(&had, whole + at + COUNT, sizeof had);
        if (had == 0) continue;
        for (uint32_t bits = 16; bits <= 63; bits += 47) {
            count = had + (UINT64_C(1) << bits);
            memcpy(whole + at + COUNT, &count, sizeof count);
            memcpy(&parts, whole + HEADER, sizeof parts);
            sum = hd_file_checksum(parts, whole + BLOCK, parts * PART);
            memcpy(whole + HEADER + 8, &sum, sizeof sum);
            files_write(path, whole, bytes);
            check_open(&s, HEDDLE_ERROR_FORMAT, "impossible");
        }
        memcpy(whole + at + COUNT, &had, sizeof had);
    }
    assert_true(count != 0);
    /* Every word of the options, and every byte that this version does not use. */
    for (uint32_t at = 12; at < 80; at += 4) {
        uint32_t had;
        memcpy(&had, whole + at, sizeof had);
        if (at >= 40 && at < 48) continue; /* the seed of tables: any is right */
        memset(whole + at, at < 40 ? 0x77 : 0xf7, 4);
        files_write_forged(path, whole, bytes, HEADER);
        check_forged(&s, at);
        memcpy(whole + at, &had, sizeof had);
    }
    for (uint32_t at = UNUSED; at < HEADER - 8; at++) {
        whole[at] = 1;
        files_write_forged(path, whole, bytes, HEADER);
        check_open(&s, HEDDLE_ERROR_FORMAT, "does not know");
        whole[at] = 0;
    }
    whole[BLOCK + 4] = 1; /* of the first part */
    files_write_forged(path, whole, bytes, HEADER);
    uint64_t parts, sum;
    memcpy(&parts, whole + HEADER, sizeof parts);
    sum = hd_file_checksum(parts, whole + BLOCK, parts * PART);
    memcpy(whole + HEADER + 8, &sum, sizeof sum);
    files_write(path, whole, bytes);
    check_open(&s, HEDDLE_ERROR_FORMAT, "does not know");
    free(whole);
    shelved_destroy(&s);
}

/* --------------------------------------------------------------------------------- two of them */

static void one_writer_or_many_readers(void **state)
{
    heddle_shelf_options reads = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_shelf *first = NULL, *second = NULL;
    uint64_t size = 0;
    (void)state;
    fill_arrays();
    shelved s = filled();
    reads.memory = LITTLE;
    reads.flags = HEDDLE_SHELF_READ_ONLY;
    check_status(heddle_shelf_open(s.device, s.directory, &s.options, &second), HEDDLE_ERROR_IO);
    check(strstr(heddle_last_error(), "open already") != NULL, "%s", heddle_last_error());
    check_status(heddle_shelf_open(s.device, s.directory, &reads, &second), HEDDLE_ERROR_IO);
    heddle_shelf_close(s.shelf);
    s.shelf = NULL;
    check_ok(heddle_shelf_open(s.device, s.directory, &reads, &first));
    check_ok(heddle_shelf_open(s.device, s.directory, &reads, &second));
    check_status(heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf), HEDDLE_ERROR_IO);
    check_status(heddle_shelf_clear(first), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_insert(first, keys, values, 1, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_erase(first, keys, 1, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_ok(heddle_shelf_size(second, &size));
    assert_int_equal(size, FILLED);
    s.shelf = second;
    shelved_check(&s);
    shelved_look(&s, keys, FILLED + MORE);
    heddle_shelf_close(first);
    shelved_destroy(&s);
}

/* A batch can be sorted somewhere else; where nothing can be written, that is said. */
static void scratch_elsewhere(void **state)
{
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    (void)state;
    fill_arrays();
    options.memory = LITTLE;
    options.scratch = files_directory();
    shelved s = shelved_create_with(kind, "cpu:1", &options);
    shelved_insert(&s, keys, values, FILLED, HEDDLE_POLICY_KEEP, true);
    check(shelved_stats(&s).bytes_spilled != 0, "no batch was sorted in a file");
    assert_int_equal(files_count(), 0);
    shelved_check(&s);
    shelved_destroy(&s);
    options.scratch = "/nowhere/at/all";
    s = shelved_create_with(kind, "cpu:1", &options);
    void *k = shared_narrow(keys, FILLED, 32);
    check_status(heddle_shelf_insert(s.shelf, k, k, FILLED, NULL, NULL), HEDDLE_ERROR_IO);
    check(strstr(heddle_last_error(), "/nowhere") != NULL, "%s", heddle_last_error());
    shelved_check(&s);
    free(k);
    shelved_destroy(&s);
}

/* ------------------------------------------------------------------------------------ arguments */

static void wrong_calls(void **state)
{
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT, bad = options;
    heddle_table_options table = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_shelf_stats stats = HEDDLE_SHELF_STATS_INIT;
    heddle_shelf *shelf = NULL;
    uint64_t count = 0, word = 0;
    (void)state;
    fill_arrays();
    shelved s = filled();
    check_status(heddle_shelf_create(NULL, "x", NULL, NULL, &shelf), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_create(s.device, "", NULL, NULL, &shelf), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_create(s.device, "x", NULL, NULL, NULL), HEDDLE_ERROR_INVALID);
    bad.size = 4;
    check_status(heddle_shelf_create(s.device, "x", NULL, &bad, &shelf), HEDDLE_ERROR_INVALID);
    bad = options;
    bad.memory = 100;
    check_status(heddle_shelf_create(s.device, "x", NULL, &bad, &shelf), HEDDLE_ERROR_INVALID);
    bad = options;
    bad.flags = 8;
    check_status(heddle_shelf_open(s.device, s.directory, &bad, &shelf), HEDDLE_ERROR_INVALID);
    bad.flags = HEDDLE_SHELF_READ_ONLY;
    check_status(heddle_shelf_create(s.device, "x", NULL, &bad, &shelf), HEDDLE_ERROR_INVALID);
    table.flags = HEDDLE_FLAG_FIXED;
    check_status(heddle_shelf_create(s.device, "x", &table, NULL, &shelf),
                 HEDDLE_ERROR_UNSUPPORTED);
    table.flags = 0;
    table.key_bits = 17;
    assert_int_not_equal(heddle_shelf_create(s.device, "x", &table, NULL, &shelf), HEDDLE_OK);
    check_status(heddle_shelf_create(s.device, "/nowhere/at/all", NULL, NULL, &shelf),
                 HEDDLE_ERROR_IO);
    check_status(heddle_shelf_open(s.device, "/nowhere/at/all", NULL, &shelf), HEDDLE_ERROR_IO);
    heddle_shelf_close(s.shelf);
    check_status(heddle_shelf_create(s.device, s.directory, NULL, NULL, &shelf),
                 HEDDLE_ERROR_INVALID);
    assert_null(shelf);
    check_ok(heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf));

    check_status(heddle_shelf_insert(s.shelf, NULL, values, 5, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_insert(s.shelf, keys, NULL, 5, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_insert(s.shelf, (char *)keys + 1, values, 5, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    insert.policy = 9;
    check_status(heddle_shelf_insert(s.shelf, keys, values, 5, &insert, NULL),
                 HEDDLE_ERROR_INVALID);
    insert.policy = 0;
    insert.workspace = keys;
    check_status(heddle_shelf_build(s.shelf, keys, values, 5, &insert, NULL), HEDDLE_ERROR_INVALID);
    insert.size = 3;
    check_status(heddle_shelf_build(s.shelf, keys, values, 5, &insert, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_find(s.shelf, keys, 5, NULL, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_count(s.shelf, keys, 5, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_retrieve(s.shelf, keys, 0, NULL, NULL, 0, &count),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_retrieve(s.shelf, keys, 0, &word, NULL, 0, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_export(s.shelf, keys, NULL, 5, &count), HEDDLE_ERROR_TOO_SMALL);
    assert_int_equal(count, FILLED);
    check_status(heddle_shelf_size(s.shelf, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_for_all(s.shelf, NULL, NULL), HEDDLE_ERROR_INVALID);
    stats.size = 5;
    check_status(heddle_shelf_get_stats(s.shelf, &stats), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_find(NULL, keys, 5, values, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_validate(NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_shelf_clear(NULL), HEDDLE_ERROR_INVALID);
    table.size = sizeof table;
    check_ok(heddle_shelf_get_options(s.shelf, &table));
    assert_int_equal(table.key_bits, 32);
    assert_int_equal(table.scheme, HEDDLE_SCHEME_CUCKOO);
    heddle_shelf_close(NULL);
    shelved_check(&s);
    shelved_destroy(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {ONCE(processes_are_killed),
                                       ONCE(processes_are_killed_at_any_time),
                                       ONCE(parts_are_damaged),
                                       ONCE(parts_are_exchanged),
                                       ONCE(manifests_are_damaged),
                                       ONCE(manifests_are_forged),
                                       ONCE(one_writer_or_many_readers),
                                       ONCE(scratch_elsewhere),
                                       ONCE(wrong_calls)};
    program = argv[0];
    if (argc == 4) {
        fill_arrays();
        return victim(atoi(argv[1]), argv[2], strtoull(argv[3], NULL, 10));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
