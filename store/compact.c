/* Giving space back; see maintain.h. What was stored before its kind had a dictionary is compressed
 * again with it, where that is shorter; identities do not depend on it. */
#include "store/maintain.h"

#include "store/internal.h"

#include <stdlib.h>

enum { WRITE_AT = 4 << 20 };

struct compactor {
    struct store *store;
    struct coder *coder;
    struct arena arena; /* of one record, or of the writes */
    struct rocks_write *writes;
    size_t n, cap, bytes;
};

static enum err_code write_out(struct compactor *c, struct err *e)
{
    enum err_code code = c->n ? rocks_write(c->store->rocks, c->writes, c->n, false, e) : OK;
    arena_reset(&c->arena);
    c->n = c->bytes = 0;
    return err_up(e, code);
}

/* Bad records are left to fsck. */
static bool read_old(struct record *r, struct digest *id, struct compactor *c, struct arena *a,
                     struct span key, struct span value)
{
    enum record_kind kind;
    uint64_t length;
    if (key.len != DIGEST_SIZE || envelope_peek(&kind, &length, value, NULL) != OK ||
        !dictionary_serves(kind) || length > DICTIONARY_MAX_PAYLOAD || value.data[3] != CODEC_ZSTD)
        return false;
    memcpy(id->bytes, key.data, DIGEST_SIZE);
    return envelope_verify(r, c->coder, id, value, a, NULL) == OK;
}

static enum err_code sample_record(struct compactor *c, struct span key, struct span value,
                                   struct err *e)
{
    (void)e;
    struct digest id;
    struct record r;
    struct arena a = {0};
    if (read_old(&r, &id, c, &a, key, value))
        dictionaries_sample(&c->store->dictionaries, r.kind, &id, r.payload);
    arena_free(&a);
    return OK;
}

static enum err_code encode_record(struct compactor *c, struct span key, struct span value,
                                   struct err *e)
{
    struct digest id;
    struct record r;
    struct arena a = {0};
    struct buf new = {0};
    enum err_code code = OK;
    if (read_old(&r, &id, c, &a, key, value))
        code = envelope_write(&new, c->coder, r.kind, r.payload, e);
    if (code == OK && new.len &&new.len < value.len) {
        c->writes = vec_grow(c->writes, &c->cap, c->n + 1, sizeof *c->writes);
        c->writes[c->n++] = (struct rocks_write){
            .family = ROCKS_OBJECTS,
            .key = span_of(arena_memdup(&c->arena, key.data, key.len), key.len),
            .value = span_of(arena_memdup(&c->arena, new.data, new.len), new.len)};
        c->bytes += new.len;
        if (c->bytes >= WRITE_AT)
            code = write_out(c, e);
    }
    buf_free(&new);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code each_object(struct compactor *c,
                                 enum err_code (*visit)(struct compactor *c, struct span key,
                                                        struct span value, struct err *e),
                                 struct err *e)
{
    struct rocks_iter *it = rocks_iter_new(c->store->rocks, ROCKS_OBJECTS);
    enum err_code code = OK;
    for (rocks_iter_seek(it, span_of("", 0)); code == OK && rocks_iter_valid(it);
         rocks_iter_next(it))
        code = visit(c, rocks_iter_key(it), rocks_iter_value(it), e);
    if (code == OK)
        code = rocks_iter_error(it, e);
    rocks_iter_free(it);
    return err_up(e, code);
}

enum err_code store_compact(struct store *s, struct err *e)
{
    struct compactor c = {.store = s, .coder = store_coder_take(s)};
    enum err_code code = each_object(&c, sample_record, e);
    for (int kind = KIND_NONE + 1; kind < KIND_END; kind++)
        dictionaries_train_now(&s->dictionaries, (enum record_kind)kind);
    if (code == OK)
        code = each_object(&c, encode_record, e);
    if (code == OK)
        code = write_out(&c, e);
    if (code == OK)
        code = rocks_flush(s->rocks, e);
    for (int i = ROCKS_DEFAULT + 1; code == OK && i < ROCKS_FAMILIES; i++)
        rocks_compact(s->rocks, (enum rocks_family)i);
    store_coder_give(s, c.coder);
    arena_free(&c.arena);
    free(c.writes);
    return err_up(e, code);
}
