/*
 * owner_steps.h: the tiles of rows of engine/owners.h on the CPU: what a thread does with one tile, as it is compiled
 * for keys of one width and one vector tile (owner_steps.c). The loops over tiles are in owners.c.
 */
#ifndef HD_CPU_OWNER_STEPS_H
#define HD_CPU_OWNER_STEPS_H

#include <stdbool.h>

#include "engine/owners.h"

#define HD_OWNER_TILE (UINT64_C(1) << 12)
/* With so many members the rows of each may be packed by vectors; with more, that costs more than row after row. */
#define HD_OWNER_FEW 8

/* What a thread has at hand. */
typedef struct hd_owner_scratch {
    const hd_owners *batch;
    uint64_t tiles;
    uint32_t *places; /* of every owner and tile: places[owner * tiles + tile] */
    uint16_t *rows;   /* of few members: which rows of a vector are whose, as `count` found out */
    uint32_t counts[HD_OWNERS_MAX]; /* rows of the tile */
    char *keys[HD_OWNERS_MAX];      /* where the next row of an owner goes, */
    char *values[HD_OWNERS_MAX];    /* and where its answer comes from */
    const uint8_t *found[HD_OWNERS_MAX];
    bool in_order;                 /* bins of few members have their owners in ascending order */
    uint32_t limits[HD_OWNER_FEW]; /* then: the first bin of every member */
    /* Of bins, of a width that vectors can look up. Of more bins the batch's own are read: a copy for every call would
       cost more than it saves. */
    uint32_t owners[1 << HD_OWNER_BITS_FEW];
} hd_owner_scratch;

/* Counts become places; `send` moves rows there, `fetch` gets answers from there. */
typedef struct hd_owner_steps {
    void (*count)(hd_owner_scratch *scratch, uint64_t tile);
    void (*send)(hd_owner_scratch *scratch, const hd_owners_sent *sent, uint64_t tile);
    void (*fetch)(hd_owner_scratch *scratch, const hd_owners_answers *answers, uint64_t tile);
} hd_owner_steps;

#endif
