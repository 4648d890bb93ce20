/*
 * heddle.h: devices, memory and tables, and by inclusion the whole stable C interface of Heddle.
 *
 * Heddle keeps sets and maps of 32- and 64-bit keys in hash tables on a GPU or on the CPU. Work is
 * given in batches: arrays of keys in, arrays of answers out. A first program:
 *
 *     heddle_device *device;
 *     heddle_table *map;
 *     heddle_table_options options = HEDDLE_MAP_OPTIONS(uint64_t, uint32_t);
 *     options.capacity = n;
 *     heddle_device_open("auto", &device);
 *     heddle_table_create(device, &options, &map);
 *     heddle_map_insert(map, keys, values, n, NULL, NULL, NULL);
 *     heddle_map_find(map, queries, m, answers, found, NULL, NULL);
 *     heddle_table_destroy(map);
 *     heddle_device_close(device);
 *
 * heddle_map_insert and the other typed calls are in heddle/typed.h. They know the types of arrays
 * and refuse arrays of the wrong width. The functions below take `void *`: for them the options say
 * how wide keys and values are.
 *
 * Rules that hold for every function, unless its own text says otherwise:
 *
 * Status.   Every call returns a heddle_status; HEDDLE_OK is 0. heddle_last_error() then gives one
 *           sentence about the last failure of the calling thread.
 * Structs.  Options, statistics and totals begin with their size, which their initialiser sets.
 *           Structs of an older header are understood: fields that they lack have their defaults.
 *           Structs of a newer header are understood while all fields that this library does not
 *           know are 0. Fields named `reserved` are 0.
 * Pointers. Arrays of keys, values, flags and outcomes may lie in host memory or in memory of the
 *           table's device. All are aligned to their element. Host arrays given to a GPU table are
 *           staged through pinned buffers that the device keeps; such a call returns when it is
 *           done. An array that a call writes must not overlap its other arrays.
 * Streams.  The last argument is a cudaStream_t, or NULL for the device's own stream. On the CPU it
 *           must be NULL, and calls return when they are done. On a GPU some calls are queued on
 *           the stream and return at once, when all their arrays are device memory, `totals` is
 *           NULL and no list of failed keys is asked for: find and contains, except in bucket
 *           lists; erase in tables of slots and slab hashes; insert into fixed tables of these;
 *           locate, at, clear, flush. docs/guide/streams.md lists all of them. Every other call
 *           waits for its own work.
 * Threads.  Different tables may be used by different threads at the same time, also on one
 *           device. On one table, calls that only read (find, contains, count, retrieve, locate,
 *           at, export, stats, validate, save, size) may run at the same time; a call that writes
 *           needs the table alone. On a GPU the same holds for streams: work queued on two streams
 *           counts as simultaneous unless events order it.
 * Words.    A size is the number of keys that a container holds, in a multimap of pairs. A capacity
 *           is the number of elements that there is room for. A count is any other number of
 *           elements: values that a key has, rows of a join, groups of rows, elements of an array.
 * Keys.     Every key value is legal. So is every value. Counts are 64-bit everywhere.
 * Bad input is refused before anything is changed.
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#include <heddle/table_options.h>

#if defined(_WIN32)
#define HEDDLE_API
#elif defined(__GNUC__)
#define HEDDLE_API __attribute__((visibility("default")))
#else
#define HEDDLE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ version */

#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0
#define HEDDLE_VERSION_STRING "0.1.0"
/*
 * Grows by one with every change that breaks a compiled program; also the SONAME. What is in
 * heddle/unstable.h and heddle/device.cuh may change while this number stays.
 */
#define HEDDLE_ABI_VERSION 1

/* The version of the loaded library: major * 1000000 + minor * 1000 + patch. */
HEDDLE_API uint32_t heddle_version(void);
/* The same as text, e.g. "0.1.0". Static storage. */
HEDDLE_API const char *heddle_version_string(void);
/* HEDDLE_ABI_VERSION of the loaded library. */
HEDDLE_API uint32_t heddle_abi_version(void);

/* ------------------------------------------------------------------------------------- status */

/* What became of a call: HEDDLE_OK, or one of HEDDLE_ERROR_*. */
typedef int32_t heddle_status;

