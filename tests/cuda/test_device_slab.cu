/*
 * test_device_slab.cu: slab hashes inside kernels of a user's own: by heddle/device.cuh, and beside it at the same
 * time by the functions that other languages link; insertions, erasures and lookups all at once. What the kernels
 * did is asked for by batch calls. Multimaps are in test_device_values.cu.
 */
#include <vector>

#include "device_words.h"

#define HEDDLE_NAME pairs
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HEDDLE_NAME wide
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include <heddle/device.cuh>

#define HEDDLE_NAME ids
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

#define HEDDLE_NAME pair_lists
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include <heddle/device.cuh>

/* The functions of a map, and those that are linked. */
#define INSTANCE(name, inside, linked, K, V)                                                       \
    extern "C" __device__ int32_t heddle_##linked##_insert(const void *view, K key, V value,       \
                                                           uint32_t policy);                       \
    extern "C" __device__ int32_t heddle_##linked##_find(const void *view, K key, V *value);       \
    extern "C" __device__ int32_t heddle_##linked##_erase(const void *view, K key);                \
    struct name##_linked {                                                                         \
        static __device__ int insert(const void *v, K k, V x, uint32_t p)                          \
        {                                                                                          \
            return heddle_##linked##_insert(v, k, x, p);                                           \
        }                                                                                          \
        static __device__ int find(const void *v, K k, V *x)                                       \
        {                                                                                          \
            return heddle_##linked##_find(v, k, x);                                                \
        }                                                                                          \
        static __device__ int erase(const void *v, K k) { return heddle_##linked##_erase(v, k); }  \
    };                                                                                             \
    struct name : name##_linked {                                                                  \
        typedef inside::table table;                                                               \
        typedef inside::writer writer;                                                             \
        typedef K key_type;                                                                        \
        typedef V value_type;                                                                      \
        enum {                                                                                     \
            tile_size = inside::tile_size,                                                         \
            bucket = inside::bucket_size,                                                          \
            bits = 8 * sizeof(K)                                                                   \
        };                                                                                         \
        static heddle_status open(heddle_table *handle, table *t)                                  \
        {                                                                                          \
            return inside::open(handle, t);                                                        \
        }                                                                                          \
        static __device__ uint64_t tile_number() { return inside::tile_number(); }                 \
    }
INSTANCE(map_32, pairs, slab_k32_v32, uint32_t, uint32_t);
INSTANCE(map_64, wide, slab_k64_v64, uint64_t, uint64_t);

static const uint32_t N = 1 << 20;

template <class K> __host__ __device__ static K key_of(uint32_t number)
{
    return (K)((number + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 8 * sizeof(K)));
}

template <class I>
static heddle_table *make(heddle_device *device, uint64_t capacity, uint32_t flags)
{
    return table_of(device, HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_SLAB, I::bits, I::bits, I::bucket,
                    capacity, flags);
}

/* Every key four times: by lanes of tiles and by single threads, all in one launch. */
template <class I>
__global__ void fill(typename I::table table, const void *view, uint32_t n, device_word *failed)
{
    typename I::writer writer(table);
    typedef typename I::key_type K;
    for (uint32_t base = 0; base < n; base += gridDim.x * blockDim.x) {
        const uint32_t i = base + blockIdx.x * blockDim.x + threadIdx.x;
        const int a = writer.insert_each(key_of<K>(i / 2), 1, HEDDLE_POLICY_ADD, i < n);
        int b = HEDDLE_OUTCOME_INSERTED;
        if (i < n) b = I::insert(view, key_of<K>((n - 1 - i) / 2), 1, HEDDLE_POLICY_ADD);
        if (i < n && (a == HEDDLE_OUTCOME_FAILED || b == HEDDLE_OUTCOME_FAILED))
            atomicAdd(failed, 1);
        __syncwarp();
    }
}

/* Keys [0, n / 2) have the value 4, the others are absent. */
template <class I>
__global__ void find_all(typename I::table table, const void *view, uint32_t n, device_word *wrong)
{
    const uint32_t tiles = gridDim.x * blockDim.x / I::tile_size;
    for (uint32_t i = (uint32_t)I::tile_number(); i < n; i += tiles) {
        typename I::value_type value = 0;
        const bool found = find(table, key_of<typename I::key_type>(i), &value);
        if (found != (i < n / 2) || (found && value != 4)) atomicAdd(wrong, 1);
        if (contains(table, key_of<typename I::key_type>(i)) != found) atomicAdd(wrong, 1);
    }
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        typename I::value_type value = 0;
        const int found = I::find(view, key_of<typename I::key_type>(i), &value);
        if (found != (i < n / 2) || (found && value != 4)) atomicAdd(wrong, 1);
    }
}

