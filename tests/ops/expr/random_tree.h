/* Random trees over every operator of the calculus language, for property tests. */
#pragma once

#include "base/rng.h"
#include "ops/expr/expr.h"

static struct expr random_leaf(struct arena *a, struct rng *r, bool patterns)
{
    static const char *const numbers[] = {"0",  "1",   "-1",   "2",
                                          "-7", "3/2", "-1/3", "123456789012345678901234567890"};
    static const char *const symbols[] = {"x", "y", "pi", "e"};
    uint64_t kind = rng_below(r, patterns ? 3 : 2);
    if (kind == 0)
        return expr_leaf(a, &lang_calculus, X_NUM, numbers[rng_below(r, 8)]);
    return expr_leaf(a, &lang_calculus, kind == 1 ? X_SYM : X_VAR,
                     kind == 1 ? symbols[rng_below(r, 4)] : "a");
}

static struct expr random_tree(struct arena *a, struct rng *r, unsigned depth, bool patterns)
{
    if (depth == 0 || rng_below(r, 6) == 0)
        return random_leaf(a, r, patterns);
    uint16_t op = (uint16_t)(X_ADD + rng_below(r, X_DECLARED - X_ADD));
    if (rng_below(r, 2)) /* half of them infix, where the parentheses are */
        op = (uint16_t)(X_ADD + rng_below(r, 5));
    struct expr args[2];
    unsigned arity = lang_calculus.ops[op].arity;
    for (unsigned i = 0; i < arity; i++)
        args[i] = op == X_D && i == 0 ? expr_leaf(a, &lang_calculus, X_SYM, "x")
                                      : random_tree(a, r, depth - 1, patterns);
    return expr_apply(a, &lang_calculus, op, args, arity);
}
