/* seed.h: seeds, and the hash functions that are made of them. */
#ifndef HD_SEED_H
#define HD_SEED_H

#include "base/port.h"
#include "model/view.h"

/* A seed from the system; never 0. */
uint64_t hd_seed_draw(void);
/* The hash functions of a seed. */
HD_FOR_TOOL void hd_mix_init(hd_mix *mix, uint64_t seed);

#endif
