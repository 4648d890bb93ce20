/* time.c: the median time of what is run once to warm up and then `repeat` times. */
#include <stdlib.h>

#include "bench/bench.h"
#include "progress.h"
#include "tool.h"

static int time_once(bench *b, const bench_timed *timed, double *seconds)
{
    const hd_engine *engine = b->device->engine;
    heddle_status status = engine->event_record(b->device, b->begin, NULL);
    if (status == HEDDLE_OK) status = timed->call(timed->context);
    if (status == HEDDLE_OK) status = engine->event_record(b->device, b->end, NULL);
    if (status == HEDDLE_OK) status = engine->event_wait(b->device, b->end);
    if (status == HEDDLE_OK) status = engine->event_seconds(b->device, b->begin, b->end, seconds);
    return tool_try(status, b->op);
}

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int bench_time(bench *b, const bench_timed *timed, double *median)
{
    const uint32_t repeat = b->options.repeat;
    double seconds[BENCH_REPEAT_MAX + 1];
    for (uint32_t run = 0; run <= repeat; run++) {
        int status =
            timed->prepare != NULL ? timed->prepare(timed->context, run == repeat) : TOOL_OK;
        if (status == TOOL_OK) status = time_once(b, timed, &seconds[run]);
        if (status != TOOL_OK) return status;
        progress_part((double)(run + 1) / (double)(repeat + 3));
    }
    qsort(seconds + 1, repeat, sizeof *seconds, compare_seconds); /* all but the warm-up */
    *median = (seconds[1 + (repeat - 1) / 2] + seconds[1 + repeat / 2]) / 2;
    return TOOL_OK;
}