/* Half of the keys, each by several tiles and threads. */
template <class I>
__global__ void erase_half(typename I::table table, const void *view, uint32_t n,
                           device_word *erased)
{
    typename I::writer writer(table);
    const uint32_t tiles = gridDim.x * blockDim.x / I::tile_size;
    for (uint32_t i = (uint32_t)I::tile_number(); i < n; i += tiles)
        if (writer.erase(key_of<typename I::key_type>(i / 2)) && threadIdx.x % I::tile_size == 0)
            atomicAdd(erased, 1);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (I::erase(view, key_of<typename I::key_type>(i / 2))) atomicAdd(erased, 1);
}

struct add_values {
    device_word *sum;
    template <class K, class V> __device__ void operator()(K, V value) const
    {
        atomicAdd(sum, (device_word)value);
    }
};

template <class I> static void one_kind_at_a_time(void **state)
{
    heddle_device *device = NULL;
    typename I::table inside;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *table = make<I>(device, N / 2, 0);
    device_word *word = words_make(2);
    check_ok(I::open(table, &inside));
    void *view = view_upload(inside);
    fill<I><<<264, 256>>>(inside, view, N, word);
    assert_int_equal(word_read(word), 0);
    size_is(table, N / 2);
    find_all<I><<<264, 256>>>(inside, view, N, word);
    assert_int_equal(word_read(word), 0);
    for_all<<<264, 256>>>(inside, add_values{word + 1});
    assert_int_equal(word_read(word + 1), 2 * (uint64_t)N);
    erase_half<I><<<264, 256>>>(inside, view, N / 2, word);
    assert_int_equal(word_read(word), N / 4);
    size_is(table, N / 4);
    cudaFree(view);
    cudaFree(word);
    heddle_table_destroy(table);
    heddle_device_close(device);
}

/*
 * Everything at once. Keys from HOT on are there and nobody touches them: each is found. Those below, so few that
 * tiles and threads of one warp meet, come and go. Their value is their number, so no other may be read.
 */
static const uint32_t HOT = 64, ROUNDS = 256;

template <class I>
__global__ void all_at_once(typename I::table table, const void *view, uint32_t n,
                            device_word *came, device_word *went, device_word *wrong)
{
    typedef typename I::key_type K;
    typename I::writer writer(table);
    const uint32_t lane = threadIdx.x % I::tile_size,
                   thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t tile_state = thread / I::tile_size * 2654435761u + 1, state = thread * 2246822519u + 1;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        tile_state = tile_state * 1664525u + 1013904223u;
        const uint32_t hot = (tile_state >> 16) % HOT, stable = HOT + tile_state % n;
        typename I::value_type value = 0;
        if (tile_state >> 30 == 0) {
            const int outcome = writer.insert(key_of<K>(hot), hot, HEDDLE_POLICY_REPLACE);
            if (lane == 0 && outcome == HEDDLE_OUTCOME_INSERTED) atomicAdd(came, 1);
            if (outcome == HEDDLE_OUTCOME_FAILED) atomicAdd(wrong, 1);
        } else if (tile_state >> 30 == 1) {
            if (writer.erase(key_of<K>(hot)) && lane == 0) atomicAdd(went, 1);
        } else if (find(table, key_of<K>(hot), &value) && value != hot) {
            atomicAdd(wrong, 1);
        }
        if (!find(table, key_of<K>(stable), &value) || value != stable) atomicAdd(wrong, 1);
        state = state * 1664525u + 1013904223u; /* from here on every thread on its own */
        const uint32_t mine = (state >> 16) % HOT;
        if (state >> 30 == 0) {
            const int outcome = I::insert(view, key_of<K>(mine), mine, HEDDLE_POLICY_REPLACE);
            if (outcome == HEDDLE_OUTCOME_INSERTED) atomicAdd(came, 1);
            if (outcome == HEDDLE_OUTCOME_FAILED) atomicAdd(wrong, 1);
        } else if (state >> 30 == 1) {
            if (I::erase(view, key_of<K>(mine))) atomicAdd(went, 1);
        } else if (I::find(view, key_of<K>(mine), &value) && value != mine) {
            atomicAdd(wrong, 1);
        }
        __syncwarp();
    }
}

