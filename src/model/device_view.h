/*
 * device_view.h: what a kernel outside the library needs to know of a table of slots: its view, and where
 * the table counts its keys; of bucket lists; and of slab hashes. heddle_table_get_view fills it.
 */
#ifndef HD_DEVICE_VIEW_H
#define HD_DEVICE_VIEW_H

#include "model/lists.h"
#include "model/slabs.h"
#include "model/view.h"

typedef struct hd_device_view {
    hd_view view;
    uint64_t *born; /* device memory: keys that came into the table */
    uint64_t *died; /* keys that left it */
} hd_device_view;

/* Bucket lists: the table that leads keys to numbers of lists, and the lists. */
typedef struct hd_device_lists {
    hd_device_view keys;
    hd_list_pool pool;
    hd_list_words *words;  /* device memory */
    uint64_t records_room; /* lists that there is room for */
    uint64_t *born, *died; /* as above: pairs */
} hd_device_lists;

/* Slab hashes: lists and pool. */
typedef struct hd_device_slabs {
    hd_slab_view view;
    uint64_t *born, *died; /* as above: keys, in a multimap pairs */
} hd_device_slabs;

#endif
