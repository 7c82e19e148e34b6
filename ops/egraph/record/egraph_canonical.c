/* The canonical form: classes numbered by their least terms, nodes sorted within, only what the
 * root reaches. Equal sets of equalities give equal messages, whatever ids the graph used.
 * And back again. */
#include "ops/egraph/record/egraph_arrays.h"
#include "ops/egraph/record/least_terms.h"

#include <stdlib.h>
#include <string.h>

#define UNREACHED UINT32_MAX

struct canonical {
    struct egraph *g;
    struct least_terms terms;
    uint32_t *number;  /* of a class */
    uint32_t *classes; /* by number */
    uint32_t n_classes, n_nodes, n_kids;
    uint32_t *nodes; /* class by class, sorted */
    uint32_t *begin;
};

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

static void reach(struct canonical *c, uint32_t root)
{
    struct egraph *g = c->g;
    struct u32_list todo = {0};
    u32_push(&todo, root);
    c->number[root] = 0;
    while (todo.n) {
        uint32_t class = todo.items[--todo.n], n = class;
        do {
            if (graph_is_live(g, n)) {
                uint32_t arity = graph_arity(g, g->cells[n].op);
                c->n_nodes++;
                c->n_kids += arity;
                for (uint32_t i = 0; i < arity; i++) {
                    uint32_t k = graph_find(g, *graph_kid(g, n, i));
                    if (c->number[k] == UNREACHED) {
                        c->number[k] = 0;
                        u32_push(&todo, k);
                    }
                }
            }
            n = graph_next(g, n);
        } while (n != class);
    }
    u32_free(&todo);
}

static int compare_nodes(const void *x, const void *y, void *arg)
{
    const struct canonical *c = arg;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    struct egraph *g = c->g;
    int order = least_terms_compare_tokens(g, g->cells[a].op, g->cells[b].op);
    for (uint32_t i = 0, n = graph_arity(g, g->cells[a].op); !order && i < n; i++) {
        uint32_t p = c->number[graph_find(g, *graph_kid(g, a, i))];
        uint32_t q = c->number[graph_find(g, *graph_kid(g, b, i))];
        order = (p > q) - (p < q);
    }
    return order;
}

static void arrange(struct canonical *c)
{
    struct egraph *g = c->g;
    c->classes = must(malloc((c->terms.n + 1) * sizeof *c->classes));
    c->nodes = must(malloc((c->n_nodes + 1) * sizeof *c->nodes));
    c->begin = must(malloc((c->terms.n + 1) * sizeof *c->begin));
    for (uint32_t i = 0; i < c->terms.n; i++) {
        uint32_t class = c->terms.order[i];
        if (c->number[class] == UNREACHED)
            continue;
        c->number[class] = c->n_classes;
        c->classes[c->n_classes++] = class;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->n_classes; i++) {
        uint32_t class = c->classes[i], n = class;
        c->begin[i] = at;
        do {
            if (graph_is_live(g, n))
                c->nodes[at++] = n;
            n = graph_next(g, n);
        } while (n != class);
        qsort_r(c->nodes + c->begin[i], at - c->begin[i], sizeof *c->nodes, compare_nodes, c);
    }
    c->begin[c->n_classes] = at;
}

static int compare_ops(const void *x, const void *y, void *arg)
{
    return least_terms_compare_tokens(arg, *(const uint32_t *)x, *(const uint32_t *)y);
}

/* The tables of operators and leaves in use, and each token's index among them. */
static void write_tables(Eqloom__EGraph *out, struct arena *a, const struct canonical *c,
                         uint32_t *op_index, uint32_t *leaf_index)
{
    struct egraph *g = c->g;
    uint32_t *leaves = arena_array(a, uint32_t, g->n_leaves + 1), n_leaves = 0, n_ops = 0;
    memset(op_index, 0xff, g->lang->n_ops * sizeof *op_index);
    memset(leaf_index, 0xff, (g->n_leaves + 1) * sizeof *leaf_index);
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        uint32_t op = g->cells[c->nodes[i]].op;
        if (!(op & OP_LEAF)) {
            op_index[op] = 0;
        } else if (leaf_index[op & ~OP_LEAF] == UINT32_MAX) {
            leaf_index[op & ~OP_LEAF] = 0;
            leaves[n_leaves++] = op;
        }
    }
    qsort_r(leaves, n_leaves, sizeof *leaves, compare_ops, g);
    out->operators = arena_array(a, char *, g->lang->n_ops);
    out->arities = arena_array(a, uint32_t, g->lang->n_ops);
    for (uint32_t op = 0; op < g->lang->n_ops; op++)
        if (op_index[op] != UINT32_MAX) {
            op_index[op] = n_ops;
            out->arities[n_ops] = g->lang->ops[op].arity;
            out->operators[n_ops++] = arena_strdup(a, g->lang->ops[op].name);
        }
    out->n_operators = out->n_arities = n_ops;
    out->leaves = arena_array(a, char *, n_leaves);
    out->n_leaves = n_leaves;
    for (uint32_t i = 0; i < n_leaves; i++) {
        leaf_index[leaves[i] & ~OP_LEAF] = n_ops + i;
        out->leaves[i] = arena_strdup(a, g->leaves[leaves[i] & ~OP_LEAF].text);
    }
}

