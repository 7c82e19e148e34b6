/* Operating system services: files, paths, clocks, the machine. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

struct os_stat {
    uint64_t size, inode;
    int64_t modified_ns, changed_ns; /* mtime, which any program can set, and ctime */
    bool is_dir, is_mine;            /* is_mine: owned by the user */
};

/* ERR_NOTFOUND if the file does not exist. */
enum err_code os_stat(struct os_stat *st, const char *path, struct err *e);
/* Reads a whole file and appends a NUL that *out does not count. ERR_LIMIT if it exceeds `limit`
 * bytes; ERR_INPUT for a directory, FIFO, socket or device, which is not opened. (A pipe that the
 * process was given, /dev/fd/N, is read.) */
enum err_code os_read_file(struct span *out, struct arena *a, const char *path, size_t limit,
                           struct err *e);
/* The same for an open descriptor of any kind; `name` is for messages. */
enum err_code os_read_stream(struct span *out, struct arena *a, int fd, const char *name,
                             size_t limit, struct err *e);
/* Creates parent directories too. */
enum err_code os_mkdirs(const char *path, struct err *e);
/* Returns everything below a folder that is no folder, links and pipes too, sorted bytewise. Does not
 * follow links; skips hidden files and folders. A folder that cannot be read, or too deep, is an
 * error. */
enum err_code os_list_tree(char ***paths, size_t *n, struct arena *a, const char *folder,
                           struct err *e);
/* Returns an absolute path without symbolic links; ERR_NOTFOUND if it does not exist. */
enum err_code os_realpath(char **out, struct arena *a, const char *path, struct err *e);
/* Removes what is there, a folder with all that it holds, whatever its depth and the modes of its
 * folders; follows no link; ignores what cannot be removed. */
void os_remove_tree(const char *path);
char *os_join(struct arena *a, const char *dir, const char *name); /* name may be absolute */
char *os_dirname(struct arena *a, const char *path);

/* Reserves the descriptors of closed standard streams, so that the next opened file does not take
 * them; writing to such a stream fails. */
void os_hold_standard_streams(void);

uint64_t os_monotonic_ns(void);
/* CPU time of this thread, or of this process. */
uint64_t os_thread_ns(void);
uint64_t os_process_ns(void);
int64_t os_wall_ns(void); /* since 1970; for timestamps only, never for results */
unsigned os_cpus(void);   /* available to this process */
/* Limits malloc's arenas to one per processor instead of eight: memory that another thread frees
 * stays with the arena that allocated it, so many arenas hold much unused memory. */
void os_few_heaps(void);
