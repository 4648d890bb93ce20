/*
 * device_view.h: what a kernel outside the library needs to know of a table of slots: its view, and where
 * the table counts its keys. heddle_table_get_view fills it.
 */
#ifndef HD_DEVICE_VIEW_H
#define HD_DEVICE_VIEW_H

#include "engine/table_view.h"

typedef struct hd_device_view {
    hd_view view;
    uint64_t *born; /* device memory: keys that came into the table */
    uint64_t *died; /* keys that left it */
} hd_device_view;

#endif
