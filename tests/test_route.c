/*
 * test_route.c: a slice of a batch is laid out by destination (dist/route.h): keys that are dealt out go where keys
 * go that are sorted by bins, each with what belongs to it; bins of all members go to each.
 */
#include <stdlib.h>
#include <string.h>

#include "dist/route.h"
#include "support/arrays.h"
#include "support/group_model.h"
#include "support/keys.h"
#include "support/sort.h"

/* A slice that has been laid out: the pairs of every member, in order. */
typedef struct laid {
    uint64_t send[300];
    uint64_t *pairs;
    uint64_t count;
} laid;

static laid lay(hd_member *member, const hd_spread *spread, uint32_t kb, uint32_t vb,
                const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    hd_route route;
    laid l;
    uint64_t at = 0;
    void *narrow_keys = shared_narrow(keys, n, kb);
    void *narrow_values = values != NULL ? shared_narrow(values, n, vb) : NULL;
    memset(&l, 0, sizeof l);
    check_ok(hd_route_begin(&route, member, spread, kb, vb, n != 0 ? n : 1));
    check_ok(hd_route_slice(&route, narrow_keys, narrow_values, n));
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
    hd_route_end(&route);
    free(narrow_keys);
    free(narrow_values);
    return l;
}

static void compare(hd_member *member, const hd_spread *spread, uint32_t kb, uint32_t vb,
                    const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    laid dealt = lay(member, spread, kb, vb, keys, values, n);
    hd_route_sort_always(true);
    laid sorted = lay(member, spread, kb, vb, keys, values, n);
    hd_route_sort_always(false);
    assert_int_equal(dealt.count, n);
    assert_memory_equal(dealt.send, sorted.send, sizeof dealt.send);
    assert_memory_equal(dealt.pairs, sorted.pairs, 16 * n);
    free(dealt.pairs);
    free(sorted.pairs);
}

static void check_kinds(const char *device, uint32_t members, bool balanced)
{
    static const uint64_t sizes[] = {0, 1, 2, 1000, 70001};
    heddle_group *group = NULL;
    hd_spread equal, even, *spread = &equal;
    uint64_t counts[1 << HD_BIN_BITS_MAX], state = members;
    check_ok(heddle_group_open(device, NULL, &group));
    check_ok(hd_spread_init(&equal, members, 99));
    for (uint32_t i = 0; i < hd_spread_bins(&equal); i++) counts[i] = keys_below(&state, 100);
    counts[7] = 10000;
    check_ok(hd_spread_balanced(&equal, counts, NULL, true, &even));
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
                compare(&group->members[0], spread, kb, vb, keys, vb != 0 ? values : NULL, n);
                if (vb == 32) compare(&group->members[0], spread, kb, vb, keys, NULL, n);
                free(keys);
                free(values);
            }
    hd_spread_free(&equal);
    hd_spread_free(&even);
    heddle_group_close(group);
}

static void dealt_as_sorted(void **state)
{
    static const uint32_t members[] = {1, 2,   3,
                                       7, 256, 300}; /* the last is too many to be dealt out */
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        for (int k = 0; k < 4; k++) check_kinds(k % 2 == 0 ? "cpu:1" : "cpu:3", members[i], k >= 2);
    case_note("%s", "");
}

/* A bin of all goes to each, the others to one. */
static void bins_of_all(void **state)
{
    const uint64_t n = 5000;
    heddle_group *group = NULL;
    hd_spread equal, all;
    uint32_t owners[1 << HD_BIN_BITS_MAX];
    uint64_t *keys = keys_allocate(n);
    (void)state;
    check_ok(heddle_group_open("cpu:1", NULL, &group));
    check_ok(hd_spread_init(&equal, 3, 99));
    for (uint32_t i = 0; i < hd_spread_bins(&equal); i++)
        owners[i] = i % 5 == 0 ? HD_OWNER_ALL : HD_OWNER_AS_IS;
    check_ok(hd_spread_changed(&equal, owners, &all));
    keys_fill(keys, n, KEYS_RANDOM, 64, 4);
    laid one = lay(&group->members[0], &equal, 64, 32, keys, NULL, n);
    laid many = lay(&group->members[0], &all, 64, 32, keys, NULL, n);
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
    heddle_group_close(group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(dealt_as_sorted), ONCE(bins_of_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
