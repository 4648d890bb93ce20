/*
 * mpi_transport.c: libheddle_mpi: a transport (heddle/unstable.h) over MPI. Uses nothing but the public
 * interface of libheddle.
 *
 * Nothing blocks: everything is begun, and then asked for until it is done or the time is up. A message is
 * cut into pieces that an int can count; a rank has some pieces under way at a time, to every other
 * rank, in an order in which they do not all begin with the same one.
 */
#define HEDDLE_UNSTABLE
#include <heddle/unstable.h>

#include "mpi/mpi_transport.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#define TIMEOUT_MS 600000
#define FAREWELL_MS 500 /* that messages have to end in when they were cancelled */
#define SPINS 2000      /* asked so often before the thread sleeps between */
#define TAG 7
#define REDUCE_MAX (UINT64_C(1) << 20) /* numbers at a time */

static uint64_t piece_bytes = UINT64_C(1) << 30;

static void (*before)(void);

void hd_mpi_set_piece(uint64_t bytes) { piece_bytes = bytes; }
void hd_mpi_set_hook(void (*hook)(void)) { before = hook; }

typedef struct transport {
    MPI_Comm comm;
    int members, member;
    uint32_t timeout_ms;
    bool lost;
    bool device_memory;    /* MPI takes memory of a GPU */
    MPI_Request *requests; /* two for every rank and array */
    int begun;             /* of them, by all_to_all_begin */
    bool failed;           /* one of these has */
    uint64_t *bounce;      /* numbers on their way */
    uint64_t bounce_numbers;
    uint64_t *places; /* where the bytes for and from every rank begin, and how far they are */
} transport;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Cancels what was begun and lets it end, since nobody may touch its memory afterwards. */
static void part_with(MPI_Request *requests, int count)
{
    const double end = now() + 1e-3 * FAREWELL_MS;
    int left;
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) (void)MPI_Cancel(&requests[i]);
    do {
        left = 0;
        for (int i = 0; i < count; i++) {
            int done = 0;
            if (requests[i] == MPI_REQUEST_NULL) continue;
            left += MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done;
        }
        (void)sched_yield();
    } while (left != 0 && now() < end);
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) (void)MPI_Request_free(&requests[i]);
}

/*
 * After a loss. Messages that come late must not be written to memory that others have by then: all of the `count`
 * requests are cancelled and waited for. A message that another rank stopped in the middle of cannot be cancelled;
 * it is given up after FAREWELL_MS. Nor can collective calls be: they write to `bounce`, which is never freed then.
 */
static int lose(transport *t, MPI_Request *requests, int count)
{
    t->lost = true;
    part_with(requests, count);
    return 1;
}

/* Until all are done; not 0 when one failed or the time is up. */
static int wait_for(transport *t, MPI_Request *requests, int count)
{
    const double end = now() + 1e-3 * t->timeout_ms;
    const struct timespec nap = {0, 20000};
    int done = 0;
    for (uint64_t asked = 0;; asked++) {
        if (MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) return 1;
        if (done) return 0;
        if (asked % 64 == 63 && now() > end) return 1;
        if (asked < SPINS) sched_yield();
        else nanosleep(&nap, NULL);
    }
}

/* ---------------------------------------------------------------------------------- small ones */

/* Room for so many numbers that a collective call may write to at any time. */
static int bounce_room(transport *t, uint64_t numbers)
{
    uint64_t *more;
    if (t->bounce_numbers >= numbers) return 0;
    more = (uint64_t *)realloc(t->bounce, numbers * sizeof *more);
    if (more == NULL) return 1;
    t->bounce = more;
    t->bounce_numbers = numbers;
    return 0;
}

static int begin_reduce(transport *t, int count, uint32_t largest, MPI_Request *request)
{
    return MPI_Iallreduce(MPI_IN_PLACE, t->bounce, count, MPI_UINT64_T,
                          largest != 0 ? MPI_MAX : MPI_SUM, t->comm, request);
}

