/* The tables of the languages, indexed by operator number. Parsers, writers and evaluators take
 * names, arities and precedences only from here. exp has no row: it is parsed as pow(e, x). */
#include "ops/expr/lang.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"

#include <string.h>

#define LEAF(n)                                                                                    \
    {                                                                                              \
        .name = n, .inverse = -1                                                                   \
    }
#define CONNECTIVE(n, sign, tex, prec, comm, assoc_right)                                          \
    {                                                                                              \
        .name = n, .arity = 2, .commutative = comm, .interpreted = true, .infix = sign,            \
        .precedence = prec, .latex = tex, .inverse = -1, .right = assoc_right                      \
    }
#define INFIX(n, sign, prec, comm, assoc_right) CONNECTIVE(n, sign, sign, prec, comm, assoc_right)
#define FUNCTION(n, args, tex, inv)                                                                \
    {                                                                                              \
        .name = n, .arity = args, .interpreted = true, .latex = tex, .inverse = inv                \
    }

static const struct op_info calculus_ops[X_DECLARED] = {
    [X_NUM] = LEAF("<number>"),
    [X_SYM] = LEAF("<symbol>"),
    [X_VAR] = LEAF("<pattern variable>"),
    [X_ADD] = INFIX("+", "+", 1, true, false),
    [X_SUB] = INFIX("-", "-", 1, false, false),
    [X_MUL] = INFIX("*", "*", 2, true, false),
    [X_DIV] = INFIX("/", "/", 2, false, false),
    [X_POW] = INFIX("pow", "^", LANG_PRECEDENCE_MINUS + 1, false, true),
    [X_SQRT] = FUNCTION("sqrt", 1, "\\sqrt", -1),
    [X_ABS] = FUNCTION("abs", 1, "\\left|", -1),
    [X_D] = FUNCTION("d", 2, "\\frac{d}{d}", -1),
    [X_LN] = FUNCTION("ln", 1, "\\ln", -1),
    [X_SIN] = FUNCTION("sin", 1, "\\sin", X_ASIN),
    [X_COS] = FUNCTION("cos", 1, "\\cos", X_ACOS),
    [X_TAN] = FUNCTION("tan", 1, "\\tan", X_ATAN),
    [X_CSC] = FUNCTION("csc", 1, "\\csc", X_ACSC),
    [X_SEC] = FUNCTION("sec", 1, "\\sec", X_ASEC),
    [X_COT] = FUNCTION("cot", 1, "\\cot", X_ACOT),
    [X_ASIN] = FUNCTION("asin", 1, "\\arcsin", X_SIN),
    [X_ACOS] = FUNCTION("acos", 1, "\\arccos", X_COS),
    [X_ATAN] = FUNCTION("atan", 1, "\\arctan", X_TAN),
    [X_ACSC] = FUNCTION("acsc", 1, "\\operatorname{arccsc}", X_CSC),
    [X_ASEC] = FUNCTION("asec", 1, "\\operatorname{arcsec}", X_SEC),
    [X_ACOT] = FUNCTION("acot", 1, "\\operatorname{arccot}", X_COT),
    [X_SINH] = FUNCTION("sinh", 1, "\\sinh", X_ASINH),
    [X_COSH] = FUNCTION("cosh", 1, "\\cosh", X_ACOSH),
    [X_TANH] = FUNCTION("tanh", 1, "\\tanh", X_ATANH),
    [X_CSCH] = FUNCTION("csch", 1, "\\operatorname{csch}", X_ACSCH),
    [X_SECH] = FUNCTION("sech", 1, "\\operatorname{sech}", X_ASECH),
    [X_COTH] = FUNCTION("coth", 1, "\\coth", X_ACOTH),
    [X_ASINH] = FUNCTION("asinh", 1, "\\operatorname{arsinh}", X_SINH),
    [X_ACOSH] = FUNCTION("acosh", 1, "\\operatorname{arcosh}", X_COSH),
    [X_ATANH] = FUNCTION("atanh", 1, "\\operatorname{artanh}", X_TANH),
    [X_ACSCH] = FUNCTION("acsch", 1, "\\operatorname{arcsch}", X_CSCH),
    [X_ASECH] = FUNCTION("asech", 1, "\\operatorname{arsech}", X_SECH),
    [X_ACOTH] = FUNCTION("acoth", 1, "\\operatorname{arcoth}", X_COTH),
};

