/* Who is connected to the server, so that some do not keep the others out. A connection is hung up
 * on if its request takes longer than CALLERS_ASK_S to arrive or its answer longer than
 * CALLERS_TAKE_S to be taken, however many bytes it moves; and before that if there are too many,
 * of one address or of all: the one that has kept waiting longest makes room for a new one, so that
 * whoever asks quickly is heard. One whose answer is being made is left alone. Thread-safe. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    CALLERS_MOST = 256,
    CALLERS_MOST_ADDRESS = 128, /* of one IPv4 address or one /64 of IPv6 */
    CALLERS_ASK_S = 10,
    CALLERS_TAKE_S = 120,
};

enum caller_state {
    CALLER_ASKS,  /* its request has not arrived whole; also between requests */
    CALLER_WAITS, /* for the answer */
    CALLER_TAKES, /* the answer */
    CALLER_GONE,  /* it was hung up on, and is about to be removed */
};

struct caller {
    struct caller *next, *previous; /* by age */
    int fd;
    uint64_t address; /* 0: unknown; that of IPv6 is complemented */
    enum caller_state state;
    uint64_t since_ns; /* of os_monotonic_ns: the state */
};

struct callers {
    pthread_mutex_t mutex;
    struct caller *first, *last;
    size_t n;
};

void callers_init(struct callers *all);
/* Nobody may be connected. */
void callers_free(struct callers *all);
/* `fd` stays the server's, and open until callers_remove. */
struct caller *callers_add(struct callers *all, int fd, const struct sockaddr *address);
/* A caller that is gone stays so. */
void callers_set(struct callers *all, struct caller *c, enum caller_state state);
void callers_remove(struct callers *all, struct caller *c);
/* Hangs up on those whose time is over at `now_ns`. */
void callers_sweep(struct callers *all, uint64_t now_ns);
