/* plain_slabs.h: a slab hash in plain memory, for kernels that know it by heddle/device.cuh. */
#ifndef PLAIN_SLABS_H
#define PLAIN_SLABS_H

#include "arrays.h"

extern "C" {
#include "model/device_view.h"
#include "table/slots/geometry.h"
}

#define POOL_BLOCKS 2 /* each a super block, or both one */

/* A list of slabs as the headers of one table check it. */
typedef void (*list_inspect)(const hd_slab_view *, uint64_t, bool, uint32_t *, hd_slab_census *);

template <class TABLE> struct plain_slabs {
    device_array<char> base, slabs;
    device_array<hd_slab_super> supers;
    device_array<uint32_t> taken, spent;
    device_array<uint64_t> counts;
    std::vector<uint32_t> hidden; /* slabs that count as taken, to make the pool small */
    TABLE inside;
    list_inspect inspect;
    bool unique;

    /* So many slabs can be had from the pool. */
    plain_slabs(uint32_t key_bits, uint32_t region_buckets, uint32_t spare, bool is_unique,
                list_inspect by)
        : base((size_t)4 * region_buckets * HD_SLAB_BYTES, 0),
          slabs((size_t)POOL_BLOCKS * HD_SLAB_UNITS * HD_SLAB_BYTES, 0), supers(POOL_BLOCKS),
          taken(POOL_BLOCKS * HD_SLAB_BLOCK_WORDS, 0xff), spent(1, 0), counts(2, 0), inspect(by),
          unique(is_unique)
    {
        const bool light = warps_random() % 2 == 0;
        hd_slab_view *const view = &inside.at.view;
        memset(&inside.at, 0, sizeof inside.at);
        view->buckets.slots = base.get();
        view->buckets.region_bits = 2;
        view->buckets.region_buckets = region_buckets;
        view->buckets.mark_bits = 1;
        view->buckets.key_mask = ~(UINT64_C(1) << (key_bits - 2));
        hd_mix_init(&view->buckets.mix, warps_random() | 1);
        for (uint32_t i = 0; i < POOL_BLOCKS; i++)
            supers[i] = {slabs.get() + (size_t)i * HD_SLAB_UNITS * HD_SLAB_BYTES, i, 1};
        if (light) supers[0].blocks = POOL_BLOCKS;
        view->pool = {light ? slabs.get() : NULL,
                      supers.get(),
                      light ? 1u : POOL_BLOCKS,
                      POOL_BLOCKS,
                      taken.get(),
                      spent.get()};
        inside.at.born = counts.get();
        inside.at.died = counts.get() + 1;
        while (spare != 0) {
            const uint32_t slab = 1 + (uint32_t)warps_random() % (POOL_BLOCKS * HD_SLAB_UNITS - 1);
            spare -= taken[slab / 32] >> slab % 32 & 1;
            taken[slab / 32] &= ~(1u << slab % 32);
        }
        hidden.assign(taken.get(), taken.get() + taken.n);
    }
    uint64_t size() const { return counts[0] - counts[1]; }

    /* Slots are filled in order, nothing is half done, every slab that was taken is in one list. */
    void check_rest(size_t) const
    {
        const hd_slab_view *const view = &inside.at.view;
        const uint64_t lists = (uint64_t)view->buckets.region_buckets << 2;
        device_array<uint32_t> seen(taken.n, 0);
        hd_slab_census c = {};
        warps_launch(1, 1, [&] {
            for (uint64_t i = 0; i < lists; i++) inspect(view, i, unique, seen.get(), &c);
        });
        CHECK(c.live == size(), "%llu live, not %llu", (ull)c.live, (ull)size());
        CHECK(c.pending + c.gaps + c.misplaced + c.astray + c.twice == 0, "a list is damaged");
        for (size_t i = 0; i < taken.n; i++)
            CHECK((hidden[i] | seen[i]) == taken[i], "word %zu: a slab is lost", i);
    }
};

#endif