const struct language lang_calculus = {"calculus", calculus_ops, X_DECLARED};

#define ABSENT                                                                                     \
    {                                                                                              \
        .name = "", .inverse = -1                                                                  \
    }

static const struct op_info boolean_ops[X_BOOLEAN_END] = {
    [X_NUM] = LEAF("<number>"),
    [X_SYM] = LEAF("<symbol>"),
    [X_VAR] = LEAF("<pattern variable>"),
    [X_ADD... X_ACOTH] = ABSENT,
    [X_TRUE] = FUNCTION("true", 0, "\\top", -1),
    [X_FALSE] = FUNCTION("false", 0, "\\bot", -1),
    [X_NOT] = FUNCTION("not", 1, "\\neg", X_NOT),
    [X_AND] = CONNECTIVE("and", "&", "\\land", 4, true, false),
    [X_XOR] = CONNECTIVE("xor", "^", "\\oplus", 3, true, false),
    [X_OR] = CONNECTIVE("or", "|", "\\lor", 2, true, false),
    [X_IMPLIES] = CONNECTIVE("implies", "=>", "\\Rightarrow", 1, false, true),
};

const struct language lang_boolean = {"boolean", boolean_ops, X_BOOLEAN_END};

static const struct op_info polynomial_ops[X_DECLARED] = {
    [X_NUM] = LEAF("<number>"),
    [X_SYM] = LEAF("<symbol>"),
    [X_VAR] = LEAF("<pattern variable>"),
    [X_ADD] = INFIX("+", "+", 1, true, false),
    [X_SUB] = INFIX("-", "-", 1, false, false),
    [X_MUL] = INFIX("*", "*", 2, true, false),
    [X_DIV... X_ACOTH] = ABSENT,
};

const struct language lang_polynomial = {"polynomial", polynomial_ops, X_DECLARED};

static const struct language *const languages[] = {&lang_calculus, &lang_boolean, &lang_polynomial};
enum { N_LANGUAGES = sizeof languages / sizeof *languages };

const struct language *lang_by_name(const char *name)
{
    if (!*name)
        return &lang_calculus;
    for (int i = 0; i < N_LANGUAGES; i++)
        if (strcmp(languages[i]->name, name) == 0)
            return languages[i];
    return NULL;
}

enum err_code lang_named(const struct language **out, const char *name, struct err *e)
{
    const char *names[N_LANGUAGES];
    *out = lang_by_name(name);
    if (*out)
        return OK;
    for (int i = 0; i < N_LANGUAGES; i++)
        names[i] = languages[i]->name;
    enum err_code code =
        err_fail(e, ERR_INPUT, "unknown language '%.60s': calculus, boolean or polynomial", name);
    return err_suggest(code, name, names, N_LANGUAGES, e);
}

bool lang_is(const struct language *lang, const struct language *base)
{
    return strcmp(lang->name, base->name) == 0;
}

static const struct alias {
    const char *name;
    uint16_t op;
} aliases[] = {
    {"^", X_POW},         {"**", X_POW},        {"log", X_LN},        {"cosec", X_CSC},
    {"arcsin", X_ASIN},   {"arccos", X_ACOS},   {"arctan", X_ATAN},   {"arccsc", X_ACSC},
    {"arcsec", X_ASEC},   {"arccot", X_ACOT},   {"arcsinh", X_ASINH}, {"arccosh", X_ACOSH},
    {"arctanh", X_ATANH}, {"arccsch", X_ACSCH}, {"arcsech", X_ASECH}, {"arccoth", X_ACOTH},
    {"arsinh", X_ASINH},  {"arcosh", X_ACOSH},  {"artanh", X_ATANH},  {"arcsch", X_ACSCH},
    {"arsech", X_ASECH},  {"arcoth", X_ACOTH},  {"tg", X_TAN},        {"ctg", X_COT},
    {"arctg", X_ATAN},    {"arcctg", X_ACOT},
};

int lang_find(const struct language *lang, const char *name, size_t n)
{
    if (n == 0)
        return -1;
    for (int op = X_ADD; op < lang->n_ops; op++)
        if (lexical_is(name, n, lang->ops[op].name) ||
            (lang->ops[op].token && lexical_is(name, n, lang->ops[op].token)))
            return op;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (lexical_is(name, n, aliases[i].name) && lang_has(lang, aliases[i].op))
            return aliases[i].op;
    for (int op = X_DECLARED; op < lang->n_ops; op++)
        if (lang->ops[op].also && word_in(lang->ops[op].also, name, n))
            return op;
    return -1;
}

