/*
 * base.h: the room of the base, which all other rooms stand on. This page says what is where; each file includes the header
 * that it needs.
 *
 *     port.h            the few words that differ between gcc and nvcc
 *     atomic.h          atomic steps, with the memory order in the name
 *     alloc.h           host memory, and how tests make each allocation fail
 *     file_calls.h      calls of the system on files, that signals do not end
 *     error.h           why a call failed (hd_fail), and how a failure leaves a function (HD_TRY)
 *     tuning.h          what tests choose and count, in one struct
 *     team.h            how many threads a parallel step may have
 *     while_waiting.h   what a thread does while it waits for a device
 */
#ifndef HD_BASE_H
#define HD_BASE_H

#include "base/error.h"

#endif
