/*
 * graph.h: `heddle bench graph`, a hashgraph as a multimap whose values are row numbers; and
 * `heddle bench multimap`, the same with multimaps of any scheme.
 *
 *   graph.c   goes through the combinations: rows, tables, lines of the result
 *   ops.c     the operations
 *   check.c   their answers
 *   paper.c   the builds of the HashGraph paper
 */
#ifndef BENCH_GRAPH_H
#define BENCH_GRAPH_H

#include "bench/array.h"
#include "bench/line.h"

/*
 * What an operation is asked with: nothing, all rows in another order, as many missing keys, every
 * key once; the rows where lists are short and every key once where some are long; or as many different
 * keys as there are rows, each key of the table among them.
 */
enum {
    BENCH_ASK_NOTHING,
    BENCH_ASK_ROWS,
    BENCH_ASK_MISSING,
    BENCH_ASK_EACH,
    BENCH_ASK_LISTS,
    BENCH_ASK_RANGE
};

typedef struct bench_graph {
    bench *b;
    bench_rows rows;     /* what the graph holds: a key and its row number as value */
    double copies;       /* as asked for */
    uint64_t *counts;    /* host: how many rows each key number has */
    void *keys, *values; /* device memory, a row each, as are the next four */
    void *queries, *answers;
    uint8_t *found;
    uint64_t *matches; /* counts, or offsets: one more */
    bench_rows asked;  /* what `queries` holds */
    uint32_t ask;      /* which of BENCH_ASK_* that is */

    heddle_table *table;
    double vertices, load;
    uint32_t variant, bucket, scheme;
    double share;    /* of the scratch memory, as asked for; 0: no workspace */
    void *workspace; /* device memory: the share for all rows */
    uint64_t workspace_bytes;
    bool full;           /* the table holds all rows */
    heddle_table *other; /* of the queries, with their places as values; NULL until it is needed */
    uint64_t common;     /* pairs of values that both tables have a key in common for */
} bench_graph;

typedef struct bench_graph_op {
    uint32_t ask;
    bool pairs; /* the rate counts pairs, else queries */
    uint32_t roof;
    int (*prepare)(bench_graph *g); /* before every run, not timed; or NULL */
    heddle_status (*call)(bench_graph *g);
    int (*verify)(bench_graph *g, bool *right); /* with the answers of the last run */
} bench_graph_op;

/* The operations by BENCH_BUILD, ...; call is NULL where there is none. */
extern const bench_graph_op bench_graph_ops[BENCH_OPS];
/* The same for the benchmark at hand: an insertion into a multimap begins with an empty one. */
const bench_graph_op *bench_graph_op_of(const bench_graph *g, uint32_t op);

/* graph.c */
/* Makes the queries, unless they are there already. */
int bench_graph_ask(bench_graph *g, uint32_t ask);
/* Makes the table of the queries, empty and with room for them, unless it is there. */
int bench_graph_other(bench_graph *g);
/* One line of the result. `bytes` of the graph; `asked` queries. */
void bench_graph_report(bench_graph *g, const double *at, uint64_t asked, uint64_t bytes,
                        const bench_result *result);
/* The roof of operations of that kind. */
int bench_graph_roof(bench_graph *g, uint32_t kind, uint64_t bytes, double *roof);
/* Fills answers, flags and matches with BENCH_POISON. */
int bench_graph_poison(bench_graph *g);

/* ops.c */
/* Builds the table from all rows, unless it holds them. */
int bench_graph_fill(bench_graph *g);
/* All values of the queries, which have no more than there are rows. */
heddle_status bench_graph_retrieve(bench_graph *g);

/* check.c */
int bench_graph_check_built(bench_graph *g, bool *right);
int bench_graph_check_found(bench_graph *g, bool *right);
int bench_graph_check_contained(bench_graph *g, bool *right);
int bench_graph_check_counted(bench_graph *g, bool *right);
int bench_graph_check_retrieved(bench_graph *g, bool *right);
int bench_graph_check_erased(bench_graph *g, bool *right);
int bench_graph_check_common(bench_graph *g, bool *right);

/* paper.c */
/* Measures and reports a build by BENCH_V1 or BENCH_V2 from g->rows. */
int bench_graph_paper(bench_graph *g, const double *at);

/* Refuse what does not fit; measure and report every combination. */
int bench_graph_check(bench *b);
int bench_graph_run(bench *b);

#endif
