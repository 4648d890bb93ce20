/* roof.c: the machine's own rates, measured once for every kind, width and size of memory. */
#include "bench/bench.h"
#include "tool.h"

#define ROOF_REPEAT 5
#define COPY_BYTES_CPU (UINT64_C(1) << 28)
#define COPY_BYTES_CUDA (UINT64_C(1) << 30)

static uint64_t within(uint64_t x, uint64_t least, uint64_t most)
{
    return x < least ? least : x > most ? most : x;
}

/* Which power of two `bytes` reaches: tables of one class share a roof. */
static uint32_t size_class(uint64_t bytes)
{
    uint32_t bits = 0;
    while (bytes >>= 1) bits++;
    return bits;
}

/* `share` of the memory that is free now, or less when no more is wanted. */
static int limit_to_free(bench *b, uint64_t wanted, uint64_t share, uint64_t *bytes)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    const int status = tool_try(heddle_device_get_info(b->device, &info), "asking for free memory");
    *bytes = within(wanted, 1, info.memory_free / share + 1);
    return status;
}

/* The leading bits by which a table of so many bytes is partitioned, about. */
static uint32_t partition_bits(uint64_t bytes)
{
    const uint32_t bits = size_class(bytes), region = 17; /* regions have 96 to 192 KB */
    return bits > region + 2 ? bits - region : 2;
}

int bench_roof_measure(bench *b, uint32_t kind, uint32_t width, uint64_t bytes, uint64_t batch,
                       double *rate)
{
    const bool gpu = b->info.kind == HEDDLE_DEVICE_CUDA;
    const uint32_t class_wanted = size_class(bytes);
    for (uint32_t i = 0; i < b->roof_count; i++) {
        const bench_roof *known = &b->roofs[i];
        *rate = known->rate;
        if (known->kind == kind && known->width == width && known->size_class == class_wanted)
            return TOOL_OK;
    }
    /* As many as the table's batch has keys, but enough to outlast the start of the threads, and
       not more than change the result. */
    const uint64_t accesses = within(batch, UINT64_C(1) << 18, UINT64_C(1) << (gpu ? 26 : 24));
    hd_roof_request request = {kind, width, bytes, accesses, ROOF_REPEAT, partition_bits(bytes)};
    int status = limit_to_free(b, bytes, 2, &request.bytes);
    if (status == TOOL_OK)
        status = tool_try(hd_roof_measure(b->device, &request, rate), "measuring the machine");
    if (status == TOOL_OK && b->roof_count < BENCH_ROOFS_MAX) {
        const bench_roof measured = {kind, width, class_wanted, *rate};
        b->roofs[b->roof_count++] = measured;
    }
    return status;
}

int bench_roof_copy(bench *b)
{
    const bool gpu = b->info.kind == HEDDLE_DEVICE_CUDA;
    hd_roof_request request = {HD_ROOF_COPY, 16, 0, 1, ROOF_REPEAT, 0};
    const int status = limit_to_free(b, gpu ? COPY_BYTES_CUDA : COPY_BYTES_CPU, 8, &request.bytes);
    if (status != TOOL_OK) return status;
    return tool_try(hd_roof_measure(b->device, &request, &b->copy_rate), "measuring the machine");
}
