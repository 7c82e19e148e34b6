/* Checking everything; see maintain.h.
 *
 * 1. Every record: envelope, digest, canonical form.
 * 2. Every reference of a good record leads to a good record; a record with one that does not is
 *    broken, and so on until nothing changes.
 * 3. Every action decodes, stands under its own key, and leads to good records; so do refs.
 * 4. Runs and source files decode.
 *
 * Repair takes bad and broken records away (quarantine) and drops actions that lead nowhere. Refs
 * stay: they are right again once their record has been made again. If RocksDB cannot read blocks
 * of its own, the database is rebuilt without them (rebuild.c). */
#include "store/maintain.h"

#include "action.pb-c.h"
#include "store/internal.h"
#include "store/rebuild.h"

#include <stdlib.h>

enum state { UNKNOWN, GOOD, BAD, ABSENT };

struct fsck {
    struct store *store;
    bool repair;
    bool unreadable; /* RocksDB's own blocks are bad */
    void (*bad)(void *arg, const struct digest *id, const char *what);
    void *arg;
    struct fsck_result result;
    struct digest_map states; /* id -> enum state */
    struct digest *linked;    /* good records that may refer to others */
    size_t n_linked, cap_linked;
    struct digest *doomed; /* records for quarantine */
    size_t n_doomed, cap_doomed;
};

static void report(struct fsck *f, const struct digest *id, const char *what)
{
    if (f->bad)
        f->bad(f->arg, id, what);
}

static void condemn(struct fsck *f, const struct digest *id)
{
    *digest_map_put(&f->states, id, BAD, NULL) = BAD;
    f->doomed = vec_grow(f->doomed, &f->cap_doomed, f->n_doomed + 1, sizeof *f->doomed);
    f->doomed[f->n_doomed++] = *id;
}

static enum err_code check_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    struct arena a = {0};
    struct record record;
    struct err why = {0};
    f->result.records++;
    enum err_code code = ERR_CORRUPT;
    if (!scan_key_id(&id, key)) {
        err_fail(&why, ERR_CORRUPT, "a key that is no record id");
    } else {
        struct coder *c = store_coder_take(f->store);
        code = envelope_verify(&record, c, &id, value, &a, &why);
        store_coder_give(f->store, c);
        if (code == OK)
            code = canonical_check(kind_info(record.kind)->descriptor, record.payload, &why);
    }
    if (code == ERR_NOMEM) {
        arena_free(&a);
        return err_fail(e, ERR_NOMEM, "%s", why.message);
    }
    if (code != OK) {
        f->result.bad_records++;
        report(f, &id, why.message);
        condemn(f, &id);
    } else {
        *digest_map_put(&f->states, &id, GOOD, NULL) = GOOD;
        if (message_type_has_ids(kind_info(record.kind)->descriptor)) {
            f->linked = vec_grow(f->linked, &f->cap_linked, f->n_linked + 1, sizeof *f->linked);
            f->linked[f->n_linked++] = id;
        }
    }
    arena_free(&a);
    return OK;
}

static void on_unreadable(void *arg, const struct digest *last, const char *why)
{
    struct fsck *f = arg;
    struct buf what = {0};
    buf_printf(&what, "what is stored up to this id cannot be read: %s", why);
    f->result.bad_records++;
    f->unreadable = true;
    report(f, last, what.data);
    buf_free(&what);
}

/* ERR_NOTFOUND unless the record is good. Something that is not there is reported once. */
static enum err_code check_link(void *arg, const uint8_t bytes[32], struct err *e)
{
    (void)e;
    struct fsck *f = arg;
    struct digest id;
    memcpy(id.bytes, bytes, DIGEST_SIZE);
    uint64_t *state = digest_map_put(&f->states, &id, UNKNOWN, NULL);
    if (*state == GOOD)
        return OK;
    if (*state == UNKNOWN) {
        /* Missing, or among what the scan could not read; there it may have been put anew. */
        *state = ABSENT;
        struct rocks_value v;
        struct err why = {0};
        enum err_code code = rocks_get(&v, f->store->rocks, ROCKS_OBJECTS, digest_span(&id), &why);
        if (code == OK) {
            code = check_object(f, digest_span(&id), v.bytes, NULL);
        } else if (code == ERR_NOTFOUND) {
            f->result.missing++;
            report(f, &id, "missing, though something refers to it");
        } else {
            f->result.bad_records++;
            report(f, &id, why.message);
            condemn(f, &id);
        }
        rocks_value_free(&v);
        state = digest_map_get(&f->states, &id);
        if (*state == GOOD)
            return OK;
    }
    return ERR_NOTFOUND;
}

