#include "engine/node/assemble.h"

#include "store/collection/collection.h"

#include <stdlib.h>

struct port {
    struct collection_builder *builder;
    uint64_t count;
    struct slice pending;      /* not yet added to the builder */
    struct collection *source; /* source of the last slice */
    struct digest source_id;
};

struct assemble {
    struct store *store;
    size_t n;
    struct port ports[];
};

struct assemble *assemble_new(const struct op *op, struct store *s, struct store_batch *b)
{
    size_t n = op_count_outputs(op);
    struct assemble *x = must_calloc(1, sizeof *x + n * sizeof x->ports[0]);
    x->store = s;
    x->n = n;
    for (size_t r = 0; r < n; r++)
        x->ports[r].builder = collection_builder_new(b, op->outputs[r].kind);
    return x;
}

void assemble_free(struct assemble *x)
{
    for (size_t r = 0; x && r < x->n; r++) {
        collection_builder_free(x->ports[r].builder);
        collection_close(x->ports[r].source);
    }
    free(x);
}

static enum err_code flush(struct assemble *x, struct port *p, struct err *e)
{
    const struct slice *s = &p->pending;
    enum err_code code = OK;
    if (!s->n)
        return OK;
    if (!p->source || !digest_equal(&p->source_id, &s->collection)) {
        collection_close(p->source);
        p->source = NULL;
        p->source_id = s->collection;
        code = collection_open(&p->source, x->store, &s->collection, e);
    }
    if (!code)
        code = collection_builder_add_slice(p->builder, p->source, s->from, s->n, e);
    p->pending.n = 0;
    return err_up(e, code);
}

enum err_code assemble_add(struct assemble *x, const struct id_list *outputs, struct err *e)
{
    enum err_code code = OK;
    for (size_t r = 0; r < x->n && !code; r++) {
        struct port *p = &x->ports[r];
        if (outputs[r].n)
            code = flush(x, p, e);
        for (size_t k = 0; k < outputs[r].n && !code; k++)
            code = collection_builder_add(p->builder, &outputs[r].ids[k], e);
        p->count += outputs[r].n;
    }
    return err_up(e, code);
}

enum err_code assemble_add_slices(struct assemble *x, const struct slice *slices, struct err *e)
{
    enum err_code code = OK;
    for (size_t r = 0; r < x->n && !code; r++) {
        struct port *p = &x->ports[r];
        const struct slice *s = &slices[r];
        if (!s->n)
            continue;
        p->count += s->n;
        if (p->pending.n && p->pending.from + p->pending.n == s->from &&
            digest_equal(&p->pending.collection, &s->collection)) {
            p->pending.n += s->n;
            continue;
        }
        code = flush(x, p, e);
        p->pending = *s;
    }
    return err_up(e, code);
}

uint64_t assemble_count(const struct assemble *x, size_t output)
{
    return x->ports[output].count;
}

enum err_code assemble_finish(struct id_list **outputs, struct arena *a, struct assemble *x,
                              struct err *e)
{
    enum err_code code = OK;
    *outputs = arena_array(a, struct id_list, x->n);
    for (size_t r = 0; r < x->n && !code; r++) {
        struct digest *id = arena_new(a, struct digest);
        code = flush(x, &x->ports[r], e);
        if (!code)
            code = collection_builder_finish(id, x->ports[r].builder, e);
        (*outputs)[r] = (struct id_list){id, 1};
    }
    return err_up(e, code);
}
