/*
 * test_keys.cpp: the kernels that find distinct keys (src/cuda/relate/keys_kernels.h), run on the CPU by warps.h:
 * groups by number and distinct keys, of every distribution, with tables that are large enough and such that fill up.
 */
#include <cmath>

#include "shim.h"
using std::isnan;

#define KEYS_BLOCK 64 /* a fiber a thread: few of them */
#define KEYS_ITEMS 3
#include "cuda/relate/keys_kernels.h"

#include "cuda/partition/sorted_pair.h"
#include "sorted_lists.h"

#define BLOCKS 3
#define SHARED (64u << 10)

struct answer {
    uint64_t first, size;
};
typedef std::map<hd_key, answer> answer_map;

static answer_map model_of(const key_list &list)
{
    answer_map model;
    for (size_t i = 0; i < list.size(); i++) {
        const auto at = model.insert({list[i], {i, 0}}).first;
        at->second.size++;
    }
    return model;
}

/* The table and the work of one test. */
struct bench {
    device_array<hd_key> list, keys;
    device_array<keys_row> firsts, firsts_out;
    device_array<unsigned long long> sizes, bits, before;
    device_array<keys_entry> entries;
    device_array<uint32_t> numbers;
    device_array<keys_control> control;
    keys_job job;

    bench(const key_list &from, uint64_t homes, uint64_t room, bool ordered)
        : list(upload(from)), keys(1 + homes + KEYS_TAIL), firsts(keys.n), firsts_out(room),
          sizes(keys.n), bits((ordered ? from.size() : keys.n) / 64 + 2), before(bits.n),
          entries(keys.n), numbers(from.size()), control(1)
    {
        job = {};
        job.table = {control.get(), keys.get(),   firsts.get(), sizes.get(),
                     bits.get(),    before.get(), bits.n,       ordered};
        hd_mix_init(&job.mix, 7);
        job.keys = list.get();
        job.n = from.size();
        job.homes = homes;
        job.least = KEYS_LEAST;
        job.room = room;
        job.near_homes = 2000;
        job.near_bits = 5;
        job.guess = UINT64_MAX;
        job.entries = entries.get();
        job.firsts = firsts_out.get();
        job.numbers = numbers.get();
    }
};

template <bool FIRSTS, bool SIZES> static void collect(bench *b)
{
    const keys_job job = b->job;
    memset((void *)b->bits.get(), 0, b->bits.n * 8);
    warps_launch(1, KEYS_BLOCK, SHARED, [&] { keys_draw(job); });
    warps_launch(2, KEYS_BLOCK, [&] { keys_clear(job); });
    warps_launch(BLOCKS, KEYS_BLOCK, keys_near_bytes(job, FIRSTS, SIZES), [&] {
        if (job.value_count != 0) keys_collect<FIRSTS, SIZES, true>(job);
        else keys_collect<FIRSTS, SIZES, false>(job);
    });
    warps_launch(2, KEYS_BLOCK, [&] { keys_mark(job.table); });
    for (uint64_t i = 0, sum = 0; i < b->bits.n; i++) {
        b->before[i] = sum;
        sum += (uint64_t)__builtin_popcountll(b->bits[i]);
    }
    warps_launch(1, 1, [&] { keys_end(job.table); });
}

/* Every row has its key's number, and keys are numbered by first rows. */
static void numbers_are_right(const bench *b, const key_list &list, const answer_map &model)
{
    for (size_t i = 0; i < list.size(); i++) {
        const uint32_t number = b->numbers[i];
        CHECK(number < model.size(), "row %zu has number %u of %zu", i, number, model.size());
        CHECK(b->firsts_out[number] == model.at(list[i]).first, "row %zu has number %u", i, number);
    }
    for (size_t g = 1; g < model.size(); g++)
        CHECK(b->firsts_out[g] > b->firsts_out[g - 1], "number %zu is not in order", g);
}

