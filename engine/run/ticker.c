/* See ticker.h. */
#include "engine/run/ticker.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { EVERY_NS = 100000000 };

struct ticker {
    struct progress *progress;
    pthread_mutex_t mutex;
    pthread_cond_t over;
    pthread_t thread;
    bool ended;
};

static void *tick(void *arg)
{
    struct ticker *t = arg;
    pthread_mutex_lock(&t->mutex);
    while (!t->ended) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += EVERY_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&t->over, &t->mutex, &until);
        if (!t->ended)
            progress_tick(t->progress);
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

static void destroy(struct ticker *t)
{
    pthread_cond_destroy(&t->over);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

struct ticker *ticker_new(struct progress *p)
{
    struct ticker *t = calloc(1, sizeof *t);
    pthread_condattr_t attr;
    if (!t)
        return NULL;
    t->progress = p;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->over, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&t->thread, NULL, tick, t) == 0)
        return t;
    destroy(t);
    return NULL;
}

void ticker_free(struct ticker *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->mutex);
    t->ended = true;
    pthread_cond_signal(&t->over);
    pthread_mutex_unlock(&t->mutex);
    pthread_join(t->thread, NULL);
    destroy(t);
}
