/*
 * socket_mesh.h: processes of a test that reach each other over sockets, as a heddle_transport: for tests in which
 * processes die, which need no MPI and know at once.
 */
#ifndef TEST_SOCKET_MESH_H
#define TEST_SOCKET_MESH_H

#define HEDDLE_UNSTABLE
#include <heddle/unstable.h>

#define MESH_MAX 8

/* What goes to and comes from one other member. */
typedef struct mesh_line {
    const char *from;
    char *to;
    uint64_t send, receive; /* bytes that are left */
} mesh_line;

typedef struct socket_mesh {
    uint32_t members, member;
    uint32_t timeout_ms;
    int sockets[MESH_MAX]; /* to every other member */
    uint64_t *numbers;     /* of all members */
    uint64_t room;
    int64_t dies_after; /* so many bytes sent this process kills itself; negative: it does not */
    /* What heddle_transport.device_memory says; set before mesh_transport. Host memory stands for a device's. */
    uint32_t device_memory;
    mesh_line begun[HEDDLE_TRANSPORT_ARRAYS][MESH_MAX]; /* arrays that were begun and not ended */
    uint32_t arrays;                                    /* how many */
    uint64_t begins;                                    /* so far */
    uint64_t asked;                                     /* between the halves */
    uint64_t begun_bytes;                               /* that were sent to others so */
} socket_mesh;

/* Sockets between all of them, before the processes are forked. */
typedef struct mesh_sockets {
    uint32_t members;
    int ends[MESH_MAX][MESH_MAX]; /* [i][j]: the end of i towards j */
} mesh_sockets;

void mesh_open(mesh_sockets *sockets, uint32_t members);
/* In the parent: the sockets are the children's alone. */
void mesh_close(const mesh_sockets *sockets);
/* In a child: becomes a member and drops the sockets of the others. */
void mesh_join(socket_mesh *mesh, const mesh_sockets *sockets, uint32_t member);
heddle_transport mesh_transport(socket_mesh *mesh);

#endif
