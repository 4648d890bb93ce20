/*
 * write_in_order.h: what was made in a core's cache is written past the caches: lines are not read
 * first, and what is in the caches stays there.
 */
#ifndef HD_CPU_WRITE_IN_ORDER_H
#define HD_CPU_WRITE_IN_ORDER_H

#include "base/port.h"

static inline void write_in_order(char *to, const char *from, uint64_t bytes)
{
    uint64_t i = (uint64_t)(-(uintptr_t)to % 16);
    if (i > bytes) i = bytes;
    memcpy(to, from, i);
    for (; i + 16 <= bytes; i += 16) hd_stream_16(to + i, from + i);
    hd_stream_end();
    memcpy(to + i, from + i, bytes - i);
}

#endif
