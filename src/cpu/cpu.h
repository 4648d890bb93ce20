/*
 * cpu.h: the engine of the CPU, in rooms named as those of cuda/:
 *
 *     device/     the device and its table of functions, hd_engine_cpu; memory, memory of other processes
 *     slots/      tables of slots: instance.c, compiled for every line of instances.def and every tile
 *     graph/      graphs in compressed rows
 *     lists/      growing lists of values
 *     slabs/      slab hashes
 *     filter/     Bloom filters
 *     partition/  pairs sorted by region
 *     relate/     joins and groups of keys
 *     columns/    plain steps over arrays
 *     route/      rows to the devices of a cluster that own them
 *     write_in_order.h   what was made in a core's cache, written past the caches
 *
 * Files that are compiled once for every width, and some for every tile (cmake/instances.cmake), export one record of
 * functions, which engine/registry.h finds. The stub names the widths: HD_KEY_BITS, HD_VALUE_BITS, HD_SYMBOL.
 *
 * A find goes this way. The table's hd_table_ops.find is `find` of slots/lookup.inl, a part of instance.c. It gives
 * chunks of keys to threads (`lookup`), which look for them as a stream (slots/lookup_stream.inl: `stream_chunk`). The
 * scheme says where a key's walk begins and goes (`walk_start`, `walk_bucket`, `walk_advance`) and where it ends
 * (`find_step`, `find_ends`, scheme/walk.inl); the tile compares a bucket with the key (`bucket_lookup`,
 * tile/tile_thread.inl) by one vector instruction or a few (tile/tile_avx512.inl and its likes).
 */
#ifndef HD_CPU_H
#define HD_CPU_H

#include "cpu/device/engine.h"

#endif
