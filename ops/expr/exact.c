/* What truth tables and polynomials share: the variables of two terms; see exact.h. */
#include "ops/expr/exact.h"

#include "base/rng.h"

#include <string.h>

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

size_t exact_find(const struct exact_names *names, const struct expr_node *leaf)
{
    size_t i = 0;
    while (i < names->n &&
           (names->leaves[i]->op != leaf->op || strcmp(names->leaves[i]->leaf, leaf->leaf) != 0))
        i++;
    return i;
}

enum err_code exact_collect(struct exact_names *names, const struct expr *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        if (node->op > X_VAR && !x->lang->ops[node->op].interpreted)
            return err_fail(e, ERR_LIMIT, "operator '%s' has no meaning",
                            x->lang->ops[node->op].name);
        if ((node->op != X_SYM && node->op != X_VAR) || exact_find(names, node) < names->n)
            continue;
        if (names->n == EXACT_MAX_VARIABLES)
            return err_fail(e, ERR_LIMIT, "more than %d variables", EXACT_MAX_VARIABLES);
        names->leaves[names->n++] = node;
    }
    return OK;
}

void exact_write_name(struct buf *out, const struct exact_names *names, size_t i)
{
    buf_printf(out, "%s%s%s = ", i ? ", " : "", names->leaves[i]->op == X_VAR ? "?" : "",
               names->leaves[i]->leaf);
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
