/*
 * test_route.c: a slice of a batch is laid out by owner (route/route.h): rows go where they go when they are sorted by
 * bins, each with what belongs to it; bins of all members go to each. And rows are counted by bin.
 */
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "cluster/send.h"
#include "support/arrays.h"
#include "support/cluster_model.h"
#include "support/keys.h"
#include "support/mixed.h"
#include "support/sort.h"

/* A slice that has been laid out: the pairs of every member, in order. */
typedef struct laid {
    uint64_t send[HEDDLE_CLUSTER_MEMBERS_MAX];
    uint64_t *pairs;
    uint64_t count;
} laid;

static laid lay(hd_member *member, const hd_spread *spread, uint32_t kb, uint32_t vb,
                const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    const hd_rows rows = {kb, vb, n != 0 ? n : 1, vb != 0 && values == NULL, false, false};
    hd_router route;
    laid l;
    uint64_t at = 0;
    void *narrow_keys = shared_narrow(keys, n, kb);
    void *narrow_values = values != NULL ? shared_narrow(values, n, vb) : NULL;
    memset(&l, 0, sizeof l);
    check_ok(hd_router_begin(&route, member->device, spread, &rows));
    check_ok(hd_router_slice(&route, narrow_keys, narrow_values, n));
    memcpy(l.send, route.send, spread->members * sizeof *l.send);
    for (uint32_t m = 0; m < spread->members; m++) l.count += l.send[m];
    l.pairs = keys_allocate(2 * l.count + 2);
    for (uint64_t i = 0; i < l.count; i++) {
        const uint64_t key = shared_at(route.keys.memory, i, kb);
        const uint64_t value = vb != 0 ? shared_at(route.values.memory, i, vb) : 0;
        if (vb != 0 && values == NULL)
            check(value < n && low_bits(keys[value], kb) == key, "a row is not that of its key");
        l.pairs[2 * i] = key;
        l.pairs[2 * i + 1] = value;
    }
    for (uint32_t m = 0; m < spread->members; m++) {
        sort_pairs(l.pairs + 2 * at, l.send[m]);
        at += l.send[m];
    }
    hd_router_end(&route);
    free(narrow_keys);
    free(narrow_values);
    return l;
}

static void compare(hd_member *member, const hd_spread *spread, uint32_t kb, uint32_t vb,
                    const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    laid placed = lay(member, spread, kb, vb, keys, values, n);
    hd_tune.route_sorts = true;
    laid sorted = lay(member, spread, kb, vb, keys, values, n);
    hd_tune.route_sorts = false;
    assert_int_equal(placed.count, n);
    assert_memory_equal(placed.send, sorted.send, sizeof placed.send);
    assert_memory_equal(placed.pairs, sorted.pairs, 16 * n);
    free(placed.pairs);
    free(sorted.pairs);
}

static void check_kinds(const char *device, uint32_t members, bool balanced)
{
    static const uint64_t sizes[] = {0, 1, 2, 1000, 70001};
    heddle_cluster *cluster = NULL;
    hd_spread equal, even, *spread = &equal;
    uint64_t state = members;
    check_ok(heddle_cluster_open(device, NULL, &cluster));
    check_ok(hd_spread_init(&equal, members, 99));
    uint64_t *counts = keys_allocate(hd_spread_bins(&equal));
    for (uint32_t i = 0; i < hd_spread_bins(&equal); i++) counts[i] = keys_below(&state, 100);
    counts[7] = 10000;
    check_ok(hd_spread_balanced(&equal, counts, NULL, true, &even));
    free(counts);
    if (balanced) spread = &even;
    for (uint32_t kb = 32; kb <= 64; kb += 32)
        for (uint32_t vb = 0; vb <= 64; vb += 32)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                const uint64_t n = sizes[s];
                uint64_t *keys = keys_allocate(n + 1), *values = keys_allocate(n + 1);
                case_note("%llu keys of %u bits with %u, %u members on %s", (unsigned long long)n,
                          kb, vb, members, device);
                keys_fill(keys, n, s % 2 == 0 ? KEYS_EDGES : KEYS_ZIPF, kb, 3 + s);
                keys_fill_values(values, n, 5);
                compare(&cluster->members[0], spread, kb, vb, keys, vb != 0 ? values : NULL, n);
                if (vb == 32) compare(&cluster->members[0], spread, kb, vb, keys, NULL, n);
                free(keys);
                free(values);
            }
    hd_spread_free(&equal);
    hd_spread_free(&even);
    heddle_cluster_close(cluster);
}

static void by_owners_as_by_sorting(void **state)
{
    static const uint32_t members[] = {1, 2, 3, 7, 65, 256};
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        for (int k = 0; k < 4; k++) check_kinds(k % 2 == 0 ? "cpu:1" : "cpu:3", members[i], k >= 2);
    case_note("%s", "");
}

