/*
 * test_owners.cpp: rows to the members that own their keys and answers back (src/cuda/route/owners_kernels.h), run on
 * the CPU by warps.h. The rows of every owner are to come in their order, and answers to find their rows.
 */
#include "shim.h"

/* A fiber a thread: few of them. */
#define OWNERS_BLOCK 64
#define OWNERS_ITEMS 3
#include "cuda/route/owners_kernels.h"

#include "cuda/partition/sorted_pair.h"
#include "sorted_lists.h"

struct trial {
    uint32_t members, tiles;
    hd_owners batch;
    device_array<hd_key> keys;
    device_array<uint16_t> owners;
    device_array<uint64_t> starts;
    device_array<uint32_t> places;
    std::vector<size_t> rows; /* that come at every place */
};

static trial make_trial(size_t n, uint32_t members, uint32_t bits, bool one_owner)
{
    std::vector<hd_key> keys(n);
    std::vector<uint16_t> owners((size_t)1 << bits);
    for (hd_key &key : keys) key = (hd_key)random_64();
    for (uint16_t &owner : owners)
        owner = (uint16_t)(one_owner ? members / 2 : random_below(members));
    const uint32_t tiles = (uint32_t)((n + OWNERS_TILE - 1) / OWNERS_TILE);
    trial t = {members,
               tiles,
               hd_owners(),
               upload(keys),
               upload(owners),
               device_array<uint64_t>(members + 1),
               device_array<uint32_t>((size_t)members * tiles),
               {}};
    hd_mix_init(&t.batch.mix, random_64());
    t.batch.bits = bits;
    t.batch.members = members;
    t.batch.owners = t.owners.get();
    t.batch.keys = t.keys.get();
    t.batch.n = n;
    t.batch.starts = t.starts.get();
    for (uint32_t owner = 0; owner < members; owner++)
        for (size_t i = 0; i < n; i++)
            if (owners[mix_key(&t.batch.mix, keys[i]) >> (HD_KEY_BITS - bits)] == owner)
                t.rows.push_back(i);
    return t;
}

/* The count kernel, and the sums that CUB makes of its counts. */
template <int BITS> static void plan(const trial &t, unsigned blocks)
{
    uint32_t sum = 0;
    warps_launch(blocks, OWNERS_BLOCK, owners_scratch_bytes(t.batch, 0),
                 [&] { count_owners<BITS>(t.batch, t.tiles, t.places.get()); });
    for (size_t i = 0; i < t.places.n; i++) {
        const uint32_t rows = t.places[i];
        t.places[i] = sum;
        sum += rows;
    }
    CHECK(sum == t.batch.n, "%u rows are counted", sum);
    warps_launch(1, OWNERS_BLOCK, [&] { tell_starts(t.batch, t.tiles, t.places.get()); });
    CHECK(t.starts[t.members] == t.batch.n, "the last start");
    for (uint32_t i = 0; i < t.members; i++)
        CHECK(t.starts[i] <= t.starts[i + 1], "starts of %u", i);
}

/* Room for the rows of every owner by itself, or for all of them. */
template <class ELEMENT> struct column {
    std::vector<device_array<ELEMENT>> parts;
    std::vector<void *> at;

    column(const trial &t, bool direct)
    {
        for (uint32_t i = 0; i < (direct ? t.members : 1); i++)
            parts.emplace_back(direct ? t.starts[i + 1] - t.starts[i] : t.batch.n);
        for (const auto &part : parts) at.push_back(part.get());
    }
    /* The element at a place among all. */
    ELEMENT &of(const trial &t, size_t place) const
    {
        size_t owner = 0;
        while (parts.size() > 1 && t.starts[owner + 1] <= place) owner++;
        return parts[owner][place - (parts.size() > 1 ? t.starts[owner] : 0)];
    }
};

template <int BITS, class VALUE, bool DIRECT>
static void send(const trial &t, unsigned blocks, bool with_values)
{
    const size_t n = t.batch.n;
    std::vector<VALUE> values(n);
    for (VALUE &value : values) value = (VALUE)random_64();
    const device_array<VALUE> from = upload(values);
    const column<hd_key> keys(t, DIRECT);
    const column<VALUE> out(t, DIRECT);
    const owners_columns columns =
        owners_columns_of(keys.at[0], out.at[0], DIRECT ? keys.at.data() : NULL,
                          DIRECT && with_values ? out.at.data() : NULL, t.members);
    const uint32_t width = sizeof(VALUE) > sizeof(hd_key) ? sizeof(VALUE) : sizeof(hd_key);
    warps_launch(blocks, OWNERS_BLOCK, owners_scratch_bytes(t.batch, width), [&] {
        send_rows<BITS, VALUE, DIRECT>(t.batch, t.tiles, t.places.get(),
                                       with_values ? from.get() : NULL, columns);
    });
    for (size_t i = 0; i < n; i++) {
        CHECK(keys.of(t, i) == t.keys[t.rows[i]], "key %zu of %zu, %u members", i, n, t.members);
        VALUE poison;
        memset(&poison, ARRAY_BYTE, sizeof poison);
        CHECK(out.of(t, i) == (with_values ? values[t.rows[i]] : poison), "value %zu", i);
    }
}

