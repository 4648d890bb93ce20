/*
 * columns.cu: the plain steps over arrays of engine/columns.h on a CUDA device: scan, select, rank, sort
 * by CUB; gathers, scatters and comparisons by the kernels here. Reductions are in reduce.cu.
 */
#include "cuda/columns/columns.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cuda/columns/grouped.h"
#include "engine/blocks.h"

#define BLOCK 256

static unsigned blocks_for(const heddle_device *device, uint64_t n)
{
    const uint64_t needed = (n + BLOCK - 1) / BLOCK;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * 32;
    return (unsigned)(needed < full ? needed : full);
}

#define FOR_EACH(i, n)                                                                             \
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                    \
         i += (uint64_t)gridDim.x * blockDim.x)

/* ------------------------------------------------------------------------- scan, select and rank */

/* A flag as the number of what it selects. */
struct flag_counts {
    bool wanted;
    __host__ __device__ uint64_t operator()(uint8_t flag) const { return (flag != 0) == wanted; }
};
struct flag_selects {
    bool wanted;
    __host__ __device__ bool operator()(uint8_t flag) const { return (flag != 0) == wanted; }
};

template <class FUNCTION>
static thrust::transform_iterator<FUNCTION, const uint8_t *> each_flag(hd_flags flags)
{
    return thrust::transform_iterator<FUNCTION, const uint8_t *>(flags.flags,
                                                                 FUNCTION{flags.wanted});
}

template <class ROW>
static cudaError_t run_select(void *work, size_t &bytes, hd_flags flags, void *rows,
                              uint64_t *count, cudaStream_t stream)
{
    return cub::DeviceSelect::Flagged(work, bytes, thrust::counting_iterator<ROW>(0),
                                      each_flag<flag_selects>(flags), (ROW *)rows, count,
                                      (int64_t)flags.n, stream);
}

template <class ROW>
static cudaError_t run_rank(void *work, size_t &bytes, hd_flags flags, void *ranks,
                            cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveScan(work, bytes, each_flag<flag_counts>(flags), (ROW *)ranks,
                                          cuda::std::plus<>(), (ROW)0, (int64_t)flags.n, stream);
}

static cudaError_t run_scan(void *work, size_t &bytes, uint64_t *numbers, uint64_t n,
                            cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(work, bytes, numbers, numbers, (int64_t)n + 1, stream);
}

static cudaError_t run_count(void *work, size_t &bytes, hd_flags flags, uint64_t *count,
                             cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(work, bytes, each_flag<flag_counts>(flags), count,
                                  (int64_t)flags.n, stream);
}

/* The most that any of them asks for. */
static uint64_t column_work(heddle_device *device, uint64_t n)
{
    const hd_flags flags = {NULL, n, true};
    size_t bytes[6] = {0};
    uint64_t most = 0;
    cudaStream_t use;
    if (hd_cuda_enter(device, NULL, &use) != HEDDLE_OK) return 0;
    run_scan(NULL, bytes[0], NULL, n, use);
    run_select<uint32_t>(NULL, bytes[1], flags, NULL, NULL, use);
    run_select<uint64_t>(NULL, bytes[2], flags, NULL, NULL, use);
    run_rank<uint32_t>(NULL, bytes[3], flags, NULL, use);
    run_rank<uint64_t>(NULL, bytes[4], flags, NULL, use);
    run_count(NULL, bytes[5], flags, NULL, use);
    for (int i = 0; i < 6; i++)
        if (bytes[i] > most) most = bytes[i];
    return most + 256;
}

static heddle_status column_scan(hd_site on, uint64_t *numbers, uint64_t n)
{
    size_t bytes = 0;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK) return status;
    cudaError_t error = cudaMemsetAsync(numbers + n, 0, sizeof *numbers, use);
    if (error == cudaSuccess) error = run_scan(NULL, bytes, numbers, n, use);
    if (error == cudaSuccess) error = run_scan(on.work, bytes, numbers, n, use);
    return hd_cuda_check(error, "cannot sum up");
}

