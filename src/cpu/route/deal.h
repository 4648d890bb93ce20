/*
 * deal.h: keys are dealt out to the members that own them (hd_deal, engine/graph.h), for one kind of pair. A slice
 * stays in the second-level cache: the owners of all keys are found first, a byte for each, and then every key goes
 * to its place. That takes fewer steps than to sort by bins, mixed, and to undo the mix again.
 *
 * With two members the place of a key follows from how many of the second there were before: no array of places,
 * whose entries each key would have to wait for. And one thread needs no counts: the first member's keys are laid from
 * the front, the second's from the end, until they meet.
 */
#ifndef HD_DEAL_H
#define HD_DEAL_H

#include "cpu/columns/columns.h"
#include "model/hash.h"

/* The owners of a share of the keys, and how many keys each has. */
static void deal_owners(const hd_deal *d, hd_share share, uint8_t *owner_of, uint64_t *counts)
{
    const hd_key *keys = (const hd_key *)d->keys;
    const uint32_t shift = HD_KEY_BITS - d->bits;
    const hd_mix mix = d->mix;
    const uint8_t *owners = d->owners;
    uint64_t ones = 0;
    for (uint64_t i = share.begin; i < share.end; i++)
        owner_of[i] = owners[mix_key(&mix, keys[i]) >> shift];
    if (d->members <= 2) {
        for (uint64_t i = share.begin; i < share.end; i++) ones += owner_of[i];
        counts[d->members - 1] = ones;
        if (d->members == 2) counts[0] = share.end - share.begin - ones;
        else counts[0] = share.end - share.begin;
        return;
    }
    for (uint32_t m = 0; m < d->members; m++) counts[m] = 0;
    for (uint64_t i = share.begin; i < share.end; i++) counts[owner_of[i]]++;
}

HD_FN void deal_value(const hd_deal *d, bool rows, uint64_t from, uint64_t to)
{
#if HD_VALUE_BITS != 0
    hd_value *out = (hd_value *)d->values_out;
    out[to] = rows ? (hd_value)from : ((const hd_value *)d->values)[from];
#else
    (void)d, (void)rows, (void)from, (void)to;
#endif
}

/* Two members; places are where theirs begin. */
HD_FN void deal_two(const hd_deal *d, bool rows, hd_share share, const uint8_t *owner_of,
                    const uint64_t *places)
{
    const hd_key *keys = (const hd_key *)d->keys;
    hd_key *out = (hd_key *)d->keys_out;
    uint64_t zero = places[0], one = places[1];
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t second = owner_of[i];
        const uint64_t to =
            zero ^ ((zero ^ one) & (0 - second)); /* no branch: none could be foreseen */
        out[to] = keys[i];
        deal_value(d, rows, i, to);
        one += second;
        zero += second ^ 1;
    }
}

/* Two members and one thread, in one go. Returns how many keys the first has. */
HD_FN uint64_t deal_at_once(const hd_deal *d, bool rows)
{
    const hd_key *keys = (const hd_key *)d->keys;
    const uint8_t *owners = d->owners;
    const uint32_t shift = HD_KEY_BITS - d->bits;
    const hd_mix mix = d->mix;
    hd_key *out = (hd_key *)d->keys_out;
    uint64_t zero = 0, one = d->n - 1; /* all between is vacant */
    for (uint64_t i = 0; i < d->n; i++) {
        const hd_key key = keys[i];
        const uint64_t second = owners[mix_key(&mix, key) >> shift];
        const uint64_t to = zero ^ ((zero ^ one) & (0 - second));
        out[to] = key;
        deal_value(d, rows, i, to);
        one -= second;
        zero += second ^ 1;
    }
    return zero;
}

HD_FN void deal_many(const hd_deal *d, bool rows, hd_share share, const uint8_t *owner_of,
                     uint64_t *places)
{
    const hd_key *keys = (const hd_key *)d->keys;
    hd_key *out = (hd_key *)d->keys_out;
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t to = places[owner_of[i]]++;
        out[to] = keys[i];
        deal_value(d, rows, i, to);
    }
}

/* `rows` is a constant in each. */
static void deal_share(const hd_deal *d, hd_share share, const uint8_t *owner_of, uint64_t *places)
{
    const bool rows = d->values == NULL;
    if (d->members == 2 && rows) deal_two(d, true, share, owner_of, places);
    else if (d->members == 2) deal_two(d, false, share, owner_of, places);
    else if (rows) deal_many(d, true, share, owner_of, places);
    else deal_many(d, false, share, owner_of, places);
}

/* Counts of threads become places: member by member, in each thread by thread. */
static void deal_places(const hd_deal *d, uint64_t *counts, int threads)
{
    uint64_t at = 0;
    for (uint32_t m = 0; m < d->members; m++) {
        const uint64_t first = at;
        for (int t = 0; t < threads; t++) {
            uint64_t *place = &counts[(uint64_t)t * HD_DEAL_MEMBERS_MAX + m];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
        d->counts[m] = at - first;
    }
}

static uint64_t deal_work(heddle_device *device, uint64_t n)
{
    return (uint64_t)hd_cpu_threads(device, n) * HD_DEAL_MEMBERS_MAX * sizeof(uint64_t) + n;
}

static heddle_status deal(heddle_device *device, const hd_deal *d, void *stream)
{
    const int threads = hd_cpu_threads(device, d->n);
    uint64_t *counts = (uint64_t *)d->work;
    uint8_t *owner_of = (uint8_t *)(counts + (uint64_t)threads * HD_DEAL_MEMBERS_MAX);
    (void)stream;
    if (d->members == 2 && threads == 1) {
        d->counts[0] = d->values == NULL ? deal_at_once(d, true) : deal_at_once(d, false);
        d->counts[1] = d->n - d->counts[0];
        return HEDDLE_OK;
    }
#pragma omp parallel num_threads(threads)
    {
        const hd_share share = hd_share_of(d->n);
        uint64_t *mine = counts + (uint64_t)omp_get_thread_num() * HD_DEAL_MEMBERS_MAX;
        deal_owners(d, share, owner_of, mine);
#pragma omp barrier
#pragma omp single
        deal_places(d, counts, omp_get_num_threads());
        deal_share(d, share, owner_of, mine);
    }
    return HEDDLE_OK;
}

#endif
