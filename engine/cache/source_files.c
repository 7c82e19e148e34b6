/* The file-stat cache; see source_files.h. A file that changed just before it was read may change
 * again with the same change time, since file system clocks tick in milliseconds or worse. Such a
 * file is stored with the time 0, which matches nothing, so it is read again next time. */
#include "engine/cache/source_files.h"

#include "base/os.h"
#include "schemas/action.pb-c.h"
#include "schemas/canonical.h"

#include <string.h>

static const int64_t RACY_NS = 2000000000;

static bool is_remembered(struct digest *id, struct store *s, const char *path,
                          const struct os_stat *st, struct arena *a, bool *certain)
{
    struct span bytes;
    const Eqloom__SourceFile *f;
    *certain = false;
    if (store_source(&bytes, s, path, a, NULL) ||
        canonical_unpack(&f, a, &eqloom__source_file__descriptor, bytes, NULL))
        return false;
    if (f->file_id.len != DIGEST_SIZE)
        return false;
    memcpy(id->bytes, f->file_id.data, DIGEST_SIZE);
    *certain = f->changed_ns != 0;
    return f->size == st->size && f->inode == st->inode && f->modified_ns == st->modified_ns &&
           f->changed_ns == st->changed_ns && f->changed_ns != 0;
}

static enum err_code remember(struct store_batch *b, const char *path, const struct os_stat *st,
                              const struct digest *id, struct arena *a, struct err *e)
{
    Eqloom__SourceFile f = EQLOOM__SOURCE_FILE__INIT;
    f.size = st->size;
    f.inode = st->inode;
    f.modified_ns = st->modified_ns;
    f.changed_ns = st->changed_ns < os_wall_ns() - RACY_NS ? st->changed_ns : 0;
    f.file_id.data = (uint8_t *)id->bytes;
    f.file_id.len = DIGEST_SIZE;
    struct span bytes;
    enum err_code code = canonical_pack(&bytes, a, &f.base, e);
    if (!code)
        code = store_batch_source(b, path, bytes, e);
    return err_up(e, code);
}

static enum err_code read_file(struct op_file *f, struct arena *a, struct err *e)
{
    struct span bytes;
    enum err_code code = os_read_file(&bytes, a, f->text.name, SOURCE_FILE_MAX, e);
    if (code)
        return err_up(e, code);
    f->text.text = (const char *)bytes.data;
    f->text.len = bytes.len;
    f->id = digest_of(&bytes, 1);
    return OK;
}

static bool read_builtin(struct op_file *f)
{
    for (const struct source_text *b = op_builtins; b->name; b++)
        if (strcmp(b->name, f->text.name) == 0) {
            f->text = *b;
            struct span bytes = {(const uint8_t *)b->text, b->len};
            f->id = digest_of(&bytes, 1);
            return true;
        }
    return false;
}

static enum err_code scan_file(struct op_file *f, struct arena *a, struct store *s,
                               struct store_batch *b, struct err *e)
{
    struct os_stat st;
    char *path;
    if (read_builtin(f))
        return OK;
    enum err_code code = os_realpath(&path, a, f->text.name, e);
    if (!code)
        code = os_stat(&st, path, e);
    if (code == ERR_NOTFOUND)
        return err_fail(e, ERR_INPUT, "%s: no such file", f->text.name);
    if (code)
        return err_up(e, code);
    struct digest remembered = {0};
    bool settled;
    if (is_remembered(&remembered, s, path, &st, a, &settled)) {
        f->id = remembered;
        return OK;
    }
    code = read_file(f, a, e);
    if (code || !b)
        return err_up(e, code);
    /* A file that is still too recent and has the same content is not recorded again. */
    bool young = st.changed_ns >= os_wall_ns() - RACY_NS;
    if (young && !settled && digest_equal(&remembered, &f->id))
        return OK;
    return err_up(e, remember(b, path, &st, &f->id, a, e));
}

enum err_code source_scan(struct source_files *out, struct arena *a, const struct node *node,
                          struct store *s, struct store_batch *b, struct err *e)
{
    memset(out, 0, sizeof *out);
    out->files = arena_array(a, struct op_file, node->n_files);
    out->n = node->n_files;
    for (size_t i = 0; i < node->n_files; i++) {
        out->files[i].text.name = node->files[i];
        enum err_code code = scan_file(&out->files[i], a, s, b, e);
        if (code) {
            if (code == ERR_INPUT && node->source)
                err_locate(e, node->source, node->offset);
            return err_up(e, code);
        }
    }
    return OK;
}

enum err_code source_text(struct span *out, const struct op_file *f, struct arena *a, struct err *e)
{
    struct op_file now = *f;
    enum err_code code = f->text.text ? OK : read_file(&now, a, e);
    if (code)
        return err_up(e, code);
    if (!digest_equal(&now.id, &f->id))
        return err_fail(e, ERR_FAILED, "%s changed while it was being read; run again",
                        f->text.name);
    *out = span_of(now.text.text, now.text.len);
    return OK;
}

enum err_code source_load(struct source_files *files, struct arena *a, struct err *e)
{
    for (size_t i = 0; i < files->n; i++) {
        struct op_file *f = &files->files[i];
        struct span bytes;
        enum err_code code = source_text(&bytes, f, a, e);
        if (code)
            return err_up(e, code);
        f->text.text = (const char *)bytes.data;
        f->text.len = bytes.len;
    }
    return OK;
}
