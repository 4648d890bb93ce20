/*
 * partition_steps.inl: sorting pairs by region in steps (model/partition.h): the two passes of
 * partition.c, the first over as many bits as a pass can tell apart and in batches, the second over some
 * parts at a time. Where one pass tells all regions apart, the second is a copy. Equal keys stay in
 * order, batch after batch.
 */
#ifndef HD_SYMBOL
#error "included by partition.c alone"
#endif

/* What lies in the work memory. */
typedef struct step_scratch {
    uint32_t parts;        /* how many */
    uint32_t more;         /* bits that tell the regions of a part apart */
    uint64_t *part_starts; /* counts, then where parts begin; parts + 1 numbers */
    uint64_t *cursors;     /* where the next pair of a part goes */
    char *passes;          /* what the threads' passes need */
} step_scratch;

static uint32_t part_bits(uint32_t region_bits)
{
    return region_bits < HD_PASS_BITS ? region_bits : HD_PASS_BITS;
}

static uint64_t part_bytes(uint32_t parts)
{
    return (2 * (uint64_t)parts + 1 + 7) / 8 * 8 * sizeof(uint64_t);
}

static uint64_t step_work_bytes(int threads, uint32_t region_bits)
{
    const uint32_t parts = UINT32_C(1) << part_bits(region_bits);
    return part_bytes(parts) + (uint64_t)threads * pass_bytes(parts);
}

static step_scratch make_scratch(const hd_partition *job)
{
    const uint32_t bits = part_bits(job->region_bits);
    char *work = (char *)job->work;
    step_scratch d;
    d.parts = UINT32_C(1) << bits;
    d.more = job->region_bits - bits;
    d.part_starts = (uint64_t *)(void *)work;
    d.cursors = d.part_starts + d.parts + 1;
    d.passes = work + part_bytes(d.parts);
    return d;
}

/* The first pass of one thread. */
static pass part_pass(const step_scratch *d, const hd_partition *job, uint64_t thread)
{
    const uint32_t bits = part_bits(job->region_bits);
    return pass_make(HD_KEY_BITS - bits, bits, d->passes, (int)thread, (char *)job->spare);
}

static void tally(int threads, const hd_partition *job, const step_scratch *d)
{
#pragma omp parallel num_threads(threads)
    {
        const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
        const pass p = part_pass(d, job, me);
        count_keys(job, share_begin(job->n, me, all), share_begin(job->n, me + 1, all), &p);
#pragma omp barrier
#pragma omp for schedule(static)
        for (uint32_t i = 0; i < d->parts; i++)
            for (uint64_t t = 0; t < all; t++) d->part_starts[i] += part_pass(d, job, t).row[i];
    }
}

static void plan(const step_scratch *d)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < d->parts; i++) {
        const uint64_t pairs = d->part_starts[i];
        d->part_starts[i] = d->cursors[i] = at;
        at += pairs;
    }
    d->part_starts[d->parts] = at;
}

/* The counts of all threads for one batch become places behind those of the batches before. */
static void counts_to_cursors(const step_scratch *d, const hd_partition *job, uint64_t threads)
{
    for (uint32_t i = 0; i < d->parts; i++)
        for (uint64_t t = 0; t < threads; t++) {
            const pass p = part_pass(d, job, t);
            const uint64_t pairs = p.row[i];
            target_start(&p, i, d->cursors[i]);
            d->cursors[i] += pairs;
        }
}

static void spread(int threads, const hd_partition *job, const step_scratch *d)
{
#pragma omp parallel num_threads(threads)
    {
        const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
        const uint64_t begin = share_begin(job->n, me, all), end = share_begin(job->n, me + 1, all);
        const pass p = part_pass(d, job, me);
        count_keys(job, begin, end, &p);
#pragma omp barrier
#pragma omp single
        counts_to_cursors(d, job, all);
        scatter_keys(job, begin, end, &p);
    }
}

/* Where the regions of a part begin: 2^more numbers. */
static void count_part(const hd_partition *job, const step_scratch *d, uint32_t part, const pass *p)
{
    uint64_t *starts = job->starts + ((uint64_t)part << d->more), at = d->part_starts[part];
    const uint64_t end = d->part_starts[part + 1];
    block b;
    memset(p->row, 0, ((size_t)p->mask + 1) * sizeof *p->row);
    for (uint64_t i = at; i < end; i += BLOCK) {
        block_read(p, (const char *)job->spare, i, block_length(i, end), &b);
        block_count(p, &b, block_length(i, end));
    }
    for (uint32_t i = 0; i <= p->mask; i++) {
        starts[i] = at;
        at += p->row[i];
    }
}

/* The second pass of one thread. */
static pass region_pass(const step_scratch *d, const hd_partition *job)
{
    return pass_make(HD_KEY_BITS - job->region_bits, d->more, d->passes, omp_get_thread_num(),
                     (char *)job->pairs);
}

static void count_parts(int threads, const hd_partition *job, const step_scratch *d)
{
    job->starts[(uint64_t)d->parts << d->more] = d->part_starts[d->parts];
    if (d->more == 0) memcpy(job->starts, d->part_starts, d->parts * sizeof *job->starts);
    else
#pragma omp parallel num_threads(threads)
    {
        const pass p = region_pass(d, job);
#pragma omp for schedule(dynamic)
        for (uint32_t i = 0; i < d->parts; i++) count_part(job, d, i, &p);
    }
}

/* Sorts a part, of which is known where its regions begin. */
static void sort_part(const hd_partition *job, uint32_t part, uint64_t base, const pass *p)
{
    const uint64_t *starts = job->starts + (uint64_t)part * (p->mask + UINT64_C(1));
    const uint64_t end = starts[p->mask + UINT64_C(1)];
    block b;
    for (uint32_t i = 0; i <= p->mask; i++) target_start(p, i, starts[i] - base);
    for (uint64_t i = starts[0]; i < end; i += BLOCK) {
        block_read(p, (const char *)job->spare, i, block_length(i, end), &b);
        block_put(p, &b, b.values, block_length(i, end));
    }
    pass_end(p);
}

static void copy_part(const hd_partition *job, uint32_t part, uint64_t base)
{
    const uint64_t begin = job->starts[part], end = job->starts[part + 1];
    memcpy((char *)job->pairs + (begin - base) * PAIR_BYTES,
           (const char *)job->spare + begin * PAIR_BYTES, (end - begin) * PAIR_BYTES);
}

static void sort_regions(int threads, const hd_partition *job, const step_scratch *d)
{
    const uint32_t first = job->first_region >> d->more, end = job->end_region >> d->more;
    const uint64_t base = hd_partition_base(job->first_pair);
#pragma omp parallel num_threads(threads)
    {
        const pass p = region_pass(d, job);
#pragma omp for schedule(dynamic)
        for (uint32_t i = first; i < end; i++) {
            if (d->more != 0) sort_part(job, i, base, &p);
            else copy_part(job, i, base);
        }
    }
}

static void step(int threads, const hd_partition *job, uint32_t what)
{
    const step_scratch d = make_scratch(job);
    if (what == HD_SORT_BEGIN) memset(d.part_starts, 0, d.parts * sizeof *d.part_starts);
    if (what == HD_SORT_TALLY) tally(threads, job, &d);
    if (what == HD_SORT_PLAN) plan(&d);
    if (what == HD_SORT_SPREAD) spread(threads, job, &d);
    if (what == HD_SORT_COUNT) count_parts(threads, job, &d);
    if (what == HD_SORT_REGIONS) sort_regions(threads, job, &d);
}
