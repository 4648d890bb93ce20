/*
 * host.h: the room of the host: what a call needs before a device can work for it. It knows devices
 * (engine/engine.h) and nothing of tables.
 *
 *   device.c      heddle_device_*: devices by name, their memory and streams
 *   scratch.h     device memory that a call needs until it returns, and that frees itself
 *   lent.h        a whole array of the caller's, where the device can use it, and back
 *   stage.h       the same slice by slice, while the device works on the slice before
 *   conveyor.h    long arrays of ordinary memory, copied by several threads
 *   file.h        whole files, checksums
 *   buffer.h      scratch memory that grows and stays between slices
 *   seed.h        seeds of hash functions
 *   public_struct.h   structs of the interface that may grow, read and written by their sizes
 *
 * A call on arrays anywhere: take a scratch (HD_SCRATCH); lend the arrays to the device
 * (hd_lend_in, hd_lend_out), or cut them into slices (hd_for_slices); take the results back
 * (hd_take_back).
 */
#ifndef HD_HOST_H
#define HD_HOST_H

#include "host/conveyor.h"
#include "host/file.h"
#include "host/lent.h"
#include "host/scratch.h"
#include "host/stage.h"

/* Threads for what the host does itself: those of a CPU device, a few beside a GPU. */
int hd_host_threads(heddle_device *device);

#endif
