/* cluster_model.c: see cluster_model.h. */
#define _POSIX_C_SOURCE 200809L
#include "support/cluster_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t shared_mode = HEDDLE_MODE_DISTRIBUTED;

const uint32_t shared_members[] = {1, 2, 3, 4, 7};
const uint32_t shared_members_count = sizeof shared_members / sizeof shared_members[0];

/* ------------------------------------------------------------------------------------- running */

/* The names of `members` devices, taken from a list in turn. */
static void name_devices(char *names, size_t size, const char *const *from, uint32_t count,
                         uint32_t members)
{
    size_t at = 0;
    for (uint32_t i = 0; i < members; i++)
        at += (size_t)snprintf(names + at, size - at, "%s%s", i != 0 ? "," : "", from[i % count]);
}

static void run_named(shared_devices run, void *context, const char *const *from, uint32_t count,
                      uint32_t members)
{
    char names[512];
    name_devices(names, sizeof names, from, count, members);
    run(names, members, context);
}

void shared_run_devices(shared_devices run, void *context, uint32_t members)
{
    static const char *const cpu[] = {"cpu:1"}, *const two[] = {"cpu:2"}, *const gpu[] = {"cuda:0"},
                             *const both[] = {"cuda:0", "cpu:2"};
    const char *wanted = getenv("HEDDLE_TEST_DEVICE");
    const bool gpus =
        heddle_cuda_device_count() != 0 && (wanted == NULL || strstr(wanted, "cuda") != NULL);
    if (wanted == NULL || strstr(wanted, "cpu") != NULL)
        run_named(run, context, members == 2 ? two : cpu, 1, members);
    if (gpus) run_named(run, context, gpu, 1, members);
    if (gpus && members > 1) run_named(run, context, both, 2, members);
    case_note("%s", "");
}

/* shared_devices: every kind of table. */
static void run_kinds(const char *names, uint32_t members, void *context)
{
    const shared_function run = *(const shared_function *)context;
    for (uint32_t k = 0; k < shared_kind_count; k++) {
        if (!shared_is_compiled(&shared_kinds[k])) continue;
        case_note("%s on %s", shared_kinds[k].name, names);
        run(&shared_kinds[k], names, members);
    }
}

void shared_run_with(shared_function run, uint32_t members)
{
    shared_run_devices(run_kinds, &run, members);
}

void shared_run(shared_function run)
{
    for (uint32_t i = 0; i < shared_members_count; i++) shared_run_with(run, shared_members[i]);
}

/* ---------------------------------------------------------------------------------------- life */

#define CALL(name) heddle_cluster_table_##name
#define CALLED table
#include "support/shared_calls.inl"
const shared_calls *const shared_cluster_calls = &calls;

shared shared_create(const shared_kind *kind, const char *devices, uint64_t slice,
                     const heddle_table_options *options)
{
    heddle_cluster_options group_options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT;
    heddle_cluster_info info = HEDDLE_CLUSTER_INFO_INIT;
    shared s = {.calls = &calls, .options = options != NULL ? *options : shared_options(kind)};
    group_options.slice = slice;
    spread.seed = case_seed();
    spread.mode = shared_mode;
    check_ok(heddle_cluster_open(devices, &group_options, &s.cluster));
    check_ok(heddle_cluster_get_info(s.cluster, &info));
    s.members = info.members;
    check_ok(heddle_cluster_table_create(s.cluster, &s.options, &spread, &s.table));
    s.pairs = malloc(sizeof *s.pairs);
    return s;
}

void shared_destroy(shared *s)
{
    heddle_cluster_table_destroy(s->table);
    heddle_cluster_close(s->cluster);
    free(s->pairs);
    s->pairs = NULL;
}

void shared_check(shared *s)
{
    heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
    uint64_t sum = 0;
    shared_check_pairs(s);
    check_ok(heddle_cluster_table_validate(s->table));
    check_ok(heddle_cluster_table_get_stats(s->table, &stats));
    assert_int_equal(stats.keys, s->size);
    assert_int_equal(stats.members, s->members);
    for (uint32_t i = 0; i < s->members; i++) {
        uint64_t keys = 0;
        check_ok(heddle_table_size(heddle_cluster_table_part(s->table, i), &keys, NULL));
        check(keys >= stats.keys_least && keys <= stats.keys_most, "member %u has %llu keys", i,
              (unsigned long long)keys);
        sum += keys;
    }
    assert_int_equal(sum, s->size);
}
