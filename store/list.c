/* See list.h. */
#include "store/list.h"

#include "base/arena.h"
#include "base/os.h"
#include "store/logfile.h"
#include "store/tables.h"

#include <dirent.h>
#include <errno.h>
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