/* Insertions that come after so many erasures compact the lists, and dead slots are many here. */
template <class I> static void everything_at_once(void **state)
{
    typedef typename I::key_type K;
    heddle_device *device = NULL;
    typename I::table inside;
    const uint32_t stable = 1 << 16;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *table = make<I>(device, 1 << 22, 0);
    std::vector<K> keys(stable);
    std::vector<typename I::value_type> values(stable);
    for (uint32_t i = 0; i < stable; i++) keys[i] = key_of<K>(HOT + i), values[i] = HOT + i;
    check_ok(heddle_table_insert(table, keys.data(), values.data(), stable, NULL, NULL, NULL));
    device_word *words = words_make(3);
    for (int i = 0; i < 3; i++) {
        check_ok(I::open(table, &inside));
        void *view = view_upload(inside);
        all_at_once<I><<<16, 256>>>(inside, view, stable, words, words + 1, words + 2);
        assert_int_equal(word_read(words + 2), 0);
        size_is(table, stable + word_read(words) - word_read(words + 1));
        assert_true(word_read(words + 1) > 1000);
        check_ok(heddle_table_flush(table, NULL));
        size_is(table, stable + word_read(words) - word_read(words + 1));
        cudaFree(view);
    }
    cudaFree(words);
    heddle_table_destroy(table);
    heddle_device_close(device);
}

template <class I> __global__ void overfill(typename I::table table, uint32_t n, uint8_t *outcomes)
{
    typename I::writer writer(table);
    const uint32_t tiles = gridDim.x * blockDim.x / I::tile_size;
    for (uint32_t i = (uint32_t)I::tile_number(); i < n; i += tiles) {
        const int outcome = writer.insert(key_of<typename I::key_type>(i), i, HEDDLE_POLICY_KEEP);
        if (threadIdx.x % I::tile_size == 0) outcomes[i] = (uint8_t)outcome;
    }
}

/* More keys than there are slots: those that failed are not there, and the host inserts them. */
template <class I> static void full(void **state)
{
    typedef typename I::key_type K;
    typedef typename I::value_type V;
    heddle_device *device = NULL;
    typename I::table inside;
    const uint32_t n = 200000;
    uint8_t *outcomes = NULL;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *table = make<I>(device, n / 4, 0);
    check_ok(I::open(table, &inside));
    check_cuda(cudaMalloc(&outcomes, n));
    overfill<I><<<64, 256>>>(inside, n, outcomes);
    std::vector<uint8_t> said(n), found(n);
    std::vector<K> keys(n), rest_keys;
    std::vector<V> values(n), rest_values;
    check_cuda(cudaMemcpy(said.data(), outcomes, n, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = key_of<K>(i);
        assert_true(said[i] == HEDDLE_OUTCOME_INSERTED || said[i] == HEDDLE_OUTCOME_FAILED);
        if (said[i] != HEDDLE_OUTCOME_FAILED) continue;
        rest_keys.push_back(keys[i]);
        rest_values.push_back(i);
    }
    assert_true(rest_keys.size() > n / 8 && rest_keys.size() < n * 7 / 8);
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

__global__ void fill_set(ids::table table, uint32_t n, device_word *came)
{
    ids::writer writer(table);
    for (uint32_t base = 0; base < n; base += gridDim.x * blockDim.x) {
        const uint32_t i = base + blockIdx.x * blockDim.x + threadIdx.x;
        const int outcome =
            writer.insert_each(key_of<uint64_t>(i / 4), 0, HEDDLE_POLICY_KEEP, i < n);
        if (i < n && outcome == HEDDLE_OUTCOME_INSERTED) atomicAdd(came, 1);
    }
}

/* Sets; and the names of other tables are refused. */
static void sets_and_names(void **state)
{
    heddle_device *device = NULL;
    pairs::table map;
    wide::table other;
    ids::table set;
    pair_lists::table many;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *a =
        table_of(device, HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_SLAB, 64, 0, 0, N / 4, 0);
    heddle_table *b = make<map_32>(device, 100, 0);
    heddle_table *c =
        table_of(device, HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_SLAB, 32, 32, 0, 100, 0);
    device_word *came = words_make(1);
    check_ok(ids::open(a, &set));
    fill_set<<<264, 256>>>(set, N, came);
    assert_int_equal(word_read(came), N / 4);
    size_is(a, N / 4);
    check_ok(pairs::open(b, &map));
    check_ok(pair_lists::open(c, &many));
    assert_int_equal(wide::open(b, &other), HEDDLE_ERROR_INVALID);
    assert_int_equal(pairs::open(c, &map), HEDDLE_ERROR_INVALID);
    assert_int_equal(pair_lists::open(b, &many), HEDDLE_ERROR_INVALID);
    cudaFree(came);
    heddle_table_destroy(a);
    heddle_table_destroy(b);
    heddle_table_destroy(c);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kind_at_a_time<map_32>),
        cmocka_unit_test(one_kind_at_a_time<map_64>),
        cmocka_unit_test(everything_at_once<map_32>),
        cmocka_unit_test(everything_at_once<map_64>),
        cmocka_unit_test(full<map_32>),
        cmocka_unit_test(full<map_64>),
        cmocka_unit_test(sets_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
