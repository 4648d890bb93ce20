/* unique_sorted.c: the distinct keys of two arrays, ascending. Heddle finds them, qsort sorts. */
#include "../check.h"
#include <inttypes.h>

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    const uint32_t march[5] = {70, 20, 70, 90, 20}, april[4] = {20, 10, 90, 10};
    uint32_t keys[5 + 4]; /* a union has at most the keys of both */
    uint64_t count;

    heddle_device *device;
    check(heddle_device_open("auto", &device));
    check(heddle_set_operation_keys(device, HEDDLE_SET_UNION, march, 5, april, 4, keys, 9, &count,
                                    NULL));
    heddle_device_close(device);

    qsort(keys, count, sizeof keys[0], by_value);
    for (uint64_t i = 0; i < count; i++) printf("%u\n", keys[i]);
    return 0;
}