#define HEDDLE_OK 0 /* the call has done all that was asked */
/* Arguments. Nothing was changed. */
#define HEDDLE_ERROR_INVALID 1     /* an argument is wrong */
#define HEDDLE_ERROR_UNSUPPORTED 2 /* no compiled table, or no version of this library, does it */
#define HEDDLE_ERROR_TOO_SMALL 3   /* an output array has too little room; the call says how much it
                                      needs */
#define HEDDLE_ERROR_CANCELLED 4   /* the caller's progress function ended the call */
/* Memory. */
#define HEDDLE_ERROR_NO_MEMORY 20 /* host or device memory ran out; nothing is lost */
#define HEDDLE_ERROR_FULL 21      /* some keys did not fit; the others are in the table */
/* Devices. */
#define HEDDLE_ERROR_NO_DEVICE 40 /* the named device is not there */
#define HEDDLE_ERROR_DEVICE 41    /* the device's runtime reported an error */
#define HEDDLE_ERROR_PEER 42      /* another member of a cluster did not answer; the cluster is lost
                                     */
/* Files and what is in them. */
#define HEDDLE_ERROR_IO 60      /* a file could not be read or written */
#define HEDDLE_ERROR_FORMAT 61  /* a file is not what it should be, or it is damaged */
#define HEDDLE_ERROR_CORRUPT 62 /* heddle_table_validate found a broken invariant; or a failure has
                                   left the table of a cluster half changed */

/* A short, static description of a status code; never NULL, also for unknown codes. */
HEDDLE_API const char *heddle_status_string(heddle_status status);
/*
 * One sentence about the last failed call of this thread, "" when there was none. The text belongs
 * to the library and stays as it is until the next failing call of the same thread.
 */
HEDDLE_API const char *heddle_last_error(void);

/* ------------------------------------------------------------------------------------ devices */

/* A GPU, or the CPU with some threads, on which tables and memory are made. */
typedef struct heddle_device heddle_device;

/*
 * Opens a device by name:
 *   "auto"    the first CUDA device that works, else the CPU
 *   "cpu"     the CPU with as many threads as OpenMP offers; "cpu:4" with four
 *   "cuda"    the first CUDA device; "cuda:1" the second
 * A name that is not understood gives HEDDLE_ERROR_INVALID, a device that is not there
 * HEDDLE_ERROR_NO_DEVICE. A device may be opened more than once; each handle has its own stream.
 */
HEDDLE_API heddle_status heddle_device_open(const char *name, heddle_device **device);
/*
 * Waits for the device's own stream and frees the handle. All tables on it must be destroyed and
 * all its memory freed first. NULL is accepted.
 */
HEDDLE_API void heddle_device_close(heddle_device *device);

#define HEDDLE_DEVICE_CPU 1
#define HEDDLE_DEVICE_CUDA 2

/* What there is to know about a device. */
typedef struct heddle_device_info {
    uint32_t size;         /* sizeof(heddle_device_info), set by the caller */
    uint32_t kind;         /* HEDDLE_DEVICE_* */
    int32_t index;         /* CUDA device number; 0 on the CPU */
    uint32_t threads;      /* CPU threads used; multiprocessors of a GPU */
    uint64_t memory_total; /* bytes of device (CPU: main) memory */
    uint64_t memory_free;  /* bytes free now */
    char name[128];        /* what the hardware calls itself */
    char features[128];    /* "avx512", "avx2", "neon", "scalar"; "sm_90" on a GPU */
} heddle_device_info;
#define HEDDLE_DEVICE_INFO_INIT {sizeof(heddle_device_info), 0, 0, 0, 0, 0, {0}, {0}}

/* Fills in `info`, whose size the caller has set. */
HEDDLE_API heddle_status heddle_device_get_info(heddle_device *device, heddle_device_info *info);
/* How many CUDA devices this process could open; 0 without driver or without the CUDA engine. */
HEDDLE_API uint32_t heddle_cuda_device_count(void);
/* 1 when the library was built with the CUDA engine, else 0. */
HEDDLE_API uint32_t heddle_cuda_is_built(void);

/*
 * Calls that need scratch memory of the device keep it for the next call, up to a quarter of the
 * device's memory, calls that do not wait a sixteenth; a GPU gives it up when its memory runs out.
 * heddle_device_trim frees at once what no call is using.
 */
