/*
 * engine.h: what the parts of the CPU engine share. The files:
 *
 *     engine.c         the CPU as a device: opening, the tile that is chosen, the table of functions hd_engine_cpu
 *     memory.h         main memory for tables and batches, in huge pages
 *     shared.h         memory that other processes read
 *     threads.c        how many threads a step takes
 *     remembered.inl   what a thread remembers of keys whose search was long
 */
#ifndef HD_ENGINE_CPU_H
#define HD_ENGINE_CPU_H

#include "base/port.h"
#include "engine/engine.h"

typedef struct hd_device_cpu {
    heddle_device base;
    int threads;
    const char *tile; /* the widest vector tile this machine runs */
} hd_device_cpu;

/*
 * The compiled tables of one vector tile: "scalar", "avx2", "avx512" or "neon"; NULL where it was
 * not compiled or this machine cannot run it.
 */
const hd_table_ops *const *hd_cpu_tables(const char *tile, uint32_t *count);

/* How many threads a loop over `items` may use: one when they are not worth waking others. Always the same number. */
HD_FOR_TOOL int hd_cpu_threads(const heddle_device *device, uint64_t items);
/* How many it should use now, at most as many: fewer where others use the processors, or no thread can be made. For every
   parallel region, whose threads each ask how many there are. */
HD_FOR_TOOL int hd_cpu_team(const heddle_device *device, uint64_t items);
/* The same where a step over so many items has memory for `wanted` threads. */
HD_FOR_TOOL int hd_cpu_team_of(int wanted, uint64_t items);

#endif
