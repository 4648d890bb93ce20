/* test_mark_few.c: rows with one of a few keys are marked and counted (model/few.h, hd_column_ops.mark), on every engine. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "support/cases.h"
#include "support/keys.h"

#define ROWS 100003
#define MANY 2048

static uint64_t few_keys[MANY];

/* All kinds: 0, the largest, neighbours, and any. */
static void make_few(uint32_t width, uint64_t count)
{
    const uint64_t largest = width == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t seed = count;
    for (uint64_t i = 0; i < count; i++)
        few_keys[i] = i == 0   ? 0
                      : i == 1 ? largest
                      : i < 40 ? largest / 3 + i
                               : i * (largest / (MANY + 1)) + keys_below(&seed, 1000);
}

static bool is_one(uint64_t key, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (few_keys[i] == key) return true;
    return false;
}

static void *to_device(heddle_device *device, const void *bytes, uint64_t n)
{
    void *memory = NULL;
    check_ok(heddle_memory_allocate(device, n + 8, &memory));
    check_ok(heddle_memory_copy(device, memory, bytes, n, NULL));
    check_ok(heddle_device_synchronize(device, NULL));
    return memory;
}

static void check_marks(heddle_device *device, uint32_t width, uint64_t count, uint64_t rows)
{
    static uint64_t keys[ROWS], places[(1 << HD_FEW_BITS_MAX) + 64];
    static uint8_t flags[ROWS + 1], expected[ROWS];
    const uint32_t bits = hd_few_bits(count);
    uint64_t seed = rows + count, got = 0, wanted = 0;
    hd_few few = {width, bits, NULL, NULL};
    make_few(width, count);
    memset(places, 0, sizeof places);
    hd_few_fill(few_keys, count, bits, places, (uint32_t *)(places + (1 << bits)));
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t any = keys_below(&seed, width == 4 ? UINT32_MAX : UINT64_MAX - 1);
        const uint64_t key = i % 3 == 0 && count != 0 ? few_keys[any % count] : any;
        wanted += expected[i] = is_one(key, count);
        if (width == 4) ((uint32_t *)(void *)keys)[i] = (uint32_t)key;
        else keys[i] = key;
    }
    void *memory[] = {to_device(device, places, 8u << bits), /* and the bits behind them */
                      to_device(device, places + (1 << bits), (1u << bits) / 8),
                      to_device(device, keys, rows * width), to_device(device, flags, rows + 1),
                      to_device(device, &seed, 8)};
    few.keys = memory[0];
    few.used = memory[1];
    const hd_few_search search = {memory[2], rows, memory[3], memory[4]};
    check_ok(device->engine->columns->mark(hd_on(device, NULL, NULL), &few, &search));
    check_ok(heddle_memory_copy(device, flags, memory[3], rows, NULL));
    check_ok(heddle_memory_copy(device, &got, memory[4], 8, NULL));
    check_ok(heddle_device_synchronize(device, NULL));
    check(memcmp(flags, expected, rows) == 0, "%u bytes, %llu of %llu keys: wrong marks", width,
          (unsigned long long)count, (unsigned long long)rows);
    assert_int_equal(got, wanted);
    for (int i = 0; i < 5; i++) check_ok(heddle_memory_free(device, memory[i]));
}

static void rows_are_marked(void **state)
{
    const uint64_t counts[] = {0, 1, 2, 31, 33, 256, MANY}, rows[] = {0, 1, 255, 4097, ROWS};
    const char *name = getenv("HEDDLE_TEST_DEVICE");
    heddle_device *device = NULL;
    (void)state;
    check_ok(heddle_device_open(name != NULL ? name : "cpu:2", &device));
    for (uint32_t width = 4; width <= 8; width += 4)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
                check_marks(device, width, counts[i], counts[i] == MANY ? rows[k] % 5000 : rows[k]);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_marked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
