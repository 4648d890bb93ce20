/* bench.c: `heddle bench`: opens the device, has everything measured, and judges the result. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "tool.h"

/* What is called "auto" is shown as what it turned out to be. */
static void name_device(bench *b)
{
    if (b->info.kind == HEDDLE_DEVICE_CUDA)
        (void)snprintf(b->device_name, sizeof b->device_name, "cuda:%d", (int)b->info.index);
    else
        (void)snprintf(b->device_name, sizeof b->device_name, "%s",
                       strncmp(b->options.device, "cpu", 3) == 0 ? b->options.device : "cpu");
}

static int open_device(bench *b)
{
    const heddle_status opened = heddle_device_open(b->options.device, &b->device);
    if (opened == HEDDLE_ERROR_INVALID || opened == HEDDLE_ERROR_NO_DEVICE)
        return tool_refuse("bench: %s", heddle_last_error());
    int status = tool_try(opened, "opening the device");
    if (status == TOOL_OK) status = tool_try(heddle_device_get_info(b->device, &b->info), "device");
    if (status != TOOL_OK) return status;
    name_device(b);
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

static int run_bench(bench *b, int argc, char **argv)
{
    const bench_axes *axes = &b->options.axes;
    uint64_t keys = 0;
    int status = open_device(b);
    if (status == TOOL_OK) status = bench_grid_check(b, axes);
    if (status != TOOL_OK) return status;
    progress_start(1 + bench_grid_steps(axes, &keys));
    progress_step("copy roof of %s", b->device_name);
    if (b->options.format != BENCH_JSON) status = bench_roof_copy(b); /* JSON has no place for it */
    if (status != TOOL_OK) return status;
    progress_hide();
    bench_report_head(b, argc, argv);
    status = bench_grid_run(b, axes);
    if (status == TOOL_OK && b->options.verify && b->bad_rows != 0) return TOOL_FAILED;
    return status;
}

int bench_command(int argc, char **argv)
{
    bench *b = (bench *)calloc(1, sizeof *b);
    if (b == NULL) {
        tool_say("out of memory");
        return TOOL_FAILED;
    }
    int status = bench_options_read(argc, argv, &b->options);
    if (status == TOOL_OK && b->options.help) {
        bench_help();
    } else if (status == TOOL_OK) {
        b->info.size = sizeof b->info;
        status = run_bench(b, argc, argv);
        close_device(b);
    }
    free(b);
    return status;
}
