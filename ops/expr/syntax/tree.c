/* The linked tree of the parsers; see tree.h. All bounds are checked when a node is added. */
#include "ops/expr/syntax/tree.h"

#include <stdlib.h>
#include <string.h>

static enum err_code tree_add(uint32_t *out, struct tree *t, struct tree_node node, const char *at)
{
    if (t->n == EXPR_MAX_NODES)
        return tree_fail(t, at, "the expression has more than %d nodes", EXPR_MAX_NODES);
    if (node.depth > EXPR_MAX_DEPTH)
        return tree_fail(t, at, "the expression is nested more than %d deep", EXPR_MAX_DEPTH);
    t->nodes = vec_grow(t->nodes, &t->cap, t->n + 1, sizeof *t->nodes);
    t->nodes[t->n] = node;
    *out = (uint32_t)t->n++;
    return OK;
}

enum err_code tree_leaf(uint32_t *out, struct tree *t, uint16_t op, const char *leaf,
                        const char *at)
{
    enum err_code code;
    if (op == X_NUM && !lang_has(t->lang, X_ADD)) {
        code = tree_fail(t, at, "the %s language has no numbers", t->lang->name);
        err_hint(t->e, "write true or false");
        return code;
    }
    if (op == X_NUM && strchr(leaf, '/') && !lang_has(t->lang, X_DIV))
        return tree_fail(t, at, "the numbers of the %s language are integers", t->lang->name);
    struct tree_node node = {
        .op = op, .depth = 1, .first = UINT32_MAX, .next = UINT32_MAX, .leaf = leaf};
    return tree_add(out, t, node, at);
}

enum err_code tree_apply(uint32_t *out, struct tree *t, uint16_t op, const uint32_t *children,
                         size_t n, const char *at)
{
    struct tree_node node = {
        .op = op, .arity = (uint16_t)n, .first = UINT32_MAX, .next = UINT32_MAX};
    for (size_t i = n; i-- > 0;) {
        t->nodes[children[i]].next = node.first;
        node.first = children[i];
        if (t->nodes[children[i]].depth > node.depth)
            node.depth = t->nodes[children[i]].depth;
    }
    node.depth++;
    return tree_add(out, t, node, at);
}

enum err_code tree_exponential(uint32_t *out, struct tree *t, uint32_t x, const char *at)
{
    uint32_t args[2] = {0, x};
    enum err_code code = tree_leaf(&args[0], t, X_SYM, "e", at);
    return err_up(t->e, code ? code : tree_apply(out, t, X_POW, args, 2, at));
}

enum err_code tree_negate(uint32_t *out, struct tree *t, uint32_t x, const char *at)
{
    if (t->nodes[x].literal && t->nodes[x].leaf[0] != '-') {
        if (strcmp(t->nodes[x].leaf, "0") != 0)
            t->nodes[x].leaf = arena_printf(t->a, "-%s", t->nodes[x].leaf);
        *out = x;
        return OK;
    }
    uint32_t args[2] = {0, x};
    enum err_code code = tree_leaf(&args[0], t, X_NUM, "-1", at);
    return err_up(t->e, code ? code : tree_apply(out, t, X_MUL, args, 2, at));
}

enum err_code tree_enter(struct tree *t, const char *at)
{
    return ++t->depth > EXPR_MAX_DEPTH
               ? tree_fail(t, at, "the expression is nested more than %d deep", EXPR_MAX_DEPTH)
               : OK;
}

enum err_code tree_fail_arity(struct tree *t, const char *name, size_t n, unsigned arity,
                              unsigned given)
{
    return tree_fail(t, name, "'%.*s' takes %u argument%s, not %u", (int)(n < 60 ? n : 60), name,
                     arity, arity == 1 ? "" : "s", given);
}

enum err_code tree_copy(uint32_t *out, struct tree *t, uint32_t i, const char *at)
{
    uint32_t children[LANG_MAX_ARITY], n = 0;
    struct tree_node node = t->nodes[i];
    enum err_code code = OK;
    for (uint32_t c = node.first; !code && c != UINT32_MAX; c = t->nodes[c].next)
        code = tree_copy(&children[n++], t, c, at);
    if (!code)
        code = n ? tree_apply(out, t, node.op, children, n, at) : tree_add(out, t, node, at);
    if (!code)
        t->nodes[*out].next = UINT32_MAX;
    return err_up(t->e, code);
}

/* Recursion depth is bounded by EXPR_MAX_DEPTH. */
static uint32_t lay_out(struct expr_node *out, const struct tree *t, uint32_t i)
{
    const struct tree_node *node = &t->nodes[i];
    uint32_t size = 1;
    for (uint32_t c = node->first; c != UINT32_MAX; c = t->nodes[c].next)
        size += lay_out(out + size, t, c);
    *out = (struct expr_node){node->op, node->arity, size, node->leaf};
    return size;
}

void tree_lay_out(struct expr *out, const struct tree *t, uint32_t root)
{
    struct expr_node *nodes = arena_alloc(t->a, t->n * sizeof *nodes);
    uint32_t n = lay_out(nodes, t, root);
    *out = (struct expr){t->lang, nodes, n};
}

void tree_free(struct tree *t)
{
    free(t->nodes);
    t->nodes = NULL;
}

bool tree_has_variable(const struct tree *t, uint32_t node, const char *name)
{
    const struct tree_node *x = &t->nodes[node];
    if (x->op == X_VAR ||
        (x->op == X_SYM && !lang_is_constant(x->leaf) && (!name || strcmp(x->leaf, name) == 0)))
        return true;
    for (uint32_t c = x->first; c != UINT32_MAX; c = t->nodes[c].next)
        if (tree_has_variable(t, c, name))
            return true;
    return false;
}

enum err_code tree_check_d(const struct tree *t, uint32_t variable, const char *at)
{
    enum err_code code;
    const struct tree_node *node = &t->nodes[variable];
    bool named = node->op == X_SYM && !lang_is_constant(node->leaf) &&
                 lang_find_token(t->lang, node->leaf, strlen(node->leaf)) < 0;
    if (node->op == X_VAR || named)
        return OK;
    code = tree_fail(t, at, "d needs a variable as its first argument");
    err_hint(t->e, "d(x, f) is the derivative of f by x");
    return code;
}

const char *tree_nearest_operator(const struct language *lang, const char *word, size_t n)
{
    char name[64];
    const char *names[LANG_MAX_OPS + 1];
    size_t n_names = 0;
    if (n >= sizeof name)
        return NULL;
    memcpy(name, word, n);
    name[n] = 0;
    for (int op = X_ADD; op < lang->n_ops; op++)
        if (lang_has(lang, op))
            names[n_names++] = lang->ops[op].name;
    if (lang_has(lang, X_POW))
        names[n_names++] = "exp";
    return err_nearest(name, names, n_names);
}
