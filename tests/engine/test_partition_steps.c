/*
 * test_partition_steps.c: sorting pairs by region in steps: in batches, and some regions at a time. The
 * starts, and the pairs of every region, are those of a sort in one go; on the CPU in the same order.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "table/slots/geometry.h"

/* Memory of the device, and what was read back from it. */
typedef struct block {
    const test_case *c;
    uint64_t bytes;
    void *memory;
    char *host;
} block;

static block block_make(const test_case *c, uint64_t bytes)
{
    block b = {c, bytes + 8, NULL, (char *)malloc(bytes + 8)};
    check_ok(heddle_memory_allocate(c->device, b.bytes, &b.memory));
    check_ok(heddle_memory_fill(c->device, b.memory, 0xee, b.bytes, NULL));
    return b;
}

static void block_push(block *b, const void *from, uint64_t bytes)
{
    check_ok(heddle_memory_copy(b->c->device, b->memory, from, bytes, NULL));
    check_ok(heddle_device_synchronize(b->c->device, NULL));
}

static void block_pull(block *b)
{
    check_ok(heddle_memory_copy(b->c->device, b->host, b->memory, b->bytes, NULL));
    check_ok(heddle_device_synchronize(b->c->device, NULL));
}

static void block_free(block *b)
{
    check_ok(heddle_memory_free(b->c->device, b->memory));
    free(b->host);
}

/* One sort: the job and its memory. */
typedef struct sorting {
    const test_case *c;
    hd_partition job;
    uint64_t n, pair, regions;
    block keys, values, pairs, spare, starts, work;
} sorting;

static void fill_numbers(block *b, const uint64_t *numbers, uint64_t n, uint32_t bits)
{
    for (uint64_t i = 0; i < n; i++) memcpy(b->host + i * bits / 8, &numbers[i], bits / 8);
    if (n != 0) block_push(b, b->host, n * bits / 8);
}

static sorting sorting_make(const test_case *c, uint32_t key_bits, uint32_t value_bits,
                            uint32_t region_bits, uint64_t n, key_set set)
{
    uint64_t *numbers = keys_allocate(n + 1);
    sorting s;
    memset(&s, 0, sizeof s);
    s.c = c;
    s.n = s.job.n = n;
    s.pair = hd_pair_bytes(key_bits, value_bits);
    s.regions = UINT64_C(1) << region_bits;
    s.job.key_bits = key_bits;
    s.job.value_bits = value_bits;
    s.job.region_bits = region_bits;
    hd_mix_init(&s.job.mix, n + region_bits);
    s.keys = block_make(c, n * key_bits / 8);
    s.values = block_make(c, n * value_bits / 8);
    s.pairs = block_make(c, (n + 16) * s.pair);
    s.spare = block_make(c, n * s.pair);
    s.starts = block_make(c, (s.regions + 1) * 8);
    const hd_engine *engine = c->device->engine;
    const uint64_t one = engine->partition_work(c->device, &s.job);
    const uint64_t steps = engine->partition_step_work(c->device, &s.job);
    s.work = block_make(c, one > steps ? one : steps);
    keys_fill(numbers, n, set, key_bits, n);
    fill_numbers(&s.keys, numbers, n, key_bits);
    keys_fill_values(numbers, n, n);
    fill_numbers(&s.values, numbers, n, value_bits);
    free(numbers);
    s.job.keys = s.keys.memory;
    s.job.values = value_bits != 0 ? s.values.memory : NULL;
    s.job.pairs = s.pairs.memory;
    s.job.spare = s.spare.memory;
    s.job.starts = (uint64_t *)s.starts.memory;
    s.job.work = s.work.memory;
    return s;
}

static void sorting_free(sorting *s)
{
    block *const blocks[] = {&s->keys, &s->values, &s->pairs, &s->spare, &s->starts, &s->work};
    for (size_t i = 0; i < 6; i++) block_free(blocks[i]);
}

static void step(const sorting *s, const hd_partition *job, uint32_t what)
{
    check_ok(s->c->device->engine->partition_step(s->c->device, job, what, NULL));
}

/* All keys in batches; one of them is empty. */
static void step_batches(const sorting *s, uint64_t batches, uint32_t what)
{
    for (uint64_t b = 0; b < batches; b++) {
        const uint64_t first = s->n * b / batches, end = s->n * (b + 1) / batches;
        hd_partition job = s->job;
        job.keys = (const char *)job.keys + first * job.key_bits / 8;
        if (job.values != NULL) job.values = (const char *)job.values + first * job.value_bits / 8;
        else job.first_row = first;
        job.n = end - first;
        step(s, &job, what);
        job.n = 0;
        if (b == 0) step(s, &job, what);
    }
}

