/* bench.c: `heddle bench`: opens the device, has everything measured, and judges the result. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/graph/graph.h"
#include "bench/head.h"
#include "bench/relation/relation.h"
#include "bench/table/table.h"
#include "progress.h"
#include "tool.h"

static int open_device(bench *b)
{
    const heddle_status opened = heddle_device_open(b->options.device, &b->device);
    if (opened == HEDDLE_ERROR_INVALID || opened == HEDDLE_ERROR_NO_DEVICE)
        return tool_refuse("bench: %s", heddle_last_error());
    int status = tool_try(opened, "opening the device");
    if (status == TOOL_OK) status = tool_try(heddle_device_get_info(b->device, &b->info), "device");
    if (status != TOOL_OK) return status;
    bench_device_name(b->options.device, &b->info, b->device_name);
    const hd_engine *engine = b->device->engine;
    status = tool_try(engine->event_create(b->device, &b->begin), "event");
    if (status == TOOL_OK) status = tool_try(engine->event_create(b->device, &b->end), "event");
    return status;
}

static void close_device(bench *b)
{
    if (b->device == NULL) return;
    bench_data_free(b);
    if (b->begin != NULL) b->device->engine->event_destroy(b->device, b->begin);
    if (b->end != NULL) b->device->engine->event_destroy(b->device, b->end);
    heddle_device_close(b->device);
}

/* ---------------------------------------------------------------------------- parts of the work */

static int plan_parts(bench *b)
{
    if (b->options.sweeps != 0) return bench_sweep_plan(b);
    b->parts[0].sweep = BENCH_SWEEP_NONE;
    b->parts[0].axes = b->options.axes;
    b->part_count = 1;
    return TOOL_OK;
}

static int check_part(bench *b, const bench_part *part)
{
    if (part->sweep == BENCH_SWEEP_SUCCESS) return bench_success_check(b, &part->axes);
    return bench_grid_check(b, &part->axes);
}

static int run_part(bench *b, const bench_part *part)
{
    b->part = part;
    bench_report_part(b);
    if (part->sweep == BENCH_SWEEP_SUCCESS) return bench_success_run(b, &part->axes);
    return bench_grid_run(b, &part->axes);
}

/* -------------------------------------------------------------------------------- what is run */

static uint32_t count_steps(const bench *b)
{
    uint64_t keys = 0;
    if (b->options.subject > BENCH_SET) return 1 + bench_walk_count(&b->options.axes);
    uint32_t steps = 1; /* the copy roof */
    for (uint32_t i = 0; i < b->part_count; i++)
        steps += b->parts[i].sweep == BENCH_SWEEP_SUCCESS
                     ? bench_success_steps(&b->parts[i].axes)
                     : bench_grid_steps(&b->parts[i].axes, &keys);
    return steps;
}

static int check_tables(bench *b)
{
    int status = plan_parts(b);
    for (uint32_t i = 0; i < b->part_count && status == TOOL_OK; i++)
        status = check_part(b, &b->parts[i]);
    return status;
}

static int run_tables(bench *b)
{
    int status = TOOL_OK;
    for (uint32_t i = 0; i < b->part_count && status == TOOL_OK; i++)
        status = run_part(b, &b->parts[i]);
    return status;
}

typedef struct subject {
    int (*check)(bench *b); /* before anything large is allocated or printed */
    int (*run)(bench *b);
} subject;

/* In the order of BENCH_MAP, BENCH_SET, ... */
static const subject subjects[BENCH_SUBJECTS] = {
    {check_tables, run_tables},
    {check_tables, run_tables},
    {bench_graph_check, bench_graph_run},
    {bench_join_check, bench_join_run},
    {bench_groups_check, bench_group_run},
    {bench_groups_check, bench_unique_run},
    {bench_filter_check, bench_filter_run},
    {bench_graph_check, bench_graph_run},
    {bench_counter_check, bench_counter_run},
    {bench_mixed_check, bench_mixed_run},
};

static int run_bench(bench *b, int argc, char **argv)
{
    const subject *measured = &subjects[b->options.subject];
    int status = open_device(b);
    if (status == TOOL_OK) status = measured->check(b);
    if (status != TOOL_OK) return status;
    progress_start(count_steps(b));
    progress_step("copy roof of %s", b->device_name);
    if (b->options.format != BENCH_JSON) status = bench_roof_copy(b); /* JSON has no place for it */
    progress_hide();
    if (status == TOOL_OK) bench_report_head(b, argc, argv);
    bench_report_axes(b, &b->options.axes);
    if (status == TOOL_OK) status = measured->run(b);
    if (status == TOOL_OK && b->options.verify && b->bad_rows != 0) return TOOL_FAILED;
    return status;
}

int bench_command(const tool_command *command, int argc, char **argv)
{
    bench *b = (bench *)calloc(1, sizeof *b);
    if (b == NULL) {
        tool_say("out of memory");
        return TOOL_FAILED;
    }
    int status = bench_options_read(command, argc, argv, &b->options);
    if (status == TOOL_OK) {
        b->info.size = sizeof b->info;
        status = run_bench(b, argc, argv);
        close_device(b);
    }
    free(b);
    return status;
}