HEDDLE_API heddle_status heddle_device_trim(heddle_device *device);
/* Waits until all work queued on `stream` (NULL: the device's own) is done; reports its errors. */
HEDDLE_API heddle_status heddle_device_synchronize(heddle_device *device, void *stream);

/* ------------------------------------------------------------------------------------- memory */
/* These calls let a binding in another language use a device without another library.          */

/* `bytes` of device memory (CPU: main memory on huge pages where they help), 256-byte aligned. */
HEDDLE_API heddle_status heddle_memory_allocate(heddle_device *device, uint64_t bytes,
                                                void **memory);
/* Frees what heddle_memory_allocate gave, after the work that uses it. NULL is accepted. */
HEDDLE_API heddle_status heddle_memory_free(heddle_device *device, void *memory);
/*
 * Copies `bytes` between host and device memory in any direction, in the order of `stream`. When a
 * copy from or to pageable host memory returns, the host array may be used; any other copy returns
 * at once.
 */
HEDDLE_API heddle_status heddle_memory_copy(heddle_device *device, void *to, const void *from,
                                            uint64_t bytes, void *stream);
/* Sets `bytes` bytes of device memory to `byte`, in the order of `stream`. */
HEDDLE_API heddle_status heddle_memory_fill(heddle_device *device, void *memory, uint8_t byte,
                                            uint64_t bytes, void *stream);

/* ------------------------------------------------------------------------------------- tables */

/* A map, a set, a multimap or a counter on a device. */
typedef struct heddle_table heddle_table;

/*
 * Makes an empty table on `device`, which must outlive it; NULL options are the defaults. A
 * container that the scheme does not make gives HEDDLE_ERROR_UNSUPPORTED. Allocates and
 * synchronises.
 */
HEDDLE_API heddle_status heddle_table_create(heddle_device *device,
                                             const heddle_table_options *options,
                                             heddle_table **table);
/* Waits for the device and frees the table. NULL is accepted. */
HEDDLE_API void heddle_table_destroy(heddle_table *table);
/*
 * The options the table runs with: every 0 replaced by what was chosen, `capacity` by the number of
 * slots or vertices, `seed` by the seed in use. Options that the scheme does not have stay 0.
 */
HEDDLE_API heddle_status heddle_table_get_options(heddle_table *table,
                                                  heddle_table_options *options);
/*
 * The compiled instance, e.g. "cuckoo_k32_v32_b8", "hashgraph_k64_v32". Lives as long as the table.
 */
HEDDLE_API const char *heddle_table_instance(const heddle_table *table);
/* The device a table lives on. */
HEDDLE_API heddle_device *heddle_table_device(const heddle_table *table);

/*
 * Inserts n pairs. `values` is NULL for a set. For a counter `values` may be NULL, and every key
 * then counts once. Maps and multimaps need values. NULL options are the defaults; `totals` may be
 * NULL.
 *
 * In a map or set a key that occurs several times in the batch ends up in the table once. With ADD,
 * MIN and MAX all its values take part; with KEEP and REPLACE the value is that of one of the
 * occurrences, and it is not specified of which. Outcomes count the first occurrence to arrive as
 * inserted and the others by the policy.
 *
 * Growth. A table without HEDDLE_FLAG_FIXED grows when keys do not fit: the call may then allocate
 * and it synchronises. When memory for growth runs out the call returns HEDDLE_ERROR_NO_MEMORY.
 * A fixed table does not synchronise for device arrays (and `totals` and `failed` NULL); keys that
 * do not fit are counted in heddle_table_take_totals. Nor does it allocate, with one exception: a
 * large batch without a sufficient workspace takes memory in the order of the stream, unless the
 * stream is being captured. A call that waits, because of `totals`, `failed` or host arrays or
 * because the device is the CPU, returns HEDDLE_ERROR_FULL when keys of a fixed table did not fit.
 * In all these cases every key that was in the table before still is, with its value, and every
 * key that is not reported as failed is in the table. The first min(failed, failed_capacity)
 * indices of failed keys are written to `failed`, in no particular order.
 *
 * Large batches go by regions, as in heddle_table_build, where that is faster.
 * Erased keys leave traces; when there are many, the next insertion removes them first (see
 * heddle_table_flush). What else differs by scheme is in table_options.h and on the page of the
 * scheme in docs/design.
 */
