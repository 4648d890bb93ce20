/* cluster_model.h: tables of clusters beside their model (shared_model.h), on clusters of all that is tested. */
#ifndef TEST_CLUSTER_MODEL_H
#define TEST_CLUSTER_MODEL_H

#include "support/shared_model.h"

/* Numbers of members that are tested. */
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

/* For tests that make the table themselves. */
extern const shared_calls *const shared_cluster_calls;

/* The table holds exactly what the model holds: size, export, for_all, statistics, validate. */
void shared_check(shared *s);

#endif
