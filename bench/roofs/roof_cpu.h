/* roof_cpu.h: what this machine's memory gives, for a benchmark to compare a table with. */
#ifndef HD_ROOF_CPU_H
#define HD_ROOF_CPU_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Measures one roof with `threads` OpenMP threads and writes it to *rate: accesses a second, for a
 * copy bytes read + written a second. `width` is a power of two from 4 to 512 for a gather, 8 to
 * 512 for a compare-and-swap; a copy ignores `width` and `accesses` and copies `bytes` bytes to a
 * buffer of the same size. Allocates what it needs and frees it before it returns.
 */
heddle_status hd_roof_cpu(uint32_t threads, const hd_roof_request *request, double *rate);

#ifdef __cplusplus
}
#endif

#endif
