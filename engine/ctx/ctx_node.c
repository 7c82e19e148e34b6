/* The state that all calls of a node's op share: its inputs, opened once; see ctx.h. */
#include "engine/ctx/ctx_internal.h"

#include <stdlib.h>

void ctx_node_free(struct ctx_node *n)
{
    if (!n)
        return;
    for (size_t p = 0; p < n->n_ports; p++) {
        collection_close(n->ports[p].reader);
        pthread_mutex_destroy(&n->ports[p].mutex);
        summaries_free(n->ports[p].summaries);
    }
    for (struct ctx_difference *d = n->differences; d; d = d->next)
        free(d->positions);
    arena_free(&n->arena);
    pthread_mutex_destroy(&n->mutex);
    free(n->ports);
    free(n);
}

enum err_code ctx_node_new(struct ctx_node **out, struct node_run *r, struct err *e)
{
    struct ctx_node *n = must_calloc(1, sizeof *n);
    enum err_code code = OK;
    n->r = r;
    n->n_ports = op_count_inputs(r->op);
    n->ports = must_calloc(n->n_ports + 1, sizeof *n->ports);
    pthread_mutex_init(&n->mutex, NULL);
    for (size_t p = 0; p < n->n_ports; p++) {
        pthread_mutex_init(&n->ports[p].mutex, NULL);
        if (!code && r->op->inputs[p].cardinality == OP_COLLECTION && r->inputs[p].n)
            code = collection_open(&n->ports[p].reader, r->s->store, r->inputs[p].ids, e);
    }
    if (code)
        ctx_node_free(n);
    *out = code ? NULL : n;
    return err_up(e, code);
}

uint64_t ctx_node_elements(const struct ctx_node *n)
{
    return n->ports[0].reader ? collection_count(n->ports[0].reader) : 0;
}

enum err_code ctx_node_element(struct digest *id, struct ctx_node *n, uint64_t i, struct err *e)
{
    return err_up(e, ctx_port_id(id, &n->ports[0], i, e));
}
