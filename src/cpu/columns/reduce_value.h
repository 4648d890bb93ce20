/*
 * reduce_value.h: values and sums of the CPU's aggregates. All functions take the shape of the loop that
 * they are in, whose fields are constants there.
 */
#ifndef HD_CPU_REDUCE_VALUE_H
#define HD_CPU_REDUCE_VALUE_H

#include <math.h>

#include "cpu/columns/columns.h"

/* A sum, least or largest value, in the widest type of its kind. */
typedef union number {
    uint64_t u;
    int64_t i;
    double f;
} number;

enum { UNSIGNED, SIGNED, FLOATING };

/* What the loops are compiled for, all constants there. */
typedef struct shape {
    uint32_t aggregate, type, row_bits;
    bool nulls;
} shape;

typedef struct partial {
    number sum;
    uint64_t count; /* values that took part */
    uint64_t group;
} partial;

HD_FN int kind_of(uint32_t type)
{
    return type == HEDDLE_TYPE_U32 || type == HEDDLE_TYPE_U64   ? UNSIGNED
           : type == HEDDLE_TYPE_I32 || type == HEDDLE_TYPE_I64 ? SIGNED
                                                                : FLOATING;
}

/* Sums of 64-bit integers may wrap, which their mean must not. */
HD_FN bool sums_in_double(uint32_t aggregate, uint32_t type)
{
    return kind_of(type) == FLOATING || (aggregate == HEDDLE_AGGREGATE_MEAN &&
                                         (type == HEDDLE_TYPE_U64 || type == HEDDLE_TYPE_I64));
}

HD_FN uint32_t width_of(uint32_t type) { return type <= HEDDLE_TYPE_F32 ? 4 : 8; }

HD_FN number value_at(uint32_t type, const void *column, uint64_t row)
{
    number n;
    switch (type) {
    case HEDDLE_TYPE_U32: n.u = ((const uint32_t *)column)[row]; break;
    case HEDDLE_TYPE_I32: n.i = ((const int32_t *)column)[row]; break;
    case HEDDLE_TYPE_F32: n.f = (double)((const float *)column)[row]; break;
    case HEDDLE_TYPE_U64: n.u = ((const uint64_t *)column)[row]; break;
    case HEDDLE_TYPE_I64: n.i = ((const int64_t *)column)[row]; break;
    default: n.f = ((const double *)column)[row]; break;
    }
    return n;
}

HD_FN double to_double(uint32_t type, number n)
{
    return kind_of(type) == UNSIGNED ? (double)n.u : kind_of(type) == SIGNED ? (double)n.i : n.f;
}

/* A value in the type that it is summed up in. */
HD_FN number value_to_take(shape s, const void *column, uint64_t row)
{
    number n = value_at(s.type, column, row);
    if (s.aggregate == HEDDLE_AGGREGATE_MEAN && sums_in_double(s.aggregate, s.type))
        n.f = to_double(s.type, n);
    return n;
}

/* Whether a is to be taken instead of b: a NaN never, and everything instead of a NaN. */
HD_FN bool is_better(bool least, uint32_t type, number a, number b)
{
    switch (kind_of(type)) {
    case UNSIGNED: return least ? a.u < b.u : a.u > b.u;
    case SIGNED: return least ? a.i < b.i : a.i > b.i;
    default: return (least ? a.f < b.f : a.f > b.f) || (b.f != b.f && a.f == a.f);
    }
}

/* What an accumulation begins with: the first value is always taken. */
HD_FN number nothing(shape s)
{
    const bool least = s.aggregate == HEDDLE_AGGREGATE_MIN;
    number n;
    n.u = 0;
    if (s.aggregate == HEDDLE_AGGREGATE_MIN || s.aggregate == HEDDLE_AGGREGATE_MAX) {
        if (kind_of(s.type) == UNSIGNED) n.u = least ? UINT64_MAX : 0;
        else if (kind_of(s.type) == SIGNED) n.i = least ? INT64_MAX : INT64_MIN;
        else n.f = (double)NAN;
    }
    return n;
}

HD_FN number take(shape s, number sum, number n)
{
    switch (s.aggregate) {
    case HEDDLE_AGGREGATE_MIN: return is_better(true, s.type, n, sum) ? n : sum;
    case HEDDLE_AGGREGATE_MAX: return is_better(false, s.type, n, sum) ? n : sum;
    case HEDDLE_AGGREGATE_COUNT: return sum;
    default:
        if (sums_in_double(s.aggregate, s.type)) sum.f += n.f;
        else sum.u += n.u; /* two's complement: right for signed numbers too, and wraps */
        return sum;
    }
}

HD_FN double mean_of(shape s, const partial *p)
{
    const double sum = sums_in_double(s.aggregate, s.type) ? p->sum.f : to_double(s.type, p->sum);
    return sum / (double)p->count;
}

HD_FN void result_set(shape s, const hd_reduce *r, uint64_t g, const partial *p)
{
    number n = p->sum;
    const bool narrow = s.type <= HEDDLE_TYPE_F32 && (s.aggregate == HEDDLE_AGGREGATE_MIN ||
                                                      s.aggregate == HEDDLE_AGGREGATE_MAX);
    if (r->out_valid != NULL) r->out_valid[g] = p->count != 0;
    if (s.aggregate == HEDDLE_AGGREGATE_COUNT) n.u = p->count;
    else if (p->count == 0) n.u = 0;
    else if (s.aggregate == HEDDLE_AGGREGATE_MEAN) n.f = mean_of(s, p);
    if (!narrow) ((uint64_t *)r->out)[g] = n.u;
    else if (s.type == HEDDLE_TYPE_F32) ((float *)r->out)[g] = (float)n.f;
    else ((uint32_t *)r->out)[g] = (uint32_t)n.u; /* the low half, of signed numbers too */
}

/* Adds what one thread has of a group to what others have. */
HD_FN void partial_add(shape s, partial *all, const partial *p)
{
    if (all->count == 0) all->sum = p->sum;
    else if (p->count != 0) all->sum = take(s, all->sum, p->sum);
    all->count += p->count;
}

#endif
