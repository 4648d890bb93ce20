/*
 * model.h: a model of how long a build over a cluster takes, for the machine at hand, where it is held against
 * what was measured, and for machines that are not there. It is arithmetic alone: check.c measures what goes
 * in, and prints.
 *
 * A phase reads and writes a number of bytes for every row (docs/design/cluster.md); these go through the memory of all
 * devices at the rate of a copy. What is exchanged goes over the links at the same time, so the slower of the two
 * counts. A member builds its part at the rate of a single table. Phases follow one another; all wait for the fullest
 * member. There is no latency, no congestion, and the rows lie on the devices of their members.
 */
#ifndef BENCH_DIST_MODEL_H
#define BENCH_DIST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* In the order of HEDDLE_PHASE_*. */
enum { MODEL_PARTITION, MODEL_REORGANISE, MODEL_EXCHANGE, MODEL_BUILD, MODEL_PHASES };

/* What a row costs: bytes read and written in memory, none for the build, which has a rate of its own; bytes sent. */
typedef struct model_row {
    double memory[MODEL_PHASES];
    double sent;
} model_row;

typedef struct model_machine {
    uint32_t devices; /* different ones: members that share one share its rates too */
    double copy;      /* bytes read and written a second, of one device */
    double build;     /* rows a second of a single table on one device */
    uint32_t ends;    /* of links: processes, or devices of one process; 1: none */
    double link;      /* bytes a second from one end to the others; no matter with one end */
    double uneven;    /* what the fullest member has beyond the mean, as a share of it */
} model_machine;

typedef struct model_times {
    double seconds[MODEL_PHASES];
    double all;
} model_times;

/*
 * `counts`: rows are counted by bin first, as in tables balanced by rows. `direct`: pairs are written to their members
 * at once, and nothing is left to exchange.
 */
model_row model_row_of(uint32_t key_bytes, uint32_t value_bytes, bool counts, bool direct);

/* How much more than the mean a member owns, because bins are not divided; 0 where it comes out even. */
double model_uneven(uint32_t members);

/* The times of a build of so many rows of all members together. */
model_times model_build(const model_row *row, const model_machine *machine, double rows);

/* As many devices like those of `here`, each with a link of its own; false with more members than a cluster may have. */
bool model_scale(const model_machine *here, uint32_t devices, double link, model_machine *there);

#endif
