/*
 * test_lists.cpp: the kernels of bucket lists (src/cuda/lists/list_kernels.h), run on the CPU by warps.h under
 * random schedules and held against plain vectors: appends with many lanes at few lists and a pool that runs
 * out, runs that are cut short, fetches across long and empty lists, damage that a census must find.
 */
#include "shim.h"

#define LIST_BLOCK 64 /* a fiber a thread: few of them */
#define LIST_ITEMS 3
#include "cuda/lists/list_kernels.h"
#include "model/hash.h"

#include "cuda/partition/sorted_pair.h"
#include "sorted_lists.h"

#define LISTS 40
#define CHUNKS 3

typedef std::vector<hd_value> value_list;

struct bare_lists {
    device_array<hd_list_record> records;
    std::vector<device_array<char>> chunks;
    device_array<char *> table;
    device_array<uint64_t> cursor;
    uint64_t used[CHUNKS];
    uint64_t room; /* of each chunk */
    hd_list_pool pool;
    std::vector<value_list> model;

    explicit bare_lists(uint64_t units)
        : records(LISTS, 0), table(HD_LIST_CHUNKS, 0), cursor(1, 0), used(), room(units), pool(),
          model(LISTS)
    {
        const double growths[] = {1, 1.1, 2, 4};
        for (int i = 0; i < CHUNKS; i++) {
            chunks.emplace_back(units * HD_LIST_UNIT);
            table[i] = chunks[i].get();
        }
        pool.records = records.get();
        pool.chunks = table.get();
        pool.first = 1 + random_below(5);
        pool.growth = growths[random_below(4)];
        pool.cursor = cursor.get();
        pool.room = room;
    }
    void use(uint32_t chunk)
    {
        pool.chunk = chunk;
        pool.used = cursor[0] = used[chunk];
    }
    uint64_t append(const std::vector<uint64_t> &numbers);
    void add_runs(const std::vector<uint64_t> &lengths, uint64_t fresh, bool tight, bool plain);
    void bury(const std::vector<uint64_t> &numbers);
    hd_list_census census();
    void check();
    void check_fetch(uint64_t first, uint64_t n, bool with_keys);
    void damage();
};

static unsigned some_blocks() { return 1 + (unsigned)random_below(3); }

/* One by one; values that found no room are left. */
uint64_t bare_lists::append(const std::vector<uint64_t> &numbers)
{
    const uint64_t n = numbers.size();
    const device_array<uint64_t> to = upload(numbers), granted(1, 0);
    const device_array<hd_value> values(n);
    const device_array<uint8_t> left(n);
    uint64_t in = 0;
    use(pool.chunk);
    for (uint64_t i = 0; i < n; i++) values[i] = (hd_value)random_64();
    warps_launch(some_blocks(), LIST_BLOCK,
                 [&] { list_append(pool, to.get(), values.get(), n, left.get(), granted.get()); });
    for (uint64_t i = 0; i < n; i++) {
        CHECK(left[i] <= 1, "flag %u", left[i]);
        if (left[i] != 0) continue;
        model[numbers[i]].push_back(values[i]);
        in++;
    }
    CHECK(granted[0] == in, "%llu granted, %llu in", (ull)granted[0], (ull)in);
    used[pool.chunk] = cursor[0] < room ? cursor[0] : room;
    CHECK(in == n || cursor[0] > room - 64, "values were left although there was room");
    return in;
}

