/*
 * conveyor.h: long arrays of the host on their way to a device and back. What a caller has in
 * ordinary memory a driver copies with one thread, at a fraction of what the bus takes. Here some
 * threads copy a piece into pinned memory while the device fetches the one before, and the other
 * way round.
 */
#ifndef HD_CONVEYOR_H
#define HD_CONVEYOR_H

#include "engine/engine.h"

typedef struct hd_conveyor {
    heddle_device *device;
    int threads;
    void *pinned[2];
    void *moved[2]; /* events: the device has done with that piece */
} hd_conveyor;

/* Shorter arrays are copied at once. */
#define HD_CONVEYOR_LEAST (UINT64_C(1) << 23)

/*
 * `sharers`: how many of them work at a time in this process, so that each has its share of the
 * cores.
 */
void hd_conveyor_init(hd_conveyor *conveyor, heddle_device *device, uint32_t sharers);
void hd_conveyor_free(hd_conveyor *conveyor);
/*
 * Between memory of the device and of the host, `in` to the device. Waits until it is done. Memory
 * for it is taken at the first time; without it the engine copies.
 */
heddle_status hd_conveyor_copy(hd_conveyor *conveyor, void *to, const void *from, uint64_t bytes,
                               bool in);

#endif
