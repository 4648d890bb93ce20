/*
 * engine.h: what a device must offer. One hd_engine for the CPU (cpu/cpu.h), one for each kind of accelerator
 * (cuda/cuda.h). This room has tables of functions, by container:
 *
 *     engine.h     hd_engine: devices, memory, streams, sorting by region; hd_table_ops: tables of slots
 *     graph.h  lists.h  slabs.h  filter.h                 the other containers
 *     columns.h  relate.h  owners.h                       columns, joins and groups, rows of a cluster
 *     registry.h   what is compiled once for every width and tile, for the engines to look up
 *     blocks.h     memory for scratch, which a device keeps between calls
 *
 * A table keeps the hd_table_ops that were compiled for it, from `tables`; other containers ask `graph`, `lists`,
 * `slabs`, `filter`, `relate` and `owners` for those of their widths.
 *
 * The layers above speak to devices through these pointers only. Every function that can fail returns
 * a heddle_status and has then called hd_fail (base/error.h) with the reason. `stream` is the caller's
 * stream or NULL for the device's own; an engine without streams ignores it and works at once.
 */
#ifndef HD_ENGINE_H
#define HD_ENGINE_H

#include <heddle/heddle.h>
#include <pthread.h>
#include <stdbool.h>

#include "engine/columns.h"
#include "engine/filter.h"
#include "engine/graph.h"
#include "engine/lists.h"
#include "engine/owners.h"
#include "engine/relate.h"
#include "engine/slabs.h"
#include "model/partition.h"
#include "model/view.h"

typedef struct hd_engine hd_engine;
typedef struct hd_table_ops hd_table_ops;

typedef struct hd_stage hd_stage;
typedef struct hd_block hd_block;

/* A device as the API layer sees it; an engine's own kind of device begins with this. */
struct heddle_device {
    const hd_engine *engine;
    pthread_mutex_t lock;
    hd_stage *idle_stages; /* buffers for host arrays that no call is using; guarded by the lock */
    hd_block *blocks;      /* memory for scratch (blocks.h); guarded by the lock */
    uint64_t idle_max; /* bytes of it that may lie idle; 0 until it is known; guarded by the lock */
};

/* The operations of one compiled table (a line of instances.def) on one engine. */
struct hd_table_ops {
    const char *name; /* "cuckoo_k32_v32_b8" */
    uint32_t scheme;  /* HEDDLE_SCHEME_* */
    uint32_t key_bits;
    uint32_t value_bits; /* 0 in a set */
    uint32_t bucket;
    uint32_t slot_bytes;  /* of view.slots, a slot */
    uint32_t value_bytes; /* of view.values, a slot; 0 where values lie in the slots */

