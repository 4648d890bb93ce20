/*
 * test_slab.cpp: the kernels of slab hashes (src/cuda/slabs/slab_kernels.h), run on the CPU by warps.h under random
 * schedules: batches in which many tiles insert, erase and find the same few keys at once, with pools that are
 * ample and that run out. What every key went through must be explained by some order; the lists must be whole.
 */
#include "shim.h"

#define LOAD_ELEMENT 8 /* as load_cg of src/tile/load_cuda.h: a pair of 32 bits is seen whole */
#define SLAB_CHUNK 128
#define SLAB_BLOCK 64 /* a fiber a thread: few of them */
#define SLAB_FILL_BLOCK 64
#define SLAB_FILL_CHAINED 12 /* some regions need more */
#include "cuda/slabs/slab_kernels.h"

#include <map>
#include <set>

#include "arrays.h"
#include "sort_by_region.h"

extern "C" {
#include "table/slots/geometry.h"
}

#if defined(__SANITIZE_ADDRESS__) || defined(FEW_SEEDS)
#define SEEDS 3
#else
#define SEEDS 8
#endif
#define BLOCKS 2 /* of the pool, each a super block when there are two */
#define OPERATIONS 240

static uint64_t random_64() { return warps_random() << 32 ^ warps_random(); }
static uint64_t random_below(uint64_t n) { return warps_random() % n; }

typedef std::map<hd_key, hd_value> contents;

struct bare_slabs {
    device_array<char> base, slabs;
    device_array<hd_slab_super> supers;
    device_array<uint32_t> taken, spent;
    uint32_t hidden[BLOCKS *
                    HD_SLAB_BLOCK_WORDS]; /* slabs that count as taken, to make the pool small */
    hd_slab_view view;

    bare_slabs(uint32_t region_buckets, uint32_t spare);
    std::multimap<hd_key, hd_value> read() const;
    uint64_t buckets() const
    {
        return (uint64_t)view.buckets.region_buckets << view.buckets.region_bits;
    }
};

/* So many slabs can be had from the pool. */
bare_slabs::bare_slabs(uint32_t region_buckets, uint32_t spare)
    : base((size_t)4 * region_buckets * HD_SLAB_BYTES, 0),
      slabs((size_t)BLOCKS * HD_SLAB_UNITS * HD_SLAB_BYTES, 0), supers(BLOCKS),
      taken(BLOCKS * HD_SLAB_BLOCK_WORDS, 0xff), spent(1, 0)
{
    const bool light = random_below(2) == 0;
    memset(&view, 0, sizeof view);
    view.buckets.slots = base.get();
    view.buckets.region_bits = 2;
    view.buckets.region_buckets = region_buckets;
    view.buckets.mark_bits = 1;
    view.buckets.key_mask = (hd_key) ~((hd_key)1 << (HD_KEY_BITS - 2));
    hd_mix_init(&view.buckets.mix, random_64());
    for (uint32_t i = 0; i < BLOCKS; i++)
        supers[i] = {slabs.get() + (size_t)i * HD_SLAB_UNITS * HD_SLAB_BYTES, i, 1};
    if (light) supers[0].blocks = BLOCKS;
    view.pool = {light ? slabs.get() : NULL,
                 supers.get(),
                 light ? 1u : BLOCKS,
                 BLOCKS,
                 taken.get(),
                 spent.get()};
    while (spare != 0) {
        const uint32_t slab = 1 + (uint32_t)random_below(BLOCKS * HD_SLAB_UNITS - 1);
        spare -= taken[slab / 32] >> slab % 32 & 1;
        taken[slab / 32] &= ~(1u << slab % 32);
    }
    memcpy(hidden, taken.get(), sizeof hidden);
}

