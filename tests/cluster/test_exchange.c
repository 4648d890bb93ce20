/*
 * test_exchange.c: the exchange of members of one process (src/cluster/exchange/exchange.h): everything arrives where it
 * belongs, in order; failures of one member are known to all, at the same call, with the reason.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cluster/members.h"
#include "support/cases.h"
#include "support/keys.h"

#define MEMBERS_MAX 7
#define ROUNDS 40
#define MOST 300

/* What a member is to send to another in a round: so many, and these numbers. */
static uint64_t planned(uint32_t round, uint32_t from, uint32_t to)
{
    uint64_t state = round * 1000 + from * 10 + to;
    return keys_below(&state, 5) == 0 ? 0 : keys_below(&state, MOST);
}
static uint64_t element(uint32_t round, uint32_t from, uint32_t to, uint64_t i)
{
    uint64_t state = ((uint64_t)round << 40) + ((uint64_t)from << 30) + ((uint64_t)to << 20) + i;
    return keys_random(&state);
}

typedef struct scene {
    hd_exchange *exchange;
    heddle_device *devices[MEMBERS_MAX];
    uint32_t members;
    uint32_t failing;  /* this member fails in round `fails_in`, at one of the places below */
    uint32_t fails_in; /* UINT32_MAX: never */
    bool fails_in_room;
    char wrong[MEMBERS_MAX][128]; /* what a member found wrong: asserts are for the main thread */
    heddle_status ended[MEMBERS_MAX];
    uint32_t rounds[MEMBERS_MAX];
    char reason[MEMBERS_MAX][128];
} scene;

typedef struct member_arrays {
    scene *s;
    uint32_t me, round;
    uint64_t wide[MEMBERS_MAX * MOST], wide_in[MEMBERS_MAX * MOST];
    uint8_t narrow[MEMBERS_MAX * MOST], narrow_in[MEMBERS_MAX * MOST];
    uint64_t send[MEMBERS_MAX], receive[MEMBERS_MAX];
} member_arrays;

static heddle_status room(hd_delivery *d, void *context)
{
    member_arrays *m = context;
    if (m->s->fails_in_room && m->me == m->s->failing && m->round == m->s->fails_in)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "member %u has no room", m->me);
    d->to[0] = m->wide_in;
    d->to[1] = m->narrow_in;
    return HEDDLE_OK;
}

static void look_at(member_arrays *m, const hd_delivery *d)
{
    scene *s = m->s;
    uint64_t at = 0;
    for (uint32_t from = 0; from < s->members; from++) {
        if (m->receive[from] != planned(m->round, from, m->me))
            snprintf(s->wrong[m->me], 128, "%llu elements from %u",
                     (unsigned long long)m->receive[from], from);
        for (uint64_t i = 0; i < m->receive[from]; i++, at++) {
            const uint64_t expected = element(m->round, from, m->me, i);
            if (m->wide_in[at] != expected || m->narrow_in[at] != (uint8_t)expected)
                snprintf(s->wrong[m->me], 128, "element %llu from %u", (unsigned long long)i, from);
        }
    }
    if (d->total != at) snprintf(s->wrong[m->me], 128, "the total is wrong");
}

static heddle_status send_round(member_arrays *m)
{
    scene *s = m->s;
    heddle_status mine = HEDDLE_OK;
    uint64_t at = 0;
    hd_delivery d;
    memset(&d, 0, sizeof d);
    for (uint32_t to = 0; to < s->members; to++) {
        m->send[to] = planned(m->round, m->me, to);
        for (uint64_t i = 0; i < m->send[to]; i++, at++) {
            m->wide[at] = element(m->round, m->me, to, i);
            m->narrow[at] = (uint8_t)m->wide[at];
        }
    }
    d.arrays = 2;
    d.width[0] = 8;
    d.width[1] = 1;
    d.from[0] = m->wide;
    d.from[1] = m->narrow;
    d.send = m->send;
    d.receive = m->receive;
    d.room = room;
    d.context = m;
    if (!s->fails_in_room && m->me == s->failing && m->round == s->fails_in)
        mine = hd_fail(HEDDLE_ERROR_DEVICE, "member %u has lost its device", m->me);
    const heddle_status status = s->exchange->ops->all_to_all(s->exchange, m->me, mine, &d);
    if (status == HEDDLE_OK) look_at(m, &d);
    return status;
}

