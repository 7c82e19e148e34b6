/* Reading packs; see pack.h. Never trusts a length: memory grows with what has really been read. */
#include "store/pack/pack.h"

#include "base/span.h"
#include "store/internal.h"

#include <inttypes.h>

enum { PART = 1 << 20 };

struct reader {
    FILE *from;
    const char *name;
    uint64_t at;
    struct hasher *hasher;
    struct coder *coder;
    struct buf bytes;
    struct arena arena; /* of one entry */
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

static enum err_code read_record(struct reader *r, struct pack_result *out,
                                 const struct pack_visitor *v, struct err *e)
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
    out->records++;
    return v->record ? err_up(e, v->record(v->arg, &id, &record, e)) : OK;
}

static enum err_code read_ref(struct reader *r, struct pack_result *out,
                              const struct pack_visitor *v, struct err *e)
{
    char name[256] = "";
    struct digest id;
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
    out->refs++;
    return v->ref ? err_up(e, v->ref(v->arg, name, &id, e)) : OK;
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

enum err_code pack_read(struct pack_result *out, FILE *from, const char *name,
                        const struct pack_visitor *visitor, struct err *e)
{
    struct reader r = {.from = from, .name = name, .hasher = hasher_new(), .coder = coder_new()};
    *out = (struct pack_result){0};
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
        case PACK_RECORD: code = read_record(&r, out, visitor, e); break;
        case PACK_REF: code = read_ref(&r, out, visitor, e); break;
        case PACK_END:
            code = read_end(&r, e);
            more = false;
            break;
        default: code = bad(&r, r.at - 1, "an entry of unknown kind", e);
        }
    }
    out->bytes = r.at;
    hasher_free(r.hasher);
    coder_free(r.coder);
    buf_free(&r.bytes);
    arena_free(&r.arena);
    return err_up(e, code);
}
