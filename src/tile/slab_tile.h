/*
 * slab_tile.h: how a slab is looked at: by one thread on a CPU, by the lanes of a tile on a GPU.
 *
 *   hd_slab_look slab_look(t, slab, lean)     what it holds, each key word read once
 *
 * All of a look is the same for the whole tile. The order of slots, in which they are filled, is the tile's
 * own affair, as long as every tile of a device has the same.
 */
#ifndef HD_SLAB_TILE_H
#define HD_SLAB_TILE_H

#include "slot/slab_slot.h"

typedef struct hd_slab_look {
    uint32_t live;    /* a bit for every slot that holds the key */
    uint32_t pending; /* a bit for every slot that is about to hold it */
    uint32_t vacant;  /* the first slot that is VACANT, HD_SLAB_SLOTS where there is none */
    uint32_t next;    /* the address of the slab after it; read after the slots */
} hd_slab_look;

#if !defined(__CUDACC__)
#include "tile/slab_thread.h"
#endif

#endif
