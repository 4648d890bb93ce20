/*
 * graph.h: graphs in compressed rows (engine/graph.h) as tables: sets, multimaps and counters.
 *
 * A graph is never changed in place except for erasures: a build or an insertion makes a new one
 * beside the old and then takes its place, so that nothing is lost when memory runs out. Only an
 * empty table whose memory suffices is filled where it is. A set and a counter are graphs whose
 * keys were brought together before.
 *
 *   kind.c     options, and the table of functions
 *   storage.c  the shape and memory of a graph; what a table was before a call of several steps
 *   insert.c   build and insert: pairs of a multimap as they come, keys of sets and counters folded
 *   fold.c    the equal keys of a batch, brought together
 *   renew.c    a new graph from the table's pairs and the feed, in one go
 *   passes.c   the same in passes, where memory is short
 *   query.c    find, count, retrieve, erase
 *   whole.c    export, statistics, validation
 *
 * A build: hd_graph_build (insert.c) folds keys where the container wants it and calls
 * hd_graph_renew, which takes memory for the new graph, sorts the pairs by region
 * (hd_engine.partition), and places the sorted pairs (hd_graph_ops.place). Then the new graph is
 * the table's.
 */
#ifndef HD_GRAPH_TABLE_H
#define HD_GRAPH_TABLE_H

#include "host/lent.h"
#include "table/table.h"

/* Bytes behind the room for edges: pairs on their way into them begin at a line of memory. */
#define HD_EDGES_SLACK 64

/* A graph and its memory. */
typedef struct hd_graph_storage {
    hd_graph graph;
    void *rows;     /* starts, offsets and wide_used */
    uint64_t edges; /* in the lists when they were made: starts[regions] */
    uint64_t room;  /* edges that there is memory for */
    uint64_t bytes; /* of all of this, wide rows and lengths too */
} hd_graph_storage;

typedef struct hd_graph_table {
    heddle_table base;
    const hd_graph_ops *ops;
    hd_graph_storage storage;
    uint64_t passes; /* in which the graph was made: 1, or more where scratch memory was short */
    bool sliced;     /* from slices of host arrays, where there was none for copies of them */
    uint64_t pieces; /* that the last batch came in: 1, or more in a set or counter */
    hd_graph_storage *kept; /* NULL, or where a call of several steps keeps what it began with */
    char name[32];
} hd_graph_table;

static inline hd_graph_table *hd_graph_of(const heddle_table *table)
{
    return (hd_graph_table *)(uintptr_t)table;
}

/* ------------------------------------------------------------------------------------- storage */

/* Regions, at least 2^bits_min of them, and vertices of a graph for n pairs. */
heddle_status hd_graph_shape(const heddle_table *table, uint64_t n, uint32_t bits_min,
                             hd_graph *graph);
/* Memory for a graph of this shape and of `room` edges. Nothing is set in it yet. */
heddle_status hd_graph_allocate(heddle_table *table, const hd_graph *shape, uint64_t room,
                                hd_graph_storage *storage);
/* Room for so many wide rows; lengths, all of them unset. */
heddle_status hd_graph_allocate_wide(heddle_table *table, hd_graph_storage *storage, uint32_t rows);
heddle_status hd_graph_allocate_lengths(heddle_table *table, hd_graph_storage *storage);
void hd_graph_free_lengths(heddle_table *table, hd_graph_storage *storage);
void hd_graph_free(heddle_table *table, hd_graph_storage *storage);
/* Makes all lists empty. */
heddle_status hd_graph_empty(heddle_table *table, hd_graph_storage *storage, void *stream);
/* Makes `storage` the table's own and frees what it had, or keeps it for hd_graph_end. */
void hd_graph_adopt(heddle_table *table, const hd_graph_storage *storage, uint64_t seed);

/* What a table was before a call that makes its graph anew several times. */
typedef struct hd_graph_before {
    uint64_t pairs;
    uint64_t growths;
    uint64_t room;            /* with the shape: of an empty graph, which is not kept */
    hd_graph shape;           /* without memory */
    hd_graph_storage storage; /* empty until another graph has taken its place */
} hd_graph_before;
heddle_status hd_graph_begin(heddle_table *table, hd_graph_before *before, void *stream);
/* Unless the call was successful the table is again as it was. */
void hd_graph_end(heddle_table *table, hd_graph_before *before, bool success, void *stream);

