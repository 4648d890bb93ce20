/*
 * group_few.h: few keys with many rows each, worked on by all threads. Each thread numbers the keys of
 * its share of the rows with a table of its own and notes the number of every row. The tables are then
 * brought together, which tells where each thread's rows of each key go, and every thread puts them
 * there. As shares ascend, so do the rows of a group.
 */
#ifndef HD_CPU_GROUP_FEW_H
#define HD_CPU_GROUP_FEW_H

#include <omp.h>

#include "cpu/columns/columns.h"
#include "cpu/relate/group_table.h"

#if HD_VALUE_BITS == 32
typedef uint32_t group_row;
#else
typedef uint64_t group_row;
#endif

#define GROUP_PAIR ((HD_KEY_BITS + HD_VALUE_BITS) / 8)
#define GROUP_FEW                                                                                  \
    4096 /* keys: as many rows may be under way to memory, each with a line in the cache */
#define GROUP_STEP 4096 /* rows between looks at whether another thread has given up */

/* Rows to group: the caller's keys, or sorted pairs. */
typedef struct group_source {
    const hd_key *keys;
    const char *pairs;
    const hd_mix *mix; /* of the keys */
    uint64_t begin, end;
    uint16_t *numbers; /* room for one a row: that of its key */
} group_source;

HD_FN hd_key group_pair_key(const group_source *s, uint64_t i)
{
    hd_key key;
    memcpy(&key, s->pairs + i * GROUP_PAIR, sizeof key);
    return key;
}

HD_FN group_row group_pair_row(const group_source *s, uint64_t i)
{
    group_row row;
    memcpy(&row, s->pairs + i * GROUP_PAIR + sizeof(hd_key), sizeof row);
    return row;
}

/* group_number for keys that are not where they are looked for first. */
static __attribute__((noinline)) uint32_t group_number_apart(group_table *t, hd_key mixed)
{
    return group_number(t, mixed);
}

/* A shorter mix than that of regions: here it only spreads few keys over a table. */
HD_FN hd_key group_few_mix(hd_key key, hd_key first, hd_key second)
{
    key *= first;
    return (key ^ key >> (HD_KEY_BITS / 2)) * second;
}

/* The rows [begin, end); false when there are too many keys. Two slots are looked at without a branch. */
HD_FN bool group_few_number(const group_source *s, bool pairs, group_table *t, uint64_t begin,
                            uint64_t end)
{
    const uint32_t used = pairs ? t->used : 0;
    const hd_key mul[2] = {pairs ? 0 : (hd_key)s->mix->mul[0], pairs ? 0 : (hd_key)s->mix->mul[1]};
    uint32_t shift = HD_KEY_BITS - t->bits, mask = (UINT32_C(1) << t->bits) - 1;
    uint16_t *numbers = s->numbers - s->begin;
    for (uint64_t i = begin; i < end; i++) {
        const hd_key mixed =
            pairs ? group_pair_key(s, i) : group_few_mix(s->keys[i], mul[0], mul[1]);
        const uint32_t home = (uint32_t)((hd_key)(mixed << used) >> shift);
        const group_slot first = t->slots[home], second = t->slots[(home + 1) & mask];
        /* At most one holds the key; masks, for which no compiler makes branches. */
        uint32_t number = (first.number & (0 - (uint32_t)(first.key == mixed))) |
                          (second.number & (0 - (uint32_t)(second.key == mixed)));
        if (__builtin_expect(number == 0, 0)) {
            number = group_number_apart(t, mixed) + 1;
            if (number > GROUP_FEW) return false;
            shift = HD_KEY_BITS - t->bits;
            mask = (UINT32_C(1) << t->bits) - 1;
        }
        numbers[i] = (uint16_t)(number - 1);
        t->places[number - 1]++;
    }
    return true;
}

/* One thread's share, in steps. */
static bool group_few_share(const group_source *s, uint32_t used, group_table *t, hd_share share,
                            const bool *many)
{
    t->bits = GROUP_TABLE_BITS_MIN;
    t->count = 0;
    group_table_begin(t, used);
    for (uint64_t i = share.begin; i < share.end;) {
        const uint64_t stop = share.end - i < GROUP_STEP ? share.end : i + GROUP_STEP;
        if (__atomic_load_n(many, __ATOMIC_RELAXED)) return false;
        if (!(s->keys != NULL ? group_few_number(s, false, t, i, stop)
                              : group_few_number(s, true, t, i, stop)))
            return false;
        i = stop;
    }
    return true;
}

