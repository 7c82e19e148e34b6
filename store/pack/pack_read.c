/* Unpacking; see pack.h. Never trusts a length: memory grows with the bytes actually read. */
#include "store/pack/pack.h"

#include "action.pb-c.h"
#include "base/span.h"
#include "store/internal.h"

#include <inttypes.h>

enum { PART = 1 << 20, COMMIT_AT = 8 << 20 };

struct reader {
    FILE *from;
    const char *name;
    uint64_t at;
    struct hasher *hasher;
    struct coder *coder;
    struct buf bytes;
    struct arena arena, message; /* of one entry; of its decoded payload */
    struct store *store;
    struct store_batch *batch;
    struct digest_map arrived; /* records in this pack */
    enum pack_trust trust;
    struct pack_result *result;
};

static enum err_code take(struct reader *r, size_t n, struct err *e)
{
    buf_clear(&r->bytes);
    while (r->bytes.len < n) {
        size_t want = n - r->bytes.len < PART ? n - r->bytes.len : PART;
        buf_reserve(&r->bytes, want);
        size_t got = fread(r->bytes.data + r->bytes.len, 1, want, r->from);
        r->bytes.len += got;
        if (got < want && ferror(r->from))
            return err_fail(e, ERR_IO, "cannot read %s", r->name);
        if (got < want)
            return err_fail(e, ERR_CORRUPT, "the pack %s ends early, at byte %" PRIu64, r->name,
                            r->at + r->bytes.len);
    }
    r->at += n;
    return OK;
}

static enum err_code take_hashed(struct reader *r, size_t n, struct err *e)
{
    enum err_code code = take(r, n, e);
    if (code == OK)
        hasher_add(r->hasher, r->bytes.data, n);
    return err_up(e, code);
}

static enum err_code bad(const struct reader *r, uint64_t at, const char *what, struct err *e)
{
    return err_fail(e, ERR_CORRUPT, "the pack %s: %s at byte %" PRIu64, r->name, what, at);
}

static enum err_code has_child(void *arg, const struct digest *id, struct err *e)
{
    struct reader *r = arg;
    char hex[DIGEST_HEX];
    if (digest_map_get(&r->arrived, id) || store_has(r->store, id))
        return OK;
    return err_fail(e, ERR_CORRUPT,
                    "it refers to %s, which is neither in the pack nor in the store",
                    digest_hex(hex, id));
}

static bool take_key(struct digest *key, const Eqloom__CacheEntry *entry)
{
    return span_digest(key, span_of(entry->key.data, entry->key.len));
}

static enum err_code is_stored(void *arg, const struct digest *id, struct err *e)
{
    return store_has(arg, id) ? OK : ERR_NOTFOUND;
}

/* Whether the store has an action of this key with its outputs. */
static bool has_own(struct reader *r, const struct digest *key)
{
    struct span own;
    return store_action(&own, r->store, key, &r->message, NULL) == OK &&
           store_check_action(&r->message, key, own, is_stored, r->store, NULL) == OK;
}

static enum err_code take_action(struct reader *r, const Eqloom__CacheEntry *entry, struct err *e)
{
    struct digest key;
    struct err why = {0};
    Eqloom__Action *action;
    struct span value = span_of(entry->value.data, entry->value.len);
    if (!take_key(&key, entry))
        return err_fail(e, ERR_CORRUPT, "an action whose key is not a digest");
    enum err_code code = store_check_action(&r->message, &key, value, has_child, r, &why);
    if (code == ERR_NOTFOUND || (code == OK && has_own(r, &key)))
        return OK;
    if (code == OK)
        code = canonical_unpack(&action, &r->message, &eqloom__action__descriptor, value, &why);
    if (code != OK)
        return err_fail(e, code, "%s", why.message);
    action->foreign = action->foreign || r->trust == PACK_FOREIGN;
    code = canonical_pack(&value, &r->message, &action->base, e);
    r->result->actions++;
    return err_up(e, code ? code : store_batch_action(r->batch, &key, value, e));
}

static enum err_code take_trace(struct reader *r, const Eqloom__CacheEntry *entry, struct err *e)
{
    struct digest key, action;
    const Eqloom__Trace *own;
    struct span value = span_of(entry->value.data, entry->value.len), bytes;
    Eqloom__Trace *trace;
    if (!take_key(&key, entry))
        return err_fail(e, ERR_CORRUPT, "a trace whose key is not a digest");
    enum err_code code =
        canonical_unpack(&trace, &r->message, &eqloom__trace__descriptor, value, e);
    if (code != OK)
        return err_up(e, code);
    if (store_trace(&bytes, r->store, &key, &r->message, NULL) == OK &&
        canonical_unpack(&own, &r->message, &eqloom__trace__descriptor, bytes, NULL) == OK &&
        span_digest(&action, span_of(own->action_key.data, own->action_key.len)) &&
        has_own(r, &action))
        return OK;
    trace->foreign = trace->foreign || r->trust == PACK_FOREIGN;
    code = canonical_pack(&value, &r->message, &trace->base, e);
    return err_up(e, code ? code : store_batch_trace(r->batch, &key, value, e));
}

static enum err_code take_entries(struct reader *r, const struct record *record, struct err *e)
{
    const Eqloom__CacheEntries *m;
    arena_reset(&r->message);
    enum err_code code = canonical_unpack(&m, &r->message, &eqloom__cache_entries__descriptor,
                                          record->payload, e);
    for (size_t i = 0; code == OK && i < m->n_actions; i++)
        code = take_action(r, m->actions[i], e);
    for (size_t i = 0; code == OK && i < m->n_traces; i++)
        code = take_trace(r, m->traces[i], e);
    return err_up(e, code);
}

