/*
 * test_streams.cu: what only a program with the CUDA runtime can see: calls on the user's own stream
 * are queued, return before they are done, and can be captured in a graph and replayed.
 */
extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four headers above before it */
#include <cmocka.h>
}

#include <cuda_runtime.h>
#include <heddle/heddle.h>

#include <cstdlib>
#include <vector>

static const uint64_t N = 1 << 20;

/* Keys, values and answers in device memory, and a fixed table with room for all of them. */
struct fixture {
    heddle_device *device;
    heddle_table *table;
    cudaStream_t stream;
    uint32_t *keys, *values, *answers;
    uint8_t *found;
};

static void *take(uint64_t bytes)
{
    void *memory = nullptr;
    assert_int_equal(cudaMalloc(&memory, bytes), cudaSuccess);
    return memory;
}

static int set_up(void **state)
{
    if (heddle_cuda_device_count() == 0) return 0;
    fixture *f = new fixture();
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.capacity = N;
    options.flags = HEDDLE_FLAG_FIXED;
    assert_int_equal(heddle_device_open("cuda:0", &f->device), HEDDLE_OK);
    assert_int_equal(heddle_table_create(f->device, &options, &f->table), HEDDLE_OK);
    assert_int_equal(cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking), cudaSuccess);
    f->keys = (uint32_t *)take(4 * N);
    f->values = (uint32_t *)take(4 * N);
    f->answers = (uint32_t *)take(4 * N);
    f->found = (uint8_t *)take(N);
    std::vector<uint32_t> host(N);
    for (uint64_t i = 0; i < N; i++) host[i] = (uint32_t)i * 2654435761u;
    assert_int_equal(cudaMemcpy(f->keys, host.data(), 4 * N, cudaMemcpyHostToDevice), cudaSuccess);
    for (uint64_t i = 0; i < N; i++) host[i] = (uint32_t)i + 1;
    assert_int_equal(cudaMemcpy(f->values, host.data(), 4 * N, cudaMemcpyHostToDevice),
                     cudaSuccess);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) return 0;
    heddle_table_destroy(f->table);
    cudaFree(f->keys);
    cudaFree(f->values);
    cudaFree(f->answers);
    cudaFree(f->found);
    cudaStreamDestroy(f->stream);
    heddle_device_close(f->device);
    delete f;
    return 0;
}

/* Every answer must be i * times + 1 * times, as `times` additions of the value leave it. */
static void check_answers(const fixture *f, uint32_t times)
{
    std::vector<uint32_t> answers(N);
    std::vector<uint8_t> found(N);
    assert_int_equal(cudaMemcpy(answers.data(), f->answers, 4 * N, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_int_equal(cudaMemcpy(found.data(), f->found, N, cudaMemcpyDeviceToHost), cudaSuccess);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(found[i], 1);
        assert_int_equal(answers[i], ((uint32_t)i + 1) * times);
    }
}

static void queue_insert_and_find(const fixture *f)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.policy = HEDDLE_POLICY_ADD;
    assert_int_equal(
        heddle_table_insert(f->table, f->keys, f->values, N, &options, nullptr, f->stream),
        HEDDLE_OK);
    assert_int_equal(
        heddle_table_find(f->table, f->keys, N, f->answers, f->found, nullptr, f->stream),
        HEDDLE_OK);
}

static void works_in_stream_order(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) skip();
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    assert_int_equal(heddle_table_clear(f->table, f->stream), HEDDLE_OK);
    assert_int_equal(heddle_table_take_totals(f->table, &totals, f->stream), HEDDLE_OK);
    queue_insert_and_find(f);
    assert_int_equal(heddle_device_synchronize(f->device, f->stream), HEDDLE_OK);
    check_answers(f, 1);
    assert_int_equal(heddle_table_take_totals(f->table, &totals, f->stream), HEDDLE_OK);
    assert_int_equal(totals.inserted, N);
    assert_int_equal(totals.found, N);
    assert_int_equal(totals.absent, 0);
}