/* Of very many members: what each is sent are the keys of its bins, all of them. */
static void check_sorted(hd_member *member, uint32_t members, uint32_t kb)
{
    const uint64_t n = case_size(70001);
    uint64_t *keys = keys_allocate(n), *expected = keys_allocate(members), at = 0;
    hd_spread spread;
    check_ok(hd_spread_init(&spread, members, 98));
    keys_fill(keys, n, KEYS_ZIPF, kb, members);
    case_note("%u members, keys of %u bits", members, kb);
    laid l = lay(member, &spread, kb, 32, keys, NULL, n);
    memset(expected, 0, members * sizeof *expected);
    for (uint64_t i = 0; i < n; i++)
        expected[spread.owners[mixed(&spread.mix, keys[i], kb) >> (kb - spread.bits)]]++;
    assert_int_equal(l.count, n);
    assert_memory_equal(l.send, expected, members * sizeof *expected);
    for (uint32_t m = 0; m < members; m++) {
        for (uint64_t i = at; i < at + l.send[m]; i++) {
            const uint64_t bin = mixed(&spread.mix, l.pairs[2 * i], kb) >> (kb - spread.bits);
            check(spread.owners[bin] == m, "member %u gets a key of %u", m, spread.owners[bin]);
        }
        at += l.send[m];
    }
    uint64_t rows =
        0; /* each once: their sum, as `lay` has seen that they are those of their keys */
    for (uint64_t i = 0; i < n; i++) rows += l.pairs[2 * i + 1];
    assert_int_equal(rows, n * (n - 1) / 2);
    free(l.pairs);
    free(expected);
    free(keys);
    hd_spread_free(&spread);
}

static void many_members(void **state)
{
    static const uint32_t members[] = {257, 300, 500, 1000, 1024};
    heddle_cluster *cluster = NULL;
    (void)state;
    check_ok(heddle_cluster_open("cpu:3", NULL, &cluster));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        for (uint32_t kb = 32; kb <= 64; kb += 32)
            check_sorted(&cluster->members[0], members[i], kb);
    case_note("%s", "");
    heddle_cluster_close(cluster);
}

/* What was there before is added to. */
static void check_counts(hd_member *member, uint32_t members, uint32_t kb, uint64_t n)
{
    uint64_t *keys = keys_allocate(n + 1);
    hd_spread spread;
    check_ok(hd_spread_init(&spread, members, 97));
    const uint32_t bins = hd_spread_bins(&spread);
    uint64_t *counts = keys_allocate(bins), *expected = keys_allocate(bins);
    case_note("%llu keys of %u bits, %u bins", (unsigned long long)n, kb, bins);
    keys_fill(keys, n, n % 2 == 0 ? KEYS_ZIPF : KEYS_RANDOM, kb, members + n);
    void *narrow = shared_narrow(keys, n, kb);
    for (uint32_t bin = 0; bin < bins; bin++) counts[bin] = expected[bin] = bin % 3;
    for (uint64_t i = 0; i < n; i++)
        expected[mixed(&spread.mix, keys[i], kb) >> (kb - spread.bits)]++;
    check_ok(hd_member_count(member, &spread, kb, narrow, n, counts));
    assert_memory_equal(counts, expected, bins * sizeof *counts);
    free(narrow);
    free(counts);
    free(expected);
    free(keys);
    hd_spread_free(&spread);
}

static void rows_are_counted(void **state)
{
    static const uint32_t members[] = {1, 50, 64, 65, 256, 500, 1000, 1024};
    static const uint64_t sizes[] = {0, 1, 4096, 70001, 300000};
    (void)state;
    for (int k = 0; k < 4; k++) {
        heddle_cluster *cluster = NULL;
        check_ok(heddle_cluster_open(k % 2 == 0 ? "cpu:1" : "cpu:3", NULL, &cluster));
        cluster->slice = k < 2 ? 0 : 30000; /* as it suits, or several */
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
                check_counts(&cluster->members[0], members[i], (i + s) % 2 == 0 ? 32 : 64,
                             sizes[s]);
        heddle_cluster_close(cluster);
    }
    case_note("%s", "");
}

/* A bin of all goes to each, the others to one. */
static void bins_of_all(void **state)
{
    const uint64_t n = 5000;
    heddle_cluster *cluster = NULL;
    hd_spread equal, all;
    uint64_t *keys = keys_allocate(n);
    (void)state;
    check_ok(heddle_cluster_open("cpu:1", NULL, &cluster));
    check_ok(hd_spread_init(&equal, 3, 99));
    uint32_t *owners = malloc(hd_spread_bins(&equal) * sizeof *owners);
    for (uint32_t i = 0; i < hd_spread_bins(&equal); i++)
        owners[i] = i % 5 == 0 ? HD_OWNER_ALL : HD_OWNER_AS_IS;
    check_ok(hd_spread_changed(&equal, owners, &all));
    free(owners);
    keys_fill(keys, n, KEYS_RANDOM, 64, 4);
    laid one = lay(&cluster->members[0], &equal, 64, 32, keys, NULL, n);
    laid many = lay(&cluster->members[0], &all, 64, 32, keys, NULL, n);
    uint64_t *times = keys_allocate(n);
    memset(times, 0, n * sizeof *times);
    for (uint64_t i = 0; i < many.count; i++) times[many.pairs[2 * i + 1]]++;
    uint64_t copied = 0;
    for (uint64_t i = 0; i < n; i++) {
        check(times[i] == 1 || times[i] == 3, "a row goes out %llu times",
              (unsigned long long)times[i]);
        copied += times[i] == 3;
    }
    check(copied > n / 8 && copied < n / 3, "%llu rows are copied", (unsigned long long)copied);
    assert_int_equal(one.count, n);
    assert_int_equal(many.count, n + 2 * copied);
    free(one.pairs);
    free(many.pairs);
    free(times);
    free(keys);
    hd_spread_free(&equal);
    hd_spread_free(&all);
    heddle_cluster_close(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(by_owners_as_by_sorting),
        ONCE(many_members),
        ONCE(rows_are_counted),
        ONCE(bins_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
