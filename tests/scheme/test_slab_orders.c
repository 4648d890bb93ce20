/*
 * test_slab_orders.c: the steps of a slab hash in every order. Two and three threads work on one bucket, whose
 * slabs have two slots, with the very functions that the engines use (scheme/slab.h). Every order of their
 * atomic steps is run; each must end with results and with contents that some order of whole operations gives.
 *
 * Compiled for several widths of keys and values (slab.cmake).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watched.h"

#define HD_SLAB_UNIT_BITS 5 /* the bits of a block are one word */
#define HD_SLAB_SLOTS 2
#define HD_TAKER_MOVES 0
#include "scheme/slab.h"

#define KEYS 4       /* a, b, c, d: all of one bucket */
#define SLABS 5      /* of the pool, with the one that is never given away */
#define SCRIPT_MAX 2 /* operations of a thread */

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) fail(__LINE__, __VA_ARGS__);                                             \
    } while (0)

enum { INSERT = HD_SLAB_INSERT, ERASE = HD_SLAB_ERASE, FIND = HD_SLAB_FIND, NOTHING };

typedef struct operation {
    int kind;
    uint32_t key;
    uint32_t policy;
    hd_value value;
} operation;

typedef struct result {
    int end;
    hd_value value;
} result;

/* What there is: the table as it is at first, the threads, and the table at work. */
typedef struct scene {
    int threads;
    operation script[ORDERS_THREADS][SCRIPT_MAX];
    result results[ORDERS_THREADS][SCRIPT_MAX];
    bool spare;  /* the pool has slabs enough, so nothing may fail */
    bool reuses; /* insertions take DEAD slots: there is nothing else */
    char first_memory[(4 + SLABS) * HD_SLAB_BYTES];
    uint32_t first_taken, hidden; /* slabs that count as taken, to make the pool small */
    _Alignas(128) char memory[(4 + SLABS) * HD_SLAB_BYTES];
    uint32_t taken, spent;
    hd_slab_super super;
    hd_slab_view view;
    hd_key keys[KEYS];
} scene;

static scene s;
static uint64_t scenes, states_met, ends_met, revived;

static void describe(void)
{
    static const char *const kinds[] = {"insert", "erase", "find"};
    for (int t = 0; t < s.threads; t++)
        for (int i = 0; i < SCRIPT_MAX && s.script[t][i].kind != NOTHING; i++)
            fprintf(stderr, "  thread %d: %s %c, policy %u, value %llu: end %d, value %llu\n", t,
                    kinds[s.script[t][i].kind], 'a' + (int)s.script[t][i].key,
                    s.script[t][i].policy, (unsigned long long)s.script[t][i].value,
                    s.results[t][i].end, (unsigned long long)s.results[t][i].value);
}

static void fail(int line, const char *what)
{
    fprintf(stderr, "line %d: %s\n", line, what);
    describe();
    exit(1);
}

/* ---------------------------------------------------------------------------------------- the table */

static result operate(const operation *o, hd_slab_taker *taker)
{
    hd_slab_walk walk = slab_walk_start(&s.view, s.keys[o->key]);
    const hd_slab_task task = {(uint32_t)o->kind, o->policy, false, o->value, s.reuses};
    result r = {HD_SLAB_AGAIN, 0};
    while (r.end == HD_SLAB_AGAIN || r.end == HD_SLAB_ON) {
        /* A step knows of the past what the walk and the taker hold, and no more. */
        const uint64_t place[7] = {(uint64_t)(walk.slab - s.memory),
                                   taker->word,
                                   taker->known,
                                   (uint64_t)(o - &s.script[0][0]),
                                   walk.free.slab != NULL ? (uint64_t)(walk.free.slab - s.memory)
                                                          : 1,
                                   walk.free.slot,
                                   walk.free.word};
        orders_at(orders_hash(7, place, sizeof place));
        r.end = slab_step(slab_tile_here(), &s.view, &walk, &task, &r.value, true, taker);
    }
    return r;
}

