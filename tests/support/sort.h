/*
 * sort.h: the orders in which tests compare what a table gave with what it should have given. By radix:
 * the models sort more than everything else together does.
 */
#ifndef HEDDLE_TEST_SORT_H
#define HEDDLE_TEST_SORT_H

#include <stdint.h>

/* Ascending. */
void sort_numbers(uint64_t *numbers, uint64_t n);
/* n pairs of two numbers that follow each other, ascending by the first, equal ones by the second. */
void sort_pairs(void *pairs, uint64_t n);

#endif
