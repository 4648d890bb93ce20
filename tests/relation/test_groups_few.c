/*
 * test_groups_few.c: groups that are known by number. Their numbering follows from the keys alone, whatever
 * the threads, on every device; the limit is exact, wherever the key is that goes past it; rows in order are made of it
 * later. Nothing is compared with a model: what numbers must be like can be seen from the keys.
 */
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "relation/encode/encode.h"
#include "support/made_groups.h"
#include "support/sort.h"

static bool has_few(const test_case *c)
{
    return can_group(c) && c->device->engine->host_memory &&
           c->device->engine->relate(64, 64)->few != NULL;
}

/* Keys as an array of their width. */
static void *narrow(const uint64_t *keys, uint64_t n, uint32_t bits)
{
    void *packed = malloc(n * 8 + 8);
    for (uint64_t i = 0; i < n; i++)
        if (bits == 32) ((uint32_t *)packed)[i] = (uint32_t)keys[i];
        else ((uint64_t *)packed)[i] = keys[i];
    return packed;
}

static uint64_t row_at(const void *rows, uint32_t bits, uint64_t i)
{
    return bits == 32 ? ((const uint32_t *)rows)[i] : ((const uint64_t *)rows)[i];
}

/* Every row has the key of its group's first row; first rows ascend, and each begins its group. Keys of
   two first rows differ, or the second of them had the number of the first. */
static void check_numbers(const hd_row_groups *made, const uint64_t *keys, uint64_t distinct)
{
    uint64_t met = 0;
    assert_non_null(made->numbers);
    assert_int_equal(made->groups, distinct);
    for (uint64_t i = 0; i < made->n; i++) {
        const uint32_t g = made->numbers[i];
        check(g <= met && g < made->groups, "row %llu has a number too large",
              (unsigned long long)i);
        if (g == met) {
            check(row_at(made->firsts, made->row_bits, g) == i, "a first row is wrong");
            met++;
        }
        check(keys[i] == keys[row_at(made->firsts, made->row_bits, g)], "a number is wrong");
    }
    assert_int_equal(met, distinct); /* as many keys as groups: so no two groups have the same */
}

/* A copy in host memory of what a device has; 0 bytes of what it has not. */
static void *pull(heddle_device *device, const void *from, uint64_t bytes)
{
    void *to;
    if (from == NULL) return NULL;
    to = malloc(bytes + 8);
    check_ok(device->engine->copy(device, to, from, bytes, NULL));
    check_ok(device->engine->synchronize(device, NULL));
    return to;
}

static hd_row_groups pull_groups(const hd_row_groups *made)
{
    hd_row_groups host = *made;
    const uint64_t width = made->row_bits / 8;
    host.numbers = pull(made->device, made->numbers, made->n * sizeof *made->numbers);
    host.firsts = pull(made->device, made->firsts, made->groups * width);
    host.rows = pull(made->device, made->rows, made->n * width);
    host.starts = pull(made->device, made->starts, (made->groups + 1) * sizeof *made->starts);
    return host;
}

static void free_pulled(hd_row_groups *host)
{
    free(host->numbers);
    free(host->firsts);
    free(host->rows);
    free(host->starts);
}

/* The rows of every group, ascending. */
static void check_rows(const hd_row_groups *made)
{
    assert_int_equal(made->starts[0], 0);
    assert_int_equal(made->starts[made->groups], made->n);
    for (uint64_t g = 0; g < made->groups; g++)
        for (uint64_t i = made->starts[g]; i < made->starts[g + 1]; i++) {
            const uint64_t row = row_at(made->rows, made->row_bits, i);
            check(row < made->n && made->numbers[row] == g, "a row is in another's group");
            check(i == made->starts[g] || row_at(made->rows, made->row_bits, i - 1) < row,
                  "rows do not ascend");
        }
}

