/*
 * model.h: the plain structs that describe containers in a device's memory. Kernels are given them by value. They hold
 * no pointers to functions: what is done with them is in engine/.
 *
 *     hash.h         from a key to its region, its buckets and its word in a slot
 *     view.h         a table of slots; a batch of keys on it; its counts and its census
 *     graph.h        a table as a graph in compressed rows
 *     lists.h        growing lists of values
 *     slabs.h        a table of slab lists, and its pool
 *     filter.h       a Bloom filter
 *     partition.h    pairs and how they are sorted by region; sorted pairs, as builds take them
 *     relate.h       tasks of a join, groups of rows
 *     columns.h      columns, groups and reductions over them
 *     few.h          a few keys in the fastest memory
 *     owners.h       rows on their way between the devices of a cluster
 *     site.h         where a step runs: a device, work memory, a stream
 *     device_view.h  what a user's own kernel needs to know of a table
 */
#ifndef HD_MODEL_H
#define HD_MODEL_H

#include "model/view.h"

#endif
