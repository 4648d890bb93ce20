/*
 * device.cuh: Heddle's tables inside a CUDA kernel of your own. The functions are those that the
 * batch calls of heddle.h run, so a kernel can make pairs and insert them without writing them down
 * first.
 *
 * Name the compiled table (heddle_table_instance) by its parts, and a namespace for it, and include
 * this file. It can be included again for another table.
 *
 *     #define HEDDLE_NAME pairs      // the namespace
 *     #define HEDDLE_SCHEME open     // cuckoo, open, iceberg, bucket_list, slab
 *     #define HEDDLE_KEY_BITS 32
 *     #define HEDDLE_VALUE_BITS 32   // 0 in a set
 *     #define HEDDLE_BUCKET 8        // of bucket lists: that of their table of keys, 8 unless
 *                                    // chosen otherwise; of slab hashes: 120 / bytes of a pair
 *                                    // (30, 15, 10 or 7)
 *     // for a multimap by open or slab also: #define HEDDLE_MULTIMAP
 *     #include <heddle/device.cuh>
 *
 *     __global__ void squares(pairs::table table, uint32_t n)
 *     {
 *         pairs::writer writer(table);
 *         const uint32_t tiles = gridDim.x * blockDim.x / pairs::tile_size;
 *         for (uint32_t i = pairs::tile_number(); i < n; i += tiles)
 *             writer.insert(i * i, i, HEDDLE_POLICY_KEEP);
 *     }
 *
 *     pairs::table inside;
 *     pairs::open(table, &inside);   // on the host: a heddle_table of that instance
 *     squares<<<256, 256>>>(inside, n);
 *
 * A tile works on a key: tile_size neighbouring threads of a warp, which all call a function with
 * the same arguments and all get its result. tile_size may be 1. Blocks have a multiple of 32
 * threads. Threads that each have a key of their own use the functions with names that end in
 * _each: there all 32 lanes of a warp call, each with its key; lanes that are not `active` have no
 * key.
 *
 * At the same time may run what may be queued on several streams (heddle.h): lookups beside
 * lookups, insertions beside insertions, erasures beside erasures; the kinds one after the other.
 * In a slab hash all of them may run at the same time, from any tiles of one kernel or several:
 * every operation takes effect at one moment between its beginning and its end, as in
 * heddle_table_mixed. (Erasing a key of a multimap is an erasure for each of its pairs; for_all
 * needs the table alone.) A kernel cannot make the table larger, and a cuckoo table moves nothing
 * for it: a key without room is reported as HEDDLE_OUTCOME_FAILED, and nothing has changed. The
 * host must not change the table between `open` and the end of the kernel. Call `open` again when
 * the table has grown; for bucket lists and slab hashes, after every batch call that changed the
 * table.
 *
 * Multimaps, by open, as bucket lists and as slab hashes, have `insert(key, value)` without a
 * policy, `find` of any one value, and `count`, `visit` and `retrieve` of all values of a key.
 * `erase` takes a key with all its values.
 *
 * This file is for nvcc in C++17. It is not part of the stable ABI: compile it with the library it
 * comes with. The internal headers of that library (heddle/internal) must be on the include path
 * too.
 */
#ifndef HEDDLE_UNSTABLE
#define HEDDLE_UNSTABLE
#endif
#include <heddle/unstable.h>

#include "base/atomic.h"
#include "base/port.h"
#include "tile/load_cuda.h"
#include "model/device_view.h"
#include "pool/slab_pool.h"

#ifndef HEDDLE_DEVICE_ONCE
#define HEDDLE_DEVICE_ONCE
#define HD_QUOTE_(x) #x
#define HD_QUOTE(x) HD_QUOTE_(x)
#define HD_IS_LISTS__(x) HD_IS_LISTS_##x
#define HD_IS_LISTS(x) HD_IS_LISTS__(x)
#define HD_IS_LISTS_bucket_list 1
#define HD_IS_SLABS__(x) HD_IS_SLABS_##x
#define HD_IS_SLABS(x) HD_IS_SLABS__(x)
#define HD_IS_SLABS_slab 1
#endif

#define HD_KEY_BITS HEDDLE_KEY_BITS
#define HD_BUCKET HEDDLE_BUCKET

#if HD_IS_LISTS(HEDDLE_SCHEME)

/* A table that leads keys to numbers of lists, and the lists. */
#define HD_VALUE_BITS 64
namespace HEDDLE_NAME {
namespace keys {
#include "scheme/open.h"
#include "cuda/inside/table.inl"
} // namespace keys
} // namespace HEDDLE_NAME

#include "cuda/inside/again.inl"
#define HD_KEY_BITS HEDDLE_KEY_BITS
#define HD_VALUE_BITS HEDDLE_VALUE_BITS
#define HD_BUCKET HEDDLE_BUCKET
namespace HEDDLE_NAME {
#include "scheme/bucket_list.h"
#include "cuda/inside/lists.inl"
} // namespace HEDDLE_NAME

#elif HD_IS_SLABS(HEDDLE_SCHEME)

#define HD_VALUE_BITS HEDDLE_VALUE_BITS
#define HD_SLAB_ALONE /* a tile need not go with the others of its warp */
namespace HEDDLE_NAME {
#include "scheme/slab_whole.h"
#include "cuda/inside/slabs.inl"
} // namespace HEDDLE_NAME

#else

#define HD_VALUE_BITS HEDDLE_VALUE_BITS
namespace HEDDLE_NAME {

#include HD_QUOTE(scheme/HEDDLE_SCHEME.h)
#ifdef HEDDLE_MULTIMAP
#include "cuda/inside/multi.inl"
#else
#include "cuda/inside/table.inl"
#endif

} // namespace HEDDLE_NAME

#endif

/* All that belongs to this table goes, so that another one can follow. */
#include "cuda/inside/end.inl"
