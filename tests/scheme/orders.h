/*
 * orders.h: runs a few threads of atomic steps in every order.
 *
 * The threads are functions that call orders_step before each atomic step and orders_saw with what it gave.
 * One of them runs at a time. At every step each of those that are not done yet may be the next: all of these
 * choices are gone through, by running everything from the start again with other choices. What a thread will
 * do depends on the shared memory and on what it has seen since it last called orders_at; so where all of that
 * has been met before, the run ends. That also ends the runs in which a thread waits for another forever.
 */
#ifndef HEDDLE_TEST_ORDERS_H
#define HEDDLE_TEST_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#define ORDERS_THREADS 3

typedef struct orders {
    int threads;
    void (*reset)(void *context);           /* shared memory as it is at first */
    void (*run)(void *context, int thread); /* one thread, from its beginning to its end */
    uint64_t (*state)(void *context);       /* a hash of the shared memory */
    void (*check)(void *context);           /* after every run that came to its end */
    void *context;
} orders;

typedef struct orders_counts {
    uint64_t states, ends; /* that were met; runs that came to their end */
} orders_counts;

/* All orders of all steps. */
orders_counts orders_explore(const orders *o);

/* For the threads: another may go on now. */
void orders_step(void);
/* This is what the step gave; returned as it is. */
uint64_t orders_saw(uint64_t what);
/* The thread is at a place where `what` is all that matters of what it has seen. */
void orders_at(uint64_t what);

uint64_t orders_hash(uint64_t hash, const void *bytes, uint64_t n);

#endif
