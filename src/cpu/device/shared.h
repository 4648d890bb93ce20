/* shared.h: main memory that processes share; see engine.h on `share`. */
#ifndef HD_SHARED_CPU_H
#define HD_SHARED_CPU_H

#include "engine/engine.h"

heddle_status hd_cpu_share(heddle_device *device, uint64_t bytes, void **memory,
                           uint64_t key[HD_SHARE_WORDS]);
heddle_status hd_cpu_open_shared(heddle_device *device, const uint64_t key[HD_SHARE_WORDS],
                                 void **memory);
/* What this process has shared, and what it has opened. */
void hd_cpu_unshare(heddle_device *device, void *memory);

#endif