static heddle_status column_select(hd_site on, hd_flags flags, void *rows, uint32_t row_bits,
                                   uint64_t *count)
{
    size_t bytes = 0;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK) return status;
    cudaError_t error = cudaSuccess;
    if (flags.n == 0) error = cudaMemsetAsync(count, 0, sizeof *count, use);
    else
        for (int pass = 0; pass < 2 && error == cudaSuccess; pass++) {
            void *work = pass == 0 ? NULL : on.work; /* the first asks how much it has to be */
            error = rows == NULL     ? run_count(work, bytes, flags, count, use)
                    : row_bits == 32 ? run_select<uint32_t>(work, bytes, flags, rows, count, use)
                                     : run_select<uint64_t>(work, bytes, flags, rows, count, use);
        }
    return hd_cuda_check(error, "cannot select rows");
}

static heddle_status column_rank(hd_site on, const uint8_t *flags, uint64_t n, void *ranks,
                                 uint32_t row_bits)
{
    const hd_flags set = {flags, n, true};
    size_t bytes = 0;
    cudaError_t error = cudaSuccess;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || n == 0) return status;
    for (int pass = 0; pass < 2 && error == cudaSuccess; pass++) {
        void *work = pass == 0 ? NULL : on.work; /* the first asks how much it has to be */
        error = row_bits == 32 ? run_rank<uint32_t>(work, bytes, set, ranks, use)
                               : run_rank<uint64_t>(work, bytes, set, ranks, use);
    }
    return hd_cuda_check(error, "cannot rank rows");
}

/* --------------------------------------------------------------------------- gather and scatter */

/* Copies elements that a type of their width stands for, or byte by byte. */
template <class ELEMENT> struct whole_elements {
    const void *from;
    void *to;
    __device__ void operator()(uint64_t to_at, uint64_t from_at) const
    {
        ((ELEMENT *)to)[to_at] = ((const ELEMENT *)from)[from_at];
    }
};
struct any_elements {
    const void *from;
    void *to;
    uint32_t width;
    __device__ void operator()(uint64_t to_at, uint64_t from_at) const
    {
        for (uint32_t i = 0; i < width; i++)
            ((uint8_t *)to)[to_at * width + i] = ((const uint8_t *)from)[from_at * width + i];
    }
};

template <class ROW, class MOVE, bool GATHER>
static __global__ void __launch_bounds__(BLOCK) move_rows(MOVE move, const ROW *rows, uint64_t n)
{
    FOR_EACH(i, n)
    {
        const uint64_t row = rows[i];
        if (GATHER) move(i, row);
        else move(row, i);
    }
}

/* out[rows[i]] = 1, in the first byte of an element. */
template <class ROW>
static __global__ void __launch_bounds__(BLOCK)
    mark_rows(uint8_t *out, uint32_t width, const ROW *rows, uint64_t n)
{
    FOR_EACH(i, n)
    for (uint32_t b = 0; b < width; b++) out[(uint64_t)rows[i] * width + b] = b == 0;
}

template <bool GATHER, class MOVE>
static void launch_move(MOVE move, hd_row_numbers rows, unsigned blocks, cudaStream_t stream)
{
    if (rows.bits == 32)
        move_rows<uint32_t, MOVE, GATHER>
            <<<blocks, BLOCK, 0, stream>>>(move, (const uint32_t *)rows.numbers, rows.n);
    else
        move_rows<uint64_t, MOVE, GATHER>
            <<<blocks, BLOCK, 0, stream>>>(move, (const uint64_t *)rows.numbers, rows.n);
}

template <bool GATHER>
static heddle_status move_elements(hd_site on, hd_elements elements, hd_row_numbers rows, void *out)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || rows.n == 0) return status;
    const unsigned blocks = blocks_for(on.device, rows.n);
    const void *from = elements.data;
    const uint32_t width = elements.width;
    const uintptr_t alignment = (uintptr_t)from | (uintptr_t)out;
    if (width == 1) launch_move<GATHER>(whole_elements<uint8_t>{from, out}, rows, blocks, use);
    else if (width == 2 && alignment % 2 == 0)
        launch_move<GATHER>(whole_elements<uint16_t>{from, out}, rows, blocks, use);
    else if (width == 4 && alignment % 4 == 0)
        launch_move<GATHER>(whole_elements<uint32_t>{from, out}, rows, blocks, use);
    else if (width == 8 && alignment % 8 == 0)
        launch_move<GATHER>(whole_elements<uint64_t>{from, out}, rows, blocks, use);
    else launch_move<GATHER>(any_elements{from, out, width}, rows, blocks, use);
    return hd_cuda_check(cudaGetLastError(), GATHER ? "cannot gather" : "cannot scatter");
}

