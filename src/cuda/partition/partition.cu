/*
 * partition.cu: sorting pairs by region on a CUDA device, for one kind of pair: the launches of
 * the kernels in partition_kernels.h. Built once for every pair of key and value widths in
 * instances.def, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS and HD_SYMBOL. Exports
 * HD_SYMBOL alone. The files:
 *
 *     partition_kernels.h    a pass: every pair to one of up to 2^PASS_BITS targets; sorted_pair.h is a pair there
 *     scatter.inl            without counting first, into parts that have room for so many: scatter_kernels.inl
 *     partition_steps.inl    the passes in steps, for callers who bring their pairs in batches
 *     scan_counts.h          where regions begin
 */
#include "cuda/partition/partition.h"
#include "cuda/partition/partition_kernels.h"

/* The bits of the first of two passes, or all where one is enough. */
static uint32_t first_bits(uint32_t region_bits)
{
    return region_bits <= PASS_BITS ? region_bits : (region_bits + 1) / 2;
}

/* Cursors of the last pass, then the starts and cursors of the first. */
static uint64_t work_bytes(uint32_t region_bits)
{
    const uint64_t first = UINT64_C(1) << first_bits(region_bits);
    return ((UINT64_C(1) << region_bits) + 2 * first + 1) * sizeof(uint64_t);
}

