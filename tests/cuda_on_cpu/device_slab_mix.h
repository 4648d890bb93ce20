/*
 * device_slab_mix.h: kernels in which tiles, lanes of tiles and single threads insert, erase and look up the same keys
 * of a slab hash at the same time, and what must be true of the results; see test_device_slab.cpp.
 */
#ifndef DEVICE_SLAB_MIX_H
#define DEVICE_SLAB_MIX_H

#include "device_values.h"

#if defined(__SANITIZE_ADDRESS__) || defined(FEW_SEEDS)
#define SEEDS 1
#else
#define SEEDS 2
#endif
#define OPERATIONS 192

static uint64_t
    ran_out; /* tests in which there were too few slabs, as some of them mean to bring about */

enum { INSERT, ERASE, FIND };

/* An operation and what became of it. */
template <class I> struct slab_operation {
    int kind;
    typename I::key_type key;
    typename I::value_type value; /* to insert, or found */
    int result;                   /* HEDDLE_OUTCOME_* of an insertion, else 1 or 0 */
};

template <class I> using slab_operations = std::vector<slab_operation<I>>;

/* By a tile, whose first lane notes the result, or by a thread. */
template <class TABLE, class WRITER, class I>
static void operate(const TABLE &t, WRITER *writer, uint32_t policy, slab_operation<I> *o,
                    bool notes)
{
    typename I::value_type value = 0;
    int result;
    if (o->kind == INSERT) result = writer->insert(o->key, o->value, policy);
    else if (o->kind == ERASE) result = writer->erase(o->key);
    else result = find(t, o->key, &value);
    if (!notes) return;
    o->result = result;
    if (o->kind == FIND) o->value = value;
}

/* By the lanes of a warp, some of which have nothing to do. */
template <class TABLE, class WRITER, class I>
static void operate_each(const TABLE &t, WRITER *writer, uint32_t policy, slab_operation<I> *o)
{
    slab_operation<I> none = {-1, 0, 0, 0}, *const mine = o != NULL ? o : &none;
    typename I::value_type value = 0;
    const int inserted = writer->insert_each(mine->key, mine->value, policy, mine->kind == INSERT);
    const bool found = find_each(t, mine->key, &value, mine->kind == FIND);
    const bool erased = writer->erase_each(mine->key, mine->kind == ERASE);
    if (mine->kind == INSERT) mine->result = inserted;
    else mine->result = mine->kind == FIND ? found : erased;
    if (mine->kind == FIND) mine->value = value;
}

/* One third by each of them; the warps of a block race. */
template <class I>
static void run_operations(typename I::store_type *t, uint32_t policy, slab_operations<I> *all)
{
    typename I::thread_table same;
    same.at = t->inside.at;
    const uint64_t third = all->size() / 3, warps = BLOCK / 32 * 3;
    slab_operation<I> *const list = all->data();
    warps_launch(3, BLOCK, [&] {
        const uint32_t warp = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
        const uint32_t tiles = 32 / I::tile_size, step = (uint32_t)warps / 3;
        typename I::tile_writer writer(t->inside);
        typename I::thread_writer thread_writer(same);
        if (warp % 3 == 0)
            for (uint64_t i = warp / 3 * tiles + lane / I::tile_size; i < third; i += step * tiles)
                operate(t->inside, &writer, policy, &list[i], lane % I::tile_size == 0);
        else if (warp % 3 == 1)
            for (uint64_t i = warp / 3 * 32 + lane; i < third; i += step * 32)
                operate(same, &thread_writer, policy, &list[third + i], true);
        else
            for (uint64_t i = warp / 3 * 32; i < third; i += step * 32)
                operate_each(t->inside, &writer, policy,
                             i + lane < third ? &list[2 * third + i + lane] : NULL);
    });
}

/* What happened to one key. */
template <class V> struct key_history {
    uint64_t placed = 0, met = 0, erased = 0, absent = 0;
    V sum = 0; /* of values inserted and added */
    std::set<V> written, read;
};

template <class I> using slab_contents = std::map<typename I::key_type, typename I::value_type>;
template <class I>
using slab_histories = std::map<typename I::key_type, key_history<typename I::value_type>>;

