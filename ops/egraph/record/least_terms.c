/* Least terms; see least_terms.h. Sizes come by relaxation; then, from small classes to large, the
 * best node is chosen among those of least size. Arguments of such a node are smaller, so their
 * best is known. Two different classes never have the same least term, so comparing two terms walks
 * down one path only. */
#include "ops/egraph/record/least_terms.h"

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

/* Token by token; both of the same size or not. */
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

static int compare_terms(const struct least_terms *t, struct egraph *g, uint32_t a, uint32_t b)
{
    if (t->size[a] != t->size[b])
        return t->size[a] < t->size[b] ? -1 : 1;
    return a == b ? 0 : compare_nodes(t, g, t->best[a], t->best[b]);
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
    return compare_terms(s->t, s->g, *(const uint32_t *)a, *(const uint32_t *)b);
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

static void write_token(struct buf *out, const struct egraph *g, uint32_t op)
{
    if (out->len)
        buf_putc(out, ' ');
    buf_puts(out, op & OP_LEAF ? g->leaves[op & ~OP_LEAF].text : lang_token(g->lang, op));
}

static void write_node(struct buf *out, const struct least_terms *t, struct egraph *g, uint32_t n)
{
    uint32_t op = graph_op(g, n);
    write_token(out, g, op);
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
