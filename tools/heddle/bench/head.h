/*
 * head.h: what stands above the rows of a benchmark: the command, the device, what was measured; and what the rows of
 * most subjects have at their beginning and end.
 */
#ifndef BENCH_HEAD_H
#define BENCH_HEAD_H

#include "bench/bench.h"
#include "bench/line.h"

typedef struct bench_head {
    const char *subject; /* "map" */
    const char *device;  /* "cpu:2" */
    const heddle_device_info *info;
    double copy_rate;   /* bytes a second; 0 when it was not measured */
    const char *commit; /* NULL: not told */
    const char *about;  /* lines of a table's head: widths, seed, what the machine's rate is */
    int argc;           /* of the command */
    char **argv;
} bench_head;

/* What is called "auto" is shown as what it turned out to be. */
void bench_device_name(const char *asked, const heddle_device_info *info, char name[32]);
/* "keys of 32 bits, values of 64 bits, seed 1, median of 5 runs": the first line of `about`; no values where 0. */
#define BENCH_MEASURED_MAX 128
void bench_head_measured(char text[BENCH_MEASURED_MAX], uint32_t key_bits, uint32_t value_bits,
                         uint64_t seed, uint64_t repeat);
/* In a table or in CSV; JSON has none. */
void bench_head_print(uint32_t format, const bench_head *head);

#endif
