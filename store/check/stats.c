/* Statistics of a store; see maintain.h. */
#include "store/maintain.h"

#include "store/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static enum err_code count_key(void *n, struct span key, struct span value, struct err *e)
{
    ++*(uint64_t *)n;
    return OK;
}

static enum err_code count_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct store_stats *out = arg;
    enum record_kind kind;
    uint64_t length;
    enum err_code code = envelope_peek(&kind, &length, value, e);
    if (code)
        return err_up(e, code);
    struct kind_stats *k = &out->kinds[kind];
    k->records++;
    k->raw += length;
    k->stored += value.len;
    k->with_dictionary += value.data[3] == CODEC_ZSTD_DICTIONARY;
    return OK;
}

static uint64_t disk_bytes(const char *path)
{
    uint64_t sum = 0;
    DIR *d = opendir(path);
    struct stat st;
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            sum += (uint64_t)st.st_size;
    if (d)
        closedir(d);
    return sum;
}

enum err_code store_stats(struct store_stats *out, struct store *s, struct err *e)
{
    struct arena a = {0};
    *out = (struct store_stats){.disk_bytes = disk_bytes(arena_printf(&a, "%s/db", s->path))};
    arena_free(&a);
    struct {
        enum rocks_family family;
        const char *prefix;
        rocks_visit *visit;
        void *arg;
    } counts[] = {
        {ROCKS_OBJECTS, "", count_object, out},
        {ROCKS_ACTIONS, "", count_key, &out->actions},
        {ROCKS_REFS, "", count_key, &out->refs},
        {ROCKS_RUNS, "", count_key, &out->runs},
        {ROCKS_FILES, "", count_key, &out->files},
        {ROCKS_META, QUARANTINE_PREFIX, count_key, &out->quarantined},
    };
    enum err_code code = OK;
    for (size_t i = 0; !code && i < sizeof counts / sizeof *counts; i++)
        code = rocks_each(s->rocks, counts[i].family, span_str(counts[i].prefix), counts[i].visit,
                          counts[i].arg, e);
    return err_up(e, code);
}
