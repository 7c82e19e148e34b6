/* Taking packs in; see pack.h. */
#include "store/pack/pack.h"

#include "action.pb-c.h"
#include "store/internal.h"

enum { COMMIT_AT = 8 << 20 };

struct unpacker {
    struct store *store;
    struct store_batch *batch;
    struct digest_map arrived; /* in this pack */
    struct arena arena;        /* of one record */
    uint64_t added, kept;
};

static enum err_code has_child(void *arg, const uint8_t bytes[32], struct err *e)
{
    struct unpacker *u = arg;
    struct digest id;
    char hex[DIGEST_HEX];
    memcpy(id.bytes, bytes, DIGEST_SIZE);
    if (digest_map_get(&u->arrived, &id) || store_has(u->store, &id))
        return OK;
    return err_fail(e, ERR_CORRUPT,
                    "it refers to %s, which is neither in the pack nor in the store",
                    digest_hex(hex, &id));
}

static bool take_key(struct digest *key, const Eqloom__CacheEntry *entry)
{
    return span_digest(key, span_of(entry->key.data, entry->key.len));
}

static enum err_code take_entries(struct unpacker *u, const struct record *r, struct err *e)
{
    ProtobufCMessage *message;
    struct digest key;
    struct err why = {0};
    arena_reset(&u->arena);
    enum err_code code =
        canonical_unpack(&message, &u->arena, &eqloom__cache_entries__descriptor, r->payload, e);
    const Eqloom__CacheEntries *m = (const Eqloom__CacheEntries *)message;
    for (size_t i = 0; code == OK && i < m->n_actions; i++) {
        struct span value = span_of(m->actions[i]->value.data, m->actions[i]->value.len);
        if (!take_key(&key, m->actions[i]))
            return err_fail(e, ERR_CORRUPT, "an action whose key is not a digest");
        code = store_check_action(&u->arena, &key, value, has_child, u, &why);
        if (code == OK)
            code = store_batch_action(u->batch, &key, value, e);
        else if (code != ERR_NOTFOUND)
            return err_fail(e, code, "%s", why.message);
        else
            code = OK; /* it stays behind */
    }
    for (size_t i = 0; code == OK && i < m->n_traces; i++) {
        struct span value = span_of(m->traces[i]->value.data, m->traces[i]->value.len);
        if (!take_key(&key, m->traces[i]))
            return err_fail(e, ERR_CORRUPT, "a trace whose key is not a digest");
        code = canonical_check(&eqloom__trace__descriptor, value, e);
        if (code == OK)
            code = store_batch_trace(u->batch, &key, value, e);
    }
    return err_up(e, code);
}

static enum err_code take_record(void *arg, const struct digest *id, const struct record *r,
                                 struct err *e)
{
    struct unpacker *u = arg;
    struct digest again;
    ProtobufCMessage *message;
    enum err_code code = OK;
    if (r->kind == KIND_CACHE_ENTRIES)
        return err_up(e, take_entries(u, r, e));
    if (message_type_has_ids(kind_info(r->kind)->descriptor)) {
        arena_reset(&u->arena);
        code = canonical_unpack(&message, &u->arena, kind_info(r->kind)->descriptor, r->payload, e);
        if (code == OK)
            code = message_visit_ids(message, has_child, u, e);
        if (code != OK)
            return err_name_record(e, code, id);
    }
    digest_map_put(&u->arrived, id, 1, NULL);
    if (store_has(u->store, id))
        return OK;
    u->added++;
    code = store_batch_put(&again, u->batch, r->kind, r->payload, e);
    if (code == OK && store_batch_bytes(u->batch) >= COMMIT_AT)
        code = store_batch_commit(u->batch, e);
    return err_up(e, code);
}

static enum err_code take_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct unpacker *u = arg;
    struct digest old;
    enum err_code code = has_child(u, id->bytes, e);
    if (code != OK)
        return err_up(e, code);
    if (store_ref(&old, u->store, name, NULL) == OK) {
        u->kept += !digest_equal(&old, id);
        return OK;
    }
    return err_up(e, store_batch_ref(u->batch, name, id, e));
}

enum err_code store_unpack(struct pack_result *out, struct store *s, FILE *from, const char *name,
                           struct err *e)
{
    struct unpacker u = {.store = s, .batch = store_batch_new(s)};
    struct pack_visitor v = {take_record, take_ref, &u};
    enum err_code code = pack_read(out, from, name, &v, e);
    /* What was read before a fault is good, and need not be read again. */
    enum err_code stored = store_batch_commit(u.batch, code == OK ? e : NULL);
    out->added = u.added;
    out->kept = u.kept;
    store_batch_free(u.batch);
    digest_map_free(&u.arrived);
    arena_free(&u.arena);
    return err_up(e, code == OK ? stored : code);
}
