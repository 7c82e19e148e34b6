/* Records as fsck sees them: listed, looked at, rejected, and what they refer to; see fsck.h. */
#include "store/check/fsck.h"

#include "store/salvage.h"

#include <string.h>

/* LINKED: it is of a kind that refers to others. */
enum state { UNKNOWN, GOOD, BAD, ABSENT, STATE = 3, LINKED = 4 };

void fsck_report(struct fsck *f, const struct digest *id, const char *what)
{
    f->result.faults++;
    faults_add(&f->faults, id, what);
}

enum err_code fsck_stop_error(const struct fsck *f, struct err *e)
{
    return f->stop == OK
               ? OK
               : err_fail(e, f->stop, "cannot check the store: %.400s", f->why_stop.message);
}

/* A device that fails or a lack of memory says nothing about records: the check itself has failed,
 * and nothing may be rejected for it. */
static bool is_damage(struct fsck *f, enum err_code code, const struct err *why)
{
    if (code != ERR_IO && code != ERR_NOMEM && code != ERR_BUSY)
        return true;
    if (f->stop == OK) {
        f->stop = code;
        f->why_stop = *why;
    }
    return false;
}

static enum state state_of(const struct fsck *f, const struct digest *id)
{
    const uint8_t *flags = id_table_find(&f->ids, id);
    const uint64_t *other = flags ? NULL : digest_map_get(&f->others, id);
    return flags ? (enum state)(*flags & STATE) : other ? (enum state) * other : UNKNOWN;
}

static void set_state(struct fsck *f, const struct digest *id, enum state state)
{
    uint8_t *flags = id_table_find(&f->ids, id);
    if (flags)
        *flags = (uint8_t)((*flags & ~STATE) | state);
    else
        *digest_map_put(&f->others, id, state, NULL) = state;
}

static void reject(struct fsck *f, const struct digest *id)
{
    set_state(f, id, BAD);
    f->bad = vec_grow(f->bad, &f->cap_bad, f->n_bad + 1, sizeof *f->bad);
    f->bad[f->n_bad++] = *id;
}

/* Envelope, digest, canonical form; then what it refers to. */
static enum err_code check_content(struct fsck *f, const struct digest *id, struct span value,
                                   struct err *e)
{
    struct arena a = {0};
    struct record record;
    ProtobufCMessage *message;
    struct coder *c = store_coder_take(f->store);
    enum err_code code = envelope_verify(&record, c, id, value, &a, e);
    store_coder_give(f->store, c);
    const struct kind_info *kind = code == OK ? kind_info(record.kind) : NULL;
    if (kind && message_type_has_ids(kind->descriptor)) {
        code = canonical_unpack(&message, &a, kind->descriptor, record.payload, e);
        if (code == OK && message_visit_ids(message, fsck_check_link, f, NULL) != OK)
            code = ERR_NOTFOUND;
    } else if (kind) {
        code = canonical_check(kind->descriptor, record.payload, e);
    }
    arena_free(&a);
    return code;
}

enum err_code fsck_check_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    struct err why = {0};
    f->result.records++;
    enum err_code code = ERR_CORRUPT;
    if (!span_digest(&id, key))
        err_fail(&why, ERR_CORRUPT, "its key is not a record id");
    else
        code = check_content(f, &id, value, &why);
    if (f->stop != OK || !is_damage(f, code, &why))
        return err_fail(e, f->stop, "%s", f->why_stop.message);
    if (code == OK) {
        set_state(f, &id, GOOD);
        return OK;
    }
    if (code != ERR_NOTFOUND) { /* what is missing has been reported */
        f->result.bad_records++;
        fsck_report(f, &id, why.message);
    }
    reject(f, &id);
    return OK;
}

static enum err_code list_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    enum record_kind kind;
    uint64_t length;
    bool linked = envelope_peek(&kind, &length, value, NULL) == OK &&
                  message_type_has_ids(kind_info(kind)->descriptor);
    /* GOOD until it is looked at. */
    if (span_digest(&id, key))
        id_table_add(&f->ids, &id, GOOD | (linked ? LINKED : 0));
    return OK;
}

/* What cannot be read is reported by the scan that checks. */
enum err_code fsck_list_objects(struct fsck *f, struct err *e)
{
    return err_up(e, store_scan(f->store->rocks, ROCKS_OBJECTS, list_object, NULL, f, e));
}

enum err_code fsck_check_link(void *arg, const uint8_t bytes[32], struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    memcpy(id.bytes, bytes, DIGEST_SIZE);
    enum state state = state_of(f, &id);
    if (state != UNKNOWN)
        return state == GOOD ? OK : ERR_NOTFOUND;
    /* Missing, or among what the scan could not read; there it may have been put anew. */
    set_state(f, &id, ABSENT);
    struct rocks_value v;
    struct err why = {0};
    enum err_code code = rocks_get(&v, f->store->rocks, ROCKS_OBJECTS, digest_span(&id), &why);
    if (code == OK) {
        code = fsck_check_object(f, digest_span(&id), v.bytes, &why);
        is_damage(f, code, &why);
    } else if (!is_damage(f, code, &why)) {
        /* Its state stays unknown. */
    } else if (code == ERR_NOTFOUND) {
        f->result.missing++;
        fsck_report(f, &id, "missing, though something refers to it");
    } else {
        f->result.bad_records++;
        fsck_report(f, &id, why.message);
        reject(f, &id);
    }
    rocks_value_free(&v);
    return state_of(f, &id) == GOOD ? OK : ERR_NOTFOUND;
}

/* A good record with references, once more. */
static enum err_code check_links_of(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    struct err why = {0};
    const uint8_t *flags = span_digest(&id, key) ? id_table_find(&f->ids, &id) : NULL;
    if (!flags || *flags != (GOOD | LINKED))
        return OK;
    enum err_code code = check_content(f, &id, value, &why);
    if (f->stop != OK || !is_damage(f, code, &why))
        return err_fail(e, f->stop, "%s", f->why_stop.message);
    if (code != OK)
        reject(f, &id);
    return OK;
}

enum err_code fsck_check_links(struct fsck *f, struct err *e)
{
    enum err_code code = OK;
    for (size_t before = 0; code == OK && before < f->n_bad;) {
        before = f->n_bad;
        code = store_scan(f->store->rocks, ROCKS_OBJECTS, check_links_of, NULL, f, e);
    }
    return err_up(e, code);
}
