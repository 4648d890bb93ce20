/*
 * test_cluster_skew.c: who owns which bins (src/route/spread.h), and that members have even loads when keys do
 * not: half of all rows one key, and rows by Zipf's law.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "route/spread.h"
#include "support/cluster_model.h"
#include "support/keys.h"

/* --------------------------------------------------------------------------------------- owners */

/* Every bin has one owner, the runs are all bins, by owner; loads add up. */
static void check_spread(const hd_spread *spread, const uint64_t *counts, uint64_t rows)
{
    const uint32_t bins = hd_spread_bins(spread);
    uint32_t seen = 0, owner = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spread->run_count; i++) {
        const hd_bin_run *run = &spread->runs[i];
        check(run->owner >= owner && run->owner < spread->members && run->first < run->end,
              "run %u is wrong", i);
        owner = run->owner;
        for (uint32_t bin = run->first; bin < run->end; bin++) {
            check(spread->owners[bin] == owner, "bin %u has two owners", bin);
            seen++;
        }
    }
    assert_int_equal(seen, bins);
    for (uint32_t i = 0; i < spread->members; i++) sum += hd_spread_load(spread, counts, i);
    assert_int_equal(sum, rows);
}

/* The largest load, beside what cannot be less: the mean, or the largest bin. */
static double excess(const hd_spread *spread, const uint64_t *counts, uint64_t rows)
{
    double least = (double)rows / spread->members, most = 0;
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++)
        if ((double)counts[bin] > least) least = (double)counts[bin];
    for (uint32_t i = 0; i < spread->members; i++) {
        const double load = (double)hd_spread_load(spread, counts, i);
        if (load > most) most = load;
    }
    return most / least - 1;
}

static void try_counts(uint32_t members, uint32_t shape, double allowed)
{
    hd_spread equal, even;
    uint64_t rows = 0, state = 9 + shape;
    check_ok(hd_spread_init(&equal, members, 7));
    const uint32_t bins = hd_spread_bins(&equal);
    uint64_t *counts = calloc(bins, sizeof *counts);
    for (uint32_t i = 0; i < bins; i++) {
        if (shape == 0) counts[i] = 1000;
        if (shape == 1) counts[i] = 900 + keys_below(&state, 200);
        if (shape == 2) counts[i] = i == bins / 2 ? bins * UINT64_C(1000) : 1000;
        if (shape == 3) counts[(i * 389) % bins] = (uint64_t)(1e7 / pow(i + 1, 1.2));
        if (shape == 4) counts[i] = i < bins / 4 ? 20000 : 3;
        if (shape == 5) counts[i] = i == 3 || i == bins - 1 ? 1000000 : 500;
    }
    for (uint32_t i = 0; i < bins; i++) rows += counts[i];
    check_spread(&equal, counts, rows);
    check_ok(hd_spread_balanced(&equal, counts, NULL, true, &even));
    check_spread(&even, counts, rows);
    check(excess(&even, counts, rows) <= allowed, "%u members, shape %u: %.3f above", members,
          shape, excess(&even, counts, rows));
    hd_spread_free(&equal);
    hd_spread_free(&even);
    free(counts);
}

static void loads_are_even(void **state)
{
    static const uint32_t members[] = {1, 2, 3, 4, 7, 16, 50};
    (void)state;
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++)
        for (uint32_t shape = 0; shape < 6; shape++)
            try_counts(members[m], shape, members[m] <= 16 ? 0.04 : 0.08);
}

/*
 * The largest groups. Bins with one row each are as even as bins can be; the fullest member has at most a 64th more
 * than the mean, and where rows were counted two such bins more.
 */
static void large_groups_are_even(void **state)
{
    static const uint32_t members[] = {65, 500, 1000, HEDDLE_CLUSTER_MEMBERS_MAX};
    (void)state;
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
        hd_spread equal;
        check_ok(hd_spread_init(&equal, members[m], 7));
        const uint32_t bins = hd_spread_bins(&equal);
        uint64_t *counts = calloc(bins, sizeof *counts);
        for (uint32_t i = 0; i < bins; i++) counts[i] = 1;
        check(bins >= 64 * members[m], "%u members have %u bins", members[m], bins);
        check_spread(&equal, counts, bins);
        check(excess(&equal, counts, bins) < 1 / 64.0, "%u members: %.4f above", members[m],
              excess(&equal, counts, bins));
        hd_spread_free(&equal);
        free(counts);
        for (uint32_t shape = 0; shape < 6; shape++) try_counts(members[m], shape, 0.08);
    }
}

/* ------------------------------------------------------------------------------------------ runs */

