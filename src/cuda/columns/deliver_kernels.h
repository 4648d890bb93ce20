/*
 * deliver_kernels.h: the device code that brings lists of answers into the order of the questions
 * (model/columns.h); deliver.cu launches it.
 */
#ifndef HD_DELIVER_KERNELS_H
#define HD_DELIVER_KERNELS_H

#include "base/port.h"
#include "model/columns.h"

#ifndef DELIVER_BLOCK
#define DELIVER_BLOCK 256
#endif

/* The list that holds the element `at`: the last that begins at or before it. */
HD_FN uint64_t list_of(const hd_answer_lists &lists, uint64_t at)
{
    uint64_t low = 0, high = lists.n;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (lists.starts[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

/* A thread for every element, so that it does not matter how long lists are. */
template <class VALUE>
static __global__ void __launch_bounds__(DELIVER_BLOCK) deliver_elements(hd_answer_lists lists)
{
    const uint64_t stride = (uint64_t)gridDim.x * DELIVER_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * DELIVER_BLOCK + threadIdx.x; i < lists.elements;
         i += stride) {
        const uint64_t list = list_of(lists, i);
        const uint64_t to = lists.places[list] - lists.base + (i - lists.starts[list]);
        ((VALUE *)lists.out)[to] = ((const VALUE *)lists.from)[i];
    }
}

/* Rows by other numbers; one that is all ones is none and stays so. */
template <class ROW, class NAME>
static __global__ void __launch_bounds__(DELIVER_BLOCK)
    renumber_rows(const ROW *rows, uint64_t n, const NAME *names, uint64_t base, NAME *out)
{
    const uint64_t stride = (uint64_t)gridDim.x * DELIVER_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * DELIVER_BLOCK + threadIdx.x; i < n; i += stride) {
        const ROW row = rows[i];
        if (row == (ROW) ~(ROW)0) out[i] = (NAME) ~(NAME)0;
        else out[i] = (NAME)(base + (names != NULL ? (uint64_t)names[row] : (uint64_t)row));
    }
}

#endif
