/* Least terms; see least_terms.h. Relaxation computes the sizes; then, from small classes to large
 * ones, the best node is chosen among those of least size. Arguments of such a node are smaller, so
 * their best is known. Two different classes never have the same least term, so comparing two terms
 * walks down one path only. */
#include "ops/egraph/record/least_terms.h"

#include "schemas/egraph/egraph_arrays.h"

#include <stdlib.h>
#include <string.h>

static uint32_t leaf_tokens(const struct egraph *g, uint32_t op)
{
    return strchr(g->leaves[op & ~OP_LEAF].text, '/') ? 3 : 1;
}

static uint32_t node_size(const uint32_t *size, struct egraph *g, uint32_t n)
{
    uint32_t op = graph_op(g, n);
    if (op & OP_LEAF)
        return leaf_tokens(g, op);
    uint64_t sum = 1;
    for (uint32_t i = 0, arity = graph_arity(g, op); i < arity; i++) {
        uint32_t s = size[graph_find(g, *graph_kid(g, n, i))];
        if (s == UINT32_MAX)
            return UINT32_MAX;
        sum += s;
    }
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static void find_sizes(uint32_t *size, struct egraph *g)
{
    memset(size, 0xff, g->n_cells * sizeof *size);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < g->n_cells; n++) {
            uint32_t *of_class = &size[graph_find(g, n)];
            uint32_t sum = graph_is_live(g, n) ? node_size(size, g, n) : UINT32_MAX;
            changed |= sum < *of_class;
            *of_class = sum < *of_class ? sum : *of_class;
        }
    }
}

int least_terms_compare_tokens(const struct egraph *g, uint32_t a, uint32_t b)
{
    const struct leaf *x = a & OP_LEAF ? &g->leaves[a & ~OP_LEAF] : NULL;
    const struct leaf *y = b & OP_LEAF ? &g->leaves[b & ~OP_LEAF] : NULL;
    uint32_t p = x ? x->op : a, q = y ? y->op : b;
    if (p != q)
        return p < q ? -1 : 1;
    return x && y ? strcmp(x->text, y->text) : 0;
}

/* Compares token by token; the terms may differ in size. */
static int compare_nodes(const struct least_terms *t, struct egraph *g, uint32_t a, uint32_t b)
{
    for (;;) {
        uint32_t op = graph_op(g, a);
        int c = least_terms_compare_tokens(g, op, graph_op(g, b));
        if (c || op & OP_LEAF)
            return c;
        uint32_t arity = graph_arity(g, op), i = 0, x = 0, y = 0;
        for (; i < arity; i++) {
            x = graph_find(g, *graph_kid(g, a, i));
            y = graph_find(g, *graph_kid(g, b, i));
            if (x != y)
                break;
        }
        if (i == arity)
            return 0;
        a = t->best[x];
        b = t->best[y];
    }
}

static void choose_best(struct least_terms *t, struct egraph *g, uint32_t class)
{
    uint32_t n = class, best = NO_NODE;
    do {
        if (graph_is_live(g, n) && node_size(t->size, g, n) == t->size[class] &&
            (best == NO_NODE || compare_nodes(t, g, n, best) < 0))
            best = n;
        n = graph_next(g, n);
    } while (n != class);
    t->best[class] = best;
}

struct sorting {
    const struct least_terms *t;
    struct egraph *g;
};

