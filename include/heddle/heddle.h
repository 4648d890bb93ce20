/*
 * heddle.h: the whole stable C interface of Heddle.
 *
 * Heddle keeps sets and maps of 32- and 64-bit keys in hash tables on a GPU or on the CPU. Work is
 * given in batches: arrays of keys in, arrays of answers out. A first program:
 *
 *     heddle_device *device;
 *     heddle_table *map;
 *     heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
 *     options.capacity = n;
 *     heddle_device_open("auto", &device);
 *     heddle_table_create(device, &options, &map);
 *     heddle_table_insert(map, keys, values, n, NULL, NULL, NULL);
 *     heddle_table_find(map, queries, m, answers, found, NULL, NULL);
 *     heddle_table_destroy(map);
 *     heddle_device_close(device);
 *
 * Rules that hold for every function, unless its own text says otherwise:
 *
 * Status.   Every call returns a heddle_status; HEDDLE_OK is 0. heddle_last_error() then gives one
 *           sentence about the last failure of the calling thread.
 * Pointers. Arrays of keys, values, flags and outcomes may lie in host memory or in memory of the
 *           table's device. All are aligned to their element. Host arrays given to a GPU table are
 *           staged through pinned buffers that the device keeps, filled and emptied while it works;
 *           such a call returns when it is done. Arrays of one call must not overlap where one of them is written.
 * Streams.  The last argument is a cudaStream_t, or NULL for the device's own stream. On the CPU it
 *           must be NULL, and calls return when they are done. On a GPU a call whose arrays are all
 *           device memory and whose `totals` is NULL is queued on the stream and returns at once;
 *           a call that is given `totals` waits for its own work.
 * Threads.  Different tables may be used by different threads at the same time, also on one
 *           device. On one table, calls that only read (find, contains, count, retrieve,
 *           locate, at, export, stats, validate, save, size) may run at the same time; a call that writes needs
 *           the table alone. On a GPU the same holds for streams: work queued on two streams counts
 *           as simultaneous unless events order it.
 * Keys.     Every key value is legal. So is every value. Counts are 64-bit everywhere.
 * Bad input is refused before anything is changed.
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stddef.h>
#include <stdint.h>

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
/* Grows by one with every change that breaks a compiled program; also the SONAME. */
#define HEDDLE_ABI_VERSION 1

/* The version of the loaded library: major * 1000000 + minor * 1000 + patch. */
HEDDLE_API uint32_t heddle_version(void);
/* The same as text, e.g. "0.1.0". Static storage. */
HEDDLE_API const char *heddle_version_string(void);
/* HEDDLE_ABI_VERSION of the loaded library. */
HEDDLE_API uint32_t heddle_abi_version(void);

/* ------------------------------------------------------------------------------------- status */

typedef int32_t heddle_status;

#define HEDDLE_OK 0
/* Arguments. Nothing was changed. */
#define HEDDLE_ERROR_INVALID 1     /* an argument is wrong */
#define HEDDLE_ERROR_UNSUPPORTED 2 /* no compiled table, or no version of this library, does it */
#define HEDDLE_ERROR_TOO_SMALL 3   /* an output array has too little room; the call says how much it needs */
#define HEDDLE_ERROR_CANCELLED 4   /* the caller's progress function ended the call */
/* Memory. */
#define HEDDLE_ERROR_NO_MEMORY 20 /* host or device memory ran out; nothing is lost */
#define HEDDLE_ERROR_FULL 21      /* some keys did not fit; the others are in the table */
/* Devices. */
#define HEDDLE_ERROR_NO_DEVICE 40 /* the named device is not there */
#define HEDDLE_ERROR_DEVICE 41    /* the device's runtime reported an error */
#define HEDDLE_ERROR_PEER 42      /* another member of a cluster did not answer; the cluster is lost */
/* Files and what is in them. */
#define HEDDLE_ERROR_IO 60      /* a file could not be read or written */
#define HEDDLE_ERROR_FORMAT 61  /* a file is not what it should be, or it is damaged */
#define HEDDLE_ERROR_CORRUPT 62 /* heddle_table_validate found a broken invariant */

/* A short, static description of a status code; never NULL, also for unknown codes. */
HEDDLE_API const char *heddle_status_string(heddle_status status);
/*
 * One sentence about the last failed call of this thread, "" when there was none. The text belongs
 * to the library and stays as it is until the next failing call of the same thread.
 */
HEDDLE_API const char *heddle_last_error(void);

/* ------------------------------------------------------------------------------------ devices */

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

