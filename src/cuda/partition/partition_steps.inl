/*
 * partition_steps.inl: sorting pairs by region in steps (model/partition.h), with the kernels of
 * partition_kernels.h. The first of two passes goes into `spare` and tells as many parts apart as one
 * pass can; the second goes from there into `pairs`, some parts at a time. Where one pass tells all
 * regions apart, the second is a copy. Included by partition.cu.
 */
#ifndef HD_SYMBOL
#error "included by partition.cu alone"
#endif
static_assert(PASS_BITS == HD_CUDA_PASS_BITS, "parts are what a pass tells apart");

static uint32_t part_bits(uint32_t region_bits)
{
    return region_bits < PASS_BITS ? region_bits : PASS_BITS;
}

/* Cursors of the regions, then the starts and cursors of the parts. */
static uint64_t step_work_bytes(uint32_t region_bits)
{
    const uint64_t parts = UINT64_C(1) << part_bits(region_bits);
    return ((UINT64_C(1) << region_bits) + 2 * parts + 1) * sizeof(uint64_t);
}

/* Regions are counted with the keys where there is room for the counters; else in the parts. */
static bool counts_regions(const hd_partition *job) { return job->region_bits <= COUNT_BITS; }

static uint64_t *counters(const sorting *s)
{
    return counts_regions(s->job) ? s->job->starts : s->first_starts;
}

static uint32_t counter_bits(const sorting *s)
{
    return counts_regions(s->job) ? s->job->region_bits : s->first;
}

static cudaError_t step_plan(const sorting *s)
{
    const bool regions = counts_regions(s->job);
    scan_counts<<<1, COUNT_BLOCK, 0, s->stream>>>(1u << counter_bits(s), counters(s),
                                                  regions ? s->cursors : NULL, s->first_cursors,
                                                  counter_bits(s) - s->first);
    return cudaGetLastError();
}

static cudaError_t step_regions(const sorting *s)
{
    const hd_partition *job = s->job;
    const uint64_t words = hd_partition_base(job->first_pair) * HD_PAIR_WORDS;
    const uint64_t before = job->first_pair * HD_PAIR_WORDS - words;
    if (s->second == 0)
        return cudaMemcpyAsync(
            (uint32_t *)job->pairs + before, (const uint32_t *)job->spare + words + before,
            job->n * HD_PAIR_WORDS * sizeof(uint32_t), cudaMemcpyDeviceToDevice, s->stream);
    /* The cursors count all pairs: by them, `pairs` begins so many words before its first one. */
    uint32_t *out = (uint32_t *)((uintptr_t)job->pairs - words * sizeof(uint32_t));
    sort_pairs<<<s->tiles, SORT_BLOCK, sizeof(sort_scratch), s->stream>>>(
        (const uint32_t *)job->spare, job->first_pair, job->first_pair + job->n, job->starts,
        s->second, s->first, s->second, (unsigned long long *)s->cursors, out);
    return cudaGetLastError();
}

static cudaError_t run_step(const sorting *s, uint32_t step)
{
    const bool counted = counts_regions(s->job);
    if (step == HD_SORT_BEGIN)
        return cudaMemsetAsync(counters(s), 0, sizeof(uint64_t) << counter_bits(s), s->stream);
    if (step == HD_SORT_PLAN) return step_plan(s);
    if (s->job->n == 0 && (step != HD_SORT_COUNT || counted)) return cudaSuccess;
    if (step == HD_SORT_TALLY) return count_more(s, counter_bits(s), counters(s));
    if (step == HD_SORT_SPREAD) return sort_first(s, s->first_cursors, s->job->spare);
    if (step == HD_SORT_REGIONS) return step_regions(s);
    return counted ? cudaSuccess : count_again(s, (const uint32_t *)s->job->spare);
}

static heddle_status step(const hd_device_cuda *device, const hd_partition *job, uint32_t step,
                          cudaStream_t stream)
{
    const sorting s = make_sorting(device, job, part_bits(job->region_bits), stream);
    cudaError_t error = allow_memory(sort_keys, sizeof(sort_scratch));
    if (error == cudaSuccess) error = allow_memory(sort_pairs, sizeof(sort_scratch));
    if (error == cudaSuccess) error = run_step(&s, step);
    return hd_cuda_check(error, "cannot sort pairs by region");
}
