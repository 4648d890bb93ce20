/*
 * test_device.cu: tables inside kernels of a user's own: by heddle/device.cuh, on two tables in one file,
 * and by the PTX that other languages link. What the kernels did is asked for by batch calls.
 */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four headers above before it */
#include <cmocka.h>
}

#define HEDDLE_NAME pairs
#define HEDDLE_SCHEME open
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

#define HEDDLE_NAME wide
#define HEDDLE_SCHEME cuckoo
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 8
#include <heddle/device.cuh>

static const uint32_t N = 1 << 20;

#define check_ok(call) assert_int_equal((call), HEDDLE_OK)
#define check_cuda(call) assert_int_equal((call), cudaSuccess)

__global__ void fill_both(pairs::table one, wide::table two, uint32_t n, uint32_t *failed)
{
    pairs::writer writer(one);
    wide::writer other(two);
    const uint32_t stride = gridDim.x * blockDim.x;
    for (uint32_t base = 0; base < n; base += stride) {
        const uint32_t i = base + blockIdx.x * blockDim.x + threadIdx.x;
        /* Every key twice. */
        const int a = writer.insert_each(i / 2 * 2654435761u, 1, HEDDLE_POLICY_ADD, i < n);
        const int b = other.insert_each((uint64_t)(i / 2) << 20, i, HEDDLE_POLICY_MAX, i < n);
        if (a == HEDDLE_OUTCOME_FAILED || b == HEDDLE_OUTCOME_FAILED) atomicAdd(failed, 1);
    }
}

__global__ void find_both(pairs::table one, wide::table two, uint32_t n, uint32_t *wrong)
{
    const uint32_t tiles = gridDim.x * blockDim.x / pairs::tile_size;
    for (uint32_t i = (uint32_t)pairs::tile_number(); i < n; i += tiles) {
        uint32_t value = 0;
        const bool found = pairs::find(one, i * 2654435761u, &value);
        if (found != (i < n / 2) || (found && value != 2)) atomicAdd(wrong, 1);
    }
    const uint32_t wide_tiles = gridDim.x * blockDim.x / wide::tile_size;
    for (uint32_t i = (uint32_t)wide::tile_number(); i < n; i += wide_tiles) {
        uint64_t value = 0;
        const bool found = wide::find(two, (uint64_t)i << 20, &value);
        if (found != (i < n / 2) || (found && value != 2 * (uint64_t)i + 1)) atomicAdd(wrong, 1);
    }
}

__global__ void erase_half(pairs::table one, uint32_t n, uint32_t *erased)
{
    pairs::writer writer(one);
    const uint32_t tiles = gridDim.x * blockDim.x / pairs::tile_size;
    for (uint32_t i = (uint32_t)pairs::tile_number(); i < n; i += tiles)
        if (writer.erase(i / 2 * 2654435761u) && threadIdx.x % pairs::tile_size == 0)
            atomicAdd(erased, 1);
}

struct count_them {
    unsigned long long *sum;
    __device__ void operator()(uint32_t, uint32_t value) const { atomicAdd(sum, value); }
};

struct note_rows {
    uint8_t *found;
    __device__ void operator()(uint64_t row, uint32_t, uint32_t) const { found[row]++; }
};

static heddle_table *table_make(heddle_device *device, uint32_t scheme, uint32_t bits,
                                uint64_t keys)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table = NULL;
    options.scheme = scheme;
    options.key_bits = options.value_bits = bits;
    options.bucket = 8;
    options.capacity = keys;
    check_ok(heddle_table_create(device, &options, &table));
    return table;
}

