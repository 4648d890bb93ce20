/*
 * test_graph_save.c: hashgraphs in files. What is saved comes back, in its container and with its
 * vertices; a set goes from one scheme to the other; what is damaged is refused.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/multi.h"

static char path[512];

/* A table with n keys, each about twice, some erased, saved to `path`. */
static multi create_saved(const test_case *c, uint64_t n)
{
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n + 1), *values = keys_allocate(n + 1);
    options.vertices = 0.5;
    multi m = multi_create(c, &options);
    keys_fill(keys, n, KEYS_TWICE, options.key_bits, 11);
    keys_fill_values(values, n, 11);
    multi_build(&m, keys, options.value_bits != 0 ? values : NULL, n);
    if (n > 10) multi_erase(&m, keys, n / 10);
    snprintf(path, sizeof path, "%s", files_path("graph.heddle"));
    check_ok(heddle_table_save(m.table, path, NULL));
    free(keys);
    free(values);
    return m;
}

static void round_trip(const test_case *c)
{
    /* The last is more than a block of the file. */
    const uint64_t sizes[] = {0, 1, 3001, case_quick() ? 5000 : (UINT64_C(1) << 20) + 12345};
    for (uint32_t i = 0; i < 4; i++) {
        heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
        heddle_table *loaded = NULL;
        case_note("n %llu", (unsigned long long)sizes[i]);
        multi m = create_saved(c, sizes[i]);
        multi_check(&m);
        check_ok(heddle_table_load(c->device, path, NULL, &loaded));
        multi_check_table(&m, loaded);
        check_ok(heddle_table_get_options(loaded, &options));
        assert_int_equal(options.container, m.options.container);
        assert_int_equal(options.scheme, HEDDLE_SCHEME_HASHGRAPH);
        assert_true(options.vertices == 0.5);
        heddle_table_destroy(loaded);
        options = case_options(c);
        options.vertices = 2;
        check_ok(heddle_table_load(c->device, path, &options, &loaded));
        multi_check_table(&m, loaded);
        assert_int_equal(files_count(), 1); /* no file is left beside it */
        heddle_table_destroy(loaded);
        multi_destroy(&m);
    }
    files_remove();
}

/* A set is a set: from a hashgraph to a cuckoo table and back. */
static void to_another_scheme(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table *loaded = NULL, *back = NULL;
    if (options.container != HEDDLE_CONTAINER_SET) return;
    if (!case_compiled(c, HEDDLE_SCHEME_CUCKOO, options.key_bits, 0, 16)) return;
    multi m = create_saved(c, 3001);
    options.scheme = HEDDLE_SCHEME_CUCKOO;
    options.bucket = 16;
    check_ok(heddle_table_load(c->device, path, &options, &loaded));
    check_ok(heddle_table_validate(loaded, NULL));
    check_ok(heddle_table_save(loaded, path, NULL));
    options = case_options(c);
    check_ok(heddle_table_load(c->device, path, &options, &back));
    multi_check_table(&m, back);
    heddle_table_destroy(loaded);
    heddle_table_destroy(back);
    multi_destroy(&m);
    files_remove();
}

static void other_containers_are_refused(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table *loaded = NULL;
    multi m = create_saved(c, 100);
    options.container = options.container == HEDDLE_CONTAINER_COUNTER ? HEDDLE_CONTAINER_MULTIMAP
                                                                      : HEDDLE_CONTAINER_COUNTER;
    options.value_bits = 32;
    check_status(heddle_table_load(c->device, path, &options, &loaded), HEDDLE_ERROR_INVALID);
    assert_null(loaded);
    multi_destroy(&m);
    files_remove();
}

/* Any bit that flips is noticed. */
static void damage_is_refused(const test_case *c)
{
    multi m = create_saved(c, 300);
    uint64_t bytes = 0;
    uint8_t *content = files_read(path, &bytes);
    for (uint64_t i = 0; i<bytes; i += bytes> 2000 ? 7 : 1) {
        heddle_table *loaded = NULL;
        content[i] ^= (uint8_t)(1u << i % 8);
        files_write(path, content, bytes);
        check_status(heddle_table_load(c->device, path, NULL, &loaded), HEDDLE_ERROR_FORMAT);
        assert_null(loaded);
        content[i] ^= (uint8_t)(1u << i % 8);
    }
    for (uint64_t less = 1; less < bytes; less += bytes / 50 + 1) {
        heddle_table *loaded = NULL;
        files_write(path, content, bytes - less);
        check_status(heddle_table_load(c->device, path, NULL, &loaded), HEDDLE_ERROR_FORMAT);
        assert_null(loaded);
    }
    free(content);
    multi_destroy(&m);
    files_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_GRAPHS(round_trip),
        OVER_GRAPHS(to_another_scheme),
        OVER_GRAPHS(other_containers_are_refused),
        OVER_FEW_GRAPHS(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
