/*
 * test_device_iceberg.cu: iceberg tables inside kernels of a user's own: by heddle/device.cuh, and beside it
 * at the same time by the functions that other languages link. What the kernels did is asked for by batch calls.
 */
#include <vector>

#include "device_words.h"

#define HEDDLE_NAME pairs
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HEDDLE_NAME wide
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

#define HEDDLE_NAME ids
#define HEDDLE_SCHEME iceberg
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 16
#include <heddle/device.cuh>

extern "C" __device__ int32_t heddle_iceberg_k32_v32_b16_insert(const void *view, uint32_t key,
                                                                uint32_t value, uint32_t policy);
extern "C" __device__ int32_t heddle_iceberg_k32_v32_b16_find(const void *view, uint32_t key,
                                                              uint32_t *value);
extern "C" __device__ int32_t heddle_iceberg_k32_v32_b16_erase(const void *view, uint32_t key);

static const uint32_t N = 1 << 20;

__host__ __device__ static uint32_t key_of(uint32_t i) { return i * 2654435761u; }

/* Every key four times: by tiles, by lanes of tiles, and by single threads, all in one launch. */
__global__ void fill(pairs::table one, wide::table two, ids::table three, const void *view,
                     uint32_t n, device_word *failed)
{
    pairs::writer writer(one);
    wide::writer wide_writer(two);
    ids::writer id_writer(three);
    const uint32_t stride = gridDim.x * blockDim.x, here = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t base = 0; base < n; base += stride) {
        const uint32_t i = base + here;
        const int a = writer.insert_each(key_of(i / 2), 1, HEDDLE_POLICY_ADD, i < n);
        const int b = wide_writer.insert_each((uint64_t)(i / 2) << 20, i, HEDDLE_POLICY_MAX, i < n);
        const int c = id_writer.insert_each((uint64_t)(i / 4) << 31, 0, HEDDLE_POLICY_KEEP, i < n);
        int d = 0;
        if (i < n)
            d = heddle_iceberg_k32_v32_b16_insert(view, key_of((n - 1 - i) / 2), 1,
                                                  HEDDLE_POLICY_ADD);
        if (i < n && (a == HEDDLE_OUTCOME_FAILED || b == HEDDLE_OUTCOME_FAILED ||
                      c == HEDDLE_OUTCOME_FAILED || d == HEDDLE_OUTCOME_FAILED))
            atomicAdd(failed, 1);
        __syncwarp();
    }
}

__global__ void find_all(pairs::table one, wide::table two, ids::table three, const void *view,
                         uint32_t n, device_word *wrong)
{
    const uint32_t tiles = gridDim.x * blockDim.x / pairs::tile_size;
    for (uint32_t i = (uint32_t)pairs::tile_number(); i < n; i += tiles) {
        uint32_t value = 0;
        const bool found = pairs::find(one, key_of(i), &value);
        if (found != (i < n / 2) || (found && value != 4)) atomicAdd(wrong, 1);
    }
    const uint32_t wide_tiles = gridDim.x * blockDim.x / wide::tile_size;
    for (uint32_t i = (uint32_t)wide::tile_number(); i < n; i += wide_tiles) {
        uint64_t value = 0;
        const bool found = wide::find(two, (uint64_t)i << 20, &value);
        if (found != (i < n / 2) || (found && value != 2 * (uint64_t)i + 1)) atomicAdd(wrong, 1);
    }
    const uint32_t id_tiles = gridDim.x * blockDim.x / ids::tile_size;
    for (uint32_t i = (uint32_t)ids::tile_number(); i < n; i += id_tiles)
        if (ids::contains(three, (uint64_t)i << 31) != (i < n / 4)) atomicAdd(wrong, 1);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint32_t value = 0;
        const int found = heddle_iceberg_k32_v32_b16_find(view, key_of(i), &value);
        if (found != (i < n / 2) || (found && value != 4)) atomicAdd(wrong, 1);
    }
}

