/*
 * table.h: the room of tables, which opens here: what all kinds of tables share, what a kind must
 * offer, and the few steps that all operations have in common.
 *
 *   calls.c         the public operations: each checks its arguments, makes a request of them,
 *                   hands it to the table's kind, and gives the sums back
 *   table.c         making and describing tables; calls and their counts
 *   check.h         whether arguments can be used; for clusters and shelves too
 *   request.h       a call as a record, and its parts
 *   totals.h        totals of several calls added up
 *   making.h        options read and completed, and files loaded, for clusters and shelves
 *   collect.h       all pairs, brought to the host in pieces
 *   pieces.h        queries in pieces, where memory is short
 *   multi_query.h   count and retrieve where keys have many values: slots and slabs
 *   pair_sort.h     pairs sorted by region: slots, slabs and graphs
 *   batch_groups.h  rows of a batch grouped by key: graphs and lists
 *   save.c visit.c view.c   files, visitors, kernels outside the library
 *
 * Other rooms include check.h, request.h, totals.h and making.h alone (scripts/rooms.sh). There is
 * a folder for each kind, which opens with the header of its name: slots/ (cuckoo, open,
 * iceberg), graph/ (hashgraph), lists/ (bucket lists), slabs/ (slab hash). They have the same
 * files: kind.c (options, the table of functions), storage.c (memory), insert.c, query.c (find,
 * erase, count, retrieve), whole.c (clear, export, statistics, validation).
 *
 * A call: heddle_table_find (calls.c) makes an hd_request; hd_table_kind.find, say hd_slots_find,
 * begins an hd_call, which gives it a place to count in, goes through the slices of the arrays
 * (hd_for_slices), each of them one operation of the engine, and reads the counts if the call
 * waits.
 */
#ifndef HD_TABLE_H
#define HD_TABLE_H

#include "base/error.h"
#include "engine/engine.h"
#include "table/check.h"
#include "table/making.h"
#include "table/request.h"
#include "table/slots/geometry.h"

typedef struct hd_table_kind hd_table_kind;

/* Calls with totals that may run at the same time on one table; more of them wait. */
#define HD_CALLS_MAX 16

/* What a call that waits has for itself in device memory. */
typedef struct hd_call_words {
    hd_count_share shares[HD_COUNT_SHARES]; /* left alone where device memory is host memory */
    hd_counts counts;
    uint64_t cursor; /* where an export goes on writing; a count of what was found */
    union {
        hd_census slots;
        hd_graph_census graph;
    } census;
} hd_call_words;

/* The table's own words in device memory. */
typedef struct hd_control {
    hd_call_words pending;             /* the sums of calls that nobody has asked about yet */
    hd_call_words calls[HD_CALLS_MAX]; /* of calls that wait */
    uint64_t born;                     /* keys that came into the table since it was last empty */
    uint64_t died;                     /* keys erased since; the table holds born - died */
} hd_control;

/* What all tables begin with. */
struct heddle_table {
    const hd_table_kind *kind;
    heddle_device *device;
    const hd_engine *engine;
    const char *name;             /* of the compiled instance */
    heddle_table_options options; /* as chosen; seed and capacity as in use */
    uint64_t slice;               /* keys of a batch worked on at a time */
    hd_control *control;          /* device memory */
    hd_control *readback;         /* pinned host memory of the same shape */
    hd_counts settled;            /* pending counts that are known on the host already */
    uint64_t growths;
    uint64_t evictions; /* of calls whose totals the host has seen */
    uint32_t calls;     /* a bit for every entry of control->calls in use */
};

/* Takes pairs in host memory; `values` is NULL in a set. */
typedef heddle_status (*hd_pairs_take)(void *context, const void *keys, const void *values,
                                       uint64_t n);

/*
 * What a kind of table does. Arguments are checked before: the table, its stream and the arrays are
 * usable, options have their size. All as the public function of the same name says. Sums are given
 * as hd_request says.
 */
