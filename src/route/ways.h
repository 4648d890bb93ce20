/* ways.h: the ways in which rows are laid out by owner; for the files of this room. */
#ifndef HD_ROUTE_WAYS_H
#define HD_ROUTE_WAYS_H

#include "route/route.h"

/* A way. The router's arrays for the rows have been taken; `plan` finds the slice in the router. */
typedef struct hd_route_way {
    heddle_status (*begin)(hd_router *router);
    heddle_status (*plan)(hd_router *router);
    heddle_status (*lay_out)(hd_router *router);
} hd_route_way;

extern const hd_route_way hd_route_by_sorting, hd_route_by_owners;

/* What the engine sorts or counts by. */
hd_partition hd_route_job(const hd_spread *spread, const hd_rows *rows, uint64_t n);
/* What the engine knows of owners. */
const hd_owners_ops *hd_route_ops(const hd_router *router);

#endif
