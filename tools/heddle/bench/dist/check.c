/*
 * check.c: the model of builds (model.h) held against builds that were measured, and what it says
 * of machines that are not here. The rate of memory is that of a copy, measured in the same run by all processes at
 * once; the rate of a build is the single table's.
 */
#include <stdio.h>
#include <string.h>

#include "bench/dist/dist.h"
#include "cluster/members.h"
#include "roofs/roof.h"

#define COPY_REPEAT 5
#define COPY_BYTES_CPU (UINT64_C(1) << 28)
#define COPY_BYTES_CUDA (UINT64_C(1) << 30)

/* Bytes a second of a device, one way: what makers of links and networks state. */
static const struct machine {
    const char *name;
    uint32_t devices;
    double link;
} machines[] = {
    {"8 devices, NVLink 4", 8, 450e9},
    {"72 devices, NVLink 5", 72, 900e9},
    {"1000 nodes, 400 Gb/s", 1000, 50e9},
};

static const char *const phase_names[MODEL_PHASES] = {"partition", "reorganise", "exchange",
                                                      "build"};

/* ------------------------------------------------------------------------------------ measuring */

/* Bytes read and written a second by a copy; 0 after saying why. */
static double copy_rate(const char *name, uint32_t kind)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    hd_roof_request request = {HD_ROOF_COPY, 16, 0, 1, COPY_REPEAT, 0};
    heddle_device *device = NULL;
    double rate = 0;
    heddle_status status = heddle_device_open(name, &device);
    if (status == HEDDLE_OK) status = heddle_device_get_info(device, &info);
    if (status == HEDDLE_OK && info.kind != kind) {
        tool_say("--model needs members and a single table on devices of one kind");
    } else if (status == HEDDLE_OK) {
        request.bytes = kind == HEDDLE_DEVICE_CUDA ? COPY_BYTES_CUDA : COPY_BYTES_CPU;
        if (request.bytes > info.memory_free / 8) request.bytes = info.memory_free / 8 + 1;
        status = hd_roof_measure(device, &request, &rate);
    }
    (void)tool_try(status, "measuring the machine");
    heddle_device_close(device);
    return status == HEDDLE_OK ? rate : 0;
}

/* The kind of all members of this process; what is no kind when they differ. */
static uint32_t common_kind(const dist_team *team)
{
    uint32_t kind = 0;
    heddle_device *device;
    for (uint32_t i = 0; (device = heddle_cluster_device(team->cluster, i)) != NULL; i++) {
        heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
        (void)heddle_device_get_info(device, &info);
        if (i != 0 && info.kind != kind) return UINT32_MAX;
        kind = info.kind;
    }
    return kind;
}

/* Every process measures at the same time: `link` brings them together. */
static int measure_machine(const dist_place *place, const dist_team *team, double single,
                           model_machine *machine)
{
    const uint32_t kind = common_kind(team);
    machine->devices = place->devices(team);
    machine->link = place->link(team, machine->devices, &machine->ends);
    const double copy = copy_rate(team->single, kind);
    machine->copy = place->total(copy, machine->devices) / machine->devices;
    machine->build = place->total(single, machine->devices) / machine->devices;
    return machine->link > 0 && copy > 0 && machine->build > 0 ? TOOL_OK : TOOL_FAILED;
}

static model_row row_of(const dist_options *o, bool direct)
{
    const uint32_t value_bits = o->container == HEDDLE_CONTAINER_SET ? 0 : o->value_bits;
    return model_row_of(o->key_bits / 8, value_bits / 8, o->container == HEDDLE_CONTAINER_MULTIMAP,
                        direct);
}

int dist_check_make(const dist_options *o, const dist_place *place, const dist_team *team,
                    const dist_row *build, dist_check *check)
{
    heddle_cluster_info info = HEDDLE_CLUSTER_INFO_INIT;
    (void)heddle_cluster_get_info(team->cluster, &info); /* of a cluster that is open */
    const double own = (double)build->rows * info.local_members / info.members;
    const int status = measure_machine(place, team, own / build->single, &check->machine);
    if (status != TOOL_OK) return status;
    check->members = info.members;
    check->rows = build->rows;
    check->row = row_of(o, team->cluster->exchange->direct);
    /* Members that share a GPU do not wait for it: whoever has more to do has it to itself then. */
    const bool apart =
        check->machine.devices == info.members || common_kind(team) == HEDDLE_DEVICE_CPU;
    check->machine.uneven = apart ? build->row_imbalance : 0;
    check->predicted = model_build(&check->row, &check->machine, (double)build->rows);
    memcpy(check->measured, build->phases, sizeof check->measured);
    check->measured_all = build->seconds;
    return TOOL_OK;
}

/* --------------------------------------------------------------------------------------- report */

/* An exchange without bytes is waiting alone, of which the model knows too little for a ratio. */
static void print_ratio(double predicted, double measured, bool any)
{
    if (any && predicted > 0) (void)printf("%9.2f\n", measured / predicted);
    else (void)printf("%9s\n", "-");
}