static hd_slab_taker some_taker(void)
{
    const hd_slab_taker taker = {0, 0, 0};
    return taker;
}

static void run_script(void *context, int t)
{
    hd_slab_taker taker = some_taker();
    uint64_t past = 0;
    (void)context;
    for (int i = 0; i < SCRIPT_MAX && s.script[t][i].kind != NOTHING; i++) {
        s.results[t][i] = operate(&s.script[t][i], &taker);
        past = orders_hash(past, &s.results[t][i].end, sizeof(int));
        past = orders_hash(past, &s.results[t][i].value, sizeof(hd_value));
    }
    orders_at(past);
}

static void reset(void *context)
{
    (void)context;
    memcpy(s.memory, s.first_memory, sizeof s.memory);
    s.taken = s.first_taken;
    s.spent = 0;
    memset(s.results, 0, sizeof s.results);
}

/* Results of operations that are done are shared memory, too: the check looks at them. */
static uint64_t state(void *context)
{
    uint64_t hash = orders_hash(1, s.memory, sizeof s.memory);
    const uint32_t words[2] = {s.taken, s.spent};
    (void)context;
    hash = orders_hash(hash, words, sizeof words);
    for (int t = 0; t < s.threads; t++)
        for (int i = 0; i < SCRIPT_MAX; i++) {
            hash = orders_hash(hash, &s.results[t][i].end, sizeof(int));
            hash = orders_hash(hash, &s.results[t][i].value, sizeof(hd_value));
        }
    return hash;
}

/* ---------------------------------------------------------------------------------- what is to be */

typedef struct contents {
    bool there[KEYS];
    hd_value value[KEYS];
} contents;

/* What the lists of the table hold. Nothing twice, nothing half done, every taken slab in a list. */
static contents read_table(const char *memory, uint32_t taken)
{
    contents c;
    uint32_t linked = 1;
    char copy[sizeof s.memory];
    memset(&c, 0, sizeof c);
    memcpy(copy, memory, sizeof copy);
    hd_slab_walk walk = slab_walk_start(&s.view, s.keys[0]);
    uint64_t at = (uint64_t)(walk.slab - s.memory);
    for (bool vacant = false;;) {
        for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) {
            hd_key key;
            memcpy(&key, slab_key_at(copy + at, i), sizeof key);
            CHECK(!vacant || key == 0, "a vacancy has a key behind it");
            vacant = key == 0;
            CHECK((key & HD_STATE_MASK) != HD_STATE_PENDING, "a slot was left pending");
            for (uint32_t k = 0; k < KEYS; k++) {
                if (key != (lean_key(&s.view.buckets, mix_key(&s.view.buckets.mix, s.keys[k])) |
                            HD_STATE_LIVE))
                    continue;
                CHECK(!c.there[k], "a key is there twice");
                c.there[k] = true;
#if HD_VALUE_BITS != 0
                memcpy(&c.value[k], slab_value_at(copy + at, i), sizeof(hd_value));
#endif
            }
        }
        uint32_t next;
        memcpy(&next, copy + at + HD_SLAB_TAIL, sizeof next);
        if (next == HD_SLAB_NONE) break;
        CHECK(next < SLABS && (linked >> next & 1) == 0, "a list has a loop");
        linked |= UINT32_C(1) << next;
        at = (uint64_t)(4 + next) * HD_SLAB_BYTES;
    }
    CHECK(linked == (taken & ~s.hidden), "a taken slab is in no list, or one is that is not taken");
    return c;
}

static hd_value folded(uint32_t policy, hd_value old, hd_value with)
{
    if (policy == HEDDLE_POLICY_REPLACE) return with;
    if (policy == HEDDLE_POLICY_ADD) return old + with;
    if (policy == HEDDLE_POLICY_MIN) return with < old ? with : old;
    if (policy == HEDDLE_POLICY_MAX) return with > old ? with : old;
    return old;
}

