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

/* A node with the classes of its arguments, found once. */
struct sized {
    uint32_t class, node;
    uint32_t kid[2]; /* where there is none, a place of size 0 */
};

static void find_sizes(uint32_t *size, struct egraph *g)
{
    struct sized *nodes = malloc((g->n_nodes + 1u) * sizeof *nodes);
    uint32_t n_nodes = 0, none = g->n_cells;
    if (!nodes)
        abort();
    memset(size, 0xff, g->n_cells * sizeof *size);
    size[none] = 0;
    for (uint32_t n = 0; n < g->n_cells; n++) {
        if (!graph_is_live(g, n))
            continue;
        uint32_t arity = graph_arity(g, graph_op(g, n));
        struct sized *s = &nodes[n_nodes++];
        *s = (struct sized){graph_find(g, n), n, {none, none}};
        for (uint32_t i = 0; i < arity; i++)
            s->kid[i] = graph_find(g, *graph_kid(g, n, i));
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const struct sized *s = nodes; s < nodes + n_nodes; s++) {
            uint64_t sum = 1ull + size[s->kid[0]] + size[s->kid[1]];
            if (sum >= size[s->class]) /* at most so much, whatever else it has */
                continue;
            uint32_t op = graph_op(g, s->node);
            if (op & OP_LEAF)
                sum = leaf_tokens(g, op);
            if (sum < size[s->class]) {
                size[s->class] = (uint32_t)sum;
                changed = true;
            }
        }
    }
    free(nodes);
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

/* How a least term begins: its first tokens as one number that is ordered as they are. Most terms
 * of one size differ there. */
enum { BEGINNING = 4, TOKEN_BITS = 64 / BEGINNING, SHARED = UINT16_MAX };

struct beginnings {
    uint16_t *rank;   /* of the operators, then of the leaves: in the order of tokens, from 1 on;
                       * the last of very many share one, SHARED, at which a beginning ends */
    uint64_t *tokens; /* by class, from the highest bits on */
    uint8_t *n;       /* by class */
};

static uint32_t token_at(const struct egraph *g, uint32_t i)
{
    return i < g->lang->n_ops ? i : OP_LEAF | (i - g->lang->n_ops);
}

static int by_token(const void *a, const void *b, void *arg)
{
    const struct egraph *g = arg;
    return least_terms_compare_tokens(g, token_at(g, *(const uint32_t *)a),
                                      token_at(g, *(const uint32_t *)b));
}

static void begin_none(struct beginnings *b, struct egraph *g)
{
    uint32_t n = g->lang->n_ops + (uint32_t)g->n_leaves;
    uint32_t *tokens = malloc(n * sizeof *tokens);
    *b =
        (struct beginnings){malloc(n * sizeof *b->rank),
                            malloc((g->n_cells + 1u) * sizeof *b->tokens), malloc(g->n_cells + 1u)};
    if (!tokens || !b->rank || !b->tokens || !b->n)
        abort();
    for (uint32_t i = 0; i < n; i++)
        tokens[i] = i;
    qsort_r(tokens, n, sizeof *tokens, by_token, g);
    for (uint32_t i = 0; i < n; i++)
        b->rank[tokens[i]] = (uint16_t)(i + 1 < SHARED ? i + 1 : SHARED);
    free(tokens);
}

static void free_beginnings(struct beginnings *b)
{
    free(b->rank);
    free(b->tokens);
    free(b->n);
}

/* Of a node whose arguments' least terms are known. */
static uint64_t begin_node(unsigned *n, const struct beginnings *b, struct egraph *g, uint32_t node)
{
    uint32_t op = graph_op(g, node);
    uint32_t token = op & OP_LEAF ? g->lang->n_ops + (op & ~OP_LEAF) : op;
    uint64_t tokens = (uint64_t)b->rank[token] << (64 - TOKEN_BITS);
    *n = b->rank[token] < SHARED ? 1 : BEGINNING;
    for (uint32_t i = 0, arity = graph_arity(g, op); i < arity && *n < BEGINNING; i++) {
        uint32_t c = graph_find(g, *graph_kid(g, node, i));
        tokens |= b->tokens[c] >> (*n * TOKEN_BITS);
        *n += b->n[c];
    }
    *n = *n < BEGINNING ? *n : BEGINNING;
    return tokens;
}

static void choose_best(struct least_terms *t, struct beginnings *b, struct egraph *g,
                        uint32_t class)
{
    uint32_t n = class, best = NO_NODE;
    do {
        if (graph_is_live(g, n) && node_size(t->size, g, n) == t->size[class]) {
            unsigned length;
            uint64_t tokens = begin_node(&length, b, g, n);
            if (best == NO_NODE || tokens < b->tokens[class] ||
                (tokens == b->tokens[class] && compare_nodes(t, g, n, best) < 0)) {
                best = n;
                b->tokens[class] = tokens;
                b->n[class] = (uint8_t)length;
            }
        }
        n = graph_next(g, n);
    } while (n != class);
    t->best[class] = best;
}

struct placed {
    uint32_t size, class;
    uint64_t tokens; /* the beginning */
};

struct sorting {
    const struct least_terms *t;
    struct egraph *g;
};

static int by_size(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? -1 : 1)
                              : (x->class > y->class) - (x->class < y->class);
}

static int by_term(const void *a, const void *b, void *arg)
{
    const struct sorting *s = arg;
    const struct placed *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->tokens != y->tokens)
        return x->tokens < y->tokens ? -1 : 1;
    return compare_terms(s->t, s->g, x->class, y->class);
}

void least_terms_find(struct least_terms *t, struct egraph *g)
{
    size_t n = g->n_cells + 1u;
    struct beginnings b;
    struct sorting s = {t, g};
    struct placed *p = malloc((g->n_classes + 1u) * sizeof *p);
    *t = (struct least_terms){malloc(n * sizeof *t->size), malloc(n * sizeof *t->best),
                              malloc(n * sizeof *t->order), 0};
    if (!t->size || !t->best || !t->order || !p)
        abort();
    begin_none(&b, g);
    find_sizes(t->size, g);
    for (uint32_t c = 0; c < g->n_cells; c++)
        if (graph_is_class(g, c) && t->size[c] != UINT32_MAX)
            p[t->n++] = (struct placed){t->size[c], c, 0};
    qsort(p, t->n, sizeof *p, by_size);
    for (uint32_t i = 0; i < t->n; i++) {
        choose_best(t, &b, g, p[i].class);
        p[i].tokens = b.tokens[p[i].class];
    }
    qsort_r(p, t->n, sizeof *p, by_term, &s);
    for (uint32_t i = 0; i < t->n; i++)
        t->order[i] = p[i].class;
    free(p);
    free_beginnings(&b);
}

void least_terms_free(struct least_terms *t)
{
    free(t->size);
    free(t->best);
    free(t->order);
    *t = (struct least_terms){0};
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
    least_terms_find(&t, g);
    write_node(&prefix, &t, g, node);
    buf_puts(out, expr_infix_of(&a, g->lang, prefix.data));
    least_terms_free(&t);
    buf_free(&prefix);
    arena_free(&a);
}
