/*
 * keys_values.inl: aggregates of values that go along while distinct keys are found, included by keys_kernels.h. All is
 * added up in 64 bits: sums of integers wrap alike for all types, sums of floating-point numbers are doubles,
 * minima and maxima unsigned numbers in the order of the type (reduce_ways.h). What is added up is known when the kernel
 * runs, not when it is compiled: all lanes take the same branch, and any list of aggregates is one kernel.
 */
#ifndef HD_KEYS_KERNELS_H
#error "included by keys_kernels.h alone"
#endif

HD_FN unsigned long long keys_double_bits(double x)
{
    return (unsigned long long)__double_as_longlong(x);
}

/* A value's bits as a number for a sum of doubles. */
HD_FN double keys_double_of(uint32_t type, unsigned long long x)
{
    switch (type) {
    case HEDDLE_TYPE_U32: return (double)(uint32_t)x;
    case HEDDLE_TYPE_I32: return (double)(int32_t)x;
    case HEDDLE_TYPE_F32: return (double)__uint_as_float((uint32_t)x);
    case HEDDLE_TYPE_U64: return (double)x;
    case HEDDLE_TYPE_I64: return (double)(long long)x;
    default: return __longlong_as_double((long long)x);
    }
}

/* A value's bits as a number in the order of the type. */
HD_FN unsigned long long keys_ordered_of(uint32_t type, unsigned long long x, bool least)
{
    switch (type) {
    case HEDDLE_TYPE_I32: return order<int32_t>::to((int32_t)x, least);
    case HEDDLE_TYPE_F32: {
        const uint32_t bits = order<float>::to(__uint_as_float((uint32_t)x), least);
        return least && bits == UINT32_MAX ? UINT64_MAX : bits; /* no number */
    }
    case HEDDLE_TYPE_I64: return order<int64_t>::to((int64_t)x, least);
    case HEDDLE_TYPE_F64: return order<double>::to(__longlong_as_double((long long)x), least);
    default: return x;
    }
}

HD_FN unsigned long long keys_value_of(const keys_value &v, unsigned long long x)
{
    switch (v.what) {
    case KEYS_SUM: return v.type == HEDDLE_TYPE_I32 ? (unsigned long long)(long long)(int32_t)x : x;
    case KEYS_SUM_FLOAT: return keys_double_bits(keys_double_of(v.type, x));
    case KEYS_LEAST_VALUE: return keys_ordered_of(v.type, x, true);
    case KEYS_MOST_VALUE: return keys_ordered_of(v.type, x, false);
    default: return 0;
    }
}

typedef sum_integers<uint64_t> keys_sum;
typedef sum_floats<double> keys_sum_float;
typedef extreme<uint64_t, true> keys_least;
typedef extreme<uint64_t, false> keys_most;

HD_FN void keys_from_bits(unsigned long long bits, unsigned long long *number) { *number = bits; }
HD_FN void keys_from_bits(unsigned long long bits, double *number)
{
    *number = __longlong_as_double((long long)bits);
}

/* Rows' values to their places. */
template <class WAY>
static __device__ __forceinline__ void
keys_add_items(const keys_value &v, const keys_near &near, uint32_t j,
               const uint64_t (&places)[KEYS_ITEMS], const unsigned long long (&x)[KEYS_ITEMS])
{
    const uint32_t slots = keys_near_slots(near);
    char *cells = near.values + j * slots * 8;
#pragma unroll
    for (int i = 0; i < KEYS_ITEMS; i++) {
        typename WAY::number number;
        keys_from_bits(x[i], &number);
        if (places[i] == KEYS_NO_SLOT) continue;
        if ((places[i] & KEYS_FAR) != 0)
            WAY::add_far((typename WAY::number *)v.cells + (places[i] & ~KEYS_FAR), number);
        else WAY::cell_add(cells, (uint32_t)places[i], slots, number);
    }
}

HD_FN void keys_count_items(const keys_value &v, const keys_near &near,
                            const uint64_t (&places)[KEYS_ITEMS])
{
    uint32_t *counts = near.counts + v.near_count * keys_near_slots(near);
#pragma unroll
    for (int i = 0; i < KEYS_ITEMS; i++) {
        if (places[i] == KEYS_NO_SLOT) continue;
        if ((places[i] & KEYS_FAR) != 0) atomicAdd(&v.counts[places[i] & ~KEYS_FAR], 1ull);
        else atomicAdd(&counts[places[i]], 1u);
    }
}

