/*
 * test_device_values.cu: multimaps inside kernels of a user's own, by open addressing, as bucket lists and as slab hashes: by
 * heddle/device.cuh, and beside it at the same time by the functions that other languages link. What the
 * kernels did is asked for by batch calls, which also insert what the kernels had no room for.
 */
#include <map>
#include <vector>

#include "device_words.h"

#define HEDDLE_NAME multi
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HEDDLE_NAME multi_wide
#define HEDDLE_SCHEME open
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HEDDLE_NAME lists
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HEDDLE_NAME lists_wide
#define HEDDLE_SCHEME bucket_list
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HEDDLE_NAME slabs
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HEDDLE_NAME slabs_wide
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include <heddle/device.cuh>

/* A table's functions, and those that are linked. */
#define INSTANCE(name, inside, linked, K, V, scheme_id)                                            \
    extern "C" __device__ int32_t heddle_##linked##_insert(const void *view, K key, V value);      \
    extern "C" __device__ uint64_t heddle_##linked##_count(const void *view, K key);               \
    extern "C" __device__ int32_t heddle_##linked##_erase(const void *view, K key);                \
    struct name : inside##_types {                                                                 \
        static __device__ int insert(const void *v, K k, V x)                                      \
        {                                                                                          \
            return heddle_##linked##_insert(v, k, x);                                              \
        }                                                                                          \
        static __device__ uint64_t count(const void *v, K k)                                       \
        {                                                                                          \
            return heddle_##linked##_count(v, k);                                                  \
        }                                                                                          \
        static __device__ int erase(const void *v, K k) { return heddle_##linked##_erase(v, k); }  \
        enum { bits = 8 * sizeof(K), scheme = scheme_id };                                         \
    }
#define TYPES(inside)                                                                              \
    struct inside##_types {                                                                        \
        typedef inside::table table;                                                               \
        typedef inside::writer writer;                                                             \
        typedef inside::key_type key_type;                                                         \
        typedef inside::value_type value_type;                                                     \
        enum { tile_size = inside::tile_size, bucket = inside::bucket_size };                      \
        static heddle_status open(heddle_table *handle, table *t)                                  \
        {                                                                                          \
            return inside::open(handle, t);                                                        \
        }                                                                                          \
        static __device__ uint64_t tile_number() { return inside::tile_number(); }                 \
    }
TYPES(multi);
TYPES(multi_wide);
TYPES(lists);
TYPES(lists_wide);
TYPES(slabs);
TYPES(slabs_wide);
INSTANCE(multi_32, multi, open_multimap_k32_v32_b8, uint32_t, uint32_t, HEDDLE_SCHEME_OPEN);
INSTANCE(multi_64, multi_wide, open_multimap_k64_v64_b8, uint64_t, uint64_t, HEDDLE_SCHEME_OPEN);
INSTANCE(lists_32, lists, bucket_list_k32_v32_b8, uint32_t, uint32_t, HEDDLE_SCHEME_BUCKET_LIST);
INSTANCE(lists_64, lists_wide, bucket_list_k64_v64_b8, uint64_t, uint64_t,
         HEDDLE_SCHEME_BUCKET_LIST);
INSTANCE(slabs_32, slabs, slab_multimap_k32_v32, uint32_t, uint32_t, HEDDLE_SCHEME_SLAB);
INSTANCE(slabs_64, slabs_wide, slab_multimap_k64_v64, uint64_t, uint64_t, HEDDLE_SCHEME_SLAB);

static const uint32_t N = 1 << 18, HOT = 64; /* every HOT-th pair has the same key */

/* Which key, by number, the i-th pair has; its value is i. */
__host__ __device__ static uint32_t number_of(uint32_t i) { return i % HOT == 0 ? 0 : 1 + i / 8; }
template <class K> __host__ __device__ static K key_of(uint32_t number)
{
    return (K)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 8 * sizeof(K)));
}

/* The first half by lanes of tiles, the second by single threads. */
template <class I>
__global__ void fill(typename I::table table, const void *view, uint32_t n, uint8_t *outcomes)
{
    typename I::writer writer(table);
    const uint32_t stride = gridDim.x * blockDim.x, half = n / 2;
    for (uint32_t base = 0; base < half; base += stride) {
        const uint32_t i = base + blockIdx.x * blockDim.x + threadIdx.x;
        const int outcome =
            writer.insert_each(key_of<typename I::key_type>(number_of(i)), i, i < half);
        if (i < half) outcomes[i] = (uint8_t)outcome;
        if (i < half)
            outcomes[half + i] = (uint8_t)I::insert(
                view, key_of<typename I::key_type>(number_of(half + i)), half + i);
        __syncwarp();
    }
}

