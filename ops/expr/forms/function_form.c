/* See function_form.h. Forms are made as texts of prefix tokens, and read. */
#include "ops/expr/forms/function_form.h"

#include <string.h>

typedef char *make_text(struct arena *a, const struct expr *x, uint32_t i, unsigned k);

static bool read(struct expr *out, struct arena *a, const struct expr *x, char *text)
{
    enum { MOST = 4000 }; /* of characters: what is so long is no form that anyone wants */
    return strlen(text) < MOST && expr_from_prefix(out, a, x->lang, text, NULL) == OK;
}

static uint32_t left_of(uint32_t i)
{
    return i + 1;
}

static uint32_t right_of(const struct expr *x, uint32_t i)
{
    return i + 1 + x->nodes[i + 1].size;
}

/* The node with what `make` gives for its children. */
static char *with_children(make_text *make, struct arena *a, const struct expr *x, uint32_t i,
                           unsigned k)
{
    const struct expr_node *node = &x->nodes[i];
    char *text = arena_strdup(a, node->leaf ? node->leaf : x->lang->ops[node->op].name);
    for (uint32_t n = 0, child = i + 1; n < node->arity; n++, child += x->nodes[child].size)
        text = arena_printf(a, "%s %s", text, make(a, x, child, k));
    return text;
}

static char *expand_ln(struct arena *a, const struct expr *x, uint32_t i, unsigned k);

/* ln of the subterm at i. */
static char *ln_of(struct arena *a, const struct expr *x, uint32_t i)
{
    const struct expr_node *node = &x->nodes[i];
    switch (node->op) {
    case X_MUL:
        return arena_printf(a, "+ %s %s", ln_of(a, x, left_of(i)), ln_of(a, x, right_of(x, i)));
    case X_DIV:
        return arena_printf(a, "- %s %s", ln_of(a, x, left_of(i)), ln_of(a, x, right_of(x, i)));
    case X_POW:
        if (node[1].leaf && !strcmp(node[1].leaf, "e"))
            return expand_ln(a, x, right_of(x, i), 0);
        return arena_printf(a, "* %s %s", expand_ln(a, x, right_of(x, i), 0),
                            ln_of(a, x, left_of(i)));
    case X_SQRT: return arena_printf(a, "/ %s 2", ln_of(a, x, left_of(i)));
    default: return arena_printf(a, "ln %s", expand_ln(a, x, i, 0));
    }
}

static char *expand_ln(struct arena *a, const struct expr *x, uint32_t i, unsigned k)
{
    if (x->nodes[i].op == X_LN)
        return ln_of(a, x, left_of(i));
    return with_children(expand_ln, a, x, i, k);
}

bool form_expand_logarithms(struct expr *out, struct arena *a, const struct expr *x)
{
    return read(out, a, x, expand_ln(a, x, 0, 0));
}

/* ---- together ---- */

/* A sum's parts: one logarithm's argument, and the rest; NULL: there is none. */
struct parts {
    char *argument, *rest;
};

static char *combine_ln(struct arena *a, const struct expr *x, uint32_t i, unsigned k);

static bool is_rational(const struct expr *x, uint32_t i)
{
    return x->nodes[i].op == X_NUM;
}

/* The argument of c*ln(...) as one logarithm, or NULL. */
static char *argument_of(struct arena *a, const struct expr *x, uint32_t i, bool minus)
{
    const struct expr_node *node = &x->nodes[i];
    uint32_t l = left_of(i), r = node->arity == 2 ? right_of(x, i) : 0;
    if (node->op == X_LN)
        return arena_printf(a, minus ? "/ 1 %s" : "%s", combine_ln(a, x, l, 0));
    if (node->op == X_MUL && (is_rational(x, l) || is_rational(x, r))) {
        uint32_t number = is_rational(x, l) ? l : r, other = number == l ? r : l;
        const char *c = x->nodes[number].leaf;
        if (x->nodes[other].op != X_LN)
            return NULL;
        c = !minus ? c : *c == '-' ? c + 1 : arena_printf(a, "-%s", c);
        return arena_printf(a, "pow %s %s", combine_ln(a, x, left_of(other), 0), c);
    }
    if (node->op == X_DIV && x->nodes[l].op == X_LN && is_rational(x, r) &&
        !strchr(x->nodes[r].leaf, '/') && x->nodes[r].leaf[0] != '-')
        return arena_printf(a, "pow %s %s1/%s", combine_ln(a, x, left_of(l), 0), minus ? "-" : "",
                            x->nodes[r].leaf);
    return NULL;
}

static void gather(struct parts *p, struct arena *a, const struct expr *x, uint32_t i, bool minus)
{
    uint16_t op = x->nodes[i].op;
    if (op == X_ADD || op == X_SUB) {
        gather(p, a, x, left_of(i), minus);
        gather(p, a, x, right_of(x, i), minus != (op == X_SUB));
        return;
    }
    char *argument = argument_of(a, x, i, minus);
    if (argument) {
        p->argument = !p->argument ? argument
                      : !strncmp(argument, "/ 1 ", 4)
                          ? arena_printf(a, "/ %s %s", p->argument, argument + 4)
                          : arena_printf(a, "* %s %s", p->argument, argument);
        return;
    }
    char *text = combine_ln(a, x, i, 0);
    if (p->rest)
        p->rest = arena_printf(a, "%s %s %s", minus ? "-" : "+", p->rest, text);
    else
        p->rest = minus ? arena_printf(a, "* -1 %s", text) : text;
}

static char *combine_ln(struct arena *a, const struct expr *x, uint32_t i, unsigned k)
{
    struct parts p = {0};
    uint16_t op = x->nodes[i].op;
    if (op != X_ADD && op != X_SUB && (op == X_LN || !argument_of(a, x, i, false)))
        return with_children(combine_ln, a, x, i, k);
    gather(&p, a, x, i, false);
    if (!p.argument)
        return p.rest;
    char *ln = arena_printf(a, "ln %s", p.argument);
    return p.rest ? arena_printf(a, "+ %s %s", p.rest, ln) : ln;
}

bool form_combine_logarithms(struct expr *out, struct arena *a, const struct expr *x)
{
    return read(out, a, x, combine_ln(a, x, 0, 0));
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

static char *rewrite(struct arena *a, const struct expr *x, uint32_t i, unsigned k)
{
    const struct expr_node *node = &x->nodes[i];
    const char *template = NULL;
    for (size_t r = 0; r < 6 && !template && node->op > X_VAR; r++)
        if (rewritings[k].rows[r].op == node->op)
            template = rewritings[k].rows[r].text;
    if (!template)
        return with_children(rewrite, a, x, i, k);
    char *argument = rewrite(a, x, left_of(i), k);
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
    return k < REWRITINGS && read(out, a, x, rewrite(a, x, 0, k));
}
