/*
 * group_numbers.h: rows numbered by key on the CPU, for keys so few that a table of them stays in a core's
 * second-level cache or is not much larger (hd_relate_ops.few).
 *
 * Every thread has a table of its own, so that no line of it ever moves between cores. One thread begins
 * alone with a small part of the rows, in which few keys are nearly all met; the others then begin with
 * copies of its table, so that most numbers are the same everywhere and right. Then each thread numbers
 * its share. Keys that a thread has met after that are brought together in the end in the order of
 * shares, which is that of first rows, and the thread gives its rows their final numbers.
 *
 * More keys than the limit are noticed as soon as a thread has met them, which is late where rows are
 * sorted. So a few rows are drawn first: when hardly any two of them have the same key, keys are many.
 */
#ifndef HD_CPU_GROUP_NUMBERS_H
#define HD_CPU_GROUP_NUMBERS_H

#include <omp.h>
#include <string.h>

#include "cpu/columns/columns.h"
#include "cpu/relate/group_few.h"

#define NUMBERS_MOST HD_NUMBERED_MOST
#define NUMBERS_BITS_MIN 6
#define NUMBERS_NEAR 12             /* bits of a table that stays in the first-level cache */
#define NUMBERS_STEP UINT64_C(4096) /* rows between looks at whether another thread has given up */
#define NUMBERS_ALONE                                                                              \
    32 /* the part of a thread's rows that the first does alone is one of so many */
#define NUMBERS_DRAWN (UINT64_C(1) << 16) /* rows that are looked at before all others */

typedef struct numbers_slot {
    hd_key key;
    uint32_t number; /* of the key, and 1; 0 in a slot without a key */
} numbers_slot;

typedef struct numbers_table {
    numbers_slot *slots;
    group_row *firsts; /* by number: the first row that this thread met; says the key, too */
    uint32_t *final;   /* by number, where this thread's are not final */
    uint32_t bits, most, count;
} numbers_table;

/* The slots in use are filled to a quarter while that costs no cache, then to a half. */
HD_FN uint32_t numbers_room(const numbers_table *t)
{
    return UINT32_C(1) << (t->bits - (t->bits <= NUMBERS_NEAR ? 2 : 1));
}

static void numbers_put(numbers_table *t, const hd_few_job *job, hd_key key, uint32_t number)
{
    const hd_key mixed = group_few_mix(key, (hd_key)job->mix.mul[0], (hd_key)job->mix.mul[1]);
    const uint32_t mask = (UINT32_C(1) << t->bits) - 1;
    uint32_t at = (uint32_t)(mixed >> (HD_KEY_BITS - t->bits));
    while (t->slots[at].number != 0) at = (at + 1) & mask;
    t->slots[at].key = key;
    t->slots[at].number = number + 1;
}

static void numbers_grow(numbers_table *t, const hd_few_job *job)
{
    t->bits++;
    memset(t->slots, 0, sizeof *t->slots << t->bits);
    for (uint32_t i = 0; i < t->count; i++)
        numbers_put(t, job, ((const hd_key *)job->keys)[t->firsts[i]], i);
}

/* A key that is not where it is looked for first, and perhaps new: its number and 1, or 0 when there is
   no room for it. */
static __attribute__((noinline)) uint32_t numbers_apart(numbers_table *t, const hd_few_job *job,
                                                        uint64_t row)
{
    const hd_key key = ((const hd_key *)job->keys)[row];
    const hd_key mixed = group_few_mix(key, (hd_key)job->mix.mul[0], (hd_key)job->mix.mul[1]);
    const uint32_t mask = (UINT32_C(1) << t->bits) - 1;
    uint32_t at = (uint32_t)(mixed >> (HD_KEY_BITS - t->bits));
    for (; t->slots[at].number != 0; at = (at + 1) & mask)
        if (t->slots[at].key == key) return t->slots[at].number;
    if (t->count == t->most) return 0;
    if (t->count == numbers_room(t)) numbers_grow(t, job);
    numbers_put(t, job, key, t->count);
    t->firsts[t->count++] = (group_row)row;
    return t->count;
}

