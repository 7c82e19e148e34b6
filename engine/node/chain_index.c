/* See chain_index.h. A trail is kept among the traces, as the note of the newest segment's action: pairs
 * of digests, oldest first, at most PAIRS_MAX. */
#include "engine/node/chain_index.h"

#include "base/buf.h"
#include "schemas/canonical.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 1 << 16 };

void chain_index_load(struct chain_index *t, struct store *s, const struct digest *first_segment)
{
    struct arena a = {0};
    struct span bytes;
    ProtobufCMessage *m;
    *t = (struct chain_index){.key = *first_segment};
    if (!store_trace(&bytes, s, first_segment, &a, NULL) &&
        !canonical_unpack(&m, &a, &eqloom__trace__descriptor, bytes, NULL)) {
        const ProtobufCBinaryData *note = &((const Eqloom__Trace *)m)->note;
        t->n = note->len / (2 * DIGEST_SIZE);
        t->pairs = vec_grow(t->pairs, &t->cap, 2 * t->n + 2, sizeof *t->pairs);
        memcpy(t->pairs, note->data, t->n * 2 * DIGEST_SIZE);
    }
    arena_free(&a);
}

void chain_index_free(struct chain_index *t)
{
    free(t->pairs);
    *t = (struct chain_index){0};
}

const struct digest *chain_index_find(const struct chain_index *t, const struct digest *segment)
{
    for (size_t k = 0; k < t->n; k++)
        if (digest_equal(&t->pairs[2 * k], segment))
            return &t->pairs[2 * k + 1];
    return NULL;
}

void chain_index_add(struct chain_index *t, const struct digest *segment, const struct digest *output)
{
    if (t->n == PAIRS_MAX || chain_index_find(t, segment))
        return;
    t->pairs = vec_grow(t->pairs, &t->cap, 2 * t->n + 2, sizeof *t->pairs);
    t->pairs[2 * t->n] = *segment;
    t->pairs[2 * t->n++ + 1] = *output;
}

enum err_code chain_index_write(struct store_batch *b, const struct chain_index *t,
                          const struct digest *segment, struct err *e)
{
    struct arena a = {0};
    struct span bytes;
    Eqloom__Trace m = EQLOOM__TRACE__INIT;
    m.action_key = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)segment->bytes};
    m.note = (ProtobufCBinaryData){t->n * 2 * DIGEST_SIZE, (uint8_t *)t->pairs};
    enum err_code code = canonical_pack(&bytes, &a, &m.base, e);
    if (!code)
        code = store_batch_trace(b, &t->key, bytes, e);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- refs ---- */

static char *prefix_of(struct arena *a, const struct session *s, const char *node)
{
    return arena_printf(a, "%s/%s/at/", s->job->name, node);
}

static char *ref_of(struct arena *a, const struct session *s, uint32_t i, uint64_t index)
{
    return arena_printf(a, "%s%06" PRIu64, prefix_of(a, s, s->job->nodes[i].name), index);
}

static bool is_kept(const struct node *node, uint64_t index)
{
    return node->keep && (index + 1) % node->keep == 0;
}

static enum err_code set_ref(struct store_batch *b, struct store *s, const char *name,
                             const struct digest *id, struct err *e)
{
    struct digest old;
    bool there = !store_ref(&old, s, name, NULL) && digest_equal(&old, id);
    return there ? OK : err_up(e, store_batch_ref(b, name, id, e));
}

enum err_code chain_refs_set_head(struct store_batch *b, struct session *s, uint32_t i, uint64_t index,
                              const struct digest *output, struct err *e)
{
    struct arena a = {0};
    enum err_code code = set_ref(b, s->store, ref_of(&a, s, i, index), output, e);
    if (!code && index && !is_kept(&s->job->nodes[i], index - 1))
        code = store_batch_ref_delete(b, ref_of(&a, s, i, index - 1), e);
    arena_free(&a);
    return err_up(e, code);
}

struct dropping {
    struct store_batch *batch;
    const struct node *node; /* NULL: all go */
    size_t prefix;
    uint64_t n;
};

static enum err_code drop_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct dropping *d = arg;
    uint64_t index = strtoull(name + d->prefix, NULL, 10);
    if (d->node && index < d->n && is_kept(d->node, index))
        return OK;
    return err_up(e, store_batch_ref_delete(d->batch, name, e));
}

enum err_code chain_refs_finish(struct store_batch *b, struct session *s, uint32_t i,
                         const struct digest *outputs, uint64_t n, struct err *e)
{
    const struct node *node = &s->job->nodes[i];
    struct arena a = {0};
    char *prefix = prefix_of(&a, s, node->name);
    struct dropping d = {b, node, strlen(prefix), n};
    enum err_code code = store_each_ref(s->store, prefix, drop_ref, &d, e);
    for (uint64_t k = 0; k < n && !code; k++)
        if (is_kept(node, k) && store_has(s->store, &outputs[k]))
            code = set_ref(b, s->store, ref_of(&a, s, i, k), &outputs[k], e);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code chain_refs_drop(struct store_batch *b, struct session *s, const char *node, struct err *e)
{
    struct arena a = {0};
    struct dropping d = {.batch = b};
    enum err_code code = store_each_ref(s->store, prefix_of(&a, s, node), drop_ref, &d, e);
    arena_free(&a);
    return err_up(e, code);
}
