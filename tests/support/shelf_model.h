/*
 * shelf_model.h: a shelf and its model. Every call is made on both, and everything it says is compared. The model is
 * that of shared_model.h.
 */
#ifndef TEST_SHELF_MODEL_H
#define TEST_SHELF_MODEL_H

#include "support/shared_model.h"

typedef struct shelved {
    heddle_device *device;
    heddle_shelf *shelf;
    heddle_shelf_options options;
    char directory[400];
    shared model; /* of this, options, pairs and size are used */
} shelved;

/* Calls `run` for every kind of table that is compiled, on every device that is tested. */
typedef void (*shelved_function)(const shared_kind *kind, const char *device);
void shelved_run(shelved_function run);

/* A new, empty shelf in a directory of the test's own. `memory` 0: as the library chooses. */
shelved shelved_create(const shared_kind *kind, const char *device, uint64_t memory);
/* The same with other options; the progress function among them. */
shelved shelved_create_with(const shared_kind *kind, const char *device,
                            const heddle_shelf_options *options);
/* Closes the shelf and opens it again. */
void shelved_reopen(shelved *s);
/* Closes the shelf and removes its directory. */
void shelved_destroy(shelved *s);
/* Removes a directory with the files in it. */
void shelved_remove(const char *directory);
/* The files of the directory that are neither the manifest, nor the lock, nor a part that counts. */
uint32_t shelved_files(const shelved *s);
/* The path of one of its parts. */
void shelved_a_part(const shelved *s, char *path, size_t room);

void shelved_build(shelved *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                   bool outcomes);
void shelved_insert(shelved *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                    uint32_t policy, bool outcomes);
void shelved_erase(shelved *s, const uint64_t *keys, uint64_t n);
/* contains, find, count and retrieve of these keys. */
void shelved_look(shelved *s, const uint64_t *keys, uint64_t n);
/* The shelf holds exactly what the model holds: size, export, statistics, files, validate. */
void shelved_check(shelved *s);
/* The pairs alone: no file is counted. */
void shelved_check_pairs(shelved *s);
/* The same as a truth, by export alone. */
bool shelved_holds(shelved *s, const shared_pair *pairs, uint64_t size);
heddle_shelf_stats shelved_stats(shelved *s);

#endif
