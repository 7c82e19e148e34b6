/* Counting what is stored; see maintain.h. */
#include "store/maintain.h"

#include "store/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static enum err_code count_keys(uint64_t *n, struct store *s, enum rocks_family family,
                                const char *prefix, struct err *e)
{
    struct span begin = span_str(prefix);
    struct rocks_iter *it = rocks_iter_new(s->rocks, family);
    for (rocks_iter_seek(it, begin); rocks_iter_valid(it); rocks_iter_next(it)) {
        struct span key = rocks_iter_key(it);
        if (key.len < begin.len || memcmp(key.data, begin.data, begin.len) != 0)
            break;
        ++*n;
    }
    enum err_code code = rocks_iter_error(it, e);
    rocks_iter_free(it);
    return err_up(e, code);
}

static enum err_code count_objects(struct store_stats *out, struct store *s, struct err *e)
{
    struct rocks_iter *it = rocks_iter_new(s->rocks, ROCKS_OBJECTS);
    enum err_code code = OK;
    for (rocks_iter_seek(it, span_of("", 0)); code == OK && rocks_iter_valid(it);
         rocks_iter_next(it)) {
        struct span value = rocks_iter_value(it);
        enum record_kind kind;
        uint64_t length;
        code = envelope_peek(&kind, &length, value, e);
        if (code != OK)
            break;
        struct kind_stats *k = &out->kinds[kind];
        k->records++;
        k->raw += length;
        k->stored += value.len;
        k->with_dictionary += value.data[3] == CODEC_ZSTD_DICTIONARY;
    }
    if (code == OK)
        code = rocks_iter_error(it, e);
    rocks_iter_free(it);
    return err_up(e, code);
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
    *out = (struct store_stats){.disk_bytes = disk_bytes(rocks_path(s->rocks))};
    enum err_code code = count_objects(out, s, e);
    if (code == OK)
        code = count_keys(&out->actions, s, ROCKS_ACTIONS, "", e);
    if (code == OK)
        code = count_keys(&out->refs, s, ROCKS_REFS, "", e);
    if (code == OK)
        code = count_keys(&out->runs, s, ROCKS_RUNS, "", e);
    if (code == OK)
        code = count_keys(&out->files, s, ROCKS_FILES, "", e);
    if (code == OK)
        code = count_keys(&out->quarantined, s, ROCKS_META, QUARANTINE_PREFIX, e);
    return err_up(e, code);
}