HEDDLE_API heddle_status heddle_device_get_info(heddle_device *device, heddle_device_info *info);
/* How many CUDA devices this process could open; 0 without driver or without the CUDA engine. */
HEDDLE_API uint32_t heddle_cuda_device_count(void);
/* 1 when the library was built with the CUDA engine, else 0. */
HEDDLE_API uint32_t heddle_cuda_is_built(void);

/*
 * Calls that need scratch memory of the device keep it for the next call, up to a quarter of the
 * device's memory; a GPU gives it up when its memory runs out. This frees at once what no call is using.
 */
HEDDLE_API heddle_status heddle_device_trim(heddle_device *device);
/* Waits until all work queued on `stream` (NULL: the device's own) is done; reports its errors. */
HEDDLE_API heddle_status heddle_device_synchronize(heddle_device *device, void *stream);

/* ------------------------------------------------------------------------------------- memory */
/* What a binding in another language needs to use a device without another library.            */

/* `bytes` of device memory (CPU: main memory on huge pages where they help), 256-byte aligned. */
HEDDLE_API heddle_status heddle_memory_allocate(heddle_device *device, uint64_t bytes, void **memory);
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

typedef struct heddle_table heddle_table;

#define HEDDLE_CONTAINER_MAP 1      /* keys with a value each */
#define HEDDLE_CONTAINER_SET 2      /* keys alone */
#define HEDDLE_CONTAINER_MULTIMAP 3 /* keys with any number of values each */
#define HEDDLE_CONTAINER_COUNTER 4  /* keys with the number of times they were inserted */

/*
 * Cuckoo, open and iceberg tables are maps, sets or counters, an open table also a multimap, that keys come
 * to and leave at any time. A cuckoo table moves pairs to make room. In an open or iceberg table a pair stays
 * where it is until it is erased or the table grows, is rehashed or is built anew (heddle_table_locate). A hashgraph holds for every
 * value of the hash, a vertex, the list of the pairs that hash to it. It knows no collisions and does
 * not mind duplicates. It is built in one go: an insertion or a build makes a new graph beside the old one,
 * so a few large batches are right for it, many small ones are not. When memory for that runs out the
 * call returns HEDDLE_ERROR_NO_MEMORY and the table is as it was. It is a set, a multimap or a counter.
 * Bucket lists are a multimap that batches come to at any time: an open table leads every key to its list,
 * and lists are chains of buckets from a pool, each larger than the one before by list_growth. The values of
 * a key are in the order of insertion, but of pairs of one call that has at most 1024. Right for keys with
 * many values, for small batches and where memory counts. All calls on bucket lists wait for their work,
 * and those that need to know a key's values take scratch memory.
 * A slab hash is for data that never stops changing: insertions, erasures and lookups of one batch run at the
 * same time, it grows by slabs without moving anything, and what keys have left is taken back on the way. It is any of
 * the four containers.
 *
 *   set       every key once; further ones are kept out
 *   multimap  all pairs, equal ones too; heddle_table_size is the number of pairs
 *   counter   every key once, with a value that counts: 1 for every occurrence, or the value given
 *             with it, summed; sums wrap at value_bits
 */
#define HEDDLE_SCHEME_AUTO 0   /* cuckoo for a map, a set or a counter, hashgraph for a multimap, and for a
                                  counter with `vertices` or HEDDLE_FLAG_ORDERED */
#define HEDDLE_SCHEME_CUCKOO 1 /* bucketed cuckoo hashing; bucket 1, 4, 8, 16, 32; 2 to 4 hashes */
#define HEDDLE_SCHEME_HASHGRAPH 2 /* lists in compressed rows; static: set, multimap, counter */
#define HEDDLE_SCHEME_OPEN 3 /* open addressing, windows by double hashing; bucket 8, 16: a window. As a
                                multimap a slot for every pair; a key has a quarter of the slots at most,
                                an eighth in large tables, or the table grows */
#define HEDDLE_SCHEME_ICEBERG 4 /* a first bucket up to a threshold, else the emptier of two; bucket 16, 32 */
#define HEDDLE_SCHEME_BUCKET_LIST 5 /* growing lists of values beside a table of keys: multimap */
#define HEDDLE_SCHEME_SLAB 6 /* lists of slabs of 128 bytes; everything at once (heddle_table_mixed): set, map,
                                multimap, counter */

#define HEDDLE_FLAG_FIXED 1u /* all but hashgraph: never grow; what does not fit is reported instead */
/*
 * Hashgraph: the values of a key are in ascending order, so that find gives the smallest, and the same
 * pairs and seed give the same order of everything on every device. Building takes longer.
 */
#define HEDDLE_FLAG_ORDERED 2u

