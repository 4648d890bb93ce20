/*
 * test_local_exchange.c: the exchange of members of one process by itself (cluster/exchange/exchange.h). Members come late, are
 * slow to fetch, or use their arrays for something else as soon as a call returns: no other may see that. Each of the
 * places where members wait for each other is needed here: without it one of these tests fails.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "cluster/exchange/exchange.h"
#include "support/cases.h"

#define MEMBERS 4

static void sleep_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

/* ------------------------------------------------------------------------------------- members */

static heddle_device *devices[MEMBERS];
static hd_exchange *exchange;
static const hd_engine *real;
static hd_engine slow;
static _Thread_local bool is_slow; /* this thread's copies take their time */

static heddle_status slow_copy(heddle_device *device, void *to, const void *from, uint64_t bytes,
                               void *stream)
{
    if (is_slow) sleep_ms(20);
    return real->copy(device, to, from, bytes, stream);
}

typedef struct actor {
    pthread_t thread;
    uint32_t member;
    void (*act)(struct actor *a);
    char wrong[256]; /* what it saw and should not have */
} actor;

/* Only the first thing that is wrong is told, in the main thread. */
#define EXPECT(a, condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition) && (a)->wrong[0] == 0)                                                    \
            (void)snprintf((a)->wrong, sizeof(a)->wrong, __VA_ARGS__);                             \
    } while (0)

static void *act(void *argument)
{
    actor *a = argument;
    a->act(a);
    return NULL;
}

static void play(void (*part)(actor *a))
{
    static actor actors[MEMBERS];
    memset(actors, 0, sizeof actors);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        check_ok(heddle_device_open("cpu:1", &devices[i]));
        real = devices[i]->engine;
        slow = *real;
        slow.copy = slow_copy;
        devices[i]->engine = &slow;
    }
    check_ok(hd_local_exchange_open(devices, MEMBERS, &exchange));
    assert_true(exchange->direct);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        actors[i].member = i;
        actors[i].act = part;
        assert_int_equal(pthread_create(&actors[i].thread, NULL, act, &actors[i]), 0);
    }
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_int_equal(pthread_join(actors[i].thread, NULL), 0);
    exchange->ops->close(exchange);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        devices[i]->engine = real;
        heddle_device_close(devices[i]);
    }
    for (uint32_t i = 0; i < MEMBERS; i++)
        check(actors[i].wrong[0] == 0, "member %u: %s", i, actors[i].wrong);
}

/* ---------------------------------------------------------------------------------- all to all */

#define EACH 5 /* elements for a member, and one more for each further one */

/* What member `from` sends to member `to` as its i-th element in a round. */
static uint64_t element(uint32_t round, uint32_t from, uint32_t to, uint64_t i)
{
    return ((uint64_t)round << 32 | from << 16 | to << 8) + i + 1;
}

typedef struct parcel {
    uint64_t from[MEMBERS * (EACH + MEMBERS)], to[MEMBERS * (EACH + MEMBERS)];
    uint64_t send[MEMBERS], receive[MEMBERS];
    hd_delivery delivery;
} parcel;

/* More elements in odd rounds, so that counts of another round are noticed. */
static uint64_t length(uint32_t round, uint32_t to) { return EACH + to - (round % 2 == 0 ? 1 : 0); }

static void pack(parcel *p, uint32_t round, uint32_t member)
{
    uint64_t at = 0;
    memset(p, 0xcd, sizeof *p);
    for (uint32_t to = 0; to < MEMBERS; to++) {
        p->send[to] = length(round, to);
        for (uint64_t i = 0; i < p->send[to]; i++) p->from[at++] = element(round, member, to, i);
    }
    memset(&p->delivery, 0, sizeof p->delivery);
    p->delivery.arrays = 1;
    p->delivery.width[0] = sizeof(uint64_t);
    p->delivery.from[0] = p->from;
    p->delivery.to[0] = p->to;
    p->delivery.send = p->send;
    p->delivery.receive = p->receive;
}

static void unpack(actor *a, const parcel *p, uint32_t round)
{
    uint64_t at = 0;
    for (uint32_t from = 0; from < MEMBERS; from++) {
        EXPECT(a, p->receive[from] == length(round, a->member), "round %u: %llu elements from %u",
               round, (unsigned long long)p->receive[from], from);
        for (uint64_t i = 0; i < length(round, a->member); i++, at++)
            EXPECT(a, p->to[at] == element(round, from, a->member, i),
                   "round %u: element %llu from %u is wrong", round, (unsigned long long)i, from);
    }
    EXPECT(a, p->delivery.total == at, "a total is wrong");
}

/* One after the other is slow, while the others are through and use their arrays again. */
static void be_slow(actor *a)
{
    parcel p;
    for (uint32_t round = 0; round < 2 * MEMBERS; round++) {
        is_slow = round % MEMBERS == a->member;
        pack(&p, round, a->member);
        const heddle_status status =
            exchange->ops->all_to_all(exchange, a->member, HEDDLE_OK, &p.delivery);
        EXPECT(a, status == HEDDLE_OK, "status %d", (int)status);
        unpack(a, &p, round);
    }
}
static void slow_members_get_what_was_sent(void **state)
{
    (void)state;
    play(be_slow);
}

/* One after the other is late: what is there of the round before is not taken for its part. */
static void be_late(actor *a)
{
    parcel p;
    for (uint32_t round = 0; round < 2 * MEMBERS; round++) {
        if (round % MEMBERS == a->member) sleep_ms(20);
        pack(&p, round, a->member);
        const heddle_status status =
            exchange->ops->all_to_all(exchange, a->member, HEDDLE_OK, &p.delivery);
        EXPECT(a, status == HEDDLE_OK, "status %d", (int)status);
        unpack(a, &p, round);
    }
}
static void late_members_are_waited_for(void **state)
{
    (void)state;
    play(be_late);
}

