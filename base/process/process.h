/* Child processes: TeX, ssh, programs that a job names. They are found on PATH and started without
 * a shell, in a process group of their own, with three streams and no other open file of ours. The
 * group is killed when the program ends; on a timeout or when the caller cancels, it gets SIGTERM
 * and soon SIGKILL. If this process dies, the kernel kills the program. With `tree` this holds for
 * all processes that descend from the program (guard.h). */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct process {
    const char *const *argv;                   /* NULL-terminated */
    const char *dir;                           /* working directory; NULL: ours */
    const char *const *env;                    /* "NAME=value", NULL-terminated; NULL: ours */
    int in, out;                               /* file descriptors; -1: /dev/null */
    bool out_is_errors;                        /* standard output goes to standard error */
    bool tree;                                 /* whatever it starts ends with it */
    void (*said)(void *arg, const char *line); /* called with each line of stderr, or NULL */
    uint64_t limit_ms;                         /* 0: none */
    uint32_t limit_cpu_s;                      /* CPU time until SIGXCPU ends it; 0: no limit */
    uint64_t limit_bytes;                      /* size of each file that it writes; 0: no limit */
    uint64_t limit_memory;                     /* address space in bytes; 0: no limit */
    bool (*cancelled)(void *arg);              /* polled ten times a second; may be NULL */
    void *arg;
};

struct process_end {
    int status;         /* its exit status, or 128 + the number of the signal that ended it */
    const char *errors; /* the last 4 KiB that it wrote to standard error; in the arena */
};

/* Runs a program to its end. Returns OK whatever its exit status; ERR_NOTFOUND if there is no such
 * program, ERR_LIMIT after a timeout, ERR_CANCELLED. */
enum err_code process_run(struct process_end *out, struct arena *a, const struct process *p,
                          struct err *e);
