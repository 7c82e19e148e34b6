/* RocksDB's MANIFEST: which tables there are; see tables.h.
 *
 * A log (logfile.h) whose entries are version edits: fields, each a varint tag and what the tag
 * calls for. (RocksDB 7.8, db/version_edit.cc.) */
#include "store/tables.h"

#include "base/buf.h"
#include "store/logfile.h"

#include <stdlib.h>

enum edit_tag {
    EDIT_COMPARATOR = 1,
    EDIT_LOG_NUMBER,
    EDIT_NEXT_FILE,
    EDIT_LAST_SEQUENCE,
    EDIT_COMPACT_CURSOR,
    EDIT_DELETED_FILE,
    EDIT_PREVIOUS_LOG = 9,
    EDIT_MIN_LOG,
    EDIT_NEW_FILE = 103,
    EDIT_FAMILY = 200,
    EDIT_FAMILY_ADD,
    EDIT_FAMILY_DROP,
    EDIT_MAX_FAMILY,
    EDIT_ATOMIC_GROUP = 300,
    EDIT_IGNORABLE = 1 << 13, /* a bit: what has it is a length and bytes */
};
enum { FILE_END = 1, FILE_CHECKSUM = 7, FILE_MUST_KNOW = 1 << 6, MAX_FAMILY = 1000 };

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool take_varint(uint64_t *value, struct span *s)
{
    *value = 0;
    for (unsigned shift = 0; s->len && shift < 64; shift += 7) {
        uint8_t byte = *s->data++;
        s->len--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_bytes(struct span *out, struct span *s)
{
    uint64_t n;
    if (!take_varint(&n, s) || n > s->len)
        return false;
    *out = span_of(s->data, n);
    s->data += n;
    s->len -= n;
    return true;
}

static bool take_table(struct table *t, struct span *s)
{
    uint64_t level, ignored, tag;
    struct span bytes;
    *t = (struct table){0};
    if (!take_varint(&level, s) || !take_varint(&t->number, s) || !take_varint(&t->size, s) ||
        !take_bytes(&bytes, s) || !take_bytes(&bytes, s) || /* smallest and largest key */
        !take_varint(&ignored, s) || !take_varint(&ignored, s))
        return false;
    t->level = (uint32_t)level;
    while (take_varint(&tag, s) && tag != FILE_END) {
        if (!take_bytes(&bytes, s) || tag & FILE_MUST_KNOW)
            return false;
        if (tag == FILE_CHECKSUM && bytes.len == 4) {
            t->crc = __builtin_bswap32(le32(bytes.data));
            t->has_crc = true;
        }
    }
    return tag == FILE_END;
}

struct edit {
    uint32_t family;
    bool drops_family;
    uint64_t last_sequence;
    struct span family_name;
    struct table *added, *removed; /* removed: number and level */
    size_t n_added, cap_added, n_removed, cap_removed;
};

/* One field; false where it is cut off. */
static bool take_field(struct edit *edit, uint64_t tag, struct span *s)
{
    struct span bytes;
    uint64_t a, b;
    struct table t = {0};
    switch ((enum edit_tag)tag) {
    case EDIT_LOG_NUMBER:
    case EDIT_NEXT_FILE:
    case EDIT_PREVIOUS_LOG:
    case EDIT_MIN_LOG:
    case EDIT_MAX_FAMILY:
    case EDIT_ATOMIC_GROUP: return take_varint(&a, s);
    case EDIT_LAST_SEQUENCE: return take_varint(&edit->last_sequence, s);
    case EDIT_COMPACT_CURSOR: return take_varint(&a, s) && take_bytes(&bytes, s);
    case EDIT_DELETED_FILE:
        if (!take_varint(&a, s) || !take_varint(&b, s))
            return false;
        t = (struct table){.number = b, .level = (uint32_t)a};
        edit->removed = vec_grow(edit->removed, &edit->cap_removed, edit->n_removed + 1, sizeof t);
        edit->removed[edit->n_removed++] = t;
        return true;
    case EDIT_NEW_FILE:
        if (!take_table(&t, s))
            return false;
        edit->added = vec_grow(edit->added, &edit->cap_added, edit->n_added + 1, sizeof t);
        edit->added[edit->n_added++] = t;
        return true;
    case EDIT_FAMILY:
        if (!take_varint(&a, s) || a >= MAX_FAMILY)
            return false;
        edit->family = (uint32_t)a;
        return true;
    case EDIT_FAMILY_ADD: return take_bytes(&edit->family_name, s);
    case EDIT_FAMILY_DROP: edit->drops_family = true; return true;
    case EDIT_COMPARATOR:
    case EDIT_IGNORABLE: break;
    }
    return take_bytes(&bytes, s);
}

static void name_family(struct manifest *m, uint32_t family, struct span name)
{
    m->families = vec_grow(m->families, &m->cap_families, family + 1, sizeof *m->families);
    while (m->n_families <= family)
        m->families[m->n_families++] = NULL;
    free(m->families[family]);
    m->families[family] = strndup((const char *)name.data, name.len);
}

static bool is_removed(const struct edit *edit, const struct table *t)
{
    if (t->family != edit->family)
        return false;
    for (size_t i = 0; i < edit->n_removed; i++)
        if (edit->removed[i].number == t->number && edit->removed[i].level == t->level)
            return true;
    return edit->drops_family;
}

static void apply_edit(struct manifest *m, const struct edit *edit)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++)
        if (!is_removed(edit, &m->tables[i]))
            m->tables[kept++] = m->tables[i];
    m->n = kept;
    if (edit->last_sequence > m->last_sequence)
        m->last_sequence = edit->last_sequence;
    if (edit->family_name.data)
        name_family(m, edit->family, edit->family_name);
    for (size_t i = 0; i < edit->n_added; i++) {
        m->tables = vec_grow(m->tables, &m->cap, m->n + 1, sizeof *m->tables);
        m->tables[m->n] = edit->added[i];
        m->tables[m->n++].family = edit->family;
    }
}