/* Half of the keys, each by several tiles and threads. */
__global__ void erase_half(pairs::table one, const void *view, uint32_t n, device_word *erased)
{
    pairs::writer writer(one);
    const uint32_t tiles = gridDim.x * blockDim.x / pairs::tile_size;
    for (uint32_t i = (uint32_t)pairs::tile_number(); i < n; i += tiles)
        if (writer.erase(key_of(i / 2)) && threadIdx.x % pairs::tile_size == 0)
            atomicAdd(erased, 1);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (heddle_iceberg_k32_v32_b16_erase(view, key_of(i / 2))) atomicAdd(erased, 1);
}

static void iceberg(void **state)
{
    heddle_device *device = NULL;
    pairs::table one;
    wide::table two;
    ids::table three;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *a =
        table_of(device, HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_ICEBERG, 32, 32, 16, N / 2, 0);
    heddle_table *b =
        table_of(device, HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_ICEBERG, 64, 64, 16, N / 2, 0);
    heddle_table *c =
        table_of(device, HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_ICEBERG, 64, 0, 16, N / 4, 0);
    device_word *word = words_make(1);
    check_ok(pairs::open(a, &one));
    check_ok(wide::open(b, &two));
    check_ok(ids::open(c, &three));
    assert_int_equal(wide::open(a, &two), HEDDLE_ERROR_INVALID);
    check_ok(wide::open(b, &two));
    void *view = view_upload(one);
    fill<<<264, 256>>>(one, two, three, view, N, word);
    assert_int_equal(word_read(word), 0);
    size_is(a, N / 2);
    size_is(b, N / 2);
    size_is(c, N / 4);
    find_all<<<264, 256>>>(one, two, three, view, N, word);
    assert_int_equal(word_read(word), 0);
    erase_half<<<264, 256>>>(one, view, N / 2, word);
    assert_int_equal(word_read(word), N / 4);
    size_is(a, N / 4);
    cudaFree(view);
    cudaFree(word);
    heddle_table_destroy(a);
    heddle_table_destroy(b);
    heddle_table_destroy(c);
    heddle_device_close(device);
}

__global__ void overfill(pairs::table table, uint32_t n, uint8_t *outcomes)
{
    pairs::writer writer(table);
    const uint32_t tiles = gridDim.x * blockDim.x / pairs::tile_size;
    for (uint32_t i = (uint32_t)pairs::tile_number(); i < n; i += tiles) {
        const int outcome = writer.insert(key_of(i), i, HEDDLE_POLICY_KEEP);
        if (threadIdx.x % pairs::tile_size == 0) outcomes[i] = (uint8_t)outcome;
    }
}

/* More keys than there are slots: those that failed are not there, and the host inserts them. */
static void full(void **state)
{
    heddle_device *device = NULL;
    pairs::table inside;
    const uint32_t n = 100000;
    uint8_t *outcomes = NULL;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *table =
        table_of(device, HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_ICEBERG, 32, 32, 16, n / 2, 0);
    check_ok(pairs::open(table, &inside));
    check_cuda(cudaMalloc(&outcomes, n));
    overfill<<<64, 256>>>(inside, n, outcomes);
    std::vector<uint8_t> said(n), found(n);
    std::vector<uint32_t> keys(n), values(n), rest_keys, rest_values;
    check_cuda(cudaMemcpy(said.data(), outcomes, n, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = key_of(i);
        if (said[i] != HEDDLE_OUTCOME_FAILED) continue;
        rest_keys.push_back(keys[i]);
        rest_values.push_back(i);
    }
    assert_true(rest_keys.size() > n / 8);
    size_is(table, n - rest_keys.size());
    check_ok(heddle_table_contains(table, keys.data(), n, found.data(), NULL, NULL));
    for (uint32_t i = 0; i < n; i++) assert_int_equal(found[i], said[i] != HEDDLE_OUTCOME_FAILED);
    check_ok(heddle_table_insert(table, rest_keys.data(), rest_values.data(), rest_keys.size(),
                                 NULL, NULL, NULL));
    size_is(table, n);
    check_ok(heddle_table_find(table, keys.data(), n, values.data(), NULL, NULL, NULL));
    for (uint32_t i = 0; i < n; i++) assert_int_equal(values[i], i);
    cudaFree(outcomes);
    heddle_table_destroy(table);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(iceberg), cmocka_unit_test(full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