/* All pairs. Slots are filled in order, nothing is half done, every taken slab is in one list. */
std::multimap<hd_key, hd_value> bare_slabs::read() const
{
    std::multimap<hd_key, hd_value> all;
    std::vector<uint32_t> linked(hidden, hidden + BLOCKS * HD_SLAB_BLOCK_WORDS);
    for (uint64_t bucket = 0; bucket < buckets(); bucket++) {
        char *slab = base_slab(&view.buckets, bucket);
        for (bool vacant = false; slab != NULL;) {
            for (uint32_t bit = 0; bit < HD_SLAB_ORDER; bit++) {
                const uint32_t slot = slab_slot(bit);
                if (slot >= HD_SLAB_SLOTS) continue;
                const hd_key word = *slab_key_at(slab, slot);
                CHECK(!vacant || word == 0, "a vacancy has a key behind it");
                vacant = word == 0;
                CHECK((word & HD_STATE_MASK) != HD_STATE_PENDING, "a slot was left pending");
                if ((word & HD_STATE_MASK) != HD_STATE_LIVE) continue;
                const uint32_t region = (uint32_t)(bucket / view.buckets.region_buckets);
                const hd_key lean = word & ~HD_STATE_MASK;
                const hd_key key = key_from_lean(&view.buckets, region, lean);
                CHECK(slab_bucket(&view.buckets, mix_key(&view.buckets.mix, key)) == bucket,
                      "a key is in the wrong bucket");
                hd_value value = 0;
#if HD_VALUE_BITS != 0
                value = *slab_value_at(slab, slot);
#endif
                all.emplace(key, value);
            }
            const uint32_t next = *slab_next_at(slab);
            if (next == HD_SLAB_NONE) break;
            CHECK(pool_has(&view.pool, next), "a list leads out of the pool");
            uint32_t *word = &linked[(size_t)(pool_word(&view.pool, next) - view.pool.taken)];
            CHECK((*word >> next % 32 & 1) == 0, "a slab is in two lists");
            *word |= 1u << next % 32;
            slab = pool_slab(&view.pool, next);
        }
    }
    for (uint32_t i = 0; i < linked.size(); i++)
        CHECK(linked[i] == taken[i], "word %u: taken %x, linked %x", i, taken[i], linked[i]);
    return all;
}

struct batch_of {
    std::vector<uint8_t> operations;
    std::vector<hd_key> keys;
    std::vector<hd_value> values, values_out;
    std::vector<uint8_t> outcomes;
    uint32_t policy;
    hd_counts counts;
    uint64_t born, died;
};

/* HD_SLAB_PLACED to HD_SLAB_SPENT, of an outcome that operation and policy can have. */
static int end_of(const batch_of *b, size_t i, uint8_t outcome)
{
    const bool inserts = b->operations[i] == HD_SLAB_INSERT;
    if (inserts && outcome == HEDDLE_OUTCOME_INSERTED) return HD_SLAB_PLACED;
    if (inserts && outcome == HEDDLE_OUTCOME_FAILED) return HD_SLAB_SPENT;
    if (inserts &&
        outcome == (b->policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED))
        return HD_SLAB_PRESENT;
    if (!inserts && outcome == HEDDLE_OUTCOME_FOUND) return HD_SLAB_PRESENT;
    CHECK(!inserts && outcome == HEDDLE_OUTCOME_ABSENT, "outcome %u", outcome);
    return HD_SLAB_ABSENT;
}

template <bool MULTI>
static void launch(bare_slabs *t, const hd_slab_batch &batch, bool pure, unsigned blocks,
                   uint32_t width)
{
    const bool reuses = random_below(2) == 0;
    const bool any = !pure || random_below(4) == 0, by_kind = !MULTI && any && random_below(2) == 0;
    const uint32_t chunk = SLAB_CHUNK >> random_below(4);
    if (by_kind) {
        warps_launch(blocks, SLAB_BLOCK, [&] { slab_select<SLAB_ASK>(t->view, batch); });
        warps_launch(blocks, SLAB_BLOCK, [&] { slab_select<HD_SLAB_INSERT>(t->view, batch); });
        return;
    }
    warps_launch(blocks, SLAB_BLOCK, [&] {
        if (any) slab_mixed<MULTI>(t->view, batch, chunk, width);
        else if (batch.operation == HD_SLAB_INSERT)
            reuses ? slab_batch<HD_SLAB_INSERT, MULTI, !MULTI>(t->view, batch, width)
                   : slab_batch<HD_SLAB_INSERT, MULTI, false>(t->view, batch, width);
        else if (batch.operation == HD_SLAB_ERASE)
            slab_batch<HD_SLAB_ERASE, MULTI, false>(t->view, batch, width);
        else slab_batch<HD_SLAB_FIND, MULTI, false>(t->view, batch, width);
    });
}

/* DEAD slots of all lists. */
static uint64_t dead_slots(const bare_slabs *t)
{
    uint64_t dead = 0;
    for (uint64_t bucket = 0; bucket < t->buckets(); bucket++)
        for (char *slab = base_slab(&t->view.buckets, bucket); slab != NULL;) {
            for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++)
                dead += (*slab_key_at(slab, i) & HD_STATE_MASK) == HD_STATE_DEAD;
            const uint32_t next = *slab_next_at(slab);
            slab = next != HD_SLAB_NONE ? pool_slab(&t->view.pool, next) : NULL;
        }
    return dead;
}

