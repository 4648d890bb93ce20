/*
 * relate.c: joins and groups on the CPU, for one width of keys and one of row numbers. Built once for every
 * one of HD_RELATE_KINDS, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS (of a row number)
 * and HD_SYMBOL. Exports HD_SYMBOL alone.
 */
#include <omp.h>

#include "cpu/engine_cpu.h"
#include "cpu/join.h"

extern const hd_relate_ops HD_SYMBOL;
const hd_relate_ops HD_SYMBOL = {
    HD_KEY_BITS, HD_VALUE_BITS, JOIN_LEFT, JOIN_RIGHT, REGION_ROWS,
    join_count,  join_write,    NULL,      NULL,
};