/* A run of lengths[g] values for list g; those from `fresh` on are new. */
void bare_lists::add_runs(const std::vector<uint64_t> &lengths, uint64_t fresh, bool tight,
                          bool plain)
{
    std::vector<uint64_t> numbers, starts, rows;
    uint64_t n = 0, units_sum = 0, in = 0;
    use(pool.chunk);
    for (uint64_t g = 0; g < lengths.size(); g++) {
        if (lengths[g] == 0) continue;
        numbers.push_back(g % 17 == 16 ? HD_LIST_NONE : g);
        starts.push_back(n);
        n += lengths[g];
    }
    starts.push_back(n);
    for (uint64_t i = 0; i < n; i++) rows.push_back(i);
    if (!plain) shuffle(&rows);
    const device_array<uint64_t> numbers_d = upload(numbers), starts_d = upload(starts);
    const device_array<uint64_t> rows_d = upload(rows), units(numbers.size() + 1), granted(1, 0);
    const device_array<hd_list_place> places(numbers.size());
    const device_array<hd_value> values(n);
    const device_array<uint8_t> outcomes(n), flags(numbers.size());
    for (uint64_t i = 0; i < n; i++) values[i] = (hd_value)random_64();
    hd_list_runs runs = {numbers_d.get(), starts_d.get(),   numbers.size(), fresh,
                         units.get(),     room - pool.used, tight};
    warps_launch(some_blocks(), LIST_BLOCK, [&] { list_measure(pool, runs); });
    for (uint64_t g = 0; g < numbers.size(); g++) {
        const uint64_t own = units[g];
        CHECK(own * HD_LIST_UNIT_VALUES <= 8 * (n + HD_LIST_RULE_MAX), "%llu units", (ull)own);
        units[g] = units_sum;
        units_sum += own;
    }
    warps_launch(some_blocks(), LIST_BLOCK, [&] { list_flag_fresh(runs, flags.get()); });
    for (uint64_t g = 0; g < numbers.size(); g++)
        CHECK(flags[g] == (numbers[g] == HD_LIST_NONE && units[g] < runs.room), "flag of run %llu",
              (ull)g);
    warps_launch(some_blocks(), LIST_BLOCK,
                 [&] { list_claim(pool, runs, places.get(), granted.get()); });
    const hd_list_rows job = {values.get(), plain ? NULL : rows_d.get(), 64, n, outcomes.get()};
    warps_launch(list_tiles(n), LIST_BLOCK, [&] {
        if (plain) list_copy<uint64_t, true>(runs, places.get(), job);
        else list_copy<uint64_t, false>(runs, places.get(), job);
    });
    for (uint64_t g = 0; g < numbers.size(); g++)
        for (uint64_t i = starts[g]; i < starts[g + 1]; i++) {
            const bool there = i - starts[g] < places[g].granted;
            CHECK(outcomes[rows[i]] == (there ? HEDDLE_OUTCOME_INSERTED : HEDDLE_OUTCOME_FAILED),
                  "outcome %u", outcomes[rows[i]]);
            if (there) model[numbers[g]].push_back(values[rows[i]]);
            in += there;
            CHECK(there || numbers[g] == HD_LIST_NONE || units_sum > runs.room,
                  "a value was left although there was room");
        }
    CHECK(granted[0] == in, "%llu granted, %llu in", (ull)granted[0], (ull)in);
    used[pool.chunk] += units_sum < runs.room ? units_sum : runs.room;
}

void bare_lists::bury(const std::vector<uint64_t> &numbers)
{
    const device_array<uint64_t> numbers_d = upload(numbers), sums(2, 0);
    const device_array<uint8_t> flags(numbers.size());
    const hd_list_census before = census();
    uint64_t values = 0;
    for (size_t i = 0; i < numbers.size(); i++) {
        flags[i] = i % 3 != 0;
        if (flags[i] == 0) continue;
        values += model[numbers[i]].size();
        model[numbers[i]].clear();
    }
    warps_launch(some_blocks(), LIST_BLOCK, [&] {
        list_bury_flagged(pool, numbers_d.get(), flags.get(), numbers.size(), sums.get());
    });
    CHECK(sums[0] == values && before.units - census().units == sums[1],
          "%llu values, %llu units went", (ull)sums[0], (ull)sums[1]);
}

/* Of the lists that the model says have values. */
hd_list_census bare_lists::census()
{
    const device_array<uint64_t> limits(HD_LIST_CHUNKS, 0), first_bits(HD_LIST_CHUNKS, 0);
    const device_array<uint32_t> taken(CHUNKS * room / 32 + 1, 0), seen(LISTS / 32 + 1, 0);
    std::vector<uint64_t> numbers;
    hd_list_census c = {};
    for (uint64_t i = 0; i < CHUNKS; i++) {
        limits[i] = used[i];
        first_bits[i] = i * room;
    }
    for (uint64_t i = 0; i < LISTS; i++)
        if (!model[i].empty()) numbers.push_back(i);
    const device_array<uint64_t> numbers_d = upload(numbers);
    const hd_list_bounds bounds = {LISTS, limits.get(), first_bits.get(), taken.get(), seen.get()};
    warps_launch(some_blocks(), LIST_BLOCK,
                 [&] { list_inspect(pool, bounds, numbers_d.get(), numbers.size(), &c); });
    return c;
}