static void run(bare_slabs *t, batch_of *b, bool multi, bool pure)
{
    const size_t n = b->keys.size();
    device_array<uint8_t> operations = upload(b->operations), outcomes(n);
    device_array<hd_key> keys = upload(b->keys);
    device_array<hd_value> values = upload(b->values), out(n, 0);
    device_array<hd_counts> counts(1, 0);
    device_array<uint64_t> sizes(3, 0);
    hd_slab_batch batch;
    const uint64_t dead = dead_slots(t);
    memset(&batch, 0, sizeof batch);
    batch.operations = operations.get();
    batch.operation = pure ? b->operations[0] : 0;
    batch.policy = b->policy;
    batch.multi = multi;
    batch.keys = keys.get();
    batch.values = HD_VALUE_BITS != 0 ? values.get() : NULL;
    batch.values_out = HD_VALUE_BITS != 0 ? out.get() : NULL;
    batch.outcomes = outcomes.get();
    batch.n = n;
    batch.counts = counts.get();
    batch.born = &sizes[0];
    batch.died = &sizes[1];
    if (!multi) batch.revived = &sizes[2];
    t->spent[0] = 0;
    const unsigned blocks = 1 + (unsigned)random_below(3);
    const uint32_t width = WARP_LANES >> random_below(3); /* one a tile at least */
    if (multi) launch<true>(t, batch, pure, blocks, width);
    else launch<false>(t, batch, pure, blocks, width);
    b->outcomes.clear();
    for (size_t i = 0; i < n; i++) b->outcomes.push_back((uint8_t)end_of(b, i, outcomes[i]));
    b->values_out.assign(out.get(), out.get() + n);
    b->counts = counts[0];
    b->born = sizes[0];
    b->died = sizes[1];
    CHECK(dead_slots(t) + sizes[2] == dead + sizes[1], "%llu slots were dead, %llu died, %llu live",
          (ull)dead, (ull)sizes[1], (ull)sizes[2]);
}

/* What happened to one key in a batch. */
struct history {
    uint64_t placed = 0, updated = 0, erased = 0, found = 0, absent = 0, spent = 0;
    hd_value sum = 0; /* of values placed and added */
    std::set<hd_value> written, read;
};

static std::map<hd_key, history> histories(const batch_of *b)
{
    std::map<hd_key, history> all;
    for (size_t i = 0; i < b->keys.size(); i++) {
        history &h = all[b->keys[i]];
        const int end = b->outcomes[i];
        const uint32_t operation = b->operations[i];
        CHECK(end <= HD_SLAB_SPENT, "outcome %d", end);
        if (operation == HD_SLAB_INSERT) {
            CHECK(end != HD_SLAB_ABSENT, "an insertion found nothing");
            h.placed += end == HD_SLAB_PLACED;
            h.updated += end == HD_SLAB_PRESENT;
            h.spent += end == HD_SLAB_SPENT;
            if (end == HD_SLAB_PLACED ||
                (end == HD_SLAB_PRESENT && b->policy == HEDDLE_POLICY_REPLACE))
                h.written.insert(b->values[i]);
            if (end == HD_SLAB_PLACED || end == HD_SLAB_PRESENT) h.sum += b->values[i];
            continue;
        }
        CHECK(end == HD_SLAB_PRESENT || end == HD_SLAB_ABSENT, "outcome %d", end);
        h.absent += end == HD_SLAB_ABSENT;
        h.erased += operation == HD_SLAB_ERASE && end == HD_SLAB_PRESENT;
        h.found += operation == HD_SLAB_FIND && end == HD_SLAB_PRESENT;
        if (operation == HD_SLAB_FIND && end == HD_SLAB_PRESENT) h.read.insert(b->values_out[i]);
    }
    return all;
}

/* Some order of its operations leads one key of a unique table from before to after. */
static void check_key(const batch_of *b, const history &h, const hd_value *before,
                      const hd_value *after)
{
    const bool was = before != NULL, is = after != NULL;
    CHECK(was + h.placed == is + h.erased, "%d there, %llu inserted, %llu erased, then %d", was,
          (ull)h.placed, (ull)h.erased, is);
    CHECK(was || h.placed != 0 || h.updated + h.found == 0, "a key was found that was never there");
    CHECK(!was || h.erased != 0 || h.absent == 0, "a key was missed that was there all the while");
    if (HD_VALUE_BITS == 0) return;
    if (b->policy == HEDDLE_POLICY_ADD) {
        if (h.erased == 0 && is)
            CHECK(*after == (hd_value)((was ? *before : 0) + h.sum), "the sum is wrong");
        return;
    }
    std::set<hd_value> possible = h.written;
    if (was) possible.insert(*before);
    for (hd_value value : h.read) CHECK(possible.count(value) != 0, "a value from nowhere is read");
    if (is) CHECK(possible.count(*after) != 0, "a value from nowhere is there");
}

