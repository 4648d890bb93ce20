/* cuda_graph.cu: a find is captured into a CUDA graph once, and replayed for every batch. */
#include "../check.h"
#include <cuda_runtime.h>

#define N 10000

int main(void)
{
    if (heddle_cuda_device_count() == 0) {
        printf("There is no GPU.\n");
        return 77;
    }
    static uint32_t keys[N], values[N], answers[N];
    for (uint32_t i = 0; i < N; i++) keys[i] = 3 * i, values[i] = i;

    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    options.capacity = N;
    options.flags = HEDDLE_FLAG_FIXED; /* the graph keeps the addresses of the table's memory */
    check(heddle_device_open("cuda", &device));
    check(heddle_table_create(device, &options, &map));
    check(heddle_map_build(map, keys, values, N, NULL, NULL, NULL));

    uint32_t *asked = NULL, *found_values = NULL;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc((void **)&asked, sizeof keys);
    cudaMalloc((void **)&found_values, sizeof answers);

    /* The graph also keeps the arrays and the number of keys. */
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    check(heddle_map_find(map, asked, N, found_values, NULL, NULL, stream));
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiateWithFlags(&replay, graph, 0);

    for (uint32_t batch = 0; batch < 3; batch++) {
        for (uint32_t i = 0; i < N; i++) keys[i] = 3 * ((i + batch) % N);
        cudaMemcpyAsync(asked, keys, sizeof keys, cudaMemcpyHostToDevice, stream);
        cudaGraphLaunch(replay, stream);
        cudaMemcpyAsync(answers, found_values, sizeof answers, cudaMemcpyDeviceToHost, stream);
        check(heddle_device_synchronize(device, stream));
        printf("batch %u: the first answer is %u\n", batch, answers[0]);
    }

    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check(heddle_table_take_totals(map, &totals, stream)); /* replays count like calls */
    printf("%llu found\n", (unsigned long long)totals.found);

    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaFree(found_values);
    cudaFree(asked);
    heddle_table_destroy(map);
    cudaStreamDestroy(stream);
    heddle_device_close(device);
    return 0;
}
