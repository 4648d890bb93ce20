/*
 * members.h: a cluster and its members of this process, and what every member has to work with.
 *
 * A call on a cluster is made by the caller's thread, which lets every local member do its work (hd_crew_run),
 * each on a thread of its own. What members have to tell each other goes through the exchange. The work
 * returns a status that all members have agreed upon (cluster/exchange/exchange.h), never one of its own.
 */
#ifndef HD_MEMBERS_H
#define HD_MEMBERS_H

#include <heddle/cluster.h>

#include "cluster/crew.h"
#include "cluster/exchange/exchange.h"
#include "host/conveyor.h"
#include "host/lent.h"
#include "route/route.h"

struct hd_member {
    heddle_cluster *cluster;
    uint32_t number; /* among all members */
    uint32_t local;  /* among those of this process */
    heddle_device *device;
    hd_conveyor conveyor;          /* for long arrays of the host */
    double seconds[HEDDLE_PHASES]; /* of the call at work */
    double since;                  /* when the phase at work began */
    heddle_status status;          /* of its last work */
    char reason[256];              /* why it failed */
};

struct heddle_cluster {
    hd_exchange *exchange;
    hd_member *members; /* of this process */
    hd_crew *crew;
    heddle_device *accelerator; /* the first member's that is not the host; NULL: all are */
    bool many_accelerators;     /* members have different ones */
    uint64_t slice;             /* as the caller wants it; 0: as suits the device */
    pthread_mutex_t lock;       /* of the call at work */
    uint32_t tables;
};

/* Makes a cluster of devices, one for every local member of the exchange; owns both, unless it fails. */
heddle_status hd_cluster_make(hd_exchange *exchange, heddle_device **devices,
                              const heddle_cluster_options *options, heddle_cluster **cluster);
heddle_status hd_cluster_options_read(const heddle_cluster_options *given,
                                      heddle_cluster_options *options);

/* Keys that a member works on at a time; `large` where every piece of work costs more than its keys. */
uint64_t hd_member_slice(const hd_member *member, bool large);
/*
 * The same where slices go through engine/owners.h, `row_bytes` of scratch memory being needed for every key: more
 * on a GPU that has the memory, so that there are fewer rounds in which members wait for each other.
 */
uint64_t hd_member_long_slice(const hd_member *member, uint64_t n, uint32_t row_bytes);
/* A member begins its work; and the time since then, or since the last phase ended, belongs to this phase. */
void hd_phases_begin(hd_member *member);
void hd_phase(hd_member *member, uint32_t phase);
/* Elements [*first, *first + *count) of n are those of a local member. */
void hd_member_part(const hd_member *member, uint64_t n, uint64_t *first, uint64_t *count);

static inline hd_exchange *hd_exchange_of(const hd_member *member)
{
    return member->cluster->exchange;
}
static inline heddle_status hd_member_agree(const hd_member *member, heddle_status mine)
{
    return hd_agree(hd_exchange_of(member), member->number, mine);
}

/* ------------------------------------------------------------------------------------- memory */

/*
 * A caller's array, or a part of it, where the member can use it: there, or in the buffer, with what is in the array if
 * `read`. NULL stays NULL. hd_member_take_back brings what was written to the caller's array.
 */
heddle_status hd_member_lend(hd_member *member, const void *user, uint64_t bytes, bool read,
                             hd_buffer *buffer, hd_lent *lent);
heddle_status hd_member_take_back(hd_member *member, const hd_lent *lent);
/* Whether the tables of a member take this pointer in a call. */
bool hd_member_takes(const hd_member *member, const void *user);
/* Copies between a member's memory and a caller's array, and waits. */
heddle_status hd_member_copy(hd_member *member, void *to, const void *from, uint64_t bytes);

#endif