static heddle_status reduce_round(member_arrays *m)
{
    scene *s = m->s;
    uint64_t numbers[3] = {m->me, m->round, (uint64_t)1 << 60}, most = m->me * 7 % 5;
    heddle_status status =
        s->exchange->ops->reduce(s->exchange, m->me, HEDDLE_OK, numbers, 3, HD_REDUCE_SUM);
    if (status == HEDDLE_OK)
        status = s->exchange->ops->reduce(s->exchange, m->me, HEDDLE_OK, &most, 1, HD_REDUCE_MAX);
    uint64_t largest = 0;
    for (uint32_t i = 0; i < s->members; i++)
        if (i * 7 % 5 > largest) largest = i * 7 % 5;
    if (numbers[0] != s->members * (s->members - 1) / 2 || numbers[1] != m->round * s->members ||
        numbers[2] != s->members * ((uint64_t)1 << 60) || most != largest)
        snprintf(s->wrong[m->me], 128, "numbers do not add up");
    return status;
}

static heddle_status take_part(hd_member *member, void *context)
{
    scene *s = context;
    const uint32_t me = member->local;
    member_arrays *m = calloc(1, sizeof *m);
    heddle_status status = HEDDLE_OK;
    m->s = s;
    m->me = me;
    for (; m->round < ROUNDS && status == HEDDLE_OK; m->round++) {
        status = send_round(m);
        if (status == HEDDLE_OK) status = reduce_round(m);
    }
    s->ended[me] = status;
    s->rounds[me] = m->round;
    if (status != HEDDLE_OK) snprintf(s->reason[me], 128, "%.127s", heddle_last_error());
    free(m);
    return status;
}

static void play(scene *s)
{
    hd_member members[MEMBERS_MAX] = {0};
    hd_crew *crew = NULL;
    for (uint32_t i = 0; i < s->members; i++) {
        check_ok(heddle_device_open("cpu:1", &s->devices[i]));
        members[i].local = i;
    }
    check_ok(hd_local_exchange_open(s->devices, s->members, &s->exchange));
    check_ok(hd_crew_open(members, s->members, &crew));
    const heddle_status status = hd_crew_run(crew, take_part, s);
    check(status == s->ended[0], "the crew says %s", heddle_status_string(status));
    hd_crew_close(crew);
    s->exchange->ops->close(s->exchange);
    for (uint32_t i = 0; i < s->members; i++) {
        heddle_device_close(s->devices[i]);
        check(s->wrong[i][0] == 0, "member %u: %s", i, s->wrong[i]);
    }
}

static void all_goes_where_it_belongs(void **state)
{
    (void)state;
    for (uint32_t members = 1; members <= MEMBERS_MAX; members++) {
        scene s = {.members = members, .fails_in = UINT32_MAX};
        play(&s);
        for (uint32_t i = 0; i < members; i++) {
            assert_int_equal(s.ended[i], HEDDLE_OK);
            assert_int_equal(s.rounds[i], ROUNDS);
        }
    }
}

static void failures_are_known_to_all(void **state)
{
    (void)state;
    for (uint32_t members = 1; members <= MEMBERS_MAX; members++)
        for (uint32_t place = 0; place < 2; place++) {
            scene s = {.members = members,
                       .failing = members / 2,
                       .fails_in = 5,
                       .fails_in_room = place != 0};
            char reason[64];
            snprintf(reason, sizeof reason,
                     place != 0 ? "member %u has no room" : "member %u has lost its device",
                     s.failing);
            play(&s);
            for (uint32_t i = 0; i < members; i++) {
                assert_int_equal(s.ended[i],
                                 place != 0 ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_ERROR_DEVICE);
                assert_int_equal(s.rounds[i], 6);
                assert_string_equal(s.reason[i], reason);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(all_goes_where_it_belongs),
        ONCE(failures_are_known_to_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
