/* Laws of Arb functions: terms with the same values, wherever these have one. See own.h. */
#include "ops/expr/own/own.h"

#include <string.h>

/* The term has prefix tokens, with the names of functions and the arguments x and y. For a negative
 * integer x, binomial(x, y) has values that its law lacks. */
static const struct law {
    const char *function, *term;
} laws[] = {
    {"binomial", "/ gamma + x 1 * gamma + y 1 gamma + - x y 1"},
    {"ceil", "* -1 floor * -1 x"},
    {"digamma", "polygamma 0 x"},
    {"erfc", "- 1 erf x"},
    {"factorial", "gamma + x 1"},
    {"im", "/ - x conj x * 2 sqrt -1"},
    {"re", "/ + x conj x 2"},
};

static bool is_function(const struct op_info *op, const char *name, size_t n)
{
    const char *function =
        op->own && op->own->function ? ball_function_name(op->own->function) : "";
    return strncmp(function, name, n) == 0 && !function[n];
}

/* Returns the operator of the calculus, or one that is this function; -1 if there is none. */
static int find_operator(const struct language *lang, const char *name, size_t n)
{
    int op = lang_find(&lang_calculus, name, n);
    for (unsigned i = X_DECLARED; op < 0 && i < lang->n_ops; i++)
        op = is_function(&lang->ops[i], name, n) ? (int)i : -1;
    return op;
}

/* Builds the term at *text and moves past it; returns false if the language lacks a function. */
static bool build(struct expr *out, struct arena *a, const struct language *lang, const char **text,
                  const struct expr *arguments)
{
    const char *token = *text;
    const size_t n = strcspn(token, " ");
    struct expr children[LANG_MAX_ARITY];
    int op = find_operator(lang, token, n);
    *text += n + (token[n] == ' ');
    if (n == 1 && (*token == 'x' || *token == 'y')) {
        *out = arguments[own_argument_number(token)];
        return true;
    }
    if (op < 0) {
        *out = expr_leaf(a, lang, X_NUM, arena_strndup(a, token, n));
        return strchr("-0123456789", *token);
    }
    for (unsigned k = 0; k < lang->ops[op].arity; k++)
        if (!build(&children[k], a, lang, text, arguments))
            return false;
    *out = expr_apply(a, lang, (uint16_t)op, children, lang->ops[op].arity);
    return true;
}

bool own_law(struct expr *out, struct arena *a, const struct language *lang, uint16_t op,
             const struct expr *arguments)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        const char *term = laws[i].term;
        if (is_function(&lang->ops[op], laws[i].function, strlen(laws[i].function)))
            return build(out, a, lang, &term, arguments);
    }
    return false;
}
