/*
 * tool.h: what the commands of the `heddle` program share. Its rooms:
 *
 *   main.c      finds the command and hands over to it
 *   commands.c  the list of commands; help, manual pages, completions
 *   command/    what a command takes, in tables, and all that is made of them (command/command.h)
 *   info/       `heddle info`: what this library is and what it can run on
 *   bench/      `heddle bench` and `heddle skew`: measures (bench/bench.h)
 *   advise/     `heddle advise`: which scheme, with which parameters, and why
 *   shelf/      `heddle shelf`: tables larger than memory from column files (shelf/calls.h)
 *   read.c      numbers, words and lists as people write them (read.h)
 *   progress.c  a bar on stderr (progress.h)
 */
#ifndef TOOL_H
#define TOOL_H

#include <heddle/heddle.h>

#include "command/command.h"

/* Exit statuses. */
#define TOOL_OK 0
#define TOOL_FAILED 1  /* the library failed, or an answer was wrong */
#define TOOL_REFUSED 2 /* the request makes no sense, or its device is not there */

/* Prints one line to stderr; never in the middle of a progress bar. */
void tool_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and returns TOOL_REFUSED. */
int tool_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* TOOL_OK for HEDDLE_OK; else says what failed and why, and returns TOOL_FAILED. */
int tool_try(heddle_status status, const char *what);

/* The commands; commands.c lists them. */
extern const tool_command info_page, dist_page, shelf_bench_page, skew_page, advise_page;
extern const tool_command shelf_pages[];
/* bench/bench.c: what the commands of bench/subjects.c call. */
int bench_command(const tool_command *command, int argc, char **argv);

#endif
