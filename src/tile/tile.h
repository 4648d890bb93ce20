/*
 * tile.h: the one interface every probing scheme is written against.
 *
 * A tile works on one key at a time and looks at one bucket at a time. On CUDA a tile is a few
 * neighbouring threads of a warp which share a bucket's slots among them; on a CPU it is one thread
 * with vector compares. A scheme never sees a lane: every bool and every number below is the same
 * for the whole tile. What only one lane knows (a hit, a vacancy) is opaque to the scheme and is
 * handed back to the tile, where the lane that holds it acts; that saves the broadcast.
 *
 *   hd_bucket bucket_load(t, view, index)          a snapshot; nobody else writes the table now
 *   hd_bucket bucket_load_shared(t, view, index)   a snapshot while other tiles insert or erase
 *   bool bucket_lookup(t, view, &b, lean, &hit)    is this key in it
 *   bool bucket_is_passed(t, view, &b, lean)       this key may have been pushed past it
 *   void bucket_mark(t, view, &b, lean, active)    notes that it has been
 *   bool bucket_vacancy(t, view, &b, &v)           its first slot without a key; false when it is full
 *   bool vacancy_is_busy(t, view, v)               that slot is being written by another tile
 *   bool vacancy_is_before(t, v, number)           it is one of the first `number` slots of its bucket
 *   uint32_t bucket_keys(t, &b)                    how many keys are in it
 *   bool bucket_lock(t, view, index, active)       takes the bucket's bit of view->locks; false: another
 *                                                  has it, or not active. What its holders before wrote
 *                                                  is seen from then on
 *   void bucket_unlock(t, view, index, active)     gives it back
 *   bool vacancy_claim(t, view, v, pair, active)   puts the pair there; false: another was faster, or
 *                                                  not active
 *   void vacancy_fill(t, view, v, pair)            the same, for a tile that has the region alone
 *   void hit_deliver(t, view, hit, to)             writes the value of the hit to *to
 *   void hit_locate(t, hit, to)                    writes the number of its slot to *to
 *   void hit_update(t, view, hit, policy, value, active)
 *                                                  applies a policy to the value of the hit
 *   bool hit_erase(t, view, hit)                   false: another tile erased it first
 *   uint64_t bucket_slot(t, &b, number)            the number-th slot of a bucket, in the tile's order
 *   hd_pair bucket_pair(t, view, &b, number, &marks) what it holds
 *   hd_pair tile_get(t, view, slot, &marks), tile_put(t, view, slot, pair, marks)
 *                                                  reads or writes one slot; region owned
 *   void bucket_prefetch(view, index)              a load of this bucket will come soon; asked by one thread
 *   uint64_t tile_slot(index, number)              the number-th slot of a bucket, in the tile's order
 *   bool tile_is_alone(t)                          a branch may part this tile from others
 *   bool tiles_any(t, mine)                        whether it is so for any of the tiles that go together
 *   void path_set(t, path, i, x), path_get         a small array that the tile keeps for itself
 *
 * The files of this room. Who wants to know how a bucket is compared reads tile_thread.inl and one vector file, or
 * tile_cuda.inl.
 *
 *   tile_thread.inl      a tile is one thread; it asks one of these about the words of a bucket:
 *     tile_scalar.inl, tile_avx2.inl, tile_avx512.inl, tile_neon.inl
 *   tile_cuda.inl        a tile is a few threads of a warp
 *     load_cuda.h        loads of up to 16 bytes
 *   tile_multi.h         what multimaps need besides: tile_multi_thread.inl, tile_multi_cuda.inl
 *   slab_tile.h          how a slab is looked at, likewise by one thread or by a tile:
 *     slab_thread.inl    with slab_scalar.inl, slab_avx2.inl, slab_avx512.inl or slab_neon.inl
 *     slab_cuda.inl      slab_cuda_one.inl where a tile is one thread of a GPU
 *   pack.h               rows picked out of a vector: pack_avx512.inl
 *
 * On CUDA the tiles of a warp may also go together (tile_together); functions of a scheme that say
 * so in their comment have no branch around a vote and may be called by such tiles.
 *
 * What makes concurrent insertion right (see scheme/place.inl) is that within one snapshot the look
 * for vacancies is not newer than the look for the key, and that all tiles take vacancies in the
 * same order. The order of slots in a bucket is the tile's own affair; "first" is meant in that
 * order.
 */
#ifndef HD_TILE_H
#define HD_TILE_H

#include "slot/slot.h"

#if defined(__CUDACC__)
#include "tile/tile_cuda.inl"
#else
#include "tile/tile_thread.inl"
#endif

#endif