static enum err_code take_record(struct reader *r, const struct digest *id,
                                 const struct record *record, struct err *e)
{
    struct digest again;
    ProtobufCMessage *message;
    enum err_code code = OK;
    if (record->kind == KIND_CACHE_ENTRIES)
        return err_up(e, take_entries(r, record, e));
    if (message_type_has_ids(kind_info(record->kind)->descriptor)) {
        arena_reset(&r->message);
        code = canonical_unpack(&message, &r->message, kind_info(record->kind)->descriptor,
                                record->payload, e);
        if (code == OK)
            code = message_visit_ids(message, has_child, r, e);
        if (code != OK)
            return err_name_record(e, code, id);
    }
    digest_map_put(&r->arrived, id, 1, NULL);
    if (store_has(r->store, id))
        return OK;
    r->result->added++;
    code = store_batch_put(&again, r->batch, record->kind, record->payload, e);
    if (code == OK && store_batch_bytes(r->batch) >= COMMIT_AT)
        code = store_batch_commit(r->batch, e);
    return err_up(e, code);
}

static enum err_code read_record(struct reader *r, struct err *e)
{
    uint64_t at = r->at;
    struct digest id;
    struct record record;
    struct err why = {0};
    enum err_code code = take_hashed(r, DIGEST_SIZE + 4, e);
    if (code != OK)
        return err_up(e, code);
    memcpy(id.bytes, r->bytes.data, DIGEST_SIZE);
    uint64_t n = get_le(r->bytes.data + DIGEST_SIZE, 4);
    if (n > RECORD_MAX_PAYLOAD + ENVELOPE_HEADER)
        return bad(r, at, "a record that is too long", e);
    if ((code = err_up(e, take_hashed(r, n, e))))
        return code;
    arena_reset(&r->arena);
    code = envelope_verify(&record, r->coder, &id, span_of(r->bytes.data, n), &r->arena, &why);
    if (code == OK)
        code = canonical_check(kind_info(record.kind)->descriptor, record.payload, &why);
    if (code == ERR_NOMEM)
        return err_fail(e, code, "%s", why.message);
    if (code != OK)
        return bad(r, at, why.message, e);
    r->result->records++;
    return err_up(e, take_record(r, &id, &record, e));
}

static enum err_code read_ref(struct reader *r, struct err *e)
{
    char name[256] = "";
    struct digest id, old;
    enum err_code code = take_hashed(r, DIGEST_SIZE + 1, e);
    if (code != OK)
        return err_up(e, code);
    memcpy(id.bytes, r->bytes.data, DIGEST_SIZE);
    size_t n = (uint8_t)r->bytes.data[DIGEST_SIZE];
    if ((code = err_up(e, take_hashed(r, n, e))))
        return code;
    memcpy(name, r->bytes.data, n);
    if (strlen(name) != n || err_up(NULL, store_check_ref_name(name, NULL)) != OK)
        return bad(r, r->at - n, "not a name of a ref", e);
    r->result->refs++;
    if ((code = err_up(e, has_child(r, &id, e))))
        return code;
    if (store_ref(&old, r->store, name, NULL) == OK) {
        r->result->kept += !digest_equal(&old, &id);
        return OK;
    }
    return err_up(e, store_batch_ref(r->batch, name, &id, e));
}

static enum err_code read_end(struct reader *r, struct err *e)
{
    uint64_t at = r->at;
    struct digest found = hasher_finish(r->hasher);
    enum err_code code = take(r, DIGEST_SIZE, e);
    if (code != OK)
        return err_up(e, code);
    if (memcmp(r->bytes.data, found.bytes, DIGEST_SIZE) != 0)
        return bad(r, at, "a wrong checksum", e);
    if (fgetc(r->from) != EOF)
        return bad(r, r->at, "something after the end", e);
    return OK;
}

enum err_code store_unpack(struct pack_result *out, struct store *s, FILE *from, const char *name,
                           enum pack_trust trust, struct err *e)
{
    struct reader r = {.from = from, .name = name, .hasher = hasher_new(), .coder = coder_new()};
    r.trust = trust;
    *out = (struct pack_result){0};
    r.store = s;
    r.batch = store_batch_new(s);
    r.result = out;
    enum err_code code = take_hashed(&r, PACK_MAGIC_SIZE, e);
    if (code == OK && memcmp(r.bytes.data, PACK_MAGIC, PACK_MAGIC_SIZE - 1) != 0)
        code = err_fail(e, ERR_INPUT, "%s is not a pack of eqloom", name);
    else if (code == OK && r.bytes.data[PACK_MAGIC_SIZE - 1] != PACK_FORMAT)
        code = err_fail(e, ERR_UNSUPPORTED, "the pack %s has format %u; this eqloom knows %d", name,
                        (uint8_t)r.bytes.data[PACK_MAGIC_SIZE - 1], PACK_FORMAT);
    for (bool more = true; code == OK && more;) {
        code = take_hashed(&r, 1, e);
        if (code != OK)
            break;
        switch (r.bytes.data[0]) {
        case PACK_RECORD: code = read_record(&r, e); break;
        case PACK_REF: code = read_ref(&r, e); break;
        case PACK_END:
            code = read_end(&r, e);
            more = false;
            break;
        default: code = bad(&r, r.at - 1, "an entry of unknown kind", e);
        }
    }
    out->bytes = r.at;
    /* Entries read before a fault are good and need not be read again. */
    enum err_code stored = store_batch_commit(r.batch, code == OK ? e : NULL);
    store_batch_free(r.batch);
    hasher_free(r.hasher);
    coder_free(r.coder);
    buf_free(&r.bytes);
    arena_free(&r.arena);
    arena_free(&r.message);
    digest_map_free(&r.arrived);
    return err_up(e, code == OK ? stored : code);
}
