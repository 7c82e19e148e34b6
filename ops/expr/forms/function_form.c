/* See function_form.h. Results are built as prefix tokens and then parsed. */
#include "ops/expr/forms/function_form.h"

#include <assert.h>
#include <string.h>

typedef char *make_text(struct arena *a, const struct expr_node *x, unsigned k);

static bool read(struct expr *out, struct arena *a, const struct expr *x, char *text)
{
    enum { MOST = 4000 }; /* characters; longer results are useless to readers */
    return strlen(text) < MOST && expr_from_prefix(out, a, x->lang, text, NULL) == OK;
}

/* Applies `make` to the children of the node. */
static char *with_children(make_text *make, struct arena *a, const struct expr_node *x, unsigned k)
{
    const struct expr_node *child = x + 1;
    assert(x->op < X_DECLARED); /* the calculus */
    char *text = arena_strdup(a, x->leaf ? x->leaf : lang_calculus.ops[x->op].name);
    for (uint32_t n = 0; n < x->arity; n++, child += child->size)
        text = arena_printf(a, "%s %s", text, make(a, child, k));
    return text;
}

static char *expand_ln(struct arena *a, const struct expr_node *x, unsigned k);

/* ln of the subterm at i. */
static char *ln_of(struct arena *a, const struct expr_node *x)
{
    switch (x->op) {
    case X_MUL: return arena_printf(a, "+ %s %s", ln_of(a, x + 1), ln_of(a, expr_node_second(x)));
    case X_DIV: return arena_printf(a, "- %s %s", ln_of(a, x + 1), ln_of(a, expr_node_second(x)));
    case X_POW:
        if (expr_node_is(x + 1, X_SYM, "e"))
            return expand_ln(a, expr_node_second(x), 0);
        return arena_printf(a, "* %s %s", expand_ln(a, expr_node_second(x), 0), ln_of(a, x + 1));
    case X_SQRT: return arena_printf(a, "/ %s 2", ln_of(a, x + 1));
    default: return arena_printf(a, "ln %s", expand_ln(a, x, 0));
    }
}

static char *expand_ln(struct arena *a, const struct expr_node *x, unsigned k)
{
    if (x->op == X_LN)
        return ln_of(a, x + 1);
    return with_children(expand_ln, a, x, k);
}

bool form_expand_logarithms(struct expr *out, struct arena *a, const struct expr *x)
{
    return read(out, a, x, expand_ln(a, x->nodes, 0));
}

/* ---- combination ---- */

/* The parts of a sum: the argument of one logarithm, and the rest; NULL if absent. */
struct parts {
    char *argument, *rest;
};

static char *combine_ln(struct arena *a, const struct expr_node *x, unsigned k);

/* The argument of c*ln(...) as a single logarithm, or NULL. */
static char *argument_of(struct arena *a, const struct expr_node *x, bool minus)
{
    const struct expr_node *l = x + 1, *r = x->arity == 2 ? expr_node_second(x) : l;
    if (x->op == X_LN)
        return arena_printf(a, minus ? "/ 1 %s" : "%s", combine_ln(a, l, 0));
    if (x->op == X_MUL && (l->op == X_NUM || r->op == X_NUM)) {
        const struct expr_node *number = l->op == X_NUM ? l : r, *other = number == l ? r : l;
        const char *c = number->leaf;
        if (other->op != X_LN)
            return NULL;
        c = !minus ? c : *c == '-' ? c + 1 : arena_printf(a, "-%s", c);
        return arena_printf(a, "pow %s %s", combine_ln(a, other + 1, 0), c);
    }
    if (x->op == X_DIV && l->op == X_LN && r->op == X_NUM && !strchr(r->leaf, '/') &&
        r->leaf[0] != '-')
        return arena_printf(a, "pow %s %s1/%s", combine_ln(a, l + 1, 0), minus ? "-" : "", r->leaf);
    return NULL;
}

static void gather(struct parts *p, struct arena *a, const struct expr_node *x, bool minus)
{
    uint16_t op = x->op;
    if (op == X_ADD || op == X_SUB) {
        gather(p, a, x + 1, minus);
        gather(p, a, expr_node_second(x), minus != (op == X_SUB));
        return;
    }
    char *argument = argument_of(a, x, minus);
    if (argument) {
        p->argument = !p->argument ? argument
                      : !strncmp(argument, "/ 1 ", 4)
                          ? arena_printf(a, "/ %s %s", p->argument, argument + 4)
                          : arena_printf(a, "* %s %s", p->argument, argument);
        return;
    }
    char *text = combine_ln(a, x, 0);
    if (p->rest)
        p->rest = arena_printf(a, "%s %s %s", minus ? "-" : "+", p->rest, text);
    else
        p->rest = minus ? arena_printf(a, "* -1 %s", text) : text;
}

static char *combine_ln(struct arena *a, const struct expr_node *x, unsigned k)
{
    struct parts p = {0};
    uint16_t op = x->op;
    if (op != X_ADD && op != X_SUB && (op == X_LN || !argument_of(a, x, false)))
        return with_children(combine_ln, a, x, k);
    gather(&p, a, x, false);
    if (!p.argument)
        return p.rest;
    char *ln = arena_printf(a, "ln %s", p.argument);
    return p.rest ? arena_printf(a, "+ %s %s", p.rest, ln) : ln;
}

