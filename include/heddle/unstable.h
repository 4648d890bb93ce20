/*
 * unstable.h: what may change with every release, whatever HEDDLE_ABI_VERSION says. A program that
 * uses it is built together with the library. It says so by
 *
 *     #define HEDDLE_UNSTABLE
 *     #include <heddle/unstable.h>
 */
#ifndef HEDDLE_UNSTABLE_H
#define HEDDLE_UNSTABLE_H

#ifndef HEDDLE_UNSTABLE
#error "heddle/unstable.h is outside the ABI promise: define HEDDLE_UNSTABLE before you include it"
#endif

#include <heddle/cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------- transports */

/*
 * How members of different processes reach each other, for libraries that bring them together, such
 * as libheddle_mpi (heddle/mpi.h).
 *
 * Every process has one member. All functions are called by all members in the same order, with
 * host memory (with device memory too where `device_memory` is not 0), and return 0, or another
 * number when a member is lost or does not answer in time; after that they are not called any more.
 */
typedef struct heddle_transport {
    uint32_t size;          /* sizeof(heddle_transport) */
    uint32_t members;       /* processes */
    uint32_t member;        /* this one */
    uint32_t device_memory; /* 1: arrays of all_to_all may be memory of a GPU */
    void *context;          /* handed to the functions */
    /* numbers[i] becomes the sum, with `largest` not 0 the largest, of all members' numbers[i]. */
    int (*reduce)(void *context, uint64_t *numbers, uint64_t n, uint32_t largest);
    /* `words` numbers for every member, and from every member. */
    int (*all_to_all_words)(void *context, const uint64_t *send, uint64_t *receive, uint32_t words);
    /* Bytes for member 0, then for member 1, ...; `to` receives bytes likewise. Any number. */
    int (*all_to_all)(void *context, const void *from, const uint64_t *send_bytes, void *to,
                      const uint64_t *receive_bytes);
    /* Ends it; NULL is accepted. */
    void (*close)(void *context);
    /*
     * NULL, or all_to_all in two halves: up to HEDDLE_TRANSPORT_ARRAYS arrays are begun. They are
     * left alone until `all_to_all_end` returns: all of them have been moved then. Between the
     * halves only all_to_all_progress is called. A member may take the halves where another makes
     * the one call.
     */
    int (*all_to_all_begin)(void *context, const void *from, const uint64_t *send_bytes, void *to,
                            const uint64_t *receive_bytes);
    /* The second half: returns when all arrays that were begun have been moved. */
    int (*all_to_all_end)(void *context);
    /*
     * NULL, or called between the halves, any number of times: moves the arrays that were begun as
     * far as is possible without waiting.
     */
    void (*all_to_all_progress)(void *context);
} heddle_transport;
#define HEDDLE_TRANSPORT_ARRAYS 2 /* arrays that may be begun at a time */

/*
 * timeout_ms of these options (NULL: the defaults), for the transport that is to be made: 0 where
 * they leave it open. It is 0 also where heddle_cluster_open_over will refuse them.
 */
HEDDLE_API uint32_t heddle_transport_timeout(const heddle_cluster_options *options);
/*
 * Opens a cluster of as many processes, each with one device; cluster.h says how they work
 * together. The transport is closed with the cluster, also when this fails.
 */
HEDDLE_API heddle_status heddle_cluster_open_over(const heddle_transport *transport,
                                                  const char *device,
                                                  const heddle_cluster_options *options,
                                                  heddle_cluster **cluster);

/* --------------------------------------------------------------------------------------- views */

#define HEDDLE_VIEW_MULTIMAP UINT32_C(0x10000) /* added to a scheme for heddle_table_get_view */
/*
 * Writes what your own kernel needs to know of a table; heddle/device.cuh calls it. `view` receives
 * `bytes` bytes; what they mean is not part of the stable ABI. The table must be the compiled
 * instance that is named, else HEDDLE_ERROR_INVALID, and on a GPU and no hashgraph, else
 * HEDDLE_ERROR_UNSUPPORTED. `scheme` is HEDDLE_SCHEME_*, with HEDDLE_VIEW_MULTIMAP added for a
 * multimap by open or slab. A view is valid until the table grows, is rehashed or destroyed; a view
 * of bucket lists or of a slab hash until a call changes the table. For bucket lists the call
 * allocates and synchronises the first time.
 */
HEDDLE_API heddle_status heddle_table_get_view(heddle_table *table, uint32_t scheme,
                                               uint32_t key_bits, uint32_t value_bits,
                                               uint32_t bucket, void *view, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