struct hd_table_kind {
    uint64_t bytes; /* of a table of this kind, which begins with a heddle_table */
    /* Refuses what this kind cannot do, and sets what the caller left open. */
    heddle_status (*complete)(heddle_table_options *options);
    /* Sets the name and what is compiled for the table; refuses what is not. */
    heddle_status (*choose)(heddle_table *table);
    /* Makes the empty table's storage, and frees it. */
    heddle_status (*start)(heddle_table *table);
    void (*stop)(heddle_table *table);

    heddle_status (*insert)(heddle_table *table, hd_request *request);
    /* Always waits. */
    heddle_status (*build)(heddle_table *table, hd_request *request);
    heddle_status (*build_workspace)(heddle_table *table, uint64_t n, uint64_t *bytes);
    /* Values or found flags may be NULL; without values it is heddle_table_contains. */
    heddle_status (*find)(heddle_table *table, hd_request *request);
    heddle_status (*erase)(heddle_table *table, hd_request *request);
    heddle_status (*count)(heddle_table *table, hd_request *request);
    heddle_status (*retrieve)(heddle_table *table, hd_request *request);
    /* The arrays are the device's and suffice for all pairs, of which there are some. */
    heddle_status (*collect)(heddle_table *table, void *keys, void *values, void *stream);
    /* Hands all pairs to `take` in pieces. Waits. A status other than HEDDLE_OK from it ends it. */
    heddle_status (*for_pairs)(heddle_table *table, hd_pairs_take take, void *context,
                               void *stream);
    heddle_status (*clear)(heddle_table *table, void *stream);
    heddle_status (*reserve)(heddle_table *table, uint64_t capacity, void *stream);
    heddle_status (*rehash)(heddle_table *table, uint64_t capacity, void *stream);
    heddle_status (*get_stats)(heddle_table *table, heddle_table_stats *stats, void *stream);
    heddle_status (*validate)(heddle_table *table, void *stream);
    bool loads_whole; /* from a file best at once, not block by block */
    /* NULL where there is no such thing. */
    heddle_status (*mixed)(heddle_table *table, hd_request *request);
    heddle_status (*flush)(heddle_table *table, void *stream); /* NULL: there is nothing to do */
};

extern const hd_table_kind hd_slots_kind, hd_graph_kind, hd_lists_kind, hd_slabs_kind;

/* A call's own place to count in. */
typedef struct hd_call {
    heddle_table *table;
    void *stream;
    hd_counts *counts;      /* device memory: control->pending, or those of `words` */
    hd_count_share *shares; /* likewise */
    hd_call_words *words;   /* device memory, NULL in a call that does not wait */
    int block;              /* number of the words in control->calls */
} hd_call;

/* A call that ends with the block in which it is declared. */
#define HD_CALL(name)                                                                              \
    hd_call name __attribute__((cleanup(hd_call_end))) = {NULL, NULL, NULL, NULL, NULL, 0}

/* Begins a call; one that `waits` gets sums of its own. */
heddle_status hd_call_begin(heddle_table *table, bool waits, void *stream, hd_call *call);
/* Waits for the stream and reads what is pending; sets it to 0. */
heddle_status hd_pending_read(heddle_table *table, hd_counts *counts, void *stream);
heddle_status hd_pending_clear(heddle_table *table, void *stream);
/* Waits for the stream and reads the sums of a waiting call so far. */
heddle_status hd_call_read(const hd_call *call, hd_counts *counts);
/* The same for the request's sums, if it waits. */
heddle_status hd_call_finish(const hd_call *call, hd_request *request);
/* Gives the call's place back. */
void hd_call_end(hd_call *call);
/* Copies from device memory and waits for the stream. */
heddle_status hd_read_back(heddle_table *table, void *to, const void *from, uint64_t bytes,
                           void *stream);

/* The number of keys, after a wait for the stream. */
heddle_status hd_table_count(heddle_table *table, uint64_t *count, void *stream);
/* The table is empty from now on, as far as its counts go; or it holds `keys`. */
heddle_status hd_table_set_count(heddle_table *table, uint64_t keys, void *stream);

void hd_totals_add(heddle_totals *totals, const hd_counts *counts);

static inline uint32_t hd_key_width(const heddle_table *table)
{
    return table->options.key_bits / 8;
}
static inline uint32_t hd_value_width(const heddle_table *table)
{
    return table->options.value_bits / 8;
}

#endif
