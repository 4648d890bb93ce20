/*
 * bench_mpi.c: `heddle bench dist` over ranks of MPI: mpirun -n N heddle-mpi [options]. --devices names the
 * device of every rank. There is no single table beside it but with --model, where every rank has one of its own rows:
 * all build theirs at about the same time, as the members do. With --members the first ranks make the clusters, and the
 * others wait.
 */
#include <heddle/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/dist/dist.h"

#define LINK_BYTES (1 << 24) /* that a rank sends */
#define LINK_REPEAT 5

static MPI_Comm team_comm = MPI_COMM_NULL; /* the ranks of the cluster at work */

static int rank_of(MPI_Comm comm)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

static int open_ranks(const dist_options *o, uint32_t members, dist_team *team)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    const uint32_t ranks = (uint32_t)size_of(MPI_COMM_WORLD);
    if (members > ranks)
        return rank_of(MPI_COMM_WORLD) == 0
                   ? tool_refuse("--members %u is more than the %u ranks", members, ranks)
                   : TOOL_REFUSED;
    const bool in = members == 0 || (uint32_t)rank_of(MPI_COMM_WORLD) < members;
    if (team_comm != MPI_COMM_NULL) MPI_Comm_free(&team_comm);
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, 0, &team_comm);
    options.slice = o->slice;
    if (o->single != NULL) (void)snprintf(team->single, sizeof team->single, "%s", o->cluster);
    return in ? tool_try(heddle_mpi_open(team_comm, o->cluster, &options, &team->cluster),
                         "opening")
              : TOOL_OK;
}

static int agree_ranks(int status)
{
    int worst = status;
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

static double total_ranks(double mine, uint32_t devices)
{
    double sum = 0;
    (void)devices;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, team_comm);
    return sum;
}

/* A rank whose device k ranks of its machine have is a k-th of a device. */
static uint32_t count_devices(const dist_team *team)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    MPI_Comm machine = MPI_COMM_NULL;
    int sharers = 0;
    (void)heddle_device_get_info(heddle_cluster_device(team->cluster, 0), &info);
    const int mine = info.kind == HEDDLE_DEVICE_CPU ? -1 : info.index;
    MPI_Comm_split_type(team_comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    const int ranks = size_of(machine);
    int *all = (int *)malloc((size_t)ranks * sizeof *all);
    if (all == NULL) MPI_Abort(MPI_COMM_WORLD, TOOL_FAILED);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, machine);
    for (int i = 0; i < ranks; i++) sharers += all[i] == mine;
    free(all);
    MPI_Comm_free(&machine);
    return (uint32_t)(total_ranks(1.0 / sharers, 0) + 0.5);
}

/* All to all from host memory: what goes to the rank itself does not count. */
static double link_ranks(const dist_team *team, uint32_t devices, uint32_t *ends)
{
    const int ranks = size_of(team_comm), piece = LINK_BYTES / ranks;
    char *memory = (char *)calloc(2 * (size_t)ranks, (size_t)piece);
    double times[LINK_REPEAT];
    (void)team;
    (void)devices;
    if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, TOOL_FAILED);
    for (int i = -1; i < LINK_REPEAT; i++) { /* the first does not count */
        MPI_Barrier(team_comm);
        const double begin = dist_now();
        MPI_Alltoall(memory, piece, MPI_BYTE, memory + (size_t)ranks * (size_t)piece, piece,
                     MPI_BYTE, team_comm);
        times[i < 0 ? 0 : i] = dist_now() - begin;
    }
    free(memory);
    *ends = (uint32_t)ranks;
    return ranks > 1 ? (double)piece * (ranks - 1) / dist_median(times, LINK_REPEAT) : 1;
}

static int run(const tool_command *command, int argc, char **argv);

static const tool_command page = {
    .name = "bench dist",
    .summary = "heddle-mpi: the same under mpirun; --devices names the device of every rank",
    .text = dist_text,
    .options = dist_option_list,
    .option_count = DIST_OPTION_COUNT,
    .run = run,
};

/* What help looks through. */
const tool_command *const tool_commands[] = {&page, NULL};

static int run(const tool_command *command, int argc, char **argv)
{
    static const dist_place place = {open_ranks, agree_ranks, count_devices, total_ranks,
                                     link_ranks};
    dist_options o;
    int status = dist_options_read(command, argc, argv, &o);
    if (strchr(o.cluster, ',') != NULL) o.cluster = "cpu:1";
    if (!o.model) o.single = NULL;
    if (status == TOOL_OK) status = dist_sweep(&o, &place, argc, argv);
    if (team_comm != MPI_COMM_NULL) MPI_Comm_free(&team_comm);
    return status;
}

/* Every rank is asked, and the first answers. */
static bool asks(int argc, char **argv, const char *name, const char *letter)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0 || strcmp(argv[i], letter) == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    int status = TOOL_OK;
    MPI_Init(&argc, &argv);
    const bool first = rank_of(MPI_COMM_WORLD) == 0;
    if (asks(argc, argv, "--help", "-h")) {
        if (first) command_help(&page, stdout);
    } else if (asks(argc, argv, "--version", "-V")) {
        if (first) (void)printf("heddle-mpi %s\n", heddle_version_string());
    } else status = run(&page, argc, argv);
    MPI_Finalize();
    return status;
}
