/* Comparing table files with their checksums; see tables.h. */
#include "store/tables.h"

#include "base/buf.h"
#include "base/os.h"
#include "store/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MANIFEST_LIMIT = 64 << 20, PIECE = 256 << 10 };

struct checker {
    struct tables_result *result;
    const char *path;
    struct crc32c crc;
    struct arena arena;
    uint8_t *piece;
    void (*bad)(void *arg, const char *what);
    void *arg;
};

static void report(struct checker *c, const char *what)
{
    c->result->bad++;
    if (c->bad)
        c->bad(c->arg, what);
}

enum err_code manifest_load(struct manifest *m, struct arena *a, const char *db_path, struct err *e)
{
    struct span text, bytes;
    enum err_code code = os_read_file(&text, a, arena_printf(a, "%s/CURRENT", db_path), 4096, e);
    if (code != OK)
        return err_up(e, code);
    const char *name = arena_printf(a, "%.*s", (int)strcspn((const char *)text.data, "\n"),
                                    (const char *)text.data);
    if (strncmp(name, "MANIFEST-", 9) != 0 || strspn(name + 9, "0123456789") != strlen(name + 9))
        return err_fail(e, ERR_CORRUPT, "CURRENT does not name a MANIFEST");
    code = os_read_file(&bytes, a, arena_printf(a, "%s/%s", db_path, name), MANIFEST_LIMIT, e);
    if (code == ERR_NOTFOUND)
        return err_fail(e, ERR_CORRUPT, "CURRENT names %s, which is missing", name);
    if (code != OK)
        return err_up(e, code);
    struct err why = {0};
    code = manifest_read(m, bytes, &why);
    return code == OK ? OK : err_fail(e, code, "%s: %s", name, why.message);
}

static bool still_listed(struct checker *c, const struct table *t)
{
    struct manifest m;
    bool listed = false;
    if (manifest_load(&m, &c->arena, c->path, NULL) != OK)
        return true;
    for (size_t i = 0; i < m.n; i++)
        listed = listed || m.tables[i].number == t->number;
    manifest_free(&m);
    return listed;
}

/* ERR_NOTFOUND when the file is not there. */
static enum err_code checksum(uint32_t *crc, uint64_t *size, struct checker *c, const char *path,
                              struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return err_fail(e, ERR_NOTFOUND, "%s is missing", path);
    if (fd < 0)
        return err_fail(e, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    *crc = 0;
    *size = 0;
    ssize_t n;
    while ((n = read(fd, c->piece, PIECE)) > 0) {
        *crc = crc32c_extend(&c->crc, *crc, c->piece, (size_t)n);
        *size += (uint64_t)n;
    }
    int why = errno;
    close(fd);
    return n == 0 ? OK : err_fail(e, ERR_IO, "cannot read %s: %s", path, strerror(why));
}

static enum err_code check_table(struct checker *c, const struct manifest *m, const struct table *t,
                                 struct err *e)
{
    uint32_t crc = 0;
    uint64_t size = 0;
    char *path = arena_printf(&c->arena, "%s/%06" PRIu64 ".sst", c->path, t->number);
    const char *family = t->family < m->n_families && m->families[t->family]
                             ? m->families[t->family]
                             : "unnamed family";
    const char *fault = NULL;
    struct err why = {0};
    enum err_code code = checksum(&crc, &size, c, path, &why);
    if (code == ERR_NOTFOUND) {
        fault = still_listed(c, t) ? "the file is missing" : NULL;
        code = OK;
    } else if (code != OK) {
        /* A device that fails says nothing about the file. */
        return err_fail(e, code, "%s", why.message);
    } else if (size != t->size) {
        fault = "the file has not the size that it was written with";
    } else if (t->has_crc && crc != t->crc) {
        fault = "the file is not as it was written";
    }
    c->result->tables++;
    c->result->bytes += t->size;
    if (fault)
        report(c, arena_printf(&c->arena, "table %06" PRIu64 ".sst (%s): %s", t->number, family,
                               fault));
    return err_up(e, code);
}

static int by_size(const void *a, const void *b)
{
    const struct table *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? -1 : 1) : (x->number > y->number) * 2 - 1;
}

enum err_code tables_check(struct tables_result *out, const char *db_path, uint64_t budget,
                           void (*bad)(void *arg, const char *what), void *arg, struct err *e)
{
    *out = (struct tables_result){0};
    struct checker c = {.result = out, .path = db_path, .bad = bad, .arg = arg};
    struct manifest m = {0};
    struct err why = {0};
    enum err_code code = manifest_load(&m, &c.arena, db_path, &why);
    if (code == ERR_CORRUPT) {
        /* A writer may be at it: look again. */
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        err_clear(&why);
        code = manifest_load(&m, &c.arena, db_path, &why);
    }
    if (code == ERR_CORRUPT) {
        out->manifest_bad = true;
        report(&c, why.message);
        code = OK;
    } else if (code != OK) {
        err_fail(e, code, "%s", why.message);
    } else if (m.n) {
        crc32c_init(&c.crc);
        c.piece = arena_alloc(&c.arena, PIECE);
        qsort(m.tables, m.n, sizeof *m.tables, by_size);
        for (size_t i = 0; code == OK && i < m.n && out->bytes + m.tables[i].size <= budget; i++)
            code = check_table(&c, &m, &m.tables[i], e);
    }
    manifest_free(&m);
    arena_free(&c.arena);
    return err_up(e, code);
}
