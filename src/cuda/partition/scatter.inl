/*
 * scatter.inl: the launches of scatter_kernels.inl. One pass tells up to 2^PASS_BITS regions apart, two up to 2^20;
 * the first of two goes to parts of neighbouring regions. Included by partition.cu.
 */
#ifndef HD_SYMBOL
#error "included by partition.cu alone"
#endif

/* What comes to a target by chance: eight deviations more than the mean, and whole lines of memory. */
static uint64_t scatter_room(uint64_t n, uint32_t bits)
{
    const double mean = (double)n / (double)(UINT64_C(1) << bits);
    return ((uint64_t)(mean + 8 * sqrt(mean)) + 32) / 16 * 16;
}

static void scatter_plan(hd_scatter *scatter)
{
    const hd_partition *job = &scatter->job;
    const uint32_t first = first_bits(job->region_bits);
    const uint64_t pair = HD_PAIR_WORDS * sizeof(uint32_t);
    scatter->room = scatter_room(job->n, job->region_bits);
    scatter->part_room = first < job->region_bits ? scatter_room(job->n, first) : 0;
    scatter->pairs_bytes = (scatter->room << job->region_bits) * pair;
    scatter->spare_bytes = (scatter->part_room << first) * pair;
    scatter->work_bytes = sizeof(uint64_t) << first;
}

/* Pairs a thread has of the caller's: few where there are not enough tiles for all processors. */
template <int ITEMS>
static cudaError_t launch_scatter_keys(const hd_partition *job, uint32_t bits,
                                       const scatter_targets *to, cudaStream_t stream)
{
    const size_t shared = sizeof(scatter_scratch<ITEMS>);
    const uint64_t tile = SORT_BLOCK * ITEMS;
    const cudaError_t error = allow_memory(scatter_keys<ITEMS>, shared);
    if (error != cudaSuccess) return error;
    scatter_keys<ITEMS>
        <<<(unsigned)((job->n + tile - 1) / tile), SORT_BLOCK, shared, stream>>>(*job, bits, *to);
    return cudaGetLastError();
}

static cudaError_t scatter_first(const hd_device_cuda *device, const hd_partition *job,
                                 uint32_t bits, const scatter_targets *to, cudaStream_t stream)
{
    const uint64_t a_thread =
        job->n / ((uint64_t)device->multiprocessors * SORT_BLOCKS * SORT_BLOCK);
    if (a_thread < 4) return launch_scatter_keys<2>(job, bits, to, stream);
    if (a_thread < 8) return launch_scatter_keys<4>(job, bits, to, stream);
    if (a_thread < 16 && SORT_ITEMS > 8) return launch_scatter_keys<8>(job, bits, to, stream);
    return launch_scatter_keys<SORT_ITEMS>(job, bits, to, stream);
}

static cudaError_t scatter_second(const hd_scatter *scatter, uint32_t first,
                                  const scatter_targets *to, cudaStream_t stream)
{
    const size_t shared = sizeof(scatter_scratch<SORT_ITEMS>);
    const dim3 blocks((unsigned)((scatter->part_room + SORT_TILE - 1) / SORT_TILE), 1u << first);
    const cudaError_t error = allow_memory(scatter_parts, shared);
    if (error != cudaSuccess) return error;
    scatter_parts<<<blocks, SORT_BLOCK, shared, stream>>>(
        (const uint32_t *)scatter->spare, (const uint64_t *)scatter->work, scatter->part_room,
        first, scatter->job.region_bits - first, *to);
    return cudaGetLastError();
}

static cudaError_t run_scatter(const hd_device_cuda *device, const hd_scatter *scatter,
                               cudaStream_t stream)
{
    const hd_partition *job = &scatter->job;
    const uint32_t first = first_bits(job->region_bits), regions = 1u << job->region_bits;
    const bool twice = first < job->region_bits;
    const scatter_targets to = {(uint32_t *)job->pairs, (unsigned long long *)scatter->ends,
                                scatter->room, (uint32_t *)scatter->over,
                                (unsigned long long *)scatter->over_count};
    scatter_targets parts = to;
    parts.pairs = (uint32_t *)scatter->spare;
    parts.cursors = (unsigned long long *)scatter->work;
    parts.room = scatter->part_room;
    scatter_begin<<<(regions + SORT_BLOCK - 1) / SORT_BLOCK, SORT_BLOCK, 0, stream>>>(
        regions, scatter->room, scatter->starts, scatter->ends, twice ? 1u << first : 0,
        scatter->part_room, (uint64_t *)scatter->work, scatter->over_count);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess || job->n == 0) return error;
    error = scatter_first(device, job, first, twice ? &parts : &to, stream);
    return error == cudaSuccess && twice ? scatter_second(scatter, first, &to, stream) : error;
}

static heddle_status scatter(const hd_device_cuda *device, const hd_scatter *job,
                             cudaStream_t stream)
{
    return hd_cuda_check(run_scatter(device, job, stream), "cannot sort pairs by region");
}
