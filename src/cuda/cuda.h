/*
 * cuda.h: the engine of CUDA devices, in rooms named as those of cpu/:
 *
 *     device/     the device and its table of functions, hd_engine_cuda
 *     slots/      tables of slots: instance.cu launches the kernels of kernels.h, for every line of instances.def
 *     graph/      graphs in compressed rows
 *     lists/      growing lists of values
 *     slabs/      slab hashes
 *     filter/     Bloom filters
 *     partition/  pairs sorted by region
 *     relate/     joins and groups of keys
 *     columns/    plain steps over arrays
 *     route/      rows to the devices of a cluster that own them
 *     inside/     tables in kernels of a user's own: what heddle/device.cuh includes
 *     count.h     what the threads of a block counted, added up
 *
 * Kernels are in headers, apart from the host code, so that tests/cuda_on_cpu runs them on a CPU. Files that are
 * compiled once for every width (cmake/instances.cmake) export one record of functions, which engine/registry.h finds.
 *
 * A find goes this way. The table's hd_table_ops.find is `find` of slots/instance.cu. It launches the kernel
 * <table>_cuda_find (slots/kernels.h: `lookup_kernel`, `lookup_share`). The scheme says where a key's walk begins and
 * goes (`walk_start`, `walk_bucket`, `walk_advance`) and where it ends (`find_step`, scheme/walk.inl); the tile, a few
 * threads of a warp, compares a bucket with the key (`bucket_lookup`, tile/tile_cuda.inl).
 */
#ifndef HD_CUDA_H
#define HD_CUDA_H

#include "cuda/device/engine.h"

#endif
