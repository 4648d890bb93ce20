/* socket_mesh.c: see socket_mesh.h. */
#define _DEFAULT_SOURCE
#include "support/socket_mesh.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------------------------- life */

void mesh_open(mesh_sockets *s, uint32_t members)
{
    s->members = members;
    for (uint32_t i = 0; i < members; i++)
        for (uint32_t j = 0; j < i; j++) {
            int ends[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
            s->ends[i][j] = ends[0];
            s->ends[j][i] = ends[1];
        }
}

static void close_ends(const mesh_sockets *s, uint32_t except)
{
    for (uint32_t i = 0; i < s->members; i++)
        for (uint32_t j = 0; j < s->members; j++)
            if (i != j && i != except) (void)close(s->ends[i][j]);
}

void mesh_close(const mesh_sockets *s) { close_ends(s, UINT32_MAX); }

void mesh_join(socket_mesh *mesh, const mesh_sockets *s, uint32_t member)
{
    memset(mesh, 0, sizeof *mesh);
    mesh->members = s->members;
    mesh->member = member;
    mesh->timeout_ms = 60000;
    mesh->dies_after = -1;
    memcpy(mesh->sockets, s->ends[member], sizeof mesh->sockets);
    close_ends(s, member);
}

/* -------------------------------------------------------------------------------------- moving */

/* 0, or 1 when the other end is gone. */
static int push(socket_mesh *mesh, int socket, mesh_line *l)
{
    size_t bytes = l->send < 65536 ? (size_t)l->send : 65536;
    ssize_t sent;
    if (mesh->dies_after >= 0 && bytes > (uint64_t)mesh->dies_after)
        bytes = (size_t)mesh->dies_after;
    if (mesh->dies_after == 0) (void)kill(getpid(), SIGKILL);
    sent = send(socket, l->from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
    l->from += sent;
    l->send -= (uint64_t)sent;
    if (mesh->dies_after >= 0) mesh->dies_after -= sent;
    return 0;
}

static int pull(int socket, mesh_line *l)
{
    const ssize_t got = recv(socket, l->to, (size_t)l->receive, MSG_DONTWAIT);
    if (got == 0) return 1;
    if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
    l->to += got;
    l->receive -= (uint64_t)got;
    return 0;
}

/* Waits for what is left; how many lines have something, or -1 when the time is up. */
static int await(const socket_mesh *mesh, const mesh_line *lines, struct pollfd *polls)
{
    int busy = 0;
    for (uint32_t i = 0; i < mesh->members; i++) {
        const bool other = i != mesh->member;
        polls[i].fd = other && (lines[i].send | lines[i].receive) != 0 ? mesh->sockets[i] : -1;
        polls[i].events =
            (short)((lines[i].send != 0 ? POLLOUT : 0) | (lines[i].receive != 0 ? POLLIN : 0));
        busy += polls[i].fd >= 0;
    }
    if (busy != 0 && poll(polls, mesh->members, 50) < 0 && errno != EINTR) return -1;
    return busy;
}

static int move(socket_mesh *mesh, mesh_line *lines)
{
    const double end = now() + 1e-3 * mesh->timeout_ms;
    struct pollfd polls[MESH_MAX];
    memset(polls, 0, sizeof polls);
    for (;;) {
        const int busy = await(mesh, lines, polls);
        if (busy == 0) return 0;
        if (busy < 0 || now() > end) return 1;
        for (uint32_t i = 0; i < mesh->members; i++) {
            if (polls[i].fd < 0) continue;
            if (lines[i].receive != 0 && (polls[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 &&
                pull(polls[i].fd, &lines[i]) != 0)
                return 1;
            if (lines[i].send != 0 && (polls[i].revents & (POLLOUT | POLLERR)) != 0 &&
                push(mesh, polls[i].fd, &lines[i]) != 0)
                return 1;
        }
    }
}

/* ---------------------------------------------------------------------------------- the transport */

/* What a member has for itself is moved at once. */
static void draw_lines(const socket_mesh *mesh, mesh_line *lines, const void *from,
                       const uint64_t *send_bytes, void *to, const uint64_t *receive_bytes)
{
    uint64_t sent = 0, received = 0;
    for (uint32_t i = 0; i < mesh->members; i++) {
        const mesh_line l = {(const char *)from + sent, (char *)to + received, send_bytes[i],
                             receive_bytes[i]};
        lines[i] = l;
        sent += send_bytes[i];
        received += receive_bytes[i];
    }
    mesh_line *own = &lines[mesh->member];
    if (own->send != 0) memcpy(own->to, own->from, own->send);
    own->send = own->receive = 0;
}

static int all_to_all(void *context, const void *from, const uint64_t *send_bytes, void *to,
                      const uint64_t *receive_bytes)
{
    socket_mesh *mesh = context;
    mesh_line lines[MESH_MAX];
    draw_lines(mesh, lines, from, send_bytes, to, receive_bytes);
    return move(mesh, lines);
}

/* Sends what the sockets take; an array waits for the one before it. */
static int all_to_all_begin(void *context, const void *from, const uint64_t *send_bytes, void *to,
                            const uint64_t *receive_bytes)
{
    socket_mesh *mesh = context;
    mesh_line *lines = mesh->begun[mesh->arrays];
    if (mesh->arrays == HEDDLE_TRANSPORT_ARRAYS) abort();
    draw_lines(mesh, lines, from, send_bytes, to, receive_bytes);
    mesh->begins++;
    for (uint32_t i = 0; i < mesh->members; i++) {
        mesh->begun_bytes += lines[i].send;
        const bool waits = mesh->arrays != 0 && mesh->begun[mesh->arrays - 1][i].send != 0;
        if (lines[i].send != 0 && !waits && push(mesh, mesh->sockets[i], &lines[i]) != 0) return 1;
    }
    mesh->arrays++;
    return 0;
}

/* The first array that has not gone, as far as the sockets take it; failures are found at the end. */
static void all_to_all_progress(void *context)
{
    socket_mesh *mesh = context;
    mesh->asked++;
    for (uint32_t i = 0; i < mesh->members && mesh->arrays != 0; i++)
        if (mesh->begun[0][i].send != 0) (void)push(mesh, mesh->sockets[i], &mesh->begun[0][i]);
}

static int all_to_all_end(void *context)
{
    socket_mesh *mesh = context;
    int failed = 0;
    for (uint32_t a = 0; a < mesh->arrays && !failed; a++) failed = move(mesh, mesh->begun[a]);
    mesh->arrays = 0;
    return failed;
}

static int reduce(void *context, uint64_t *numbers, uint64_t n, uint32_t largest)
{
    socket_mesh *mesh = context;
    mesh_line lines[MESH_MAX];
    if (mesh->room < n) {
        free(mesh->numbers);
        mesh->numbers = malloc(n * mesh->members * sizeof *numbers);
        mesh->room = n;
    }
    for (uint32_t i = 0; i < mesh->members; i++) {
        const mesh_line l = {(const char *)numbers, (char *)(mesh->numbers + i * n), n * 8, n * 8};
        lines[i] = l;
    }
    lines[mesh->member].send = lines[mesh->member].receive = 0;
    memcpy(mesh->numbers + mesh->member * n, numbers, n * 8);
    if (move(mesh, lines) != 0) return 1;
    memset(numbers, 0, n * 8);
    for (uint32_t i = 0; i < mesh->members; i++)
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t number = mesh->numbers[i * n + k];
            if (largest == 0) numbers[k] += number;
            else if (number > numbers[k]) numbers[k] = number;
        }
    return 0;
}

static int all_to_all_words(void *context, const uint64_t *send, uint64_t *receive, uint32_t words)
{
    const socket_mesh *mesh = context;
    uint64_t bytes[MESH_MAX];
    for (uint32_t i = 0; i < mesh->members; i++) bytes[i] = words * 8;
    return all_to_all(context, send, bytes, receive, bytes);
}

static void close_mesh(void *context)
{
    socket_mesh *mesh = context;
    for (uint32_t i = 0; i < mesh->members; i++)
        if (i != mesh->member) (void)close(mesh->sockets[i]);
    free(mesh->numbers);
    mesh->numbers = NULL;
}

heddle_transport mesh_transport(socket_mesh *mesh)
{
    const heddle_transport t = {
        sizeof t,   mesh->members,    mesh->member,     mesh->device_memory,
        mesh,       reduce,           all_to_all_words, all_to_all,
        close_mesh, all_to_all_begin, all_to_all_end,   all_to_all_progress};
    return t;
}