static uint32_t read_word(const uint32_t *word)
{
    uint32_t value = 0;
    check_cuda(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void kernels(void **state)
{
    heddle_device *device = NULL;
    uint64_t size = 0;
    uint32_t *word = NULL;
    pairs::table one;
    wide::table two, none;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    /*
     * With room to spare: kernels move no pairs. Of as many keys as these, chance fills all buckets of one in one run out
     * of five when a cuckoo table is 0.4 full.
     */
    heddle_table *a = table_make(device, HEDDLE_SCHEME_OPEN, 32, N);
    heddle_table *b = table_make(device, HEDDLE_SCHEME_CUCKOO, 64, 4 * N);
    check_cuda(cudaMalloc(&word, sizeof *word));
    check_cuda(cudaMemset(word, 0, sizeof *word));
    check_ok(pairs::open(a, &one));
    check_ok(wide::open(b, &two));
    assert_int_equal(wide::open(a, &none), HEDDLE_ERROR_INVALID);
    fill_both<<<264, 256>>>(one, two, N, word);
    check_cuda(cudaDeviceSynchronize());
    assert_int_equal(read_word(word), 0);
    check_ok(heddle_table_size(a, &size, NULL));
    assert_int_equal(size, N / 2);
    check_ok(heddle_table_size(b, &size, NULL));
    assert_int_equal(size, N / 2);
    check_ok(heddle_table_validate(a, NULL));
    check_ok(heddle_table_validate(b, NULL));
    find_both<<<264, 256>>>(one, two, N, word);
    check_cuda(cudaDeviceSynchronize());
    assert_int_equal(read_word(word), 0);
    unsigned long long *sum = NULL, total = 0;
    check_cuda(cudaMalloc(&sum, sizeof *sum));
    check_cuda(cudaMemset(sum, 0, sizeof *sum));
    pairs::for_all<<<264, 256>>>(one, count_them{sum});
    check_cuda(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost));
    assert_int_equal(total, N);
    std::vector<uint32_t> keys(N);
    std::vector<uint8_t> found(N);
    for (uint32_t i = 0; i < N; i++) keys[i] = i * 2654435761u;
    uint32_t *asked = NULL;
    uint8_t *flags = NULL;
    check_cuda(cudaMalloc(&asked, 4 * N));
    check_cuda(cudaMalloc(&flags, N));
    check_cuda(cudaMemset(flags, 0, N));
    check_cuda(cudaMemcpy(asked, keys.data(), 4 * N, cudaMemcpyHostToDevice));
    pairs::for_each<<<264, 256>>>(one, asked, N, note_rows{flags});
    check_cuda(cudaMemcpy(found.data(), flags, N, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < N; i++) assert_int_equal(found[i], i < N / 2);
    erase_half<<<264, 256>>>(one, N / 2, word);
    check_cuda(cudaDeviceSynchronize());
    assert_int_equal(read_word(word), N / 4);
    check_ok(heddle_table_size(a, &size, NULL));
    assert_int_equal(size, N / 4);
    check_ok(heddle_table_validate(a, NULL));
    cudaFree(asked);
    cudaFree(flags);
    cudaFree(sum);
    cudaFree(word);
    heddle_table_destroy(a);
    heddle_table_destroy(b);
    heddle_device_close(device);
}

/* ------------------------------------------------------------------------------- linked as PTX */

/* As a compiler of another language would make it: each thread inserts its number, doubled, and itself. */
static const char kernel_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 result) heddle_open_k32_v32_b8_insert\n"
    "(.param .b64 a, .param .b32 b, .param .b32 c, .param .b32 d);\n"
    ".visible .entry insert_numbers(.param .u64 view, .param .u32 n)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<8>;\n.reg .b64 %v;\n"
    "ld.param.u64 %v, [view];\nld.param.u32 %r0, [n];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r4, %r1, %r2, %r3;\nsetp.ge.u32 %p, %r4, %r0;\n@%p bra DONE;\n"
    "shl.b32 %r5, %r4, 1;\nmov.u32 %r6, 0;\n{\n"
    ".param .b64 a;\n.param .b32 b;\n.param .b32 c;\n.param .b32 d;\n.param .b32 result;\n"
    "st.param.b64 [a], %v;\nst.param.b32 [b], %r5;\nst.param.b32 [c], %r4;\n"
    "st.param.b32 [d], %r6;\n"
    "call.uni (result), heddle_open_k32_v32_b8_insert, (a, b, c, d);\n"
    "ld.param.b32 %r7, [result];\n}\nDONE:\nret;\n}\n";

template <class F> static F driver(const char *name)
{
    void *function = NULL;
    cudaDriverEntryPointQueryResult result;
    check_cuda(
        cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result));
    assert_non_null(function);
    return (F)function;
}
#define DRIVER(name, function) driver<decltype(&function)>(name)

