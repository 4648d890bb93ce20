/* test_set_operation.c: union, intersection and difference against a model that is one set for each array. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "relation/encode/encode.h"
#include "support/made_groups.h"
#include "support/model.h"

/* The result in order of first appearance. */
static uint64_t expect(uint32_t operation, const uint64_t *a, uint64_t a_count, const uint64_t *b,
                       uint64_t b_count, uint64_t *keys)
{
    model *in_b = model_create(), *taken = model_create();
    uint64_t count = 0;
    for (uint64_t i = 0; i < b_count; i++) model_set(in_b, b[i], 1);
    for (uint64_t i = 0; i < a_count; i++) {
        const bool found = model_find(in_b, a[i], NULL);
        if (model_find(taken, a[i], NULL)) continue;
        if (operation == HEDDLE_SET_INTERSECTION && !found) continue;
        if (operation == HEDDLE_SET_DIFFERENCE && found) continue;
        model_set(taken, a[i], 1);
        keys[count++] = a[i];
    }
    for (uint64_t i = 0; i < b_count && operation == HEDDLE_SET_UNION; i++) {
        if (model_find(taken, b[i], NULL)) continue;
        model_set(taken, b[i], 1);
        keys[count++] = b[i];
    }
    model_destroy(in_b);
    model_destroy(taken);
    return count;
}

static void check_operation(const test_case *c, uint32_t operation, uint32_t bits,
                            const uint64_t *a, uint64_t a_count, const uint64_t *b,
                            uint64_t b_count)
{
    uint64_t *keys = keys_allocate(a_count + b_count + 1), count = 77;
    const uint64_t expected = expect(operation, a, a_count, b, b_count, keys);
    array in_a = array_of(c, ROLE_KEYS, a, a_count, bits);
    array in_b = array_of(c, ROLE_VALUES, b, b_count, bits);
    array out = array_poisoned(c, ROLE_VALUES, expected * bits / 8, 0xcd);
    case_note("operation %u, %u bits, %llu and %llu keys", operation, bits,
              (unsigned long long)a_count, (unsigned long long)b_count);
    if (expected > 0) {
        check_status(heddle_set_operation(c->device, operation, bits, array_pointer(&in_a), a_count,
                                          array_pointer(&in_b), b_count, array_pointer(&out),
                                          expected - 1, &count, NULL),
                     HEDDLE_ERROR_TOO_SMALL);
        assert_int_equal(count, expected);
        array_pull(&out);
        for (uint64_t i = 0; i < expected * bits / 8; i++) assert_int_equal(out.host[i], 0xcd);
    }
    check_ok(heddle_set_operation(c->device, operation, bits, array_pointer(&in_a), a_count,
                                  array_pointer(&in_b), b_count, array_pointer(&out), expected,
                                  &count, NULL));
    array_pull(&out);
    assert_int_equal(count, expected);
    for (uint64_t i = 0; i < count; i++)
        check(array_at(&out, i, bits) == keys[i], "key %llu is wrong", (unsigned long long)i);
    array_free(&in_a);
    array_free(&in_b);
    array_free(&out);
    free(keys);
}

static void operations(const test_case *c)
{
    static const uint64_t sizes[][2] = {{0, 0}, {0, 9},     {9, 0},        {1, 1},
                                        {5, 7}, {1000, 10}, {30001, 50000}};
    if (!can_group(c)) return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (uint64_t distinct = 1; distinct < 4000000; distinct *= 60)
            for (uint32_t bits = 32; bits <= 64; bits += 32) {
                const uint64_t n = case_size(sizes[s][0]), m = case_size(sizes[s][1]);
                uint64_t *a = keys_allocate(n + 1), *b = keys_allocate(m + 1), state = distinct + s;
                for (uint64_t i = 0; i < n; i++)
                    a[i] =
                        low_bits(keys_below(&state, distinct) * UINT64_C(0x9e3779b97f4a7c15), bits);
                for (uint64_t i = 0; i < m; i++)
                    b[i] = low_bits((keys_below(&state, distinct) + distinct / 2) *
                                        UINT64_C(0x9e3779b97f4a7c15),
                                    bits);
                for (uint32_t o = HEDDLE_SET_UNION; o <= HEDDLE_SET_DIFFERENCE; o++) {
                    hd_tune.few_groups_limit = 0;
                    check_operation(c, o, bits, a, n, b, m);
                    hd_tune.few_groups_limit =
                        n + m; /* groups known by number, where the engine can */
                    check_operation(c, o, bits, a, n, b, m);
                }
                hd_tune.few_groups_limit = HD_TUNING_NONE;
                free(a);
                free(b);
            }
}

static void wrong_arguments(const test_case *c)
{
    uint64_t a[2] = {1, 2}, b[2] = {2, 3}, out[4], count = 77;
    if (!can_group(c)) return;
#define CALL(device, operation, bits, a, b, out, count)                                            \
    check_status(heddle_set_operation(device, operation, bits, a, 2, b, 2, out, 4, count, NULL),   \
                 HEDDLE_ERROR_INVALID)
    CALL(NULL, 1, 64, a, b, out, &count);
    CALL(c->device, 0, 64, a, b, out, &count);
    CALL(c->device, 4, 64, a, b, out, &count);
    CALL(c->device, 1, 16, a, b, out, &count);
    CALL(c->device, 1, 64, NULL, b, out, &count);
    CALL(c->device, 1, 64, a, NULL, out, &count);
    CALL(c->device, 1, 64, a, b, NULL, &count);
    CALL(c->device, 1, 64, a, b, out, NULL);
    assert_int_equal(count, 77);
    check_status(heddle_set_operation(c->device, 1, 64, a, UINT64_MAX, b, 2, out, 4, &count, NULL),
                 HEDDLE_ERROR_INVALID);
    if (c->device->engine->host_memory)
        check_status(heddle_set_operation(c->device, 1, 64, a, 2, b, 2, out, 4, &count, a),
                     HEDDLE_ERROR_INVALID);
    check_ok(heddle_set_operation(c->device, HEDDLE_SET_UNION, 64, NULL, 0, NULL, 0, NULL, 0,
                                  &count, NULL));
    assert_int_equal(count, 0);
}

static void memory_may_run_out(const test_case *c)
{
    uint64_t a[50], b[50], out[100], count;
    if (!can_group(c)) return;
    keys_fill(a, 50, KEYS_RANDOM, 64, 1);
    keys_fill(b, 50, KEYS_RANDOM, 64, 2);
    memcpy(b, a, 10 * sizeof *a);
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t o = HEDDLE_SET_UNION + i % 3;
        bool struck = true;
        hd_tune.few_groups_limit = i < 3 ? 0 : 100;
        for (uint64_t k = 1; struck; k++) {
            case_note("operation %u, allocation %llu", o, (unsigned long long)k);
            hd_fault_arm(k);
            const heddle_status status =
                heddle_set_operation(c->device, o, 64, a, 50, b, 50, out, 100, &count, NULL);
            struck = hd_fault_struck();
            hd_fault_arm(0);
            check(status == (struck ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_OK), "%s",
                  heddle_last_error());
        }
    }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(operations),
        OVER_DEVICES(wrong_arguments),
        OVER_DEVICES(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