/* ---------------------------------------------------------------------------------------- offers */

/* Writes what `pack` made where the others have offered room for it. */
static void write_there(const parcel *p, void *const *places)
{
    uint64_t at = 0;
    for (uint32_t to = 0; to < MEMBERS; to++) {
        memcpy(places[to], p->from + at, p->send[to] * sizeof *p->from);
        at += p->send[to];
    }
}

/* One after the other is late, before it offers room or before it writes. */
static void write_by_turns(actor *a)
{
    parcel p;
    void *places[MEMBERS];
    for (uint32_t round = 0; round < 4 * MEMBERS; round++) {
        const bool late = round % MEMBERS == a->member;
        pack(&p, round, a->member);
        p.delivery.places = places;
        if (late && round / MEMBERS % 2 == 0) sleep_ms(20);
        heddle_status status = exchange->ops->offer(exchange, a->member, HEDDLE_OK, &p.delivery);
        EXPECT(a, status == HEDDLE_OK, "status %d", (int)status);
        if (late && round / MEMBERS % 2 == 1) sleep_ms(20);
        write_there(&p, places);
        status = hd_agree(exchange, a->member, HEDDLE_OK);
        EXPECT(a, status == HEDDLE_OK, "status %d", (int)status);
        unpack(a, &p, round);
    }
}
static void members_write_to_each_other(void **state)
{
    (void)state;
    play(write_by_turns);
}

/* -------------------------------------------------------------------------------------- failures */

/* hd_delivery.room. */
static heddle_status no_room(hd_delivery *delivery, void *context)
{
    (void)delivery;
    sleep_ms(1); /* so that it is the last one, and the first to go on */
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no room in round %u", *(const uint32_t *)context);
}

/* Members fail by turns, within the exchange and then before the next; all know of it, and why. */
static void fail_by_turns_in(actor *a, heddle_status (*exchanges)(hd_exchange *, uint32_t,
                                                                  heddle_status, hd_delivery *))
{
    void *places[MEMBERS];
    for (uint32_t round = 0; round < 600; round++) {
        parcel p;
        char reason[64];
        const bool fails = round / 3 % MEMBERS == a->member;
        heddle_status mine = HEDDLE_OK;
        pack(&p, round, a->member);
        (void)snprintf(reason, sizeof reason, "no room in round %u", round);
        if (fails && round % 3 == 1) {
            p.delivery.room = no_room;
            p.delivery.context = &round;
        }
        if (fails && round % 3 == 2) mine = hd_fail(HEDDLE_ERROR_NO_MEMORY, "%s", reason);
        p.delivery.places = places;
        const heddle_status status = exchanges(exchange, a->member, mine, &p.delivery);
        EXPECT(a, status == (round % 3 == 0 ? HEDDLE_OK : HEDDLE_ERROR_NO_MEMORY),
               "round %u: status %d", round, (int)status);
        if (round % 3 == 0 && exchanges == exchange->ops->offer) {
            write_there(&p, places);
            EXPECT(a, hd_agree(exchange, a->member, HEDDLE_OK) == HEDDLE_OK, "no agreement");
        }
        if (round % 3 == 0) unpack(a, &p, round);
        else
            EXPECT(a, strcmp(heddle_last_error(), reason) == 0, "round %u: \"%s\"", round,
                   heddle_last_error());
    }
}
static void fail_by_turns(actor *a) { fail_by_turns_in(a, exchange->ops->all_to_all); }
static void fail_to_offer_by_turns(actor *a) { fail_by_turns_in(a, exchange->ops->offer); }
static void failures_are_those_of_the_round(void **state)
{
    (void)state;
    play(fail_by_turns);
    play(fail_to_offer_by_turns);
}

/* ---------------------------------------------------------------------------------------- reduce */

#define NUMBERS (UINT64_C(1) << 18) /* so many that a sum takes its time */

static uint64_t number(uint32_t round, uint32_t member, uint64_t i)
{
    return (uint64_t)round * 1000 + (i + member * 7) % 13;
}

static void reduce_many(actor *a)
{
    uint64_t *numbers = malloc(NUMBERS * sizeof *numbers);
    for (uint32_t round = 0; round < 12; round++) {
        const uint32_t how = round % 2 == 0 ? HD_REDUCE_SUM : HD_REDUCE_MAX;
        for (uint64_t i = 0; i < NUMBERS; i++) numbers[i] = number(round, a->member, i);
        if (round % MEMBERS == a->member) sleep_ms(5); /* the others are there before */
        const heddle_status status =
            exchange->ops->reduce(exchange, a->member, HEDDLE_OK, numbers, NUMBERS, how);
        EXPECT(a, status == HEDDLE_OK, "status %d", (int)status);
        if (a->member != 0) /* the first uses its numbers for something else at once */
            for (uint64_t i = 0; i < NUMBERS; i++) {
                uint64_t sum = 0, most = 0;
                for (uint32_t m = 0; m < MEMBERS; m++) {
                    const uint64_t theirs = number(round, m, i);
                    sum += theirs;
                    most = theirs > most ? theirs : most;
                }
                EXPECT(a, numbers[i] == (how == HD_REDUCE_SUM ? sum : most),
                       "round %u: number %llu is wrong", round, (unsigned long long)i);
            }
        memset(numbers, 0xcd, NUMBERS * sizeof *numbers);
    }
    free(numbers);
}
static void numbers_are_those_of_all(void **state)
{
    (void)state;
    play(reduce_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(slow_members_get_what_was_sent), ONCE(late_members_are_waited_for),
        ONCE(members_write_to_each_other), ONCE(failures_are_those_of_the_round),
        ONCE(numbers_are_those_of_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
