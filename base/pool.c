/* Worker threads; see pool.h. Items are taken from a shared counter. Workers sleep on a condition
 * between loops: no spinning, since machines are shared. */
#include "base/pool.h"

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct pool {
    unsigned n_threads;
    pthread_t *threads; /* n_threads - 1 */
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    unsigned long generation; /* of the current loop */
    unsigned busy;            /* workers still in the current loop */
    bool stop;
    void (*fn)(void *arg, size_t item, unsigned worker);
    void *arg;
    size_t n;
    size_t chains; /* 0: items are independent */
    bool *ended;   /* by item, if items are in chains; protected by the mutex */
    pthread_cond_t item_ended;
    _Atomic size_t next;
};

struct worker_start {
    struct pool *pool;
    unsigned index;
};

/* Waits until the previous item of the chain has finished. */
static void wait_for_previous(struct pool *p, size_t item)
{
    if (!p->chains || item < p->chains)
        return;
    pthread_mutex_lock(&p->mutex);
    while (!p->ended[item - p->chains])
        pthread_cond_wait(&p->item_ended, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
}

static void note_end(struct pool *p, size_t item)
{
    if (!p->chains)
        return;
    pthread_mutex_lock(&p->mutex);
    p->ended[item] = true;
    pthread_cond_broadcast(&p->item_ended);
    pthread_mutex_unlock(&p->mutex);
}

static void take_items(struct pool *p, unsigned worker)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (i >= p->n)
            return;
        wait_for_previous(p, i);
        p->fn(p->arg, i, worker);
        note_end(p, i);
    }
}

static void *work(void *arg)
{
    struct worker_start start = *(struct worker_start *)arg;
    free(arg);
    struct pool *p = start.pool;
    unsigned long seen = 0;
    for (;;) {
        pthread_mutex_lock(&p->mutex);
        while (!p->stop && p->generation == seen)
            pthread_cond_wait(&p->work, &p->mutex);
        bool stop = p->stop;
        seen = p->generation;
        pthread_mutex_unlock(&p->mutex);
        if (stop)
            return NULL;
        take_items(p, start.index);
        pthread_mutex_lock(&p->mutex);
        if (--p->busy == 0)
            pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->mutex);
    }
}

struct pool *pool_new(unsigned n_threads)
{
    struct pool *p = must_calloc(1, sizeof *p);
    if (n_threads == 0)
        n_threads = 1;
    p->threads = must_calloc(n_threads, sizeof *p->threads);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    pthread_cond_init(&p->item_ended, NULL);
    p->n_threads = 1;
    for (unsigned i = 1; i < n_threads; i++) {
        struct worker_start *start = must_calloc(1, sizeof *start);
        *start = (struct worker_start){p, i};
        if (pthread_create(&p->threads[i - 1], NULL, work, start) != 0) {
            free(start);
            break;
        }
        p->n_threads++;
    }
    if (p->n_threads < n_threads) {
        pool_free(p);
        return NULL;
    }
    return p;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->mutex);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->mutex);
    for (unsigned i = 1; i < p->n_threads; i++)
        pthread_join(p->threads[i - 1], NULL);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->item_ended);
    pthread_mutex_destroy(&p->mutex);
    free(p->threads);
    free(p);
}

unsigned pool_threads(const struct pool *p)
{
    return p ? p->n_threads : 1;
}

static void run_alone(size_t n, void (*fn)(void *arg, size_t item, unsigned worker), void *arg)
{
    for (size_t i = 0; i < n; i++)
        fn(arg, i, 0);
}

static void run(struct pool *p, size_t n, size_t chains, bool *ended,
                void (*fn)(void *arg, size_t item, unsigned worker), void *arg)
{
    pthread_mutex_lock(&p->mutex);
    p->fn = fn;
    p->arg = arg;
    p->n = n;
    p->chains = chains;
    p->ended = ended;
    atomic_store(&p->next, 0);
    p->busy = p->n_threads - 1;
    p->generation++;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->mutex);
    take_items(p, 0);
    pthread_mutex_lock(&p->mutex);
    while (p->busy)
        pthread_cond_wait(&p->done, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
}

void pool_for(struct pool *p, size_t n, void (*fn)(void *arg, size_t item, unsigned worker),
              void *arg)
{
    if (!p || p->n_threads == 1 || n <= 1)
        run_alone(n, fn, arg);
    else
        run(p, n, 0, NULL, fn, arg);
}

void pool_for_chains(struct pool *p, size_t n, size_t chains,
                     void (*fn)(void *arg, size_t item, unsigned worker), void *arg)
{
    bool *ended = p && p->n_threads > 1 && n > 1 ? calloc(n, sizeof *ended) : NULL;
    if (ended)
        run(p, n, chains, ended, fn, arg);
    else
        run_alone(n, fn, arg);
    free(ended);
}