/* Groups by number; whether the keys may be too many for the room. */
static void number(const key_list &list, uint64_t homes, uint64_t room, uint64_t guess,
                   uint32_t draw_bits)
{
    const answer_map model = model_of(list);
    bench b(list, homes, room, true);
    b.job.table.sizes = NULL;
    b.job.guess = guess;
    b.job.draw_bits = draw_bits;
    for (int round = 0; round < 2; round++) {
        collect<true, false>(&b);
        warps_launch(2, KEYS_BLOCK, [&] { keys_place(b.job); });
        warps_launch(BLOCKS, KEYS_BLOCK, SHARED, [&] { keys_number_rows(b.job); });
        if (!b.control[0].full) break;
        b.job.draw_bits = 0;
        b.job.guess = UINT64_MAX;
    }
    CHECK(b.control[0].full == (model.size() > room), "%zu keys, room for %llu, full %u",
          model.size(), (ull)room, b.control[0].full);
    if (b.control[0].full) return;
    CHECK(b.control[0].count == model.size(), "%llu keys of %zu", b.control[0].count, model.size());
    CHECK(b.control[0].groups == model.size(), "%llu keys of %zu", (ull)b.control[0].groups,
          model.size());
    numbers_are_right(&b, list, model);
}

template <bool FIRSTS, bool SIZES>
static key_list distinct(const key_list &list, bool ordered, uint32_t near_bits)
{
    const answer_map model = model_of(list);
    bench b(list, list.size() + list.size() / 2 + 8, list.size(), ordered);
    if (!SIZES) b.job.table.sizes = NULL;
    if (!FIRSTS) b.job.table.firsts = NULL;
    b.job.near_bits = near_bits;
    b.job.copies = SIZES;
    b.job.draw_bits = list.size() > 64 ? 6 : 0;
    collect<FIRSTS, SIZES>(&b);
    CHECK(b.control[0].groups == model.size(), "%llu keys of %zu", (ull)b.control[0].groups,
          model.size());
    device_array<hd_key> keys(model.size());
    device_array<uint64_t> sizes(model.size()), firsts(model.size());
    const keys_table table = b.job.table;
    warps_launch(2, KEYS_BLOCK, [&] { keys_write(table, HD_DISTINCT_KEYS, keys.get(), 32); });
    if (SIZES)
        warps_launch(2, KEYS_BLOCK, [&] { keys_write(table, HD_DISTINCT_SIZES, sizes.get(), 32); });
    if (FIRSTS)
        warps_launch(2, KEYS_BLOCK,
                     [&] { keys_write(table, HD_DISTINCT_FIRSTS, firsts.get(), 64); });
    key_list all;
    for (size_t g = 0; g < model.size(); g++) {
        const auto at = model.find(keys[g]);
        CHECK(at != model.end(), "key %zu is not there", g);
        if (SIZES) CHECK(sizes[g] == at->second.size, "the size of key %zu", g);
        if (FIRSTS) CHECK(firsts[g] == at->second.first, "the first row of key %zu", g);
        if (ordered && g != 0)
            CHECK(model.at(keys[g - 1]).first < at->second.first, "key %zu is not in order", g);
        all.push_back(keys[g]);
    }
    return all;
}

/* The same order every time, whatever the blocks do, and every key once. */
static void distinct_all(const key_list &list)
{
    const key_list a = distinct<false, false>(list, false, 3);
    CHECK((a == distinct<false, true>(list, false, 6)), "another order");
    CHECK((a == distinct<true, true>(list, false, 2)), "another order");
    key_list sorted = a;
    std::sort(sorted.begin(), sorted.end());
    CHECK(std::unique(sorted.begin(), sorted.end()) == sorted.end(), "a key is there twice");
    const key_list b = distinct<true, false>(list, true, 4);
    CHECK((b == distinct<true, true>(list, true, 5)), "another order");
}

/* ---------------------------------------------------------------------------------------- values */

