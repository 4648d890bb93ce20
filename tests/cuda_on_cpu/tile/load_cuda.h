/*
 * load.h: stands before src/tile/load_cuda.h on the include path, with the same functions without PTX.
 *
 * PTX treats a vector load as loads of its elements, in any order, so others may write between any two
 * of them here. An element is taken to be a key word: 64-bit keys are right only where aligned 8 bytes
 * are read at once. That is assumed of devices, the v4.u32 of src/tile/load_cuda.h does not say it; LOAD_ELEMENT=4
 * shows what would come of it otherwise.
 */
#ifndef HD_CUDA_LOAD_H
#define HD_CUDA_LOAD_H

#include "base/port.h"

#ifndef LOAD_ELEMENT
#define LOAD_ELEMENT (HD_KEY_BITS / 8)
#endif

HD_FN void prefetch_l2(const void *from)
{
    (void)*(const volatile char *)from; /* it has to be there */
}

template <int BYTES> static void load_shared(void *to, const void *from)
{
    const unsigned size = BYTES < LOAD_ELEMENT ? BYTES : LOAD_ELEMENT, elements = BYTES / size;
    const unsigned turn = (unsigned)(warps_random() % elements);
    for (unsigned i = 0; i < elements; i++) {
        const unsigned at = (i ^ turn) * size;
        warps_touch();
        memcpy((char *)to + at, (const char *)from + at, size);
    }
    warps_touch();
}

/* While nobody writes, it makes no difference. */
template <int BYTES> static void load_frozen(void *to, const void *from)
{
    load_shared<BYTES>(to, from);
}

HD_FN void load_slab_16(void *to, const void *from) { load_shared<16>(to, from); }
HD_FN void load_block_16(void *to, const void *from) { load_shared<16>(to, from); }

/* One block runs at a time. */
HD_FN char *block_memory(void) { return warps_shared(); }

#endif