/* One whole operation on plain contents; false: it cannot have ended as it did. */
static bool explain(contents *c, const operation *o, const result *r)
{
    const uint32_t k = o->key;
    const bool there = c->there[k];
    if (o->kind == INSERT) {
        if (r->end == HD_SLAB_SPENT) return !s.spare && !there;
        if (there ? r->end != HD_SLAB_PRESENT
                  : r->end != HD_SLAB_PLACED && !(s.reuses && r->end == HD_SLAB_REVIVED))
            return false;
        revived += r->end == HD_SLAB_REVIVED;
        c->value[k] = there ? folded(o->policy, c->value[k], o->value) : o->value;
        c->there[k] = true;
        return true;
    }
    if (r->end != (there ? HD_SLAB_PRESENT : HD_SLAB_ABSENT)) return false;
    if (o->kind == FIND) return !there || HD_VALUE_BITS == 0 || r->value == c->value[k];
    c->there[k] = false;
    return true;
}

static bool same(const contents *a, const contents *b)
{
    for (uint32_t k = 0; k < KEYS; k++) {
        if (a->there[k] != b->there[k]) return false;
        if (a->there[k] && HD_VALUE_BITS != 0 && a->value[k] != b->value[k]) return false;
    }
    return true;
}

/* Some order of what is left of the scripts leads from `from` to `to`. */
static bool explained(const contents *from, const contents *to, const int *done)
{
    bool left = false;
    for (int t = 0; t < s.threads; t++) {
        const int i = done[t];
        if (i == SCRIPT_MAX || s.script[t][i].kind == NOTHING) continue;
        contents after = *from;
        int further[ORDERS_THREADS];
        left = true;
        if (!explain(&after, &s.script[t][i], &s.results[t][i])) continue;
        memcpy(further, done, sizeof further);
        further[t]++;
        if (explained(&after, to, further)) return true;
    }
    return !left && same(from, to);
}

static bool any_spent(void)
{
    for (int t = 0; t < s.threads; t++)
        for (int i = 0; i < SCRIPT_MAX && s.script[t][i].kind != NOTHING; i++)
            if (s.results[t][i].end == HD_SLAB_SPENT) return true;
    return false;
}

/* In the list, of which all slabs that are taken are part. */
static uint32_t dead_slots(void)
{
    uint32_t dead = 0;
    for (uint64_t at = 0; at < sizeof s.memory; at += HD_SLAB_BYTES)
        for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) {
            hd_key key;
            memcpy(&key, slab_key_at(s.memory + at, i), sizeof key);
            dead += (key & HD_STATE_MASK) == HD_STATE_DEAD;
        }
    return dead;
}

static void check(void *context)
{
    const contents before = read_table(s.first_memory, s.first_taken);
    const contents after = read_table(s.memory, s.taken);
    const int done[ORDERS_THREADS] = {0};
    (void)context;
    CHECK(explained(&before, &after, done), "no order of the operations explains this");
    CHECK(!s.reuses || !any_spent() || dead_slots() == 0, "no room, but a slot of an erased key");
}

/* ---------------------------------------------------------------------------------------- the scenes */

static void make_table(void)
{
    hd_view *v = &s.view.buckets;
    memset(v, 0, sizeof *v);
    v->slots = s.memory;
    v->region_bits = 2;
    v->region_buckets = 1;
    v->mark_bits = 1;
    v->key_mask = (uint64_t)(hd_key) ~((hd_key)1 << (HD_KEY_BITS - 2));
    v->mix.mul[0] = v->mix.mul[1] = v->mix.unmul[0] = v->mix.unmul[1] = 1;
    s.super.slabs = s.memory + 4 * HD_SLAB_BYTES;
    s.super.before = 0;
    s.super.blocks = 1;
    s.view.pool = (hd_slab_pool){s.super.slabs, &s.super, 1, 1, &s.taken, &s.spent};
    for (uint32_t k = 0, at = 0; k < KEYS; at++)
        if (slab_bucket(v, mix_key(&v->mix, (hd_key)at)) == 0) s.keys[k++] = (hd_key)at;
}