/* What an aggregate of a key must be, by a plain loop over its rows. */
template <class TYPE>
static void check_value(const keys_value &v, uint32_t aggregate, const key_list &list, hd_key key,
                        const void *out, const uint8_t *any, uint64_t at)
{
    const TYPE *column = (const TYPE *)v.column;
    const bool floats = std::is_floating_point<TYPE>::value;
    uint64_t count = 0, sum = 0;
    double real = 0;
    TYPE least = 0, most = 0;
    for (size_t i = 0; i < list.size(); i++) {
        if (list[i] != key || (v.valid != NULL && v.valid[i] == 0)) continue;
        if (count == 0 || column[i] < least) least = column[i];
        if (count == 0 || column[i] > most) most = column[i];
        sum += (uint64_t)(int64_t)column[i];
        if (std::is_unsigned<TYPE>::value)
            sum += (uint64_t)column[i] - (uint64_t)(int64_t)column[i];
        real += (double)column[i];
        count++;
    }
    CHECK(any[at] == (count != 0), "the flag of group %llu", (ull)at);
    const uint64_t whole = ((const uint64_t *)out)[at];
    const double number = ((const double *)out)[at];
    if (aggregate == HEDDLE_AGGREGATE_COUNT) CHECK(whole == count, "a count");
    else if (aggregate == HEDDLE_AGGREGATE_SUM)
        CHECK(floats ? number == real : whole == sum, "a sum of type %u", v.type);
    else if (aggregate == HEDDLE_AGGREGATE_MEAN)
        CHECK(std::fabs(number - (count != 0 ? real / (double)count : 0)) <=
                  1e-9 * std::fabs(number),
              "a mean of type %u", v.type);
    else
        CHECK(((const TYPE *)out)[at] == (aggregate == HEDDLE_AGGREGATE_MIN ? least : most),
              "an extreme of type %u", v.type);
}

/* Every aggregate of columns of one type, with nulls and without, all at once. */
template <class TYPE> static void values(const key_list &list, uint32_t type, uint32_t near_bits)
{
    static const struct {
        uint32_t aggregate, what;
    } kinds[] = {{HEDDLE_AGGREGATE_SUM, KEYS_SUM},        {HEDDLE_AGGREGATE_MIN, KEYS_LEAST_VALUE},
                 {HEDDLE_AGGREGATE_MAX, KEYS_MOST_VALUE}, {HEDDLE_AGGREGATE_MEAN, KEYS_SUM_FLOAT},
                 {HEDDLE_AGGREGATE_MEAN, KEYS_SUM},       {HEDDLE_AGGREGATE_COUNT, KEYS_NOTHING}};
    const bool floats = std::is_floating_point<TYPE>::value;
    const answer_map model = model_of(list);
    std::vector<TYPE> column(list.size());
    std::vector<uint8_t> valid(list.size());
    for (size_t i = 0; i < list.size(); i++) {
        column[i] = floats ? (TYPE)((int64_t)random_below(2001) - 1000) : (TYPE)random_64();
        if (!floats) column[i] = column[i] / 2; /* sums as doubles are near */
        valid[i] = random_below(3) != 0;
    }
    const device_array<TYPE> there = upload(column);
    const device_array<uint8_t> flags = upload(valid);
    bench b(list, list.size() * 3 + 8, list.size(), false);
    std::vector<device_array<unsigned long long>> cells;
    uint32_t used[KEYS_VALUES];
    for (uint32_t k = 0; k < 6; k++) {
        keys_value *v = &b.job.values[b.job.value_count];
        if ((k == 0 || k == 4) && floats && k == 4) continue;
        if (k == 4 && sizeof(TYPE) == 8) continue; /* such sums wrap */
        cells.push_back(device_array<unsigned long long>(b.keys.n));
        v->cells = cells.back().get();
        cells.push_back(device_array<unsigned long long>(b.keys.n));
        v->counts = k % 2 == 1 ? cells.back().get() : NULL;
        v->valid = v->counts != NULL ? flags.get() : NULL;
        v->column = there.get();
        v->type = type;
        v->what = k == 0 && floats ? KEYS_SUM_FLOAT : kinds[k].what;
        if (v->what == KEYS_NOTHING) v->cells = NULL;
        if (v->counts != NULL) v->near_count = b.job.near_counts++;
        used[b.job.value_count++] = kinds[k].aggregate;
    }
    b.job.near_bits = near_bits;
    b.job.copies = true;
    b.job.draw_bits = list.size() > 64 ? 6 : 0;
    collect<false, true>(&b);
    CHECK(b.control[0].groups == model.size(), "%llu keys of %zu", (ull)b.control[0].groups,
          model.size());
    device_array<hd_key> keys(model.size());
    warps_launch(2, KEYS_BLOCK, [&] { keys_write(b.job.table, HD_DISTINCT_KEYS, keys.get(), 32); });
    for (uint32_t j = 0; j < b.job.value_count; j++) {
        device_array<uint64_t> out(model.size());
        device_array<uint8_t> any(model.size());
        warps_launch(2, KEYS_BLOCK, [&] {
            keys_write_value(b.job.table, b.job.values[j], used[j], out.get(), any.get());
        });
        for (size_t g = 0; g < model.size(); g++)
            check_value<TYPE>(b.job.values[j], used[j], list, keys[g], out.get(), any.get(), g);
    }
}

