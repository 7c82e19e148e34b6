/* What benchmarks have in common. An error ends the program: nothing is left to measure. */
#pragma once

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void must(enum err_code code, const struct err *e)
{
    if (!code)
        return;
    if (e->line)
        fprintf(stderr, "%s:%d:%d: ", e->input_file, e->line, e->column);
    fprintf(stderr, "%s\n", e->message);
    exit(1);
}

/* Processor time: other work on the machine does not count. */
static inline double cpu_seconds(clockid_t of)
{
    struct timespec t;
    clock_gettime(of, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A line of /proc/self/status in bytes: VmRSS, or VmHWM, the peak. */
static inline size_t status_bytes(const char *name)
{
    char line[256];
    size_t kilobytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), ": %zu", &kilobytes);
    if (f)
        fclose(f);
    return kilobytes << 10;
}

/* From here on the peak is counted anew. */
static inline void restart_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f)
        return;
    fputs("5", f);
    fclose(f);
}
