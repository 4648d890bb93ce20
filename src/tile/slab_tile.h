/*
 * slab_tile.h: how a slab is looked at: by one thread on a CPU, by the lanes of a tile on a GPU.
 *
 *   hd_slab_look slab_look(t, slab, lean)     what it holds, each key word read once
 *   void slab_deliver(t, slab, &look, to)     writes the value of the first slot that holds the key
 *   void slab_deliver_all(t, slab, &look, to) writes the values of all of them, one behind the other
 *   uint32_t slab_pending(t, slab, lean)      a bit for every slot that is PENDING with the key, read now
 *   bool slab_tile_acts(t)                    whether this thread changes things for its tile
 *   int slab_tile_tell(t, number)             what that thread says, to all of the tile
 *   void slab_seen()                          from here on the value that was written before a key that a look
 *                                             has shown is seen too
 *   hd_slab_word slab_dead_word(slab, slot, &look)
 *                                             what the first slot that is DEAD holds
 *   uint32_t slab_slot(bit)                   the slot that a bit of a look stands for; bits from 0 to
 *                                             HD_SLAB_ORDER - 1, of which some may stand for none
 *
 * and on a GPU, for kernels of a user's own,
 *
 *   hd_value slab_tell_value(t, slab, &look)  the value that slab_deliver would write, to all of the tile
 *   uint32_t slab_own(t)                      the bits of a look that stand for slots of this thread
 *   void slab_tile_meet(t)                    all of the tile have come here and see what the others did before
 *
 * The bits of a look are the same for the whole tile. The order of slots in it, in which they are filled, is
 * the tile's own affair, as long as every tile of a device has the same.
 */
#ifndef HD_SLAB_TILE_H
#define HD_SLAB_TILE_H

#include "slot/slab_slot.h"

typedef struct hd_slab_look {
    uint32_t live; /* a bit for every slot that holds the key */
    /* A bit for every slot that is about to hold it, where that takes two steps. */
    uint32_t pending;
    uint32_t vacant; /* bits of slots that are VACANT, the first of them among others; 0: none is */
    uint32_t dead; /* a bit for every slot that is DEAD, of those before the first VACANT one; on a
                        GPU only cuda/slabs/steps.h asks for them */
    uint32_t next; /* the address of the slab after it, where none is VACANT */
#if defined(__CUDACC__)
    hd_slab_word word; /* what the first DEAD slot holds */
#endif
#if defined(__CUDACC__) && HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
    hd_value value; /* the one that this lane has seen beside the key, if it has */
#endif
} hd_slab_look;

#if defined(__CUDACC__)
#include "tile/slab_cuda.inl"
#else
#include "tile/slab_thread.inl"
#endif

#endif