int lang_find_token(const struct language *lang, const char *token, size_t n)
{
    int op = lang_find(lang, token, n);
    return op < 0 || !lang->ops[op].token || lexical_is(token, n, lang->ops[op].token) ? op : -1;
}

enum lang_shape lang_shape(const struct op_info *op)
{
    static const struct {
        const char *latex;
        unsigned arity;
    } shapes[] = {[LANG_FLOOR] = {"\\lfloor", 1},
                  [LANG_CEILING] = {"\\lceil", 1},
                  [LANG_FACTORIAL] = {"!", 1},
                  [LANG_BINOMIAL] = {"\\binom", 2}};
    for (enum lang_shape s = LANG_FLOOR; op->latex && s <= LANG_BINOMIAL; s++)
        if (op->arity == shapes[s].arity && strcmp(op->latex, shapes[s].latex) == 0)
            return s;
    return LANG_FUNCTION;
}

int lang_shaped(const struct language *lang, enum lang_shape shape)
{
    for (int op = X_DECLARED; op < lang->n_ops; op++)
        if (lang_shape(&lang->ops[op]) == shape)
            return op;
    return -1;
}

struct lang_quotient lang_circular(uint16_t op)
{
    static const struct lang_quotient quotients[] = {
        {LANG_SINE, LANG_ONE}, {LANG_COSINE, LANG_ONE}, {LANG_SINE, LANG_COSINE},
        {LANG_ONE, LANG_SINE}, {LANG_ONE, LANG_COSINE}, {LANG_COSINE, LANG_SINE},
    };
    return quotients[op >= X_SINH ? op - X_SINH : op - X_SIN];
}

enum err_code lang_declare(const struct language **out, struct arena *a,
                           const struct language *base, const char *name, unsigned arity,
                           struct err *e)
{
    size_t n = strlen(name);
    if (!n || identifier_length(name, name + n) != n)
        return err_fail(e, ERR_INPUT,
                        "the name of an operator consists of letters, digits and _, not '%s'",
                        name);
    if (arity > LANG_MAX_ARITY)
        return err_fail(e, ERR_INPUT, "operator '%s' has more than %d arguments", name,
                        LANG_MAX_ARITY);
    int known = lang_find(base, name, n);
    bool taken = known >= 0 && !(base->ops[known].also && word_in(base->ops[known].also, name, n));
    if (taken || lang_is_constant(name) || strcmp(name, "exp") == 0)
        return err_fail(e, ERR_INPUT, "operator '%s' exists already", name);
    if (base->n_ops == LANG_MAX_OPS)
        return err_fail(e, ERR_LIMIT, "more than %d operators", LANG_MAX_OPS);
    struct op_info *ops = arena_alloc(a, (base->n_ops + 1u) * sizeof *ops);
    memcpy(ops, base->ops, base->n_ops * sizeof *ops);
    ops[base->n_ops] = (struct op_info){
        .name = arena_strdup(a, name),
        .arity = (uint8_t)arity,
        .token = arena_printf(a, "%s/%u", name, arity),
        .latex = arena_printf(a, "\\operatorname{%s}", name),
        .inverse = -1,
    };
    struct language *lang = arena_new(a, struct language);
    *lang = *base;
    lang->ops = ops;
    lang->n_ops++;
    *out = lang;
    return OK;
}

void lang_declare_name(const struct language **out, struct arena *a, const struct language *base,
                       const char *name)
{
    const char **names = arena_array(a, const char *, base->n_names + 1);
    for (size_t i = 0; i < base->n_names; i++)
        names[i] = base->names[i];
    names[base->n_names] = name;
    struct language *lang = arena_new(a, struct language);
    *lang = *base;
    lang->names = names;
    lang->n_names++;
    *out = lang;
}

bool lang_has_name(const struct language *lang, const char *name, size_t n)
{
    for (size_t i = 0; i < lang->n_names; i++)
        if (lexical_is(name, n, lang->names[i]))
            return true;
    return false;
}

bool lang_is_constant(const char *symbol)
{
    return strcmp(symbol, "pi") == 0 || strcmp(symbol, "e") == 0;
}
