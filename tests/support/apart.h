/*
 * apart.h: a device whose memory is its own and may be short, made of any device.
 *
 * On a CPU everything lies in the same memory. A device that is set apart says of what was not allocated from it
 * that it cannot be used, so that arrays of the host are staged as on a GPU, and it has no more memory than it is
 * given. What the steps of the engine do stays the same. A GPU is only given less memory.
 */
#ifndef TEST_APART_H
#define TEST_APART_H

#include "support/cases.h"

/* No table of the device may be there, before and after. One device at a time. */
void apart_begin(heddle_device *device);
void apart_end(heddle_device *device);
/* How much may be allocated in all; UINT64_MAX, as in the beginning: all there is. */
void apart_limit(uint64_t bytes);
/* How much is allocated now, after what lies idle was freed. */
uint64_t apart_used(heddle_device *device);

#endif