typedef struct heddle_table_options {
    uint32_t size;       /* sizeof(heddle_table_options); the initialiser sets it */
    uint32_t container;  /* HEDDLE_CONTAINER_*; MAP by default */
    uint32_t scheme;     /* HEDDLE_SCHEME_*; AUTO by default */
    uint32_t key_bits;   /* 32 or 64; 32 by default */
    uint32_t value_bits; /* 32 or 64 (0 chooses 32), 0 in a set */
    uint32_t bucket;     /* cuckoo, open, iceberg, and the keys of bucket lists: slots in a bucket; 0 lets
                            the library choose */
    uint32_t hashes;     /* cuckoo: candidate buckets of a key, 2 to 4; 0 chooses 3 (4 when bucket is 1 or load above 0.92);
                            open: windows that a search looks at, at most, 2 to 16384; 0: the
                            whole region, so that a key finds room while there is any; in a multimap
                            windows in a row without the key that end a search; iceberg: 3 */
    uint32_t flags;      /* HEDDLE_FLAG_* */
    uint64_t capacity;   /* keys to make room for, in a multimap pairs; small tables get a little more */
    uint64_t seed;       /* of the hash functions; 0 draws one from the system */
    double load;         /* cuckoo, open, iceberg: filled share of the slots once `capacity` keys are in, 0.1 to
                            0.99; 0 chooses 0.8. Slab hash: of those slabs that are in use; 0 chooses 0.65 */
    double vertices;     /* hashgraph: lists for every key, 0.125 to 4; 0 chooses 1 */
    double threshold;    /* iceberg: share of a bucket that is filled with keys whose first bucket it is
                            before these go to another, up to 1; 0 chooses 0.8 */
    uint64_t list_first; /* bucket lists: values that the first bucket of a key has room for; 0 chooses 1 */
    double list_growth;  /* bucket lists: how much larger each next bucket is, 1 to 16; 0 chooses 2 */
} heddle_table_options;
#define HEDDLE_TABLE_OPTIONS_INIT                                                                  \
    {sizeof(heddle_table_options), HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_AUTO, 32, 0, 0, 0, 0, 0, 0, \
     0.0, 0.0, 0.0, 0, 0.0}

/*
 * Makes an empty table on `device`; NULL options are the defaults. Allocates and synchronises.
 * The table keeps a reference to the device, which must outlive it. Options of an older header, which
 * are smaller, are understood: what they do not have is as by default. A container that the scheme
 * does not make gives HEDDLE_ERROR_UNSUPPORTED.
 */
HEDDLE_API heddle_status heddle_table_create(heddle_device *device, const heddle_table_options *options,
                                             heddle_table **table);
/* Waits for the device and frees the table. NULL is accepted. */
HEDDLE_API void heddle_table_destroy(heddle_table *table);
/*
 * The options the table runs with: every 0 replaced by what was chosen, `capacity` by the number of
 * slots or vertices, `seed` by the seed in use. What the scheme does not have stays 0. options->size is
 * set by the caller, and no more is written.
 */
HEDDLE_API heddle_status heddle_table_get_options(heddle_table *table, heddle_table_options *options);
/* The compiled instance, e.g. "cuckoo_k32_v32_b8", "hashgraph_k64_v32". Lives as long as the table. */
HEDDLE_API const char *heddle_table_instance(const heddle_table *table);
/* The device a table lives on. */
HEDDLE_API heddle_device *heddle_table_device(const heddle_table *table);

/*
 * What became of the keys of one call. Every key is counted in exactly one of the first five
 * fields that its operation uses:
 *   insert, build   inserted + updated + kept + failed == n
 *   find, contains  found + absent == n
 *   erase           found + absent == n, where found keys are erased
 *   mixed           the sum of all six == n
 */
typedef struct heddle_totals {
    uint32_t size;     /* sizeof(heddle_totals), set by the caller */
    uint32_t reserved; /* 0 */
    uint64_t inserted; /* new keys; in a multimap every pair is new */
    uint64_t updated;  /* keys already there whose value the policy replaced or combined */
    uint64_t kept;     /* keys already there that stayed as they were */
    uint64_t failed;   /* keys that did not fit */
    uint64_t found;    /* keys that were there */
    uint64_t absent;   /* keys that were not */
    uint64_t probes;   /* buckets looked at, all keys together; in a hashgraph pairs looked at */
    uint64_t evictions; /* pairs moved to make room */
} heddle_totals;
#define HEDDLE_TOTALS_INIT {sizeof(heddle_totals), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* What became of one key: the values in an array of outcomes. */
#define HEDDLE_OUTCOME_INSERTED 1
#define HEDDLE_OUTCOME_UPDATED 2
#define HEDDLE_OUTCOME_KEPT 3
#define HEDDLE_OUTCOME_FAILED 4
#define HEDDLE_OUTCOME_FOUND 5  /* heddle_table_mixed: a lookup or an erasure of a key that was there */
#define HEDDLE_OUTCOME_ABSENT 6 /* and of one that was not */