static std::string device_functions(void)
{
    const char *path = getenv("HEDDLE_DEVICE_PTX");
    std::ifstream file(path != NULL ? path : HEDDLE_DEVICE_PTX, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

static CUfunction linked_kernel(void)
{
    std::string functions = device_functions();
    CUlinkState link;
    CUmodule module;
    CUfunction kernel;
    void *image = NULL;
    size_t bytes = 0;
    assert_true(functions.size() > 1000);
    assert_int_equal(DRIVER("cuLinkCreate", cuLinkCreate_v2)(0, NULL, NULL, &link), CUDA_SUCCESS);
    assert_int_equal(
        DRIVER("cuLinkAddData", cuLinkAddData_v2)(link, CU_JIT_INPUT_PTX, (void *)kernel_ptx,
                                                  sizeof kernel_ptx, "kernel", 0, NULL, NULL),
        CUDA_SUCCESS);
    assert_int_equal(DRIVER("cuLinkAddData", cuLinkAddData_v2)(link, CU_JIT_INPUT_PTX,
                                                               &functions[0], functions.size() + 1,
                                                               "heddle", 0, NULL, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(DRIVER("cuLinkComplete", cuLinkComplete)(link, &image, &bytes), CUDA_SUCCESS);
    assert_int_equal(DRIVER("cuModuleLoadData", cuModuleLoadData)(&module, image), CUDA_SUCCESS);
    assert_int_equal(
        DRIVER("cuModuleGetFunction", cuModuleGetFunction)(&kernel, module, "insert_numbers"),
        CUDA_SUCCESS);
    return kernel;
}

static void linked(void **state)
{
    heddle_device *device = NULL;
    uint64_t size = 0;
    uint32_t n = 100000;
    pairs::table inside;
    void *view = NULL;
    (void)state;
    if (heddle_cuda_device_count() == 0) skip();
    check_ok(heddle_device_open("cuda:0", &device));
    heddle_table *table = table_make(device, HEDDLE_SCHEME_OPEN, 32, n);
    check_ok(pairs::open(table, &inside));
    check_cuda(cudaMalloc(&view, sizeof inside));
    check_cuda(cudaMemcpy(view, &inside, sizeof inside, cudaMemcpyHostToDevice));
    CUfunction kernel = linked_kernel();
    void *arguments[] = {&view, &n};
    assert_int_equal(DRIVER("cuLaunchKernel", cuLaunchKernel)(kernel, (n + 255) / 256, 1, 1, 256, 1,
                                                              1, 0, 0, arguments, NULL),
                     CUDA_SUCCESS);
    check_cuda(cudaDeviceSynchronize());
    check_ok(heddle_table_size(table, &size, NULL));
    assert_int_equal(size, n);
    check_ok(heddle_table_validate(table, NULL));
    std::vector<uint32_t> keys(n), values(n);
    for (uint32_t i = 0; i < n; i++) keys[i] = 2 * i;
    check_ok(heddle_table_find(table, keys.data(), n, values.data(), NULL, NULL, NULL));
    for (uint32_t i = 0; i < n; i++) assert_int_equal(values[i], i);
    cudaFree(view);
    heddle_table_destroy(table);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels), cmocka_unit_test(linked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
