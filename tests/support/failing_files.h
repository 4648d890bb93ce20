/*
 * failing_files.h: stands between the library and the functions of the system on files. A program that is linked with
 * failing_files.c has them under their own names, so that the library, which is linked statically, calls these; they
 * call the system's.
 *
 * While a plan is armed, the calls of the thread that armed it are counted, and what the plan says happens to them. A
 * call that fails is not made, except that close does close. Standard input and output (fopen and the like) are not
 * covered: the library does not use them. tests/tool/test_file_functions.sh checks that it uses nothing else, either.
 */
#ifndef TEST_FAILING_FILES_H
#define TEST_FAILING_FILES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct failing_plan {
    uint64_t at;     /* this call, counted from 1, fails or kills; 0: none */
    uint32_t error;  /* with this one, counted from 0, of the errors that fit its function */
    bool kills;      /* the process is killed before the call */
    bool interrupts; /* every other call that a signal can end is ended by one */
    uint64_t piece;  /* bytes that one call reads or writes at most; 0: any number */
    bool is_full;    /* the disk has `room` bytes left */
    uint64_t room;
} failing_plan;
#define FAILING_NONE                                                                               \
    {                                                                                              \
        0, 0, false, false, 0, false, 0                                                            \
    }

/* What has happened since the plan was armed. */
typedef struct failing_report {
    uint64_t calls;
    const char *struck; /* the function that failed, or NULL */
    int error;          /* with which it did */
    uint32_t errors;    /* how many fit it */
    bool must_be_told;  /* a call of the library that is OK all the same has lost something */
    uint64_t written;   /* bytes that were written or reserved */
    /* Not NULL: what was done too early for a machine that stops in the middle. */
    const char *careless;
} failing_report;

void failing_arm(const failing_plan *plan);
failing_report failing_disarm(void);
/* The files that this process has open. */
uint32_t failing_open_files(void);
/* Calls of each function since the program began, in words, for a test that wants to see them. */
uint64_t failing_calls(const char *function);

#endif