/*
 * What to do with a key that is already in the table. A multimap takes KEEP only. A counter takes KEEP
 * and ADD, which are the same to it. Others are refused with HEDDLE_ERROR_INVALID.
 */
#define HEDDLE_POLICY_KEEP 0    /* leave the value there */
#define HEDDLE_POLICY_REPLACE 1 /* take the new value */
#define HEDDLE_POLICY_ADD 2     /* value there + new value, wrapping */
#define HEDDLE_POLICY_MIN 3     /* the smaller, unsigned */
#define HEDDLE_POLICY_MAX 4     /* the larger, unsigned */

#define HEDDLE_WORKSPACE_ALIGNMENT 256 /* what heddle_memory_allocate gives */

typedef struct heddle_insert_options {
    uint32_t size;            /* sizeof(heddle_insert_options) */
    uint32_t policy;          /* HEDDLE_POLICY_*; KEEP by default */
    uint8_t *outcomes;        /* NULL, or n bytes: HEDDLE_OUTCOME_* of every key */
    uint64_t *failed;         /* NULL, or host memory for the indices of keys that did not fit */
    uint64_t failed_capacity; /* how many indices `failed` has room for */
    void *workspace;          /* NULL, or device memory, aligned to 256 bytes, for scratch */
    uint64_t workspace_bytes; /* its size; see heddle_table_build_workspace */
} heddle_insert_options;
#define HEDDLE_INSERT_OPTIONS_INIT                                                                 \
    {sizeof(heddle_insert_options), HEDDLE_POLICY_KEEP, NULL, NULL, 0, NULL, 0}

/*
 * Inserts n pairs. `values` is NULL for a set and only for a set, or for a counter, which then counts
 * every key once; NULL options are the defaults; `totals` may be NULL.
 *
 * In a map or set a key that occurs several times in the batch ends up in the table once. With ADD,
 * MIN and MAX all its values take part; with KEEP and REPLACE the value is that of one of the occurrences, which
 * one is not specified. Outcomes count the first occurrence to arrive as inserted and the others by
 * the policy.
 *
 * Growth. A table without HEDDLE_FLAG_FIXED grows when keys do not fit: the call may then allocate
 * and it synchronises. When memory for growth runs out the call returns HEDDLE_ERROR_NO_MEMORY.
 * A fixed table neither allocates nor synchronises for device arrays (and `totals` and `failed`
 * NULL); keys that do not fit are counted in heddle_table_take_totals. A call that waits, because of
 * `totals`, `failed`, host arrays or because the device is the CPU, returns HEDDLE_ERROR_FULL
 * when keys of a fixed table did not fit. In all these cases every key
 * that was in the table before still is, with its value, and every key that is not reported as
 * failed is in the table. The first min(failed, failed_capacity) indices of failed keys are
 * written to `failed`, in no particular order.
 *
 * Erased keys of cuckoo, open and iceberg tables leave traces (`marks` in the statistics) that cost searches
 * looks in vain. When heddle_table_erase was given half as many keys as the table has slots, the next insertion
 * removes the traces first, but in a multimap: by one pass over the slots on its stream, which moves no pair,
 * allocates nothing and does not wait. Handles and views stay good. Erasures by kernels of one's own and by replays
 * of a captured CUDA graph are not counted; there, and in multimaps, heddle_table_rehash does it.
 *
 * Hashgraph. The call allocates and synchronises, and takes time by all pairs, old and new. No key
 * fails: all are in, or none when memory runs out. Beside the new graph it needs scratch memory: a
 * multimap for the new pairs, for the old ones when some were erased, and twice for the old ones when
 * the graph has outgrown its regions; a set and a counter for grouping, about four times the batch, and a
 * counter that has some of the keys already as much again for all its pairs. With less for the pairs the
 * graph is made in passes, see heddle_table_build; with less for grouping a set or counter takes the batch
 * in pieces, each of which makes a graph. Host arrays of a GPU table are copied to its device whole, or, where
 * there is no memory for that, slice by slice (a multimap) or piece by piece.
 *
 * Multimap by HEDDLE_SCHEME_OPEN. Every pair is inserted. A large batch of device arrays, without outcomes and
 * `failed`, in a call that waits is sorted by regions first; that takes scratch memory of twice its bytes,
 * from `workspace` or allocated.
 *
 * Slab hash. Insertions take what lists have room for, then slabs of the pool. A table that may grow gets more of
 * them, a super block at a time, which moves nothing; when its lists hold twice as many keys as its load asks for,
 * all pairs move to twice as many lists. Slots of erased keys are used again, but in multimaps; small mixed batches
 * use them only after lists were compacted. An insertion does that first, by one pass over the lists on its stream, when
 * an eighth as many keys as the table was made for were erased since, if it cannot use their slots or the pool is nearly
 * used up, else when half as many were; and a call that waits also when there are no more slabs. A fixed table has slabs
 * for a quarter more keys than it was made for, so that it can wait for that; how many of them keys need is up to chance.
 *
 * Bucket lists. The call allocates and synchronises. When memory runs out, a batch of more than 1024 pairs has
 * changed nothing and all its pairs are failed; of a smaller one some may be in, as the outcomes say.
 * Host arrays are copied whole. `capacity` is a number of values; a fixed table has room for as many with any
 * number of keys, if they come in one batch; the room that buckets keep for more values is lost to others.
 */
