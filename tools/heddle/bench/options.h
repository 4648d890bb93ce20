/* options.h: what `heddle bench` was asked for. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench/axes.h"
#include "bench/line.h"
#include "command/command.h"

#define BENCH_REPEAT_MAX 1000
#define BENCH_SEEDS_MAX 1000000

/* The sweeps, in the order of bench_sweep_names. */
enum {
    BENCH_SWEEP_LOAD,
    BENCH_SWEEP_BUCKET,
    BENCH_SWEEP_HASHES,
    BENCH_SWEEP_HIT,
    BENCH_SWEEP_KEYS,
    BENCH_SWEEP_SUCCESS,
    BENCH_SWEEPS,
    BENCH_SWEEP_NONE = BENCH_SWEEPS
};
extern const char *const bench_sweep_names[BENCH_SWEEPS];

/* What is measured, in the order of their names. */
enum {
    BENCH_MAP,
    BENCH_SET,
    BENCH_GRAPH,
    BENCH_JOIN,
    BENCH_GROUP,
    BENCH_UNIQUE,
    BENCH_FILTER,
    BENCH_MULTIMAP,
    BENCH_COUNTER,
    BENCH_MIXTURES,
    BENCH_SUBJECTS
};

/* What is asked of the groups of unique, in the order of the words. */
enum { BENCH_UNIQUE_ROWS, BENCH_UNIQUE_KEYS, BENCH_UNIQUE_SIZES, BENCH_UNIQUE_FIRST };

typedef struct bench_options {
    uint32_t subject;   /* BENCH_MAP, ... */
    uint32_t container; /* HEDDLE_CONTAINER_* of a map or a set */
    uint32_t scheme;    /* HEDDLE_SCHEME_* of a map or a set */
    double threshold;   /* of an iceberg table; 0 until it is named */
    const char *device;
    const char *commit;            /* NULL when not told */
    uint32_t key_bits, value_bits; /* value_bits is UINT32_MAX until it is named */
    uint32_t row_bits;             /* of row numbers in relations; 0: 32 where that suffices */
    uint64_t left, right;          /* rows of a join; 0 where --keys says it */
    uint32_t type;                 /* HEDDLE_TYPE_* of what is aggregated */
    bool count_only;               /* joins are not fetched */
    bool with_keys;                /* groups give their keys too */
    bool at_once;                  /* aggregates are named when groups are made */
    uint32_t ask;                  /* BENCH_UNIQUE_*: what is asked of groups */
    uint32_t repeat;
    uint32_t format; /* BENCH_TABLE, BENCH_CSV or BENCH_JSON */
    uint64_t seed;
    bool verify;
    uint32_t sweeps; /* bit i for sweep i; 0 in a plain benchmark */
    uint32_t seeds;  /* of the success sweep; 0 until they are named */
    bench_axes axes; /* in a sweep only what was named */
} bench_options;

/* What every subject takes, by the bits 1 << BENCH_MAP, ...; operations.c: the words of some. */
#define BENCH_OPTION_COUNT 56
extern const tool_option bench_option_list[BENCH_OPTION_COUNT];
extern const tool_word bench_words_of_table[], bench_words_of_graph[], bench_words_of_multimap[],
    bench_words_of_counter[], bench_words_of_filter[], bench_words_of_mixed[],
    bench_words_of_sweeps[], bench_words_of_graph_variants[], bench_words_of_multimap_variants[],
    bench_words_of_distributions[], bench_words_of_orders[];

/* subjects.c: the commands, in the order of BENCH_MAP, BENCH_SET, ... */
extern const tool_command bench_subjects[BENCH_SUBJECTS];
/* Reads the arguments of a command of subjects.c. TOOL_OK, or TOOL_REFUSED when it has said why. */
int bench_options_read(const tool_command *command, int argc, char **argv, bench_options *options);
/* The list of an axis of which nothing is said: what help says is usual. */
void bench_options_usual(bench_options *options, uint32_t axis);
/* settle.c: defaults, and what does not go together. Returns the same. */
int bench_options_settle(bench_options *options);

/* "map", "set", "graph", ... */
const char *bench_subject_name(const bench_options *options);
/* "u32" to "f64"; type - 1 is the place. */
#define BENCH_TYPES 6
extern const char *const bench_type_names[BENCH_TYPES];

#endif