static void values_of_any_type(const key_list &list, uint64_t seed, uint32_t near_bits)
{
    switch (seed % 6) {
    case 0: values<uint32_t>(list, HEDDLE_TYPE_U32, near_bits); break;
    case 1: values<int32_t>(list, HEDDLE_TYPE_I32, near_bits); break;
    case 2: values<float>(list, HEDDLE_TYPE_F32, near_bits); break;
    case 3: values<uint64_t>(list, HEDDLE_TYPE_U64, near_bits); break;
    case 4: values<int64_t>(list, HEDDLE_TYPE_I64, near_bits); break;
    default: values<double>(list, HEDDLE_TYPE_F64, near_bits); break;
    }
}

static key_list rows_of(size_t n, size_t keys, bool skewed)
{
    key_list pool(keys), list(n);
    for (hd_key &key : pool) key = (hd_key)random_64();
    pool[0] = HD_KEY_EMPTY;
    if (keys > 1) pool[1] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = random_below(keys);
        if (skewed && random_below(3) != 0) at = random_below(at + 1) % (1 + random_below(3));
        list[i] = pool[at];
    }
    return list;
}

static void test(uint64_t seed)
{
    const bool skewed = seed % 2 == 1;
    const key_list list = rows_of(1 + random_below(700), 1 + random_below(300), skewed);
    number(list, 1500, 400, UINT64_MAX, 0);
    number(list, 1500, 20, UINT64_MAX, 0);
    number(list, 1500, 400, 16, 0);   /* fills up */
    number(list, 3000, 400, 2500, 0); /* not in shared memory */
    number(rows_of(1500, 9, skewed), 5000, 400, UINT64_MAX, 8);
    number(rows_of(1500, 60, skewed), 5000, 400, UINT64_MAX, 8);
    number(rows_of(1, 1, false), 1500, 1, UINT64_MAX, 0);
    distinct_all(list);
    distinct_all(rows_of(200, 1, false));
    distinct_all(rows_of(300, 2000, false));
    distinct_all(key_list(1, HD_KEY_EMPTY));
    distinct_all(key_list(1, 5));
    values_of_any_type(list, seed, 6);
    values_of_any_type(rows_of(500, 4, skewed), seed, 7);
    values_of_any_type(rows_of(300, 1, false), seed, 3);
    values_of_any_type(rows_of(1, 1, false), seed, 3);
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 20, test); }
