/*
 * answers_of_all.h: independent mode: all members have been asked the same questions, and their answers are made one,
 * by the rules of HEDDLE_MODE_INDEPENDENT, in host memory.
 */
#ifndef HD_MERGE_H
#define HD_MERGE_H

#include "cluster/members.h"

typedef struct hd_merge {
    hd_member *member;
    uint8_t *host; /* the answers of all members, and the merged ones; one block */
    uint64_t slice;
    uint32_t width;
} hd_merge;

/* The answers to n questions: those of member 0 first, then those of member 1, ... */
typedef struct hd_merge_job {
    uint64_t n;
    const void *found;  /* device memory: flags; NULL: a value that is not 0 is found */
    const void *values; /* device memory, or NULL */
    uint32_t width;     /* bytes of a value */
    bool sums;          /* values are added up; else the first that is found counts */
    uint8_t *found_out; /* the caller's arrays; either may be NULL */
    char *values_out;
} hd_merge_job;

/* For slices of so many questions. hd_merge_end frees it, also after a failure. */
heddle_status hd_merge_begin(hd_merge *merge, hd_member *member, uint64_t slice, uint32_t width);
/* Adds to `found` and `absent` of the totals. */
heddle_status hd_merge_answers(hd_merge *merge, const hd_merge_job *job, heddle_totals *totals);
void hd_merge_end(hd_merge *merge);

#endif