/* The values of a thread's rows, from `begin` on, whose keys are at `keys`. */
HD_FN void keys_take_values(const keys_value &v, const keys_near &near, uint32_t j, uint64_t begin,
                            const uint64_t (&keys)[KEYS_ITEMS])
{
    const bool wide = v.type > HEDDLE_TYPE_F32;
    unsigned long long x[KEYS_ITEMS];
    uint64_t places[KEYS_ITEMS];
#pragma unroll
    for (int i = 0; i < KEYS_ITEMS; i++) {
        const uint64_t row = begin + (uint64_t)i * KEYS_BLOCK;
        const bool there = keys[i] != KEYS_NO_SLOT;
        places[i] = there && v.valid != NULL && __ldcs(v.valid + row) == 0 ? KEYS_NO_SLOT : keys[i];
        x[i] = 0;
        if (!there || v.what == KEYS_NOTHING) continue;
        x[i] = wide ? __ldcs((const unsigned long long *)v.column + row)
                    : __ldcs((const uint32_t *)v.column + row);
    }
#pragma unroll
    for (int i = 0; i < KEYS_ITEMS; i++) x[i] = keys_value_of(v, x[i]);
    switch (v.what) {
    case KEYS_SUM: keys_add_items<keys_sum>(v, near, j, places, x); break;
    case KEYS_SUM_FLOAT: keys_add_items<keys_sum_float>(v, near, j, places, x); break;
    case KEYS_LEAST_VALUE: keys_add_items<keys_least>(v, near, j, places, x); break;
    case KEYS_MOST_VALUE: keys_add_items<keys_most>(v, near, j, places, x); break;
    default: break;
    }
    if (v.counts != NULL) keys_count_items(v, near, places);
}

HD_FN uint32_t keys_near_at(const keys_near &near, uint32_t i);

/* What the slots of a warp have of one key, `same` of them, to a slot of the table of all. */
template <class WAY>
static __device__ __forceinline__ void keys_bring_value(const keys_value &v, const keys_near &near,
                                                        uint32_t j, uint32_t first, uint32_t same,
                                                        uint64_t far)
{
    const uint32_t slots = keys_near_slots(near);
    const char *cells = near.values + j * slots * 8;
    typename WAY::number x = WAY::neutral();
    for (uint32_t m = same; m != 0; m &= m - 1)
        x = WAY::both(x, WAY::cell_get(cells, keys_near_at(near, first + hd_lowest_bit(m)), slots));
    if (x != WAY::neutral()) WAY::add_far((typename WAY::number *)v.cells + far, x);
}

HD_FN void keys_bring_values(const keys_job &job, const keys_near &near, uint32_t first,
                             uint32_t same, uint64_t far)
{
    for (uint32_t j = 0; j < job.value_count; j++) {
        const keys_value &v = job.values[j];
        unsigned long long count = 0;
        switch (v.what) {
        case KEYS_SUM: keys_bring_value<keys_sum>(v, near, j, first, same, far); break;
        case KEYS_SUM_FLOAT: keys_bring_value<keys_sum_float>(v, near, j, first, same, far); break;
        case KEYS_LEAST_VALUE: keys_bring_value<keys_least>(v, near, j, first, same, far); break;
        case KEYS_MOST_VALUE: keys_bring_value<keys_most>(v, near, j, first, same, far); break;
        default: break;
        }
        if (v.counts == NULL) continue;
        for (uint32_t m = same; m != 0; m &= m - 1)
            count += near.counts[v.near_count * keys_near_slots(near) +
                                 keys_near_at(near, first + hd_lowest_bit(m))];
        if (count != 0) atomicAdd(&v.counts[far], count);
    }
}

/* ----------------------------------------------------------------------------------------- results */

/* A minimum or maximum in the type of the values; 0 where there was none. */
HD_FN void keys_put_extreme(uint32_t type, unsigned long long bits, bool any, void *out,
                            uint64_t at)
{
    const uint32_t half = (uint32_t)bits;
    switch (type) {
    case HEDDLE_TYPE_U32: ((uint32_t *)out)[at] = any ? half : 0; break;
    case HEDDLE_TYPE_I32: ((int32_t *)out)[at] = any ? order<int32_t>::from(half) : 0; break;
    case HEDDLE_TYPE_F32: ((float *)out)[at] = any ? order<float>::from(half) : 0; break;
    case HEDDLE_TYPE_I64: ((int64_t *)out)[at] = any ? order<int64_t>::from(bits) : 0; break;
    case HEDDLE_TYPE_F64: ((double *)out)[at] = any ? order<double>::from(bits) : 0; break;
    default: ((unsigned long long *)out)[at] = any ? bits : 0; break;
    }
}

/* The aggregate of the key in a slot, as the caller takes it. `count`: values that took part. */
HD_FN void keys_put_result(const keys_value &v, uint32_t aggregate, uint64_t slot, uint64_t count,
                           void *out, uint64_t at)
{
    const unsigned long long bits = v.cells != NULL ? v.cells[slot] : 0;
    if (aggregate == HEDDLE_AGGREGATE_COUNT) {
        ((uint64_t *)out)[at] = count;
    } else if (aggregate == HEDDLE_AGGREGATE_SUM) {
        ((unsigned long long *)out)[at] = bits;
    } else if (aggregate == HEDDLE_AGGREGATE_MEAN) {
        double sum = __longlong_as_double((long long)bits);
        if (v.what == KEYS_SUM)
            sum = v.type == HEDDLE_TYPE_U32 ? (double)bits : (double)(long long)bits;
        ((double *)out)[at] = count != 0 ? sum / (double)count : 0;
    } else {
        keys_put_extreme(v.type, bits, count != 0, out, at);
    }
}
