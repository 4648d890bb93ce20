/*
 * cluster_model.h: a table of a cluster and its model. Every call is made on both, and everything it says is
 * compared. The model is all pairs, sorted by key and then by value; of a set, map or counter each key is
 * there once.
 *
 * In a batch for a map equal keys must come with equal values under KEEP and REPLACE (shared_values), so that
 * it does not matter which of them wins.
 */
#ifndef TEST_GROUP_MODEL_H
#define TEST_GROUP_MODEL_H

#include "support/cases.h"

typedef struct shared_pair {
    uint64_t key, value;
} shared_pair;

typedef struct shared {
    heddle_cluster *cluster;
    heddle_cluster_table *table;
    heddle_table_options options; /* as given, with value_bits as chosen */
    uint32_t members;
    bool processes;     /* totals are not of this process's keys alone */
    shared_pair *pairs; /* the model */
    uint64_t size;
} shared;

/* A kind of table that groups are tested with. */
typedef struct shared_kind {
    const char *name;
    uint32_t container, scheme, key_bits, value_bits;
} shared_kind;
extern const shared_kind shared_kinds[];
extern const uint32_t shared_kind_count;

/* Group sizes that are tested. */
extern const uint32_t shared_members[];
extern const uint32_t shared_members_count;

/*
 * Calls `run` for every kind of table that is compiled and every number of members, on clusters of every
 * device that is tested, and of these mixed.
 */
typedef void (*shared_function)(const shared_kind *kind, const char *devices, uint32_t members);
void shared_run(shared_function run);
/* The same for one number of members. */
void shared_run_with(shared_function run, uint32_t members);
/* The same without tables: on clusters of every device that is tested, and of these mixed. */
typedef void (*shared_devices)(const char *devices, uint32_t members, void *context);
void shared_run_devices(shared_devices run, void *context, uint32_t members);

/* HEDDLE_MODE_* of the tables that are made; distributed unless a test says otherwise. */
extern uint32_t shared_mode;
/* `slice` 0: as the library chooses. */
shared shared_create(const shared_kind *kind, const char *devices, uint64_t slice,
                     const heddle_table_options *options);
void shared_destroy(shared *s);
heddle_table_options shared_options(const shared_kind *kind);

/* Values that are the same for equal keys, and others in another batch. */
void shared_values(uint64_t *values, const uint64_t *keys, uint64_t n, uint64_t batch);

/* With outcomes or without. Values may be NULL in a set, and in a counter. */
void shared_build(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                  bool outcomes);
void shared_insert(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                   uint32_t policy, bool outcomes);
void shared_erase(shared *s, const uint64_t *keys, uint64_t n);
/* contains, find, count and retrieve of these keys. */
void shared_look(shared *s, const uint64_t *keys, uint64_t n);
/* The table holds exactly what the model holds: size, export, statistics, validate. */
void shared_check(shared *s);
/* The same as a truth, without validate. */
bool shared_holds(shared *s, const shared_pair *pairs, uint64_t size);
/* What the model becomes. */
void shared_model_add(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                      uint32_t policy);
/* How many pairs of the model have this key, and the first of them. */
uint64_t shared_model_find(const shared *s, uint64_t key, uint64_t *first);

/* Numbers in `bits` bits, as calls take them; caller frees. */
void *shared_narrow(const uint64_t *numbers, uint64_t n, uint32_t bits);
uint64_t shared_at(const void *numbers, uint64_t i, uint32_t bits);

#endif