static heddle_status column_gather(hd_site on, hd_elements column, hd_row_numbers rows, void *out)
{
    return move_elements<true>(on, column, rows, out);
}

static heddle_status column_scatter(hd_site on, hd_elements from, hd_row_numbers rows, void *out)
{
    if (from.data != NULL) return move_elements<false>(on, from, rows, out);
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || rows.n == 0) return status;
    const unsigned blocks = blocks_for(on.device, rows.n);
    if (rows.bits == 32)
        mark_rows<<<blocks, BLOCK, 0, use>>>((uint8_t *)out, from.width,
                                             (const uint32_t *)rows.numbers, rows.n);
    else
        mark_rows<<<blocks, BLOCK, 0, use>>>((uint8_t *)out, from.width,
                                             (const uint64_t *)rows.numbers, rows.n);
    return hd_cuda_check(cudaGetLastError(), "cannot mark rows");
}

/* --------------------------------------------------------------------------------------- groups */

/* The number of the group of every row: in the order of the groups, or with SCATTER at out[row]. */
template <class ROW, bool SCATTER>
static __global__ void __launch_bounds__(GROUPED_BLOCK)
    number_rows(hd_grouped grouped, const ROW *names, ROW *out)
{
    __shared__ grouped_scratch scratch;
    const grouped_tile tile = grouped_tile_of(grouped, &scratch);
    for (uint32_t i = threadIdx.x; i < tile.count; i += GROUPED_BLOCK) {
        const uint64_t group = tile.group + grouped_find(&scratch, tile, i);
        const uint64_t at = tile.begin + i;
        out[SCATTER ? (uint64_t)((const ROW *)grouped.rows)[at] : at] =
            names != NULL ? names[group] : (ROW)group;
    }
}

/*
 * Random writes of single numbers cost a whole sector each. So with work memory the numbers are first
 * sorted by the leading bits of their rows. Every row is there once, so each section of rows is then a
 * section of the sorted numbers, and a block puts it in order in shared memory.
 */
#define SECTION_BITS 12
#define SECTION (1 << SECTION_BITS)
#define SECTION_BLOCK 512

template <class ROW>
static __global__ void __launch_bounds__(SECTION_BLOCK)
    order_sections(const ROW *rows, const ROW *numbers, uint64_t n, ROW *out)
{
    __shared__ ROW section[SECTION];
    const uint64_t begin = (uint64_t)blockIdx.x * SECTION;
    const uint32_t count = (uint32_t)(n - begin < SECTION ? n - begin : SECTION);
    for (uint32_t i = threadIdx.x; i < count; i += SECTION_BLOCK)
        section[rows[begin + i] - begin] = numbers[begin + i];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += SECTION_BLOCK) out[begin + i] = section[i];
}

template <class ROW> struct number_layout {
    uint64_t rows, numbers, sort, bytes; /* after the unsorted numbers */
    size_t sort_bytes;
    int begin, end; /* bits of the row that are sorted by */
    explicit number_layout(uint64_t n)
    {
        const uint64_t array = (n * sizeof(ROW) + 255) / 256 * 256;
        end = n > 1 ? 64 - __builtin_clzll(n - 1) : 1;
        begin = end > SECTION_BITS ? SECTION_BITS : 0;
        sort_bytes = 0;
        cub::DeviceRadixSort::SortPairs(NULL, sort_bytes, (const ROW *)NULL, (ROW *)NULL,
                                        (const ROW *)NULL, (ROW *)NULL, n, begin, end);
        rows = array;
        numbers = 2 * array;
        sort = 3 * array;
        bytes = sort + sort_bytes;
    }
};

