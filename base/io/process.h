/* Other programs: TeX, ssh, what a job names. They are found on PATH and started without a shell,
 * in a process group of their own, with three streams and no other file of ours. The group is
 * killed when the program ends; when its time is over or the caller no longer wants it, it is asked
 * to end (SIGTERM) and soon killed. When we die, the kernel kills the program. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct process {
    const char *const *argv;                   /* ends with NULL */
    const char *dir;                           /* where it runs; NULL: here */
    const char *const *env;                    /* "NAME=value", ends with NULL; NULL: ours */
    int in, out;                               /* file descriptors; -1: /dev/null */
    bool out_is_errors;                        /* standard output goes where standard error goes */
    void (*said)(void *arg, const char *line); /* each line of standard error; NULL: nobody */
    uint64_t limit_ms;                         /* 0: none */
    uint32_t limit_cpu_s;                      /* of processor time: SIGXCPU ends it; 0: none */
    uint64_t limit_bytes;                      /* of each file that it writes; 0: none */
    uint64_t limit_memory;                     /* bytes that it may reserve; 0: none */
    bool (*cancelled)(void *arg);              /* asked ten times a second; NULL: never */
    void *arg;
};

struct process_end {
    int status;         /* its exit status, or 128 + the number of the signal that ended it */
    const char *errors; /* the last 4 KiB that it wrote to standard error; in the arena */
};

/* Runs it to its end. OK whatever its status; ERR_NOTFOUND: there is no such program; ERR_LIMIT:
 * its time was over; ERR_CANCELLED. */
enum err_code process_run(struct process_end *out, struct arena *a, const struct process *p,
                          struct err *e);
