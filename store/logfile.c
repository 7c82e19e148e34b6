/* See logfile.h.
 *
 * A log in blocks of 32 KiB. An entry lies in one or more pieces, none of which crosses a block:
 *
 *     crc u32 | length u16 | type u8 | data          crc: masked, of type and data
 *
 * type 1: a whole entry; 2, 3, 4: first, middle, last piece. What is left of a block below 7 bytes
 * is zero. (RocksDB 7.8, db/log_format.h.) */
#include "store/logfile.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "store/crc32c.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BLOCK = 32 << 10, LOG_HEADER = 7, LOG_FULL = 1, LOG_FIRST, LOG_MIDDLE, LOG_LAST };
enum { LOG_MAX = 1 << 30 };

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

enum err_code logfile_read(struct span bytes,
                           enum err_code (*visit)(void *arg, struct span entry, struct err *e),
                           void *arg, struct err *e)
{
    struct crc32c crc;
    struct buf entry = {0};
    enum err_code code = OK;
    bool inside = false;
    crc32c_init(&crc);
    for (size_t at = 0; code == OK && at < bytes.len;) {
        size_t left = LOG_BLOCK - at % LOG_BLOCK;
        if (left < LOG_HEADER) {
            at += left;
            continue;
        }
        if (at + LOG_HEADER > bytes.len) {
            code = err_fail(e, ERR_CORRUPT, "an entry at byte %zu is cut off", at);
            break;
        }
        const uint8_t *p = bytes.data + at;
        size_t n = (size_t)(p[4] | p[5] << 8);
        unsigned type = p[6];
        if (n > left - LOG_HEADER || type < LOG_FULL || type > LOG_LAST ||
            inside != (type == LOG_MIDDLE || type == LOG_LAST)) {
            code = err_fail(e, ERR_CORRUPT, "a bad entry at byte %zu", at);
            break;
        }
        if (at + LOG_HEADER + n > bytes.len) {
            code = err_fail(e, ERR_CORRUPT, "an entry at byte %zu is cut off", at);
            break;
        }
        uint32_t want = crc32c_extend(&crc, 0, p + 6, n + 1);
        want = (want >> 15 | want << 17) + 0xa282ead8u;
        if (le32(p) != want) {
            code = err_fail(e, ERR_CORRUPT, "a bad checksum at byte %zu", at);
            break;
        }
        if (!inside)
            buf_clear(&entry);
        buf_add(&entry, p + LOG_HEADER, n);
        inside = type == LOG_FIRST || type == LOG_MIDDLE;
        if (!inside)
            code = visit(arg, span_of(entry.data, entry.len), e);
        at += LOG_HEADER + n;
    }
    if (code == OK && inside)
        code = err_fail(e, ERR_CORRUPT, "its last entry is cut off");
    buf_free(&entry);
    return err_up(e, code);
}

struct reach {
    uint64_t last; /* the write up to which nothing is missing */
    bool anywhere; /* the first entry may begin where it likes */
};

/* Of a write-ahead log: sequence number of the first write, u64; number of writes, u32; these.
 * Takes it only where it goes on from what was there before. */
static enum err_code note_last(void *arg, struct span entry, struct err *e)
{
    (void)e;
    struct reach *r = arg;
    if (entry.len < 12)
        return OK;
    uint64_t first = le32(entry.data) | (uint64_t)le32(entry.data + 4) << 32;
    uint64_t end = first + le32(entry.data + 8);
    if ((r->anywhere || first <= r->last + 1) && end > r->last + 1)
        r->last = end - 1;
    r->anywhere = false;
    return OK;
}

static int is_log(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".log") == 0;
}

static enum err_code check_log(struct reach *r, const char *db_path, const char *name,
                               struct err *e)
{
    struct arena a = {0};
    struct span bytes = {0};
    struct err why = {0};
    enum err_code code =
        os_read_file(&bytes, &a, arena_printf(&a, "%s/%s", db_path, name), LOG_MAX, &why);
    code = code == OK ? logfile_read(bytes, note_last, r, &why) : OK;
    r->anywhere = r->anywhere && bytes.len == 0;
    if (code != OK)
        err_fail(e, code, "%s: %s", name, why.message);
    arena_free(&a);
    return code;
}

/* All of them, since a log may end in the middle of an entry, where its writer was killed, and the
 * next go on from there. The error is the first that is not made good like that. */
static enum err_code check_logs(struct reach *r, const char *db_path, struct err *e)
{
    struct dirent **names = NULL;
    struct err first = {0};
    int n = scandir(db_path, &names, is_log, alphasort);
    for (int i = 0; i < n; i++) {
        struct err found = {0};
        uint64_t before = r->last;
        check_log(r, db_path, names[i]->d_name, &found);
        if (first.code == OK || r->last > before)
            first = found;
        free(names[i]);
    }
    free(names);
    return first.code == OK ? OK : err_fail(e, first.code, "%s", first.message);
}

enum err_code logfile_find_damage(const char *db_path, struct err *e)
{
    struct reach r = {.anywhere = true};
    enum err_code code = err_up(e, check_logs(&r, db_path, e));
    return code == OK ? err_fail(e, ERR_CORRUPT, "a *.log file has gone or was cut short") : code;
}

uint64_t logfile_goes_on_to(const char *db_path, uint64_t from)
{
    struct reach r = {.last = from};
    check_logs(&r, db_path, NULL);
    return r.last;
}
