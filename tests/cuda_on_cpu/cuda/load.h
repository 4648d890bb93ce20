/*
 * load.h: stands before src/cuda/load.h on the include path, with the same functions without PTX.
 *
 * PTX promises of a vector load no more than of its 32-bit elements, in any order; so others may write
 * between any two of them here.
 */
#ifndef HD_CUDA_LOAD_H
#define HD_CUDA_LOAD_H

#include "base/port.h"

HD_FN void prefetch_l2(const void *from) { (void)*(const volatile char *)from; /* it has to be there */ }

template <int BYTES> static void load_shared(void *to, const void *from)
{
    const unsigned turn = (unsigned)warps_random();
    for (unsigned i = 0; i < BYTES / 4; i++) {
        const unsigned at = (i ^ turn % (BYTES / 4)) * 4;
        warps_touch();
        memcpy((char *)to + at, (const char *)from + at, 4);
    }
    warps_touch();
}

/* While nobody writes, it makes no difference. */
template <int BYTES> static void load_frozen(void *to, const void *from) { load_shared<BYTES>(to, from); }

#endif
