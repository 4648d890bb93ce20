/* warps.cpp: see warps.h. */
#include "warps.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <vector>

#define STACK_BYTES                                                                                \
    (256u << 10) /* kernels at -O0 and under sanitizers need far more than optimized ones */
#define THREADS_MAX 1024
#define SHARED_BYTES (64u << 10)
#ifdef __SANITIZE_ADDRESS__
#define GUARD_BYTES 0 /* it watches by itself */
#else
#define GUARD_BYTES 64
#endif

warp_index threadIdx, blockIdx, blockDim, gridDim;
unsigned warps_row;

enum fiber_state { READY, STALLED, WAITING, DONE };

struct fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    fiber_state state;
    unsigned place; /* in `ready` */
    uint64_t wakes; /* the turn at which a stalled one can run again */
    warp_kind kind; /* what it waits at */
    uint32_t mask;
    int line;
    uint64_t mine;
    warp_votes votes; /* what it got */
};

static fiber fibers[THREADS_MAX];
static unsigned ready[THREADS_MAX], ready_count, done_count, current;
static std::vector<unsigned> stalled;
static uint64_t turn;
static ucontext_t outside;
static const std::function<void()> *body;
static uint64_t random_state = 1;
static char *shared;

static const char *const kind_names[] = {"ballot",     "any",      "all",        "shuffle",
                                         "reduce_add", "syncwarp", "syncthreads"};

void warps_seed(uint64_t seed) { random_state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1; }

uint64_t warps_random()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

[[noreturn]] static void fail(const char *why)
{
    fprintf(stderr, "block %u, thread %u: %s\n", blockIdx.x, current, why);
    for (unsigned first = 0; first < blockDim.x; first += 32) {
        for (unsigned i = first; i < first + 32 && i < blockDim.x; i++) {
            const fiber *f = &fibers[i], *before = &fibers[i == first ? i : i - 1];
            /* Neighbours mostly wait at the same place: one line for all of them. */
            if (i != first && f->state == before->state && f->line == before->line &&
                f->kind == before->kind && f->mask == before->mask)
                continue;
            if (f->state == WAITING)
                fprintf(stderr, "  from thread %u: waits at %s, line %d, mask %08x\n", i,
                        kind_names[f->kind], f->line, f->mask);
            else
                fprintf(stderr, "  from thread %u: %s\n", i,
                        f->state == DONE ? "has ended" : "can run");
        }
    }
    fflush(stderr);
    abort();
}

static void set_ready(unsigned i)
{
    fibers[i].state = READY;
    fibers[i].place = ready_count;
    ready[ready_count++] = i;
}

static void set_unready(unsigned i, fiber_state state)
{
    const unsigned last = ready[--ready_count];
    ready[fibers[i].place] = last;
    fibers[last].place = fibers[i].place;
    fibers[i].state = state;
}

/* Lets those run again whose time has come, or the first if there is nobody else. */
static void wake_some()
{
    for (size_t i = 0; i < stalled.size();) {
        if (fibers[stalled[i]].wakes <= turn || ready_count == 0) {
            set_ready(stalled[i]);
            stalled[i] = stalled.back();
            stalled.pop_back();
        } else {
            i++;
        }
    }
}

/* Hands the CPU to any fiber that can run, perhaps this one. */
static void pass_on()
{
    const unsigned from = current;
    if (done_count == blockDim.x) setcontext(&outside);
    turn++;
    if (!stalled.empty()) wake_some();
    if (ready_count == 0) fail("deadlock: no thread of the block can run");
    current = ready[warps_random() % ready_count];
    threadIdx.x = current;
    if (current != from) swapcontext(&fibers[from].context, &fibers[current].context);
}

static void fiber_main()
{
    (*body)();
    set_unready(current, DONE);
    done_count++;
    pass_on();
}

char *warps_shared() { return shared; }

void warps_launch(unsigned blocks, unsigned block_threads, const std::function<void()> &thread)
{
    warps_launch(blocks, block_threads, SHARED_BYTES, thread);
}