template <class I>
static slab_histories<I> histories_of(const slab_operations<I> &all, uint32_t policy,
                                      uint64_t *failed)
{
    slab_histories<I> histories;
    for (const slab_operation<I> &o : all) {
        auto &h = histories[o.key];
        if (o.kind != INSERT) {
            CHECK(o.result == 0 || o.result == 1, "result %d", o.result);
            h.absent += o.result == 0;
            h.erased += o.kind == ERASE && o.result == 1;
            h.met += o.kind == FIND && o.result == 1;
            if (o.kind == FIND && o.result == 1) h.read.insert(o.value);
            continue;
        }
        const int there =
            policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
        const bool placed = o.result == HEDDLE_OUTCOME_INSERTED, met = o.result == there;
        CHECK(placed || met || o.result == HEDDLE_OUTCOME_FAILED, "outcome %d", o.result);
        h.placed += placed;
        h.met += met;
        *failed += !placed && !met;
        if (placed || met) h.sum += o.value;
        if (placed || (met && policy == HEDDLE_POLICY_REPLACE)) h.written.insert(o.value);
    }
    return histories;
}

/* Some order of its operations leads one key from before to after. */
template <class V>
static void check_history(const key_history<V> &h, uint32_t policy, const V *before, const V *after)
{
    const bool was = before != NULL, is = after != NULL;
    CHECK(was + h.placed == is + h.erased, "%d there, %llu inserted, %llu erased, then %d", was,
          (ull)h.placed, (ull)h.erased, is);
    CHECK(was || h.placed != 0 || h.met == 0, "a key was met that was never there");
    CHECK(!was || h.erased != 0 || h.absent == 0, "a key was missed that was there all the while");
    if (policy == HEDDLE_POLICY_ADD) {
        if (h.erased == 0 && is)
            CHECK(*after == (V)((was ? *before : 0) + h.sum), "the sum is wrong");
        return;
    }
    std::set<V> possible = h.written;
    if (was) possible.insert(*before);
    for (V value : h.read) CHECK(possible.count(value) != 0, "a value from nowhere is read");
    if (is) CHECK(possible.count(*after) != 0, "a value from nowhere is there");
}

/* Everything that looks keys up says the same, by tiles and by threads. */
template <class I>
static void check_lookups(const typename I::store_type &t, const slab_contents<I> &now,
                          const std::vector<typename I::key_type> &keys)
{
    typedef typename I::key_type K;
    typedef typename I::value_type V;
    typename I::thread_table same;
    same.at = t.inside.at;
    slab_contents<I> asked;
    const uint64_t n = keys.size() / 32 * 32;
    warps_launch(1, BLOCK, [&] {
        for (uint64_t i = threadIdx.x / 32 * 32; i < n; i += BLOCK) {
            const K key = keys[i + threadIdx.x % 32];
            const auto at = now.find(key);
            const bool there = at != now.end(), all = i % 64 == 0 || threadIdx.x % 3 == 0;
            V one = 77, other = 77;
            CHECK(find_each(t.inside, key, &one, all) == (there && all), "find_each");
            CHECK(one == (there && all ? at->second : 77), "value of find_each");
            CHECK(contains_each(t.inside, key, all) == (there && all), "contains_each");
            CHECK(find(same, key, &other) == there && contains(same, key) == there, "by a thread");
            CHECK(other == (there ? at->second : 77), "value by a thread");
        }
    });
    warps_launch(2, BLOCK, [&] {
        for_each(t.inside, keys.data(), n, [&](uint64_t row, K key, V value) {
            CHECK(key == keys[row], "row %llu", (ull)row);
            asked[key] = value;
        });
    });
    for (uint64_t i = 0; i < n; i++)
        CHECK(asked.count(keys[i]) == now.count(keys[i]), "for_each and a key");
    for (const auto &pair : asked) CHECK(now.at(pair.first) == pair.second, "for_each and a value");
}

template <class I> static slab_contents<I> read_all(const typename I::store_type &t)
{
    slab_contents<I> all, other;
    typename I::thread_table same;
    same.at = t.inside.at;
    warps_launch(2, BLOCK, [&] {
        for_all(t.inside, [&](typename I::key_type key, typename I::value_type value) {
            CHECK(all.emplace(key, value).second, "a key is there twice");
        });
    });
    warps_launch(1, BLOCK, [&] {
        for_all(same, [&](typename I::key_type key, typename I::value_type value) {
            other.emplace(key, value);
        });
    });
    CHECK(all == other && all.size() == t.size(), "%zu keys, not %llu", all.size(), (ull)t.size());
    return all;
}

template <class I, bool HAS_VALUES>
static slab_operations<I> some_operations(const std::vector<typename I::key_type> &keys)
{
    slab_operations<I> all(OPERATIONS);
    for (slab_operation<I> &o : all) {
        o.kind = (int)(warps_random() % 3);
        o.key = keys[warps_random() % keys.size()];
        o.value = HAS_VALUES ? (typename I::value_type)warps_random() : 0;
        o.result = -1;
    }
    return all;
}

