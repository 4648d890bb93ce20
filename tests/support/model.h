/*
 * model.h: what a set or map of integers is, written so plainly that it can be trusted.
 *
 * A chained hash table of 64-bit keys and values, one thread, one key at a time. The tests mirror
 * every call to the library on a model and compare.
 */
#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct model model;

model *model_create(void);
void model_destroy(model *m);
uint64_t model_size(const model *m);
/* Whether `key` is there; its value goes to *value, which may be NULL. */
bool model_find(const model *m, uint64_t key, uint64_t *value);
/* Adds the pair, or gives the key that is there this value. */
void model_set(model *m, uint64_t key, uint64_t value);
/* Whether `key` was there; it no longer is. */
bool model_erase(model *m, uint64_t key);
void model_clear(model *m);
/* All pairs, in any order, to arrays of model_size() elements; either may be NULL. */
void model_export(const model *m, uint64_t *keys, uint64_t *values);

/* The value a key has after `given` was inserted by HEDDLE_POLICY_* onto `there`. */
uint64_t model_combine(uint32_t policy, uint64_t there, uint64_t given, uint32_t value_bits);

#endif