static enum err_code check_links(struct fsck *f, struct err *e)
{
    struct arena a = {0};
    bool changed = true;
    while (changed) {
        changed = false;
        size_t kept = 0;
        for (size_t i = 0; i < f->n_linked; i++) {
            struct digest id = f->linked[i];
            struct record record;
            ProtobufCMessage *message;
            enum err_code code = store_get(&record, f->store, &id, &a, NULL);
            if (code == OK)
                code = canonical_unpack(&message, &a, kind_info(record.kind)->descriptor,
                                        record.payload, NULL);
            if (code == OK)
                code = message_visit_ids(message, check_link, f, NULL);
            arena_reset(&a);
            if (code == OK) {
                f->linked[kept++] = id;
            } else {
                condemn(f, &id);
                changed = true;
            }
        }
        f->n_linked = kept;
    }
    arena_free(&a);
    (void)e;
    return OK;
}

static enum err_code check_action(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    struct arena a = {0};
    struct err why = {0};
    ProtobufCMessage *message;
    f->result.actions++;
    const char *what = NULL;
    if (!scan_key_id(&id, key)) {
        what = "an action under a key that is none";
    } else if (canonical_unpack(&message, &a, &eqloom__action__descriptor, value, &why) != OK) {
        what = why.message;
    } else {
        const Eqloom__Action *action = (const Eqloom__Action *)message;
        if (action->key) {
            struct span preimage;
            struct digest found = {0};
            if (canonical_pack(&preimage, &a, &action->key->base, NULL) == OK)
                found = action_key(preimage);
            if (!digest_equal(&found, &id))
                what = "an action that does not belong to its key";
        }
        for (size_t i = 0; !what && i < action->n_outputs; i++)
            if (message_visit_ids(&action->outputs[i]->base, check_link, f, NULL) != OK)
                what = "an action whose outputs are not all there";
    }
    enum err_code code = OK;
    if (what) {
        report(f, &id, what);
        if (f->repair) {
            struct rocks_write w = {.family = ROCKS_ACTIONS, .remove = true, .key = key};
            code = err_up(e, rocks_write(f->store->rocks, &w, 1, false, e));
        }
    }
    arena_free(&a);
    return code;
}

static enum err_code check_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct fsck *f = arg;
    if (check_link(f, id->bytes, e) != OK) {
        struct buf what = {0};
        buf_printf(&what, "the ref %s leads to it", name);
        report(f, id, what.data);
        buf_free(&what);
    }
    return OK;
}

static enum err_code check_decodes(struct fsck *f, struct span key, struct span value,
                                   const ProtobufCMessageDescriptor *type, struct err *e)
{
    (void)e;
    struct err why = {0};
    if (canonical_check(type, value, &why) != OK) {
        struct digest id;
        scan_key_id(&id, key);
        f->result.bad_records++;
        report(f, &id, why.message);
    }
    return OK;
}

static enum err_code check_run(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    return check_decodes(f, key, value, &eqloom__run__descriptor, e);
}

static enum err_code check_source(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    return check_decodes(f, key, value, &eqloom__source_file__descriptor, e);
}

enum err_code store_fsck(struct fsck_result *out, struct store *s, bool repair,
                         void (*bad)(void *arg, const struct digest *id, const char *what),
                         void *arg, struct err *e)
{
    struct fsck f = {.store = s, .repair = repair, .bad = bad, .arg = arg};
    enum err_code code = OK;
    if (repair && rocks_is_secondary(s->rocks))
        return err_fail(e, ERR_INPUT, "a store that is open for reading cannot be repaired");
    code = store_scan(s->rocks, ROCKS_OBJECTS, check_object, on_unreadable, &f, e);
    if (code == OK)
        code = check_links(&f, e);
    if (code == OK)
        code = store_scan(s->rocks, ROCKS_ACTIONS, check_action, on_unreadable, &f, e);
    if (code == OK)
        code = store_each_ref(s, "", check_ref, &f, e);
    if (code == OK)
        code = store_scan(s->rocks, ROCKS_RUNS, check_run, on_unreadable, &f, e);
    if (code == OK)
        code = store_scan(s->rocks, ROCKS_FILES, check_source, on_unreadable, &f, e);
    for (size_t i = 0; code == OK && repair && i < f.n_doomed; i++) {
        code = err_up(e, store_remove_bad(s, &f.doomed[i], e));
        f.result.quarantined += code == OK;
    }
    if (code == OK && f.unreadable && !rocks_is_secondary(s->rocks))
        code = repair ? store_rebuild(s, e) : store_mark_damaged(s, e);
    *out = f.result;
    digest_map_free(&f.states);
    free(f.linked);
    free(f.doomed);
    return err_up(e, code);
}
