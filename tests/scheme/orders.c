/* orders.c: see orders.h. */
#define _DEFAULT_SOURCE
#undef _FORTIFY_SOURCE /* it takes jumps to another stack for mistakes */
#include "orders.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES 65536
#define DEPTH_MAX 4096

/* A context leads onto the thread's stack; from then on jumps, which ask nothing of the system, do. */
typedef struct thread {
    ucontext_t first;
    jmp_buf at;
    bool begun;
    char *stack;
    uint64_t seen;
    bool done;
} thread;

static const orders *now;
static thread threads[ORDERS_THREADS];
static jmp_buf scheduler;
static int running;

/* --------------------------------------------------------------------------------- states met before */

typedef struct states {
    uint64_t *at, room, count;
} states;

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    return x ^ x >> 33;
}

static bool states_put(states *s, uint64_t state)
{
    uint64_t i = mixed(state) & (s->room - 1);
    for (; s->at[i] != 0; i = (i + 1) & (s->room - 1))
        if (s->at[i] == state) return false;
    s->at[i] = state;
    s->count++;
    return true;
}

static void states_make(states *s, uint64_t room)
{
    s->at = calloc(room, sizeof *s->at);
    s->room = room;
    s->count = 0;
    if (s->at == NULL) abort();
}

/* Whether the state is new. */
static bool states_add(states *s, uint64_t state)
{
    state |= state == 0; /* 0 means none */
    if (2 * s->count >= s->room) {
        states larger;
        states_make(&larger, 2 * s->room);
        for (uint64_t i = 0; i < s->room; i++)
            if (s->at[i] != 0) (void)states_put(&larger, s->at[i]);
        free(s->at);
        *s = larger;
    }
    return states_put(s, state);
}

uint64_t orders_hash(uint64_t hash, const void *bytes, uint64_t n)
{
    const unsigned char *from = bytes;
    for (; n >= 8; n -= 8, from += 8) {
        uint64_t word;
        memcpy(&word, from, 8);
        hash = mixed(hash * 31 + word + UINT64_C(0x9e3779b97f4a7c15));
    }
    for (; n != 0; n--, from++) hash = mixed(hash * 31 + *from + 1);
    return hash;
}

/* ------------------------------------------------------------------------------------------- threads */

void orders_step(void)
{
    if (_setjmp(threads[running].at) == 0) _longjmp(scheduler, 1);
}

uint64_t orders_saw(uint64_t what)
{
    threads[running].seen = mixed(threads[running].seen * 31 + what + 1);
    return what;
}

void orders_at(uint64_t what) { threads[running].seen = mixed(what); }

static void begin(void)
{
    now->run(now->context, running);
    threads[running].done = true;
    _longjmp(scheduler, 1);
}

static void start(int i)
{
    thread *t = &threads[i];
    t->seen = 0;
    t->done = t->begun = false;
}

static void resume(int i)
{
    running = i;
    if (_setjmp(scheduler) != 0) return;
    if (threads[i].begun) _longjmp(threads[i].at, 1);
    threads[i].begun = true;
    setcontext(&threads[i].first);
}

static void make_stack(thread *t)
{
    if (t->stack != NULL) return;
    t->stack = malloc(STACK_BYTES);
    if (t->stack == NULL || getcontext(&t->first) != 0) abort();
    t->first.uc_stack.ss_sp = t->stack;
    t->first.uc_stack.ss_size = STACK_BYTES;
    t->first.uc_link = NULL;
    makecontext(&t->first, begin, 0);
}

static uint64_t state_now(void)
{
    uint64_t hash = now->state(now->context);
    for (int i = 0; i < now->threads; i++) {
        const uint64_t mine[2] = {threads[i].seen, threads[i].done};
        hash = orders_hash(hash, mine, sizeof mine);
    }
    return hash;
}

/* The first thread from `i` on that is not done; now->threads: none. */
static int alive_from(int i)
{
    while (i < now->threads && threads[i].done) i++;
    return i;
}

/* ---------------------------------------------------------------------------------------- all choices */

typedef struct choices {
    int made[DEPTH_MAX];
    uint32_t alive[DEPTH_MAX]; /* who could have been chosen */
    int count;
} choices;

/* One run, by the choices made so far and then the first of all; whether it came to its end. */
static bool run(choices *c, states *met)
{
    int depth = 0;
    now->reset(now->context);
    for (int i = 0; i < now->threads; i++) {
        start(i);
        resume(i); /* as far as its first step */
    }
    for (int next = alive_from(0); next < now->threads; next = alive_from(0), depth++) {
        if (depth == c->count) {
            if (!states_add(met, state_now())) return false;
            if (depth == DEPTH_MAX) abort();
            c->alive[depth] = 0;
            for (int i = next; i < now->threads; i++)
                c->alive[depth] |= (uint32_t)!threads[i].done << i;
            c->made[depth] = next;
            c->count++;
        }
        resume(c->made[depth]);
    }
    return true;
}

/* Takes back the last choice for which there is another, and makes that; false: there is none left. */
static bool next_choice(choices *c)
{
    for (; c->count != 0; c->count--) {
        int *last = &c->made[c->count - 1];
        for (int i = *last + 1; i < now->threads; i++) {
            if ((c->alive[c->count - 1] >> i & 1) == 0) continue;
            *last = i;
            return true;
        }
    }
    return false;
}

orders_counts orders_explore(const orders *o)
{
    static choices c;
    orders_counts counts = {0, 0};
    states met;
    now = o;
    c.count = 0;
    states_make(&met, 1024);
    for (int i = 0; i < o->threads; i++) make_stack(&threads[i]);
    do {
        if (run(&c, &met)) {
            counts.ends++;
            o->check(o->context);
        }
    } while (next_choice(&c));
    counts.states = met.count;
    free(met.at);
    return counts;
}