static void print_check(const char *mark, const dist_check *k)
{
    char name[DIST_SKEW_NAME];
    dist_skew_name(&k->c.skew, name);
    (void)printf("%s\n%s%u %s on %u %s, %s, %s, %llu %s a key, %llu rows\n", mark, mark, k->members,
                 k->members == 1 ? "member" : "members", k->machine.devices,
                 k->machine.devices == 1 ? "device" : "different devices",
                 k->c.weak ? "weak" : "strong", name, (unsigned long long)k->c.copies,
                 k->c.copies == 1 ? "row" : "rows", (unsigned long long)k->rows);
    (void)printf("%s  all devices together: copy %.1f GB/s, single tables %.1f million rows/s",
                 mark, 1e-9 * k->machine.copy * k->machine.devices,
                 1e-6 * k->machine.build * k->machine.devices);
    if (k->machine.ends > 1 && k->row.sent > 0)
        (void)printf(", %u links of %.1f GB/s", k->machine.ends, 1e-9 * k->machine.link);
    (void)printf("\n%s  %-12s%12s%14s%14s%9s\n", mark, "phase", "bytes a row", "predicted ms",
                 "measured ms", "ratio");
    for (int i = 0; i < MODEL_PHASES; i++) {
        if (i == MODEL_BUILD) (void)printf("%s  %-12s%12s", mark, phase_names[i], "single");
        else (void)printf("%s  %-12s%12.0f", mark, phase_names[i], k->row.memory[i]);
        (void)printf("%14.3f%14.3f", 1e3 * k->predicted.seconds[i], 1e3 * k->measured[i]);
        print_ratio(k->predicted.seconds[i], k->measured[i],
                    i == MODEL_BUILD || k->row.memory[i] > 0);
    }
    (void)printf("%s  %-12s%12s%14.3f%14.3f", mark, "all", "", 1e3 * k->predicted.all,
                 1e3 * k->measured_all);
    print_ratio(k->predicted.all, k->measured_all, true);
}

static void print_assumptions(const char *mark, const dist_check *here, const model_row *row)
{
    (void)printf("%s\n%sother machines, by the last of these: devices like that one, %.0f rows on "
                 "each\n",
                 mark, mark, (double)here->rows / here->machine.devices);
    (void)printf("%s  of a device: copy %.1f GB/s, a single table's builds %.1f million rows/s, "
                 "measured;\n%s  link as below, as stated by its maker\n",
                 mark, 1e-9 * here->machine.copy, 1e-6 * here->machine.build, mark);
    (void)printf(
        "%s  bytes of a row: partition %.0f, reorganise %.0f, exchange %.0f in memory and\n"
        "%s  %.0f (P - 1) / P over the link, the slower counts\n",
        mark, row->memory[MODEL_PARTITION], row->memory[MODEL_REORGANISE],
        row->memory[MODEL_EXCHANGE], mark, row->sent);
    (void)printf("%s  keys spread evenly except for bins, which are not divided: all wait for the "
                 "member that owns most\n",
                 mark);
    (void)printf("%s  phases one after the other; no latency, no congestion; links move memory of "
                 "devices by\n%s  themselves; at most %d members\n%s\n",
                 mark, mark, HEDDLE_CLUSTER_MEMBERS_MAX, mark);
    (void)printf("%s  %-20s%6s%7s%11s%12s%10s%7s%8s%9s%8s\n", mark, "machine", "link", "uneven",
                 "partition", "reorganise", "exchange", "build", "effi-", "billion", "if off");
    (void)printf("%s  %-20s%6s%7s%11s%12s%10s%7s%8s%9s%8s\n", mark, "", "GB/s", "", "ms", "ms",
                 "ms", "ms", "ciency", "rows/s", "as here");
}

/* Efficiency is beside as many single tables; `off` is how wrong the model is here, and may be there. */
static void print_machine(const char *mark, const struct machine *m, const dist_check *here,
                          const model_row *row)
{
    const double rows = (double)here->rows / here->machine.devices * m->devices;
    const double off = here->measured_all / here->predicted.all;
    model_machine there;
    if (!model_scale(&here->machine, m->devices, m->link, &there)) return;
    const model_times times = model_build(row, &there, rows);
    const double rate = rows / times.all;
    (void)printf("%s  %-20s%6.0f%7.3f%11.3f%12.3f%10.3f%7.2f%8.3f%9.2f%8.2f\n", mark, m->name,
                 1e-9 * m->link, there.uneven, 1e3 * times.seconds[MODEL_PARTITION],
                 1e3 * times.seconds[MODEL_REORGANISE], 1e3 * times.seconds[MODEL_EXCHANGE],
                 1e3 * times.seconds[MODEL_BUILD], rate / (there.build * there.devices),
                 1e-9 * rate, 1e-9 * rate / off);
}

void dist_check_print(const dist_options *o, const dist_check *checks, uint32_t count)
{
    const char *mark = (o->format != BENCH_TABLE) ? "# " : "";
    const dist_check *here = &checks[count - 1];
    const model_row row = row_of(o, false);
    (void)printf("%s\n%smodel of builds; ratio: time measured beside the one predicted\n", mark,
                 mark);
    for (uint32_t i = 0; i < count; i++) print_check(mark, &checks[i]);
    print_assumptions(mark, here, &row);
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        print_machine(mark, &machines[i], here, &row);
}