static void write_nodes(Eqloom__EGraph *out, struct arena *a, const struct canonical *c)
{
    struct egraph *g = c->g;
    uint32_t *op_index = arena_array(a, uint32_t, g->lang->n_ops);
    uint32_t *leaf_index = arena_array(a, uint32_t, g->n_leaves + 1);
    write_tables(out, a, c, op_index, leaf_index);
    struct egraph_arrays x = {.n_classes = c->n_classes,
                              .n_nodes = c->n_nodes,
                              .class_begin = c->begin,
                              .child_begin = must(malloc((c->n_nodes + 1) * sizeof(uint32_t))),
                              .child = must(malloc((c->n_kids + 1) * sizeof(uint32_t)))};
    out->n_node_ops = c->n_nodes;
    out->node_ops = arena_array(a, uint32_t, c->n_nodes);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        uint32_t n = c->nodes[i], op = g->cells[n].op;
        out->node_ops[i] = op & OP_LEAF ? leaf_index[op & ~OP_LEAF] : op_index[op];
        x.child_begin[i] = at;
        for (uint32_t k = 0, arity = graph_arity(g, op); k < arity; k++)
            x.child[at++] = c->number[graph_find(g, *graph_kid(g, n, k))];
    }
    x.child_begin[c->n_nodes] = at;
    egraph_arrays_write(out, a, &x);
    free(x.child_begin);
    free(x.child);
}

void egraph_to_message(Eqloom__EGraph *out, struct arena *a, struct egraph *g, eclass_id root)
{
    struct canonical c = {.g = g};
    egraph_rebuild(g);
    root = graph_find(g, root);
    least_terms_find(&c.terms, g);
    c.number = must(malloc((g->n_cells + 1u) * sizeof *c.number));
    memset(c.number, 0xff, (g->n_cells + 1u) * sizeof *c.number);
    reach(&c, root);
    arrange(&c);
    eqloom__egraph__init(out);
    write_nodes(out, a, &c);
    out->root = c.number[root];
    least_terms_free(&c.terms);
    free(c.number);
    free(c.classes);
    free(c.nodes);
    free(c.begin);
}

/* ---- back ---- */

static uint16_t leaf_kind(const char *text)
{
    char first = text[0] == '-' ? text[1] : text[0];
    return text[0] == '?' ? X_VAR : first >= '0' && first <= '9' ? X_NUM : X_SYM;
}

struct reading {
    const Eqloom__EGraph *m;
    struct egraph_arrays x;
    struct egraph *g;
    uint32_t *ops, *class_node; /* by operator; by class: a node, once there is one */
    bool *done;                 /* by node */
};

/* Adds a node whose arguments' classes have nodes already; false if they have not. */
static bool read_node(struct reading *r, uint32_t class, uint32_t i)
{
    const Eqloom__EGraph *m = r->m;
    uint32_t begin = r->x.child_begin[i], n = r->x.child_begin[i + 1] - begin, kids[256], node;
    for (uint32_t k = 0; k < n; k++) {
        kids[k] = r->class_node[r->x.child[begin + k]];
        if (kids[k] == NO_NODE)
            return false;
    }
    uint32_t op = m->node_ops[i];
    if (op < m->n_operators) {
        node = graph_add(r->g, r->ops[op], kids);
    } else {
        const char *text = m->leaves[op - m->n_operators];
        node = graph_add_leaf(r->g, graph_leaf(r->g, leaf_kind(text), text));
    }
    if (r->class_node[class] == NO_NODE)
        r->class_node[class] = node;
    else
        graph_union(r->g, r->class_node[class], node, (struct reason){REASON_GIVEN, 0});
    return r->done[i] = true;
}

static enum err_code read_operators(struct reading *r, struct err *e)
{
    const Eqloom__EGraph *m = r->m;
    for (size_t i = 0; i < m->n_operators; i++) {
        int op = lang_find(r->g->lang, m->operators[i], strlen(m->operators[i]));
        if (op < 0)
            return err_fail(e, ERR_CORRUPT, "unknown operator '%s' in an e-graph", m->operators[i]);
        if (r->g->lang->ops[op].arity != m->arities[i])
            return err_fail(e, ERR_CORRUPT, "operator '%s' with %u arguments in an e-graph",
                            m->operators[i], m->arities[i]);
        r->ops[i] = (uint32_t)op;
    }
    return OK;
}

/* Classes are in the order of their least terms, so the first pass adds nearly all e-nodes. */
static enum err_code read_nodes(struct reading *r, struct err *e)
{
    const struct egraph_arrays *x = &r->x;
    size_t left = x->n_nodes;
    for (bool progress = true; left && progress;) {
        progress = false;
        for (uint32_t c = 0; c < x->n_classes; c++)
            for (uint32_t i = x->class_begin[c]; i < x->class_begin[c + 1]; i++)
                if (!r->done[i] && read_node(r, c, i)) {
                    left--;
                    progress = true;
                }
    }
    for (uint32_t c = 0; c < x->n_classes; c++)
        left += r->class_node[c] == NO_NODE;
    return left ? err_fail(e, ERR_CORRUPT, "an e-graph with a class that has no term") : OK;
}

enum err_code egraph_from_message(struct egraph **out, eclass_id *root, const struct language *lang,
                                  const Eqloom__EGraph *m, struct err *e)
{
    struct arena a = {0};
    struct reading r = {.m = m, .g = egraph_new(lang)};
    enum err_code code;
    *out = NULL;
    if ((code = err_up(e, egraph_arrays_read(&r.x, &a, m, e))))
        goto out;
    r.ops = arena_array(&a, uint32_t, m->n_operators + 1);
    r.class_node = arena_array(&a, uint32_t, r.x.n_classes);
    r.done = arena_array(&a, bool, r.x.n_nodes);
    memset(r.class_node, 0xff, r.x.n_classes * sizeof *r.class_node);
    if ((code = err_up(e, read_operators(&r, e))) || (code = err_up(e, read_nodes(&r, e))))
        goto out;
    egraph_rebuild(r.g);
    *out = r.g;
    *root = graph_find(r.g, r.class_node[m->root]);
    r.g = NULL;
out:
    egraph_free(r.g);
    arena_free(&a);
    return code;
}
