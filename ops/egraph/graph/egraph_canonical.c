/* The canonical form: classes numbered by their least terms, nodes sorted within, only what the
 * root reaches. Equal sets of equalities give equal messages, whatever ids the graph used.
 * And back again. */
#include "ops/egraph/graph/least_terms.h"

#include <stdlib.h>
#include <string.h>

#define UNREACHED UINT32_MAX

struct canonical {
    struct egraph *g;
    struct terms terms;
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
    int order = terms_compare_tokens(g, g->cells[a].op, g->cells[b].op);
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
    return terms_compare_tokens(arg, *(const uint32_t *)x, *(const uint32_t *)y);
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
    for (uint32_t op = 0; op < g->lang->n_ops; op++)
        if (op_index[op] != UINT32_MAX) {
            op_index[op] = n_ops;
            out->operators[n_ops++] = arena_strdup(a, g->lang->ops[op].name);
        }
    out->n_operators = n_ops;
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
    out->n_class_begin = c->n_classes + 1;
    out->class_begin = arena_memdup(a, c->begin, (c->n_classes + 1) * sizeof *c->begin);
    out->n_node_op = c->n_nodes;
    out->node_op = arena_array(a, uint32_t, c->n_nodes);
    out->n_child_begin = c->n_nodes + 1;
    out->child_begin = arena_array(a, uint32_t, c->n_nodes + 1);
    out->n_child = c->n_kids;
    out->child = arena_array(a, uint32_t, c->n_kids);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        uint32_t n = c->nodes[i], op = g->cells[n].op;
        out->node_op[i] = op & OP_LEAF ? leaf_index[op & ~OP_LEAF] : op_index[op];
        out->child_begin[i] = at;
        for (uint32_t k = 0, arity = graph_arity(g, op); k < arity; k++)
            out->child[at++] = c->number[graph_find(g, *graph_kid(g, n, k))];
    }
    out->child_begin[c->n_nodes] = at;
}

static void write_facts(Eqloom__EGraph *out, struct arena *a, const struct canonical *c)
{
    /* few facts are different: each text is made once */
    char **text = arena_array(a, char *, c->g->facts.n);
    struct buf b = {0};
    out->n_facts = c->n_classes;
    out->facts = arena_array(a, char *, c->n_classes);
    for (uint32_t i = 0; i < c->n_classes; i++) {
        uint32_t f = graph_eclass(c->g, c->classes[i])->fact;
        if (!text[f]) {
            buf_clear(&b);
            facts_write(&b, c->g, f);
            text[f] = arena_strndup(a, b.data ? b.data : "", b.len);
        }
        out->facts[i] = text[f];
    }
    buf_free(&b);
}

void egraph_to_message(Eqloom__EGraph *out, struct arena *a, struct egraph *g, eclass_id root)
{
    struct canonical c = {.g = g};
    egraph_rebuild(g);
    root = graph_find(g, root);
    terms_find(&c.terms, g);
    c.number = must(malloc((g->n_cells + 1u) * sizeof *c.number));
    memset(c.number, 0xff, (g->n_cells + 1u) * sizeof *c.number);
    reach(&c, root);
    arrange(&c);
    eqloom__egraph__init(out);
    write_nodes(out, a, &c);
    write_facts(out, a, &c);
    out->root = c.number[root];
    terms_free(&c.terms);
    free(c.number);
    free(c.classes);
    free(c.nodes);
    free(c.begin);
}

/* ---- back ---- */

static enum err_code check_shape(const Eqloom__EGraph *m, struct err *e)
{
    bool ok = m->n_class_begin > 0 && m->n_child_begin == m->n_node_op + 1 &&
              m->root < m->n_class_begin - 1 && m->class_begin[0] == 0 &&
              m->class_begin[m->n_class_begin - 1] == m->n_node_op && m->child_begin[0] == 0 &&
              m->child_begin[m->n_node_op] == m->n_child;
    for (size_t i = 1; ok && i < m->n_class_begin; i++)
        ok = m->class_begin[i - 1] < m->class_begin[i]; /* no class is empty */
    for (size_t i = 0; ok && i < m->n_node_op; i++)
        ok = m->child_begin[i] <= m->child_begin[i + 1] &&
             m->node_op[i] < m->n_operators + m->n_leaves;
    for (size_t i = 0; ok && i < m->n_child; i++)
        ok = m->child[i] < m->n_class_begin - 1;
    return ok ? OK : err_fail(e, ERR_CORRUPT, "an e-graph whose numbers do not fit together");
}

static uint16_t leaf_kind(const char *text)
{
    char first = text[0] == '-' ? text[1] : text[0];
    return text[0] == '?' ? X_VAR : first >= '0' && first <= '9' ? X_NUM : X_SYM;
}

struct reading {
    const Eqloom__EGraph *m;
    struct egraph *g;
    uint32_t *ops, *class_node; /* by operator; by class: a node, once there is one */
    bool *done;                 /* by node */
};

/* Adds a node whose arguments' classes have nodes already; false if they have not. */
static bool read_node(struct reading *r, uint32_t class, uint32_t i)
{
    const Eqloom__EGraph *m = r->m;
    uint32_t begin = m->child_begin[i], n = m->child_begin[i + 1] - begin, kids[256], node;
    for (uint32_t k = 0; k < n; k++) {
        kids[k] = r->class_node[m->child[begin + k]];
        if (kids[k] == NO_NODE)
            return false;
    }
    uint32_t op = m->node_op[i];
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
        r->ops[i] = (uint32_t)op;
    }
    for (size_t i = 0; i < m->n_node_op; i++) {
        uint32_t n = m->child_begin[i + 1] - m->child_begin[i], op = m->node_op[i];
        uint32_t arity = op < m->n_operators ? graph_arity(r->g, r->ops[op]) : 0;
        if (n != arity)
            return err_fail(e, ERR_CORRUPT, "an e-node with %u arguments instead of %u", n, arity);
    }
    return OK;
}

enum err_code egraph_from_message(struct egraph **out, eclass_id *root, const struct language *lang,
                                  const Eqloom__EGraph *m, struct err *e)
{
    *out = NULL;
    if (err_up(e, check_shape(m, e)))
        return ERR_CORRUPT;
    struct reading r = {.m = m, .g = egraph_new(lang)};
    size_t n_classes = m->n_class_begin - 1;
    r.ops = must(malloc((m->n_operators + 1) * sizeof *r.ops));
    r.class_node = must(malloc((n_classes + 1) * sizeof *r.class_node));
    r.done = must(calloc(m->n_node_op + 1, 1));
    memset(r.class_node, 0xff, (n_classes + 1) * sizeof *r.class_node);
    enum err_code code = read_operators(&r, e);
    size_t left = m->n_node_op;
    /* classes are in order of their least terms, so the first pass does nearly all */
    for (bool progress = true; !code && left && progress;) {
        progress = false;
        for (uint32_t c = 0; c < n_classes; c++)
            for (uint32_t i = m->class_begin[c]; i < m->class_begin[c + 1]; i++)
                if (!r.done[i] && read_node(&r, c, i)) {
                    left--;
                    progress = true;
                }
    }
    if (!code && left)
        code = err_fail(e, ERR_CORRUPT, "an e-graph with a class that has no term");
    if (!code) {
        egraph_rebuild(r.g);
        *out = r.g;
        *root = graph_find(r.g, r.class_node[m->root]);
    } else {
        egraph_free(r.g);
    }
    free(r.ops);
    free(r.class_node);
    free(r.done);
    return code;
}
