/*
 * test_cluster_many.c: groups of very many members, which have more bins than an engine keeps at hand, on the host: tables
 * balanced by keys and by rows, and joins and group-bys, held against their models.
 */
#include <stdlib.h>
#include <string.h>

#include "route/spread.h"
#include "support/cluster_model.h"
#include "support/cluster_relate.h"
#include "support/keys.h"

#define SLICE 64

static const shared_kind kinds[] = {
    {"map", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_AUTO, 32, 32},
    {"multimap", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_HASHGRAPH, 32, 32},
};

/* A device as often as there are members; caller frees. */
static char *names_of(const char *device, uint32_t members)
{
    const size_t length = strlen(device) + 1;
    char *names = malloc(members * length);
    for (uint32_t i = 0; i < members; i++) {
        memcpy(names + i * length, device, length - 1);
        names[(i + 1) * length - 1] = i + 1 < members ? ',' : 0;
    }
    return names;
}

static void check_table(const shared_kind *kind, const char *devices, uint32_t members)
{
    const uint64_t n = case_size(6000);
    uint64_t *keys = keys_allocate(2 * n), *values = keys_allocate(2 * n);
    case_note("%s of %u members", kind->name, members);
    shared s = shared_create(kind, devices, SLICE, NULL);
    assert_int_equal(s.members, members);
    keys_fill(keys, 2 * n, KEYS_RANDOM, 32, members);
    if (kind->container == HEDDLE_CONTAINER_MULTIMAP)
        for (uint64_t i = 0; i < n; i += 3) keys[i] = keys[1]; /* one member's alone */
    shared_values(values, keys, 2 * n, 1);
    shared_build(&s, keys, values, n, false);
    shared_check(&s);
    shared_look(&s, keys, 2 * n);
    shared_insert(&s, keys + n / 2, values + n / 2, n, HEDDLE_POLICY_KEEP, true);
    shared_erase(&s, keys, n / 4);
    shared_check(&s);
    shared_look(&s, keys, 2 * n);
    shared_destroy(&s);
    free(keys);
    free(values);
}

/* The model of group-bys asks so much that members wait for each other all the time: only where they are fewer. */
static void check_relations(const char *devices, uint32_t members, bool groups)
{
    const uint64_t left = case_size(3000), right = case_size(1500), n = left + right;
    uint64_t *keys = keys_allocate(n), state = members;
    heddle_cluster *cluster = relate_open(devices, 0);
    case_note("relations of %u members", members);
    for (uint64_t i = 0; i < n; i++) /* those of a third of the left side stay where they are */
        keys[i] = i < left && i % 3 == 0 ? 5 : keys_below(&state, n);
    join_tables t = {table_of_keys(keys, n, 64), left};
    const relate_share share = relate_whole(left, right);
    const join_call calls[] = {{HEDDLE_JOIN_INNER, 32, 0}, {HEDDLE_JOIN_FULL, 64, 500}};
    for (size_t i = 0; i < 2; i++) {
        const heddle_relation_stats stats =
            relate_join_check(cluster, &t, &share, &calls[i], relate_alone);
        assert_int_equal(stats.members, members);
        assert_int_equal(stats.rows_stayed != 0, calls[i].kind == HEDDLE_JOIN_INNER);
    }
    const relate_share all = relate_whole(n, 0);
    if (groups) relate_by_check(cluster, &t.both, &all, 64, relate_alone);
    table_free(&t.both);
    free(keys);
    heddle_cluster_close(cluster);
}

/* Some, and so many that their bins do not fit the fastest memory. */
static void many_members(void **state)
{
    static const uint32_t counts[] = {65, 260};
    (void)state;
    for (size_t i = 0; i + (getenv("HEDDLE_TEST_QUICK") != NULL) < 2; i++) {
        char *devices = names_of("cpu:1", counts[i]);
        check(hd_spread_bits(counts[i]) > 12, "%u members have few bins", counts[i]);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            check_table(&kinds[k], devices, counts[i]);
        check_relations(devices, counts[i], i == 0);
        free(devices);
    }
    case_note("%s", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(many_members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