static contents unique(const std::multimap<hd_key, hd_value> &all)
{
    contents c;
    for (const auto &pair : all) CHECK(c.insert(pair).second, "a key is there twice");
    return c;
}

static batch_of some_batch(const std::vector<hd_key> &pool, int only)
{
    static const uint32_t policies[] = {HEDDLE_POLICY_KEEP, HEDDLE_POLICY_REPLACE,
                                        HEDDLE_POLICY_ADD};
    batch_of b;
    b.policy = policies[random_below(3)];
    for (size_t i = 0; i < OPERATIONS; i++) {
        b.operations.push_back((uint8_t)(only >= 0 ? only : (int)random_below(3)));
        b.keys.push_back(pool[random_below(pool.size())]);
        b.values.push_back((hd_value)random_64());
    }
    return b;
}

static std::vector<hd_key> some_keys(size_t n)
{
    std::vector<hd_key> keys = {0, (hd_key) ~(hd_key)0, 1};
    while (keys.size() < n) keys.push_back((hd_key)random_64());
    return keys;
}

/* The memory of a table, to be held against another. */
struct memory_of {
    std::vector<char> base, slabs;
    std::vector<uint32_t> taken;
    explicit memory_of(const bare_slabs *t)
        : base(t->base.get(), t->base.get() + t->base.n),
          slabs(t->slabs.get(), t->slabs.get() + t->slabs.n),
          taken(t->taken.get(), t->taken.get() + t->taken.n)
    {
    }
    void restore(bare_slabs *t) const
    {
        memcpy(t->base.get(), base.data(), base.size());
        memcpy(t->slabs.get(), slabs.data(), slabs.size());
        memcpy(t->taken.get(), taken.data(), taken.size() * sizeof(uint32_t));
    }
    bool operator==(const memory_of &o) const
    {
        return base == o.base && slabs == o.slabs && taken == o.taken;
    }
};

/* What lists are when one thread compacts them, or makes long ones shorter; the table stays as it is. */
static memory_of compacted_by_one(bare_slabs *t, bool long_lists)
{
    const memory_of before(t);
    warps_launch(1, 1, [&] {
        for (uint64_t i = 0; i < t->buckets(); i++)
            long_lists ? slab_shorten(&t->view, i) : slab_compact(&t->view, i);
    });
    const memory_of after(t);
    before.restore(t);
    return after;
}

/* Compacts where there is need, and says what was decided. */
static uint64_t compact_for(bare_slabs *t, hd_slab_words *words, const uint64_t *died,
                            const hd_slab_need &need)
{
    warps_launch(1, SLAB_BLOCK, [&] { slab_decide(t->view.pool, words, died, need); });
    warps_launch(2, SLAB_BLOCK, [&] { slab_compact_all(t->view, words); });
    return words->decided;
}

/* Only lists of several slabs get shorter; the dead slots that are left do not count again. Pairs lose their order. */
static void compact_long(bare_slabs *t)
{
    const std::multimap<hd_key, hd_value> before = t->read();
    const memory_of by_one = compacted_by_one(t, true);
    device_array<hd_slab_words> words(1, 0);
    device_array<uint64_t> died(1, 0);
    died[0] = dead_slots(t);
    if (died[0] == 0) return;
    CHECK(compact_for(t, words.get(), died.get(), {died[0], UINT64_MAX, true}) == HD_COMPACT_LONG,
          "%llu dead slots are no need", (ull)died[0]);
    CHECK(memory_of(t) == by_one, "a tile makes lists shorter otherwise than a thread does");
    CHECK(died[0] - words[0].revived == dead_slots(t), "%llu of %llu slots are not dead any more",
          (ull)words[0].revived, (ull)died[0]);
    CHECK(compact_for(t, words.get(), died.get(), {1, UINT64_MAX, true}) == HD_COMPACT_NONE,
          "what was left counts again");
    CHECK(t->read() == before, "pairs are not what they were");
}

