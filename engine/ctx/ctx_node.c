/* What all calls of a node's op share: its inputs, opened once; see ctx.h. */
#include "engine/ctx/ctx_internal.h"

#include <stdlib.h>

void ctx_node_free(struct ctx_node *n)
{
    if (!n)
        return;
    for (size_t p = 0; p < n->n_ports; p++) {
        collection_close(n->ports[p].reader);
        pthread_mutex_destroy(&n->ports[p].mutex);
        summaries_close(n->ports[p].summaries);
    }
    for (struct ctx_difference *d = n->differences; d; d = d->next)
        free(d->positions);
    arena_free(&n->arena);
    pthread_mutex_destroy(&n->mutex);
    free(n->ports);
    free(n);
}

enum err_code ctx_node_new(struct ctx_node **out, const struct ctx_host *host,
                           const struct node *node, uint32_t index, const struct ctx_input *inputs,
                           struct err *e)
{
    struct ctx_node *n = must_calloc(1, sizeof *n);
    size_t n_ports = op_count_inputs(node->op);
    n->ports = must_calloc(n_ports + 1, sizeof *n->ports);
    n->host = *host;
    n->node = node;
    n->index = index;
    n->inputs = inputs;
    n->n_ports = n_ports;
    pthread_mutex_init(&n->mutex, NULL);
    for (size_t p = 0; p < n_ports; p++) {
        pthread_mutex_init(&n->ports[p].mutex, NULL);
        if (node->op->inputs[p].cardinality != OP_COLLECTION || inputs[p].n == 0)
            continue;
        enum err_code code =
            collection_open(&n->ports[p].reader, host->store, &inputs[p].ids[0], e);
        if (code) {
            ctx_node_free(n);
            return err_up(e, code);
        }
    }
    *out = n;
    return OK;
}

uint64_t ctx_node_elements(const struct ctx_node *n)
{
    return n->ports[0].reader ? collection_count(n->ports[0].reader) : 0;
}

enum err_code ctx_node_element(struct digest *id, struct ctx_node *n, uint64_t i, struct err *e)
{
    return err_up(e, ctx_port_id(id, &n->ports[0], i, e));
}
