/* plain_table.h: a table of slots in plain memory, for kernels that know it by heddle/device.cuh. */
#ifndef PLAIN_TABLE_H
#define PLAIN_TABLE_H

#include "arrays.h"

extern "C" {
#include "engine/engine.h"
#include "model/device_view.h"
#include "table/slots/geometry.h"
}

/* What a table is made from. */
struct plain_options {
    uint32_t scheme, key_bits, value_bits, bucket;
    uint64_t capacity;
    uint32_t hashes;
    bool multimap;
};

static heddle_status plain_count(heddle_device *, const hd_view *, const hd_batch *, void *)
{
    return HEDDLE_OK;
}

static hd_table_ops plain_ops(const plain_options &o)
{
    hd_table_ops ops = {};
    ops.scheme = o.scheme, ops.key_bits = o.key_bits, ops.value_bits = o.value_bits;
    ops.bucket = o.bucket;
    ops.slot_bytes = o.key_bits / 8 * (o.value_bits == o.key_bits ? 2 : 1);
    ops.count = o.multimap ? plain_count : NULL;
    return ops;
}

static hd_view plain_view(const plain_options &o)
{
    const hd_table_ops ops = plain_ops(o);
    hd_view view = {};
    CHECK(hd_geometry_init(&view, &ops, o.capacity, 0.8, o.hashes, warps_random() | 1) == HEDDLE_OK,
          "geometry");
    view.threshold = hd_geometry_threshold(&ops, 0.8);
    return view;
}

template <class TABLE> struct plain_table {
    hd_view view;
    hd_table_ops ops;
    device_array<char> words, apart;
    device_array<uint32_t> locks;
    device_array<uint64_t> counts;
    TABLE inside;

    explicit plain_table(const plain_options &o, uint32_t region_bits = 0)
        : view(changed(plain_view(o), region_bits)), ops(plain_ops(o)),
          words(slots() * ops.slot_bytes, 0xff),
          apart(o.value_bits == 64 && o.key_bits == 32 ? slots() * 8 : slots() * 4),
          locks(hd_geometry_locks(&view, &ops), 0), counts(2, 0)
    {
        const bool lie_apart = o.value_bits != 0 && o.value_bits != o.key_bits;
        view.slots = words.get();
        view.values = lie_apart ? apart.get() : NULL;
        view.locks = locks.n != 0 ? locks.get() : NULL;
        inside.at = at();
    }
    hd_device_view at() const { return {view, counts.get(), counts.get() + 1}; }
    uint64_t slots() const { return hd_geometry_slots(&view, &ops); }
    uint64_t size() const { return counts[0] - counts[1]; }
    /* What a call leaves behind. */
    void check_rest() const
    {
        for (size_t i = 0; i < locks.n; i++) CHECK(locks[i] == 0, "a lock was kept");
    }

  private:
    /* So many regions in place of what is usual; 0: as usual. */
    static hd_view changed(hd_view from, uint32_t region_bits)
    {
        if (region_bits != 0) from.region_bits = region_bits;
        return from;
    }
};

#endif