/* counts[number] as tiles and as threads find it; sums[number] of the values that visits see. */
template <class I>
__global__ void look(typename I::table table, const void *view, uint32_t numbers,
                     device_word *counts, device_word *sums, device_word *wrong)
{
    const uint32_t tiles = gridDim.x * blockDim.x / I::tile_size;
    for (uint32_t i = (uint32_t)I::tile_number(); i < numbers; i += tiles) {
        const auto key = key_of<typename I::key_type>(i);
        typename I::value_type any = 0;
        const uint64_t values = count(table, key);
        const uint64_t seen =
            visit(table, key, [&](typename I::key_type, typename I::value_type value) {
                atomicAdd(&sums[i], (device_word)value);
            });
        const bool found = find(table, key, &any);
        if (seen != values || found != (values != 0) || contains(table, key) != found)
            atomicAdd(wrong, 1);
        if (found && number_of((uint32_t)any) != i) atomicAdd(wrong, 1);
        if (I::count(view, key) != values) atomicAdd(wrong, 1);
        counts[i] = values;
    }
}

/* Every second key, by tiles and by threads. */
template <class I>
__global__ void erase_some(typename I::table table, const void *view, uint32_t numbers,
                           device_word *erased)
{
    typename I::writer writer(table);
    const uint32_t tiles = gridDim.x * blockDim.x / I::tile_size, lane = threadIdx.x % I::tile_size;
    for (uint32_t i = 2 * (uint32_t)I::tile_number(); i < numbers; i += 2 * tiles) {
        const auto key = key_of<typename I::key_type>(i);
        if (writer.erase(key) && lane == 0) atomicAdd(erased, 1);
    }
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; 2 * i < numbers;
         i += gridDim.x * blockDim.x)
        if (I::erase(view, key_of<typename I::key_type>(2 * i))) atomicAdd(erased, 1);
}

struct add_values {
    device_word *sum;
    template <class K, class V> __device__ void operator()(K, V value) const
    {
        atomicAdd(sum, (device_word)value);
    }
};

/* How many pairs of the first n are there, and the sum of their values, by number of the key. */
typedef std::map<uint32_t, std::pair<uint64_t, uint64_t>> model;

template <class I>
static void look_is(const typename I::table &table, const void *view, const model &m)
{
    const uint32_t numbers = 2 + N / 8;
    device_word *counts = words_make(numbers), *sums = words_make(numbers), *wrong = words_make(1);
    std::vector<device_word> had(numbers), sum(numbers);
    look<I><<<264, 256>>>(table, view, numbers, counts, sums, wrong);
    assert_int_equal(word_read(wrong), 0);
    check_cuda(cudaMemcpy(had.data(), counts, 8 * numbers, cudaMemcpyDeviceToHost));
    check_cuda(cudaMemcpy(sum.data(), sums, 8 * numbers, cudaMemcpyDeviceToHost));
    uint64_t total = 0;
    for (uint32_t i = 0; i < numbers; i++) {
        const auto at = m.find(i);
        assert_int_equal(had[i], at == m.end() ? 0 : at->second.first);
        assert_int_equal(sum[i], at == m.end() ? 0 : at->second.second);
        total += sum[i];
    }
    check_cuda(cudaMemset(wrong, 0, sizeof *wrong));
    for_all<<<264, 256>>>(table, add_values{wrong});
    assert_int_equal(word_read(wrong), total);
    cudaFree(counts);
    cudaFree(sums);
    cudaFree(wrong);
}

template <class I>
static heddle_table *make(heddle_device *device, uint64_t capacity, uint32_t flags)
{
    return table_of(device, HEDDLE_CONTAINER_MULTIMAP, I::scheme, I::bits, I::bits, I::bucket,
                    capacity, flags);
}

