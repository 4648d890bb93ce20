/*
 * same_machine.h: processes of one machine whose devices read each other's memory: what they have for each other need not go
 * through the host.
 *
 * Every such member has shared memory: memory of its device that the others have opened (`share` in engine/engine.h). It puts
 * there what is for them, tells them where, and they fetch it. Shared memory grows by being replaced; others learn from
 * its generation, which travels with the counts of an exchange, that they have to open another.
 */
#ifndef HD_SAME_MACHINE_H
#define HD_SAME_MACHINE_H

#define HEDDLE_UNSTABLE
#include <heddle/unstable.h>

#include <heddle/cluster.h>

#include "engine/engine.h"

typedef struct hd_shared_peer {
    bool readable;                /* this member reads the other's memory, */
    bool reads;                   /* and the other reads this member's */
    uint64_t machine;             /* of the other; 0: it takes no part */
    uint64_t generation;          /* of its memory, as all members know it */
    uint64_t key[HD_SHARE_WORDS]; /* of that memory */
    void *memory;                 /* opened; NULL: not yet */
} hd_shared_peer;

typedef struct hd_shared {
    const heddle_transport *transport;
    heddle_device *device;
    bool any; /* some member reads the memory of another; all know */
    void *memory;
    uint64_t bytes, generation; /* 0: nothing is shared */
    uint64_t key[HD_SHARE_WORDS];
    void *former; /* that others may have open still */
    hd_shared_peer *peers;
    uint64_t *words; /* HD_SHARE_WORDS to send to every member, and from every member */
} hd_shared;

/* Host memory for as many members; no member has learnt anything yet. */
heddle_status hd_shared_make(hd_shared *shared, const heddle_transport *transport);
/*
 * Waits until no member has memory of another open, unless one is `lost`: then this member's own memory stays until the
 * process ends, since others may be reading it.
 */
void hd_shared_free(hd_shared *shared, bool lost);
/*
 * Finds out who reads whose memory. `takes_part`: this member would rather not go through the host. Made by all members
 * together; HEDDLE_ERROR_PEER when one is lost, and no other failure.
 */
heddle_status hd_shared_learn(hd_shared *shared, heddle_device *device, bool takes_part);
/* The shared memory has so many bytes at least. What is in it may be lost. */
heddle_status hd_shared_room(hd_shared *shared, uint64_t bytes);
/*
 * The shared memory of all members has these generations, one every `step` words. Where one has changed, members close what
 * they had opened, and learn the keys of the others. Made by all; HEDDLE_ERROR_PEER when one is lost.
 */
heddle_status hd_shared_follow(hd_shared *shared, const uint64_t *generations, uint32_t step);
/* The memory of all that this member reads has been opened. */
heddle_status hd_shared_open(hd_shared *shared);

#endif