bool form_combine_logarithms(struct expr *out, struct arena *a, const struct expr *x)
{
    return read(out, a, x, combine_ln(a, x->nodes, 0));
}

/* ---- functions in terms of others ---- */

/* `?` is the argument. */
static const struct rewriting {
    const char *target;
    struct {
        uint16_t op;
        const char *text;
    } rows[6];
} rewritings[] = {
    {"sin",
     {{X_COS, "sin + ? / pi 2"},
      {X_TAN, "/ * 2 pow sin ? 2 sin * 2 ?"},
      {X_COT, "/ sin * 2 ? * 2 pow sin ? 2"},
      {X_SEC, "/ 1 sin + ? / pi 2"},
      {X_CSC, "/ 1 sin ?"}}},
    {"cos",
     {{X_SIN, "cos - ? / pi 2"},
      {X_TAN, "/ cos - ? / pi 2 cos ?"},
      {X_COT, "/ cos ? cos - ? / pi 2"},
      {X_SEC, "/ 1 cos ?"},
      {X_CSC, "/ 1 cos - ? / pi 2"}}},
    {"tan",
     {{X_SIN, "/ * 2 tan / ? 2 + pow tan / ? 2 2 1"},
      {X_COS, "/ - 1 pow tan / ? 2 2 + pow tan / ? 2 2 1"},
      {X_COT, "/ 1 tan ?"},
      {X_SEC, "/ + pow tan / ? 2 2 1 - 1 pow tan / ? 2 2"},
      {X_CSC, "/ + pow tan / ? 2 2 1 * 2 tan / ? 2"}}},
    {"cot",
     {{X_SIN, "/ * 2 cot / ? 2 + pow cot / ? 2 2 1"},
      {X_COS, "/ - pow cot / ? 2 2 1 + pow cot / ? 2 2 1"},
      {X_TAN, "/ 1 cot ?"},
      {X_SEC, "/ + pow cot / ? 2 2 1 - pow cot / ? 2 2 1"},
      {X_CSC, "/ + pow cot / ? 2 2 1 * 2 cot / ? 2"}}},
    {"sec",
     {{X_SIN, "/ 1 sec - ? / pi 2"},
      {X_COS, "/ 1 sec ?"},
      {X_TAN, "/ sec ? sec - ? / pi 2"},
      {X_COT, "/ sec - ? / pi 2 sec ?"},
      {X_CSC, "sec - / pi 2 ?"}}},
    {"csc",
     {{X_SIN, "/ 1 csc ?"},
      {X_COS, "/ 1 csc - / pi 2 ?"},
      {X_TAN, "/ csc - / pi 2 ? csc ?"},
      {X_COT, "/ csc ? csc - / pi 2 ?"},
      {X_SEC, "csc - / pi 2 ?"}}},
    {"exp",
     {{X_SINH, "/ - pow e ? pow e * -1 ? 2"},
      {X_COSH, "/ + pow e ? pow e * -1 ? 2"},
      {X_TANH, "/ - pow e ? pow e * -1 ? + pow e ? pow e * -1 ?"},
      {X_COTH, "/ + pow e ? pow e * -1 ? - pow e ? pow e * -1 ?"},
      {X_SECH, "/ 2 + pow e ? pow e * -1 ?"},
      {X_CSCH, "/ 2 - pow e ? pow e * -1 ?"}}},
    {"tanh",
     {{X_SINH, "/ * 2 tanh / ? 2 - 1 pow tanh / ? 2 2"},
      {X_COSH, "/ + pow tanh / ? 2 2 1 - 1 pow tanh / ? 2 2"},
      {X_COTH, "/ 1 tanh ?"},
      {X_SECH, "/ - 1 pow tanh / ? 2 2 + pow tanh / ? 2 2 1"},
      {X_CSCH, "/ - 1 pow tanh / ? 2 2 * 2 tanh / ? 2"}}},
    {"coth",
     {{X_SINH, "/ * 2 coth / ? 2 - pow coth / ? 2 2 1"},
      {X_COSH, "/ + pow coth / ? 2 2 1 - pow coth / ? 2 2 1"},
      {X_TANH, "/ 1 coth ?"}}},
    {"sinh and cosh",
     {{X_TANH, "/ sinh ? cosh ?"},
      {X_COTH, "/ cosh ? sinh ?"},
      {X_SECH, "/ 1 cosh ?"},
      {X_CSCH, "/ 1 sinh ?"}}},
};
enum { REWRITINGS = sizeof rewritings / sizeof *rewritings };

static char *rewrite(struct arena *a, const struct expr_node *x, unsigned k)
{
    const char *template = NULL;
    for (size_t r = 0; r < 6 && !template && x->op > X_VAR; r++)
        if (rewritings[k].rows[r].op == x->op)
            template = rewritings[k].rows[r].text;
    if (!template)
        return with_children(rewrite, a, x, k);
    char *argument = rewrite(a, x + 1, k);
    struct buf out = {0};
    for (; *template; template ++)
        if (*template == '?')
            buf_puts(&out, argument);
        else
            buf_putc(&out, *template);
    return buf_text(&out, a);
}

bool form_rewrite(struct expr *out, struct arena *a, const struct expr *x, unsigned k)
{
    return k < REWRITINGS && read(out, a, x, rewrite(a, x->nodes, k));
}