HEDDLE_API heddle_status heddle_table_insert(heddle_table *table, const void *keys,
                                             const void *values, uint64_t n,
                                             const heddle_insert_options *options,
                                             heddle_totals *totals, void *stream);
/*
 * Empties the table and inserts n pairs: the fast way to fill a table from arrays. Same arguments
 * and promises as heddle_table_insert; synchronises. A table that may grow is first made large
 * enough for n distinct keys at its load. When keys do not fit although they should, the table is
 * given a new seed and built again.
 *
 * A large build without outcomes and `failed` goes by regions: the pairs are sorted by the leading
 * bits of their hashed keys, and each region of the table is filled in fast local memory and
 * written once. That takes scratch memory, from the options' workspace or else of the device, which
 * keeps it (heddle_device_trim). With less scratch memory the build goes in slices or pair by pair,
 * and a hashgraph is made in passes: slower, with the same result. A hashgraph that is not empty
 * stays as it was until the new one is there. When memory for it runs out, the call returns
 * HEDDLE_ERROR_NO_MEMORY and says how much was needed.
 */
HEDDLE_API heddle_status heddle_table_build(heddle_table *table, const void *keys,
                                            const void *values, uint64_t n,
                                            const heddle_insert_options *options,
                                            heddle_totals *totals, void *stream);
/*
 * The bytes of workspace with which a build or an insertion of n keys goes by regions in one piece:
 * twice the bytes of the pairs, in a fixed table up to five times. 0 when it takes none.
 */
HEDDLE_API heddle_status heddle_table_build_workspace(heddle_table *table, uint64_t n,
                                                      uint64_t *bytes);
/*
 * Looks n keys up. values[i] receives the value of keys[i], in a multimap one of its values, in a
 * counter its count. When the key is absent values[i] is left as it is: fill `values` beforehand
 * with the answer you want for absent keys. found[i] becomes 1 or 0. `found` and `totals` may be
 * NULL.
 */
HEDDLE_API heddle_status heddle_table_find(heddle_table *table, const void *keys, uint64_t n,
                                           void *values, uint8_t *found, heddle_totals *totals,
                                           void *stream);
/* Like heddle_table_find without values; for every container. */
HEDDLE_API heddle_status heddle_table_contains(heddle_table *table, const void *keys, uint64_t n,
                                               uint8_t *found, heddle_totals *totals, void *stream);
/*
 * Erases n keys. found[i] becomes 1 when keys[i] was there and this element of the batch erased it;
 * of several equal keys in one batch exactly one gets the 1. `found` and `totals` may be NULL. In a
 * multimap all pairs of a key are erased, and found counts keys. A hashgraph allocates for this and
 * synchronises.
 */
HEDDLE_API heddle_status heddle_table_erase(heddle_table *table, const void *keys, uint64_t n,
                                            uint8_t *found, heddle_totals *totals, void *stream);
/*
 * The number of values of every key: matches[i] for keys[i]; in a set, map or counter 0 or 1.
 * `totals` may be NULL. In a cuckoo, open or iceberg table that is no multimap the call allocates
 * and synchronises.
 */
HEDDLE_API heddle_status heddle_table_count(heddle_table *table, const void *keys, uint64_t n,
                                            uint64_t *matches, heddle_totals *totals, void *stream);
/*
 * All values of every key of a batch. The values of keys[i] are values[offsets[i]] to
 * values[offsets[i + 1] - 1], in no particular order; there are n + 1 offsets. *count (host memory)
 * becomes the number of all values. Call with `values` NULL to learn how much room is needed: only
 * offsets and *count are set then. When there are more than `capacity` values none is written and
 * the call returns HEDDLE_ERROR_TOO_SMALL, with offsets and *count set. Not for sets. Allocates and
 * synchronises.
 */
HEDDLE_API heddle_status heddle_table_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                               uint64_t *offsets, void *values, uint64_t capacity,
                                               uint64_t *count, void *stream);
