/* Writing packs; see pack.h.
 *
 * Records are written in post-order: a reader gets everything that a record refers to before the
 * record itself. */
#include "store/pack/pack.h"

#include "action.pb-c.h"
#include "base/span.h"
#include "store/internal.h"

#include <errno.h>
#include <stdlib.h>

enum { ENTRIES_BYTES = 4 << 20 };
enum mark { SEEN = 1, WRITTEN = 2 };

struct packer {
    struct store *store;
    FILE *to;
    struct hasher *hasher;
    struct coder *coder;
    struct buf envelope;
    enum effort effort;
    bool silent; /* only marks records */
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

static enum err_code push(void *arg, const struct digest *id, struct err *e)
{
    struct packer *p = arg;
    if (digest_map_get(&p->marks, id))
        return OK;
    p->stack = vec_grow(p->stack, &p->cap, p->n + 1, sizeof *p->stack);
    p->stack[p->n++] = *id;
    return OK;
}

static enum err_code put_record(struct packer *p, const struct digest *id, const struct record *r,
                                struct err *e)
{
    buf_clear(&p->envelope);
    enum err_code code = envelope_write(&p->envelope, p->coder, p->effort, r->kind, r->payload, e);
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

/* Processes the top of the stack: first pushes its children, then writes it. */
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
        code = p->silent ? OK : put_record(p, &id, &r, e);
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

static enum err_code put_all(struct packer *p, const struct digest *root, struct err *e)
{
    enum err_code code = push(p, root, e);
    while (code == OK && p->n)
        code = visit_top(p, e);
    return err_up(e, code);
}

/* ---- entries of the cache ---- */

typedef enum err_code read_entry(struct span *out, struct store *s, const struct digest *key,
                                 struct arena *a, struct err *e);

/* Writes records of as many entries as fit. */
static enum err_code put_entries(struct packer *p, const struct digest *keys, size_t n, bool traces,
                                 struct err *e)
{
    read_entry *read = traces ? store_trace : store_action;
    enum err_code code = OK;
    for (size_t i = 0; i < n && code == OK;) {
        struct arena a = {0};
        Eqloom__CacheEntries m = EQLOOM__CACHE_ENTRIES__INIT;
        Eqloom__CacheEntry **entries = arena_array(&a, Eqloom__CacheEntry *, n - i);
        struct record r = {.kind = KIND_CACHE_ENTRIES};
        size_t count = 0;
        for (size_t bytes = 0; i < n && bytes < ENTRIES_BYTES && code == OK; i++) {
            struct span value;
            code = read(&value, p->store, &keys[i], &a, e);
            if (code == OK) {
                Eqloom__CacheEntry *entry = entries[count++] = arena_new(&a, Eqloom__CacheEntry);
                eqloom__cache_entry__init(entry);
                entry->key = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)keys[i].bytes};
                entry->value = (ProtobufCBinaryData){value.len, (uint8_t *)value.data};
                bytes += value.len;
            }
            code = code == ERR_NOTFOUND ? OK : code;
        }
        *(traces ? &m.n_traces : &m.n_actions) = count;
        *(traces ? &m.traces : &m.actions) = entries;
        if (code == OK && count)
            code = canonical_pack(&r.payload, &a, &m.base, e);
        if (code == OK && count) {
            struct digest id = record_id(r.kind, r.payload);
            code = put_record(p, &id, &r, e);
        }
        arena_free(&a);
    }
    return err_up(e, code);
}

/* ---- a pack ---- */

static enum err_code put_contents(struct packer *p, const struct pack_contents *what, struct err *e)
{
    uint8_t magic[PACK_MAGIC_SIZE] = PACK_MAGIC;
    magic[PACK_MAGIC_SIZE - 1] = PACK_FORMAT;
    enum err_code code = put_bytes(p, magic, sizeof magic, e);
    p->silent = true;
    for (size_t i = 0; code == OK && i < what->n_base; i++)
        code = put_all(p, &what->base[i], e);
    p->silent = false;
    for (size_t i = 0; code == OK && i < what->n_roots; i++)
        code = put_all(p, &what->roots[i].id, e);
    if (code == OK)
        code = put_entries(p, what->actions, what->n_actions, false, e);
    if (code == OK)
        code = put_entries(p, what->traces, what->n_traces, true, e);
    for (size_t i = 0; code == OK && i < what->n_roots; i++)
        if (what->roots[i].name)
            code = put_ref(p, &what->roots[i], e);
    if (code == OK)
        code = put_bytes(p, &(uint8_t){PACK_END}, 1, e);
    if (code != OK)
        return err_up(e, code);
    struct digest sum = hasher_finish(p->hasher);
    return err_up(e, put_bytes(p, sum.bytes, DIGEST_SIZE, e));
}

enum err_code store_pack(struct pack_result *out, struct store *s, FILE *to,
                         const struct pack_contents *what, struct err *e)
{
    struct packer p = {.store = s, .to = to, .hasher = hasher_new(), .coder = coder_new()};
    p.effort = what->fast ? EFFORT_FAST : EFFORT_HIGH;
    enum err_code code = put_contents(&p, what, e);
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
