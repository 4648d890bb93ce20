/*
 * same_machine.h: processes of one machine whose devices read each other's memory: what they have for each other need not go
 * through the host.
 *
 * Every such member has a window: memory of its device that the others have opened (`share` in engine/engine.h). It puts
 * there what is for them, tells them where, and they fetch it. A window grows by being replaced; others learn from
 * its generation, which travels with the counts of an exchange, that they have to open another.
 */
#ifndef HD_NEAR_H
#define HD_NEAR_H

#include <heddle/cluster.h>

#include "engine/engine.h"

typedef struct hd_near_peer {
    bool near;                    /* this member reads the other's window, */
    bool reads;                   /* and the other reads this member's */
    uint64_t machine;             /* of the other; 0: it takes no part */
    uint64_t generation;          /* of its window, as all members know it */
    uint64_t key[HD_SHARE_WORDS]; /* of that window */
    void *window;                 /* opened; NULL: not yet */
} hd_near_peer;

typedef struct hd_near {
    const heddle_transport *transport;
    heddle_device *device;
    bool any; /* some member reads the window of another; all know */
    void *window;
    uint64_t bytes, generation; /* 0: there is no window */
    uint64_t key[HD_SHARE_WORDS];
    void *former; /* that others may have open still */
    hd_near_peer *peers;
    uint64_t *words; /* HD_SHARE_WORDS to send to every member, and from every member */
} hd_near;

/* Memory for as many members; nothing is told. */
heddle_status hd_near_make(hd_near *near, const heddle_transport *transport);
/*
 * Waits until no member has a window of another open, unless one is `lost`: then this member's own window stays until the
 * process ends, since others may be reading it.
 */
void hd_near_free(hd_near *near, bool lost);
/*
 * Finds out who reads whose memory. `takes_part`: this member would rather not go through the host. Made by all members
 * together; HEDDLE_ERROR_PEER when one is lost, and no other failure.
 */
heddle_status hd_near_learn(hd_near *near, heddle_device *device, bool takes_part);
/* The window has so many bytes at least. What is in it may be lost. */
heddle_status hd_near_room(hd_near *near, uint64_t bytes);
/*
 * The windows of all members have these generations, one every `step` words. Where that is news, members close the
 * windows that they had, and learn the keys of the others. Made by all; HEDDLE_ERROR_PEER when one is lost.
 */
heddle_status hd_near_follow(hd_near *near, const uint64_t *generations, uint32_t step);
/* The windows of all that are near have been opened. */
heddle_status hd_near_open(hd_near *near);

#endif
