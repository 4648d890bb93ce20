/*
 * shelf_endings.h: calls on a small shelf that a test brings to an early end, and what they make of the model when they
 * do come to their end.
 */
#ifndef TEST_SHELF_ENDINGS_H
#define TEST_SHELF_ENDINGS_H

#include "support/shelf_model.h"

typedef struct ending {
    const char *name;
    heddle_status (*call)(shelved *s);
    void (*model)(shared *m); /* what a success makes of the model; NULL: nothing */
} ending;

/* Those that write come first. */
#define ENDINGS_WRITE 4
#define ENDINGS_SPILL 6 /* and those that write a batch */
#define ENDINGS 9
extern const ending endings[ENDINGS];

/* The keys and values for a kind of table. */
void endings_prepare(const shared_kind *kind);
void endings_free(void);
/* A shelf with some of them, and little memory. */
shelved endings_filled(const shared_kind *kind, const char *device,
                       const heddle_shelf_options *options);
/* A call on such a shelf, which can be laid out again as it was filled, in its files and in the model. */
typedef struct ending_case {
    const ending *ending;
    shelved s;
    shared_pair *pairs; /* as it was filled */
    uint64_t size;
    char filled[440]; /* a copy of its directory */
} ending_case;
/* The shelf is closed. */
ending_case ending_case_make(const shared_kind *kind, const ending *e);
/* Closes the shelf first, where it is open. */
void ending_case_lay(ending_case *c);
void ending_case_free(ending_case *c);

/* One kind of every sort, where each takes long. */
bool endings_has(const shared_kind *kind);

#endif
