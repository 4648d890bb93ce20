/*
 * rank_device.h: the device of a rank. Ranks have one or two threads in turn, or with HEDDLE_TEST_DEVICE=cuda:0,cpu:1
 * the devices that it names, in turn.
 */
#ifndef TEST_RANK_DEVICE_H
#define TEST_RANK_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const char *rank_device(int rank)
{
    static char name[64];
    const char *list = getenv("HEDDLE_TEST_DEVICE");
    int count = 1;
    if (list == NULL) return rank % 2 == 0 ? "cpu:1" : "cpu:2";
    for (const char *c = list; *c != 0; c++) count += *c == ',';
    for (int i = rank % count; i > 0; i--) list = strchr(list, ',') + 1;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(list, ","), list);
    return name;
}

#endif
