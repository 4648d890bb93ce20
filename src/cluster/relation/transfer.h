/*
 * transfer.h: rows of a relation on their way to the members that own their keys, and answers on the way back.
 *
 * Rows have any number of columns, and more may follow the same way: values to be summed up, and numbers of groups
 * that go back. Slice by slice the way is found, by one key or hash for each row, and the columns go it at once, while
 * the slice is in the cache. Where more is to follow it is kept: for every slice, the rows in the order in which they
 * were sent, and how many went to and came from every member. Rows that arrive are in the order of slices and, within
 * one, of the members that sent them; every column has them in the same order.
 */
#ifndef HD_TRANSFER_H
#define HD_TRANSFER_H

#include "cluster/members.h"

typedef struct hd_transfer {
    hd_member *member;
    uint64_t first, n;      /* this member's rows of the caller's arrays */
    uint64_t base;          /* the number of the first of them in the whole cluster */
    uint64_t slice, rounds; /* the rounds are agreed upon */
    uint64_t arrived;       /* rows that come here */
    bool kept;              /* columns may go the same way again */
    hd_buffer order;   /* kept: rows of their slice, 32 bits, in the order in which they are sent */
    uint64_t *send;    /* for every member, in every round where that is kept */
    uint64_t *receive; /* the same */
    uint64_t *back;    /* for every member */
} hd_transfer;

/* How the way is found. */
typedef struct hd_way {
    const hd_spread *spread;
    uint32_t key_bits;
    const void *keys; /* of 32 or 64 bits, one for each row of this member */
    uint64_t sent;    /* rows, as often as they will go out */
} hd_way;

/* Where a column that travels comes from. */
enum {
    HD_MOVED_COLUMN,  /* the caller's array */
    HD_MOVED_KEYS,    /* the same, and it is what the way is found by */
    HD_MOVED_NUMBERS, /* the numbers of the rows in the whole cluster, 4 or 8 bytes */
    HD_MOVED_ONES /* bytes that are 1: flags of a column that has no nulls here, but elsewhere */
};

typedef struct hd_moved {
    uint32_t kind;
    uint32_t width;   /* bytes of an element */
    const char *user; /* of all members of this process */
    hd_buffer to;     /* the elements that arrive */
    hd_buffer staged, outgoing;
} hd_moved;

#define HD_MOVED_MAX HD_ARRAYS_MAX

/* The rows of the caller's arrays that this member sends, and in how many slices; rounds are its own. */
void hd_transfer_begin(hd_transfer *transfer, hd_member *member, uint64_t rows);
/* Finds the way and moves columns; `base`, `rounds`, `arrived` and `kept` have been set. All members together; the
   status is agreed upon. */
heddle_status hd_transfer_send(hd_transfer *transfer, heddle_status mine, const hd_way *way,
                               hd_moved *moved, uint32_t count);
/* Moves other columns the same way, which was kept; likewise. */
heddle_status hd_transfer_send_more(hd_transfer *transfer, heddle_status mine, hd_moved *moved,
                                    uint32_t count);
/*
 * Sends elements, one for each row that has arrived, in that order, back to where the rows came from, into the
 * caller's array. Rows must not have been copied. All members together; the status is agreed upon.
 */
heddle_status hd_transfer_return(hd_transfer *transfer, heddle_status mine, const void *from,
                                 uint32_t width, char *user);
void hd_transfer_end(hd_transfer *transfer);
void hd_moved_free(hd_moved *moved);

#endif
