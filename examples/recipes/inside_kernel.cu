/*
 * inside_kernel.cu: a kernel makes pairs and inserts them in one go: nothing is written to memory
 * except the table. It counts how often each value of a small generator occurs among the first n
 * numbers. A second kernel sums up the counts.
 */
#include "../check.h"

#define HEDDLE_NAME counts
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

/* Each tile takes a number at a time; its threads work together on the key. */
__global__ void count_digits(counts::table table, uint32_t n, uint32_t range)
{
    counts::writer writer(table);
    const uint64_t tiles = (uint64_t)gridDim.x * blockDim.x / counts::tile_size;
    for (uint64_t i = counts::tile_number(); i < n; i += tiles)
        writer.insert(((uint32_t)i * 2654435761u >> 7) % range, 1, HEDDLE_POLICY_ADD);
}

int main(void)
{
    const uint32_t n = 1 << 24, range = 100000;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    unsigned long long *sum = NULL, total = 0;
    uint64_t distinct = 0;
    heddle_device *device;
    heddle_table *table;
    counts::table inside;
    if (heddle_cuda_device_count() == 0) {
        printf("There is no GPU.\n");
        return 77;
    }
    options.container = HEDDLE_CONTAINER_COUNTER;
    options.scheme = HEDDLE_SCHEME_OPEN;
    options.bucket = counts::bucket_size;
    options.capacity = range;
    check(heddle_device_open("cuda", &device));
    check(heddle_table_create(device, &options, &table));
    check(counts::open(table, &inside));
    count_digits<<<1024, 256>>>(inside, n, range);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    counts::for_all<<<1024, 256>>>(
        inside, [=] __device__(uint32_t, uint32_t count) { atomicAdd(sum, count); });
    cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
    cudaFree(sum);
    check(heddle_table_size(table, &distinct, NULL));
    printf("%llu numbers, %llu of them distinct\n", total, (unsigned long long)distinct);
    heddle_table_destroy(table);
    heddle_device_close(device);
    return total == n ? 0 : 1;
}