static void do_first(void *context, int t)
{
    const operation *list = context;
    hd_slab_taker taker = some_taker();
    (void)t;
    for (; list->kind != NOTHING; list++) (void)operate(list, &taker);
}

static void ignore(void *context) { (void)context; }

/* The table after these operations, with so many slabs left in the pool. */
static void begin_with(operation *list, uint32_t spare)
{
    orders alone = {1, ignore, do_first, state, ignore, list};
    memset(s.memory, 0, sizeof s.memory);
    s.hidden = ~((UINT32_C(1) << SLABS) - 1);
    s.taken = s.hidden | 1;
    s.spent = 0;
    s.threads = 0;
    orders_explore(&alone); /* one thread has one order */
    for (uint32_t i = 1; i < SLABS; i++) {
        const uint32_t bit = UINT32_C(1) << i;
        if ((s.taken & bit) != 0) continue;
        if (spare == 0) s.hidden |= bit;
        else spare--;
    }
    s.taken |= s.hidden;
    memcpy(s.first_memory, s.memory, sizeof s.memory);
    s.first_taken = s.taken;
}

static void explore(int threads)
{
    orders all = {threads, reset, run_script, state, check, NULL};
    s.threads = threads;
    const orders_counts counts = orders_explore(&all);
    CHECK(counts.ends != 0, "no run came to its end");
    scenes++;
    states_met += counts.states;
    ends_met += counts.ends;
}

#define A 0
#define B 1
#define C 2
#define D 3
#define KEEP HEDDLE_POLICY_KEEP
#define END                                                                                        \
    {                                                                                              \
        NOTHING, 0, 0, 0                                                                           \
    }

static const operation alphabet[] = {
    {INSERT, A, KEEP, 1},
    {INSERT, A, HEDDLE_POLICY_REPLACE, 2},
    {INSERT, A, HEDDLE_POLICY_ADD, 4},
    {ERASE, A, 0, 0},
    {FIND, A, 0, 0},
    {INSERT, B, KEEP, 8},
    {ERASE, B, 0, 0},
};
enum { LETTERS = sizeof alphabet / sizeof alphabet[0], LETTERS_OF_A = 5 };

/* Lists before: empty; with the key; full; full with the key; with traces of it; full with traces of it. */
static operation befores[][5] = {
    {END},
    {{INSERT, A, KEEP, 32}, END},
    {{INSERT, C, KEEP, 64}, {INSERT, D, KEEP, 65}, END},
    {{INSERT, C, KEEP, 64}, {INSERT, A, KEEP, 32}, END},
    {{INSERT, A, KEEP, 32}, {ERASE, A, 0, 0}, END},
    {{INSERT, C, KEEP, 64}, {INSERT, A, KEEP, 32}, {ERASE, A, 0, 0}, END},
};
enum { BEFORES = sizeof befores / sizeof befores[0] };

static void set_script(int t, operation first, operation second)
{
    s.script[t][0] = first;
    s.script[t][1] = second;
}

static const operation nothing = END;

static void pairs_and_triples(void)
{
    const int step =
        getenv("HEDDLE_TEST_QUICK") != NULL ? 3 : 1; /* most of the time goes to triples */
    for (int x = 0; x < LETTERS; x++)
        for (int y = x; y < LETTERS; y++) {
            set_script(0, alphabet[x], nothing);
            set_script(1, alphabet[y], nothing);
            explore(2);
            for (int z = y; z < LETTERS - 1; z += step) {
                set_script(2, alphabet[z], nothing);
                explore(3);
            }
        }
}

