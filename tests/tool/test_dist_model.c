/*
 * test_dist_model.c: the model of builds over groups (tools/heddle/bench/dist/model.h): its arithmetic against figures
 * that were worked out by hand, and what it says of bins against the library's own owners.
 */
#include "bench/dist/model.h"
#include "route/spread.h"
#include "support/cases.h"

static void is_near(double got, double wanted, const char *what)
{
    const double off = got - wanted;
    check((off < 0 ? -off : off) <= 1e-9 * (wanted != 0 ? wanted : 1), "%s is %g, not %g", what,
          got, wanted);
}

/* One device with 100 bytes and 10 rows a second, and no links. */
static const model_machine plain = {1, 100, 10, 1, 0, 0};

static void bytes_of_rows(void **state)
{
    (void)state;
    const model_row map = model_row_of(4, 4, false, false);
    is_near(map.memory[MODEL_PARTITION], 4, "a key read");
    is_near(map.memory[MODEL_REORGANISE], 16, "a pair read and written");
    is_near(map.memory[MODEL_EXCHANGE], 16, "a pair moved");
    is_near(map.sent, 8, "a pair sent");
    const model_row set = model_row_of(8, 0, false, false);
    is_near(set.memory[MODEL_REORGANISE], 16, "a key read and written");
    is_near(set.sent, 8, "a key sent");
    is_near(model_row_of(8, 4, true, false).memory[MODEL_PARTITION], 16, "a key read twice");
    const model_row direct = model_row_of(4, 4, false, true);
    is_near(direct.memory[MODEL_EXCHANGE] + direct.sent, 0, "what is left to exchange");
    is_near(direct.memory[MODEL_REORGANISE], 16, "a pair written to its member");
}

static void one_device(void **state)
{
    (void)state;
    const model_row row = model_row_of(4, 4, false, false);
    const model_times times = model_build(&row, &plain, 1000);
    is_near(times.seconds[MODEL_PARTITION], 40, "partition");
    is_near(times.seconds[MODEL_REORGANISE], 160, "reorganise");
    is_near(times.seconds[MODEL_EXCHANGE], 160, "exchange in memory");
    is_near(times.seconds[MODEL_BUILD], 100, "build");
    is_near(times.all, 460, "all");
}

/* Twice the devices halve the time; members of one device do not come in. */
static void different_devices_count(void **state)
{
    (void)state;
    const model_row row = model_row_of(4, 4, false, false);
    model_machine two = plain;
    two.devices = 2;
    is_near(model_build(&row, &two, 1000).all, 230, "all");
}

static void links(void **state)
{
    (void)state;
    const model_row row = model_row_of(4, 4, false, false);
    model_machine four = plain;
    four.devices = four.ends = 4;
    four.link = 1; /* 250 rows of 8 bytes from each, of which a quarter stays */
    is_near(model_build(&row, &four, 1000).seconds[MODEL_EXCHANGE], 1500, "a slow link");
    four.link = 1000;
    is_near(model_build(&row, &four, 1000).seconds[MODEL_EXCHANGE], 40,
            "memory behind a fast link");
    four.ends = 1;
    four.link = 0;
    is_near(model_build(&row, &four, 1000).seconds[MODEL_EXCHANGE], 40, "no link");
}

/* All wait for the fullest member: a tenth more is received and built. */
static void uneven_members(void **state)
{
    (void)state;
    const model_row row = model_row_of(4, 4, false, false);
    model_machine uneven = plain;
    uneven.uneven = 0.1;
    const model_times times = model_build(&row, &uneven, 1000);
    is_near(times.seconds[MODEL_EXCHANGE], 160 + 26, "exchange and waiting");
    is_near(times.seconds[MODEL_BUILD], 100, "the mean of the builds");
    is_near(times.all, 486, "all");
}

/* The fullest member of a table as the library makes it. */
static double library_uneven(uint32_t members)
{
    uint32_t counts[HEDDLE_CLUSTER_MEMBERS_MAX] = {0}, most = 0;
    hd_spread spread;
    check_ok(hd_spread_init(&spread, members, 1));
    const uint32_t bins = hd_spread_bins(&spread);
    for (uint32_t bin = 0; bin < bins; bin++)
        if (++counts[spread.owners[bin]] > most) most = counts[spread.owners[bin]];
    hd_spread_free(&spread);
    return (double)most * members / bins - 1;
}

static void bins_are_those_of_the_library(void **state)
{
    (void)state;
    for (uint32_t members = 1; members <= HEDDLE_CLUSTER_MEMBERS_MAX; members++) {
        is_near(model_uneven(members), library_uneven(members), "the share of the fullest member");
        check(model_uneven(members) <= 1 / 64.0, "%u members: %.3f uneven", members,
              model_uneven(members));
    }
}

static void larger_machines(void **state)
{
    (void)state;
    model_machine there;
    check(model_scale(&plain, 8, 50, &there), "8 members are no machine");
    check(there.devices == 8 && there.ends == 8, "8 devices have %u and %u links", there.devices,
          there.ends);
    is_near(there.link, 50, "a link");
    is_near(there.copy, plain.copy, "the memory of a device");
    is_near(there.uneven, 0, "8 of 512 bins");
    check(model_scale(&plain, 1000, 50, &there), "1000 members are no machine");
    is_near(there.uneven, 66 * 1000 / 65536.0 - 1, "66 of 65536 bins");
    check(!model_scale(&plain, HEDDLE_CLUSTER_MEMBERS_MAX + 1, 50, &there), "a group is too large");
    check(!model_scale(&plain, 0, 50, &there), "a group has no members");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_rows),           cmocka_unit_test(one_device),
        cmocka_unit_test(different_devices_count), cmocka_unit_test(links),
        cmocka_unit_test(uneven_members),          cmocka_unit_test(bins_are_those_of_the_library),
        cmocka_unit_test(larger_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