static void check_order(hd_row_groups *made)
{
    hd_row_groups host;
    assert_null(made->rows);
    check_ok(hd_row_groups_order(made, NULL));
    host = pull_groups(made);
    check_rows(&host);
    free_pulled(&host);
}

static uint64_t count_distinct(const uint64_t *keys, uint64_t n)
{
    uint64_t *sorted = keys_allocate(n + 1), count = n != 0;
    memcpy(sorted, keys, n * sizeof *keys);
    sort_numbers(sorted, n);
    for (uint64_t i = 1; i < n; i++) count += sorted[i] != sorted[i - 1];
    free(sorted);
    return count;
}

/* All kinds of keys and rows on devices of several threads. */
static void check_threads(const uint64_t *keys, uint64_t n)
{
    static const char *const devices[] = {"cpu:1", "cpu:2", "cpu:3", "cpu:7"};
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++)
        for (uint32_t kind = 0; kind < 4; kind++) {
            const uint32_t key_bits = kind % 2 == 0 ? 32 : 64, row_bits = kind < 2 ? 32 : 64;
            heddle_device *device = NULL;
            hd_row_groups made;
            void *packed = narrow(keys, n, key_bits);
            check_ok(heddle_device_open(devices[d], &device));
            const hd_row_source from = {device, NULL, n, row_bits, kind + 1, NULL, 0, false, NULL};
            check_ok(hd_group_array(&from, packed, key_bits, &made));
            check_numbers(&made, keys, count_distinct(keys, n));
            check_order(&made);
            hd_row_groups_free(&made);
            heddle_device_close(device);
            free(packed);
        }
}

static void numbers_do_not_depend_on_threads(const test_case *c)
{
    static const uint64_t distinct[] = {1, 2, 100, 3000, 20000};
    const uint64_t n = case_size(150001);
    uint64_t *keys = keys_allocate(n);
    if (has_few(c)) {
        hd_tune.few_groups_limit = n;
        for (size_t d = 0; d < sizeof distinct / sizeof distinct[0]; d++) {
            uint64_t state = d;
            for (uint64_t i = 0; i < n; i++)
                keys[i] = low_bits(keys_below(&state, distinct[d]) * 0x9e3779b1u, 32);
            case_note("%llu keys", (unsigned long long)distinct[d]);
            check_threads(keys, n);
        }
        for (uint64_t i = 0; i < n; i++) keys[i] = i / 7; /* sorted: every share has its own */
        case_note("sorted");
        check_threads(keys, n);
        keys_fill(keys, n, KEYS_ZIPF, 32, 4);
        case_note("zipf");
        check_threads(keys, n);
        hd_tune.few_groups_limit = HD_TUNING_NONE;
    }
    free(keys);
}

/* `distinct` keys, of which the last appears in row `late` alone: known by number if the limit allows. */
static void check_limit(const test_case *c, uint64_t n, uint64_t distinct, uint64_t late,
                        bool expected)
{
    uint64_t *keys = keys_allocate(n);
    const hd_row_source from = {c->device, NULL, n, 32, 3, NULL, 0, false, NULL};
    hd_row_groups made;
    for (uint64_t i = 0; i < n; i++) keys[i] = i % (distinct - 1) * UINT64_C(0x10001);
    keys[late] = UINT64_MAX;
    case_note("%llu rows, %llu keys, the last at %llu", (unsigned long long)n,
              (unsigned long long)distinct, (unsigned long long)late);
    check_ok(hd_group_array(&from, keys, 64, &made));
    assert_int_equal(made.groups, distinct);
    assert_int_equal(made.numbers != NULL, expected);
    assert_int_equal(made.rows != NULL, !expected);
    if (expected) check_numbers(&made, keys, distinct);
    hd_row_groups_free(&made);
    free(keys);
}