/* The census agrees with what was read. Compacting leaves the pairs, and no more slabs than they need. */
static void compact(bare_slabs *t, bool is_unique)
{
    const std::multimap<hd_key, hd_value> before = t->read();
    const memory_of by_one = compacted_by_one(t, false);
    device_array<hd_slab_words> words(1, 0);
    device_array<uint64_t> died(1, 0);
    device_array<uint32_t> seen(BLOCKS * HD_SLAB_BLOCK_WORDS, 0);
    device_array<hd_slab_census> census(2, 0);
    warps_launch(2, SLAB_BLOCK,
                 [&] { slab_inspect_all(t->view, is_unique, seen.get(), &census[0]); });
    died[0] = census[0].dead;
    for (uint64_t more = 2; more-- > 0;) { /* one dead slot too few, then enough */
        (void)compact_for(
            t, words.get(), died.get(),
            {died[0] + more, random_below(2) == 0 ? died[0] + more : UINT64_MAX, false});
        CHECK(words[0].revived == (more == 0 ? died[0] : 0), "compacted without need, or not");
    }
    /* With a pool that is three quarters full fewer are enough. */
    uint32_t taken = 0;
    for (uint32_t i = 0; i < BLOCKS * HD_SLAB_BLOCK_WORDS; i++) taken += hd_popcount32(t->taken[i]);
    const hd_slab_need need = {UINT64_MAX, 0, false};
    warps_launch(1, SLAB_BLOCK, [&] { slab_decide(t->view.pool, words.get(), died.get(), need); });
    CHECK((words[0].decided != 0) == (taken >= BLOCKS * HD_SLAB_UNITS / 4 * 3),
          "%u slabs of %u are taken", taken, BLOCKS * HD_SLAB_UNITS);
    CHECK(t->read() == before, "pairs are not what they were");
    CHECK(memory_of(t) == by_one, "a tile compacts lists otherwise than a thread does");
    memset(seen.get(), 0, seen.n * sizeof(uint32_t));
    warps_launch(2, SLAB_BLOCK,
                 [&] { slab_inspect_all(t->view, is_unique, seen.get(), &census[1]); });
    for (int i = 0; i < 2; i++) {
        const hd_slab_census &c = census[i];
        CHECK(c.live == before.size(), "%llu live, not %zu", (ull)c.live, before.size());
        CHECK(c.pending + c.gaps + c.misplaced + c.astray + c.twice == 0,
              "a sound table is called damaged");
    }
    CHECK(census[1].dead == 0, "dead slots are left");
    CHECK(census[0].chained == census[1].chained + words[0].given, "slabs are lost");
    /* Every list has one slab at least, and none without a pair behind it. */
    CHECK(census[1].chained * HD_SLAB_SLOTS <= before.size(), "slabs are left");
}

/* The word of a key that belongs into another bucket; 0 where there is none. */
static hd_key stranger(const bare_slabs *t, uint64_t bucket, hd_key word)
{
    const hd_view *v = &t->view.buckets;
    const uint32_t region = (uint32_t)(bucket / v->region_buckets);
    for (hd_key i = 1; word != 0 && v->region_buckets > 1 && i < 1000; i++) {
        const hd_key other = word ^ i;
        if (slab_bucket(v, mixed_from_lean(v, region, other & ~HD_STATE_MASK)) != bucket)
            return other;
    }
    return 0;
}

