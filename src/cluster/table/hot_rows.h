/*
 * hot_rows.h: rows of hot keys are brought together on the member that has them, before anything is sent.
 *
 * In a table balanced by keys all rows of a key go to one member. When a key has very many of them that member is
 * sent far more than others. So every member looks at a sample of its part of the batch. Keys that are frequent enough
 * to make members uneven are its hot keys, each member's own. It makes a small table of them, takes their rows out of
 * every slice, folds them into that table by the policy of the call, and sends every hot key once, in an exchange of
 * its own when all slices have been sent. Where no member has hot keys nothing is done but the sampling.
 *
 * Why the result is the same. Let a member have the rows v1 ... vm of a key, one at least. What its owner makes of rows
 * does not depend on their order, nor on how they are grouped:
 *
 *   set             the key is there: one row says what m rows say
 *   counter, ADD    x + v1 + ... + vm = x + (0 + v1 + ... + vm), wrapping; a row without a value is a 1
 *   MIN, MAX        min(x, v1, ..., vm) = min(x, min(largest number, v1, ..., vm)); likewise max with 0
 *   KEEP, REPLACE   where the value of one of several equal keys of a batch wins it is not specified which: the
 *                   one that was met in the sample is sent
 *
 * Totals: the owner counts the one row that it gets as inserted if the key is new to it, else as updated or kept, as
 * the policy says of a key that is there. Of m rows all but one find it there in any case. So m - 1 are counted
 * as updated or kept by the member that has folded them. Where rows have failed, each member asks which of its hot
 * keys are not in the table, and counts the rows of these as failed instead.
 */
#ifndef HD_HOT_ROWS_H
#define HD_HOT_ROWS_H

#include "cluster/send.h"

struct hd_inserting;

typedef struct hd_hot_rows {
    uint32_t n;          /* hot keys of this member; 0: no rows are folded here */
    uint64_t *hot_keys;  /* host memory */
    uint64_t *hot_rows;  /* a row of each, in the member's part of the batch */
    uint64_t expected;   /* rows of them, by the sample */
    uint64_t folded;     /* rows that were taken out of slices, less those that are sent */
    heddle_table *table; /* the hot keys, with what their rows have come to */
    bool folds;          /* values of rows matter: they go into that table */
    hd_few few;          /* the same keys, to mark rows by; bits are 0 where they are too many */
    hd_buffer few_keys, few_used;
    heddle_table *fresh; /* NULL, or a table like it, for the hot rows of one slice */
    hd_buffer flags, rows, count, work;
    hd_buffer keys,
        values; /* rows of a slice that go on, or that are folded; hot keys when they are sent */
    hd_router router;  /* of the hot keys */
    uint64_t at, come; /* hot keys of all members that came here, and where they were gathered */
    hd_buffer answers; /* to these */
} hd_hot_rows;

/* Whether the call is of a kind that may have hot keys; then samples and finds the member's hot keys. What there is no
   memory for is left alone. */
heddle_status hd_hot_find(struct hd_inserting *p);
/* Elements of a column of the caller, given by rows of the member's part, into host memory. */
heddle_status hd_hot_read(struct hd_inserting *p, const char *column, uint32_t width,
                          const uint64_t *rows, uint64_t n, char *out);
/* When it is known that some member has hot keys: takes all memory. A member without enough folds nothing. */
heddle_status hd_hot_begin(struct hd_inserting *p);
/* Takes the rows of hot keys out of a slice in memory of the device. What is left is in memory of its own. */
heddle_status hd_hot_take(struct hd_inserting *p, hd_slice *slice);
/*
 * Sends the hot keys with what they have come to, when all slices are there, and counts the rows that were folded. Agreed
 * upon.
 */
heddle_status hd_hot_send(struct hd_inserting *p);
/* Where rows have failed: those of hot keys that are not in the table have failed, too. In the totals of all members;
   agreed upon. */
heddle_status hd_hot_settle(struct hd_inserting *p, heddle_totals *totals);
void hd_hot_end(hd_hot_rows *hot);

#endif
