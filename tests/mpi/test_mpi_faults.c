/*
 * test_mpi_faults.c: MPI fails to begin a message, on one rank, at each place where one is begun: that rank and all others
 * get HEDDLE_ERROR_PEER, every message that was begun before has ended or been given up, since its memory is freed soon, and
 * nothing is touched that was never begun. MPI's calls come by here on their way (its profiling interface).
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "cluster/exchange/exchange.h"
#include "cluster/exchange/same_machine.h"
#include "mpi/mpi_transport.h"
#include "support/cluster_model.h"

#define TIMEOUT_MS 1000
#define ROWS 2000
#define LIVE_MAX 256

static int rank, ranks;
static int receives_left = -1, sends_left = -1; /* until one fails; negative: none does */
static MPI_Request live[LIVE_MAX];              /* messages that were begun and have not ended */
static int lives, strangers;                    /* and requests that MPI never gave, cancelled */

/* ----------------------------------------------------------------------------------- on the way */

static int find(MPI_Request request)
{
    for (int i = 0; i < lives; i++)
        if (live[i] == request) return i;
    return -1;
}
static void ended(MPI_Request request)
{
    const int i = find(request);
    if (i >= 0) live[i] = live[--lives];
}
static int begun(int status, const MPI_Request *request)
{
    if (lives < LIVE_MAX) live[lives++] = *request;
    return status;
}
/* MPI does not say what it leaves in a request that it did not make. */
static int fails(MPI_Request *request)
{
    memset(request, 0x5a, sizeof *request);
    return MPI_ERR_OTHER;
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (receives_left >= 0 && receives_left-- == 0) return fails(request);
    return begun(PMPI_Irecv(to, count, type, source, tag, comm, request), request);
}
int MPI_Isend(const void *from, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (sends_left >= 0 && sends_left-- == 0) return fails(request);
    return begun(PMPI_Isend(from, count, type, target, tag, comm, request), request);
}
int MPI_Cancel(MPI_Request *request)
{
    if (find(*request) >= 0) return PMPI_Cancel(request);
    strangers++;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    const MPI_Request before = *request;
    const int result = PMPI_Test(request, done, status);
    if (*done) ended(before);
    return result;
}
int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[])
{
    MPI_Request before[LIVE_MAX];
    memcpy(before, requests, (size_t)count * sizeof *before);
    const int result = PMPI_Testall(count, requests, done, statuses);
    for (int i = 0; i < count && *done; i++) ended(before[i]);
    return result;
}
int MPI_Request_free(MPI_Request *request)
{
    ended(*request);
    return PMPI_Request_free(request);
}

/* ---------------------------------------------------------------------------------------- tests */

/* Memory of the devices: the host's, or as if it were their own, and staged, or taken by MPI. */
enum { MEMORY_HOST, MEMORY_STAGED, MEMORY_TAKEN };

static uint32_t keys[ROWS], values[ROWS];

/* The last rank cannot begin the message after so many receives or sends of an insertion; negative: it can. */
static void fail_to_begin(int memory, int receives, int sends)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *table = NULL;
    uint64_t size = 0;
    case_note("after %d receives, %d sends, memory %d", receives, sends, memory);
    options.slice = 500;
    options.timeout_ms = TIMEOUT_MS;
    MPI_Barrier(MPI_COMM_WORLD);
    check(setenv("HEDDLE_MPI_CUDA", memory == MEMORY_TAKEN ? "1" : "0", 1) == 0, "setenv");
    hd_tune.transport_apart = memory != MEMORY_HOST;
    hd_tune.never_shared = true;
    check_ok(heddle_mpi_open(MPI_COMM_WORLD, "cpu:1", &options, &cluster));
    hd_tune.transport_apart = false;
    hd_tune.never_shared = false;
    check_ok(heddle_cluster_table_create(cluster, NULL, NULL, &table));
    receives_left = rank == ranks - 1 ? receives : -1;
    sends_left = rank == ranks - 1 ? sends : -1;
    check_status(heddle_cluster_table_insert(table, keys, values, ROWS, NULL, NULL),
                 HEDDLE_ERROR_PEER);
    check(rank != ranks - 1 || (receives_left < 0 && sends_left < 0), "MPI did not fail");
    check(lives == 0, "rank %d: %d messages are still on their way", rank, lives);
    check(strangers == 0, "rank %d: %d requests were never made", rank, strangers);
    check_status(heddle_cluster_table_size(table, &size), HEDDLE_ERROR_CORRUPT);
    heddle_cluster_table_destroy(table);
    heddle_cluster_close(cluster);
}

static void messages_that_do_not_begin(void **state)
{
    const int others = ranks - 1;
    (void)state;
    for (int memory = MEMORY_HOST; memory < MEMORY_TAKEN; memory++) {
        fail_to_begin(memory, others - 1, -1);     /* the last receive of the first array */
        fail_to_begin(memory, -1, 2 * others - 1); /* the last send of the second */
    }
    fail_to_begin(MEMORY_TAKEN, 0, -1);          /* what a rank has for itself */
    fail_to_begin(MEMORY_TAKEN, -1, 0);          /* likewise, to itself */
    fail_to_begin(MEMORY_TAKEN, others + 1, -1); /* that of the second array */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {ONCE(messages_that_do_not_begin)};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (uint32_t i = 0; i < ROWS; i++) keys[i] = i * 7 + (uint32_t)rank;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
