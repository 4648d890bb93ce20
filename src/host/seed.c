/* seed.c: see seed.h. */
#include "host/seed.h"

#include <sys/random.h>
#include <time.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t hd_seed_draw(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)(uintptr_t)&seed;
    }
    return seed != 0 ? seed : 1;
}

/*
 * An odd multiplier whose halves both have ones and zeros in plenty, so that it spreads bits well.
 */
static uint64_t draw_multiplier(uint64_t *state)
{
    for (;;) {
        const uint64_t x = splitmix(state) | 1;
        const int low = __builtin_popcountll(x & UINT32_MAX), high = __builtin_popcountll(x >> 32);
        if (low >= 12 && low <= 20 && high >= 12 && high <= 20) return x;
    }
}

/* The inverse of an odd number modulo 2^64, by Newton's steps; each doubles the right bits. */
static uint64_t invert(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int i = 0; i < 5; i++) inverse *= 2 - odd * inverse;
    return inverse;
}

void hd_mix_init(hd_mix *mix, uint64_t seed)
{
    uint64_t state = seed;
    mix->add = splitmix(&state);
    for (int i = 0; i < 2; i++) {
        mix->mul[i] = draw_multiplier(&state);
        mix->unmul[i] = invert(mix->mul[i]);
    }
}
