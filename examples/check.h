/* check.h: ends the program with the library's own sentence when a call has failed. */
#ifndef CHECK_H
#define CHECK_H

#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>

static inline void check(heddle_status status)
{
    if (status == HEDDLE_OK) return;
    fprintf(stderr, "%s: %s\n", heddle_status_string(status), heddle_last_error());
    exit(EXIT_FAILURE);
}

#endif