static bool is_known(uint64_t tag)
{
    return (tag >= EDIT_COMPARATOR && tag <= EDIT_DELETED_FILE) || tag == EDIT_PREVIOUS_LOG ||
           tag == EDIT_MIN_LOG || tag == EDIT_NEW_FILE ||
           (tag >= EDIT_FAMILY && tag <= EDIT_MAX_FAMILY) || tag == EDIT_ATOMIC_GROUP ||
           tag & EDIT_IGNORABLE;
}

static enum err_code read_edit(struct manifest *m, struct span s, struct err *e)
{
    struct edit edit = {0};
    enum err_code code = OK;
    uint64_t tag;
    while (s.len && code == OK) {
        if (!take_varint(&tag, &s))
            code = err_fail(e, ERR_CORRUPT, "an entry that cannot be read");
        else if (!is_known(tag))
            code = err_fail(e, ERR_UNSUPPORTED, "a field of unknown kind %llu",
                            (unsigned long long)tag);
        else if (!take_field(&edit, tag, &s))
            code = err_fail(e, ERR_CORRUPT, "an entry that cannot be read");
    }
    if (code == OK)
        apply_edit(m, &edit);
    free(edit.added);
    free(edit.removed);
    return code;
}

static enum err_code visit_edit(void *arg, struct span entry, struct err *e)
{
    return err_up(e, read_edit(arg, entry, e));
}

enum err_code manifest_read(struct manifest *m, struct span bytes, struct err *e)
{
    *m = (struct manifest){0};
    enum err_code code = logfile_read(bytes, visit_edit, m, e);
    if (code != OK)
        manifest_free(m);
    return err_up(e, code);
}

void manifest_free(struct manifest *m)
{
    for (size_t i = 0; i < m->n_families; i++)
        free(m->families[i]);
    free(m->families);
    free(m->tables);
    *m = (struct manifest){0};
}
