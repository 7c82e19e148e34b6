#include "ops/expr/near_miss.h"

#include "ops/expr/rational.h"

#include <assert.h>
#include <string.h>

/* Ranges of enum expr_op that form one kind, with a common arity. */
static const struct {
    uint16_t first, last;
} kinds[] = {
    {X_ADD, X_POW},   {X_SQRT, X_LN},     {X_SIN, X_COT},    {X_ASIN, X_ACOT},
    {X_SINH, X_COTH}, {X_ASINH, X_ACOTH}, {X_TRUE, X_FALSE}, {X_AND, X_IMPLIES},
};
size_t near_miss_alike(uint16_t out[NEAR_MISS_ALIKE], const struct language *lang, uint16_t op)
{
    size_t n = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint16_t o = kinds[k].first; o <= kinds[k].last; o++)
            if (op >= kinds[k].first && op <= kinds[k].last && o != op && lang_has(lang, o) &&
                lang->ops[o].arity == lang->ops[op].arity) {
                assert(n < NEAR_MISS_ALIKE);
                out[n++] = o;
            }
    return n;
}

/* Declared operators share their numbers with operators of the Boolean language. */
static bool is_interpreted(const struct language *lang, uint16_t op)
{
    return lang_has(lang, op) && lang->ops[op].interpreted;
}

static bool can_alter(const struct expr *x, uint32_t i, enum near_miss what)
{
    uint16_t ops[NEAR_MISS_ALIKE], op = x->nodes[i].op;
    if (op == X_NUM)
        return what != NEAR_MISS_OPERATORS;
    return is_interpreted(x->lang, op) && near_miss_alike(ops, x->lang, op) > 0;
}

static char *another_number(struct arena *a, const char *number, struct rng *r)
{
    bool negative = number[0] == '-';
    const char *size = number + negative, *slash = strchr(size, '/');
    for (;;) {
        char *text = NULL;
        if (rng_below(r, 4) == 0 && number_sign(number) != 0)
            text = arena_printf(a, "%s%s", negative ? "" : "-", size);
        else
            text = arena_printf(a, "%s%d%s", negative ? "-" : "", 2 + (int)rng_below(r, 8),
                                slash ? slash : "");
        text = number_read(a, text, strlen(text));
        if (text && strcmp(text, number) != 0)
            return text;
    }
}

static void exchange_operands(struct expr_node *to, const struct expr *x, uint32_t at)
{
    uint32_t first = at + 1, second = first + x->nodes[first].size;
    uint32_t n = x->nodes[first].size, m = x->nodes[second].size;
    memcpy(to + first, x->nodes + second, m * sizeof *to);
    memcpy(to + first + m, x->nodes + first, n * sizeof *to);
}

bool near_miss_draw(struct expr *out, struct arena *a, const struct expr *x, enum near_miss what,
                    struct rng *r)
{
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < x->n; i++)
        n += can_alter(x, i, what);
    if (!n)
        return false;
    for (uint64_t left = rng_below(r, n) + 1; left; at++)
        left -= can_alter(x, at, what);
    at--;
    struct expr_node *nodes = arena_memdup(a, x->nodes, x->n * sizeof *nodes);
    const struct op_info *op = &x->lang->ops[nodes[at].op];
    if (nodes[at].op == X_NUM) {
        nodes[at].leaf = another_number(a, nodes[at].leaf, r);
    } else if (what == NEAR_MISS_ARGUMENTS && op->arity == 2 && !op->commutative &&
               rng_below(r, 2)) {
        exchange_operands(nodes, x, at);
    } else {
        uint16_t ops[NEAR_MISS_ALIKE];
        nodes[at].op = ops[rng_below(r, near_miss_alike(ops, x->lang, nodes[at].op))];
    }
    *out = (struct expr){x->lang, nodes, x->n};
    return true;
}