/* The runs of every member by a plain loop over all bins. */
static void check_runs(const hd_spread *spread)
{
    uint32_t at = 0;
    for (uint32_t member = 0; member < spread->members; member++)
        for (uint32_t bin = 0; bin < hd_spread_bins(spread);) {
            const uint32_t first = bin;
            while (bin < hd_spread_bins(spread) &&
                   (spread->owners[bin] == member || spread->owners[bin] == HD_OWNER_ALL))
                bin++;
            if (bin == first) {
                bin++;
                continue;
            }
            check(at < spread->run_count && spread->runs[at].owner == member &&
                      spread->runs[at].first == first && spread->runs[at].end == bin,
                  "run %u, from %u to %u of member %u", at, first, bin, member);
            at++;
        }
    assert_int_equal(at, spread->run_count);
}

/* Owners that alternate, members that own nothing, and bins of all at the ends, together and alone. */
static void runs_are_those_of_the_owners(void **state)
{
    static const uint32_t members[] = {1, 3, 64, 65, 500, 1000};
    (void)state;
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++)
        for (uint32_t all = 0; all <= 300; all += 150) { /* of 1000 bins, in stretches of up to 8 */
            hd_spread equal, changed;
            uint64_t random = members[m] + all;
            check_ok(hd_spread_init(&equal, members[m], 7));
            const uint32_t bins = hd_spread_bins(&equal);
            uint32_t *owners = malloc(bins * sizeof *owners);
            for (uint32_t bin = 0, length; bin < bins; bin += length) {
                const uint64_t dice = keys_below(&random, 1000);
                const uint32_t owner = bin == 0 && all != 0 ? HD_OWNER_ALL
                                       : dice < all         ? HD_OWNER_ALL
                                       : dice < 700         ? (uint32_t)(random % members[m])
                                                            : HD_OWNER_AS_IS;
                length = 1 + (uint32_t)keys_below(&random, 8);
                if (length > bins - bin) length = bins - bin;
                for (uint32_t i = 0; i < length; i++) owners[bin + i] = owner;
            }
            check_ok(hd_spread_changed(&equal, owners, &changed));
            for (uint32_t bin = 0; bin < bins; bin++)
                assert_int_equal(changed.owners[bin],
                                 owners[bin] == HD_OWNER_AS_IS ? equal.owners[bin] : owners[bin]);
            check_runs(&equal);
            check_runs(&changed);
            hd_spread_free(&equal);
            hd_spread_free(&changed);
            free(owners);
        }
}

/* A handful of rows must not decide who owns what later batches bring. */
static void small_batches_decide_little(void **state)
{
    hd_spread equal, even;
    (void)state;
    check_ok(hd_spread_init(&equal, 4, 7));
    const uint32_t bins = hd_spread_bins(&equal);
    uint64_t *counts = calloc(bins, sizeof *counts), *later = calloc(bins, sizeof *later);
    for (uint32_t i = 0; i < 10; i++) counts[i * 7]++;
    for (uint32_t i = 0; i < bins; i++) later[i] = 1000;
    check_ok(hd_spread_balanced(&equal, counts, NULL, true, &even));
    check(excess(&even, later, bins * UINT64_C(1000)) < 0.05, "%.3f",
          excess(&even, later, bins * UINT64_C(1000)));
    memset(counts, 0, bins * sizeof *counts);
    hd_spread_free(&even);
    check_ok(hd_spread_balanced(&equal, counts, NULL, true, &even));
    check(excess(&even, later, bins * UINT64_C(1000)) < 0.02, "%.3f",
          excess(&even, later, bins * UINT64_C(1000)));
    hd_spread_free(&even);
    hd_spread_free(&equal);
    free(counts);
    free(later);
}

/* --------------------------------------------------------------------------------------- tables */

static const shared_kind multimap = {"multimap", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_HASHGRAPH,
                                     32, 32};
static const shared_kind map = {"map", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_CUCKOO, 64, 64};
static const char *const groups[] = {"cpu:1", "cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1",
                                     "cpu:1,cpu:1,cpu:1,cpu:1",
                                     "cpu:1,cpu:1,cpu:1,cpu:1,cpu:1,cpu:1,cpu:1"};

/* The loads of all members but the one that has most; the mean of these, and the most of all. */
static void rest_loads(shared *s, uint64_t *most, double *mean, uint64_t *largest)
{
    uint64_t sum = 0, second = 0;
    *most = 0;
    for (uint32_t i = 0; i < s->members; i++) {
        uint64_t keys = 0;
        check_ok(heddle_table_size(heddle_cluster_table_part(s->table, i), &keys, NULL));
        sum += keys;
        if (keys > *most) {
            second = *most;
            *most = keys;
        } else if (keys > second) {
            second = keys;
        }
    }
    *mean = (double)(sum - *most) / (s->members - 1);
    *largest = second;
}