template <class ROW>
static cudaError_t number_sorted(const hd_grouped *grouped, const void *names, void *out,
                                 char *work, cudaStream_t stream)
{
    number_layout<ROW> l(grouped->n);
    const ROW *rows = (const ROW *)grouped->rows;
    ROW *unsorted = (ROW *)work, *sorted_rows = (ROW *)(work + l.rows),
        *numbers = (ROW *)(work + l.numbers);
    number_rows<ROW, false><<<grouped_tiles(grouped), GROUPED_BLOCK, 0, stream>>>(
        *grouped, (const ROW *)names, unsorted);
    const cudaError_t error = cub::DeviceRadixSort::SortPairs(
        work + l.sort, l.sort_bytes, rows, sorted_rows, (const ROW *)unsorted, numbers, grouped->n,
        l.begin, l.end, stream);
    if (error != cudaSuccess) return error;
    order_sections<<<(unsigned)((grouped->n + SECTION - 1) / SECTION), SECTION_BLOCK, 0, stream>>>(
        sorted_rows, numbers, grouped->n, (ROW *)out);
    return cudaGetLastError();
}

/* From so many rows on the numbers no longer fit the second-level cache, where scattering is cheap. */
#define NUMBER_SORTED (UINT64_C(1) << 22)

template <class ROW>
static heddle_status number_of_rows(heddle_device *device, const hd_grouped *grouped,
                                    const void *names, void *out, cudaStream_t stream)
{
    void *work = NULL;
    cudaError_t error;
    if (grouped->n >= NUMBER_SORTED) {
        const heddle_status status =
            hd_block_take(device, number_layout<ROW>(grouped->n).bytes, &work);
        if (status != HEDDLE_OK) return status;
        error = number_sorted<ROW>(grouped, names, out, (char *)work, stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
        hd_block_give(device, work);
    } else {
        number_rows<ROW, true><<<grouped_tiles(grouped), GROUPED_BLOCK, 0, stream>>>(
            *grouped, (const ROW *)names, (ROW *)out);
        error = cudaGetLastError();
    }
    return hd_cuda_check(error, "cannot number the rows of groups");
}

static heddle_status column_number(hd_site on, const hd_grouped *grouped, const void *names,
                                   void *out)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || grouped->n == 0) return status;
    if (grouped->numbers != NULL) return hd_number_numbered_cuda(on, grouped, names, out);
    return grouped->row_bits == 32 ? number_of_rows<uint32_t>(on.device, grouped, names, out, use)
                                   : number_of_rows<uint64_t>(on.device, grouped, names, out, use);
}

template <class ROW>
static __global__ void __launch_bounds__(BLOCK)
    describe_groups(hd_grouped grouped, ROW *firsts, ROW *lasts, uint64_t *counts)
{
    const ROW *rows = (const ROW *)grouped.rows;
    FOR_EACH(i, grouped.groups)
    {
        const uint64_t begin = grouped.starts[i], end = grouped.starts[i + 1];
        if (firsts != NULL) firsts[i] = rows[begin];
        if (lasts != NULL) lasts[i] = rows[end - 1];
        if (counts != NULL) counts[i] = end - begin;
    }
}

static heddle_status column_describe(hd_site on, const hd_grouped *grouped, void *firsts,
                                     void *lasts, uint64_t *counts)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || grouped->groups == 0) return status;
    const unsigned blocks = blocks_for(on.device, grouped->groups);
    if (firsts != NULL && grouped->firsts != NULL) {
        const cudaError_t error =
            cudaMemcpyAsync(firsts, grouped->firsts, grouped->groups * (grouped->row_bits / 8),
                            cudaMemcpyDeviceToDevice, use);
        if (error != cudaSuccess) return hd_cuda_check(error, "cannot describe groups");
        firsts = NULL;
    }
    if (firsts == NULL && lasts == NULL && counts == NULL) return HEDDLE_OK;
    if (grouped->row_bits == 32)
        describe_groups<<<blocks, BLOCK, 0, use>>>(*grouped, (uint32_t *)firsts, (uint32_t *)lasts,
                                                   counts);
    else
        describe_groups<<<blocks, BLOCK, 0, use>>>(*grouped, (uint64_t *)firsts, (uint64_t *)lasts,
                                                   counts);
    return hd_cuda_check(cudaGetLastError(), "cannot describe groups");
}