/* A kernel may have more than 48 KB of shared memory only if it says so, once for each device. */
template <class KERNEL> static cudaError_t allow_memory(KERNEL kernel, size_t bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

typedef struct sorting {
    const hd_partition *job;
    uint32_t first, second; /* bits of the passes */
    uint64_t *cursors, *first_starts, *first_cursors;
    unsigned tiles;
    int multiprocessors;
    cudaStream_t stream;
} sorting;

static unsigned count_blocks(const hd_partition *job, int multiprocessors)
{
    const uint64_t blocks = (job->n + COUNT_BLOCK - 1) / COUNT_BLOCK;
    const uint64_t full = 2 * (uint64_t)multiprocessors;
    return (unsigned)(blocks < full ? blocks : full);
}

/* Counts the keys by their leading bits; adds to `counts`. */
static cudaError_t count_more(const sorting *s, uint32_t bits, uint64_t *counts)
{
    const size_t shared = sizeof(uint32_t) << bits;
    const cudaError_t error = allow_memory(count_keys<false>, sizeof(uint32_t) << COUNT_BITS);
    if (error != cudaSuccess) return error;
    count_keys<false><<<count_blocks(s->job, s->multiprocessors), COUNT_BLOCK, shared, s->stream>>>(
        *s->job, bits, 0, (unsigned long long *)counts);
    return cudaGetLastError();
}

static cudaError_t count_all(const sorting *s, uint32_t bits, uint64_t *counts)
{
    const cudaError_t error = cudaMemsetAsync(counts, 0, sizeof(uint64_t) << bits, s->stream);
    return error == cudaSuccess ? count_more(s, bits, counts) : error;
}

/* After the first pass, where its targets were counted alone. */
static cudaError_t count_again(const sorting *s, const uint32_t *pairs)
{
    const hd_partition *job = s->job;
    const cudaError_t error =
        cudaMemsetAsync(job->starts, 0, sizeof(uint64_t) << job->region_bits, s->stream);
    if (error != cudaSuccess) return error;
    if (job->n != 0)
        count_pairs<<<(unsigned)((job->n + COUNT_CHUNK - 1) / COUNT_CHUNK), COUNT_BLOCK, 0,
                      s->stream>>>(pairs, job->n, s->first_starts, s->first, s->second,
                                   (unsigned long long *)job->starts);
    scan_counts<<<1, COUNT_BLOCK, 0, s->stream>>>(1u << job->region_bits, job->starts, s->cursors,
                                                  NULL, 0);
    return cudaGetLastError();
}

static cudaError_t sort_first(const sorting *s, uint64_t *cursors, void *out)
{
    sort_keys<<<s->tiles, SORT_BLOCK, sizeof(sort_scratch), s->stream>>>(
        *s->job, s->first, (unsigned long long *)cursors, (uint32_t *)out);
    return cudaGetLastError();
}

static cudaError_t sort_once(const sorting *s)
{
    const hd_partition *job = s->job;
    const cudaError_t error = count_all(s, job->region_bits, job->starts);
    if (error != cudaSuccess) return error;
    scan_counts<<<1, COUNT_BLOCK, 0, s->stream>>>(1u << job->region_bits, job->starts, s->cursors,
                                                  NULL, 0);
    return sort_first(s, s->cursors, job->pairs);
}

static cudaError_t sort_twice(const sorting *s)
{
    const hd_partition *job = s->job;
    const bool all_counted = job->region_bits <= COUNT_BITS;
    const uint32_t counted = all_counted ? job->region_bits : s->first;
    uint64_t *starts = all_counted ? job->starts : s->first_starts;
    cudaError_t error = count_all(s, counted, starts);
    if (error != cudaSuccess) return error;
    scan_counts<<<1, COUNT_BLOCK, 0, s->stream>>>(1u << counted, starts,
                                                  all_counted ? s->cursors : NULL, s->first_cursors,
                                                  counted - s->first);
    error = sort_first(s, s->first_cursors, job->spare);
    if (error == cudaSuccess && !all_counted) error = count_again(s, (const uint32_t *)job->spare);
    if (error != cudaSuccess) return error;
    sort_pairs<<<s->tiles, SORT_BLOCK, sizeof(sort_scratch), s->stream>>>(
        (const uint32_t *)job->spare, 0, job->n, job->starts, s->second, s->first, s->second,
        (unsigned long long *)s->cursors, (uint32_t *)job->pairs);
    return cudaGetLastError();
}

/* Passes over `first` bits, then the rest. */
static sorting make_sorting(const hd_device_cuda *device, const hd_partition *job, uint32_t first,
                            cudaStream_t stream)
{
    uint64_t *work = (uint64_t *)job->work;
    sorting s;
    s.job = job;
    s.first = first;
    s.second = job->region_bits - first;
    s.cursors = work;
    s.first_starts = work + (UINT64_C(1) << job->region_bits);
    s.first_cursors = s.first_starts + (UINT64_C(1) << first) + 1;
    s.tiles = (unsigned)((job->n + SORT_TILE - 1) / SORT_TILE);
    s.multiprocessors = device->multiprocessors;
    s.stream = stream;
    return s;
}

static heddle_status sort(const hd_device_cuda *device, const hd_partition *job,
                          cudaStream_t stream)
{
    const sorting s = make_sorting(device, job, first_bits(job->region_bits), stream);
    if (job->n == 0) /* a launch has at least one block */
        return hd_cuda_check(
            cudaMemsetAsync(job->starts, 0,
                            ((UINT64_C(1) << job->region_bits) + 1) * sizeof(uint64_t), stream),
            "cannot sort pairs by region");
    cudaError_t error = allow_memory(sort_keys, sizeof(sort_scratch));
    if (error == cudaSuccess) error = allow_memory(sort_pairs, sizeof(sort_scratch));
    if (error == cudaSuccess) error = s.second == 0 ? sort_once(&s) : sort_twice(&s);
    return hd_cuda_check(error, "cannot sort pairs by region");
}

#include "cuda/partition/scatter.inl"

#include "cuda/partition/partition_steps.inl"

/* More regions than a block has counters are counted some at a time, by reading the keys as often. */
static cudaError_t count_some(const sorting *s, uint64_t *counts)
{
    const size_t shared = sizeof(uint32_t) << COUNT_BITS;
    const unsigned blocks = count_blocks(s->job, s->multiprocessors);
    cudaError_t error = allow_memory(count_keys<true>, shared);
    for (uint32_t first = 0; first < 1u << s->job->region_bits && error == cudaSuccess;
         first += 1u << COUNT_BITS) {
        count_keys<true><<<blocks, COUNT_BLOCK, shared, s->stream>>>(
            *s->job, s->job->region_bits, first, (unsigned long long *)counts);
        error = cudaGetLastError();
    }
    return error;
}

static heddle_status count_alone(const hd_device_cuda *device, const hd_partition *job,
                                 uint64_t *counts, cudaStream_t stream)
{
    const sorting s = make_sorting(device, job, job->region_bits, stream);
    if (job->n == 0) return HEDDLE_OK; /* a launch has at least one block */
    return hd_cuda_check(counts_regions(job) ? count_more(&s, job->region_bits, counts)
                                             : count_some(&s, counts),
                         "cannot count keys by region");
}

extern "C" const hd_partition_cuda HD_SYMBOL;
extern "C" const hd_partition_cuda HD_SYMBOL = {
    work_bytes, sort, step_work_bytes, step, count_alone, scatter_plan, scatter,
};