/* The rows [begin, end); false when there are too many keys. Two slots are looked at without a branch. */
static bool numbers_rows(numbers_table *t, const hd_few_job *job, uint64_t begin, uint64_t end)
{
    const hd_key *keys = (const hd_key *)job->keys;
    const hd_key mul[2] = {(hd_key)job->mix.mul[0], (hd_key)job->mix.mul[1]};
    const numbers_slot *slots = t->slots;
    uint32_t *numbers = job->numbers;
    uint32_t shift = HD_KEY_BITS - t->bits, mask = (UINT32_C(1) << t->bits) - 1;
    for (uint64_t i = begin; i < end; i++) {
        const hd_key key = keys[i];
        const uint32_t home = (uint32_t)(group_few_mix(key, mul[0], mul[1]) >> shift);
        const numbers_slot first = slots[home], second = slots[(home + 1) & mask];
        /* At most one holds the key; masks, for which no compiler makes branches. */
        uint32_t number = (first.number & (0 - (uint32_t)(first.key == key))) |
                          (second.number & (0 - (uint32_t)(second.key == key)));
        if (__builtin_expect(number == 0, 0)) {
            number = numbers_apart(t, job, i);
            if (number == 0) return false;
            shift = HD_KEY_BITS - t->bits;
            mask = (UINT32_C(1) << t->bits) - 1;
        }
        numbers[i] = number - 1;
    }
    return true;
}

static void numbers_clear(numbers_table *t)
{
    t->bits = NUMBERS_BITS_MIN;
    t->count = 0;
    memset(t->slots, 0, sizeof *t->slots << t->bits);
}

/* Whether rows drawn at random, the same ones every time, show that there are too many keys. Of keys that
   are not too many, the most even ones give the fewest repeats: about draws^2 / (2 * keys). */
static bool numbers_look_many(numbers_table *t, const hd_few_job *job)
{
    uint64_t state = 1;
    if (job->n < 32 * NUMBERS_DRAWN || job->limit < NUMBERS_DRAWN) return false;
    numbers_clear(t);
    for (uint64_t i = 0; i < NUMBERS_DRAWN; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (numbers_apart(t, job, (state >> 16) % job->n) == 0) return true;
    }
    return (NUMBERS_DRAWN - t->count) * 8 < NUMBERS_DRAWN * NUMBERS_DRAWN / (2 * job->limit) * 7;
}

/* The first thread's rows that it does alone: more and more, until as many as before bring no new key.
   Returns their end, or UINT64_MAX when there are too many keys. */
static uint64_t numbers_begin(numbers_table *t, const hd_few_job *job, uint64_t most)
{
    uint64_t end = 0;
    numbers_clear(t);
    while (end < most) {
        const uint64_t more = end == 0 ? NUMBERS_STEP : end, begin = end;
        const uint32_t known = t->count;
        end = most - begin < more ? most : begin + more;
        if (!numbers_rows(t, job, begin, end)) return UINT64_MAX;
        if (t->count == known) break;
    }
    return end;
}

static void numbers_copy(numbers_table *t, const numbers_table *from)
{
    t->bits = from->bits;
    t->count = from->count;
    memcpy(t->slots, from->slots, sizeof *t->slots << t->bits);
    memcpy(t->firsts, from->firsts, t->count * sizeof *t->firsts);
}

static bool numbers_share(numbers_table *t, const hd_few_job *job, hd_share share, const bool *many)
{
    for (uint64_t i = share.begin; i < share.end;) {
        const uint64_t stop = share.end - i < NUMBERS_STEP ? share.end : i + NUMBERS_STEP;
        if (__atomic_load_n(many, __ATOMIC_RELAXED) || !numbers_rows(t, job, i, stop)) return false;
        i = stop;
    }
    return true;
}

/* All keys into the first table; what they are called there goes to `final`. False: too many. */
static bool numbers_merge(numbers_table *tables, const hd_few_job *job, int threads,
                          uint32_t common)
{
    for (int t = 1; t < threads; t++)
        for (uint32_t i = common; i < tables[t].count; i++) {
            const uint32_t number = numbers_apart(&tables[0], job, tables[t].firsts[i]);
            if (number == 0) return false;
            tables[t].final[i] = number - 1;
        }
    return true;
}

