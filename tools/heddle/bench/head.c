/* head.c: see head.h. */
#include "bench/head.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define GB 1e9

void bench_device_name(const char *asked, const heddle_device_info *info, char name[32])
{
    if (info->kind == HEDDLE_DEVICE_CUDA) (void)snprintf(name, 32, "cuda:%d", (int)info->index);
    else (void)snprintf(name, 32, "%s", strncmp(asked, "cpu", 3) == 0 ? asked : "cpu");
}

static const char *units(const heddle_device_info *info)
{
    if (info->kind == HEDDLE_DEVICE_CUDA) return info->threads == 1 ? "SM" : "SMs";
    return info->threads == 1 ? "thread" : "threads";
}

void bench_head_measured(char text[BENCH_MEASURED_MAX], uint32_t key_bits, uint32_t value_bits,
                         uint64_t seed, uint64_t repeat)
{
    char values[32] = "";
    if (value_bits != 0) (void)snprintf(values, sizeof values, ", values of %u bits", value_bits);
    (void)snprintf(text, BENCH_MEASURED_MAX, "keys of %u bits%s, seed %llu, median of %llu run%s",
                   key_bits, values, (unsigned long long)seed, (unsigned long long)repeat,
                   repeat == 1 ? "" : "s");
}

static void print_csv(const bench_head *head)
{
    char date[32] = "";
    const time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    if (utc != NULL) (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", utc);
    (void)printf("# command: heddle bench %s", head->subject);
    for (int i = 1; i < head->argc; i++) (void)printf(" %s", head->argv[i]);
    (void)printf("\n# date: %s\n", date);
    (void)printf("# device: %s, %u %s, %s\n", head->info->name, head->info->threads,
                 units(head->info), head->info->features);
    if (head->copy_rate > 0) (void)printf("# copy roof: %.1f GB/s\n", head->copy_rate / GB);
    (void)printf("# heddle: %s\n", heddle_version_string());
    if (head->commit != NULL) (void)printf("# commit: %s\n", head->commit);
}

static void print_table(const bench_head *head)
{
    (void)printf("heddle %s: %s on %s\n", heddle_version_string(), head->subject, head->device);
    (void)printf("%s, %u %s, %s, memory %.1f GB (%.1f free)", head->info->name, head->info->threads,
                 units(head->info), head->info->features, (double)head->info->memory_total / GB,
                 (double)head->info->memory_free / GB);
    if (head->copy_rate > 0) (void)printf(", copy %.1f GB/s", head->copy_rate / GB);
    (void)printf("\n%s\n", head->about);
}

void bench_head_print(uint32_t format, const bench_head *head)
{
    if (format == BENCH_CSV) print_csv(head);
    if (format == BENCH_TABLE) print_table(head);
    (void)fflush(stdout);
}
