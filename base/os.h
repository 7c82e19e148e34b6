/* What the program asks of the operating system: files, paths, clocks, the machine. */
#ifndef BASE_OS_H
#define BASE_OS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

#include <stdbool.h>
#include <stdint.h>

struct os_stat {
    uint64_t size, inode;
    int64_t changed_ns; /* mtime or ctime, the later: mtime can be set back */
    bool is_dir;
};

/* ERR_NOTFOUND when there is no such file. */
enum err_code os_stat(struct os_stat *st, const char *path, struct err *e);
/* The whole file, followed by a NUL that does not count; at most `limit` bytes (ERR_LIMIT). */
enum err_code os_read_file(struct span *out, struct arena *a, const char *path, size_t limit,
                           struct err *e);
/* Writes beside the target, then renames over it: readers see the old or the new file whole. */
enum err_code os_write_file(const char *path, const void *data, size_t n, struct err *e);
/* With parents. */
enum err_code os_mkdirs(const char *path, struct err *e);
/* Paths that match a shell pattern (a plain path matches itself if it exists), sorted bytewise. */
enum err_code os_glob(char ***paths, size_t *n, struct arena *a, const char *pattern,
                      struct err *e);
/* Absolute, without links; ERR_NOTFOUND if it does not exist. */
enum err_code os_realpath(char **out, struct arena *a, const char *path, struct err *e);
char *os_join(struct arena *a, const char *dir, const char *name); /* name may be absolute */
char *os_dirname(struct arena *a, const char *path);

uint64_t os_monotonic_ns(void);
/* Time that a processor spent on this thread, or on this process: stands still while they wait or
 * others have the machine. */
uint64_t os_thread_ns(void);
uint64_t os_process_ns(void);
int64_t os_wall_ns(void); /* since 1970; for records of when, never for what */
unsigned os_cpus(void);   /* that this process may use */
/* A heap of malloc's for each processor instead of eight: what one thread frees of another's stays
 * with that heap, so that many of them hold much that nobody uses. */
void os_few_heaps(void);
uint64_t os_peak_rss(void); /* bytes */
bool os_is_terminal(int fd);
int os_terminal_width(int fd); /* columns; 80 if unknown */

#endif