/* Final numbers for the rows from the first on that had none. */
static void numbers_finish(const numbers_table *t, const hd_few_job *job, hd_share share,
                           uint32_t common)
{
    uint32_t *numbers = job->numbers;
    if (t->count == common) return;
    for (uint32_t i = 0; i < common; i++) t->final[i] = i;
    for (uint64_t i = t->firsts[common]; i < share.end; i++) numbers[i] = t->final[numbers[i]];
}

/* ---------------------------------------------------------------------------------- the whole */

static uint32_t numbers_bits(uint64_t limit)
{
    uint32_t bits = NUMBERS_NEAR + 1;
    while (UINT64_C(1) << (bits - 1) < limit) bits++;
    return bits;
}

/* Bytes of one thread's slots, first rows and final numbers. */
static uint64_t numbers_bytes(uint64_t limit)
{
    return (sizeof(numbers_slot) << numbers_bits(limit)) +
           (limit * (sizeof(group_row) + sizeof(uint32_t)) + 63) / 64 * 64;
}

static int numbers_threads(heddle_device *device, uint64_t n, uint64_t limit)
{
    const uint64_t threads = (uint64_t)hd_cpu_threads(device, n);
    return (int)(n / limit < threads ? n / limit + (n < limit) : threads);
}

static uint64_t numbers_work(heddle_device *device, uint64_t n, uint64_t limit)
{
    const uint64_t threads = (uint64_t)numbers_threads(device, n, limit);
    return threads * (sizeof(numbers_table) + numbers_bytes(limit)) + 64;
}

/* Tables in the work memory: the slots and arrays of all, then the tables themselves. */
static numbers_table *numbers_lay_out(const hd_few_job *job, int threads)
{
    char *at = (char *)(((uintptr_t)job->work + 63) / 64 * 64);
    const uint64_t bytes = numbers_bytes(job->limit);
    numbers_table *tables = (numbers_table *)(void *)(at + (uint64_t)threads * bytes);
    for (int t = 0; t < threads; t++, at += bytes) {
        tables[t].slots = (numbers_slot *)(void *)at;
        tables[t].firsts =
            (group_row *)(void *)(at + (sizeof(numbers_slot) << numbers_bits(job->limit)));
        tables[t].final = (uint32_t *)(void *)(tables[t].firsts + job->limit);
        tables[t].most = (uint32_t)job->limit;
    }
    return tables;
}

static heddle_status numbers_make(heddle_device *device, hd_few_job *job, void *stream)
{
    const int wanted = numbers_threads(device, job->n, job->limit);
    numbers_table *tables = numbers_lay_out(job, wanted);
    uint64_t alone = 0;
    uint32_t common = 0;
    bool many = false;
    (void)stream;
    job->groups = 0;
    if (numbers_look_many(&tables[0], job)) return HEDDLE_OK;
#pragma omp parallel num_threads(hd_cpu_team_of(wanted, job->n))
    {
        const int threads = omp_get_num_threads();
        numbers_table *mine = &tables[omp_get_thread_num()];
        hd_share share;
        bool begun;
#pragma omp single
        {
            alone = numbers_begin(&tables[0], job, job->n / NUMBERS_ALONE / (uint64_t)threads);
            common = tables[0].count;
            many = alone == UINT64_MAX;
        }
        begun = !many;
        if (begun && mine != tables) numbers_copy(mine, tables);
#pragma omp barrier
        share = hd_share_of(begun ? job->n - alone : 0);
        share.begin += alone;
        share.end += alone;
        if (begun && !numbers_share(mine, job, share, &many))
            __atomic_store_n(&many, true, __ATOMIC_RELAXED);
#pragma omp barrier
#pragma omp single
        if (!many && !numbers_merge(tables, job, threads, common)) many = true;
        if (!many && mine != tables) numbers_finish(mine, job, share, common);
    }
    job->groups = many ? 0 : tables[0].count;
    memcpy(job->firsts, tables[0].firsts, job->groups * sizeof(group_row));
    return HEDDLE_OK;
}

#endif
