/* Group commit; see group_commit.h. There are two batches: workers append to `pending` while
 * `writing` is being written. The write mutex is taken before the append mutex, so batches reach
 * the store in the order in which they were filled. After a failure every call fails, because later
 * actions may refer to records of the lost batch. */
#include "engine/cache/group_commit.h"

#include "base/os.h"

#include <pthread.h>
#include <stdlib.h>

struct committer {
    struct store *store;
    bool held;
    pthread_mutex_t write, append;
    struct store_batch *pending, *writing;
    uint64_t first_ns;  /* when the oldest pending result was appended */
    struct err failure; /* guarded by `append` */
};

struct committer *committer_new(struct store *s)
{
    struct committer *c = must_calloc(1, sizeof *c);
    pthread_mutex_init(&c->write, NULL);
    pthread_mutex_init(&c->append, NULL);
    c->store = s;
    c->pending = store_batch_new(s);
    c->writing = store_batch_new(s);
    return c;
}

void committer_free(struct committer *c)
{
    if (!c)
        return;
    if (c->held)
        store_overlay(c->store, NULL);
    store_batch_free(c->pending);
    store_batch_free(c->writing);
    pthread_mutex_destroy(&c->write);
    pthread_mutex_destroy(&c->append);
    free(c);
}

void committer_hold(struct committer *c)
{
    c->held = true;
    store_overlay(c->store, c->pending);
}

enum err_code committer_flush(struct committer *c, struct err *e)
{
    struct err mine = {0};
    if (c->held)
        return OK;
    pthread_mutex_lock(&c->write);
    pthread_mutex_lock(&c->append);
    struct store_batch *full = c->pending;
    mine = c->failure;
    if (!mine.code) {
        c->pending = c->writing;
        c->writing = full;
    }
    pthread_mutex_unlock(&c->append);
    if (!mine.code && store_batch_commit(full, &mine)) {
        pthread_mutex_lock(&c->append);
        c->failure = mine;
        pthread_mutex_unlock(&c->append);
    }
    pthread_mutex_unlock(&c->write);
    if (mine.code && e)
        *e = mine;
    return err_up(e, mine.code);
}

enum err_code committer_append(struct committer *c, struct store_batch *b, struct err *e)
{
    pthread_mutex_lock(&c->append);
    if (store_batch_count(c->pending) == 0)
        c->first_ns = os_monotonic_ns();
    store_batch_append(c->pending, b);
    bool full = store_batch_count(c->pending) >= COMMIT_RECORDS ||
                store_batch_bytes(c->pending) >= COMMIT_BYTES;
    pthread_mutex_unlock(&c->append);
    return full ? err_up(e, committer_flush(c, e)) : OK;
}

enum err_code committer_tick(struct committer *c, struct err *e)
{
    pthread_mutex_lock(&c->append);
    bool due =
        store_batch_count(c->pending) && os_monotonic_ns() - c->first_ns >= COMMIT_MS * 1000000ull;
    pthread_mutex_unlock(&c->append);
    return due ? err_up(e, committer_flush(c, e)) : OK;
}