HEDDLE_API heddle_status heddle_table_insert(heddle_table *table, const void *keys, const void *values,
                                             uint64_t n, const heddle_insert_options *options,
                                             heddle_totals *totals, void *stream);
/*
 * Empties the table and inserts n pairs: the fast way to fill a table from arrays. Same arguments
 * and promises as heddle_table_insert; synchronises. A table that may grow is first made large
 * enough for n distinct keys at its load. When keys do not fit although they should, the table is
 * given a new seed and built again.
 *
 * A large build with arrays on the device and without outcomes and `failed` goes by regions: the
 * pairs are sorted by the leading bits of their hashed keys, and each region of the table is filled
 * in fast local memory and written once. That takes scratch memory. The call allocates and frees
 * it, unless the options bring a workspace. With less than the build could use it goes in slices, up
 * to eight of them; with still less, or when a key finds no room, pairs are inserted one by one as
 * heddle_table_insert does. heddle_table_insert goes the same way when the table is empty, n keys
 * fit without growth and the call waits (totals, a table that may grow, or the CPU). So does a batch for a table that
 * holds keys, if it is at least an eighth as many pairs as there are slots and is expected to fit; that takes
 * scratch memory of twice its bytes, allocated, or from a workspace that has as much. On a GPU cuckoo and open tables
 * of which keys were erased, or of which kernels have a view, insert one by one, until they are cleared (not with a
 * view), rehashed or grow. Slab hashes on a GPU go by regions when they never held anything since they were made or
 * cleared.
 *
 * A hashgraph is always built by regions. An empty one that has room (capacity, heddle_table_reserve) is
 * filled in place. Else the old graph stays until the new one is there: when memory runs out nothing
 * is lost. Afterwards there are the pairs and 2 bytes for every vertex; all else was scratch. On the CPU
 * the same pairs and seed give the same order of pairs, with any number of threads.
 *
 * When a multimap is given a smaller workspace than heddle_table_build_workspace says, or when the device
 * has no memory for that much, the graph is made in passes over ranges of its regions, as many as it takes,
 * and is the same as if made in one. The workspace then is all the scratch memory that the call uses. A range is
 * a region, or 1/1024 of the regions (1/4096 on the CPU) where there are more; its pairs have to fit, beside
 * about 16 bytes for every region (on the CPU and 80 to 210 for every range and thread). With HEDDLE_FLAG_ORDERED
 * on a GPU they take about three times the room. When they do not fit, as when most keys are equal, the call returns
 * HEDDLE_ERROR_NO_MEMORY and says how much was needed; the table is as it was.
 */
HEDDLE_API heddle_status heddle_table_build(heddle_table *table, const void *keys, const void *values,
                                            uint64_t n, const heddle_insert_options *options,
                                            heddle_totals *totals, void *stream);
/*
 * How many bytes of workspace let a build of n keys go by regions in one piece: about the bytes of
 * the pairs, twice that where keys and values have different widths or n is more than the table
 * has slots. 0 when such a build does not go by regions. For a multimap about the bytes of the pairs, also for
 * insertions of n pairs, by HEDDLE_SCHEME_OPEN twice that; a hashgraph is made in passes with less
 * (heddle_table_build). For a slab hash on a GPU twice the bytes of the pairs. 0 for a set or counter in a hashgraph,
 * whose builds take their own memory.
 */
HEDDLE_API heddle_status heddle_table_build_workspace(heddle_table *table, uint64_t n,
                                                      uint64_t *bytes);
