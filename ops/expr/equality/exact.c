/* Comparison by normal form, and fingerprints; see exact.h. */
#include "ops/expr/equality/exact.h"

#include "base/rng.h"

bool exact_applies(const struct language *lang)
{
    return lang_is(lang, &lang_boolean) || lang_is(lang, &lang_polynomial);
}

enum err_code exact_compare(struct exact_result *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e)
{
    return err_up(e, lang_is(x->lang, &lang_boolean) ? truth_compare(out, a, x, y, e)
                                                     : polynomial_compare(out, a, x, y, e));
}

/* Modulo 2^64: a ring for polynomials, 64 rows of a truth table for Boolean terms. */
static uint64_t leaf_word(const struct expr_node *node)
{
    uint64_t word = 0;
    const char *s = node->leaf;
    if (node->op == X_NUM) {
        for (const char *digit = s + (*s == '-'); *digit; digit++)
            word = 10 * word + (uint64_t)(*digit - '0');
        return *s == '-' ? -word : word;
    }
    for (; *s; s++)
        word = rng_mix(word ^ (unsigned char)*s);
    return rng_mix(word + node->op);
}

uint64_t exact_word(const struct language *lang, uint16_t op, uint64_t left, uint64_t right)
{
    if (lang_is(lang, &lang_boolean))
        return truth_word(op, left, right);
    return op == X_ADD ? left + right : op == X_SUB ? left - right : left * right;
}

static uint64_t word_of(const struct expr *x, uint32_t *at)
{
    const struct expr_node *node = &x->nodes[(*at)++];
    if (node->op <= X_VAR)
        return leaf_word(node);
    uint64_t args[2] = {0};
    for (unsigned i = 0; i < node->arity; i++) {
        uint64_t word = word_of(x, at);
        args[i < 2 ? i : 1] = word;
    }
    return exact_word(x->lang, node->op, args[0], args[1]);
}

uint64_t exact_fingerprint(const struct expr *x)
{
    uint32_t at = 0;
    return word_of(x, &at);
}