/* Fetches some of all values, with every list's number as its key. */
void bare_lists::check_fetch(uint64_t first, uint64_t n, bool with_keys)
{
    std::vector<uint64_t> numbers, offsets;
    std::vector<std::pair<uint64_t, hd_value>> expected, got;
    uint64_t total = 0;
    for (uint64_t i = 0; i < 4 * LISTS; i++) { /* many are empty, some come twice */
        const bool none = i % 3 != 0 || model[i % LISTS].empty();
        numbers.push_back(none ? HD_LIST_NONE : i % LISTS);
        offsets.push_back(total);
        if (!none) total += model[i % LISTS].size();
    }
    offsets.push_back(total);
    if (first > total) first = total;
    if (n > total - first) n = total - first;
    const device_array<uint64_t> numbers_d = upload(numbers), lengths(numbers.size());
    const device_array<uint64_t> offsets_d = upload(offsets), keys = upload(numbers), keys_out(n);
    const device_array<hd_value> values(n);
    warps_launch(some_blocks(), LIST_BLOCK,
                 [&] { list_lengths(pool, numbers_d.get(), numbers.size(), lengths.get()); });
    for (size_t i = 0; i < numbers.size(); i++)
        CHECK(lengths[i] == offsets[i + 1] - offsets[i], "list %zu has %llu values", i,
              (ull)lengths[i]);
    const hd_list_fetch job = {numbers_d.get(),
                               offsets_d.get(),
                               numbers.size(),
                               first,
                               n,
                               values.get(),
                               with_keys ? keys.get() : NULL,
                               8,
                               keys_out.get()};
    if (n != 0) warps_launch(list_tiles(n), LIST_BLOCK, [&] { list_fetch(pool, job); });
    if (first != 0 || n != total) return; /* which values these are is seen in other rounds */
    for (size_t i = 0; i < numbers.size(); i++)
        for (uint64_t at = offsets[i]; at < offsets[i + 1]; at++) {
            expected.push_back({numbers[i] + i * LISTS, model[numbers[i]][at - offsets[i]]});
            got.push_back({numbers[i] + i * LISTS, values[at]});
            CHECK(!with_keys || keys_out[at] == numbers[i], "key of value %llu", (ull)at);
        }
    std::sort(expected.begin(), expected.end());
    std::sort(got.begin(), got.end());
    CHECK(expected == got, "%llu fetched values are not those of their lists", (ull)total);
}

void bare_lists::check()
{
    const hd_list_census c = census();
    const device_array<uint64_t> numbers(LISTS);
    const device_array<hd_value> firsts(LISTS, 0);
    const device_array<uint8_t> flags(LISTS);
    uint64_t lists = 0, values = 0;
    for (uint64_t i = 0; i < LISTS; i++) {
        lists += !model[i].empty();
        values += model[i].size();
        numbers[i] = model[i].empty() ? HD_LIST_NONE : i;
    }
    CHECK(c.lists == lists && c.values == values, "%llu lists, %llu values", (ull)c.lists,
          (ull)c.values);
    CHECK(c.astray + c.twice + c.broken + c.shared == 0,
          "%llu astray, %llu twice, %llu broken, %llu shared", (ull)c.astray, (ull)c.twice,
          (ull)c.broken, (ull)c.shared);
    warps_launch(1, LIST_BLOCK, [&] { list_first(pool, numbers.get(), LISTS, firsts.get()); });
    warps_launch(1, LIST_BLOCK, [&] { list_flag_empty(pool, numbers.get(), LISTS, flags.get()); });
    for (uint64_t i = 0; i < LISTS; i++) {
        const value_list &list = model[i];
        CHECK(list.empty() || std::count(list.begin(), list.end(), firsts[i]) != 0,
              "the first value of list %llu is none of its values", (ull)i);
        CHECK(flags[i] == 0, "list %llu is said to be empty", (ull)i);
    }
    check_fetch(0, UINT64_MAX, true);
    check_fetch(random_below(values + 1), random_below(values + 1), false);
}

