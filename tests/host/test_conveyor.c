/* test_conveyor.c: long arrays arrive whole on a device and come back whole, whatever their length (host/conveyor.h). */
#include <stdlib.h>
#include <string.h>

#include "host/conveyor.h"
#include "support/cases.h"

#define PIECE (UINT64_C(1) << 24) /* as conveyor.c has it */

static void go_and_come_back(hd_conveyor *c, uint64_t bytes)
{
    unsigned char *host = malloc(bytes + 2), *back = malloc(bytes + 2);
    void *memory = NULL;
    case_note("%llu bytes", (unsigned long long)bytes);
    assert_non_null(host);
    assert_non_null(back);
    for (uint64_t i = 0; i < bytes + 2; i++) host[i] = (unsigned char)(i * 131 >> 7);
    memset(back, 0xaa, bytes + 2);
    check_ok(heddle_memory_allocate(c->device, bytes, &memory));
    check_ok(hd_conveyor_copy(c, memory, host + 1, bytes, true));
    check_ok(hd_conveyor_copy(c, back + 1, memory, bytes, false));
    check(memcmp(back + 1, host + 1, bytes) == 0, "something else came back");
    assert_int_equal(back[0], 0xaa);
    assert_int_equal(back[bytes + 1], 0xaa);
    check_ok(heddle_memory_free(c->device, memory));
    free(host);
    free(back);
    case_note("%s", "");
}

static void arrays_of_all_lengths(void **state)
{
    const uint64_t lengths[] = {
        1,         HD_CONVEYOR_LEAST - 1, HD_CONVEYOR_LEAST, PIECE - 1, PIECE, PIECE + 1,
        2 * PIECE, 3 * PIECE + 12345};
    const char *name = getenv("HEDDLE_TEST_DEVICE");
    heddle_device *device = NULL;
    (void)state;
    check_ok(heddle_device_open(name != NULL ? name : "cpu:2", &device));
    for (uint32_t sharers = 1; sharers <= 2; sharers++) {
        hd_conveyor c;
        hd_conveyor_init(&c, device, sharers);
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            go_and_come_back(&c, lengths[i]);
        assert_non_null(c.pinned[0]); /* long ones went that way */
        hd_conveyor_free(&c);
    }
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_of_all_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
