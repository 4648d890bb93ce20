/*
 * columns.c: the CPU's plain steps over arrays (engine/columns.h). Every thread has one share of the
 * elements; where a share's results depend on those before it, all shares are counted first.
 * Steps over groups are in grouped.c, order_rows.c, reduce.c and reduce_numbered.c, over keys in row_keys.c,
 * over lists of answers in deliver.c.
 */
#include <string.h>

#include "cpu/columns/columns.h"

/* A number a thread leaves for the others. */
typedef struct tally {
    uint64_t count;
    char apart[56]; /* no two in a line */
} tally;

static uint64_t work(heddle_device *device, uint64_t n)
{
    const int threads = hd_cpu_threads(device, n);
    const uint64_t needs[] = {(uint64_t)threads * sizeof(tally), hd_reduce_cpu_work(threads),
                              hd_numbered_cpu_work(device, n), hd_order_cpu_work(device, n)};
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (needs[i] > most) most = needs[i];
    return most;
}

/* Turns the threads' counts into sums of those before; returns the whole. */
static uint64_t tallies_scan(tally *tallies)
{
    uint64_t sum = 0;
    for (int t = 0; t < omp_get_num_threads(); t++) {
        const uint64_t count = tallies[t].count;
        tallies[t].count = sum;
        sum += count;
    }
    return sum;
}

static heddle_status scan(hd_site on, uint64_t *numbers, uint64_t n)
{
    tally *tallies = (tally *)on.work;
#pragma omp parallel num_threads(hd_cpu_team(on.device, n))
    {
        const hd_share share = hd_share_of(n);
        tally *mine = &tallies[omp_get_thread_num()];
        uint64_t sum = 0;
        for (uint64_t i = share.begin; i < share.end; i++) sum += numbers[i];
        mine->count = sum;
#pragma omp barrier
#pragma omp single
        numbers[n] = tallies_scan(tallies);
        sum = mine->count;
        for (uint64_t i = share.begin; i < share.end; i++) {
            const uint64_t number = numbers[i];
            numbers[i] = sum;
            sum += number;
        }
    }
    return HEDDLE_OK;
}

static uint64_t count_set(const uint8_t *flags, uint64_t begin, uint64_t end)
{
    uint64_t sum = 0;
    while (begin < end) {
        const uint64_t stop = end - begin > 4096 ? begin + 4096 : end;
        uint32_t part = 0; /* narrow, so that more of them fit a vector */
        for (uint64_t i = begin; i < stop; i++) part += flags[i] != 0;
        sum += part;
        begin = stop;
    }
    return sum;
}

/* Where flags are few: the first of [i, ...) that is not 0, by words. One is known to be there. */
HD_FN uint64_t skip_zeros(const uint8_t *flags, uint64_t i, uint64_t end)
{
    while (end - i >= 32) {
        uint64_t words[4];
        memcpy(words, flags + i, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3]) != 0) break;
        i += 32;
    }
    return i;
}

/* Writes the indices of a share; it has `count` of them, so that no thread writes past its own. */
HD_FN void select_share(hd_flags from, hd_share share, void *rows, uint32_t row_bits, uint64_t at,
                        uint64_t count)
{
    const uint8_t *flags = from.flags;
    const bool wanted = from.wanted;
    const uint64_t end = at + count;
    const bool sparse = wanted && count < (share.end - share.begin) / 64;
    for (uint64_t i = share.begin; at < end; i++) {
        if (sparse && i % 32 == 0) i = skip_zeros(flags, i, share.end);
        hd_row_set(rows, row_bits, at, i);
        at += (flags[i] != 0) == wanted;
    }
}

static heddle_status select_flags(hd_site on, hd_flags flags, void *rows, uint32_t row_bits,
                                  uint64_t *count)
{
    tally *tallies = (tally *)on.work;
#pragma omp parallel num_threads(hd_cpu_team(on.device, flags.n))
    {
        const hd_share share = hd_share_of(flags.n);
        tally *mine = &tallies[omp_get_thread_num()];
        const uint64_t set = count_set(flags.flags, share.begin, share.end);
        const uint64_t found = flags.wanted ? set : share.end - share.begin - set;
        mine->count = found;
#pragma omp barrier
#pragma omp single
        *count = tallies_scan(tallies);
        if (rows != NULL && row_bits == 32)
            select_share(flags, share, rows, 32, mine->count, found);
        else if (rows != NULL) select_share(flags, share, rows, 64, mine->count, found);
    }
    return HEDDLE_OK;
}

static heddle_status rank(hd_site on, const uint8_t *flags, uint64_t n, void *ranks,
                          uint32_t row_bits)
{
    tally *tallies = (tally *)on.work;
#pragma omp parallel num_threads(hd_cpu_team(on.device, n))
    {
        const hd_share share = hd_share_of(n);
        tally *mine = &tallies[omp_get_thread_num()];
        uint64_t sum;
        mine->count = count_set(flags, share.begin, share.end);
#pragma omp barrier
#pragma omp single
        tallies_scan(tallies);
        sum = mine->count;
        for (uint64_t i = share.begin; i < share.end; i++) {
            hd_row_set(ranks, row_bits, i, sum);
            sum += flags[i] != 0;
        }
    }
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------- gather and scatter */

/* Each thread has its share of the rows. `width` and `row_bits` are constants where it matters: the copy is then one
   move. */
HD_FN void gather_share(const void *from, uint32_t width, hd_row_numbers of, uint32_t row_bits,
                        char *out)
{
    const hd_share share = hd_share_of(of.n);
    const char *column = (const char *)from;
    const void *rows = of.numbers;
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t ahead = i + HD_ROWS_AHEAD < share.end ? i + HD_ROWS_AHEAD : i;
        __builtin_prefetch(column + hd_row_at(rows, row_bits, ahead) * width);
        memcpy(out + i * width, column + hd_row_at(rows, row_bits, i) * width, width);
    }
}