/* A census finds what was damaged. */
static void damage(bare_slabs *t)
{
    const uint64_t bucket = random_below(t->buckets());
    char *const slab = base_slab(&t->view.buckets, bucket);
    const hd_key word = *slab_key_at(slab, slab_slot(0));
    const uint32_t next = *slab_next_at(slab);
    const hd_key second = *slab_key_at(slab, slab_slot(1));
    const uint32_t hint = *slab_hint_at(slab);
    for (int kind = 0; kind < 7; kind++) {
        device_array<uint32_t> seen(BLOCKS * HD_SLAB_BLOCK_WORDS, 0);
        device_array<hd_slab_census> census(1, 0);
        if (kind == 0) *slab_key_at(slab, slab_slot(0)) |= HD_STATE_PENDING;
        if (kind == 1) *slab_key_at(slab, slab_slot(0)) = 0;
        if (kind == 2) *slab_next_at(slab) = UINT32_C(7) << 24;
        if (kind == 6) *slab_hint_at(slab) = UINT32_C(7) << 24; /* in no list */
        if (kind == 4 && second != 0) *slab_key_at(slab, slab_slot(1)) = word;
        if (kind == 5 && next != 0) *slab_quarter_at(pool_slab(&t->view.pool, next)) ^= 1;
        const hd_key other = kind == 3 ? stranger(t, bucket, word) : 0;
        if (other != 0) *slab_key_at(slab, slab_slot(0)) = other;
        warps_launch(1, SLAB_BLOCK,
                     [&] { slab_inspect_all(t->view, kind == 4, seen.get(), &census[0]); });
        const hd_slab_census &c = census[0];
        if (word != 0 && kind == 0) CHECK(c.pending == 1, "a pending slot is not found");
        if (*slab_key_at(slab, slab_slot(1)) != 0 && kind == 1)
            CHECK(c.gaps != 0, "no gap is found");
        if (kind == 2) CHECK(c.astray != 0, "a wrong address is not found");
        if (other != 0) CHECK(c.misplaced == 1, "a key in the wrong list is not found");
        if (kind == 4 && second != 0 && (word & HD_STATE_MASK) == HD_STATE_LIVE)
            CHECK(c.twice != 0, "a key that stands twice is not found");
        if (kind == 6) CHECK(c.astray == 1, "a wrong hint is not found");
        if (kind == 5 && next != 0) CHECK(c.astray == 1, "a slab of other keys is not found");
        if (kind == 5 && next != 0) *slab_quarter_at(pool_slab(&t->view.pool, next)) ^= 1;
        *slab_key_at(slab, slab_slot(0)) = word;
        *slab_key_at(slab, slab_slot(1)) = second;
        *slab_next_at(slab) = next;
        *slab_hint_at(slab) = hint;
    }
}

/* Batches of everything at once, on a few keys or on many, in a table that is held against its past. */
static void mixed(size_t distinct, uint32_t region_buckets, uint32_t spare)
{
    bare_slabs t(region_buckets, spare);
    const std::vector<hd_key> pool = some_keys(distinct);
    contents now;
    for (int round = 0; round < 8; round++) {
        static const int only[] = {
            -1, -1, -1, HD_SLAB_INSERT, -1, HD_SLAB_FIND, HD_SLAB_ERASE, HD_SLAB_INSERT};
        batch_of b = some_batch(pool, only[round]);
        run(&t, &b, false, only[round] >= 0);
        const contents next = unique(t.read());
        const std::map<hd_key, history> touched = histories(&b);
        uint64_t spent = 0;
        for (const auto &key : touched) {
            const contents::const_iterator before = now.find(key.first),
                                           after = next.find(key.first);
            check_key(&b, key.second, before != now.end() ? &before->second : NULL,
                      after != next.end() ? &after->second : NULL);
            spent += key.second.spent;
        }
        for (const auto &pair : now) {
            const contents::const_iterator still = next.find(pair.first);
            CHECK(touched.count(pair.first) != 0 ||
                      (still != next.end() && still->second == pair.second),
                  "a key that nobody touched is lost or changed");
        }
        CHECK(next.size() == now.size() + b.born - b.died, "the counts are wrong");
        CHECK(b.counts.at[HD_FAILED] == spent, "failures are not counted");
        CHECK(spent == 0 || spare < 40, "the pool had slabs");
        now = next;
        if (round == 1) compact_long(&t);
        if (round == 2) compact(&t, true);
    }
    compact(&t, true);
    damage(&t);
}

