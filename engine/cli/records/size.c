/* Sizes of what consists of several records; see size.h. */
#include "engine/cli/records/size.h"

#include "base/map.h"
#include "schemas/canonical.h"

#include <stdlib.h>
#include <string.h>

/* Values of the map: bytes << KIND_BITS | kind. */
enum { KIND_BITS = 8 };

struct sizes {
    struct store *store;
    struct digest_map records;
};

struct sum {
    const struct sizes *z;
    enum record_kind whole;
    uint64_t bytes;
};

static enum err_code take(void *arg, const struct digest *id, enum record_kind kind,
                          uint64_t stored, struct err *e)
{
    struct sizes *z = arg;
    digest_map_put(&z->records, id, stored << KIND_BITS | kind, NULL);
    return OK;
}

enum err_code sizes_load(struct sizes **out, struct store *s, struct err *e)
{
    struct sizes *z = *out = calloc(1, sizeof *z);
    if (!z)
        return err_fail(e, ERR_NOMEM, "no memory for sizes");
    z->store = s;
    return err_up(e, store_each_record(s, take, z, e));
}

void sizes_free(struct sizes *z)
{
    if (z)
        digest_map_free(&z->records);
    free(z);
}

static bool is_part(enum record_kind whole, enum record_kind kind)
{
    bool list = whole == KIND_COLLECTION || whole == KIND_COLLECTION_BLOCK;
    return list || kind == KIND_CHUNK;
}

static bool has_parts(enum record_kind kind)
{
    return kind == KIND_COLLECTION || kind == KIND_COLLECTION_BLOCK || kind == KIND_CHECKPOINT ||
           kind == KIND_FILE;
}

static void add_parts(struct sum *sum, const struct record *r);

static enum err_code add_part(void *arg, const uint8_t bytes[32], struct err *e)
{
    struct sum *sum = arg;
    struct digest id;
    memcpy(id.bytes, bytes, sizeof id.bytes);
    const uint64_t *found = digest_map_get(&sum->z->records, &id);
    enum record_kind kind = found ? *found & ((1 << KIND_BITS) - 1) : KIND_NONE;
    if (!found || !is_part(sum->whole, kind))
        return OK;
    sum->bytes += *found >> KIND_BITS;
    if (!has_parts(kind))
        return OK;
    struct arena a = {0};
    struct record r;
    if (!store_get(&r, sum->z->store, &id, &a, NULL))
        add_parts(sum, &r);
    arena_free(&a);
    return OK;
}

static void add_parts(struct sum *sum, const struct record *r)
{
    struct arena a = {0};
    struct sum inner = {.z = sum->z, .whole = r->kind};
    ProtobufCMessage *m;
    if (!canonical_unpack(&m, &a, kind_info(r->kind)->descriptor, r->payload, NULL))
        message_visit_ids(m, add_part, &inner, NULL);
    sum->bytes += inner.bytes;
    arena_free(&a);
}

uint64_t sizes_of(const struct sizes *z, const struct digest *id, const struct record *r)
{
    struct sum sum = {.z = z};
    const uint64_t *own = digest_map_get(&z->records, id);
    if (own)
        sum.bytes = *own >> KIND_BITS;
    if (has_parts(r->kind))
        add_parts(&sum, r);
    return sum.bytes;
}