/* Inserts N pairs by a kernel; those that failed come back. */
template <class I>
static std::vector<uint32_t> fill_by_kernel(const typename I::table &table, const void *view,
                                            model *m)
{
    std::vector<uint8_t> outcomes(N);
    std::vector<uint32_t> failed;
    uint8_t *said = NULL;
    check_cuda(cudaMalloc(&said, N));
    check_cuda(cudaMemset(said, 0xee, N));
    fill<I><<<264, 256>>>(table, view, N, said);
    check_cuda(cudaMemcpy(outcomes.data(), said, N, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < N; i++) {
        assert_true(outcomes[i] == HEDDLE_OUTCOME_INSERTED || outcomes[i] == HEDDLE_OUTCOME_FAILED);
        if (outcomes[i] == HEDDLE_OUTCOME_FAILED) failed.push_back(i);
        else (*m)[number_of(i)].first++, (*m)[number_of(i)].second += i;
    }
    cudaFree(said);
    return failed;
}

template <class I> static void fills(void **state)
{
    heddle_device *device = NULL;
    typename I::table inside;
    model m;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *table = make<I>(device, N, HEDDLE_FLAG_FIXED);
    check_ok(I::open(table, &inside));
    void *view = view_upload(inside);
    assert_int_equal(fill_by_kernel<I>(inside, view, &m).size(), 0);
    size_is(table, N);
    look_is<I>(inside, view, m);
    device_word *erased = words_make(1);
    erase_some<I><<<264, 256>>>(inside, view, 2 + N / 8, erased);
    const uint64_t before = m.size();
    uint64_t left = 0;
    for (auto at = m.begin(); at != m.end();) at = at->first % 2 == 0 ? m.erase(at) : std::next(at);
    for (const auto &entry : m) left += entry.second.first;
    assert_int_equal(word_read(erased), before - m.size());
    size_is(table, left);
    look_is<I>(inside, view, m);
    cudaFree(erased);
    cudaFree(view);
    heddle_table_destroy(table);
    heddle_device_close(device);
}

/* A table that is too small: what failed is not there, batch calls insert it, and kernels go on. */
template <class I> static void overflows(void **state)
{
    typedef typename I::key_type K;
    heddle_device *device = NULL;
    typename I::table inside;
    model m;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *table = make<I>(device, N / 8, 0);
    check_ok(I::open(table, &inside));
    void *view = view_upload(inside);
    const std::vector<uint32_t> failed = fill_by_kernel<I>(inside, view, &m);
    assert_true(!failed.empty() && failed.size() < N);
    size_is(table, N - failed.size());
    look_is<I>(inside, view, m);
    std::vector<K> keys;
    std::vector<typename I::value_type> values;
    for (const uint32_t i : failed) {
        keys.push_back(key_of<K>(number_of(i)));
        values.push_back(i);
        m[number_of(i)].first++, m[number_of(i)].second += i;
    }
    check_ok(heddle_table_insert(table, keys.data(), values.data(), keys.size(), NULL, NULL, NULL));
    size_is(table, N);
    check_ok(I::open(table, &inside));
    cudaFree(view);
    view = view_upload(inside);
    look_is<I>(inside, view, m);
    const uint64_t more = N - fill_by_kernel<I>(inside, view, &m).size();
    size_is(table, N + more);
    look_is<I>(inside, view, m);
    cudaFree(view);
    heddle_table_destroy(table);
    heddle_device_close(device);
}

/* The names of other tables are refused. */
static void names(void **state)
{
    heddle_device *device = NULL;
    multi::table one;
    lists::table two;
    lists_wide::table three;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *a = make<multi_32>(device, 100, 0), *b = make<lists_32>(device, 100, 0);
    check_ok(multi::open(a, &one));
    check_ok(lists::open(b, &two));
    assert_int_equal(multi::open(b, &one), HEDDLE_ERROR_INVALID);
    assert_int_equal(lists::open(a, &two), HEDDLE_ERROR_INVALID);
    assert_int_equal(lists_wide::open(b, &three), HEDDLE_ERROR_INVALID);
    heddle_table_destroy(a);
    heddle_table_destroy(b);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills<multi_32>),
        cmocka_unit_test(fills<multi_64>),
        cmocka_unit_test(fills<lists_32>),
        cmocka_unit_test(fills<lists_64>),
        cmocka_unit_test(overflows<multi_32>),
        cmocka_unit_test(overflows<multi_64>),
        cmocka_unit_test(overflows<lists_32>),
        cmocka_unit_test(overflows<lists_64>),
        cmocka_unit_test(fills<slabs_32>),
        cmocka_unit_test(fills<slabs_64>),
        cmocka_unit_test(overflows<slabs_32>),
        cmocka_unit_test(overflows<slabs_64>),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
