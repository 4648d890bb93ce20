/*
 * warps.h: runs a kernel on one CPU thread, every CUDA thread of a block as a fiber.
 *
 * Which fiber runs next is random, drawn from a seed, so that a failure can be had again. A fiber may
 * lose its turn at every touch of memory; at warp operations it waits for the lanes of its mask. What
 * CUDA leaves undefined (lanes of one mask at different operations, a mask without the caller, a lane
 * that never comes) ends the program with a message.
 */
#ifndef WARPS_H
#define WARPS_H

#include <cstddef>
#include <cstdint>
#include <functional>

/* The kinds of operation that lanes wait at. */
enum warp_kind { WARP_BALLOT, WARP_ANY, WARP_ALL, WARP_SHUFFLE, WARP_SUM, WARP_SYNC, BLOCK_SYNC };

/* What all lanes brought to an operation, and which lanes those were. */
struct warp_votes {
    uint32_t mask;
    uint64_t brought[32];
};

void warps_seed(uint64_t seed);
uint64_t warps_random();

/* Runs `thread` for all threads of all blocks, one block after the other. */
void warps_launch(unsigned blocks, unsigned block_threads, const std::function<void()> &thread);

/* The same with so many bytes of shared memory, whose end is watched. Without it there are 64 KB. */
void warps_launch(unsigned blocks, unsigned block_threads, size_t shared_bytes,
                  const std::function<void()> &thread);
char *warps_shared();

/* A point where another thread may be faster. */
void warps_touch();

/* Waits until all lanes of the mask have come; `line` tells apart operations of the same kind. */
warp_votes warps_meet(warp_kind kind, uint32_t mask, uint64_t mine, int line);
void warps_meet_block(int line);

struct warp_index {
    unsigned x, y, z;
};
/* CUDA's names, for the fiber that runs. */
/* The blocks of the next launches are in this row of a grid: their blockIdx.y. */
extern unsigned warps_row;
extern warp_index threadIdx, blockIdx, blockDim, gridDim;

#endif
