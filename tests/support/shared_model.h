/*
 * shared_model.h: the model of what is made of several tables: a table of a cluster (cluster_model.h), a shelf
 * (shelf_model.h). Every call is made on both, and everything it says is compared. The model is all pairs, sorted by
 * key and then by value; of a set, map or counter each key is there once.
 *
 * In a batch for a map equal keys must come with equal values under KEEP and REPLACE (shared_values), so that
 * it does not matter which of them wins.
 */
#ifndef TEST_SHARED_MODEL_H
#define TEST_SHARED_MODEL_H

#include "support/cases.h"

typedef struct shared_pair {
    uint64_t key, value;
} shared_pair;

typedef struct shared shared;

/* The calls of what is tested, as heddle_cluster_table_* and heddle_shelf_* have them. */
typedef struct shared_calls {
    heddle_status (*build)(const shared *s, const void *keys, const void *values, uint64_t n,
                           const heddle_insert_options *options, heddle_totals *totals);
    heddle_status (*insert)(const shared *s, const void *keys, const void *values, uint64_t n,
                            const heddle_insert_options *options, heddle_totals *totals);
    heddle_status (*erase)(const shared *s, const void *keys, uint64_t n, uint8_t *found,
                           heddle_totals *totals);
    heddle_status (*contains)(const shared *s, const void *keys, uint64_t n, uint8_t *found,
                              heddle_totals *totals);
    heddle_status (*find)(const shared *s, const void *keys, uint64_t n, void *values,
                          uint8_t *found, heddle_totals *totals);
    heddle_status (*count)(const shared *s, const void *keys, uint64_t n, uint64_t *matches,
                           heddle_totals *totals);
    heddle_status (*retrieve)(const shared *s, const void *keys, uint64_t n, uint64_t *offsets,
                              void *values, uint64_t capacity, uint64_t *count);
    heddle_status (*export)(const shared *s, void *keys, void *values, uint64_t capacity,
                            uint64_t *size);
    heddle_status (*for_all)(const shared *s, heddle_visitor visit, void *context);
    heddle_status (*size)(const shared *s, uint64_t *size);
} shared_calls;

struct shared {
    const shared_calls *calls;
    heddle_cluster *cluster; /* of a table of a cluster */
    heddle_cluster_table *table;
    heddle_shelf *shelf;
    heddle_table_options options; /* as given, with value_bits as chosen */
    uint32_t members;
    bool processes;     /* totals are not of this process's keys alone */
    shared_pair *pairs; /* the model */
    uint64_t size;
};

/* A kind of table that is tested. */
typedef struct shared_kind {
    const char *name;
    uint32_t container, scheme, key_bits, value_bits;
} shared_kind;
extern const shared_kind shared_kinds[];
extern const uint32_t shared_kind_count;
bool shared_is_compiled(const shared_kind *kind);
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
/* The table holds exactly the pairs of the model: size, export, for_all. */
void shared_check_pairs(const shared *s);
/* The same as a truth, by export alone. */
bool shared_holds(const shared *s, const shared_pair *pairs, uint64_t size);
/* What the model becomes. */
void shared_model_add(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                      uint32_t policy);
/* How many pairs of the model have this key, and the first of them. */
uint64_t shared_model_find(const shared *s, uint64_t key, uint64_t *first);

/* Numbers in `bits` bits, as calls take them; caller frees. */
void *shared_narrow(const uint64_t *numbers, uint64_t n, uint32_t bits);
uint64_t shared_at(const void *numbers, uint64_t i, uint32_t bits);

#endif
