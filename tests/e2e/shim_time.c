/* Loaded before the C library (LD_PRELOAD): the clock of the day is wrong. EQLOOM_SHIM_OFFSET
 * seconds are added to it; with EQLOOM_SHIM_JUMP_AT=n, EQLOOM_SHIM_JUMP more from the n-th look at
 * it on. Clocks that are not set, such as CLOCK_MONOTONIC, stay right. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static atomic_long looks;

static long long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : 0;
}

static long long shift(void)
{
    long at = (long)number("EQLOOM_SHIM_JUMP_AT");
    long look = atomic_fetch_add(&looks, 1) + 1;
    return number("EQLOOM_SHIM_OFFSET") + (at && look >= at ? number("EQLOOM_SHIM_JUMP") : 0);
}

static int real_clock(clockid_t id, struct timespec *t)
{
    static int (*next)(clockid_t, struct timespec *);
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return next(id, t);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int code = real_clock(id, t);
    if (code == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        t->tv_sec += shift();
    return code;
}

time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec t;
    int code = clock_gettime(CLOCK_REALTIME, &t);
    *out = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return code;
}