static void the_limit_is_exact(const test_case *c)
{
    const uint64_t n = case_size(200000), limit = n / 20;
    if (!has_few(c)) return;
    hd_tune.few_groups_limit = limit;
    for (int late = 0; late < 2; late++) {
        const uint64_t row = late ? n - 1 : n / 3;
        check_limit(c, n, limit - 1, row, true);
        check_limit(c, n, limit, row, true);
        check_limit(c, n, limit + 1, row, false);
    }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
    check_limit(c, n, n / 4, n - 1, true); /* as is best: four rows a group */
    check_limit(c, n, n / 4 + 1, n - 1, false);
}

/* What the engine takes at most, in so many rows that some are drawn first. */
static void the_most_groups(const test_case *c)
{
    const uint64_t most = has_few(c) ? c->device->engine->relate(64, 32)->few_most : 0;
    if (most == 0) return;
    check_limit(c, 9 * most, most, 9 * most - 1, true);
    check_limit(c, 9 * most, most + 1, 9 * most - 1, false);
}

/* ------------------------------------------------------------------------------------ other devices */

/* All kinds of keys and rows; `kind` says what a GPU is made to do (tuning.h). */
static void check_device(const test_case *c, const uint64_t *keys, uint64_t n, uint32_t kind)
{
    const uint32_t key_bits = kind % 2 == 0 ? 32 : 64, row_bits = kind / 2 % 2 == 0 ? 32 : 64;
    const uint64_t distinct = count_distinct(keys, n), bytes = n * (key_bits / 8);
    void *packed = narrow(keys, n, key_bits), *device_keys = NULL;
    hd_row_groups made, host;
    check_ok(heddle_memory_allocate(c->device, bytes, &device_keys));
    check_ok(heddle_memory_copy(c->device, device_keys, packed, bytes, NULL));
    const hd_row_source from = {c->device, NULL, n, row_bits, kind + 1, NULL, 0, false, NULL};
    hd_tune.keys_homes = kind % 3 == 1 ? 100 : HD_TUNING_NONE;
    hd_tune.keys_near_bits = kind % 3 == 2 ? 3 : HD_TUNING_NONE;
    check_ok(hd_group_array(&from, device_keys, key_bits, &made));
    hd_tune.keys_homes = hd_tune.keys_near_bits = HD_TUNING_NONE;
    host = pull_groups(&made);
    check_numbers(&host, keys, distinct);
    free_pulled(&host);
    check_order(&made);
    hd_row_groups_free(&made);
    check_ok(heddle_memory_free(c->device, device_keys));
    free(packed);
}

static void numbers_on_every_device(const test_case *c)
{
    static const uint64_t distinct[] = {1, 2, 100, 3000, 20000};
    static const uint64_t sizes[] = {1, 31, 5000, 150001};
    if (!can_group(c) || c->device->engine->relate(64, 64)->few == NULL) return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint64_t n = case_size(sizes[s]);
        uint64_t *keys = keys_allocate(n);
        hd_tune.few_groups_limit = n;
        for (size_t d = 0; d < sizeof distinct / sizeof distinct[0]; d++)
            for (uint32_t kind = 0; kind < 12; kind++) {
                uint64_t state = d;
                for (uint64_t i = 0; i < n; i++)
                    keys[i] = kind == 11
                                  ? i / 7
                                  : low_bits(keys_below(&state, distinct[d]) * 0x9e3779b1u, 32);
                if (kind % 2 == 0) keys[n / 2] = UINT32_MAX; /* as an empty slot */
                else keys[n / 2] = UINT64_MAX;
                case_note("%llu rows, %llu keys, kind %u", (unsigned long long)n,
                          (unsigned long long)distinct[d], kind);
                check_device(c, keys, n, kind);
            }
        hd_tune.few_groups_limit = HD_TUNING_NONE;
        free(keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(numbers_on_every_device),
        OVER_DEVICES(numbers_do_not_depend_on_threads),
        OVER_DEVICES(the_limit_is_exact),
        OVER_DEVICES(the_most_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