/* Capture fails if a call synchronises, so this shows that none does. */
static void can_be_captured_and_replayed(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) skip();
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    assert_int_equal(heddle_table_clear(f->table, f->stream), HEDDLE_OK);
    assert_int_equal(heddle_table_take_totals(f->table, &totals, f->stream), HEDDLE_OK);
    assert_int_equal(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    queue_insert_and_find(f);
    assert_int_equal(heddle_table_contains(f->table, f->keys, N, f->found, nullptr, f->stream),
                     HEDDLE_OK);
    assert_int_equal(cudaStreamEndCapture(f->stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    for (int i = 0; i < 3; i++) assert_int_equal(cudaGraphLaunch(replay, f->stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(f->stream), cudaSuccess);
    check_answers(f, 3);
    assert_int_equal(heddle_table_take_totals(f->table, &totals, f->stream), HEDDLE_OK);
    assert_int_equal(totals.inserted, N);
    assert_int_equal(totals.updated, 2 * N);
    assert_int_equal(totals.found, 6 * N);
    assert_int_equal(totals.absent, 0);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
}

/*
 * An insertion that was recorded, with a workspace of its own, is replayed in a table that was emptied since. The next one
 * must not take the table for empty, though none was begun after it was.
 */
static void recorded_insertions_are_reckoned_with(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) skip();
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    assert_int_equal(heddle_table_build_workspace(f->table, N, &options.workspace_bytes),
                     HEDDLE_OK);
    options.workspace = take(options.workspace_bytes);
    options.policy = HEDDLE_POLICY_ADD;
    assert_int_equal(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(
        heddle_table_insert(f->table, f->keys, f->values, N, &options, nullptr, f->stream),
        HEDDLE_OK);
    assert_int_equal(cudaStreamEndCapture(f->stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    assert_int_equal(heddle_table_clear(f->table, f->stream), HEDDLE_OK);
    assert_int_equal(heddle_table_take_totals(f->table, &totals, f->stream), HEDDLE_OK);
    assert_int_equal(cudaGraphLaunch(replay, f->stream), cudaSuccess);
    queue_insert_and_find(f);
    assert_int_equal(cudaStreamSynchronize(f->stream), cudaSuccess);
    check_answers(f, 2);
    assert_int_equal(heddle_table_take_totals(f->table, &totals, f->stream), HEDDLE_OK);
    assert_int_equal(totals.inserted, N);
    assert_int_equal(totals.updated, N);
    assert_int_equal(heddle_table_validate(f->table, f->stream), HEDDLE_OK);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaFree(options.workspace);
}

/* A graph inserts keys and erases half of them: its second run meets what the first has left, gaps and marks in them. */
static void replays_meet_erasures(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) skip();
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    uint64_t size = 0;
    assert_int_equal(heddle_table_build_workspace(f->table, N, &options.workspace_bytes),
                     HEDDLE_OK);
    options.workspace = take(options.workspace_bytes);
    assert_int_equal(heddle_table_clear(f->table, f->stream), HEDDLE_OK);
    assert_int_equal(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(
        heddle_table_insert(f->table, f->keys, f->values, N, &options, nullptr, f->stream),
        HEDDLE_OK);
    assert_int_equal(heddle_table_erase(f->table, f->keys, N / 2, nullptr, nullptr, f->stream),
                     HEDDLE_OK);
    assert_int_equal(cudaStreamEndCapture(f->stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cudaGraphLaunch(replay, f->stream), cudaSuccess);
        assert_int_equal(heddle_table_validate(f->table, f->stream), HEDDLE_OK);
        assert_int_equal(heddle_table_size(f->table, &size, f->stream), HEDDLE_OK);
        assert_int_equal(size, N / 2);
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaFree(options.workspace);
}

/*
 * An erasure that was recorded is replayed in a table that was filled since. A large insertion, which could go by
 * regions otherwise, has to reckon with keys behind buckets that have room now.
 */
static void recorded_erasures_are_reckoned_with(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) skip();
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    uint64_t size = 0;
    assert_int_equal(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(heddle_table_erase(f->table, f->keys, N / 2, f->found, nullptr, f->stream),
                     HEDDLE_OK);
    assert_int_equal(cudaStreamEndCapture(f->stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    assert_int_equal(heddle_table_clear(f->table, f->stream), HEDDLE_OK);
    assert_int_equal(
        heddle_table_insert(f->table, f->keys, f->values, N, nullptr, &totals, f->stream),
        HEDDLE_OK);
    assert_int_equal(totals.inserted, N);
    assert_int_equal(cudaGraphLaunch(replay, f->stream), cudaSuccess);
    assert_int_equal(
        heddle_table_insert(f->table, f->keys, f->values, N, nullptr, &totals, f->stream),
        HEDDLE_OK);
    assert_int_equal(totals.inserted, N / 2);
    assert_int_equal(totals.kept, N / 2);
    assert_int_equal(heddle_table_size(f->table, &size, f->stream), HEDDLE_OK);
    assert_int_equal(size, N);
    assert_int_equal(heddle_table_validate(f->table, f->stream), HEDDLE_OK);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
}

/* What a graph does in the test of slab hashes: of four keys in a row two are erased, one is found, one is added to. */
static void queue_mixture(const fixture *f, heddle_table *table, const uint8_t *operations)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.policy = HEDDLE_POLICY_ADD;
    assert_int_equal(
        heddle_table_insert(table, f->keys, f->values, N, &options, nullptr, f->stream), HEDDLE_OK);
    assert_int_equal(heddle_table_mixed(table, operations, f->keys, f->values, N, f->answers,
                                        &options, nullptr, f->stream),
                     HEDDLE_OK);
    assert_int_equal(heddle_table_contains(table, f->keys, N, f->found, nullptr, f->stream),
                     HEDDLE_OK);
    assert_int_equal(heddle_table_flush(table, f->stream), HEDDLE_OK);
}

/* After so many replays. */
static void check_mixture(const fixture *f, heddle_table *table, uint64_t times)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    std::vector<uint32_t> answers(N), values(N);
    std::vector<uint8_t> found(N);
    assert_int_equal(heddle_table_take_totals(table, &totals, f->stream), HEDDLE_OK);
    assert_int_equal(totals.failed, 0);
    assert_int_equal(totals.inserted, N + (times - 1) * (N / 2));
    assert_int_equal(totals.updated, (times - 1) * (N / 2) + times * (N / 4));
    assert_int_equal(totals.found, times * (N / 2 + N / 4 + N / 2));
    assert_int_equal(totals.absent, times * (N / 2));
    assert_int_equal(cudaMemcpy(found.data(), f->found, N, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(answers.data(), f->answers, 4 * N, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_int_equal(
        heddle_table_find(table, f->keys, N, values.data(), nullptr, nullptr, f->stream),
        HEDDLE_OK);
    for (uint64_t i = 0; i < N; i++) {
        const uint32_t sum = ((uint32_t)i + 1) * (uint32_t)times;
        assert_int_equal(found[i], i % 4 >= 2);
        if (i % 4 == 2) assert_int_equal(answers[i], sum);
        assert_int_equal(values[i], i % 4 < 2 ? 0 : i % 4 == 2 ? sum : 2 * sum);
    }
    assert_int_equal(heddle_table_validate(table, f->stream), HEDDLE_OK);
}

/*
 * Insertions and mixed batches on a slab hash are queued, and so is taking back what erased keys have left: without
 * that there would be no slab left after some replays.
 */
static void slab_hashes_can_be_captured(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) skip();
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table = nullptr;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    std::vector<uint8_t> kinds(N);
    options.scheme = HEDDLE_SCHEME_SLAB;
    options.capacity = N;
    options.flags = HEDDLE_FLAG_FIXED;
    assert_int_equal(heddle_table_create(f->device, &options, &table), HEDDLE_OK);
    uint8_t *operations = (uint8_t *)take(N);
    for (uint64_t i = 0; i < N; i++)
        kinds[i] = i % 4 < 2    ? HEDDLE_OPERATION_ERASE
                   : i % 4 == 2 ? HEDDLE_OPERATION_FIND
                                : HEDDLE_OPERATION_INSERT;
    assert_int_equal(cudaMemcpy(operations, kinds.data(), N, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    queue_mixture(f, table, operations);
    assert_int_equal(cudaStreamEndCapture(f->stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    for (int i = 0; i < 8; i++) assert_int_equal(cudaGraphLaunch(replay, f->stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(f->stream), cudaSuccess);
    check_mixture(f, table, 8);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaFree(operations);
    heddle_table_destroy(table);
}

/* A filter that never sorts is queued whatever the number of keys. */
static void filters_can_be_captured(void **state)
{
    fixture *f = (fixture *)*state;
    if (f == nullptr) skip();
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    heddle_filter *filter = nullptr, *other = nullptr;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    options.capacity = N;
    options.seed = 5;
    options.flags = HEDDLE_FILTER_DIRECT;
    assert_int_equal(heddle_filter_create(f->device, &options, &filter), HEDDLE_OK);
    assert_int_equal(heddle_filter_create(f->device, &options, &other), HEDDLE_OK);
    assert_int_equal(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(heddle_filter_clear(filter, f->stream), HEDDLE_OK);
    assert_int_equal(heddle_filter_add(other, f->keys, N, f->stream), HEDDLE_OK);
    assert_int_equal(heddle_filter_merge(filter, other, f->stream), HEDDLE_OK);
    assert_int_equal(heddle_filter_contains(filter, f->keys, N, f->found, nullptr, f->stream),
                     HEDDLE_OK);
    assert_int_equal(cudaStreamEndCapture(f->stream, &graph), cudaSuccess);
    assert_int_equal(cudaMemset(f->found, 0, N), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(replay, f->stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(f->stream), cudaSuccess);
    std::vector<uint8_t> found(N);
    assert_int_equal(cudaMemcpy(found.data(), f->found, N, cudaMemcpyDeviceToHost), cudaSuccess);
    for (uint64_t i = 0; i < N; i++) assert_int_equal(found[i], 1);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    heddle_filter_destroy(filter);
    heddle_filter_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_in_stream_order),
        cmocka_unit_test(can_be_captured_and_replayed),
        cmocka_unit_test(recorded_insertions_are_reckoned_with),
        cmocka_unit_test(replays_meet_erasures),
        cmocka_unit_test(recorded_erasures_are_reckoned_with),
        cmocka_unit_test(slab_hashes_can_be_captured),
        cmocka_unit_test(filters_can_be_captured),
    };
    return cmocka_run_group_tests_name("streams", tests, set_up, tear_down);
}
