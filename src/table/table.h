/*
 * table.h: a table as the API layer sees it: what all kinds of tables share, what a kind must offer, and
 * the few steps that all operations have in common. The files of this folder include it; nobody else
 * does, but tests.
 *
 * The public functions (calls.c, table.c, save.c) check their arguments and hand on to the table's kind:
 * table/slots/slots.h for tables of slots, table/graph/graph.h for graphs in compressed rows, table/lists/lists.h for bucket lists,
 * table/slabs/slabs.h for slab hashes.
 */
#ifndef HD_TABLE_H
#define HD_TABLE_H

#include "base/error.h"
#include "engine/engine.h"
#include "table/check.h"
#include "table/slots/geometry.h"

typedef struct hd_table_kind hd_table_kind;

/* Calls with totals that may run at the same time on one table; more of them wait. */
#define HD_CALLS_MAX 16

/* What a call that waits has for itself in device memory. */
typedef struct hd_call_words {
    hd_counts counts;
    uint64_t cursor; /* where an export goes on writing; a count of what was found */
    union {
        hd_census slots;
        hd_graph_census graph;
    } census;
} hd_call_words;

/* The table's own words in device memory. */
typedef struct hd_control {
    hd_counts pending;                 /* of calls that nobody has asked about yet */
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

/* The arrays of heddle_table_mixed. */
typedef struct hd_mixed {
    const uint8_t *operations; /* NULL: all insert */
    const void *keys, *values;
    uint64_t n;
    void *values_out;
} hd_mixed;

/*
 * What a kind of table does. Arguments are checked before: the table, its stream and the arrays are
 * usable, options have their size. All as the public function of the same name says.
 */
struct hd_table_kind {
    uint64_t bytes; /* of a table of this kind, which begins with a heddle_table */
    /* Refuses what this kind cannot do, and sets what the caller left open. */
    heddle_status (*complete)(heddle_table_options *options);
    /* Sets the name; refuses what is not compiled. */
    heddle_status (*choose)(heddle_table *table);
    /* Makes the empty table's storage, and frees it. */
    heddle_status (*start)(heddle_table *table);
    void (*stop)(heddle_table *table);

    /* *counts are the sums where *waited comes back true, as it does at least where it was. */
    heddle_status (*insert)(heddle_table *table, const void *keys, const void *values, uint64_t n,
                            const heddle_insert_options *options, bool *waited, hd_counts *counts,
                            void *stream);
    /* Always waits. */
    heddle_status (*build)(heddle_table *table, const void *keys, const void *values, uint64_t n,
                           const heddle_insert_options *options, hd_counts *counts, void *stream);
    heddle_status (*build_workspace)(heddle_table *table, uint64_t n, uint64_t *bytes);
    /* Values or found flags may be NULL; without values it is heddle_table_contains. */
    heddle_status (*find)(heddle_table *table, const void *keys, uint64_t n, void *values,
                          uint8_t *found, heddle_totals *totals, void *stream);
    heddle_status (*erase)(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                           heddle_totals *totals, void *stream);
    heddle_status (*count)(heddle_table *table, const void *keys, uint64_t n, uint64_t *matches,
                           heddle_totals *totals, void *stream);
    heddle_status (*retrieve)(heddle_table *table, const void *keys, uint64_t n, uint64_t *offsets,
                              void *values, uint64_t capacity, uint64_t *count, void *stream);
    /* The arrays suffice for all pairs, of which there are some. */
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
    /* NULL where there is no such thing. As insert. */
    heddle_status (*mixed)(heddle_table *table, const hd_mixed *batch,
                           const heddle_insert_options *options, bool *waited, hd_counts *counts,
                           void *stream);
    heddle_status (*flush)(heddle_table *table, void *stream); /* NULL: there is nothing to do */
};

extern const hd_table_kind hd_slots_kind, hd_graph_kind, hd_lists_kind, hd_slabs_kind;

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
/* Gives the sums of a call to its caller, if it wants them and the call has come so far, and ends it. */
heddle_status hd_call_finish(heddle_table *table, const hd_call *call, heddle_status status,
                             heddle_totals *totals, void *stream);
/* Copies from device memory and waits for the stream. */
heddle_status hd_read_back(heddle_table *table, void *to, const void *from, uint64_t bytes,
                           void *stream);

/* The caller's options, which may be those of an older header: what they do not have is as by default. */
heddle_status hd_options_read(const heddle_table_options *given, heddle_table_options *options);

/* The number of keys, after a wait for the stream. */
heddle_status hd_table_count(heddle_table *table, uint64_t *count, void *stream);
/* The table is empty from now on, as far as its counts go; or it holds `keys`. */
heddle_status hd_table_set_count(heddle_table *table, uint64_t keys, void *stream);

void hd_totals_add(heddle_totals *totals, const hd_counts *counts);

/*
 * As heddle_table_load. With `whole` all pairs are read before they are inserted, in one batch, which the CPU builds
 * by regions; that takes host memory for them.
 */
heddle_status hd_table_load(heddle_device *device, const char *path,
                            const heddle_table_options *options, bool whole, heddle_table **table);

static inline uint32_t hd_key_width(const heddle_table *table)
{
    return table->options.key_bits / 8;
}
static inline uint32_t hd_value_width(const heddle_table *table)
{
    return table->options.value_bits / 8;
}

#endif