/* --------------------------------------------------------------------------- keys of many columns */

/* Where an element is, and whether it is there: of the first table or, further on, of the second. */
struct key_element {
    const uint8_t *at;
    bool valid;
};

static __device__ __forceinline__ key_element element_of(const hd_row_keys &keys, uint32_t column,
                                                         uint64_t row)
{
    const bool second = row >= keys.n;
    const hd_column *c = second ? &keys.second[column] : &keys.first[column];
    if (second) row -= keys.n;
    return {(const uint8_t *)c->data + row * c->width, c->valid == NULL || c->valid[row] != 0};
}

/* As in cpu/columns/row_keys.c of the CPU: groups of both kinds of devices send equal keys to the same place. */
static __device__ __forceinline__ uint64_t stir(uint64_t hash, uint64_t word)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ word) * factor ^ __umul64hi(hash ^ word, factor);
}

static __device__ __forceinline__ uint64_t finish(uint64_t hash)
{
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 29;
    hash *= UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 32;
}

static __global__ void __launch_bounds__(BLOCK)
    hash_rows(hd_row_keys keys, uint64_t n, uint64_t seed, uint64_t *out)
{
    FOR_EACH(i, n)
    {
        uint64_t hash = seed;
        for (uint32_t c = 0; c < keys.columns; c++) {
            const key_element e = element_of(keys, c, i);
            const uint32_t width = keys.first[c].width;
            const uint64_t salt = (seed + c) * UINT64_C(0xd6e8feb86659fd93);
            if (!e.valid) hash = stir(stir(hash, salt), ~salt);
            for (uint32_t b = 0; e.valid && b < width; b += 8) {
                uint64_t word = 0;
                for (uint32_t k = b; k < width && k < b + 8; k++)
                    word |= (uint64_t)e.at[k] << 8 * (k - b);
                hash = stir(hash, word);
            }
        }
        out[i] = finish(hash);
    }
}

static heddle_status column_hash(hd_site on, const hd_row_keys *keys, uint64_t n, uint64_t seed,
                                 uint64_t *out)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || n == 0) return status;
    hash_rows<<<blocks_for(on.device, n), BLOCK, 0, use>>>(*keys, n, seed, out);
    return hd_cuda_check(cudaGetLastError(), "cannot hash rows");
}

static __device__ __forceinline__ bool rows_differ(const hd_row_keys &keys, uint64_t a, uint64_t b)
{
    for (uint32_t c = 0; c < keys.columns; c++) {
        const key_element x = element_of(keys, c, a), y = element_of(keys, c, b);
        if (x.valid != y.valid) return true;
        for (uint32_t i = 0; x.valid && i < keys.first[c].width; i++)
            if (x.at[i] != y.at[i]) return true;
    }
    return false;
}

template <class ROW>
static __global__ void __launch_bounds__(GROUPED_BLOCK)
    differ_rows(hd_row_keys keys, hd_grouped grouped, uint64_t *count)
{
    __shared__ grouped_scratch scratch;
    const ROW *rows = (const ROW *)grouped.rows;
    const grouped_tile tile = grouped_tile_of(grouped, &scratch);
    uint32_t mine[1] = {0};
    for (uint32_t i = threadIdx.x; i < tile.count; i += GROUPED_BLOCK) {
        const uint64_t first = grouped.starts[tile.group + grouped_find(&scratch, tile, i)];
        if (first != tile.begin + i)
            mine[0] += rows_differ(keys, rows[first], rows[tile.begin + i]);
    }
    uint64_t *const to[1] = {count};
    block_add(to, mine);
}