/* What is set wrong shows, whatever it is. */
void bare_lists::damage()
{
    const uint64_t units = census().units;
    for (uint64_t i = random_below(9); i < LISTS; i += 9) {
        hd_list_record &record = records[i], right = record;
        if (model[i].empty()) continue;
        const uint64_t wrongs[] = {right.bucket ^ UINT64_C(1) << 40, right.bucket | UINT32_MAX,
                                   right.bucket | UINT64_C(255) << 32,
                                   right.bucket | UINT64_C(31) << 59,
                                   records[(i + 1) % LISTS].bucket};
        for (const uint64_t wrong : wrongs) {
            if (wrong == right.bucket) continue;
            record.bucket = wrong;
            const hd_list_census c = census();
            /* A bucket that forgets those before it may pass for a list of its own, with fewer units. */
            CHECK(c.broken + c.shared != 0 || c.units != units,
                  "bucket %llx, not %llx, is not seen to be wrong", (ull)wrong, (ull)right.bucket);
        }
        record = right;
        record.handle = handle_make(HD_LIST_BLOCKED, handle_count(right.handle));
        CHECK(census().astray == 1, "a blocked list is not seen");
        record.handle = handle_make(HD_LIST_READY, 0);
        CHECK(census().astray == 1, "an empty list is not seen");
        record.handle = handle_make(HD_LIST_READY, handle_count(right.handle) + UINT32_MAX);
        CHECK(census().broken == 1, "a wrong count is not seen");
        record = right;
        if (!bucket_is_linked(right.bucket)) continue;
        hd_list_header *header = bucket_header(&pool, right.bucket), kept = *header;
        header->begin++;
        CHECK(census().broken == 1, "a wrong begin is not seen");
        *header = kept;
        header->before = right.bucket;
        CHECK(census().broken + census().shared != 0, "a circle is not seen");
        *header = kept;
    }
}

/* Numbers of lists, most of them of a few. */
static std::vector<uint64_t> some_numbers(size_t n, uint64_t lists)
{
    std::vector<uint64_t> numbers;
    for (size_t i = 0; i < n; i++)
        numbers.push_back(i % 4 == 0 ? random_below(lists) : random_below(1 + lists / 16));
    return numbers;
}

static std::vector<uint64_t> some_lengths(uint64_t lists, uint64_t hot)
{
    std::vector<uint64_t> lengths(lists);
    for (uint64_t &length : lengths) length = random_below(12);
    lengths[random_below(lists)] = hot;
    return lengths;
}

static void test(uint64_t)
{
    bare_lists lists(4000);
    lists.use(0);
    CHECK(lists.append(some_numbers(700, LISTS)) == 700, "there was room");
    lists.check();
    lists.add_runs(some_lengths(LISTS, 5 * LIST_TILE), LISTS, random_below(2) != 0, false);
    lists.use(1);
    lists.append(some_numbers(400, LISTS / 2));
    lists.add_runs(some_lengths(LISTS, 20), LISTS, false, true);
    lists.check();
    lists.damage();
    lists.bury(some_numbers(1, LISTS));
    std::vector<uint64_t> each;
    for (uint64_t i = 0; i < LISTS; i += 2) each.push_back(i);
    lists.bury(each);
    lists.check();
    /* The pool runs out, for single values and for runs. */
    lists.use(2);
    for (int i = 0; i < 60 && lists.append(some_numbers(300, LISTS)) == 300; i++) {
    }
    lists.check();
    lists.append(some_numbers(100, LISTS)); /* where buckets have room it goes on */
    lists.check();
    bare_lists small(300);
    small.use(0);
    small.add_runs(some_lengths(LISTS, 2 * LIST_TILE), 0, true, false);
    small.check();
}

int main(int argc, char **argv) { return run_seeds(argc, argv, 8, test); }
