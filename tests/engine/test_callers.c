/* Connections that are hung up on: who has waited longest, and whose time is over. */
#include "base/os.h"
#include "engine/serve/callers.h"
#include "tests/unit.h"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

enum { MANY = CALLERS_MOST + 8 };

static struct callers all;
static struct caller *who[MANY];
static int ours[MANY], theirs[MANY];

static void call(size_t i, const void *address)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ours[i] = ends[0];
    theirs[i] = ends[1];
    who[i] = callers_add(&all, ours[i], address);
}

static bool is_gone(size_t i)
{
    struct pollfd look = {theirs[i], POLLIN, 0};
    char byte;
    return poll(&look, 1, 0) == 1 && read(theirs[i], &byte, 1) == 0;
}

static size_t count_gone(size_t n)
{
    size_t gone = 0;
    for (size_t i = 0; i < n; i++)
        gone += is_gone(i);
    return gone;
}

static void leave(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        callers_remove(&all, who[i]);
        close(ours[i]);
        close(theirs[i]);
    }
    assert_null(all.first);
    assert_null(all.last);
    callers_free(&all);
}

TEST(most)
{
    callers_init(&all);
    for (size_t i = 0; i < CALLERS_MOST; i++)
        call(i, NULL);
    assert_int_equal(count_gone(CALLERS_MOST), 0);
    callers_set(&all, who[0], CALLER_WAITS); /* whose answers are being made are left alone */
    callers_set(&all, who[1], CALLER_TAKES); /* not the longest now */
    call(CALLERS_MOST, NULL);
    assert_true(is_gone(2));
    call(CALLERS_MOST + 1, NULL);
    assert_true(is_gone(3));
    assert_int_equal(count_gone(CALLERS_MOST + 2), 2);
    callers_set(&all, who[2], CALLER_WAITS); /* comes too late */
    assert_int_equal(who[2]->state, CALLER_GONE);
    for (size_t i = 0; i < CALLERS_MOST + 2; i++)
        callers_set(&all, who[i], CALLER_WAITS);
    call(CALLERS_MOST + 2, NULL);
    assert_true(is_gone(CALLERS_MOST + 2));
    leave(CALLERS_MOST + 3);
}

TEST(most_of_an_address)
{
    struct sockaddr_in here = {.sin_family = AF_INET}, there = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6}, other = {.sin6_family = AF_INET6};
    here.sin_addr.s_addr = htonl(0x7f000001);
    there.sin_addr.s_addr = htonl(0x7f000002);
    other.sin6_addr.s6_addr[15] = 1; /* in the same /64 */
    callers_init(&all);
    call(0, &there);
    for (size_t i = 1; i <= CALLERS_MOST_ADDRESS; i++)
        call(i, &here);
    assert_int_equal(count_gone(CALLERS_MOST_ADDRESS + 1), 0);
    call(CALLERS_MOST_ADDRESS + 1, &here);
    assert_false(is_gone(0));
    assert_true(is_gone(1));
    leave(CALLERS_MOST_ADDRESS + 2);
    callers_init(&all);
    for (size_t i = 0; i <= CALLERS_MOST_ADDRESS; i++)
        call(i, i % 2 ? (void *)&six : (void *)&other);
    assert_int_equal(count_gone(CALLERS_MOST_ADDRESS + 1), 1);
    leave(CALLERS_MOST_ADDRESS + 1);
}

TEST(times)
{
    const uint64_t second = 1000000000;
    callers_init(&all);
    for (size_t i = 0; i < 3; i++)
        call(i, NULL);
    callers_set(&all, who[1], CALLER_WAITS);
    callers_set(&all, who[2], CALLER_TAKES);
    uint64_t now = os_monotonic_ns();
    callers_sweep(&all, now + (CALLERS_ASK_S - 1) * second);
    assert_int_equal(count_gone(3), 0);
    callers_sweep(&all, now + (CALLERS_ASK_S + 1) * second);
    assert_true(is_gone(0));
    assert_int_equal(count_gone(3), 1);
    callers_sweep(&all, now + (CALLERS_TAKE_S + 1) * second);
    assert_true(is_gone(2));
    assert_false(is_gone(1));
    leave(3);
}
