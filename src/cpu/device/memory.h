/* memory.h: main memory for tables and batches. */
#ifndef HD_MEMORY_CPU_H
#define HD_MEMORY_CPU_H

#include <heddle/heddle.h>

/*
 * `bytes` of zeroed memory, 256-byte aligned; 2 MB and more lie on huge pages where the system
 * offers them, because random access over small pages costs a page walk each time. Scratch memory that
 * lies idle is given up for it.
 */
heddle_status hd_memory_cpu_allocate(heddle_device *device, uint64_t bytes, void **memory);
void hd_memory_cpu_free(void *memory);

#endif