void warps_launch(unsigned blocks, unsigned block_threads, size_t shared_bytes,
                  const std::function<void()> &thread)
{
    const std::unique_ptr<char, void (*)(void *)> memory(
        (char *)aligned_alloc(16, (shared_bytes + GUARD_BYTES + 15) / 16 * 16), free);
    shared = memory.get();
    memset(shared, 0xdd, shared_bytes + GUARD_BYTES);
    body = &thread;
    gridDim = {blocks, 1, 1};
    blockDim = {block_threads, 1, 1};
    for (blockIdx = {0, warps_row, 0}; blockIdx.x < blocks; blockIdx.x++) {
        ready_count = done_count = 0;
        for (unsigned i = 0; i < block_threads; i++) {
            fiber *f = &fibers[i];
            if (f->stack == nullptr) f->stack.reset(new char[STACK_BYTES]);
            getcontext(&f->context);
            f->context.uc_stack.ss_sp = f->stack.get();
            f->context.uc_stack.ss_size = STACK_BYTES;
            f->context.uc_link = nullptr;
            makecontext(&f->context, fiber_main, 0);
            set_ready(i);
        }
        current = threadIdx.x = (unsigned)(warps_random() % block_threads);
        swapcontext(&outside, &fibers[current].context);
        for (size_t i = shared_bytes; i < shared_bytes + GUARD_BYTES; i++)
            if (shared[i] != (char)0xdd) fail("the block wrote beyond its shared memory");
    }
}

/*
 * Now and then a thread stays away for long: what it left half done is then met by whole warps, which
 * take many turns from the load of a bucket to the claim of a slot.
 */
void warps_touch()
{
    const uint64_t random = warps_random();
    if (random % 4 != 0) return;
    if (random / 4 % 32 == 0) {
        fibers[current].wakes = turn + random / 128 % 4096;
        set_unready(current, STALLED);
        stalled.push_back(current);
    }
    pass_on();
}

static void wait_at(warp_kind kind, uint32_t mask, uint64_t mine, int line)
{
    fiber *f = &fibers[current];
    f->kind = kind;
    f->mask = mask;
    f->line = line;
    f->mine = mine;
    set_unready(current, WAITING);
}

/* Whether all lanes of the mask are at the operation that the current fiber has come to. */
static bool all_are_here(unsigned first)
{
    const fiber *me = &fibers[current];
    bool all = true;
    for (unsigned i = 0; i < 32; i++) {
        const fiber *f = &fibers[first + i];
        if ((me->mask >> i & 1) == 0) continue;
        if (f->state == DONE) fail("a lane named in the mask has ended");
        if (f->state == READY || f->state == STALLED) all = false;
        else if (f->kind == BLOCK_SYNC) fail("a lane named in the mask waits for the block");
        else if (f->mask != me->mask)
            all = false; /* lanes of a smaller mask may still meet before they come here */
        else if (f->kind != me->kind || f->line != me->line)
            fail("lanes of one mask wait at different operations");
    }
    return all;
}

warp_votes warps_meet(warp_kind kind, uint32_t mask, uint64_t mine, int line)
{
    const unsigned first = current / 32 * 32;
    wait_at(kind, mask, mine, line);
    if ((mask >> current % 32 & 1) == 0) fail("the mask is without the caller");
    if (all_are_here(first)) {
        warp_votes votes;
        votes.mask = mask;
        for (unsigned i = 0; i < 32; i++) votes.brought[i] = fibers[first + i].mine;
        for (unsigned i = 0; i < 32; i++) {
            if ((mask >> i & 1) == 0) continue;
            fibers[first + i].votes = votes;
            set_ready(first + i);
        }
    }
    pass_on();
    return fibers[current].votes;
}

void warps_meet_block(int line)
{
    wait_at(BLOCK_SYNC, UINT32_MAX, 0, line);
    if (done_count != 0) fail("a thread of the block has ended before a barrier");
    bool all = true;
    for (unsigned i = 0; i < blockDim.x; i++)
        all = all && fibers[i].state == WAITING && fibers[i].kind == BLOCK_SYNC &&
              fibers[i].line == line;
    if (all) {
        for (unsigned i = 0; i < blockDim.x; i++) set_ready(i);
    }
    pass_on();
}