static int reduce(void *context, uint64_t *numbers, uint64_t n, uint32_t largest)
{
    transport *t = (transport *)context;
    const uint64_t most = REDUCE_MAX;
    if (t->lost) return 1;
    if (before != NULL) before();
    if (bounce_room(t, n < most ? n : most) != 0) return lose(t, NULL, 0);
    for (uint64_t first = 0; first < n; first += most) {
        const uint64_t count = n - first < most ? n - first : most;
        MPI_Request request;
        memcpy(t->bounce, numbers + first, count * sizeof *numbers);
        if (begin_reduce(t, (int)count, largest, &request) != MPI_SUCCESS ||
            wait_for(t, &request, 1) != 0)
            return lose(t, NULL, 0);
        memcpy(numbers + first, t->bounce, count * sizeof *numbers);
    }
    return 0;
}

static int all_to_all_words(void *context, const uint64_t *send, uint64_t *receive, uint32_t words)
{
    transport *t = (transport *)context;
    const uint64_t numbers = (uint64_t)t->members * words;
    MPI_Request request;
    if (before != NULL) before();
    if (bounce_room(t, 2 * numbers) != 0) return lose(t, NULL, 0);
    memcpy(t->bounce, send, numbers * sizeof *send);
    if (MPI_Ialltoall(t->bounce, (int)words, MPI_UINT64_T, t->bounce + numbers, (int)words,
                      MPI_UINT64_T, t->comm, &request) != MPI_SUCCESS ||
        wait_for(t, &request, 1) != 0)
        return lose(t, NULL, 0);
    memcpy(receive, t->bounce + numbers, numbers * sizeof *receive);
    return 0;
}

/* ------------------------------------------------------------------------------------ all to all */

/* Both sides of an exchange: where the bytes of every rank begin. */
typedef struct traffic {
    transport *t;
    const char *from;
    char *to;
    const uint64_t *send, *receive; /* bytes */
    uint64_t *send_at, *receive_at;
} traffic;

static void find_places(const traffic *f)
{
    uint64_t sent = 0, received = 0;
    for (int i = 0; i < f->t->members; i++) {
        f->send_at[i] = sent;
        f->receive_at[i] = received;
        sent += f->send[i];
        received += f->receive[i];
    }
}

static int piece_of(uint64_t bytes, uint64_t done)
{
    const uint64_t left = bytes > done ? bytes - done : 0;
    return (int)(left < piece_bytes ? left : piece_bytes);
}

/* Begin one message behind *count requests. When that fails there is no request, whatever MPI has left there. */
static int begin_receive(transport *t, char *to, int bytes, int source, int *count)
{
    if (MPI_Irecv(to, bytes, MPI_BYTE, source, TAG, t->comm, &t->requests[*count]) != MPI_SUCCESS)
        return 1;
    ++*count;
    return 0;
}
static int begin_send(transport *t, const char *from, int bytes, int target, int *count)
{
    if (MPI_Isend(from, bytes, MPI_BYTE, target, TAG, t->comm, &t->requests[*count]) != MPI_SUCCESS)
        return 1;
    ++*count;
    return 0;
}

/* One piece to and from every other rank, from `done` bytes on; *count says how many were begun, also after a failure. */
static int begin_pieces(const traffic *f, uint64_t done, int *count)
{
    transport *t = f->t;
    for (int step = 1; step < t->members; step++) {
        const int source = (t->member + t->members - step) % t->members;
        const int bytes = piece_of(f->receive[source], done);
        if (bytes != 0 &&
            begin_receive(t, f->to + f->receive_at[source] + done, bytes, source, count) != 0)
            return 1;
    }
    for (int step = 1; step < t->members; step++) {
        const int target = (t->member + step) % t->members;
        const int bytes = piece_of(f->send[target], done);
        if (bytes != 0 &&
            begin_send(t, f->from + f->send_at[target] + done, bytes, target, count) != 0)
            return 1;
    }
    return 0;
}