HD_FN void scatter_share(const void *elements, uint32_t width, hd_row_numbers of, uint32_t row_bits,
                         char *out)
{
    const hd_share share = hd_share_of(of.n);
    const char *from = (const char *)elements;
    const void *rows = of.numbers;
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t ahead = i + HD_ROWS_AHEAD < share.end ? i + HD_ROWS_AHEAD : i;
        __builtin_prefetch(out + hd_row_at(rows, row_bits, ahead) * width, 1);
        memcpy(out + hd_row_at(rows, row_bits, i) * width, from + i * width, width);
    }
}

/* Marks instead of elements: zeros but for the first byte. */
HD_FN void mark_share(uint32_t width, hd_row_numbers rows, char *out)
{
    const hd_share share = hd_share_of(rows.n);
    for (uint64_t i = share.begin; i < share.end; i++) {
        char *element = out + hd_row_at(rows.numbers, rows.bits, i) * width;
        memset(element, 0, width);
        *element = 1;
    }
}

#define BY_WIDTH(call)                                                                             \
    switch (from.width) {                                                                          \
    case 1: call(1); break;                                                                        \
    case 4: call(4); break;                                                                        \
    case 8: call(8); break;                                                                        \
    default: call(from.width); break;                                                              \
    }

static void gather_any(hd_elements from, hd_row_numbers rows, char *out)
{
#define GATHER_32(w) gather_share(from.data, w, rows, 32, out)
#define GATHER_64(w) gather_share(from.data, w, rows, 64, out)
    if (rows.bits == 32) BY_WIDTH(GATHER_32)
    else BY_WIDTH(GATHER_64)
}

static void scatter_any(hd_elements from, hd_row_numbers rows, char *out)
{
#define SCATTER_32(w) scatter_share(from.data, w, rows, 32, out)
#define SCATTER_64(w) scatter_share(from.data, w, rows, 64, out)
    if (from.data == NULL) mark_share(from.width, rows, out);
    else if (rows.bits == 32) BY_WIDTH(SCATTER_32)
    else BY_WIDTH(SCATTER_64)
}

static heddle_status gather(hd_site on, hd_elements column, hd_row_numbers rows, void *out)
{
#pragma omp parallel num_threads(hd_cpu_team(on.device, rows.n))
    gather_any(column, rows, (char *)out);
    return HEDDLE_OK;
}

static heddle_status scatter(hd_site on, hd_elements from, hd_row_numbers rows, void *out)
{
#pragma omp parallel num_threads(hd_cpu_team(on.device, rows.n))
    scatter_any(from, rows, (char *)out);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------------- top */

/* Whether the number at a comes before the one at b in the order of the result. */
static bool comes_before(const uint64_t *numbers, uint64_t a, uint64_t b)
{
    return numbers[a] != numbers[b] ? numbers[a] > numbers[b] : a < b;
}

/* Restores a heap of `count` indices, whose last in the order is on top, below `at`. */
static void sink(const uint64_t *numbers, uint64_t *heap, uint64_t count, uint64_t at)
{
    const uint64_t moved = heap[at];
    for (;;) {
        uint64_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && comes_before(numbers, heap[child], heap[child + 1])) child++;
        if (!comes_before(numbers, moved, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* A heap of the best k so far, in the array for the result, where it is sorted in the end. */
static heddle_status top(hd_site on, const uint64_t *numbers, uint64_t n, uint64_t k,
                         uint64_t *indices)
{
    const uint64_t count = k < n ? k : n;
    (void)on;
    if (count == 0) return HEDDLE_OK;
    for (uint64_t i = 0; i < count; i++) indices[i] = i;
    for (uint64_t i = count / 2; i-- > 0;) sink(numbers, indices, count, i);
    for (uint64_t i = count; i < n; i++) {
        if (numbers[i] <= numbers[indices[0]]) continue;
        indices[0] = i;
        sink(numbers, indices, count, 0);
    }
    for (uint64_t left = count; left > 1; left--) {
        const uint64_t last = indices[0];
        indices[0] = indices[left - 1];
        indices[left - 1] = last;
        sink(numbers, indices, left - 1, 0);
    }
    return HEDDLE_OK;
}

const hd_column_ops hd_columns_cpu = {
    work,
    scan,
    select_flags,
    rank,
    gather,
    scatter,
    hd_number_cpu,
    hd_describe_cpu,
    hd_reduce_cpu,
    hd_hash_cpu,
    hd_differ_cpu,
    top,
    hd_order_cpu,
    hd_deliver_lists_cpu,
    hd_renumber_cpu,
    hd_mark_few_cpu,
};
