/*
 * table.h: a table as the API layer sees it: its storage, its workspace, and the few steps that all
 * operations share. The files of this folder include it; nobody else does, but tests.
 */
#ifndef HD_TABLE_H
#define HD_TABLE_H

#include "api/geometry.h"
#include "engine/engine.h"
#include "engine/error.h"

/* Calls with totals that may run at the same time on one table; more of them wait. */
#define HD_CALLS_MAX 16

/* What a call that waits has for itself in device memory. */
typedef struct hd_call_words {
    hd_counts counts;
    uint64_t cursor; /* where an export goes on writing */
    hd_census census;
} hd_call_words;

/* The table's own words in device memory. */
typedef struct hd_control {
    hd_counts pending;                 /* of calls that nobody has asked about yet */
    hd_call_words calls[HD_CALLS_MAX]; /* of calls that wait */
    uint64_t born;                     /* keys that came into the table since it was last empty */
    uint64_t died;                     /* keys erased since; the table holds born - died */
} hd_control;

/* What a geometry needs in device memory. */
typedef struct hd_storage {
    hd_view view;
    uint32_t *heads;   /* a list for every region; all HD_NO_KEY between calls */
    uint32_t *next;    /* slice entries */
    uint8_t *outcomes; /* slice entries, for callers who pass no array of their own */
    uint64_t slice;    /* keys of a batch worked on at a time */
    uint64_t bytes;    /* of all of this */
} hd_storage;

struct heddle_table {
    heddle_device *device;
    const hd_engine *engine;
    const hd_table_ops *ops;
    heddle_table_options options; /* as chosen; seed and capacity as in use */
    hd_storage storage;
    hd_control *control;  /* device memory */
    hd_control *readback; /* pinned host memory of the same shape */
    hd_counts settled;    /* pending counts that are known on the host already */
    uint64_t growths;
    uint64_t evictions; /* of calls whose totals the host has seen */
    uint32_t calls;     /* a bit for every entry of control->calls in use */
};

/* A call's own place to count in. */
typedef struct hd_call {
    hd_counts *counts;    /* device memory: control->pending, or those of `words` */
    hd_call_words *words; /* device memory, NULL in a call that does not wait */
    int block;            /* number of the words in control->calls */
} hd_call;

/* Begins a call; one that `waits` gets sums of its own. */
heddle_status hd_call_begin(heddle_table *table, bool waits, void *stream, hd_call *call);
/* Waits for the stream and reads the sums of a waiting call so far. */
heddle_status hd_call_read(heddle_table *table, const hd_call *call, void *stream,
                           hd_counts *counts);
/* Gives the call's place back. */
void hd_call_end(heddle_table *table, const hd_call *call);

/* The table, its stream and its array of keys are usable. `what` names the operation. */
heddle_status hd_check_table(const heddle_table *table, const void *stream, const char *what);
heddle_status hd_check_array(const void *array, uint64_t n, uint32_t width, const char *what);

/* Allocates and clears storage for a geometry. */
heddle_status hd_storage_init(heddle_table *table, hd_storage *storage, uint64_t capacity,
                              uint64_t seed, void *stream);
void hd_storage_free(heddle_table *table, hd_storage *storage);

/* Moves all pairs to storage for `capacity` keys; `seed` 0 keeps the seed. The table is unchanged on failure. */
heddle_status hd_table_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream);
/* Makes the table larger because keys did not fit. */
heddle_status hd_table_grow(heddle_table *table, uint64_t more_keys, void *stream);
/* Gives an empty table storage for `capacity` keys without moving anything. */
heddle_status hd_table_renew(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream);
/* The geometry that a build of n keys will fill: the table's own, or that of larger storage it will get. */
heddle_status hd_build_view(const heddle_table *table, uint64_t n, hd_view *view);
/* The number of keys, after a wait for the stream. */
heddle_status hd_table_count(heddle_table *table, uint64_t *count, void *stream);

void hd_totals_add(heddle_totals *totals, const hd_counts *counts);

/* For tests: where the slots are. */
const hd_view *hd_table_view(const heddle_table *table);

static inline uint32_t hd_key_width(const heddle_table *table) { return table->ops->key_bits / 8; }
static inline uint32_t hd_value_width(const heddle_table *table)
{
    return table->ops->value_bits / 8;
}

#endif