/* Half of all rows have one key: that member has these and hardly more, the others share the rest. */
static void half_of_all_rows_one_key(void **state)
{
    const uint64_t n = 400000;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    (void)state;
    keys_fill(keys, n, KEYS_RANDOM, 32, 3);
    keys_fill_values(values, n, 3);
    for (uint64_t i = 0; i < n; i += 2) keys[i] = keys[1];
    for (size_t g = 1; g < sizeof groups / sizeof groups[0]; g++) {
        shared s = shared_create(&multimap, groups[g], 0, NULL);
        heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
        uint64_t most, largest;
        double mean;
        shared_build(&s, keys, values, n, false);
        shared_check(&s);
        shared_look(&s, keys + 2, 5);
        rest_loads(&s, &most, &mean, &largest);
        check((double)most < 0.51 * (double)n, "%s: one member has %llu of %llu rows", groups[g],
              (unsigned long long)most, (unsigned long long)n);
        check((double)largest < 1.1 * mean, "%s: the rest is uneven: %llu beside %.0f", groups[g],
              (unsigned long long)largest, mean);
        check_ok(heddle_cluster_table_get_stats(s.table, &stats));
        check(fabs(stats.imbalance - ((double)most * s.members / (double)n - 1)) < 1e-9,
              "an imbalance of %f", stats.imbalance);
        shared_destroy(&s);
    }
    free(keys);
    free(values);
}

/* n rows whose keys have ranks by Zipf's law with exponent s, by inversion over `ranks` of them. */
static void fill_zipf(uint64_t *keys, uint64_t n, uint64_t ranks, double s)
{
    double *sums = malloc(ranks * sizeof *sums), sum = 0;
    uint64_t state = 77;
    for (uint64_t i = 0; i < ranks; i++) sums[i] = sum += pow((double)(i + 1), -s);
    for (uint64_t i = 0; i < n; i++) {
        const double at = (double)(keys_random(&state) >> 11) / 9007199254740992.0 * sum;
        uint64_t low = 0, high = ranks - 1;
        while (low < high) {
            const uint64_t middle = (low + high) / 2;
            if (sums[middle] < at) low = middle + 1;
            else high = middle;
        }
        keys[i] = low * 2654435761u + 99;
    }
    free(sums);
}

static void zipf_is_even(void **state)
{
    const uint64_t n = case_size(1000000);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    (void)state;
    fill_zipf(keys, n, 1 << 20, 1.2);
    keys_fill_values(values, n, 3);
    void *k = shared_narrow(keys, n, 32), *v = shared_narrow(values, n, 32);
    for (size_t g = 1; g < sizeof groups / sizeof groups[0]; g++) {
        heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
        shared s = shared_create(&multimap, groups[g], 0, NULL);
        uint64_t most, largest;
        double mean;
        check_ok(heddle_cluster_table_build(s.table, k, v, n, NULL, NULL));
        check_ok(heddle_cluster_table_get_stats(s.table, &stats));
        /* With seven members the most frequent key alone is more than a seventh. */
        if (s.members <= 4)
            check(stats.imbalance < 0.1, "%s: imbalance %.3f", groups[g], stats.imbalance);
        rest_loads(&s, &most, &mean, &largest);
        check((double)largest < 1.1 * mean, "%s: the rest is uneven: %llu beside %.0f", groups[g],
              (unsigned long long)largest, mean);
        check(fabs(stats.row_imbalance - stats.imbalance) < 1e-9, "rows are pairs in a multimap");
        shared_destroy(&s);
    }
    free(k);
    free(v);
    free(keys);
    free(values);
}

/* In a map it is keys that are even, however often they come. */
static void keys_of_maps_are_even(void **state)
{
    const uint64_t n = case_size(400000);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    (void)state;
    keys_fill(keys, n, KEYS_SEQUENCE, 64, 3);
    for (uint64_t i = 0; i < n; i += 2) keys[i] = keys[1];
    shared_values(values, keys, n, 1);
    for (size_t g = 1; g < sizeof groups / sizeof groups[0]; g++) {
        heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
        shared s = shared_create(&map, groups[g], 0, NULL);
        shared_build(&s, keys, values, n, false);
        shared_check(&s);
        check_ok(heddle_cluster_table_get_stats(s.table, &stats));
        check(stats.imbalance < 0.05, "%s: imbalance %.3f", groups[g], stats.imbalance);
        check(stats.row_imbalance > 0.4, "%s: rows %.3f", groups[g], stats.row_imbalance);
        assert_int_equal(stats.rows, n);
        shared_destroy(&s);
    }
    free(keys);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(loads_are_even),
        ONCE(large_groups_are_even),
        ONCE(runs_are_those_of_the_owners),
        ONCE(small_batches_decide_little),
        ONCE(half_of_all_rows_one_key),
        ONCE(zipf_is_even),
        ONCE(keys_of_maps_are_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