/* Counts, retrieves and exports all pairs, then erases those of some keys at once. */
static void all_pairs(bare_slabs *t, const std::vector<hd_key> &pool)
{
    const std::multimap<hd_key, hd_value> before = t->read();
    const size_t n = pool.size();
    device_array<hd_key> keys = upload(pool), keys_out(before.size());
    device_array<uint64_t> matches(n), places(n), words(3, 0);
    device_array<hd_value> values(before.size() + 1);
    device_array<hd_counts> counts(1, 0);
    hd_slab_batch batch;
    uint64_t sum = 0;
    memset(&batch, 0, sizeof batch);
    batch.keys = keys.get();
    batch.n = n;
    batch.counts = counts.get();
    batch.died = &words[0];
    batch.matches = matches.get();
    batch.places = places.get();
    batch.values_out = values.get();
    warps_launch(2, SLAB_BLOCK, [&] { slab_batch_all<HD_SLAB_COUNT>(t->view, batch); });
    for (size_t i = 0; i < n; i++) {
        CHECK(matches[i] == before.count(pool[i]), "%llu pairs, not %zu", (ull)matches[i],
              before.count(pool[i]));
        places[i] = sum;
        sum += matches[i];
    }
    CHECK(sum == before.size() && counts[0].at[HD_ASKED] == n, "%llu pairs in all", (ull)sum);
    batch.matches = NULL;
    if (HD_VALUE_BITS != 0)
        warps_launch(1, SLAB_BLOCK, [&] { slab_batch_all<HD_SLAB_RETRIEVE>(t->view, batch); });
    std::multimap<hd_key, hd_value> got, exported;
    for (size_t i = 0; i < n; i++)
        for (uint64_t j = places[i]; j < (i + 1 < n ? places[i + 1] : sum); j++)
            got.emplace(pool[i], HD_VALUE_BITS != 0 ? values[j] : 0);
    warps_launch(2, SLAB_BLOCK, [&] {
        slab_collect_all(t->view, 0, t->buckets() + BLOCKS * HD_SLAB_UNITS, keys_out.get(),
                         HD_VALUE_BITS != 0 ? values.get() : NULL, &words[1]);
    });
    CHECK(words[1] == before.size(), "%llu pairs exported", (ull)words[1]);
    for (size_t i = 0; i < before.size(); i++)
        exported.emplace(keys_out[i], HD_VALUE_BITS != 0 ? values[i] : 0);
    for (const hd_key key : pool) {
        std::multiset<hd_value> expected, all, other;
        for (auto p = before.lower_bound(key); p != before.upper_bound(key); ++p)
            expected.insert(p->second);
        for (auto p = got.lower_bound(key); p != got.upper_bound(key); ++p) all.insert(p->second);
        for (auto p = exported.lower_bound(key); p != exported.upper_bound(key); ++p)
            other.insert(p->second);
        CHECK(expected == all && expected == other, "values of a key are wrong");
    }
    /* The first two keys again and again, beside each other: of each one finds it. */
    std::vector<hd_key> again;
    for (size_t i = 0; i < 12; i++) again.push_back(pool[i % 2]);
    device_array<hd_key> doomed = upload(again);
    device_array<uint8_t> found(12, 7);
    batch.keys = doomed.get();
    batch.n = 12;
    batch.matches = NULL;
    batch.found = found.get();
    memset(counts.get(), 0, sizeof(hd_counts));
    warps_launch(2, SLAB_BLOCK, [&] { slab_batch_all<HD_SLAB_CLAIM>(t->view, batch); });
    warps_launch(2, SLAB_BLOCK, [&] { slab_batch_all<HD_SLAB_ERASE_ALL>(t->view, batch); });
    uint64_t finders[2] = {0, 0};
    for (size_t i = 0; i < 12; i++) finders[i % 2] += found[i];
    for (size_t i = 0; i < 2; i++)
        CHECK(finders[i] == (before.count(pool[i]) != 0), "%llu find a key", (ull)finders[i]);
    CHECK(counts[0].at[HD_FOUND] == finders[0] + finders[1] && counts[0].at[HD_ASKED] == 12,
          "the counts of erasures are wrong");
    const std::multimap<hd_key, hd_value> after = t->read();
    CHECK(after.count(pool[0]) + after.count(pool[1]) == 0, "pairs are left");
    CHECK(after.size() + words[0] == before.size(), "%llu pairs erased", (ull)words[0]);
}

/* Pairs of equal keys beside each other; erasing takes the one that came first. */
static void multimap(uint32_t spare)
{
    bare_slabs t(1, spare);
    const std::vector<hd_key> pool = some_keys(5);
    uint64_t size = 0;
    for (int round = 0; round < 4; round++) {
        batch_of b = some_batch(pool, round == 0 ? HD_SLAB_INSERT : -1);
        run(&t, &b, true, round == 0);
        const auto all = t.read();
        size += b.born - b.died;
        CHECK(all.size() == size, "%zu pairs, not %llu", all.size(), (ull)size);
        for (const auto &key : histories(&b)) CHECK(key.second.updated == 0, "a pair was updated");
        if (round % 2 == 1) compact(&t, false);
    }
    all_pairs(&t, pool);
    damage(&t);
}

/* The value that pairs of a key come to; where the policy takes one of them, they are all the same. */
static hd_value combined(uint32_t policy, hd_value there, hd_value given)
{
    if (policy == HEDDLE_POLICY_ADD) return there + given;
    if (policy == HEDDLE_POLICY_MIN) return given < there ? given : there;
    if (policy == HEDDLE_POLICY_MAX) return given > there ? given : there;
    return given;
}