/*
 * Writes all pairs, in no particular order, to arrays with room for `capacity` elements, and their
 * number, the table's size, to *size (host memory). `values` is NULL for a set, and may be NULL
 * elsewhere. When the arrays are too small nothing is written, *size says how much room is needed,
 * and the call returns HEDDLE_ERROR_TOO_SMALL. Synchronises.
 */
HEDDLE_API heddle_status heddle_table_export(heddle_table *table, void *keys, void *values,
                                             uint64_t capacity, uint64_t *size, void *stream);

/* Removes all keys; keeps the memory. Does not synchronise. */
HEDDLE_API heddle_status heddle_table_clear(heddle_table *table, void *stream);
/* The number of keys in the table, in a multimap of pairs. Synchronises with `stream`. */
HEDDLE_API heddle_status heddle_table_size(heddle_table *table, uint64_t *size, void *stream);
/*
 * HEDDLE_OK when the table's keys have key_bits bits and its values value_bits (0: not looked at),
 * else HEDDLE_ERROR_INVALID and a sentence that names both. heddle/typed.h asks this before every
 * call.
 */
HEDDLE_API heddle_status heddle_table_check_widths(const heddle_table *table, uint32_t key_bits,
                                                   uint32_t value_bits);
/*
 * Makes room for `capacity` keys in all at the table's load. Nothing changes when there is that
 * much room already. After that the calls on a fixed table with device arrays need no more memory
 * and can be captured in a CUDA graph. Works on a fixed table too, which it makes larger. A
 * hashgraph makes room for `capacity` pairs, which a build of the empty table then fills in place.
 * Allocates and synchronises. When memory runs out the table is unchanged.
 */
HEDDLE_API heddle_status heddle_table_reserve(heddle_table *table, uint64_t capacity, void *stream);
/*
 * Moves all pairs to fresh storage for max(capacity, keys in the table) keys at the table's load,
 * with a fresh seed. This also shrinks a table, removes the traces of keys that were pushed on from
 * full buckets, and removes the erased pairs of a hashgraph. Allocates and synchronises. When it
 * fails the table is unchanged.
 */
HEDDLE_API heddle_status heddle_table_rehash(heddle_table *table, uint64_t capacity, void *stream);
/*
 * The sums of what all calls without `totals` have done since the table was made or since this was
 * last called. Synchronises with `stream`. heddle_table_peek_totals leaves them in place.
 */
HEDDLE_API heddle_status heddle_table_take_totals(heddle_table *table, heddle_totals *totals,
                                                  void *stream);
HEDDLE_API heddle_status heddle_table_peek_totals(heddle_table *table, heddle_totals *totals,
                                                  void *stream);

/* Goes through the whole table and counts. Synchronises. */
HEDDLE_API heddle_status heddle_table_get_stats(heddle_table *table, heddle_table_stats *stats,
                                                void *stream);
/*
 * Checks every invariant of the table: each key where a search looks for it, no key twice except in
 * a multimap, counts right, lists whole. HEDDLE_OK, or HEDDLE_ERROR_CORRUPT with the reason in
 * heddle_last_error(). Synchronises.
 */
HEDDLE_API heddle_status heddle_table_validate(heddle_table *table, void *stream);

/*
 * Writes the table to a file that any machine and any device can load. The file is written beside
 * `path` first and renamed when it is whole. Allocates and synchronises.
 */
HEDDLE_API heddle_status heddle_table_save(heddle_table *table, const char *path, void *stream);
/*
 * Makes a table on `device` from a file. With `options` NULL all options except seed and capacity
 * come from the file; else all of `options` are used, and container and widths must be those of the
 * file. A fixed table may become larger than it was, if its keys do not fit with a new seed. A
 * damaged file gives HEDDLE_ERROR_FORMAT and no table.
 */
HEDDLE_API heddle_status heddle_table_load(heddle_device *device, const char *path,
                                           const heddle_table_options *options,
                                           heddle_table **table);

#ifdef __cplusplus
}
#endif

#include <heddle/table_more.h>
#include <heddle/relations.h>
#include <heddle/filter.h>
#include <heddle/cluster.h>
#include <heddle/cluster_relations.h>
#include <heddle/column_file.h>
#include <heddle/shelf.h>
#include <heddle/typed.h>

#endif