/*
 * Looks n keys up. values[i] receives the value of keys[i], in a multimap one of its values, in a
 * counter its count; or it is left as it is when the key is absent: fill `values` beforehand with the
 * answer you want for absent keys. found[i] becomes 1 or 0. `found` and `totals` may be NULL.
 */
HEDDLE_API heddle_status heddle_table_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                                           uint8_t *found, heddle_totals *totals, void *stream);
/* Like heddle_table_find without values; for every container. */
HEDDLE_API heddle_status heddle_table_contains(heddle_table *table, const void *keys, uint64_t n,
                                               uint8_t *found, heddle_totals *totals, void *stream);
/*
 * Erases n keys. found[i] becomes 1 when keys[i] was there and this element of the batch erased it;
 * of several equal keys in one batch exactly one gets the 1. `found` and `totals` may be NULL. In a
 * multimap all pairs of a key go, and found counts keys. A hashgraph allocates for this, keeps 2 bytes more for every vertex
 * until it is built anew or inserted into, and synchronises.
 */
HEDDLE_API heddle_status heddle_table_erase(heddle_table *table, const void *keys, uint64_t n,
                                            uint8_t *found, heddle_totals *totals, void *stream);
#define HEDDLE_OPERATION_INSERT 0
#define HEDDLE_OPERATION_ERASE 1
#define HEDDLE_OPERATION_FIND 2
/*
 * A batch of n operations of any mixture, all at once: operations[i] is HEDDLE_OPERATION_* of keys[i]. values[i]
 * is what an insertion inserts; NULL as in heddle_table_insert. values_out[i] receives what
 * a lookup finds and is left as it is otherwise; it may be NULL. The options' outcomes tell what became of each:
 * INSERTED, UPDATED, KEPT or FAILED of an insertion, FOUND or ABSENT of the others. Their policy and `failed` are as
 * in heddle_table_insert, and so is what is said there of growth, of waiting, and of totals.
 *
 * Every operation takes effect at one moment between the beginning and the end of the call; in what order,
 * nobody knows. So a key that is in the table before, and that no operation of the batch erases, is found; a
 * map, set or counter never holds a key twice; and a value that is found was the key's at one moment. In a
 * multimap an insertion adds a pair, an erasure takes one pair, the first in the key's list, and a lookup finds one.
 *
 * An unknown operation counts as a lookup. For HEDDLE_SCHEME_SLAB; others give HEDDLE_ERROR_UNSUPPORTED.
 */
HEDDLE_API heddle_status heddle_table_mixed(heddle_table *table, const uint8_t *operations,
                                            const void *keys, const void *values, uint64_t n,
                                            void *values_out, const heddle_insert_options *options,
                                            heddle_totals *totals, void *stream);
/*
 * Takes back what erased keys have left, as insertions do now and then by themselves. A slab hash moves the pairs
 * of its lists together and gives slabs back to its pool; cuckoo, open and iceberg tables renew their marks, but as
 * multimaps; others have nothing to be done in place. Allocates nothing and does not wait.
 */
HEDDLE_API heddle_status heddle_table_flush(heddle_table *table, void *stream);
/*
 * How many values every key has: matches[i] of keys[i]; in a set, map or counter 0 or 1. `totals` may be
 * NULL. In a cuckoo, open or iceberg table that is no multimap the call allocates and synchronises.
 */
HEDDLE_API heddle_status heddle_table_count(heddle_table *table, const void *keys, uint64_t n,
                                            uint64_t *matches, heddle_totals *totals, void *stream);
/*
 * All values of every key of a batch. The values of keys[i] are values[offsets[i]] to
 * values[offsets[i + 1] - 1], in no particular order; there are n + 1 offsets. *count (host memory)
 * becomes the number of all values. With `values` NULL only offsets and count are found: that is how
 * to learn how much room is needed. When there are more than `capacity` values none is written and
 * the call returns HEDDLE_ERROR_INVALID, with offsets and *count set. Not for sets. Allocates and
 * synchronises.
 */
HEDDLE_API heddle_status heddle_table_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                               uint64_t *offsets, void *values, uint64_t capacity,
                                               uint64_t *count, void *stream);
/*
 * All values of all keys, key by key: the values of keys[i] are values[offsets[i]] to
 * values[offsets[i + 1] - 1]; every key once; neither keys nor the values of a key are in a particular
 * order. *key_count and *value_count (host memory) become the number of different keys and of values.
 * There is room for `key_capacity` keys and one offset more, and for `value_capacity` values. With `keys`
 * NULL only the numbers are found: that is how to learn how much room is needed; `offsets` and `values`
 * may be NULL then and else. When the arrays are too small nothing is written and the call returns
 * HEDDLE_ERROR_INVALID with the numbers set. Not for sets. Allocates scratch memory, three to five times
 * that of the pairs, and synchronises.
 */
