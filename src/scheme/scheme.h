/*
 * scheme.h: the schemes: where a key may lie, and when a search for it may stop. A scheme is written once, against
 * tiles that look at buckets (tile/tile.h), and compiled for vectors of a CPU and for threads of a GPU.
 *
 * Tables of slots, one of which this header includes (HD_SCHEME_HEADER, which the stub of a compiled table defines):
 *
 *     cuckoo.h     two to four buckets for a key; full ones pass pairs on
 *     open.h       windows one after the other; multi.inl makes multimaps of it
 *     iceberg.h    a first bucket up to a threshold, else the emptier of two others
 *
 *     walk.inl     what they share: a key walks from bucket to bucket; find_step, and the rule by which a search ends
 *     place.inl    what cuckoo and open share: insertion beside others that moves nothing
 *     census.h     counts and checks a slot; marks.h takes marks back that no key needs
 *
 * Each offers, for batches (cpu/slots/instance.c, cuda/slots/kernels.h):
 *
 *     HD_SCHEME_ID, HD_EVICTS, HD_CHOOSES, HD_MULTI     which it is, and what it can do
 *     walk_start, walk_bucket, walk_advance, find_step  where a key is looked for
 *     aim_start, place_step                             insertion beside others
 *     scheme_settle, scheme_insert_alone                insertion into a region that the tile has to itself
 *     first_room                                        keys that a bucket takes as their first
 *
 * Other containers have steps of their own, which their engines' files use:
 *
 *     hashgraph.h    the list of a key in a graph; graph_census.h
 *     bucket_list.h  lists of values that grow; list_census.h
 *     slab.h         lists of slabs, all operations beside each other; slab_whole.h: the list of a key alone
 *     bloom.h        the bits of a key in a filter
 */
#ifndef HD_SCHEME_H
#define HD_SCHEME_H

#include HD_SCHEME_HEADER

#endif