static int by_size(const void *a, const void *b, void *arg)
{
    const struct least_terms *t = arg;
    uint32_t x = t->size[*(const uint32_t *)a], y = t->size[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

static int by_term(const void *a, const void *b, void *arg)
{
    const struct sorting *s = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (s->t->size[x] != s->t->size[y])
        return s->t->size[x] < s->t->size[y] ? -1 : 1;
    return x == y ? 0 : compare_nodes(s->t, s->g, s->t->best[x], s->t->best[y]);
}

void least_terms_find(struct least_terms *t, struct arena *a, struct egraph *g)
{
    *t = (struct least_terms){arena_array(a, uint32_t, g->n_cells),
                              arena_array(a, uint32_t, g->n_cells),
                              arena_array(a, uint32_t, g->n_classes), 0};
    find_sizes(t->size, g);
    for (uint32_t c = 0; c < g->n_cells; c++)
        if (graph_is_class(g, c) && t->size[c] != UINT32_MAX)
            t->order[t->n++] = c;
    qsort_r(t->order, t->n, sizeof *t->order, by_size, t);
    for (uint32_t i = 0; i < t->n; i++)
        choose_best(t, g, t->order[i]);
    qsort_r(t->order, t->n, sizeof *t->order, by_term, &(struct sorting){t, g});
}

static void write_node(struct buf *out, const struct least_terms *t, struct egraph *g, uint32_t n)
{
    uint32_t op = graph_op(g, n);
    if (out->len)
        buf_putc(out, ' ');
    buf_puts(out, op & OP_LEAF ? g->leaves[op & ~OP_LEAF].text : lang_token(g->lang, op));
    for (uint32_t i = 0, arity = graph_arity(g, op); i < arity; i++)
        least_terms_write(out, t, g, graph_find(g, *graph_kid(g, n, i)));
}

void least_terms_write(struct buf *out, const struct least_terms *t, struct egraph *g,
                       uint32_t class)
{
    write_node(out, t, g, t->best[class]);
}

void least_terms_write_node(struct buf *out, struct egraph *g, uint32_t node)
{
    struct least_terms t;
    struct buf prefix = {0};
    struct arena a = {0};
    least_terms_find(&t, &a, g);
    write_node(&prefix, &t, g, node);
    buf_puts(out, expr_infix_of(&a, g->lang, prefix.data));
    buf_free(&prefix);
    arena_free(&a);
}

/* ---- the canonical form: classes numbered by their least terms, nodes sorted within classes,
 * restricted to what is reachable from the root. Equal sets of equalities produce equal messages,
 * regardless of the graph's ids ---- */

#define UNREACHED UINT32_MAX

struct canonical {
    struct egraph *g;
    struct arena work;
    struct least_terms terms;
    uint32_t *number;  /* by class: its number */
    uint32_t *classes; /* by number */
    uint32_t n_classes, n_nodes, n_kids;
    uint32_t *nodes; /* class by class, sorted */
    uint32_t *begin;
};

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

static int by_kids(const void *x, const void *y, void *arg)
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
    c->classes = arena_array(&c->work, uint32_t, c->terms.n);
    c->nodes = arena_array(&c->work, uint32_t, c->n_nodes);
    c->begin = arena_array(&c->work, uint32_t, c->terms.n + 1);
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
        qsort_r(c->nodes + c->begin[i], at - c->begin[i], sizeof *c->nodes, by_kids, c);
    }
    c->begin[c->n_classes] = at;
}

static int compare_ops(const void *x, const void *y, void *arg)
{
    return least_terms_compare_tokens(arg, *(const uint32_t *)x, *(const uint32_t *)y);
}

/* Writes the tables of used operators and leaves, and computes each token's index in them. */
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
            out->operators[n_ops++] = arena_strdup(a, lang_token(g->lang, op));
        }
    out->n_operators = out->n_arities = n_ops;
    out->leaves = arena_array(a, char *, n_leaves);
    out->n_leaves = n_leaves;
    for (uint32_t i = 0; i < n_leaves; i++) {
        leaf_index[leaves[i] & ~OP_LEAF] = n_ops + i;
        out->leaves[i] = arena_strdup(a, g->leaves[leaves[i] & ~OP_LEAF].text);
    }
}

static void write_nodes(Eqloom__EGraph *out, struct arena *a, struct canonical *c)
{
    struct egraph *g = c->g;
    uint32_t *op_index = arena_array(a, uint32_t, g->lang->n_ops);
    uint32_t *leaf_index = arena_array(a, uint32_t, g->n_leaves + 1);
    write_tables(out, a, c, op_index, leaf_index);
    struct egraph_arrays x = {.n_classes = c->n_classes,
                              .n_nodes = c->n_nodes,
                              .class_begin = c->begin,
                              .child_begin = arena_array(&c->work, uint32_t, c->n_nodes + 1),
                              .child = arena_array(&c->work, uint32_t, c->n_kids)};
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
}

void egraph_to_message(Eqloom__EGraph *out, struct arena *a, struct egraph *g, eclass_id root)
{
    struct canonical c = {.g = g};
    egraph_rebuild(g);
    root = graph_find(g, root);
    least_terms_find(&c.terms, &c.work, g);
    c.number = arena_array(&c.work, uint32_t, g->n_cells);
    memset(c.number, 0xff, g->n_cells * sizeof *c.number);
    reach(&c, root);
    arrange(&c);
    eqloom__egraph__init(out);
    write_nodes(out, a, &c);
    out->root = c.number[root];
    arena_free(&c.work);
}