    /* All slots EMPTY. */
    heddle_status (*clear)(heddle_device *device, const hd_view *view, void *stream);
    /* Inserts where no eviction is needed; other keys are deferred to the lists of their regions. */
    heddle_status (*place)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                           void *stream);
    /* Inserts the deferred keys with evictions and empties the lists. */
    heddle_status (*settle)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream);
    /* Like place, for the keys in batch->n slots of another table of this kind, batch->from. */
    heddle_status (*rehome)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream);
    /*
     * Inserts pairs sorted by region, each region in fast local memory. With `fresh` the slots hold
     * nothing yet, not even EMPTY. batch: policy, counts and tally. A pair that finds no room is counted
     * as failed. Where these are not listed (sorted->failed), not necessarily that pair is missing then: the
     * table is to be filled anew in another way.
     */
    heddle_status (*fill)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          const hd_sorted *sorted, bool fresh, void *stream);
    /*
     * Brings equal keys in parts of regions together by the policy, as far as that goes in local
     * memory, and appends what is left to fold->pairs at the cursors. NULL where fill needs no such help.
     */
    heddle_status (*fold)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          const hd_fold *fold, void *stream);
    /* Whether regions of this size can be filled so. */
    bool (*can_fill)(heddle_device *device, const hd_view *view);
    /* Whether a table with gaps can be filled on: keys that lie behind a bucket with room, since one was erased. */
    bool fills_gaps;
    heddle_status (*find)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          void *stream);
    heddle_status (*contains)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                              void *stream);
    heddle_status (*erase)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                           void *stream);
    /* The slots of keys, or HEDDLE_NO_SLOT; and the pairs in slots, as heddle_table_at says. */
    heddle_status (*locate)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream);
    heddle_status (*at)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                        void *stream);
    /* Appends the pairs in slots. */
    heddle_status (*collect)(heddle_device *device, const hd_view *view, const hd_export *to,
                             void *stream);
    /* Counts and checks all slots; *census is device memory set to 0 by the caller. */
    heddle_status (*inspect)(heddle_device *device, const hd_view *view, hd_census *census,
                             void *stream);
    /* Takes back the marks that no key needs (scheme/marks.h); moves nothing. NULL in multimaps. */
    heddle_status (*renew_marks)(heddle_device *device, const hd_view *view, void *stream);

    /*
     * Multimaps only, NULL elsewhere: how many values every key of the batch has, to batch->matches; and
     * all of them, the i-th key's from batch->places[i] on, to batch->values_out. In a multimap `place`
     * adds every pair and `settle` has nothing to do, `erase` takes all pairs of a key: of equal keys of
     * a batch one finds it, and the tally counts pairs.
     */
    heddle_status (*count)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                           void *stream);
    heddle_status (*retrieve)(heddle_device *device, const hd_view *view, const hd_batch *batch,
                              void *stream);
    /* The same slots used as a multimap; NULL where the scheme makes none. */
    const hd_table_ops *multi;
};

#define HD_SHARE_WORDS 8

struct hd_engine {
    uint32_t kind;    /* HEDDLE_DEVICE_* */
    bool host_memory; /* device memory is host memory: nothing is ever staged */
    /* Smaller batches are not worth sorting by region. */
    uint64_t region_keys_min;
    /* Regions that are given more pairs than their slots times this are folded first; 0: never. */
    uint32_t crowded;
    /* Slices of a batch hold at most this many keys; also the length of hd_batch.next. */
    uint64_t slice_max;

    heddle_status (*open)(int32_t index,
                          heddle_device **device); /* CPU: index is the thread count */
    void (*close)(heddle_device *device);
    uint32_t (*count)(void); /* devices of this kind */
    heddle_status (*get_info)(heddle_device *device, heddle_device_info *info);
    heddle_status (*synchronize)(heddle_device *device, void *stream);
    /* Whether what is given to the stream is only recorded, to be done later, any number of times. */
    bool (*is_recording)(heddle_device *device, void *stream);
    /* Waits for all work on all streams, as freeing memory does. */
    void (*drain)(heddle_device *device);

    heddle_status (*allocate)(heddle_device *device, uint64_t bytes, void **memory);
    void (*free)(heddle_device *device, void *memory);
    /*
     * Memory that is there from this point of the stream on, until that at which it is freed: neither waits, and both can
     * be recorded. NULL, both, where calls wait anyway.
     */
    heddle_status (*allocate_in_order)(heddle_device *device, uint64_t bytes, void **memory,
                                       void *stream);
    void (*free_in_order)(heddle_device *device, void *memory, void *stream);
    /* Gives back what the device keeps of such memory and nobody has; whether that was any. */
    bool (*drop_in_order)(heddle_device *device);
    heddle_status (*allocate_pinned)(heddle_device *device, uint64_t bytes, void **memory);
    void (*free_pinned)(heddle_device *device, void *memory);
    /* Any direction, in stream order; asynchronous unless pageable host memory takes part. */
    heddle_status (*copy)(heddle_device *device, void *to, const void *from, uint64_t bytes,
                          void *stream);
    heddle_status (*fill)(heddle_device *device, void *memory, uint8_t byte, uint64_t bytes,
                          void *stream);
    /* Whether kernels may be given this pointer. */
    bool (*is_device_memory)(heddle_device *device, const void *memory);
    /* Whether a device reads and writes the memory of another one of this engine as fast as its own. */
    bool (*shares_memory)(const heddle_device *device, const heddle_device *other);
    /*
     * From now on copies between this device and another one of its engine go straight from one memory to the other,
     * where the machine can do that. Elsewhere they work as before, by way of the host.
     */
    void (*connect)(heddle_device *device, const heddle_device *other);

