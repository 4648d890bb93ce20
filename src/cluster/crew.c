/* crew.c: see crew.h. */
#include "cluster/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

typedef struct hand {
    hd_crew *crew;
    uint32_t number;
    pthread_t thread;
} hand;

struct hd_crew {
    uint32_t hands;
    uint32_t started; /* threads that there are */
    pid_t process;    /* which they live in */
    hand *all;
    pthread_mutex_t lock;
    pthread_cond_t begin, done;
    uint64_t turn; /* works that have been given out */
    uint32_t busy; /* hands that are still at the latest */
    bool ends;
    hd_crew_work work;
    void *context;
};

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
        crew->work(crew->context, h->number);
        pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0) pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

void hd_crew_run(hd_crew *crew, hd_crew_work work, void *context)
{
    if (crew->hands == 1) {
        work(context, 0);
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->busy = crew->hands;
    crew->turn++;
    pthread_cond_broadcast(&crew->begin);
    while (crew->busy != 0) pthread_cond_wait(&crew->done, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

bool hd_crew_is_here(const hd_crew *crew)
{
    return crew->hands == 1 || crew->process == getpid();
}

void hd_crew_close(hd_crew *crew)
{
    if (crew == NULL) return;
    if (!hd_crew_is_here(crew)) { /* there is nobody to wait for; what threads waited with is theirs */
        free(crew->all);
        free(crew);
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->ends = true;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 0; i < crew->started; i++) pthread_join(crew->all[i].thread, NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->begin);
    pthread_cond_destroy(&crew->done);
    free(crew->all);
    free(crew);
}

heddle_status hd_crew_open(uint32_t hands, hd_crew **crew)
{
    hd_crew *c = (hd_crew *)hd_allocate_zeroed(1, sizeof *c);
    if (c != NULL) c->all = (hand *)hd_allocate_zeroed(hands, sizeof *c->all);
    if (c == NULL || c->all == NULL) {
        free(c);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the threads of a cluster");
    }
    c->hands = hands;
    c->process = getpid();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->begin, NULL);
    pthread_cond_init(&c->done, NULL);
    for (; hands > 1 && c->started < hands; c->started++) {
        hand *h = &c->all[c->started];
        h->crew = c;
        h->number = c->started;
        if (pthread_create(&h->thread, NULL, hand_live, h) != 0) {
            hd_crew_close(c);
            return hd_fail(HEDDLE_ERROR_NO_MEMORY, "cannot start a thread for every member");
        }
    }
    *crew = c;
    return HEDDLE_OK;
}
