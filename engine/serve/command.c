#include "engine/serve/command.h"

#include "base/io/process.h"
#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

void command_room_init(struct command_room *r)
{
    sem_init(&r->free, 0, COMMANDS);
    r->closing = false;
}

void command_room_close(struct command_room *r)
{
    r->closing = true;
}

void command_room_free(struct command_room *r)
{
    sem_destroy(&r->free);
}

static bool is_closing(void *arg)
{
    return ((struct command_room *)arg)->closing;
}

static bool wait_for_room(struct command_room *r)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += COMMAND_WAIT_S;
    while (!r->closing)
        if (!sem_timedwait(&r->free, &until))
            return true;
        else if (errno != EINTR)
            break;
    return false;
}

static const char **arguments(struct arena *a, const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    const char **all = arena_array(a, const char *, n + 2);
    all[0] = "/proc/self/exe";
    memcpy(all + 1, words, n * sizeof *words);
    return all;
}

static char *read_output(size_t *n, struct arena *a, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = arena_alloc(a, size > 0 ? (size_t)size + 1 : 1);
    ssize_t got = size > 0 ? pread(fd, text, (size_t)size, 0) : 0;
    *n = got > 0 ? (size_t)got : 0;
    text[*n] = 0;
    return text;
}

static const char *reason(enum err_code code, const struct process_end *end, size_t n)
{
    if (code == ERR_LIMIT)
        return "this takes too long for a page; the command below has no limit";
    if (code == ERR_CANCELLED)
        return "the server is stopping";
    if (code)
        return "the command could not be started";
    if (n >= COMMAND_OUTPUT)
        return "this is too large for a page; the command below has no limit";
    return end->status > 128 && !*end->errors ? "the command was ended by the system" : NULL;
}

void command_run(struct command_result *out, struct arena *a, struct command_room *r,
                 const char *const *words)
{
    struct process_end end = {0};
    *out = (struct command_result){.status = -1, .out = span_of("", 0)};
    out->errors = "too much is asked for at once; try again in a while";
    if (!wait_for_room(r))
        return;
    int fd = memfd_create("answer", MFD_CLOEXEC);
    struct process p = {.argv = arguments(a, words),
                        .in = -1,
                        .out = fd,
                        .limit_ms = COMMAND_S * 1000,
                        .limit_bytes = COMMAND_OUTPUT,
                        .limit_memory = SANITIZED ? 0 : COMMAND_BYTES(os_cpus()),
                        .cancelled = is_closing,
                        .arg = r};
    enum err_code code = fd < 0 ? ERR_IO : process_run(&end, a, &p, NULL);
    sem_post(&r->free);
    size_t n = 0;
    const char *text = fd < 0 ? "" : read_output(&n, a, fd), *why = reason(code, &end, n);
    if (fd >= 0)
        close(fd);
    if (!why) {
        out->status = end.status;
        out->out = span_of(text, n);
    }
    out->errors = why ? why : end.errors;
}
