/* What the program asks of the operating system: files, paths, clocks, the machine. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

struct os_stat {
    uint64_t size, inode;
    int64_t modified_ns, changed_ns; /* mtime, which anybody can set, and ctime */
    bool is_dir, is_mine;            /* is_mine: it belongs to the user */
};

/* ERR_NOTFOUND when there is no such file. */
enum err_code os_stat(struct os_stat *st, const char *path, struct err *e);
/* The whole file, followed by a NUL that does not count; at most `limit` bytes (ERR_LIMIT). */
enum err_code os_read_file(struct span *out, struct arena *a, const char *path, size_t limit,
                           struct err *e);
/* With parents. */
enum err_code os_mkdirs(const char *path, struct err *e);
/* Paths that match a shell pattern, from `dir` on if it is relative (a plain path matches itself if
 * it exists), sorted bytewise. ERR_INPUT for a pattern that may look at a directory again and
 * again.
 */
enum err_code os_glob(char ***paths, size_t *n, struct arena *a, const char *dir,
                      const char *pattern, struct err *e);
/* The regular files below a folder, sorted bytewise, whose names end in one of the suffixes (ended
 * by NULL; "": names without a dot); suffixes NULL: all. Links are not followed; hidden files and
 * folders are left out.
 */
enum err_code os_list_tree(char ***paths, size_t *n, struct arena *a, const char *folder,
                           const char *const *suffixes, struct err *e);
/* Absolute, without links; ERR_NOTFOUND if it does not exist. */
enum err_code os_realpath(char **out, struct arena *a, const char *path, struct err *e);
/* A directory with all in it; it is no error if it does not exist. */
void os_remove_tree(const char *path);
char *os_join(struct arena *a, const char *dir, const char *name); /* name may be absolute */
char *os_dirname(struct arena *a, const char *path);

/* Standard streams that are closed are not taken by the next file that is opened; writing to them
 * fails. */
void os_hold_standard_streams(void);

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
