/*
 * transport.h: what the exchange of processes is made of: transport.c, which agrees and moves, and
 * transport_ways.c, which brings arrays out of and into the memory of a device.
 *
 * What a member has for another goes one of three ways. Its own stays where it is, on its device. What is for a
 * process of the same machine waits in a memory that this one reads (same_machine.h). Everything else goes by the transport, and
 * where that does not take memory of devices, through pinned host memory. A member whose device is the host, or whose
 * memory the transport takes, has all go by the transport.
 */
#ifndef HD_TRANSPORT_EXCHANGE_H
#define HD_TRANSPORT_EXCHANGE_H

#define HEDDLE_UNSTABLE
#include <heddle/unstable.h>

#include "cluster/exchange/exchange.h"
#include "cluster/exchange/same_machine.h"

/* What members tell each other before arrays are moved; the second half only where some are shared. */
enum {
    HD_WORD_STATUS,
    HD_WORD_COUNT, /* elements for that member */
    HD_WORDS_PLAIN,
    HD_WORD_BEFORE = HD_WORDS_PLAIN, /* elements for members before it */
    HD_WORD_ALL,                     /* for all */
    HD_WORD_PLACE,                   /* in the shared memory, of the first array */
    HD_WORD_GENERATION,              /* of the shared memory */
    HD_WORDS_SHARED
};

enum { HD_WAY_TRANSPORT, HD_WAY_SHARED, HD_WAY_OWN };

/* Pinned memory. */
typedef struct hd_pinned {
    void *memory;
    uint64_t bytes;
} hd_pinned;

typedef struct hd_transport_exchange {
    hd_exchange base;
    heddle_transport transport;
    heddle_device *device; /* NULL until it is open */
    bool lost;             /* a member no longer answers */
    bool staged;     /* memory of the device goes through pinned memory, if by the transport */
    bool any_staged; /* that of some member does */
    hd_shared shared;
    uint64_t *words; /* HD_WORDS_SHARED to send to every member, and from every member */
    uint64_t *bytes; /* that go to every member by the transport, and that come */
    uint32_t packed; /* of two: where what was packed last lies */
    uint32_t turn;   /* the same of what is being moved */
    hd_pinned outgoing[2], incoming[2];
    const hd_delivery *under_way; /* begun and not ended */
    heddle_status fetched;        /* what became of those of its arrays that are not transported */
} hd_transport_exchange;

/*
 * Takes the next turn, and packs what a delivery sends into the memory, for those that read it. It lies there until the
 * second delivery after this one is packed. Does not wait.
 */
heddle_status hd_ways_pack(hd_transport_exchange *x, const hd_delivery *d);
/* Packs what the transport is to move into pinned memory of the turn, likewise; and has that memory. */
heddle_status hd_ways_stage(hd_transport_exchange *x, const hd_delivery *d);
heddle_status hd_ways_stage_room(hd_transport_exchange *x, const hd_delivery *d);
/* What members are received of it: `send` has so many words for every one. */
void hd_ways_tell(const hd_transport_exchange *x, const hd_delivery *d, uint64_t *send,
                  uint32_t words);
/* When all counts are known: pinned memory for what the transport brings. */
heddle_status hd_ways_room(hd_transport_exchange *x, const hd_delivery *d);
/* Brings over what need not be transported. Does not wait. */
heddle_status hd_ways_fetch(hd_transport_exchange *x, const hd_delivery *d);
/* What the transport takes and where it brings it, for one array; `bytes` are set. */
void hd_ways_transport(hd_transport_exchange *x, const hd_delivery *d, uint32_t array,
                       const void **from, void **to);
/* Brings in what has been transported. Does not wait. */
heddle_status hd_ways_unpack(hd_transport_exchange *x, const hd_delivery *d);
/* Whether anything goes by the transport, to or from others. */
bool hd_ways_links(const hd_transport_exchange *x);
void hd_ways_free(hd_transport_exchange *x);

#endif