HEDDLE_API heddle_status heddle_table_retrieve_all(heddle_table *table, void *keys, uint64_t *offsets,
                                                   void *values, uint64_t key_capacity,
                                                   uint64_t value_capacity, uint64_t *key_count,
                                                   uint64_t *value_count, void *stream);
/*
 * Writes all pairs, in no particular order, to arrays with room for `capacity` elements, and their
 * number to *count (host memory). `values` is NULL for a set, and may be NULL elsewhere. When the
 * arrays are too small nothing is written, *count says how much room is needed, and the call
 * returns HEDDLE_ERROR_INVALID. Synchronises.
 */
HEDDLE_API heddle_status heddle_table_export(heddle_table *table, void *keys, void *values,
                                             uint64_t capacity, uint64_t *count, void *stream);

/* What heddle_table_locate gives for a key that is absent. */
#define HEDDLE_NO_SLOT UINT64_MAX

/*
 * Handles of pairs, in open and iceberg tables; cuckoo tables and hashgraphs, which move pairs, give
 * HEDDLE_ERROR_UNSUPPORTED. slots[i] becomes the number of the slot that holds keys[i], less than the
 * table's `capacity` in heddle_table_get_options, or HEDDLE_NO_SLOT. A handle stays good until its key is
 * erased or the table grows (not with HEDDLE_FLAG_FIXED), is reserved, rehashed, built anew or cleared;
 * inserting and erasing other keys does not move a pair. After that the slot may hold nothing or another
 * key. `totals` may be NULL.
 */
HEDDLE_API heddle_status heddle_table_locate(heddle_table *table, const void *keys, uint64_t n,
                                             uint64_t *slots, heddle_totals *totals, void *stream);
/*
 * Reads n pairs by their handles, without a search. found[i] becomes 1 and keys[i] and values[i] those of
 * the pair, or 0, and they are left as they are, when the slot is vacant or there is no such slot, as
 * HEDDLE_NO_SLOT. Each of the three may be NULL; `values` is NULL for a set. Reads only.
 */
HEDDLE_API heddle_status heddle_table_at(heddle_table *table, const uint64_t *slots, uint64_t n,
                                         void *keys, void *values, uint8_t *found, void *stream);

/*
 * A function of the caller's that is given pairs, some thousand at a time, in host memory: n keys and, but
 * in a set, their values, in the table's widths. `rows` says of each which key of the batch it answers;
 * NULL in heddle_table_for_all. It returns 0 to go on, another number to end the call.
 */
typedef uint32_t (*heddle_visitor)(void *context, const void *keys, const void *values,
                                   const uint64_t *rows, uint64_t n);
/*
 * Calls `visit` with all pairs, in no particular order; with the pairs of every key of a batch, in
 * the order of the batch. Both call from the calling thread, allocate and synchronise. The visitor must
 * not change the table. When it ends the call early that is a success. Kernels of one's own visit the
 * pairs of a GPU table without leaving the device: heddle/device.cuh.
 */
HEDDLE_API heddle_status heddle_table_for_all(heddle_table *table, heddle_visitor visit, void *context,
                                              void *stream);
HEDDLE_API heddle_status heddle_table_for_each(heddle_table *table, const void *keys, uint64_t n,
                                               heddle_visitor visit, void *context, void *stream);
#define HEDDLE_VIEW_MULTIMAP UINT32_C(0x10000) /* added to a scheme for heddle_table_get_view */
/*
 * What a kernel of one's own needs to know of a table; heddle/device.cuh calls it. `view` receives
 * `bytes` bytes, whose meaning is not part of the stable ABI. The table must be the compiled instance that is
 * named, else HEDDLE_ERROR_INVALID, and on a GPU and no hashgraph, else HEDDLE_ERROR_UNSUPPORTED. `scheme` is
 * HEDDLE_SCHEME_*, with HEDDLE_VIEW_MULTIMAP added for a multimap by open or slab. Valid until the table grows, is
 * rehashed or destroyed; of bucket lists and slab hashes until a call changes the table. Of bucket lists it allocates
 * and synchronises the first time.
 */
HEDDLE_API heddle_status heddle_table_get_view(heddle_table *table, uint32_t scheme, uint32_t key_bits,
                                               uint32_t value_bits, uint32_t bucket, void *view,
                                               uint64_t bytes);
