/*
 * relate.c: joins and groups on the CPU for one width of keys and one of row numbers. Built once for
 * every kind of engine/relate.h by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS (of row
 * numbers) and HD_SYMBOL. Exports HD_SYMBOL alone.
 */
#include "engine/engine.h"

#include "cpu/relate/group.h"
#include "cpu/relate/group_numbers.h"
#include "cpu/relate/join.h"

const hd_relate_ops HD_SYMBOL = {
    HD_KEY_BITS, HD_VALUE_BITS, JOIN_LEFT, JOIN_RIGHT,   REGION_ROWS,  join_count,
    join_write,  group_work,    group,     NUMBERS_MOST, numbers_work, numbers_make,
};