    /* Marks a point in a stream, and waits for it or reads the time between two such points. */
    heddle_status (*event_create)(heddle_device *device, void **event);
    void (*event_destroy)(heddle_device *device, void *event);
    heddle_status (*event_record)(heddle_device *device, void *event, void *stream);
    heddle_status (*event_wait)(heddle_device *device, void *event);
    heddle_status (*event_seconds)(heddle_device *device, void *begin, void *end, double *seconds);

    /* Sorts pairs by region (partition.h), and the bytes of `work` that this takes. */
    heddle_status (*partition)(heddle_device *device, const hd_partition *job, void *stream);
    uint64_t (*partition_work)(heddle_device *device, const hd_partition *job);
    /* The same in steps, HD_SORT_*; the leading bits that name a part, at most as many as a region's. */
    heddle_status (*partition_step)(heddle_device *device, const hd_partition *job, uint32_t step,
                                    void *stream);
    uint64_t (*partition_step_work)(heddle_device *device, const hd_partition *job);
    uint32_t (*partition_part_bits)(uint32_t region_bits);
    /* Without counting first (hd_scatter), and what memory that takes. NULL, both: the engine has no use for it. */
    void (*scatter_plan)(heddle_device *device, hd_scatter *job);
    heddle_status (*scatter)(heddle_device *device, const hd_scatter *job, void *stream);
    /*
     * Counts the n keys of a job by region, 1 to HD_COUNT_BITS_MAX bits, and sorts nothing: adds to `counts`, device
     * memory, a number for every region. Of the job only the keys count, and `work`, whose bytes the second one says.
     */
    heddle_status (*count_regions)(heddle_device *device, const hd_partition *job, uint64_t *counts,
                                   void *stream);
    uint64_t (*count_regions_work)(heddle_device *device, const hd_partition *job);
    /* The graphs of these pairs, and the joins and groups of these keys; NULL where not compiled. */
    const hd_graph_ops *(*graph)(uint32_t key_bits, uint32_t value_bits);
    const hd_relate_ops *(*relate)(uint32_t key_bits, uint32_t row_bits);
    const hd_column_ops *columns;
    /* Bloom filters of keys of 32 or 64 bits. */
    const hd_filter_ops *(*filter)(uint32_t key_bits);

    /* The compiled tables, `ops_count` of them. */
    const hd_table_ops *const *(*tables)(heddle_device *device, uint32_t *ops_count);

    /* Lists of values of this width; NULL where not compiled. */
    const hd_list_ops *(*lists)(uint32_t value_bits);
    /* Slab hashes of these pairs; NULL where not compiled. */
    const hd_slab_ops *(*slabs)(uint32_t key_bits, uint32_t value_bits);
    /* Rows with keys of 32 or 64 bits on their way through a cluster. */
    const hd_owners_ops *(*owners)(uint32_t key_bits);

    /* Memory that other processes of this machine may open, and the key by which they do. */
    heddle_status (*share)(heddle_device *device, uint64_t bytes, void **memory,
                           uint64_t key[HD_SHARE_WORDS]);
    void (*unshare)(heddle_device *device, void *memory);
    /* The memory that another process has shared, while that one lives and has it. */
    heddle_status (*open_shared)(heddle_device *device, const uint64_t key[HD_SHARE_WORDS],
                                 void **memory);
    void (*close_shared)(heddle_device *device, void *memory);
};

/* The engines; NULL where one was not built. */
#ifdef __cplusplus
extern "C" {
#endif
const hd_engine *hd_engine_cpu(void);
const hd_engine *hd_engine_cuda(void);
#ifdef __cplusplus
}
#endif

#endif
