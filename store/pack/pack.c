/* Writing packs, and taking them in; see pack.h.
 *
 * Records are written children first: whoever reads has everything that a record refers to before
 * the record itself. */
#include "store/pack/pack.h"

#include "base/span.h"
#include "store/internal.h"

#include <errno.h>
#include <stdlib.h>

enum { COMMIT_AT = 8 << 20 };
enum mark { SEEN = 1, WRITTEN = 2 };

struct packer {
    struct store *store;
    FILE *to;
    struct hasher *hasher;
    struct coder *coder;
    struct buf envelope;
    struct digest_map marks;
    struct digest *stack;
    size_t n, cap;
    struct pack_result result;
};

static enum err_code put_bytes(struct packer *p, const void *data, size_t n, struct err *e)
{
    hasher_add(p->hasher, data, n);
    p->result.bytes += n;
    return fwrite(data, 1, n, p->to) == n
               ? OK
               : err_fail(e, ERR_IO, "cannot write the pack: %s", strerror(errno));
}

static enum err_code push(void *arg, const uint8_t bytes[32], struct err *e)
{
    struct packer *p = arg;
    struct digest id;
    memcpy(id.bytes, bytes, DIGEST_SIZE);
    if (digest_map_get(&p->marks, &id))
        return OK;
    p->stack = vec_grow(p->stack, &p->cap, p->n + 1, sizeof *p->stack);
    p->stack[p->n++] = id;
    return OK;
}

static enum err_code put_record(struct packer *p, const struct digest *id, const struct record *r,
                                struct err *e)
{
    buf_clear(&p->envelope);
    enum err_code code =
        envelope_write(&p->envelope, p->coder, EFFORT_HIGH, r->kind, r->payload, e);
    uint8_t head[1 + DIGEST_SIZE + 4] = {PACK_RECORD};
    memcpy(head + 1, id->bytes, DIGEST_SIZE);
    put_le(head + 1 + DIGEST_SIZE, p->envelope.len, 4);
    if (code == OK)
        code = put_bytes(p, head, sizeof head, e);
    if (code == OK)
        code = put_bytes(p, p->envelope.data, p->envelope.len, e);
    p->result.records++;
    return err_up(e, code);
}

/* The top of the stack: first its children go on top of it, then it is written. */
static enum err_code visit_top(struct packer *p, struct err *e)
{
    struct digest id = p->stack[p->n - 1];
    uint64_t *mark = digest_map_put(&p->marks, &id, 0, NULL);
    if (*mark == WRITTEN) {
        p->n--;
        return OK;
    }
    bool second = *mark == SEEN;
    *mark = second ? WRITTEN : SEEN;
    struct arena a = {0};
    struct record r;
    ProtobufCMessage *message;
    enum err_code code = store_get(&r, p->store, &id, &a, e);
    if (code == OK && second) {
        p->n--;
        code = put_record(p, &id, &r, e);
    } else if (code == OK && message_type_has_ids(kind_info(r.kind)->descriptor)) {
        code = canonical_unpack(&message, &a, kind_info(r.kind)->descriptor, r.payload, e);
        if (code == OK)
            code = message_visit_ids(message, push, p, e);
    }
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code put_ref(struct packer *p, const struct pack_root *root, struct err *e)
{
    size_t n = strlen(root->name);
    uint8_t head[1 + DIGEST_SIZE + 1] = {PACK_REF};
    memcpy(head + 1, root->id.bytes, DIGEST_SIZE);
    head[1 + DIGEST_SIZE] = (uint8_t)n;
    enum err_code code = put_bytes(p, head, sizeof head, e);
    p->result.refs++;
    return err_up(e, code == OK ? put_bytes(p, root->name, n, e) : code);
}

enum err_code store_pack(struct pack_result *out, struct store *s, FILE *to,
                         const struct pack_root *roots, size_t n, struct err *e)
{
    struct packer p = {.store = s, .to = to, .hasher = hasher_new(), .coder = coder_new()};
    uint8_t magic[PACK_MAGIC_SIZE] = PACK_MAGIC;
    magic[PACK_MAGIC_SIZE - 1] = PACK_FORMAT;
    enum err_code code = put_bytes(&p, magic, sizeof magic, e);
    for (size_t i = 0; code == OK && i < n; i++) {
        push(&p, roots[i].id.bytes, NULL);
        while (code == OK && p.n)
            code = visit_top(&p, e);
    }
    for (size_t i = 0; code == OK && i < n; i++)
        if (roots[i].name)
            code = put_ref(&p, &roots[i], e);
    if (code == OK)
        code = put_bytes(&p, &(uint8_t){PACK_END}, 1, e);
    if (code == OK) {
        struct digest sum = hasher_finish(p.hasher);
        code = put_bytes(&p, sum.bytes, DIGEST_SIZE, e);
    }
    if (code == OK && fflush(to) != 0)
        code = err_fail(e, ERR_IO, "cannot write the pack: %s", strerror(errno));
    *out = p.result;
    hasher_free(p.hasher);
    coder_free(p.coder);
    buf_free(&p.envelope);
    digest_map_free(&p.marks);
    free(p.stack);
    return err_up(e, code);
}

/* ---- taking in ---- */

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

static enum err_code take_record(void *arg, const struct digest *id, const struct record *r,
                                 struct err *e)
{
    struct unpacker *u = arg;
    struct digest again;
    ProtobufCMessage *message;
    enum err_code code = OK;
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
