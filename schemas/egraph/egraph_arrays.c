/* EGraph records to arrays and back; see egraph_arrays.h. */
#include "schemas/egraph/egraph_arrays.h"

/* Returns the number of children of an e-node by its index in the tables of operators and
 * leaves. */
static uint32_t arity_of(const Eqloom__EGraph *m, uint32_t op)
{
    return op < m->n_arities ? m->arities[op] : 0;
}

static enum err_code fail(struct err *e)
{
    return err_fail(e, ERR_CORRUPT, "an e-graph whose numbers do not fit together");
}

/* Checks the arrays' lengths. */
static enum err_code check_lengths(const Eqloom__EGraph *m, struct err *e)
{
    uint64_t nodes = 0, first = 0, more = 0;
    if (m->n_arities != m->n_operators || m->root >= m->n_class_sizes ||
        m->n_node_ops > UINT32_MAX / 2)
        return fail(e);
    for (size_t c = 0; c < m->n_class_sizes; c++)
        nodes += m->class_sizes[c];
    for (size_t n = 0; n < m->n_node_ops; n++) {
        uint32_t arity = arity_of(m, m->node_ops[n]);
        if (m->node_ops[n] >= m->n_operators + m->n_leaves)
            return fail(e);
        first += arity > 0;
        more += arity > 0 ? arity - 1 : 0;
    }
    return nodes == m->n_node_ops && first == m->n_first_children && more == m->n_more_children
               ? OK
               : fail(e);
}

enum err_code egraph_arrays_read(struct egraph_arrays *out, struct arena *a,
                                 const Eqloom__EGraph *m, struct err *e)
{
    enum err_code code;
    if ((code = check_lengths(m, e)))
        return err_up(e, code);
    size_t nodes = m->n_node_ops, children = m->n_first_children + m->n_more_children;
    *out =
        (struct egraph_arrays){.n_classes = (uint32_t)m->n_class_sizes, .n_nodes = (uint32_t)nodes};
    out->class_begin = arena_try_alloc(a, m->n_class_sizes + 1, sizeof *out->class_begin);
    out->child_begin = arena_try_alloc(a, nodes + 1, sizeof *out->child_begin);
    out->child = arena_try_alloc(a, children + 1, sizeof *out->child);
    if (!out->class_begin || !out->child_begin || !out->child)
        return err_fail(e, ERR_NOMEM, "no memory for %zu e-nodes", nodes);
    const uint32_t *first = m->first_children, *more = m->more_children;
    uint32_t n = 0, at = 0;
    for (uint32_t c = 0; c < out->n_classes; c++) {
        uint32_t end = n + m->class_sizes[c], op = UINT32_MAX, before = 0;
        out->class_begin[c] = n;
        for (; n < end; n++) {
            uint32_t arity = arity_of(m, m->node_ops[n]);
            out->child_begin[n] = at;
            if (!arity)
                continue;
            before = *first++ + (m->node_ops[n] == op ? before : 0);
            op = m->node_ops[n];
            out->child[at++] = before;
            for (uint32_t k = 1; k < arity; k++)
                out->child[at++] = *more++;
        }
    }
    out->class_begin[out->n_classes] = n;
    out->child_begin[n] = at;
    for (uint32_t i = 0; i < at; i++)
        if (out->child[i] >= out->n_classes)
            return fail(e);
    return OK;
}

void egraph_arrays_write(Eqloom__EGraph *out, struct arena *a, const struct egraph_arrays *x)
{
    uint32_t children = x->child_begin[x->n_nodes];
    out->n_class_sizes = x->n_classes;
    out->class_sizes = arena_array(a, uint32_t, x->n_classes);
    out->first_children = arena_array(a, uint32_t, x->n_nodes);
    out->more_children = arena_array(a, uint32_t, children);
    out->n_first_children = out->n_more_children = 0;
    for (uint32_t c = 0; c < x->n_classes; c++) {
        uint32_t op = UINT32_MAX, before = 0;
        out->class_sizes[c] = x->class_begin[c + 1] - x->class_begin[c];
        for (uint32_t n = x->class_begin[c]; n < x->class_begin[c + 1]; n++) {
            uint32_t at = x->child_begin[n], end = x->child_begin[n + 1];
            if (at == end)
                continue;
            bool same = out->node_ops[n] == op;
            out->first_children[out->n_first_children++] = x->child[at] - (same ? before : 0);
            op = out->node_ops[n];
            before = x->child[at];
            while (++at < end)
                out->more_children[out->n_more_children++] = x->child[at];
        }
    }
}
