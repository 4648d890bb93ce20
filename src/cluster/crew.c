/* crew.c: see crew.h. */
#include "cluster/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/members.h"

typedef struct hand {
    hd_crew *crew;
    hd_member *member;
    pthread_t thread;
} hand;

struct hd_crew {
    hd_member *members;
    hand *hands;
    uint32_t started; /* threads that there are: none for a single member */
    pid_t process;    /* which they live in */
    pthread_mutex_t lock;
    pthread_cond_t begin, done;
    uint64_t turn; /* works that have been given out */
    uint32_t busy; /* hands that are still at the latest */
    bool ends;
    hd_member_work work;
    void *context;
};

static void do_work(hd_member *member, hd_member_work work, void *context)
{
    hd_phases_begin(member);
    member->status = work(member, context);
    if (member->status != HEDDLE_OK)
        strncpy(member->reason, heddle_last_error(), sizeof member->reason - 1);
}

static void *hand_live(void *argument)
{
    const hand *h = (const hand *)argument;
    hd_crew *crew = h->crew;
    uint64_t turn = 0;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->turn == turn && !crew->ends) pthread_cond_wait(&crew->begin, &crew->lock);
        if (crew->turn == turn) break;
        turn = crew->turn;
        pthread_mutex_unlock(&crew->lock);
        do_work(h->member, crew->work, crew->context);
        pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0) pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* A fork takes no threads along: whoever waited for them would wait for ever. */
static bool is_here(const hd_crew *crew) { return crew->started == 0 || crew->process == getpid(); }

heddle_status hd_crew_run(hd_crew *crew, hd_member_work work, void *context)
{
    hd_member *first = &crew->members[0];
    if (!is_here(crew))
        return hd_fail(
            HEDDLE_ERROR_INVALID,
            "the cluster was opened before a fork, in another process; its threads are there. "
            "Open one in this process");
    if (crew->started == 0) {
        do_work(first, work, context);
    } else {
        pthread_mutex_lock(&crew->lock);
        crew->work = work;
        crew->context = context;
        crew->busy = crew->started;
        crew->turn++;
        pthread_cond_broadcast(&crew->begin);
        while (crew->busy != 0) pthread_cond_wait(&crew->done, &crew->lock);
        pthread_mutex_unlock(&crew->lock);
    }
    return first->status == HEDDLE_OK ? HEDDLE_OK : hd_fail(first->status, "%s", first->reason);
}

void hd_crew_close(hd_crew *crew)
{
    if (crew == NULL) return;
    if (!is_here(crew)) { /* there is nobody to wait for; what threads waited with is theirs */
        free(crew->hands);
        free(crew);
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->ends = true;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 0; i < crew->started; i++) pthread_join(crew->hands[i].thread, NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->begin);
    pthread_cond_destroy(&crew->done);
    free(crew->hands);
    free(crew);
}

heddle_status hd_crew_open(hd_member *members, uint32_t count, hd_crew **crew)
{
    hd_crew *c = (hd_crew *)hd_allocate_zeroed(1, sizeof *c);
    if (c != NULL) c->hands = (hand *)hd_allocate_zeroed(count, sizeof *c->hands);
    if (c == NULL || c->hands == NULL) {
        free(c);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the threads of a cluster");
    }
    c->members = members;
    c->process = getpid();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->begin, NULL);
    pthread_cond_init(&c->done, NULL);
    for (; count > 1 && c->started < count; c->started++) {
        hand *h = &c->hands[c->started];
        h->crew = c;
        h->member = &members[c->started];
        if (pthread_create(&h->thread, NULL, hand_live, h) != 0) {
            hd_crew_close(c);
            return hd_fail(HEDDLE_ERROR_NO_MEMORY, "cannot start a thread for every member");
        }
    }
    *crew = c;
    return HEDDLE_OK;
}