/* An empty table is filled by regions: what is not listed is there, once where keys are unique. */
static void filled(bool multi, size_t n, size_t distinct, uint32_t region_buckets, uint32_t spare)
{
    bare_slabs t(region_buckets, spare);
    const uint32_t policy = (uint32_t)random_below(HEDDLE_POLICY_MAX + 1);
    const std::vector<hd_key> pool = some_keys(distinct);
    std::vector<hd_key> keys;
    std::vector<hd_value> values;
    std::vector<uint64_t> begins;
    for (size_t i = 0; i < n; i++) {
        keys.push_back(pool[i < distinct ? i : random_below(distinct)]);
        values.push_back(policy <= HEDDLE_POLICY_REPLACE && !multi ? (hd_value)(keys[i] * 3)
                                                                   : (hd_value)random_64());
    }
    device_array<uint32_t> pairs = upload(sort_by_region(t.view.buckets, keys, values, &begins));
    device_array<uint32_t> listed(pairs.n);
    device_array<uint64_t> starts = upload(begins), sizes(3, 0);
    device_array<hd_counts> counts(1, 0);
    const hd_sorted sorted = {pairs.get(), starts.get(), starts.get() + 1, NULL, 0,
                              UINT64_MAX,  listed.get(), &sizes[2],        0};
    hd_slab_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.policy = policy;
    batch.multi = multi;
    batch.counts = counts.get();
    batch.born = &sizes[0];
    batch.died = &sizes[1];
    warps_launch(1 + (unsigned)random_below(4), SLAB_FILL_BLOCK, slab_plan_bytes(&t.view), [&] {
        if (multi) slab_fill_all<true>(t.view, batch, sorted);
        else slab_fill_all<false>(t.view, batch, sorted);
    });
    std::multimap<hd_key, hd_value> expected, left, there = t.read();
    for (uint64_t i = 0; i < sizes[2]; i++) {
        const hd_sorted_pair pair = sorted_load(listed.get(), i);
        left.emplace(unmix_key(&t.view.buckets.mix, sorted_key(pair)),
                     (hd_value)sorted_value(pair));
    }
    if (spare >= 400 && n <= 15 * region_buckets)
        CHECK(left.empty(), "%zu pairs are left", left.size());
    /* All pairs of a key together: those that are listed and what is there. */
    for (auto &pair : left) there.insert(pair);
    for (size_t i = 0; i < n; i++) expected.emplace(keys[i], HD_VALUE_BITS != 0 ? values[i] : 0);
    for (const hd_key key : pool) {
        std::multiset<hd_value> want, got;
        for (auto p = expected.lower_bound(key); p != expected.upper_bound(key); ++p)
            want.insert(p->second);
        for (auto p = there.lower_bound(key); p != there.upper_bound(key); ++p)
            got.insert(HD_VALUE_BITS != 0 ? p->second : 0);
        if (multi) {
            CHECK(want == got, "pairs of a key are lost or made up");
            continue;
        }
        if (left.count(key) == 0)
            CHECK(got.size() == (want.empty() ? 0 : 1), "a key is there twice");
        if (want.empty() || HD_VALUE_BITS == 0) continue;
        hd_value one = *want.begin(), other = *got.begin();
        for (auto v = ++want.begin(); v != want.end(); ++v) one = combined(policy, one, *v);
        for (auto v = ++got.begin(); v != got.end(); ++v) other = combined(policy, other, *v);
        CHECK(one == other, "values are not what the policy makes of them");
    }
    const uint64_t folded = sizes[1];
    CHECK(sizes[0] == n - sizes[2] && sizes[0] - folded == t.read().size(), "the counts are wrong");
    CHECK(counts[0].at[HD_INSERTED] == sizes[0] - folded && counts[0].at[HD_FAILED] == sizes[2] &&
              counts[0].at[HD_KEPT] + counts[0].at[HD_UPDATED] == folded,
          "the sums are wrong");
    compact(&t, !multi);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t last = argc > 1 ? first : SEEDS;
    for (uint64_t seed = first; seed <= last; seed++) {
        fprintf(stderr, "seed %llu\n", (ull)seed);
        warps_seed(seed);
        mixed(3, 1, 500);
        mixed(200, 1, 500);
        mixed(200, 3, (uint32_t)random_below(8));
        multimap(500);
        multimap((uint32_t)random_below(10));
        for (int multi = 0; multi < 2; multi++) {
            filled(multi != 0, 60, 60, 12, 500);
            filled(multi != 0, 300, 220, 9, 500);
            filled(multi != 0, 400, 40, 3, 500);
            filled(multi != 0, 300, 300, 4, (uint32_t)random_below(12));
            filled(multi != 0, 1, 1, 1, 3);
        }
    }
    return 0;
}