/* A thread that erases and inserts again, beside two others: two insertions with an erasure between them. */
static void scripts(void)
{
    for (int x = 0; x < LETTERS_OF_A; x++)
        for (int y = 0; y < LETTERS_OF_A; y++)
            for (int z = 0; z < LETTERS_OF_A; z++) {
                set_script(0, alphabet[x], alphabet[y]);
                set_script(1, alphabet[z], nothing);
                explore(2);
            }
    set_script(0, alphabet[0], nothing);
    set_script(1, alphabet[3], alphabet[0]);
    set_script(2, alphabet[4], alphabet[4]);
    explore(3);
    set_script(1, alphabet[3], alphabet[1]);
    explore(3);
}

/*
 * Insertions alone, which take the slots of erased keys. Lists before: an erased key, alone; before another; in the first
 * of two slabs, with the key behind it or not; in both slabs; and two of them.
 */
static operation dead_befores[][8] = {
    {{INSERT, A, KEEP, 32}, {ERASE, A, 0, 0}, END},
    {{INSERT, C, KEEP, 64}, {INSERT, D, KEEP, 65}, {ERASE, C, 0, 0}, END},
    {{INSERT, C, KEEP, 64}, {INSERT, D, KEEP, 65}, {INSERT, A, KEEP, 32}, {ERASE, C, 0, 0}, END},
    {{INSERT, C, KEEP, 64}, {INSERT, D, KEEP, 65}, {INSERT, B, KEEP, 32}, {ERASE, D, 0, 0}, END},
    {{INSERT, C, KEEP, 64},
     {INSERT, D, KEEP, 65},
     {INSERT, A, KEEP, 32},
     {ERASE, C, 0, 0},
     {ERASE, A, 0, 0},
     END},
    {{INSERT, C, KEEP, 64}, {INSERT, D, KEEP, 65}, {ERASE, C, 0, 0}, {ERASE, D, 0, 0}, END},
};
enum { DEAD_BEFORES = sizeof dead_befores / sizeof dead_befores[0] };

static const operation insertions[] = {
    {INSERT, A, KEEP, 1},
    {INSERT, A, HEDDLE_POLICY_ADD, 4},
    {INSERT, B, KEEP, 8},
    {INSERT, C, KEEP, 16},
};
enum { INSERTIONS = sizeof insertions / sizeof insertions[0] };

static void insertions_alone(void)
{
    s.reuses = true;
    for (int x = 0; x < INSERTIONS; x++)
        for (int y = x; y < INSERTIONS; y++) {
            set_script(0, insertions[x], nothing);
            set_script(1, insertions[y], nothing);
            explore(2);
            for (int z = y; z < INSERTIONS; z++) {
                set_script(2, insertions[z], nothing);
                explore(3);
                set_script(1, insertions[y], insertions[z]);
                explore(2);
                set_script(1, insertions[y], nothing);
            }
        }
    s.reuses = false;
}

int main(void)
{
    make_table();
    for (uint32_t i = 0; i < DEAD_BEFORES; i++)
        for (uint32_t spare = 0; spare < 3; spare++) {
            begin_with(dead_befores[i], spare);
            s.spare = spare == 2;
            insertions_alone();
        }
    CHECK(revived != 0, "no slot was taken again");
    for (uint32_t i = 0; i < BEFORES; i++) {
        begin_with(befores[i], 3);
        s.spare = true;
        pairs_and_triples();
        scripts();
    }
    for (uint32_t spare = 0; spare < 2;
         spare++) { /* lists that are full, and a pool that soon is */
        begin_with(befores[2], spare);
        s.spare = false;
        pairs_and_triples();
        begin_with(befores[5], spare);
        pairs_and_triples();
    }
    printf("%llu scenes, %llu states, %llu ends\n", (unsigned long long)scenes,
           (unsigned long long)states_met, (unsigned long long)ends_met);
    return 0;
}
