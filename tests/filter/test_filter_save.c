/*
 * test_filter_save.c: Bloom filters in files: what is saved comes back bit by bit with its options and can
 * be merged with what it came from; what is damaged or forged is refused.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/files.h"
#include "support/filters.h"
#include "support/keys.h"

static char path[512];

static heddle_filter *make_saved(const test_case *c, uint32_t bits, uint64_t n, uint32_t hashes)
{
    uint64_t *keys = keys_allocate(n + 1);
    heddle_filter *filter = filter_make(c, bits, n + 1, hashes, 0, 0);
    keys_fill(keys, n, KEYS_EDGES, bits, 3);
    filter_add(c, filter, keys, n);
    snprintf(path, sizeof path, "%s", files_path("filter.heddle"));
    check_ok(heddle_filter_save(filter, path, NULL));
    free(keys);
    return filter;
}

static void round_trip(const test_case *c)
{
    /* The last is more than a block of the file. */
    const uint64_t sizes[] = {0, 1, 3001, case_quick() ? 5000 : UINT64_C(5000000)};
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t bits = i % 2 == 0 ? 32 : 64;
        heddle_filter_options before = HEDDLE_FILTER_OPTIONS_INIT, after = before;
        heddle_filter *loaded = NULL, *filter = make_saved(c, bits, sizes[i / 2], i);
        case_note("n %llu, %u bits", (unsigned long long)sizes[i / 2], bits);
        check_ok(heddle_filter_load(c->device, path, &loaded));
        check_ok(heddle_filter_get_options(filter, &before));
        check_ok(heddle_filter_get_options(loaded, &after));
        assert_memory_equal(&before, &after, sizeof before);
        assert_true(filter_same(filter, loaded));
        assert_int_equal(filter_stats(loaded).keys_added, sizes[i / 2]);
        check_ok(heddle_filter_validate(loaded, NULL));
        check_ok(heddle_filter_merge(filter, loaded, NULL));
        assert_int_equal(files_count(), 1); /* no file is left beside it */
        heddle_filter_destroy(loaded);
        heddle_filter_destroy(filter);
    }
    files_remove();
}

/* Any bit that flips is noticed, and any byte that is missing or too many. */
static void damage_is_refused(const test_case *c)
{
    heddle_filter *filter = make_saved(c, 32, 300, 0), *loaded = NULL;
    uint64_t bytes = 0;
    uint8_t *content = files_read(path, &bytes);
    for (uint64_t i = 0; i < bytes; i++) {
        content[i] ^= (uint8_t)(1u << i % 8);
        files_write(path, content, bytes);
        check_status(heddle_filter_load(c->device, path, &loaded), HEDDLE_ERROR_FORMAT);
        assert_null(loaded);
        content[i] ^= (uint8_t)(1u << i % 8);
    }
    for (uint64_t less = 1; less <= bytes; less += bytes / 50 + 1) {
        files_write(path, content, bytes - less);
        check_status(heddle_filter_load(c->device, path, &loaded), HEDDLE_ERROR_FORMAT);
        assert_null(loaded);
    }
    content = (uint8_t *)realloc(content, bytes + 1);
    content[bytes] = 0;
    files_write(path, content, bytes + 1);
    check_status(heddle_filter_load(c->device, path, &loaded), HEDDLE_ERROR_FORMAT);
    free(content);
    heddle_filter_destroy(filter);
    files_remove();
}

#define HEADER 128 /* bytes of it; the last 8 are a checksum of the others */

/* Loads a forged file. It is refused as damaged, or is a filter that can be used and saved. */
static heddle_status load_forged(const test_case *c, uint8_t *content, uint64_t bytes)
{
    heddle_filter *loaded = NULL;
    uint64_t keys[100], count = 0;
    files_write_forged(path, content, bytes, HEADER);
    const heddle_status status = heddle_filter_load(c->device, path, &loaded);
    if (status != HEDDLE_OK) {
        check_status(status, HEDDLE_ERROR_FORMAT);
        assert_null(loaded);
        return status;
    }
    keys_fill(keys, 100, KEYS_RANDOM, 64, 9);
    check_ok(heddle_filter_contains(loaded, keys, 50, NULL, &count, NULL));
    (void)heddle_filter_validate(loaded, NULL);
    check_ok(heddle_filter_save(loaded, path, NULL));
    heddle_filter_destroy(loaded);
    return status;
}

/* Whoever can write the file can write the checksum, too: every word of the header, with numbers at the edges. */
static void forged_headers(const test_case *c)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       17,
                                       0x7fffffff,
                                       0xffffffff,
                                       UINT64_C(1) << 40,
                                       UINT64_C(1) << 63,
                                       UINT64_C(0x7ff0000000000000) /* infinity */,
                                       UINT64_C(0x7ff8000000000000) /* not a number */,
                                       UINT64_MAX};
    enum {
        NUMBERS = sizeof numbers / sizeof numbers[0],
        BLOCKS = 56 /* their number, and what is reserved */
    };
    heddle_filter *filter = make_saved(c, 64, 300, 0);
    uint64_t bytes = 0, before;
    uint8_t *content = files_read(path, &bytes);
    heddle_filter_destroy(filter);
    assert_int_equal(load_forged(c, content, bytes), HEDDLE_OK); /* as it was */
    for (uint32_t at = 12; at < HEADER - 8; at += 4)
        for (uint32_t i = 0; i < 2 * NUMBERS; i++) {
            const uint32_t width = i < NUMBERS && at % 8 == 0 ? 8 : 4;
            case_note("byte %u: %llx, %u bytes", at, (unsigned long long)numbers[i % NUMBERS],
                      width);
            memcpy(&before, content + at, 8);
            memcpy(content + at, &numbers[i % NUMBERS], width);
            const bool same = memcmp(&before, content + at, 8) == 0;
            const heddle_status status = load_forged(c, content, bytes);
            /* The file has the blocks that it says, and what is unknown is 0. */
            check(same || at < BLOCKS || status == HEDDLE_ERROR_FORMAT,
                  "a forged filter was loaded");
            memcpy(content + at, &before, 8);
        }
    free(content);
    files_remove();
}

/* A failure leaves the older file; a table's file is no filter. */
static void failures_lose_nothing(const test_case *c)
{
    heddle_filter *filter = make_saved(c, 32, 300, 0), *loaded = NULL;
    heddle_table *table = NULL;
    char pipe[512];
    snprintf(pipe, sizeof pipe, "%s", files_path("a_pipe"));
    assert_int_equal(mkfifo(pipe, 0666), 0);
    check_status(heddle_filter_save(filter, pipe, NULL), HEDDLE_ERROR_IO);
    assert_int_equal(unlink(pipe), 0); /* it is still there */
    check_status(heddle_filter_save(filter, "/nowhere/at/all", NULL), HEDDLE_ERROR_IO);
    check_status(heddle_filter_save(filter, "", NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_save(filter, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_load(c->device, "/nowhere/at/all", &loaded), HEDDLE_ERROR_IO);
    check_status(heddle_filter_load(c->device, NULL, &loaded), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_load(NULL, path, &loaded), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_load(c->device, path, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_table_load(c->device, path, NULL, &table), HEDDLE_ERROR_FORMAT);
    check_ok(heddle_filter_load(c->device, path, &loaded));
    assert_true(filter_same(filter, loaded));
    heddle_filter_destroy(loaded);
    heddle_filter_destroy(filter);
    files_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(round_trip),
        OVER_DEVICES(damage_is_refused),
        OVER_DEVICES(forged_headers),
        OVER_DEVICES(failures_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