/* What a rank has for itself; memory of a GPU goes by MPI too, which knows how. */
static int keep_own(const traffic *f)
{
    transport *t = f->t;
    const uint64_t bytes = f->send[t->member];
    const char *from = f->from + f->send_at[t->member];
    char *to = f->to + f->receive_at[t->member];
    if (!t->device_memory) {
        if (bytes != 0) memcpy(to, from, bytes);
        return 0;
    }
    for (uint64_t done = 0; done < bytes; done += piece_bytes) {
        const int n = piece_of(bytes, done);
        int count = t->begun;
        if (begin_receive(t, to + done, n, t->member, &count) != 0 ||
            begin_send(t, from + done, n, t->member, &count) != 0 ||
            wait_for(t, t->requests + t->begun, count - t->begun) != 0)
            return lose(t, t->requests, count);
    }
    return 0;
}

/* The bytes of the longest message to or from another rank. */
static uint64_t longest_message(const traffic *f)
{
    uint64_t longest = 0;
    for (int i = 0; i < f->t->members; i++) {
        if (i == f->t->member) continue;
        if (f->send[i] > longest) longest = f->send[i];
        if (f->receive[i] > longest) longest = f->receive[i];
    }
    return longest;
}

static traffic traffic_of(transport *t, const void *from, const uint64_t *send_bytes, void *to,
                          const uint64_t *receive_bytes)
{
    const traffic f = {t,         (const char *)from,    (char *)to, send_bytes, receive_bytes,
                       t->places, t->places + t->members};
    find_places(&f);
    return f;
}

/* Piece after piece, behind what has been begun. */
static int move_pieces(const traffic *f)
{
    transport *t = f->t;
    for (uint64_t done = 0, longest = longest_message(f); done < longest; done += piece_bytes) {
        int count = t->begun;
        if (begin_pieces(f, done, &count) != 0 ||
            wait_for(t, t->requests + t->begun, count - t->begun) != 0)
            return lose(t, t->requests, count);
    }
    return 0;
}

static int all_to_all(void *context, const void *from, const uint64_t *send_bytes, void *to,
                      const uint64_t *receive_bytes)
{
    transport *t = (transport *)context;
    const traffic f = traffic_of(t, from, send_bytes, to, receive_bytes);
    if (before != NULL) before();
    return keep_own(&f) != 0 ? 1 : move_pieces(&f);
}

/* What takes several pieces is moved at once. */
static int all_to_all_begin(void *context, const void *from, const uint64_t *send_bytes, void *to,
                            const uint64_t *receive_bytes)
{
    transport *t = (transport *)context;
    const traffic f = traffic_of(t, from, send_bytes, to, receive_bytes);
    int count = t->begun;
    if (before != NULL) before();
    if (keep_own(&f) != 0) return 1;
    if (longest_message(&f) > piece_bytes) return move_pieces(&f);
    if (begin_pieces(&f, 0, &count) != 0) return lose(t, t->requests, count);
    t->begun = count;
    return 0;
}

