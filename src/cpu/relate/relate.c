/*
 * relate.c: joins and groups on the CPU for one width of keys and one of row numbers. Built once for
 * every kind of engine/relate.h by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS (of row
 * numbers) and HD_SYMBOL. Exports HD_SYMBOL alone. The files:
 *
 *     join.h            a core takes a task: its left rows hashed (join_lists.h), its right rows looked up
 *     group.h           rows with equal keys brought together, region by region
 *       group_few.h     few keys with many rows, by all threads
 *       group_numbers.h rows numbered by key, where a table of the keys stays in a cache
 *       group_table.h   a thread's table of the keys it has met
 *     distinct.h        distinct keys alone
 *       distinct_table.h  a thread's table of them
 */
#include "engine/engine.h"

#include "cpu/relate/distinct.h"
#include "cpu/relate/group.h"
#include "cpu/relate/group_numbers.h"
#include "cpu/relate/join.h"

const hd_relate_ops HD_SYMBOL = {
    HD_KEY_BITS,   HD_VALUE_BITS, JOIN_LEFT,      JOIN_RIGHT,
    REGION_ROWS,   join_count,    join_write,     group_work,
    group,         NUMBERS_MOST,  numbers_work,   numbers_make,
    distinct_plan, distinct,      distinct_fetch, 0,
};
