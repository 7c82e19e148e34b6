/* Rebuilding a database without its bad blocks; see salvage.h.
 *
 * A bad block affects more than its records: compaction fails at it, and then RocksDB accepts no
 * more writes. So a process that meets one sets a mark (the file `damaged`), and the next writer
 * copies the database:
 *
 *     db -> db.new (complete, flushed); db -> db.old; db.new -> db; db.old removed; mark removed
 *
 * After an interruption before the second step, db.new is discarded; after it, db.old is renamed
 * back. If RocksDB could not open the database, db.repair (rocks_open.c) is copied, and db is not
 * touched before it is replaced. */
#include "store/salvage.h"

#include "action.pb-c.h"
#include "store/internal.h"
#include "store/marks.h"

#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct copier {
    struct rocks *to;
    enum rocks_family family;
};

static enum err_code copy_entry(void *arg, struct span key, struct span value, struct err *e)
{
    struct copier *c = arg;
    struct rocks_write w = {c->family, false, key, value};
    return err_up(e, rocks_write(c->to, &w, 1, false, e));
}

/* Records within an unreadable range that were put again since: an iterator does not reach them, a
 * lookup does. Everything that a copied entry refers to is looked up. */
struct rescuer {
    struct rocks *from, *to;
    size_t n; /* rescued in this pass */
    struct coder *coder;
};

static bool has(struct rocks *r, const struct digest *id)
{
    struct rocks_value v;
    bool found = rocks_get(&v, r, ROCKS_OBJECTS, digest_span(id), NULL) == OK;
    rocks_value_free(&v);
    return found;
}

static enum err_code rescue(void *arg, const struct digest *id, struct err *e)
{
    struct rescuer *r = arg;
    struct rocks_value v;
    if (has(r->to, id) || rocks_get(&v, r->from, ROCKS_OBJECTS, digest_span(id), NULL) != OK)
        return OK;
    struct rocks_write w = {ROCKS_OBJECTS, false, digest_span(id), v.bytes};
    enum err_code code = rocks_write(r->to, &w, 1, false, e);
    rocks_value_free(&v);
    r->n++;
    return err_up(e, code);
}

static enum err_code rescue_of_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct rescuer *r = arg;
    struct arena a = {0};
    struct record record;
    ProtobufCMessage *message;
    enum record_kind kind;
    uint64_t length;
    enum err_code code = OK;
    if (envelope_peek(&kind, &length, value, NULL) == OK &&
        message_type_has_ids(kind_info(kind)->descriptor) &&
        envelope_read(&record, r->coder, value, &a, NULL) == OK &&
        canonical_unpack(&message, &a, kind_info(kind)->descriptor, record.payload, NULL) == OK)
        code = message_visit_ids(message, rescue, r, e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code rescue_of_ref(void *arg, struct span key, struct span value, struct err *e)
{
    return value.len == DIGEST_SIZE ? rescue(arg, (const struct digest *)value.data, e) : OK;
}

static enum err_code rescue_of_action(void *arg, struct span key, struct span value, struct err *e)
{
    struct arena a = {0};
    ProtobufCMessage *action;
    enum err_code code = OK;
    if (canonical_unpack(&action, &a, &eqloom__action__descriptor, value, NULL) == OK)
        code = message_visit_ids(action, rescue, arg, e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code rescue_all(struct rocks *to, struct store *s, struct err *e)
{
    struct rescuer r = {.from = s->rocks, .to = to, .coder = store_coder_take(s)};
    struct span all = span_of("", 0);
    enum err_code code = rocks_each(to, ROCKS_ACTIONS, all, rescue_of_action, &r, e);
    if (code == OK)
        code = rocks_each(to, ROCKS_REFS, all, rescue_of_ref, &r, e);
    do { /* rescued records may refer to others */
        r.n = 0;
        if (code == OK)
            code = rocks_each(to, ROCKS_OBJECTS, all, rescue_of_object, &r, e);
    } while (code == OK && r.n);
    store_coder_give(s, r.coder);
    return err_up(e, code);
}

static enum err_code copy_database(struct store *s, const char *path, struct err *e)
{
    struct copier c = {0};
    enum err_code code = rocks_open(&c.to, path, ROCKS_CREATE, e);
    for (int family = ROCKS_DEFAULT + 1; code == OK && family < ROCKS_FAMILIES; family++) {
        c.family = (enum rocks_family)family;
        code = rocks_scan(s->rocks, c.family, copy_entry, NULL, &c, e);
    }
    if (code == OK)
        code = rescue_all(c.to, s, e);
    if (code == OK)
        code = rocks_flush(c.to, e);
    rocks_close(c.to);
    return err_up(e, code);
}

struct places {
    char *db, *fresh, *old, *repaired;
};

static struct places places_of(struct arena *a, const char *store_path)
{
    return (struct places){arena_printf(a, "%s/db", store_path),
                           arena_printf(a, "%s/db.new", store_path),
                           arena_printf(a, "%s/db.old", store_path),
                           arena_printf(a, "%s/db" ROCKS_REPAIRED, store_path)};
}

enum err_code store_salvage(struct store *s, struct err *e)
{
    struct arena a = {0};
    struct places p = places_of(&a, s->path);
    os_remove_tree(p.fresh);
    enum err_code code = copy_database(s, p.fresh, e);
    if (code == OK) {
        rocks_close(s->rocks);
        s->rocks = NULL;
        if (rename(p.db, p.old) != 0 || rename(p.fresh, p.db) != 0) {
            code = err_fail(e, ERR_IO, "cannot put the rebuilt database in %s: %s", p.db,
                            strerror(errno));
            salvage_settle(s->path);
        }
        enum err_code reopened = rocks_open(&s->rocks, p.db, ROCKS_WRITE, code == OK ? e : NULL);
        code = code == OK ? reopened : code;
    }
    if (code == OK) {
        os_remove_tree(p.old);
        os_remove_tree(p.repaired);
        mark_rebuilt(s->path);
    }
    arena_free(&a);
    return err_up(e, code);
}

void salvage_settle(const char *store_path)
{
    struct arena a = {0};
    struct places p = places_of(&a, store_path);
    if (access(p.old, F_OK) == 0) {
        if (access(p.db, F_OK) != 0)
            rename(p.old, p.db);
        else
            os_remove_tree(p.old);
    }
    if (access(p.fresh, F_OK) == 0)
        os_remove_tree(p.fresh);
    if (access(p.repaired, F_OK) == 0)
        os_remove_tree(p.repaired);
    arena_free(&a);
}

enum err_code salvage_if_damaged(struct store *s, struct err *e)
{
    struct arena a = {0};
    const char *why = mark_damage(&a, s->path);
    enum err_code code = OK;
    why = why ? why : rocks_damage(s->rocks);
    if (why) {
        mark_suspect(s->path); /* records may be missing from now on */
        if (!s->notice.len)
            buf_printf(&s->notice,
                       "the store was damaged: %s; it was rebuilt from what can be read, and what "
                       "is missing is made again",
                       why);
        code = err_up(e, store_salvage(s, e));
    }
    arena_free(&a);
    return code;
}
