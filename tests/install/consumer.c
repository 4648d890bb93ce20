/* consumer.c: the smallest program that needs the header, the library and an engine. */
#include <heddle/heddle.h>
#include <stdio.h>

int main(void)
{
    const uint32_t keys[2] = {0, UINT32_MAX};
    const uint32_t values[2] = {7, 9};
    uint32_t answers[2] = {0, 0};
    heddle_device *device = NULL;
    heddle_table *map = NULL;
    int failed = heddle_abi_version() != HEDDLE_ABI_VERSION;

    failed = failed || heddle_device_open("cpu", &device) ||
             heddle_table_create(device, NULL, &map) ||
             heddle_table_insert(map, keys, values, 2, NULL, NULL, NULL) ||
             heddle_table_find(map, keys, 2, answers, NULL, NULL, NULL) ||
             answers[0] != values[0] || answers[1] != values[1];
    printf("heddle %s: %s\n", heddle_version_string(), failed ? heddle_last_error() : "fine");
    heddle_table_destroy(map);
    heddle_device_close(device);
    return failed;
}