/*
 * Brings all tables together in the first, whose places are then where groups begin; each table's own
 * places become those of its thread's rows. False when there are too many keys in all.
 */
static bool group_few_merge(const hd_group_job *job, const group_source *s, group_table *tables,
                            int threads)
{
    group_table *all = &tables[0];
    uint64_t sizes[GROUP_FEW], at = s->begin;
    const uint32_t own = all->count;
    for (uint32_t i = 0; i < own; i++) sizes[i] = all->places[i];
    for (int t = 1; t < threads; t++)
        for (uint32_t i = 0; i < tables[t].count; i++) {
            const uint32_t known = all->count, number = group_number(all, tables[t].keys[i]);
            if (number >= GROUP_FEW) return false;
            sizes[number] = (number < known ? sizes[number] : 0) + tables[t].places[i];
        }
    for (uint32_t g = 0; g < all->count; g++) {
        const uint64_t size = sizes[g], own_rows = g < own ? all->places[g] : 0;
        job->heads[at] = 1;
        all->places[g] = at;      /* of the first thread */
        sizes[g] = at + own_rows; /* of the next */
        at += size;
    }
    for (int t = 1; t < threads; t++)
        for (uint32_t i = 0; i < tables[t].count; i++) {
            const uint32_t number = group_number(all, tables[t].keys[i]);
            const uint64_t rows = tables[t].places[i];
            tables[t].places[i] = sizes[number];
            sizes[number] += rows;
        }
    return true;
}

#define GROUP_LINE (64 / sizeof(group_row)) /* rows in a line */

/* Writes the line of rows whose last is before `end`, past the caches; those before `first` are not ours. */
HD_FN void group_few_flush(group_row *rows, const group_row *line, uint64_t first, uint64_t end)
{
    const uint64_t begin = (end - 1) / GROUP_LINE * GROUP_LINE;
    if (begin >= first && end - begin == GROUP_LINE && (uintptr_t)rows % 64 == 0) {
        for (int i = 0; i < 64; i += 16)
            hd_stream_16((char *)(rows + begin) + i, (const char *)line + i);
        return;
    }
    for (uint64_t i = begin > first ? begin : first; i < end; i++) rows[i] = line[i - begin];
}

/* Puts one thread's rows in place, through a line for every group. The table's slots serve as lines. */
HD_FN void group_few_put(const hd_group_job *job, const group_source *s, bool pairs, group_table *t,
                         hd_share share)
{
    const uint16_t *numbers = s->numbers - s->begin;
    group_row *rows = (group_row *)job->rows, *lines = (group_row *)(void *)t->slots;
    memcpy(t->firsts, t->places, t->count * sizeof *t->firsts);
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint32_t number = numbers[i];
        const uint64_t place = t->places[number];
        group_row *line = lines + number * GROUP_LINE;
        line[place % GROUP_LINE] = pairs ? group_pair_row(s, i) : (group_row)i;
        t->places[number] = place + 1;
        if ((place + 1) % GROUP_LINE == 0)
            group_few_flush(rows, line, t->firsts[number], place + 1);
    }
    for (uint32_t g = 0; g < t->count; g++)
        if (t->places[g] % GROUP_LINE != 0 && t->places[g] != t->firsts[g])
            group_few_flush(rows, lines + g * GROUP_LINE, t->firsts[g], t->places[g]);
    hd_stream_end();
}

static void group_few_put_any(const hd_group_job *job, const group_source *s, group_table *t,
                              hd_share share)
{
    if (s->keys != NULL) group_few_put(job, s, false, t, share);
    else group_few_put(job, s, true, t, share);
}

/*
 * Groups the rows of the source, whose mixed keys agree in the first `used` bits; false, with nothing but
 * rows, heads and numbers of this range touched, when there are more than GROUP_FEW keys.
 */
static bool group_few(const hd_group_job *job, const group_source *s, uint32_t used,
                      group_table *tables, int threads)
{
    bool many = false;
#pragma omp parallel num_threads(threads)
    {
        group_table *t = &tables[omp_get_thread_num()];
        hd_share share = hd_share_of(s->end - s->begin);
        share.begin += s->begin;
        share.end += s->begin;
        if (!group_few_share(s, used, t, share, &many))
            __atomic_store_n(&many, true, __ATOMIC_RELAXED);
        else memset(job->heads + share.begin, 0, share.end - share.begin);
#pragma omp barrier
#pragma omp single
        if (!many && !group_few_merge(job, s, tables, omp_get_num_threads())) many = true;
        if (!many) group_few_put_any(job, s, t, share);
    }
    return !many;
}

#endif
