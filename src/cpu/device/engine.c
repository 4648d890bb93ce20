/*
 * engine.c: the CPU as a device. Streams do not exist here: every operation is done when it
 * returns, and events are readings of the clock.
 */
#include "cpu/cpu.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/while_waiting.h"
#include "cpu/columns/columns.h"
#include "cpu/device/memory.h"
#include "cpu/device/shared.h"
#include "cpu/partition/partition.h"
#include "engine/registry.h"
#include "instances_config.h"

#define THREADS_MAX 1024

/* ---------------------------------------------------------------------------- compiled tables */

static bool runs_here(const char *tile)
{
    (void)tile; /* where all do */
#if HD_HAVE_AVX2
    if (strcmp(tile, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#endif
#if HD_HAVE_AVX512
    if (strcmp(tile, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("bmi2");
#endif
    return true;
}

const hd_table_ops *const *hd_cpu_tables(const char *tile, uint32_t *count)
{
    const hd_table_ops *const *tables = hd_compiled_tables(tile, count);
    return tables != NULL && runs_here(tile) ? tables : NULL;
}

/* The widest tile of this machine; HEDDLE_TILE in the environment may name a narrower one. */
static const char *choose_tile(void)
{
    static const char *const widest_first[] = {"avx512", "avx2", "neon", "scalar"};
    const char *wanted = getenv("HEDDLE_TILE");
    uint32_t count;
    for (size_t i = 0; i < sizeof widest_first / sizeof widest_first[0]; i++) {
        const char *tile = widest_first[i];
        if (wanted != NULL && strcmp(wanted, tile) != 0) continue;
        if (hd_cpu_tables(tile, &count) != NULL) return tile;
    }
    return "scalar";
}

static const hd_table_ops *const *tables(heddle_device *device, uint32_t *count)
{
    return hd_cpu_tables(((hd_device_cpu *)device)->tile, count);
}

/* ---------------------------------------------------------------------------------- partitions */

static const hd_partition_cpu *partition_for(heddle_device *device, const hd_partition *job)
{
    return HD_COMPILED_FOR(hd_partition_cpu, job->key_bits, job->value_bits,
                           ((hd_device_cpu *)device)->tile);
}

static heddle_status cpu_partition(heddle_device *device, const hd_partition *job, void *stream)
{
    (void)stream;
    partition_for(device, job)->sort(hd_cpu_team(device, job->n), job);
    return HEDDLE_OK;
}

static uint64_t cpu_partition_work(heddle_device *device, const hd_partition *job)
{
    return partition_for(device, job)->work_bytes(hd_cpu_threads(device, job->n), job->region_bits);
}

static heddle_status cpu_partition_step(heddle_device *device, const hd_partition *job,
                                        uint32_t step, void *stream)
{
    (void)stream;
    partition_for(device, job)->step(hd_cpu_team(device, job->n), job, step);
    return HEDDLE_OK;
}

static uint64_t cpu_partition_step_work(heddle_device *device, const hd_partition *job)
{
    return partition_for(device, job)
        ->step_work_bytes(hd_cpu_threads(device, job->n), job->region_bits);
}

static uint32_t cpu_partition_part_bits(uint32_t region_bits)
{
    return region_bits < HD_PASS_BITS ? region_bits : HD_PASS_BITS;
}

static heddle_status cpu_count_regions(heddle_device *device, const hd_partition *job,
                                       uint64_t *counts, void *stream)
{
    (void)stream;
    partition_for(device, job)->count(hd_cpu_team(device, job->n), job, counts);
    return HEDDLE_OK;
}

static uint64_t cpu_count_regions_work(heddle_device *device, const hd_partition *job)
{
    return partition_for(device, job)
        ->count_work_bytes(hd_cpu_threads(device, job->n), job->region_bits);
}

/* ------------------------------------------------------------------------ graphs and relations */

static const hd_graph_ops *cpu_graph(uint32_t key_bits, uint32_t value_bits)
{
    return HD_COMPILED_FOR(hd_graph_ops, key_bits, value_bits, "cpu");
}

static const hd_relate_ops *cpu_relate(uint32_t key_bits, uint32_t row_bits)
{
    return HD_COMPILED_FOR(hd_relate_ops, key_bits, row_bits, "cpu");
}

static const hd_list_ops *cpu_lists(uint32_t value_bits)
{
    return HD_COMPILED_FOR(hd_list_ops, 32, value_bits, "cpu");
}

static const hd_slab_ops *cpu_slabs(uint32_t key_bits, uint32_t value_bits)
{
    return HD_COMPILED_FOR(hd_slab_ops, key_bits, value_bits, "cpu");
}

static const hd_filter_ops *cpu_filter(uint32_t key_bits)
{
    return HD_COMPILED_FOR(hd_filter_ops, key_bits, 0, "cpu");
}

static const hd_owners_ops *cpu_owners(uint32_t key_bits)
{
    return HD_COMPILED_FOR(hd_owners_ops, key_bits, 0, "cpu");
}

/* ------------------------------------------------------------------------------------- device */

static heddle_status cpu_open(int32_t threads, heddle_device **device)
{
    hd_device_cpu *cpu;
    if (threads < 0 || threads > THREADS_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "a CPU device takes 1 to %d threads, not %d",
                       THREADS_MAX, threads);
    cpu = (hd_device_cpu *)hd_allocate_zeroed(1, sizeof *cpu);
    if (cpu == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a device");
    cpu->base.engine = hd_engine_cpu();
    cpu->threads = threads != 0 ? threads : omp_get_max_threads();
    cpu->tile = choose_tile();
    *device = &cpu->base;
    return HEDDLE_OK;
}

static void cpu_close(heddle_device *device) { free(device); }

static uint32_t cpu_count(void) { return 1; }

/* The name the processor gives itself; on Linux the kernel knows it. */
static void read_model(char *name, size_t size)
{
    char text[4096], *line, *colon;
    snprintf(name, size, "CPU");
    hd_read_text("/proc/cpuinfo", text, sizeof text);
    line = strstr(text, "model name");
    colon = line != NULL ? strstr(line, ": ") : NULL;
    if (colon == NULL) return;
    colon[strcspn(colon, "\n")] = '\0';
    snprintf(name, size, "%s", colon + 2);
}

/* Memory that can be had, file caches included; `otherwise` where the kernel does not tell. */
static uint64_t read_available(uint64_t otherwise)
{
    char text[1024];
    const char *line;
    unsigned long long kilobytes = 0;
    hd_read_text("/proc/meminfo", text, sizeof text);
    line = strstr(text, "MemAvailable:");
    if (line == NULL || sscanf(line, "MemAvailable: %llu kB", &kilobytes) != 1) kilobytes = 0;
    return kilobytes != 0 ? (uint64_t)kilobytes * 1024 : otherwise;
}

static heddle_status cpu_info(heddle_device *device, heddle_device_info *info)
{
    const hd_device_cpu *cpu = (const hd_device_cpu *)device;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    info->kind = HEDDLE_DEVICE_CPU;
    info->index = 0;
    info->threads = (uint32_t)cpu->threads;
    info->memory_total = page * (uint64_t)sysconf(_SC_PHYS_PAGES);
    info->memory_free = read_available(page * (uint64_t)sysconf(_SC_AVPHYS_PAGES));
    read_model(info->name, sizeof info->name);
    snprintf(info->features, sizeof info->features, "%s", cpu->tile);
    return HEDDLE_OK;
}

static bool cpu_is_recording(heddle_device *device, void *stream)
{
    (void)device, (void)stream;
    return false;
}

static heddle_status cpu_synchronize(heddle_device *device, void *stream)
{
    (void)device, (void)stream;
    hd_while_waiting_work(); /* there is nothing to wait for, but tests have such devices exchange by halves */
    return HEDDLE_OK;
}

static void cpu_drain(heddle_device *device) { (void)device; }

/* ------------------------------------------------------------------------------------- memory */

static heddle_status cpu_allocate(heddle_device *device, uint64_t bytes, void **memory)
{
    return hd_memory_cpu_allocate(device, bytes, memory);
}

static void cpu_free(heddle_device *device, void *memory)
{
    (void)device;
    hd_memory_cpu_free(memory);
}

static heddle_status cpu_copy(heddle_device *device, void *to, const void *from, uint64_t bytes,
                              void *stream)
{
    (void)device, (void)stream;
    if (bytes != 0) memmove(to, from, bytes);
    return HEDDLE_OK;
}

static heddle_status cpu_fill(heddle_device *device, void *memory, uint8_t byte, uint64_t bytes,
                              void *stream)
{
    (void)device, (void)stream;
    if (bytes != 0) memset(memory, byte, bytes);
    return HEDDLE_OK;
}

static bool cpu_shares_memory(const heddle_device *device, const heddle_device *other)
{
    (void)device, (void)other;
    return true;
}

static void cpu_connect(heddle_device *device, const heddle_device *other)
{
    (void)device, (void)other;
}

static bool cpu_is_device_memory(heddle_device *device, const void *memory)
{
    (void)device, (void)memory;
    return true;
}

/* ------------------------------------------------------------------------------------- events */

static heddle_status cpu_event_create(heddle_device *device, void **event)
{
    (void)device;
    *event = hd_allocate_zeroed(1, sizeof(struct timespec));
    return *event != NULL ? HEDDLE_OK : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for an event");
}

static void cpu_event_destroy(heddle_device *device, void *event)
{
    (void)device;
    free(event);
}

static heddle_status cpu_event_record(heddle_device *device, void *event, void *stream)
{
    (void)device, (void)stream;
    clock_gettime(CLOCK_MONOTONIC, (struct timespec *)event);
    return HEDDLE_OK;
}

static heddle_status cpu_event_wait(heddle_device *device, void *event)
{
    (void)device, (void)event;
    return HEDDLE_OK;
}

static heddle_status cpu_event_seconds(heddle_device *device, void *begin, void *end,
                                       double *seconds)
{
    const struct timespec *a = (const struct timespec *)begin, *b = (const struct timespec *)end;
    (void)device;
    *seconds = (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
    return HEDDLE_OK;
}

const hd_engine *hd_engine_cpu(void)
{
    static const hd_engine engine = {
        HEDDLE_DEVICE_CPU,
        true,
        UINT64_C(1) << 16,
        0,
        UINT64_C(1) << 20,
        cpu_open,
        cpu_close,
        cpu_count,
        cpu_info,
        cpu_synchronize,
        cpu_is_recording,
        cpu_drain,
        cpu_allocate,
        cpu_free,
        NULL, /* memory in the order of a stream: every call waits */
        NULL,
        NULL,
        cpu_allocate,
        cpu_free,
        cpu_copy,
        cpu_fill,
        cpu_is_device_memory,
        cpu_shares_memory,
        cpu_connect,
        cpu_event_create,
        cpu_event_destroy,
        cpu_event_record,
        cpu_event_wait,
        cpu_event_seconds,
        cpu_partition,
        cpu_partition_work,
        cpu_partition_step,
        cpu_partition_step_work,
        cpu_partition_part_bits,
        NULL, /* scatter: to count first costs little in the cache, and takes less memory */
        NULL,
        cpu_count_regions,
        cpu_count_regions_work,
        cpu_graph,
        cpu_relate,
        &hd_columns_cpu,
        cpu_filter,
        tables,
        cpu_lists,
        cpu_slabs,
        cpu_owners,
        hd_cpu_share,
        hd_cpu_unshare,
        hd_cpu_open_shared,
        hd_cpu_unshare,
    };
    return &engine;
}