/* Whether they are done, and whether one has failed, is asked again at the end. */
static void all_to_all_progress(void *context)
{
    transport *t = (transport *)context;
    int done;
    if (t->begun != 0 && !t->failed)
        t->failed = MPI_Testall(t->begun, t->requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
}

static int all_to_all_end(void *context)
{
    transport *t = (transport *)context;
    const int count = t->begun;
    if (before != NULL) before();
    t->begun = 0;
    return t->failed || wait_for(t, t->requests, count) != 0 ? lose(t, t->requests, count) : 0;
}

/* ---------------------------------------------------------------------------------------- life */

/* As the user says, else as MPI does; only Open MPI can be asked. */
static bool takes_device_memory(void)
{
    const char *said = getenv("HEDDLE_MPI_CUDA");
    if (said != NULL && (strcmp(said, "0") == 0 || strcmp(said, "1") == 0)) return said[0] == '1';
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

/* A communicator that has lost a rank is left alone: to free it, or to have it made, would wait for that rank. */
static void close_transport(void *context)
{
    transport *t = (transport *)context;
    free(t->requests);
    free(t->places);
    if (t->lost) return; /* MPI may yet write to `bounce` and `comm` */
    MPI_Comm_free(&t->comm);
    free(t->bounce);
    free(t);
}

/* Makes the communicator and all arrays, or says that the others, or the memory, are missing. */
static int fill_in(transport *t, MPI_Comm comm)
{
    MPI_Request request;
    uint64_t without;
    if (MPI_Comm_idup(comm, &t->comm, &request) != MPI_SUCCESS || wait_for(t, &request, 1) != 0)
        return lose(t, NULL, 0);
    MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(t->comm, &t->member);
    MPI_Comm_size(t->comm, &t->members);
    t->requests = (MPI_Request *)calloc(2 * (size_t)t->members * HEDDLE_TRANSPORT_ARRAYS,
                                        sizeof *t->requests);
    t->places = (uint64_t *)calloc(2 * (size_t)t->members, sizeof *t->places);
    without = t->requests == NULL || t->places == NULL;
    if (reduce(t, &without, 1, 1) != 0) return 1;
    return without != 0 ? lose(t, NULL, 0) : 0;
}

/* One that is lost already where not all ranks came: libheddle says so. */
static transport *make_transport(MPI_Comm comm, uint32_t timeout_ms)
{
    transport *t = (transport *)calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->timeout_ms = timeout_ms != 0 ? timeout_ms : TIMEOUT_MS;
    t->device_memory = takes_device_memory();
    if (fill_in(t, comm) == 0) return t;
    t->members = 1;
    t->member = 0;
    return t;
}

/*
 * "cuda:" is the GPU of this rank among those of its machine. All ranks ask which that is, since others may have another
 * device. MPI has no call for it that does not block; all ranks were there a moment ago.
 */
static const char *name_device(const transport *t, const char *device, char *name, size_t size)
{
    const uint32_t gpus = heddle_cuda_device_count();
    MPI_Comm machine;
    int rank = 0;
    if (!t->lost && MPI_Comm_split_type(t->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                        &machine) == MPI_SUCCESS) {
        MPI_Comm_rank(machine, &rank);
        MPI_Comm_free(&machine);
    }
    if (device == NULL || strcmp(device, "cuda:") != 0) return device;
    snprintf(name, size, "cuda:%u", gpus != 0 ? (uint32_t)rank % gpus : 0);
    return name;
}

heddle_status heddle_mpi_open(MPI_Comm comm, const char *device,
                              const heddle_cluster_options *options, heddle_cluster **cluster)
{
    heddle_transport public_face;
    transport *t = NULL;
    char name[32];
    int ready = 0;
    MPI_Initialized(&ready);
    memset(&public_face, 0, sizeof public_face);
    if (ready && cluster != NULL) t = make_transport(comm, heddle_transport_timeout(options));
    if (t == NULL) /* libheddle says what is missing */
        return heddle_cluster_open_over(NULL, device, options, cluster);
    public_face.size = sizeof public_face;
    public_face.members = (uint32_t)t->members;
    public_face.member = (uint32_t)t->member;
    public_face.device_memory = t->device_memory;
    public_face.context = t;
    public_face.reduce = reduce;
    public_face.all_to_all_words = all_to_all_words;
    public_face.all_to_all = all_to_all;
    public_face.close = close_transport;
    public_face.all_to_all_begin = all_to_all_begin;
    public_face.all_to_all_end = all_to_all_end;
    public_face.all_to_all_progress = all_to_all_progress;
    return heddle_cluster_open_over(&public_face, name_device(t, device, name, sizeof name),
                                    options, cluster);
}
