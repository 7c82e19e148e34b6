/* See chain_index.h. The index is stored among the traces: pairs of digests, oldest first. When it
 * is full, the older half is dropped. */
#include "engine/cache/chain_index.h"

#include "base/buf.h"
#include "engine/cache/trace.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 1 << 16 };

void chain_index_load(struct chain_index *x, struct store *s, const struct digest *key)
{
    struct arena a = {0};
    struct trace trace;
    *x = (struct chain_index){.key = *key};
    if (trace_read(&trace, &a, s, key)) {
        x->n = trace.witness.len / (2 * DIGEST_SIZE);
        x->pairs = vec_grow(x->pairs, &x->cap, 2 * x->n + 2, sizeof *x->pairs);
        memcpy(x->pairs, trace.witness.data, x->n * 2 * DIGEST_SIZE);
    }
    arena_free(&a);
}

void chain_index_free(struct chain_index *x)
{
    free(x->pairs);
    *x = (struct chain_index){0};
}

const struct digest *chain_index_find(const struct chain_index *x, const struct digest *segment)
{
    for (size_t k = x->n; k-- > 0;)
        if (digest_equal(&x->pairs[2 * k], segment))
            return &x->pairs[2 * k + 1];
    return NULL;
}

void chain_index_add(struct chain_index *x, const struct digest *segment,
                     const struct digest *output)
{
    if (digest_is_zero(segment) || chain_index_find(x, segment))
        return;
    if (x->n == PAIRS_MAX) {
        x->n /= 2;
        memmove(x->pairs, x->pairs + 2 * x->n, x->n * 2 * DIGEST_SIZE);
    }
    x->pairs = vec_grow(x->pairs, &x->cap, 2 * x->n + 2, sizeof *x->pairs);
    x->pairs[2 * x->n] = *segment;
    x->pairs[2 * x->n++ + 1] = *output;
}

enum err_code chain_index_write(struct store_batch *b, const struct chain_index *x,
                                const struct digest *action, struct err *e)
{
    struct arena a = {0};
    struct trace trace = {.action = *action, .witness = span_of(x->pairs, x->n * 2 * DIGEST_SIZE)};
    enum err_code code = trace_write(b, &a, &x->key, &trace, e);
    arena_free(&a);
    return err_up(e, code);
}
