/* See text_chunks.h. A cut is looked for where a rolling hash of the last 64 bytes has its upper
 * bits zero, from LEAST bytes behind the cut before on; the op says at which place behind that its
 * text may be parted. */
#include "engine/cache/text_chunks.h"

#include "base/map.h"
#include "base/rng.h"
#include "schemas/canonical.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 4 << 10, MOST = 64 << 10, CUT_BITS = 13 };

struct cutter {
    uint64_t gear[256];
    struct op_ctx *ctx;
};

static void init_cutter(struct cutter *c, struct op_ctx *ctx)
{
    for (unsigned i = 0; i < 256; i++)
        c->gear[i] = rng_mix(i);
    c->ctx = ctx;
}

/* The end of the chunk that begins at `from`. */
static size_t find_end(const struct cutter *c, const struct source_text *text, size_t from)
{
    const uint8_t *bytes = (const uint8_t *)text->text;
    size_t stop = text->len - from > MOST ? from + MOST : text->len, at = from + LEAST;
    uint64_t hash = 0;
    if (text->len - from <= LEAST)
        return text->len;
    for (size_t k = at - 64; k < at; k++)
        hash = (hash << 1) + c->gear[bytes[k]];
    for (; at < stop && hash >> (64 - CUT_BITS); at++)
        hash = (hash << 1) + c->gear[bytes[at]];
    if (at == text->len)
        return at;
    size_t place = c->ctx->node->op->cut(c->ctx, text, at);
    return place < text->len ? place : text->len;
}

bool text_chunks_cut(struct text_chunks *out, struct arena *a, struct op_ctx *ctx,
                     const struct source_files *files)
{
    const struct op *op = ctx->node->op;
    struct cutter c;
    size_t most = files->n;
    memset(out, 0, sizeof *out);
    if (!op->cut || !files->n || op->cut(ctx, &files->files[0].text, 0) != 0)
        return false;
    for (size_t i = 0; i < files->n; i++)
        most += files->files[i].text.len / LEAST;
    out->items = arena_array(a, struct text_chunk, most);
    init_cutter(&c, ctx);
    for (size_t i = 0; i < files->n; i++) {
        const struct source_text *text = &files->files[i].text;
        size_t from = 0;
        do {
            size_t end = find_end(&c, text, from);
            struct span bytes = span_of(text->text + from, end - from);
            out->items[out->n++] = (struct text_chunk){i, from, bytes.len, digest_of(&bytes, 1), 0};
            from = end;
        } while (from < text->len);
    }
    return true;
}

/* ---- remembered ---- */

struct chunk_cache {
    struct digest collection;
    struct digest_map places; /* digest of a text -> its position among `slices` */
    struct slice *slices;
    struct arena arena;
};

static enum err_code make_key(struct key *key, struct arena *a, const struct node *node,
                              const char *numerics, const struct digest *files, size_t n_files,
                              struct err *e)
{
    struct key_input in = {"@chunks", files, n_files};
    struct key_spec spec = {.node = node, .numerics = numerics, .inputs = &in, .n_inputs = 1};
    return err_up(e, key_make(key, a, &spec, e));
}

static void add_places(struct chunk_cache *x, const Eqloom__Action *action)
{
    uint64_t at = 0;
    x->slices = arena_array(&x->arena, struct slice, action->n_chunks);
    for (size_t k = 0; k < action->n_chunks; k++) {
        const Eqloom__TextChunk *chunk = action->chunks[k];
        struct digest id;
        if (chunk->text_digest.len != DIGEST_SIZE)
            continue;
        memcpy(id.bytes, chunk->text_digest.data, DIGEST_SIZE);
        x->slices[k] = (struct slice){x->collection, at, chunk->elements};
        at += chunk->elements;
        digest_map_put(&x->places, &id, k, NULL);
    }
}

struct chunk_cache *chunk_cache_new(struct store *s, const struct node *node, const char *numerics,
                                    const struct digest *files, size_t n_files)
{
    struct key key;
    struct span bytes;
    ProtobufCMessage *message;
    struct chunk_cache *x = calloc(1, sizeof *x);
    if (!x)
        abort(); /* as small allocations do */
    const Eqloom__Action *action = NULL;
    if (!make_key(&key, &x->arena, node, numerics, files, n_files, NULL) &&
        !store_action(&bytes, s, &key.digest, &x->arena, NULL) &&
        !canonical_unpack(&message, &x->arena, &eqloom__action__descriptor, bytes, NULL))
        action = (const Eqloom__Action *)message;
    if (action && action->n_outputs == 1 && action->outputs[0]->output_ids.len == DIGEST_SIZE) {
        memcpy(x->collection.bytes, action->outputs[0]->output_ids.data, DIGEST_SIZE);
        if (store_has(s, &x->collection)) {
            add_places(x, action);
            return x;
        }
    }
    chunk_cache_free(x);
    return NULL;
}

void chunk_cache_free(struct chunk_cache *x)
{
    if (!x)
        return;
    digest_map_free(&x->places);
    arena_free(&x->arena);
    free(x);
}

bool chunk_cache_find(struct slice *out, const struct chunk_cache *x, const struct digest *id)
{
    const uint64_t *place = x ? digest_map_get(&x->places, id) : NULL;
    if (place)
        *out = x->slices[*place];
    return place != NULL;
}

enum err_code chunk_cache_write(struct store_batch *b, struct arena *a, const struct node *node,
                                const char *numerics, const struct source_files *files,
                                const struct text_chunks *chunks, const struct digest *collection,
                                struct err *e)
{
    Eqloom__ActionOutput output = EQLOOM__ACTION_OUTPUT__INIT, *outputs[] = {&output};
    Eqloom__Action m = EQLOOM__ACTION__INIT;
    Eqloom__TextChunk *items = arena_array(a, Eqloom__TextChunk, chunks->n);
    struct digest *ids = arena_array(a, struct digest, files->n);
    struct span bytes;
    struct key key;
    for (size_t i = 0; i < files->n; i++)
        ids[i] = files->files[i].id;
    enum err_code code = make_key(&key, a, node, numerics, ids, files->n, e);
    if (code)
        return err_up(e, code);
    output.role = (char *)"@chunks";
    output.output_ids = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)collection->bytes};
    m.key = key.message;
    m.outputs = outputs;
    m.n_outputs = 1;
    m.n_chunks = chunks->n;
    m.chunks = arena_array(a, Eqloom__TextChunk *, chunks->n);
    for (size_t k = 0; k < chunks->n; k++) {
        m.chunks[k] = &items[k];
        eqloom__text_chunk__init(&items[k]);
        items[k].text_digest =
            (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)chunks->items[k].id.bytes};
        items[k].elements = chunks->items[k].n;
    }
    code = canonical_pack(&bytes, a, &m.base, e);
    if (!code)
        code = store_batch_action(b, &key.digest, bytes, e);
    return err_up(e, code);
}
