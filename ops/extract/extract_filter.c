/* The filter of extraction as a tree automaton; see extract_grammar.h. It excludes:
 *
 *     x+0  0+x  x-0  0-x  x*0  x*1  0/x  x/1  x/-1  x^0  x^1  0^x  1^x  sqrt(0)  sqrt(1)
 *     operations on two numbers, except powers              (the e-graph folds them)
 *     f(f^-1(x)) for each function with an inverse, e^ln(x), ln(e^x), sqrt(x)^2, sqrt(x^2), ||x||
 *     -1*(-1*x), x - (-1*y), x/(1/y), derivatives of numbers
 *     in the Boolean language: operations on true or false, not(not(x))
 *
 * The first operand of `d` must be a symbol: an e-graph may have other terms equal to the
 * variable. */
#include "ops/extract/extract_grammar.h"

#include <string.h>

/* Operators up to X_DECLARED use their number as bit; the further kinds follow. */
#define BIT(n) ((kinds_t)1 << (n))
#define ZERO BIT(48)
#define ONE BIT(49)
#define MINUS_ONE BIT(50)
#define TWO BIT(51)
#define NUMBER BIT(52)
#define SYMBOL BIT(53)
#define E BIT(54)
#define NEGATED BIT(55)
#define SQUARE BIT(56)
#define EXP BIT(57)
#define RECIPROCAL BIT(58)
#define OTHER BIT(59)
_Static_assert((int)X_DECLARED <= 48, "kinds are bits of a word");
#define NUMBERS (ZERO | ONE | MINUS_ONE | TWO | NUMBER)
#define OTHERS (KINDS_ALL & ~NUMBERS)

kinds_t filter_leaf_kind(uint16_t op, const char *leaf)
{
    if (op >= X_DECLARED) /* without operands: true and false are as trivial as 1 and 0 */
        return strcmp(leaf, "true") == 0 ? ONE : strcmp(leaf, "false") == 0 ? ZERO : OTHER;
    if (op != X_NUM)
        return strcmp(leaf, "e") == 0 ? E : strcmp(leaf, "pi") == 0 ? OTHER : SYMBOL;
    if (strcmp(leaf, "0") == 0)
        return ZERO;
    if (strcmp(leaf, "1") == 0)
        return ONE;
    if (strcmp(leaf, "-1") == 0)
        return MINUS_ONE;
    return strcmp(leaf, "2") == 0 ? TWO : NUMBER;
}

kinds_t filter_leaf_kinds(void)
{
    return NUMBERS | SYMBOL | E;
}

static void add(struct filter_ops *f, kinds_t left, kinds_t right, kinds_t kind)
{
    f->rules[f->n++] = (struct filter_rule){{left, right}, kind};
}

static kinds_t own_kind(uint16_t op)
{
    return op < X_DECLARED ? BIT(op) : OTHER;
}

/* Excludes double negation and constants. */
static void boolean_rules(struct filter_ops *f, uint16_t op)
{
    if (op == X_NOT)
        add(f, OTHERS & ~NEGATED, 0, NEGATED);
    else
        add(f, OTHERS, OTHERS, own_kind(op));
}

static void standard_rules(struct filter_ops *f, const struct language *lang, uint16_t op)
{
    kinds_t own = own_kind(op), nonzero = NUMBERS & ~ZERO;
    switch (op) {
    case X_ADD:
        add(f, nonzero, OTHERS, own);
        add(f, OTHERS, nonzero, own);
        add(f, OTHERS, OTHERS, own);
        return;
    case X_SUB:
        add(f, nonzero, OTHERS & ~NEGATED, own);
        add(f, OTHERS, nonzero, own);
        add(f, OTHERS, OTHERS & ~NEGATED, own);
        return;
    case X_MUL: {
        kinds_t factor = NUMBERS & ~(ZERO | ONE | MINUS_ONE);
        add(f, MINUS_ONE, OTHERS & ~NEGATED, NEGATED);
        add(f, OTHERS & ~NEGATED, MINUS_ONE, NEGATED);
        add(f, factor, OTHERS, own);
        add(f, OTHERS, factor, own);
        add(f, OTHERS, OTHERS, own);
        return;
    }
    case X_DIV:
        add(f, ONE, OTHERS & ~RECIPROCAL, RECIPROCAL);
        add(f, nonzero & ~ONE, OTHERS & ~RECIPROCAL, own);
        add(f, OTHERS, NUMBERS & ~(ZERO | ONE | MINUS_ONE), own);
        add(f, OTHERS, OTHERS & ~RECIPROCAL, own);
        return;
    case X_POW: {
        kinds_t base = KINDS_ALL & ~(ZERO | ONE | E);
        add(f, E, KINDS_ALL & ~(ZERO | ONE | BIT(X_LN)), EXP);
        add(f, base & ~BIT(X_SQRT), TWO, SQUARE);
        add(f, base, KINDS_ALL & ~(ZERO | ONE | TWO), own);
        return;
    }
    case X_SQRT: add(f, KINDS_ALL & ~(ZERO | ONE | SQUARE), 0, own); return;
    case X_ABS: add(f, OTHERS & ~BIT(X_ABS), 0, own); return;
    case X_LN: add(f, KINDS_ALL & ~(ZERO | ONE | E | EXP), 0, own); return;
    case X_D: add(f, SYMBOL, OTHERS, own); return;
    }
    int16_t inverse = lang->ops[op].inverse;
    kinds_t undone = inverse > 0 && inverse < X_DECLARED ? BIT(inverse) : 0;
    add(f, KINDS_ALL & ~undone, lang->ops[op].arity > 1 ? KINDS_ALL : 0, own);
}

void filter_init(struct filter *out, struct arena *a, const struct language *lang)
{
    out->n_ops = lang->n_ops;
    out->ops = arena_zalloc_array(a, lang->n_ops, sizeof *out->ops);
    for (uint16_t op = X_ADD; op < lang->n_ops; op++)
        if (lang_is(lang, &lang_boolean) && op < X_BOOLEAN_END)
            boolean_rules(&out->ops[op], op);
        else
            standard_rules(&out->ops[op], lang, op);
}
