/* See list.h. */
#include "store/list.h"

#include "base/arena.h"
#include "base/os.h"
#include "store/logfile.h"
#include "store/tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

bool list_has_files(const char *db_path)
{
    DIR *d = opendir(db_path);
    bool any = false;
    struct stat st;
    for (struct dirent *entry; d && !any && (entry = readdir(d));)
        any = ends_with(entry->d_name, ".sst") ||
              (ends_with(entry->d_name, ".log") && fstatat(dirfd(d), entry->d_name, &st, 0) == 0 &&
               st.st_size > 0);
    if (d)
        closedir(d);
    return any;
}

static bool is_listed(const struct manifest *m, uint64_t number)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->tables[i].number == number)
            return true;
    return false;
}

/* A table that is not listed: one that was being written, or that the list has lost. 0: none. */
static uint64_t find_unlisted(const char *db_path, const struct manifest *m)
{
    DIR *d = opendir(db_path);
    uint64_t found = 0;
    for (struct dirent *entry; d && !found && (entry = readdir(d));) {
        uint64_t number = strtoull(entry->d_name, NULL, 10);
        if (ends_with(entry->d_name, ".sst") && !is_listed(m, number))
            found = number;
    }
    if (d)
        closedir(d);
    return found;
}

static enum err_code check_age(const char *db_path, const struct manifest *m, uint64_t acknowledged,
                               struct err *e)
{
    uint64_t table = find_unlisted(db_path, m);
    if (!table || logfile_goes_on_to(db_path, m->last_sequence) >= acknowledged)
        return OK;
    return err_fail(e, ERR_CORRUPT, "the MANIFEST was cut short: it leaves out %06" PRIu64 ".sst",
                    table);
}

enum err_code list_check(const char *db_path, uint64_t acknowledged, struct err *e)
{
    struct arena a = {0};
    struct manifest m = {0};
    enum err_code code = OK;
    if (access(arena_printf(&a, "%s/CURRENT", db_path), F_OK) != 0 && errno == ENOENT)
        code = list_has_files(db_path) ? err_fail(e, ERR_CORRUPT, "CURRENT is missing") : OK;
    else if ((code = err_up(e, manifest_load(&m, &a, db_path, e))) == OK)
        code = check_age(db_path, &m, acknowledged, e);
    manifest_free(&m);
    arena_free(&a);
    return code;
}

static enum err_code copy_file(const char *to, int directory, const char *name, struct err *e)
{
    enum { PIECE = 1 << 20 };
    int in = openat(directory, name, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    char *piece = malloc(PIECE);
    ssize_t n = out < 0 || !piece ? -1 : 1;
    while (n > 0 && (n = read(in, piece, PIECE)) > 0)
        for (ssize_t done = 0, wrote; done < n; done += wrote)
            if ((wrote = write(out, piece + done, (size_t)(n - done))) <= 0) {
                n = -1;
                break;
            }
    enum err_code code =
        n < 0 ? err_fail(e, ERR_IO, "cannot copy %s to %s: %s", name, to, strerror(errno)) : OK;
    free(piece);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && code == OK)
        code = err_fail(e, ERR_IO, "cannot write %s: %s", to, strerror(errno));
    return code;
}

/* What a file system without hard links, or one that does not allow this one, answers. */
static bool is_refusal(int error)
{
    return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EXDEV ||
           error == EMLINK || error == EACCES;
}

enum err_code list_link_files(const char *to, const char *db_path, struct err *e)
{
    struct arena a = {0};
    enum err_code code = err_up(e, os_mkdirs(to, e));
    DIR *d = code == OK ? opendir(db_path) : NULL;
    for (struct dirent *entry; d && code == OK && (entry = readdir(d));) {
        const char *name = entry->d_name, *new = arena_printf(&a, "%s/%s", to, name);
        if ((!ends_with(name, ".sst") && !ends_with(name, ".log")) ||
            linkat(dirfd(d), name, AT_FDCWD, new, 0) == 0)
            continue;
        code = is_refusal(errno) ? err_up(e, copy_file(new, dirfd(d), name, e))
                                 : err_fail(e, ERR_IO, "cannot link %s: %s", new, strerror(errno));
    }
    if (d)
        closedir(d);
    arena_free(&a);
    return code;
}