/* Everything at once, again and again, held against what was there before. How many insertions failed. */
template <class I, bool HAS_VALUES>
static uint64_t mixed_rounds(typename I::store_type *t, uint64_t distinct)
{
    static const uint32_t policies[] = {HEDDLE_POLICY_KEEP, HEDDLE_POLICY_REPLACE,
                                        HEDDLE_POLICY_ADD};
    std::vector<typename I::key_type> keys = {0, (typename I::key_type) ~UINT64_C(0)};
    while (keys.size() < distinct) keys.push_back(values_run<I>::key(keys.size()));
    slab_contents<I> now;
    uint64_t failed = 0;
    for (int round = 0; round < 4; round++) {
        const uint32_t policy = HAS_VALUES ? policies[warps_random() % 3] : HEDDLE_POLICY_KEEP;
        slab_operations<I> all = some_operations<I, HAS_VALUES>(keys);
        run_operations<I>(t, policy, &all);
        t->check_rest(0);
        const slab_contents<I> next = read_all<I>(*t);
        const slab_histories<I> histories = histories_of<I>(all, policy, &failed);
        for (const auto &key : histories) {
            const auto before = now.find(key.first), after = next.find(key.first);
            check_history(key.second, policy, before != now.end() ? &before->second : NULL,
                          after != next.end() ? &after->second : NULL);
        }
        for (const auto &pair : now)
            CHECK(histories.count(pair.first) != 0 || next.count(pair.first) != 0,
                  "a key that nobody touched is lost");
        now = next;
        check_lookups<I>(*t, now, keys);
    }
    return failed;
}

/*
 * In a multimap, at once: insertions of some keys that tiles and threads erase and count. Of keys that nobody
 * erases all pairs stay; the others lose what was erased, no more.
 */
template <class I> static void many_at_once(void)
{
    typedef typename I::key_type K;
    typedef typename I::value_type V;
    typename I::store_type t(1, 500);
    typename I::thread_table same;
    same.at = t.inside.at;
    std::map<K, std::multiset<V>> put, left;
    for (int round = 0; round < 4; round++) {
        const number_list list = some_pairs(300, 6);
        const uint64_t before = t.counts[1];
        uint64_t erasers = 0;
        for (const number_pair &p : list) put[values_run<I>::key(p.first)].insert((V)p.second);
        warps_launch(1, BLOCK, [&] {
            const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, size = I::tile_size;
            typename I::tile_writer writer(t.inside);
            typename I::thread_writer thread_writer(same);
            for (uint64_t i = warp * 32; i < list.size(); i += BLOCK) {
                const bool mine = i + lane < list.size();
                const number_pair p = list[mine ? i + lane : i];
                const K key = values_run<I>::key(p.first),
                        other = values_run<I>::key(lane / size % 3);
                CHECK(!mine || warp % 2 != 0 ||
                          thread_writer.insert(key, (V)p.second) == HEDDLE_OUTCOME_INSERTED,
                      "no room");
                __syncwarp();
                if (warp % 2 != 0) {
                    const int outcome = writer.insert_each(key, (V)p.second, mine);
                    CHECK(!mine || outcome == HEDDLE_OUTCOME_INSERTED, "no room");
                }
                const bool was = writer.erase(other);
                if (lane % size == 0) erasers += was;
                /* Keys that nobody erases only grow. */
                const uint64_t some = count(t.inside, values_run<I>::key(4));
                CHECK(count(t.inside, values_run<I>::key(4)) >= some, "pairs are missed");
                CHECK(some <= put[values_run<I>::key(4)].size(), "pairs from nowhere");
            }
        });
        left.clear();
        warps_launch(2, BLOCK,
                     [&] { for_all(t.inside, [&](K key, V value) { left[key].insert(value); }); });
        uint64_t lost = 0;
        for (const auto &key : put) {
            for (V value : left[key.first])
                CHECK(key.second.count(value) >= left[key.first].count(value),
                      "a pair from nowhere");
            lost += key.second.size() - left[key.first].size();
        }
        CHECK(lost == t.counts[1] - before, "%llu pairs lost, %llu erased", (ull)lost,
              (ull)(t.counts[1] - before));
        CHECK(erasers <= lost, "%llu erasers of %llu pairs", (ull)erasers, (ull)lost);
        for (uint64_t i = 3; i < 6; i++)
            CHECK(left[values_run<I>::key(i)] == put[values_run<I>::key(i)], "a pair is lost");
        t.check_rest(0);
        put = left;
    }
}

#endif
