/* Expressions: construction, comparison, counting. A tree is one array in prefix order, so a
 * subtree is a slice of it and a traversal is a loop. */
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

struct expr expr_child(const struct expr *x, unsigned k)
{
    return expr_sub(x, k ? 1 + x->nodes[1].size : 1);
}

struct expr expr_binary(struct arena *a, uint16_t op, struct expr x, struct expr y)
{
    struct expr args[2] = {x, y};
    return expr_apply(a, x.lang, op, args, 2);
}

struct expr expr_substitute(struct arena *a, const struct expr *x, expr_value *value, void *arg)
{
    const struct expr_node *node = &x->nodes[0];
    struct expr children[LANG_MAX_ARITY], out = *x;
    if (node->leaf)
        return value(&out, arg, x) ? out : *x;
    for (uint32_t i = 0, at = 1; i < node->arity; at += x->nodes[at].size, i++) {
        struct expr child = expr_sub(x, at);
        children[i] = expr_substitute(a, &child, value, arg);
    }
    return expr_apply(a, x->lang, node->op, children, node->arity);
}

struct replacement {
    uint16_t op;
    const char *leaf;
    const struct expr *by;
};

static bool replacement_for(struct expr *out, void *arg, const struct expr *leaf)
{
    const struct replacement *r = arg;
    bool found = expr_node_is(leaf->nodes, r->op, r->leaf);
    if (found)
        *out = *r->by;
    return found;
}

struct expr expr_replace(struct arena *a, const struct expr *x, uint16_t op, const char *leaf,
                         const struct expr *by)
{
    return expr_substitute(a, x, replacement_for, &(struct replacement){op, leaf, by});
}

static int leaf_compare(const char *x, const char *y)
{
    if (x == y || !x || !y)
        return (x != NULL) - (y != NULL);
    return strcmp(x, y);
}

bool expr_node_same(const struct expr_node *x, const struct expr_node *y)
{
    return x->op == y->op && !leaf_compare(x->leaf, y->leaf);
}

bool expr_node_is(const struct expr_node *x, uint16_t op, const char *leaf)
{
    return x->op == op && strcmp(x->leaf, leaf) == 0;
}

bool expr_node_is_i(const struct expr_node *x)
{
    return x->op == X_SQRT && expr_node_is(x + 1, X_NUM, "-1");
}

bool expr_has(const struct expr *x, uint16_t op, const char *leaf)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == op && (!leaf || !strcmp(x->nodes[i].leaf, leaf)))
            return true;
    return false;
}

bool expr_equal(const struct expr *x, const struct expr *y)
{
    if (x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!expr_node_same(&x->nodes[i], &y->nodes[i]))
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
