#include "engine/serve/callers.h"

#include "base/err.h"
#include "base/os.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void callers_init(struct callers *all)
{
    *all = (struct callers){0};
    pthread_mutex_init(&all->mutex, NULL);
}

void callers_free(struct callers *all)
{
    pthread_mutex_destroy(&all->mutex);
}

static uint64_t address_of(const struct sockaddr *address)
{
    uint64_t out = 0;
    if (address && address->sa_family == AF_INET)
        memcpy(&out, &((const struct sockaddr_in *)address)->sin_addr, 4);
    if (!address || address->sa_family != AF_INET6)
        return out;
    memcpy(&out, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof out);
    return ~out;
}

/* Its thread sees the end, and removes it. */
static void hang_up(struct caller *c)
{
    c->state = CALLER_GONE;
    shutdown(c->fd, SHUT_RDWR);
}

/* Caller holds the mutex. If more than `most` are connected, of one address (0: of all), hangs up
 * on the one that has been longest in its state, or on the newest if all others wait for answers.
 */
static void make_room(struct callers *all, uint64_t address, size_t most)
{
    struct caller *longest = NULL;
    size_t n = 0;
    for (struct caller *c = all->first; c; c = c->next) {
        if (c->state == CALLER_GONE || (address && c->address != address))
            continue;
        n++;
        if (c->state != CALLER_WAITS && (!longest || c->since_ns < longest->since_ns))
            longest = c;
    }
    if (n > most && longest)
        hang_up(longest);
}

struct caller *callers_add(struct callers *all, int fd, const struct sockaddr *address)
{
    struct caller *c = must_calloc(1, sizeof *c);
    c->fd = fd;
    c->address = address_of(address);
    pthread_mutex_lock(&all->mutex);
    c->since_ns = os_monotonic_ns();
    c->previous = all->last;
    *(all->last ? &all->last->next : &all->first) = c;
    all->last = c;
    all->n++;
    if (c->address)
        make_room(all, c->address, CALLERS_MOST_ADDRESS);
    make_room(all, 0, CALLERS_MOST);
    pthread_mutex_unlock(&all->mutex);
    return c;
}

void callers_set(struct callers *all, struct caller *c, enum caller_state state)
{
    pthread_mutex_lock(&all->mutex);
    if (c->state != CALLER_GONE)
        c->state = state;
    c->since_ns = os_monotonic_ns();
    pthread_mutex_unlock(&all->mutex);
}

void callers_remove(struct callers *all, struct caller *c)
{
    pthread_mutex_lock(&all->mutex);
    *(c->previous ? &c->previous->next : &all->first) = c->next;
    *(c->next ? &c->next->previous : &all->last) = c->previous;
    all->n--;
    pthread_mutex_unlock(&all->mutex);
    free(c);
}

void callers_sweep(struct callers *all, uint64_t now_ns)
{
    pthread_mutex_lock(&all->mutex);
    for (struct caller *c = all->first; c; c = c->next) {
        uint64_t limit_s = c->state == CALLER_ASKS    ? CALLERS_ASK_S
                           : c->state == CALLER_TAKES ? CALLERS_TAKE_S
                                                      : UINT32_MAX;
        if (now_ns > c->since_ns + limit_s * 1000000000)
            hang_up(c);
    }
    pthread_mutex_unlock(&all->mutex);
}
