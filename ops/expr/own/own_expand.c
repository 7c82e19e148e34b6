/* Expansion of definitions and laws, for callers that do not support the operator itself; see
 * own.h. */
#include "ops/expr/own/own.h"

struct expansion {
    struct arena *a;
    const struct language *lang;
    unsigned depth;
    size_t steps;
    bool failed;
};

/* Expands the term at x; inside a definition, `args` (else NULL) replaces its arguments. */
static struct expr expand(struct expansion *s, const struct expr_node *x, const struct expr *args)
{
    struct expr children[LANG_MAX_ARITY] = {{0}}, out = {s->lang, x, 1};
    const struct expr_node *child = x + 1;
    if (++s->steps > EXPR_MAX_NODES)
        s->failed = true;
    if (s->failed || x->op <= X_VAR) {
        if (args && x->op == X_SYM && !lang_is_constant(x->leaf))
            return args[own_argument_number(x->leaf)];
        return out;
    }
    size_t size = 1;
    for (unsigned k = 0; k < x->arity; k++, child += child->size) {
        children[k] = expand(s, child, args);
        size += children[k].n;
    }
    if (size > EXPR_MAX_NODES)
        s->failed = true;
    if (s->failed)
        return out;
    const struct own_operator *own = s->lang->ops[x->op].own;
    if (own && own->function && own_law(&out, s->a, s->lang, x->op, children))
        return out;
    if (!own || !own->value.n)
        return expr_apply(s->a, s->lang, x->op, children, x->arity);
    if (++s->depth > OWN_MAX_DEPTH)
        s->failed = true;
    else
        out = expand(s, own->value.nodes, children);
    s->depth--;
    return out;
}

bool own_derivative(struct expr *out, struct arena *a, const struct language *lang, uint16_t op,
                    unsigned k, const struct expr *arguments)
{
    const struct own_operator *own = lang->ops[op].own;
    struct expansion s = {.a = a, .lang = lang};
    if (!own || !own->derivative[k].n)
        return false;
    *out = expand(&s, own->derivative[k].nodes, arguments);
    return !s.failed;
}

bool own_expand(struct expr *out, struct arena *a, const struct expr *x)
{
    bool defined = false;
    for (uint32_t i = 0; i < x->n && !defined; i++)
        defined = x->lang->ops[x->nodes[i].op].own;
    *out = *x;
    if (!defined)
        return true;
    struct expansion s = {.a = a, .lang = x->lang};
    *out = expand(&s, x->nodes, NULL);
    return !s.failed;
}
