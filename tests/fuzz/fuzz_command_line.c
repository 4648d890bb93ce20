/*
 * fuzz_command_line.c: the bytes are what follows `heddle`, an argument a line; see fuzz.h. The tool's own readers take
 * them: the tables of options, and what is checked before anything is opened. What a command then does is not done: here
 * are its functions that only read, and fuzz.cmake leaves out the files that measure and that make the calls of a shelf.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/dist/dist.h"
#include "bench/options.h"
#include "bench/shelf/shelf.h"
#include "fuzz.h"
#include "shelf/calls.h"
#include "tool.h"

#define ARGUMENTS_MOST 64

/* main.c's main under another name. */
int heddle_tool_main(int argc, char **argv);

static uint64_t said_bytes, said_lines; /* on stderr, by the last call */

int shelf_run(const shelf_options *options)
{
    fuzz_check(options->directory != NULL && options->directory[0] != 0,
               "a shelf without a directory");
    fuzz_check(options->command < SHELF_COMMANDS, "there is no command %u", options->command);
    return TOOL_OK;
}

static ssize_t count_said(void *context, const char *data, size_t size)
{
    (void)context;
    said_bytes += size;
    for (size_t i = 0; i < size; i++) said_lines += data[i] == '\n';
    return (ssize_t)size;
}

static ssize_t drop(void *context, const char *data, size_t size)
{
    (void)context, (void)data;
    return (ssize_t)size;
}

/* The values that a whole command line may have. */
static void check_bench(const bench_options *o)
{
    fuzz_check(o->subject < BENCH_SUBJECTS && o->repeat >= 1 && o->repeat <= BENCH_REPEAT_MAX &&
                   o->seeds <= BENCH_SEEDS_MAX && (o->key_bits == 32 || o->key_bits == 64),
               "bench takes options that cannot be");
}

/* bench/bench.c's, without the benchmark. */
int bench_command(const tool_command *command, int argc, char **argv)
{
    static bench_options o;
    const int status = bench_options_read(command, argc, argv, &o);
    if (status == TOOL_OK) check_bench(&o);
    return status;
}

/* Reads the arguments of a command as its own function does first. */
static int read_command(const tool_command *command, int argc, char **argv)
{
    static union {
        dist_options dist;
        shelf_bench shelf;
        uint64_t words[512];
    } o;
    memset(&o, 0, sizeof o);
    if (command == &dist_page) return dist_options_read(command, argc, argv, &o.dist);
    if (command == &shelf_bench_page) return shelf_bench_read(command, argc, argv, &o.shelf);
    if (command == &skew_page || command == &info_page)
        return command_read(command, argc, argv, &o);
    return command->run(command, argc, argv); /* help, advise; bench and shelf, which are above */
}

static int read_line(int argc, char **argv)
{
    int words = 0;
    const tool_command *command = command_find(argc - 1, argv + 1, &words);
    /* What main.c does itself: help, versions, names that are none. */
    if (argc < 2 || command->run == NULL) return heddle_tool_main(argc, argv);
    return read_command(command, argc - words, argv + words);
}

/* An argument a line, each in memory of its own, so that a byte too far is seen. */
static int split(const uint8_t *data, size_t size, char **argv)
{
    int argc = 1;
    argv[0] = strdup("heddle");
    for (size_t at = 0; at < size && argc < ARGUMENTS_MOST; argc++) {
        size_t length = 0;
        while (at + length < size && data[at + length] != '\n' && data[at + length] != 0) length++;
        argv[argc] = (char *)malloc(length + 1);
        fuzz_check(argv[argc] != NULL, "no memory");
        memcpy(argv[argc], data + at, length);
        argv[argc][length] = 0;
        at += length + 1;
    }
    argv[argc] = NULL;
    return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere, *counted;
    char *argv[ARGUMENTS_MOST + 1];
    FILE *const own_out = stdout, *const own_err = stderr;
    if (counted == NULL) {
        const cookie_io_functions_t counts = {NULL, count_said, NULL, NULL},
                                    drops = {NULL, drop, NULL, NULL};
        counted = fopencookie(NULL, "w", counts);
        nowhere = fopencookie(NULL, "w", drops);
        fuzz_check(counted != NULL && nowhere != NULL, "no memory");
    }
    const int argc = split(data, size, argv);
    said_bytes = said_lines = 0;
    stdout = nowhere;
    stderr = counted;
    const int status = read_line(argc, argv);
    (void)fflush(counted);
    (void)fflush(nowhere);
    stdout = own_out;
    stderr = own_err;
    fuzz_check(status == TOOL_OK || status == TOOL_REFUSED, "exit status %d", status);
    fuzz_check(status == TOOL_OK || said_bytes != 0,
               "a command line is refused without a sentence");
    fuzz_check(status == TOOL_OK || argc < 2 || said_lines == 1, "a refusal has %llu lines",
               (unsigned long long)said_lines);
    for (int i = 0; i < argc; i++) free(argv[i]);
    return 0;
}
