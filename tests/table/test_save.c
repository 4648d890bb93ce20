/*
 * test_save.c: heddle_table_save and heddle_table_load. What is saved comes back on any device and
 * in any bucket size; what is damaged is refused, whichever byte it is.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/checked.h"
#include "support/files.h"
#include "support/keys.h"

static char path[512];

/* Not what would be chosen, where there is a choice. */
static uint32_t case_hashes(const test_case *c)
{
    if (case_is_slab(c)) return 1;
    return c->ops->scheme == HEDDLE_SCHEME_ICEBERG ? 3 : 4;
}

/* A table with n keys of the edges, some erased, saved to `path`. */
static checked create_saved(const test_case *c, uint64_t n)
{
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    heddle_table_options options = case_options(c);
    options.load = 0.7;
    options.hashes = case_hashes(c);
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_EDGES, options.key_bits, 173);
    keys_fill_values(values, n, 173);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    checked_erase(&t, keys + n / 2, n / 10);
    snprintf(path, sizeof path, "%s", files_path("table.heddle"));
    check_ok(heddle_table_save(t.table, path, NULL));
    free(keys);
    free(values);
    return t;
}

/* The loaded table is whole, and works on as any table does. */
static void check_loaded(const test_case *c, heddle_table *table, const model *saved)
{
    const uint64_t n = model_size(saved);
    uint64_t *keys = keys_allocate(2 * n + 10);
    uint64_t *values = keys_allocate(2 * n + 10);
    model *m = model_create();
    model_export(saved, keys, values);
    for (uint64_t i = 0; i < n; i++) model_set(m, keys[i], values[i]);
    checked t = checked_adopt(c, table, m);
    checked_all(&t);
    keys_fill(keys, 2 * n + 10, KEYS_RANDOM, c->ops->key_bits, 179);
    keys_fill_values(values, 2 * n + 10, 179);
    checked_insert(&t, keys, values, 2 * n + 10, HEDDLE_POLICY_KEEP);
    checked_erase(&t, keys, n);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

static void round_trip(const test_case *c)
{
    const uint64_t sizes[] = {0, 1, case_size(3001)};
    for (uint32_t i = 0; i < 3; i++) {
        heddle_table *loaded = NULL;
        heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
        case_note("n %llu", (unsigned long long)sizes[i]);
        checked t = create_saved(c, sizes[i]);
        checked_all(&t); /* saving changes nothing */
        check_ok(heddle_table_load(c->device, path, NULL, &loaded));
        assert_string_equal(heddle_table_instance(loaded), c->ops->name);
        assert_ptr_equal(heddle_table_device(loaded), c->device);
        check_ok(heddle_table_get_options(loaded, &options));
        assert_int_equal(options.hashes, case_hashes(c));
        assert_true(options.load == 0.7);
        assert_int_equal(options.container, t.options.container);
        check_loaded(c, loaded, t.model);
        assert_int_equal(files_count(), 1); /* no file is left beside it */
        checked_destroy(&t);
    }
}

/* A fixed table crammed beyond what one seed would take comes back whole: loading may not fail. */
static void crammed_fixed_tables_come_back(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table *loaded = NULL;
    /* small tables have room to spare, and buckets of one slot are the hardest to fill */
    options.capacity = case_size(c->ops->bucket == 1 ? 50000 : 2000);
    options.load = 0.99;
    options.flags = HEDDLE_FLAG_FIXED;
    checked t = checked_create(c, &options);
    const uint64_t n = 2 * t.options.capacity;
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    keys_fill(keys, n, KEYS_RANDOM, options.key_bits, 177);
    keys_fill_values(values, n, 177);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    check_ok(heddle_table_save(t.table, files_path("table.heddle"), NULL));
    check_ok(heddle_table_load(c->device, files_path("table.heddle"), NULL, &loaded));
    check_loaded(c, loaded, t.model);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Into tables of every other bucket size, and with other hashes and load. */
static void to_other_buckets(const test_case *c)
{
    static const uint32_t buckets[] = {1, 4, 8, 16, 32};
    checked t = create_saved(c, case_size(1501));
    for (uint32_t i = 0; i < 5; i++) {
        heddle_table *loaded = NULL;
        heddle_table_options options = case_options(c);
        if (!case_compiled(c, options.scheme, options.key_bits, options.value_bits, buckets[i]))
            continue;
        case_note("to buckets of %u", buckets[i]);
        options.bucket = buckets[i];
        options.hashes = 3;
        options.load = 0.5;
        check_ok(heddle_table_load(c->device, path, &options, &loaded));
        check_ok(heddle_table_get_options(loaded, &options));
        assert_int_equal(options.bucket, buckets[i]);
        assert_int_equal(options.hashes, 3);
        check_loaded(c, loaded, t.model);
    }
    checked_destroy(&t);
}

/* From the device of the case to every other kind of device. */
static void to_other_devices(const test_case *c)
{
    const char *const names[] = {"cpu", "cpu:2",
                                 heddle_cuda_device_count() > 0 ? "cuda:0" : "cpu:1"};
    checked t = create_saved(c, case_size(2001));
    for (uint32_t i = 0; i < 3; i++) {
        test_case there = *c;
        heddle_table *loaded = NULL;
        case_note("to %s", names[i]);
        there.device_name = names[i];
        there.arrays = ARRAYS_HOST;
        check_ok(heddle_device_open(names[i], &there.device));
        check_ok(heddle_table_load(there.device, path, NULL, &loaded));
        assert_string_equal(heddle_table_instance(loaded), c->ops->name);
        check_loaded(&there, loaded, t.model);
        heddle_device_close(there.device);
    }
    checked_destroy(&t);
}

static void expect_refusal(const test_case *c, heddle_status expected, const char *what,
                           uint64_t at)
{
    heddle_table *loaded = NULL;
    case_note("%s at %llu", what, (unsigned long long)at);
    check_status(heddle_table_load(c->device, path, NULL, &loaded), expected);
    assert_null(loaded);
    assert_true(strlen(heddle_last_error()) > 0);
}

/* Every bit pattern matters: a flipped bit anywhere, a lost tail, an extra byte. */
static void damaged_files_are_refused(const test_case *c)
{
    checked t = create_saved(c, 40);
    uint64_t bytes = 0;
    uint8_t *content = files_read(path, &bytes);
    const uint64_t step = case_quick() ? 7 : 1;
    for (uint64_t at = 0; at < bytes; at += step) {
        content[at] ^= (uint8_t)(1u << at % 8);
        files_write(path, content, bytes);
        expect_refusal(c, HEDDLE_ERROR_FORMAT, "flipped bit", at);
        content[at] ^= (uint8_t)(1u << at % 8);
    }
    for (uint64_t left = 0; left < bytes; left += step) {
        files_write(path, content, left);
        expect_refusal(c, HEDDLE_ERROR_FORMAT, "truncated file", left);
    }
    content[bytes] = 0; /* files_read leaves room for one more */
    files_write(path, content, bytes + 1);
    expect_refusal(c, HEDDLE_ERROR_FORMAT, "extra byte", bytes);
    content[0] ^= 0xff;
    files_write(path, content, bytes);
    expect_refusal(c, HEDDLE_ERROR_FORMAT, "wrong magic", 0);
    content[0] ^= 0xff;
    files_write(path, content, bytes); /* as it was, it loads */
    heddle_table *loaded = NULL;
    check_ok(heddle_table_load(c->device, path, NULL, &loaded));
    check_loaded(c, loaded, t.model);
    checked_destroy(&t);
    free(content);
}

/* A larger file, damaged in many places spread over it. */
static void damaged_large_files_are_refused(const test_case *c)
{
    checked t = create_saved(c, case_size(20001));
    uint64_t bytes = 0;
    uint64_t state = 181;
    uint8_t *content = files_read(path, &bytes);
    for (uint32_t i = 0; i < 60; i++) {
        const uint64_t at = keys_below(&state, bytes);
        const uint8_t before = content[at];
        content[at] = (uint8_t)(before + 1 + keys_below(&state, 255));
        files_write(path, content, bytes);
        expect_refusal(c, HEDDLE_ERROR_FORMAT, "changed byte", at);
        content[at] = before;
    }
    checked_destroy(&t);
    free(content);
}

/* Headers whose checksum is right though somebody has changed them: what cannot be is refused as the file's fault. */
static void forged_headers_are_refused(const test_case *c)
{
    enum { HEADER = 128, FIRST = 12, SCHEME = 16, BUCKET = 28, COUNT = 40, LOAD = 48, END = 120 };
    checked t = create_saved(c, 40);
    uint64_t bytes = 0;
    uint8_t *content = files_read(path, &bytes), before[8];
    for (uint64_t at = FIRST; at < END; at += at < COUNT ? 4 : 8) {
        const double odd = -3;
        memcpy(before, content + at, sizeof before);
        if (at < COUNT) memset(content + at, 0x77, 4);
        else if (at >= LOAD) memcpy(content + at, &odd, sizeof odd);
        else memset(content + at, 0xff, 8);
        files_write_forged(path, content, bytes, HEADER);
        /* A library with more schemes or tables may have written such a file. */
        const bool other = at == SCHEME || at == BUCKET;
        expect_refusal(c, other ? HEDDLE_ERROR_UNSUPPORTED : HEDDLE_ERROR_FORMAT, "forged header",
                       at);
        memcpy(content + at, before, sizeof before);
    }
    files_write_forged(path, content, bytes, HEADER);
    heddle_table *loaded = NULL;
    check_ok(heddle_table_load(c->device, path, NULL, &loaded));
    check_loaded(c, loaded, t.model);
    checked_destroy(&t);
    free(content);
}

static void missing_and_foreign_files(const test_case *c)
{
    static const uint8_t text[] =
        "This is no table of Heddle's, though it is long enough to hold a header and "
        "then some more, so that nobody stops at the end of the file too early.";
    snprintf(path, sizeof path, "%s", files_path("missing"));
    expect_refusal(c, HEDDLE_ERROR_IO, "missing file", 0);
    snprintf(path, sizeof path, "%s", files_directory());
    expect_refusal(c, HEDDLE_ERROR_IO, "a directory", 0);
    snprintf(path, sizeof path, "%s", files_path("foreign"));
    files_write(path, text, sizeof text);
    expect_refusal(c, HEDDLE_ERROR_FORMAT, "foreign file", 0);
    unlink(path);
}

/* A path that cannot be written: the status says so, no file is left, the table is as it was. */
static void unwritable_paths(const test_case *c)
{
    checked t = create_saved(c, 100);
    const uint32_t files = files_count();
    check_status(heddle_table_save(t.table, "/nonexistent/directory/table", NULL), HEDDLE_ERROR_IO);
    assert_true(strlen(heddle_last_error()) > 0);
    snprintf(path, sizeof path, "%s", files_path("a_directory"));
    assert_int_equal(mkdir(path, 0777), 0);
    check_status(heddle_table_save(t.table, path, NULL), HEDDLE_ERROR_IO);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(files_count(), files);
    checked_all(&t);
    checked_destroy(&t);
}

/* Only a regular file is replaced: a pipe stays, also behind a link, and so does a link to a regular file. */
static void other_than_files(const test_case *c)
{
    checked t = create_saved(c, 100);
    struct stat info;
    char link[sizeof path];
    snprintf(path, sizeof path, "%s", files_path("a_pipe"));
    snprintf(link, sizeof link, "%s", files_path("to_a_pipe"));
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(symlink(path, link), 0);
    check_status(heddle_table_save(t.table, path, NULL), HEDDLE_ERROR_IO);
    check_status(heddle_table_save(t.table, link, NULL), HEDDLE_ERROR_IO);
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(unlink(path), 0);
    files_write(path, (const uint8_t *)"text", 4);
    check_status(heddle_table_save(t.table, link, NULL), HEDDLE_ERROR_IO);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(unlink(link), 0);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 4);
    assert_int_equal(unlink(path), 0);
    checked_destroy(&t);
}

/* What others have put beside the path, a link or a file, is neither followed nor used up. */
static void planted_files(const test_case *c)
{
    static const uint8_t text[] = "another's";
    checked t = create_saved(c, 100);
    char victim[sizeof path], planted[sizeof path + 8];
    uint64_t bytes = 0;
    uint8_t *content;
    snprintf(victim, sizeof victim, "%s", files_path("victim"));
    snprintf(path, sizeof path, "%s", files_path("saved"));
    snprintf(planted, sizeof planted, "%s.part", path);
    files_write(victim, text, sizeof text);
    assert_int_equal(symlink(victim, planted), 0);
    check_ok(heddle_table_save(t.table, path, NULL));
    content = files_read(victim, &bytes);
    assert_int_equal(bytes, sizeof text);
    assert_memory_equal(content, text, sizeof text);
    free(content);
    assert_int_equal(unlink(planted), 0);
    files_write(planted, text, sizeof text);
    check_ok(heddle_table_save(t.table, path, NULL));
    assert_int_equal(access(planted, F_OK), 0);
    assert_int_equal(unlink(planted), 0);
    assert_int_equal(unlink(victim), 0);
    assert_int_equal(unlink(path), 0);
    checked_destroy(&t);
}

/* Container and widths must be those of the file. */
static void other_types_are_refused(const test_case *c)
{
    checked t = create_saved(c, 100);
    heddle_table *loaded = NULL;
    heddle_table_options options = case_options(c);
    options.key_bits = 96 - options.key_bits;
    check_status(heddle_table_load(c->device, path, &options, &loaded), HEDDLE_ERROR_INVALID);
    assert_null(loaded);
    options = case_options(c);
    options.container = case_is_map(c) ? HEDDLE_CONTAINER_SET : HEDDLE_CONTAINER_MAP;
    options.value_bits = case_is_map(c) ? 0 : 32;
    check_status(heddle_table_load(c->device, path, &options, &loaded), HEDDLE_ERROR_INVALID);
    assert_null(loaded);
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(round_trip),
        OVER_TABLES(crammed_fixed_tables_come_back),
        OVER_INSTANCES(to_other_buckets),
        OVER_WIDTHS(to_other_devices),
        OVER_WIDTHS(damaged_files_are_refused),
        OVER_TABLES(forged_headers_are_refused),
        OVER_DEVICES(damaged_large_files_are_refused),
        OVER_DEVICES(missing_and_foreign_files),
        OVER_DEVICES(unwritable_paths),
        OVER_DEVICES(other_than_files),
        OVER_DEVICES(planted_files),
        OVER_WIDTHS(other_types_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