/* Removes all keys; keeps the memory. Does not synchronise. */
HEDDLE_API heddle_status heddle_table_clear(heddle_table *table, void *stream);
/* The number of keys in the table, in a multimap of pairs. Synchronises with `stream`. */
HEDDLE_API heddle_status heddle_table_size(heddle_table *table, uint64_t *count, void *stream);
/*
 * Makes room for `capacity` keys in all at the table's load; a number that there is room for already
 * changes nothing. After that the calls on a fixed table with device arrays need no more memory and
 * can be captured in a CUDA graph. Works on a fixed table too, which it makes larger. A hashgraph makes
 * room for `capacity` pairs, which a build of the empty table then fills in place. Allocates and
 * synchronises. When memory runs out the table is unchanged.
 */
HEDDLE_API heddle_status heddle_table_reserve(heddle_table *table, uint64_t capacity, void *stream);
/*
 * Moves all pairs to fresh storage for max(capacity, keys in the table) keys at the table's load,
 * with a fresh seed. This is also how a table shrinks and how it gets rid of the traces that keys
 * pushed on from full buckets have left, or that erased pairs of a hashgraph have. Allocates and
 * synchronises. When it fails the table is unchanged.
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

#define HEDDLE_PROBES_MAX 8

typedef struct heddle_table_stats {
    uint32_t size;         /* sizeof(heddle_table_stats), set by the caller */
    uint32_t regions;      /* parts that a key never leaves */
    uint64_t keys;         /* keys in the table, in a multimap pairs */
    uint64_t slots;        /* room for keys; vertices of a hashgraph; slab hash: of slabs in use */
    uint64_t marks;        /* traces of keys pushed on from a full bucket, that may cost a search one
                              look more; they outlive the keys until an insertion after many erasures,
                              or a rehash, removes them. Bucket lists: values
                              that the room of erased lists would hold; a rehash gets it back. Slab hash:
                              slots of erased keys */
    uint64_t buckets;      /* buckets in all; vertices of a hashgraph */
    uint64_t full;         /* buckets without room; vertices with pairs; lists of several slabs */
    uint64_t bytes_slots;  /* memory of the slots; of a hashgraph's pairs; of slabs in use */
    uint64_t bytes_total;  /* all memory of the table on its device */
    uint64_t growths;      /* times the table has grown */
    uint64_t evictions;    /* pairs moved to make room, since the table was made */
    uint64_t probes[HEDDLE_PROBES_MAX]; /* probes[i]: keys found with i + 1 probes, the last with that or
                                           more; hashgraph: vertices with 0, 1, 2, 3, 4 to 7, 8 to 15, 16 to 255, more pairs;
                                           bucket lists: keys with i + 1 buckets */
    double load;           /* keys / slots; slab hash: of slabs in use */
    uint64_t chains[HEDDLE_PROBES_MAX]; /* slab hash: chains[i]: lists of i + 1 slabs, the last with that or more */
    double memory_use;     /* cuckoo, open, iceberg, slab: bytes of the pairs / bytes_slots */
} heddle_table_stats;
#define HEDDLE_TABLE_STATS_INIT                                                                    \
    {sizeof(heddle_table_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0.0, {0}, 0.0}

/* Counts the table through. Synchronises. */
HEDDLE_API heddle_status heddle_table_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream);
/*
 * Checks every invariant of the table: each key in one of its own buckets, no key twice but in a multimap, none
 * behind a bucket at which a search would stop, counts right; of a hashgraph: lists in order, each key
 * in its own list, in a set or counter once; of bucket lists: every list whole and its own, no bucket in
 * two of them. HEDDLE_OK, or HEDDLE_ERROR_CORRUPT
 * with the reason in heddle_last_error(). Synchronises.
 */
HEDDLE_API heddle_status heddle_table_validate(heddle_table *table, void *stream);

/*
 * Writes the table to a file that any machine and any device can load. The file is written beside
 * `path` first and renamed when it is whole. Allocates and synchronises.
 */
HEDDLE_API heddle_status heddle_table_save(heddle_table *table, const char *path, void *stream);
/*
 * Makes a table on `device` from a file. `options` may be NULL to take all but seed and capacity from
 * the file; else its scheme, bucket, hashes, load, vertices, threshold, flags, seed and capacity are used, and container
 * and widths must be those of the file. A table that is fixed may come out larger than it was, if
 * its keys do not fit with a new seed. A damaged file gives HEDDLE_ERROR_FORMAT and no table.
 */
HEDDLE_API heddle_status heddle_table_load(heddle_device *device, const char *path,
                                           const heddle_table_options *options, heddle_table **table);

#ifdef __cplusplus
}
#endif

#include <heddle/relations.h>
#include <heddle/filter.h>
#include <heddle/cluster.h>
#include <heddle/column_file.h>
#include <heddle/shelf.h>

#endif
