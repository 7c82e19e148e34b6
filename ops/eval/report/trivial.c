/* See trivial.h. Independent of the filter of extraction: it looks at terms, not at e-graphs. */
#include "ops/eval/report/trivial.h"

#include <string.h>

static bool is_number(const struct expr *x, uint32_t i, const char *number)
{
    return x->nodes[i].op == X_NUM && strcmp(x->nodes[i].leaf, number) == 0;
}

static bool is_e(const struct expr *x, uint32_t i)
{
    return x->nodes[i].op == X_SYM && strcmp(x->nodes[i].leaf, "e") == 0;
}

static uint32_t left_of(uint32_t i)
{
    return i + 1;
}

static uint32_t right_of(const struct expr *x, uint32_t i)
{
    return i + 1 + x->nodes[i + 1].size;
}

static bool is_negated(const struct expr *x, uint32_t i)
{
    if (x->nodes[i].op == X_MUL)
        return is_number(x, left_of(i), "-1") || is_number(x, right_of(x, i), "-1");
    return x->nodes[i].op == X_SUB && is_number(x, left_of(i), "0");
}

static bool is_reciprocal(const struct expr *x, uint32_t i)
{
    return x->nodes[i].op == X_DIV && is_number(x, left_of(i), "1");
}

static bool is_binary_trivial(const struct expr *x, uint32_t i, uint32_t l, uint32_t r)
{
    switch (x->nodes[i].op) {
    case X_ADD: return is_number(x, l, "0") || is_number(x, r, "0");
    case X_SUB: return is_number(x, r, "0") || is_negated(x, r);
    case X_MUL:
        return is_number(x, l, "0") || is_number(x, r, "0") || is_number(x, l, "1") ||
               is_number(x, r, "1") || (is_number(x, l, "-1") && is_negated(x, r)) ||
               (is_number(x, r, "-1") && is_negated(x, l));
    case X_DIV: return is_number(x, l, "0") || is_number(x, r, "1") || is_reciprocal(x, r);
    case X_POW:
        return is_number(x, r, "0") || is_number(x, r, "1") || is_number(x, l, "1") ||
               (is_e(x, l) && x->nodes[r].op == X_LN) ||
               (x->nodes[l].op == X_SQRT && is_number(x, r, "2"));
    default: return false;
    }
}

static bool is_unary_trivial(const struct expr *x, uint32_t i, uint32_t child)
{
    uint16_t op = x->nodes[i].op, below = x->nodes[child].op;
    if (op == X_ABS)
        return below == X_ABS;
    if (op == X_LN)
        return below == X_POW && is_e(x, left_of(child));
    if (op == X_SQRT)
        return below == X_POW && is_number(x, right_of(x, child), "2");
    int16_t inverse = x->lang->ops[op].inverse;
    return inverse > 0 && below == (uint16_t)inverse;
}

static bool is_connective_trivial(const struct expr *x, uint32_t l, uint32_t r)
{
    uint16_t left = x->nodes[l].op, right = x->nodes[r].op;
    return left == X_TRUE || left == X_FALSE || right == X_TRUE || right == X_FALSE;
}

bool term_is_reducible(const struct expr *x)
{
    bool boolean = lang_is(x->lang, &lang_boolean);
    for (uint32_t i = 0; i < x->n; i++) {
        uint16_t arity = x->nodes[i].arity;
        if (arity == 2 && (boolean ? is_connective_trivial(x, left_of(i), right_of(x, i))
                                   : is_binary_trivial(x, i, left_of(i), right_of(x, i))))
            return true;
        if (arity == 1 && is_unary_trivial(x, i, left_of(i)))
            return true;
    }
    return false;
}