static uint64_t pair_words(const char *pair, uint64_t bytes, uint64_t *high)
{
    uint64_t low = 0;
    *high = 0;
    memcpy(&low, pair, bytes < 8 ? bytes : 8);
    if (bytes > 8) memcpy(high, pair + 8, bytes - 8);
    return low;
}

static uint64_t compared_bytes;
static int compare_pairs(const void *a, const void *b)
{
    uint64_t high_a, high_b;
    const uint64_t low_a = pair_words(a, compared_bytes, &high_a);
    const uint64_t low_b = pair_words(b, compared_bytes, &high_b);
    if (low_a != low_b) return low_a < low_b ? -1 : 1;
    return high_a < high_b ? -1 : high_a > high_b;
}

/* Sorts the regions [first, end) and compares each with what one go gave. */
static void check_regions(sorting *s, uint32_t first, uint32_t end, const uint64_t *starts,
                          char *whole)
{
    hd_partition job = s->job;
    job.first_region = first;
    job.end_region = end;
    job.first_pair = starts[first];
    job.n = starts[end] - starts[first];
    step(s, &job, HD_SORT_REGIONS);
    block_pull(&s->pairs);
    for (uint32_t r = first; r < end; r++) {
        const uint64_t n = starts[r + 1] - starts[r];
        char *mine = s->pairs.host + (starts[r] - hd_partition_base(job.first_pair)) * s->pair;
        char *theirs = whole + starts[r] * s->pair;
        if (!s->c->device->engine->host_memory) { /* the order in a region is open */
            compared_bytes = s->pair;
            qsort(mine, n, s->pair, compare_pairs);
            qsort(theirs, n, s->pair, compare_pairs);
        }
        check(memcmp(mine, theirs, n * s->pair) == 0, "region %u differs", r);
    }
}

static void run(sorting *s, uint64_t batches, uint64_t ranges)
{
    const hd_engine *engine = s->c->device->engine;
    const uint32_t bits = s->job.region_bits, part_bits = engine->partition_part_bits(bits);
    const uint64_t parts = UINT64_C(1) << part_bits;
    char *whole = (char *)malloc(s->pairs.bytes);
    uint64_t *starts = keys_allocate(s->regions + 1);
    check(part_bits <= bits, "%u bits of parts", part_bits);
    check_ok(engine->partition(s->c->device, &s->job, NULL));
    block_pull(&s->pairs);
    block_pull(&s->starts);
    memcpy(whole, s->pairs.host, s->pairs.bytes);
    memcpy(starts, s->starts.host, (s->regions + 1) * 8);
    check_ok(heddle_memory_fill(s->c->device, s->starts.memory, 0xee, s->starts.bytes, NULL));
    check_ok(heddle_memory_fill(s->c->device, s->work.memory, 0xee, s->work.bytes, NULL));
    step(s, &s->job, HD_SORT_BEGIN);
    step_batches(s, batches, HD_SORT_TALLY);
    step(s, &s->job, HD_SORT_PLAN);
    step_batches(s, batches, HD_SORT_SPREAD);
    step(s, &s->job, HD_SORT_COUNT);
    block_pull(&s->starts);
    check(memcmp(starts, s->starts.host, (s->regions + 1) * 8) == 0, "the starts differ");
    if (ranges > parts) ranges = parts;
    for (uint64_t i = 0; i < ranges; i++)
        check_regions(s, (uint32_t)(parts * i / ranges << (bits - part_bits)),
                      (uint32_t)(parts * (i + 1) / ranges << (bits - part_bits)), starts, whole);
    free(whole);
    free(starts);
}

static void steps_sort(const test_case *c)
{
    static const uint32_t bits[] = {1, 6, 10, 11, 12, 13, 14, 15, 20};
    static const uint32_t widths[][2] = {{32, 0}, {32, 32}, {32, 64}, {64, 0}, {64, 32}, {64, 64}};
    static const key_set sets[] = {KEYS_RANDOM, KEYS_TWICE, KEYS_ZIPF, KEYS_EQUAL};
    if (c->device->engine->graph(32, 32) == NULL) return;
    for (uint32_t b = 0; b < 9; b++)
        for (uint32_t w = 0; w < 6; w++) {
            const uint64_t n = w == b % 6 ? b : case_size(60001);
            case_note("%llu pairs of %u/%u, %u bits, %s", (unsigned long long)n, widths[w][0],
                      widths[w][1], bits[b], keys_name(sets[(b + w) % 4]));
            sorting s = sorting_make(c, widths[w][0], widths[w][1], bits[b], n, sets[(b + w) % 4]);
            if ((b + w) % 5 == 0) s.job.values = NULL; /* row numbers */
            run(&s, 1 + (b + w) % 3, 1 + (b * w) % 7);
            sorting_free(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {OVER_DEVICES(steps_sort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
