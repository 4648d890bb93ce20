/*
 * cluster_process.h: one process of a cluster, in tests that fork several, which reach each other over sockets
 * (socket_mesh.h): what it has, the calls that such tests make, and how it ends. It uses no cmocka, which is the
 * parent's: it says what is wrong and exits.
 */
#ifndef TEST_GROUP_PROCESS_H
#define TEST_GROUP_PROCESS_H

#include <heddle/heddle.h>
#include <stdio.h>
#include <unistd.h>

#include "support/socket_mesh.h"

#define PROCESS_ROWS_MAX 3000

/* Memory of the devices: the host's, or as if it were their own, and staged, or taken by the transport, or read by others. */
enum { MEMORY_HOST, MEMORY_STAGED, MEMORY_TAKEN, MEMORY_READ };

typedef struct cluster_process {
    uint64_t rows; /* that calls give */
    uint32_t keys[PROCESS_ROWS_MAX], values[PROCESS_ROWS_MAX], answers[PROCESS_ROWS_MAX];
    uint64_t numbers[4 * PROCESS_ROWS_MAX + 1];
    uint8_t found[PROCESS_ROWS_MAX];
    socket_mesh mesh;
    heddle_cluster *cluster;
    heddle_cluster_table *table;
    heddle_cluster_groups *by;
} cluster_process;

extern cluster_process process;

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "member %u: ", process.mesh.member);                             \
            (void)fprintf(stderr, __VA_ARGS__);                                                    \
            (void)fprintf(stderr, " (%s)\n", heddle_last_error());                                 \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* Becomes a member of the mesh whose device has this memory. */
void process_join(const mesh_sockets *sockets, uint32_t member, uint32_t memory);

heddle_status call_build(void);
heddle_status call_insert(void);
heddle_status call_erase(void);
heddle_status call_find(void);
heddle_status call_retrieve(void);
heddle_status call_join(void);
heddle_status call_group_by(void);
heddle_status call_aggregate(void);
heddle_status call_of_rows(void);

#endif
