/*
 * cluster.h: the room of clusters: tables and relations over several devices, of one process or of many. This page says
 * what is where; each file includes the header that it needs.
 *
 *   members.h      a cluster and its members of this process, and what a member has to work with
 *     members.c      opening clusters; slices; the time of every phase
 *     crew.c         the local members at work, each on a thread of its own
 *     memory.c       callers' arrays, wherever they lie, lent to a member
 *   send.h         rows of a slice laid out by owner (route/route.h) and sent, and answers sent back
 *   exchange/      how members reach each other: exchange.h is the interface
 *     local.c          devices of one process
 *     transport.c, transport_ways.c   processes, over a heddle_transport
 *     same_machine.c   processes of one machine that read each other's memory
 *   table/         tables: table.h says what their calls share
 *     insert.h         build and insert: the dispatcher and its ways
 *     ask.h            find, contains, count, erase; retrieve.c for lists of values
 *     whole.c          what concerns all keys
 *     answers_of_all.h independent mode: the answers of all members made one
 *   relation/      joins, groups and set operations: relation.h says what they share
 *     transfer.h       rows of any columns brought to their owners
 *
 * A call on a table, for instance heddle_cluster_table_insert:
 *   1. table/table.c     hd_cluster_call takes the cluster's lock and refuses a broken table;
 *   2. crew.c            hd_crew_run lets every local member work, each on a thread of its own;
 *   3. table/insert.c    insert_in_phases: all members agree what is to be done, and choose the way;
 *   4. table/insert_gathered.c (the usual way)   slice by slice rows are laid out and sent with send.c,
 *                        and when all have come the member's part takes them in one call;
 *   5. table/insert.c    the totals of all members are summed up.
 *
 * Members leave every step with the same status: exchange/exchange.h says how.
 */
#ifndef HD_CLUSTER_H
#define HD_CLUSTER_H

#include "cluster/members.h"

#endif
