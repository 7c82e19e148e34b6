/* Expressions: building, comparing, counting. A tree is one array in prefix order, so a subtree is
 * a slice of it and looking at all nodes is a loop. */
#include "ops/expr/expr.h"

#include <stdlib.h>
#include <string.h>

struct expr expr_leaf(struct arena *a, const struct language *lang, uint16_t op, const char *leaf)
{
    struct expr_node *node = arena_alloc(a, sizeof *node);
    *node = (struct expr_node){.op = op, .size = 1, .leaf = arena_strdup(a, leaf)};
    return (struct expr){lang, node, 1};
}

struct expr expr_apply(struct arena *a, const struct language *lang, uint16_t op,
                       const struct expr *children, size_t n)
{
    uint32_t size = 1;
    for (size_t i = 0; i < n; i++)
        size += children[i].n;
    struct expr_node *nodes = arena_alloc(a, size * sizeof *nodes), *at = nodes + 1;
    *nodes = (struct expr_node){.op = op, .arity = (uint16_t)n, .size = size};
    for (size_t i = 0; i < n; i++) {
        memcpy(at, children[i].nodes, children[i].n * sizeof *at);
        at += children[i].n;
    }
    return (struct expr){lang, nodes, size};
}

struct expr expr_sub(const struct expr *x, uint32_t node)
{
    return (struct expr){x->lang, x->nodes + node, x->nodes[node].size};
}

static int leaf_compare(const char *x, const char *y)
{
    if (x == y || !x || !y)
        return (x != NULL) - (y != NULL);
    return strcmp(x, y);
}

bool expr_equal(const struct expr *x, const struct expr *y)
{
    if (x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op != y->nodes[i].op || leaf_compare(x->nodes[i].leaf, y->nodes[i].leaf))
            return false;
    return true;
}

int expr_compare(const struct expr *x, const struct expr *y)
{
    uint32_t p = expr_tokens(x), q = expr_tokens(y);
    if (p != q)
        return p < q ? -1 : 1;
    uint32_t n = x->n < y->n ? x->n : y->n;
    for (uint32_t i = 0; i < n; i++) {
        const struct expr_node *a = &x->nodes[i], *b = &y->nodes[i];
        if (a->op != b->op)
            return a->op < b->op ? -1 : 1;
        int c = leaf_compare(a->leaf, b->leaf);
        if (c)
            return c < 0 ? -1 : 1;
    }
    return (x->n > y->n) - (x->n < y->n);
}

uint32_t expr_tokens(const struct expr *x)
{
    uint32_t n = x->n;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_NUM && strchr(x->nodes[i].leaf, '/'))
            n += 2;
    return n;
}

size_t expr_variables(const char ***names, struct arena *a, const struct expr *x)
{
    size_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        n += x->nodes[i].op == X_SYM && !lang_is_constant(x->nodes[i].leaf);
    const char **all = arena_alloc(a, (n + 1) * sizeof *all);
    n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_SYM && !lang_is_constant(x->nodes[i].leaf))
            all[n++] = x->nodes[i].leaf;
    qsort(all, n, sizeof *all, text_compare);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(all[kept - 1], all[i]) != 0)
            all[kept++] = all[i];
    *names = all;
    return kept;
}

bool expr_is_interpreted(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op >= X_ADD && !x->lang->ops[x->nodes[i].op].interpreted)
            return false;
    return true;
}