/* The same where groups are known by number. */
template <class ROW>
static __global__ void __launch_bounds__(BLOCK)
    differ_numbered(hd_row_keys keys, hd_grouped grouped, uint64_t *count)
{
    const ROW *firsts = (const ROW *)grouped.firsts;
    uint32_t mine[1] = {0};
    FOR_EACH(i, grouped.n)
    {
        const uint64_t first = firsts[grouped.numbers[i]];
        if (first != i) mine[0] += rows_differ(keys, first, i);
    }
    uint64_t *const to[1] = {count};
    block_add(to, mine);
}

static heddle_status column_differ(hd_site on, const hd_row_keys *keys, const hd_grouped *grouped,
                                   uint64_t *count)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || grouped->n == 0) return status;
    if (grouped->numbers != NULL) {
        const unsigned blocks = blocks_for(on.device, grouped->n);
        if (grouped->row_bits == 32)
            differ_numbered<uint32_t><<<blocks, BLOCK, 0, use>>>(*keys, *grouped, count);
        else differ_numbered<uint64_t><<<blocks, BLOCK, 0, use>>>(*keys, *grouped, count);
    } else if (grouped->row_bits == 32)
        differ_rows<uint32_t>
            <<<grouped_tiles(grouped), GROUPED_BLOCK, 0, use>>>(*keys, *grouped, count);
    else
        differ_rows<uint64_t>
            <<<grouped_tiles(grouped), GROUPED_BLOCK, 0, use>>>(*keys, *grouped, count);
    return hd_cuda_check(cudaGetLastError(), "cannot compare rows");
}

/* ------------------------------------------------------------------------------------------ top */

static __global__ void __launch_bounds__(BLOCK) count_up(uint64_t *numbers, uint64_t n)
{
    FOR_EACH(i, n) numbers[i] = i;
}

/* The parts of the work memory: numbers sorted, all indices, those in the order of the numbers, CUB's own. */
struct top_layout {
    uint64_t all, order, sort;
    size_t sort_bytes;
    explicit top_layout(uint64_t n)
    {
        const uint64_t array = (n * sizeof(uint64_t) + 255) / 256 * 256;
        sort_bytes = 0;
        cub::DeviceRadixSort::SortPairsDescending(NULL, sort_bytes, (const uint64_t *)NULL,
                                                  (uint64_t *)NULL, (const uint64_t *)NULL,
                                                  (uint64_t *)NULL, n);
        all = array;
        order = 2 * array;
        sort = 3 * array;
    }
};

/* CUB's sort is stable, so the lower index stays first among equals. */
static cudaError_t sort_top(const heddle_device *device, const uint64_t *numbers, uint64_t n,
                            uint64_t k, uint64_t *indices, char *work, cudaStream_t stream)
{
    top_layout l(n);
    uint64_t *all = (uint64_t *)(work + l.all), *order = (uint64_t *)(work + l.order);
    count_up<<<blocks_for(device, n), BLOCK, 0, stream>>>(all, n);
    cudaError_t error = cub::DeviceRadixSort::SortPairsDescending(
        work + l.sort, l.sort_bytes, numbers, (uint64_t *)work, (const uint64_t *)all, order, n, 0,
        64, stream);
    if (error == cudaSuccess)
        error =
            cudaMemcpyAsync(indices, order, k * sizeof *indices, cudaMemcpyDeviceToDevice, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

static heddle_status column_top(hd_site on, const uint64_t *numbers, uint64_t n, uint64_t k,
                                uint64_t *indices)
{
    void *own = NULL;
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || n == 0 || k == 0) return status;
    const top_layout l(n);
    status = hd_block_take(on.device, l.sort + l.sort_bytes, &own);
    if (status != HEDDLE_OK) return status;
    status =
        hd_cuda_check(sort_top(on.device, numbers, n, k < n ? k : n, indices, (char *)own, use),
                      "cannot find the largest");
    hd_block_give(on.device, own);
    return status;
}

extern "C" const hd_column_ops hd_columns_cuda;
extern "C" const hd_column_ops hd_columns_cuda = {
    column_work,    column_scan,           column_select,    column_rank,
    column_gather,  column_scatter,        column_number,    column_describe,
    hd_reduce_cuda, column_hash,           column_differ,    column_top,
    hd_order_cuda,  hd_deliver_lists_cuda, hd_renumber_cuda, hd_mark_few_cuda,
};