template <int BITS, class VALUE, bool DIRECT>
static void fetch(const trial &t, unsigned blocks, bool asks, bool tells, bool with_values)
{
    const size_t n = t.batch.n;
    std::vector<VALUE> values(n);
    std::vector<uint8_t> found(n);
    for (VALUE &value : values) value = (VALUE)random_64();
    for (uint8_t &flag : found) flag = (uint8_t)random_below(3);
    const column<VALUE> from(t, DIRECT);
    const column<uint8_t> found_in(t, DIRECT);
    const device_array<VALUE> out(n);
    const device_array<uint8_t> found_out(n);
    for (size_t i = 0; i < n; i++) {
        from.of(t, i) = values[i];
        found_in.of(t, i) = found[i];
    }
    const owners_columns columns =
        owners_columns_of(found_in.at[0], from.at[0], DIRECT && asks ? found_in.at.data() : NULL,
                          DIRECT ? from.at.data() : NULL, t.members);
    const owners_asked asked = {asks, tells ? found_out.get() : NULL,
                                with_values ? out.get() : NULL};
    warps_launch(blocks, OWNERS_BLOCK, owners_scratch_bytes(t.batch, 0), [&] {
        fetch_rows<BITS, VALUE, DIRECT>(t.batch, t.tiles, t.places.get(), asked, columns);
    });
    for (size_t i = 0; i < n; i++) {
        const uint8_t flag = asks ? found[i] : 1;
        VALUE poison;
        memset(&poison, ARRAY_BYTE, sizeof poison);
        CHECK(found_out[t.rows[i]] == (tells ? flag : ARRAY_BYTE), "flag %zu", i);
        CHECK(out[t.rows[i]] == (with_values && flag != 0 ? values[i] : poison), "answer %zu", i);
    }
}

template <int BITS> static void go(size_t n, uint32_t members, bool one_owner, uint32_t bits = 6)
{
    const trial t = make_trial(n, members, bits, one_owner);
    const unsigned blocks = t.tiles < 3 ? t.tiles : 2; /* some go on to another tile */
    plan<BITS>(t, blocks);
    send<BITS, uint32_t, false>(t, blocks, n % 2 == 0);
    send<BITS, uint64_t, false>(t, blocks, true);
    fetch<BITS, uint32_t, false>(t, blocks, true, true, true);
    fetch<BITS, uint32_t, false>(t, blocks, true, true, false);
    fetch<BITS, uint64_t, false>(t, blocks, n % 2 == 0, false, true);
    if (members > HD_OWNERS_DIRECT) return;
    send<BITS, uint32_t, true>(t, blocks, n % 2 == 0);
    send<BITS, uint64_t, true>(t, blocks, true);
    fetch<BITS, uint32_t, true>(t, blocks, true, true, true);
    fetch<BITS, uint64_t, true>(t, blocks, n % 2 == 0, n % 3 == 0, true);
}

static void test(uint64_t seed)
{
    const size_t tile = OWNERS_TILE;
    const size_t sizes[] = {1, 32, tile - 1, tile, tile + 1, 3 * tile + 40};
    for (size_t n : sizes) {
        const bool one_owner = (n + seed) % 3 == 0;
        go<2>(n, 1 + (uint32_t)random_below(4), one_owner);
        go<3>(n, 5 + (uint32_t)random_below(4), one_owner);
        go<5>(n, 9 + (uint32_t)random_below(24), one_owner);
        go<OWNERS_MANY>(n, 33 + (uint32_t)random_below(60), one_owner);
    }
    go<OWNERS_MANY>(2 * tile + 5, seed % 2 == 0 ? 1000 : 1024, false, 11);
    /* As many bins as groups of so many members have; of the first alone the owners are in shared memory. */
    go<OWNERS_MANY>(tile + 9, 64, false, 12);
    go<OWNERS_MANY_BINS>(tile + 9, 65, false, 13);
    go<OWNERS_MANY_BINS>(2 * tile + 5, seed % 2 == 0 ? 500 : 512, false, 15);
    go<OWNERS_MANY_BINS>(2 * tile + 5, seed % 2 == 0 ? 1024 : 1000, false, 16);
    go<OWNERS_MANY>(tile + 7, 2, false);
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 6, test); }