/* --------------------------------------------------------------------------------------- renew */

/* What a graph is made of. */
typedef struct hd_graph_feed {
    const void *keys, *values; /* n pairs to add, wherever they lie */
    uint64_t n;
    bool keep;         /* the table's own pairs too */
    uint64_t capacity; /* of the new graph, at least, in pairs */
    uint64_t seed;
    void *workspace; /* for the sorted pairs, where it suffices */
    uint64_t workspace_bytes;
    bool bounded; /* it is all there is: passes where it does not suffice, else memory of our own */
} hd_graph_feed;

/* A call of hd_graph_renew. */
typedef struct hd_renewal {
    heddle_table *table;
    const hd_graph_feed *feed;
    hd_scratch *scratch;
    hd_graph_storage storage; /* the new graph; or the table's own, which is empty */
    bool in_place;
    uint64_t live; /* the table's own pairs that are kept */
    /* The feed where the device can read it: as it is, or in copies, which lie in the scratch. */
    hd_lent keys, values;
    /* 0, or host arrays come in slices, twice, by buffers of so many elements. */
    uint64_t slice;
    hd_graph_placing placing;
    uint64_t passes;
    void *stream;
} hd_renewal;

/*
 * Gives the table a new graph, and waits. On failure the table is as it was. In one go, or in
 * passes where memory is short; where it is shorter still, with host arrays in slices.
 */
heddle_status hd_graph_renew(heddle_table *table, const hd_graph_feed *feed, void *stream);
/* Takes memory for copies of the feed's host arrays; and copies them, which is best done last. */
heddle_status hd_graph_make_room(hd_renewal *r);
heddle_status hd_graph_bring_in(hd_renewal *r);
/* passes.c: fills r->storage with all pairs in passes over ranges of regions. */
heddle_status hd_graph_renew_in_passes(hd_renewal *r);
/* Whether the table's own pairs lie in the order of the new graph's regions. */
bool hd_graph_keeps_regions(const hd_renewal *r);
/* The bytes of a workspace that hd_graph_renew uses for n pairs. */
heddle_status hd_graph_workspace(heddle_table *table, uint64_t n, uint64_t *bytes);
/* The table's own pairs, for a call. */
typedef struct hd_graph_pairs {
    heddle_table *table;
    uint64_t live; /* how many are in lists */
    hd_scratch *scratch;
    void *stream;
} hd_graph_pairs;

/* Those in lists: the edges themselves, or a copy in scratch where some were erased. */
heddle_status hd_graph_live_pairs(const hd_graph_pairs *p, hd_graph_source *source);
/* The same as keys and values; `values` NULL where they have none or nobody asks. */
heddle_status hd_graph_unzip(const hd_graph_pairs *p, void *keys, void *values);

/* --------------------------------------------------------------------------------------- fold */

/* A batch whose equal keys were brought together. All device memory, in scratch. */
typedef struct hd_folded {
    uint64_t n;        /* distinct keys */
    void *keys;        /* in no particular order */
    void *values;      /* counter: the sum of the key's values, or how often it occurs; else NULL */
    void *firsts;      /* the first row of each key in the batch */
    uint32_t row_bits; /* of firsts */
} hd_folded;

/* Keys and values of the request, in device memory; without values occurrences are counted. */
heddle_status hd_graph_fold(heddle_table *table, const hd_request *r, hd_scratch *scratch,
                            hd_folded *folded);

/* --------------------------------------------------------------- what hd_graph_kind consists of */

heddle_status hd_graph_insert(heddle_table *table, hd_request *r);
heddle_status hd_graph_build(heddle_table *table, hd_request *r);
heddle_status hd_graph_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes);
heddle_status hd_graph_find(heddle_table *table, hd_request *r);
heddle_status hd_graph_erase(heddle_table *table, hd_request *r);
heddle_status hd_graph_count(heddle_table *table, hd_request *r);
heddle_status hd_graph_retrieve(heddle_table *table, hd_request *r);
heddle_status hd_graph_collect(heddle_table *table, void *keys, void *values, void *stream);
heddle_status hd_graph_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream);
heddle_status hd_graph_clear(heddle_table *table, void *stream);
heddle_status hd_graph_reserve(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_graph_rehash(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_graph_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream);
heddle_status hd_graph_validate(heddle_table *table, void *stream);

#endif
