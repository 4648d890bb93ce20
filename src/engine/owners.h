/*
 * owners.h: what a device must offer for rows on their way to the members that own their keys, for keys of one width.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_OWNERS_H
#define HD_ENGINE_OWNERS_H

#include <heddle/heddle.h>

#include "model/owners.h"

/* For keys of one width. Nothing waits. */
typedef struct hd_owners_ops {
    uint64_t (*work)(heddle_device *device, uint32_t members, uint64_t n);
    /* Finds out where rows go. */
    heddle_status (*plan)(heddle_device *device, const hd_owners *batch, void *stream);
    heddle_status (*send)(heddle_device *device, const hd_owners *batch, const hd_owners_sent *sent,
                          void *stream);
    heddle_status (*fetch)(heddle_device *device, const hd_owners *batch,
                           const hd_owners_answers *answers, void *stream);
} hd_owners_ops;

#endif
