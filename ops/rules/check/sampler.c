/* Special values stand in the tables below: zero and one, values on branch cuts and on both sides of
 * them, multiples of pi, the borders of principal values, very large and very small ones. The
 * simplest come first, since they make the most readable witnesses. All other values are designed
 * (ops/expr/compare/design.h). */
#include "ops/rules/check/sampler.h"
#include "ops/expr/rational.h"
#include "ops/rules/check/range.h"

#include <arf.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIMPLE_REALS = 9,      /* special reals that make a readable witness */
    SIMPLE_INSTANCES = 24, /* instances that use only these */
    SMALL_LEVELS = 8, /* of integers and constants */
    CELL_POINTS = 400,
    SYMBOL_BITS = 40, /* after the point, of the value of a symbol */
};

/* ---- special values, in infix, separated by blanks; simplest first ---- */

static const char special_reals[] =
    "0 1 -1 2 -2 1/2 -1/2 3 -3 1/3 -1/3 3/4 -3/4 5/4 -5/4 4 -4 3/2 -3/2 1/10 -1/10 7/8 -7/8 1/1000 "
    "-1/1000 10 -10 5 -5 22/7 -22/7 11/7 -11/7 355/113 25 -40 99/100 101/100 -99/100 -101/100 pi "
    "-1*pi pi/2 -1*(pi/2) pi/4 2*pi e sqrt(2) -1*sqrt(2) sqrt(2)/2 6 -6 2/3 -2/3 "
    /* huge, tiny, close to 1 and -1; values of functions */
    "1000000007 -1000000007 10000000000000000000001 1/1000000007 -1/1000000007 "
    "1/1000000000000000000000 -1/1000000000000000000000 1000000000001/1000000000000 "
    "-1000000000001/1000000000000 999999999999/1000000000000 -999999999999/1000000000000 sin(2) "
    "ln(1/3) -1*e^2 tan(2) atan(-3) asin(1/3) 3*pi/2 -5*(pi/2) e^(-7) -1*(pi/3) sqrt(3)/3";
static const char special_complexes[] =
    "sqrt(-1) -1*sqrt(-1) 2*sqrt(-1) -2*sqrt(-1) 1/2*sqrt(-1) -1/2*sqrt(-1) 1+sqrt(-1) -1+sqrt(-1) "
    "1-sqrt(-1) -1-sqrt(-1) 2+1/4*sqrt(-1) -2+1/4*sqrt(-1) 2-1/4*sqrt(-1) -2-1/4*sqrt(-1) "
    "1/4+3*sqrt(-1) -1/4+3*sqrt(-1) -1/4-3*sqrt(-1) 1/4-3*sqrt(-1) -1/2+1/8*sqrt(-1) "
    "1/2-1/8*sqrt(-1) pi*sqrt(-1) pi/2*sqrt(-1) 4*sqrt(-1) -5*sqrt(-1) -3+5*sqrt(-1) 5-3*sqrt(-1) "
    /* next to the cuts, on both sides, and the branch points */
    "-2+1/1000000000000*sqrt(-1) -2-1/1000000000000*sqrt(-1) 2+1/1000000000000*sqrt(-1) "
    "2-1/1000000000000*sqrt(-1) 1/2+1/1000000000000*sqrt(-1) 1/2-1/1000000000000*sqrt(-1) "
    "-1/2+1/1000000000000*sqrt(-1) -1/2-1/1000000000000*sqrt(-1) 1/1000000000000+2*sqrt(-1) "
    "-1/1000000000000+2*sqrt(-1) 1/1000000000000-2*sqrt(-1) -1/1000000000000-2*sqrt(-1) "
    "1/1000000000000+1/2*sqrt(-1) -1/1000000000000-1/2*sqrt(-1) "
    "1000000000001/1000000000000*sqrt(-1) 999999999999/1000000000000*sqrt(-1) "
    "1/1000000000000*sqrt(-1) -1000000007*sqrt(-1) 1000000007-1000000007*sqrt(-1) "
    /* on the borders of principal values of ln, asin, acosh and others */
    "ln(-2) -1*ln(-2) ln(-1/2) asin(2) asin(-2) acos(-3) acosh(-2) acosh(1/2) atanh(3) "
    "atanh(-3) 1+pi*sqrt(-1) -1-pi*sqrt(-1) pi/2+2*sqrt(-1) pi/2-2*sqrt(-1) "
    "-1*(pi/2)+sqrt(-1) -1*(pi/2)-sqrt(-1) pi+sqrt(-1) -1*pi-sqrt(-1) 1+pi/2*sqrt(-1) "
    "-1-pi/2*sqrt(-1) -1+pi/2*sqrt(-1) 1-2*pi*sqrt(-1) 1+22/7*sqrt(-1) 11/7-sqrt(-1) "
    "(-2)^(1/3) (-2)^(-1/3) ln(sqrt(-1)/3) e^(1+2*sqrt(-1)) sin(1+2*sqrt(-1))";
static const char special_terms[] =
    "x x^2+1 sin(x) 1/x e^x 3 y -1*x -2 x*y ln(x) sqrt(x) x^3 2*x-1 1/2 x^2+2 1/(x+2) "
    "-1*(x+1) sin(y) x/9 cos(3*x) sqrt(-1)*x x+y 1+sqrt(-1)*x e^(-1*x) y^2 0 -1*(x/9) pi "
    "x^2-y 1 -1 sqrt(-1) ln(x-2) sqrt(x-3) asin(x) abs(x-1) x^x tan(3*x) x^(1/3) 1-x "
    "(-1)*x^2-1 acosh(x) sqrt(-1)*sin(x) x-y 1/(x-2) (-3)^(x/5)";

static struct expr *parse_all(size_t *n, struct arena *a, const struct language *lang,
                              const char *texts)
{
    struct source_text source = {"<sample>", texts, strlen(texts)};
    struct expr *out = arena_array(a, struct expr, source.len / 2 + 1);
    *n = 0;
    for (size_t at = 0, length; at < source.len; at += length + 1) {
        length = strcspn(texts + at, " ");
        if (expr_parse_infix(&out[(*n)++], a, lang, &source, at, length, false, NULL))
            abort(); /* a bug in the tables above */
    }
    return out;
}

static enum err_code add_variables(struct sampler *s, const struct expr *x, struct err *e)
{
    s->n = design_add_variables(s->variables, s->n, SAMPLE_MAX_VARIABLES, x, DESIGN_COMPLEX);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *v = &x->nodes[i];
        s->symbolic = s->symbolic || v->op == X_D;
        size_t k = 0;
        while (k < s->n && !expr_node_is(v, s->variables[k].op, s->variables[k].name))
            k++;
        if (k == s->n && v->op == X_VAR)
            return err_fail(e, ERR_LIMIT, "a rule of more than %d variables cannot be checked",
                            SAMPLE_MAX_VARIABLES);
        if (k < s->n && i && x->nodes[i - 1].op == X_D)
            s->form[k] = SAMPLE_SYMBOL;
    }
    return OK;
}

/* What single conditions demand of the variables. */
static void add_ranges(struct sampler *s, struct arena *a, const struct rule *r)
{
    for (size_t i = 0; i < s->n; i++) {
        struct design_variable *v = &s->variables[i];
        struct expr x = expr_leaf(a, s->lang, v->op, v->name);
        struct range range;
        range_of_term(&range, a, r, &x);
        if (range.symbol)
            s->form[i] = SAMPLE_SYMBOL;
        if (v->op == X_SYM)
            s->form[i] = SAMPLE_LITERAL;
        if (s->form[i] >= SAMPLE_SYMBOL)
            range = (struct range){.low = "0", .real = true};
        else if (range.constant || range.integer)
            s->form[i] = SAMPLE_CONSTANT;
        v->low = range.low;
        v->high = range.high;
        v->kind = range.integer                   ? DESIGN_INTEGER
                  : range.real || range.constant ? DESIGN_REAL
                                                  : DESIGN_COMPLEX;
    }
}

static bool is_on_symbols(enum rule_predicate p)
{
    return p == RULE_SYMBOL || p == RULE_FREE_OF || p == RULE_CONSTANT_OR_OTHER_SYMBOL;
}

enum err_code sampler_init(struct sampler *s, struct arena *a, const struct rule *r, struct err *e)
{
    enum err_code code;
    *s = (struct sampler){.lang = r->lhs.lang, .rule = r};
    if ((code = add_variables(s, &r->lhs, e)) || (code = add_variables(s, &r->rhs, e)))
        return err_up(e, code);
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *c = &r->conditions[i];
        s->symbolic = s->symbolic || is_on_symbols(c->predicate);
        if (is_on_symbols(c->predicate) && c->predicate != RULE_SYMBOL)
            for (size_t k = 0; k < s->n; k++)
                if (expr_node_is(c->args[0].nodes, s->variables[k].op, s->variables[k].name) &&
                    s->form[k] == SAMPLE_TERM)
                    s->form[k] = SAMPLE_CONSTANT_OR_TERM;
    }
    add_ranges(s, a, r);
    s->salt = design_salt(&r->lhs, s->variables, s->n);
    s->reals = parse_all(&s->n_reals, a, s->lang, special_reals);
    s->complexes = parse_all(&s->n_complexes, a, s->lang, special_complexes);
    s->terms = parse_all(&s->n_terms, a, s->lang, special_terms);
    return OK;
}

/* ---- special instances ---- */

static size_t count_special(const struct sampler *s, size_t i)
{
    return s->symbolic ? s->n_terms
                       : s->n_reals + (s->variables[i].kind == DESIGN_REAL ? 0 : s->n_complexes);
}

uint32_t sampler_count_special(const struct sampler *s)
{
    size_t most = 0;
    for (size_t i = 0; i < s->n; i++)
        most = count_special(s, i) > most ? count_special(s, i) : most;
    return (uint32_t)(s->n == 0 ? 1 : s->n == 1 ? most : 2 * most);
}

static struct expr term_of(struct arena *a, const struct sampler *s, const struct design_number *x)
{
    const fmpq *parts[] = {&x->re, &x->im};
    struct expr term[2];
    for (int k = 0; k < 2; k++) {
        char *text = fmpq_get_str(NULL, 10, parts[k]);
        term[k] = expr_leaf(a, s->lang, X_NUM, arena_strdup(a, text));
        flint_free(text);
    }
    if (fmpq_is_zero(&x->im))
        return term[0];
    struct expr minus_one = expr_leaf(a, s->lang, X_NUM, "-1");
    struct expr i = expr_apply(a, s->lang, X_SQRT, &minus_one, 1);
    return expr_binary(a, X_ADD, term[0], expr_binary(a, X_MUL, term[1], i));
}

static struct expr level_of(struct arena *a, const struct sampler *s, size_t i, size_t index,
                            uint32_t k)
{
    struct design_number x;
    design_number_init(&x);
    design_level(&x, &s->variables[i], (unsigned)index, s->salt, k);
    struct expr term = term_of(a, s, &x);
    design_number_clear(&x);
    return term;
}

/* Equal to the variable before it, opposite or reciprocal. */
static struct expr related(struct arena *a, const struct sampler *s, const struct expr *before,
                           uint32_t k)
{
    struct expr one = expr_leaf(a, s->lang, X_NUM, k % 3 == 1 ? "-1" : "1");
    if (k % 3 == 0)
        return *before;
    return expr_binary(a, k % 3 == 1 ? X_MUL : X_DIV, one, *before);
}

/* Instance k of variable i. Each variable goes through its table in steps of its own, and every
 * eighth instance relates variables to each other. */
static struct expr special(struct arena *a, const struct sampler *s, size_t i, uint32_t k,
                           const struct instance *so_far)
{
    static const uint32_t steps[] = {1, 59, 23, 97, 41, 71, 13, 83};
    size_t n = count_special(s, i), at = k * steps[i % 8] + 7 * i;
    if (s->form[i] == SAMPLE_SYMBOL)
        return s->terms[i % 2 ? 6 : 0]; /* y or x */
    if (s->form[i] == SAMPLE_LITERAL)
        return expr_leaf(a, s->lang, X_SYM, s->variables[i].name);
    if (s->variables[i].kind == DESIGN_INTEGER || s->form[i] == SAMPLE_CONSTANT)
        return level_of(a, s, i, i, k % SMALL_LEVELS);
    if (s->symbolic)
        return s->terms[at % n];
    if (s->n > 1 && k < SIMPLE_INSTANCES)
        return s->reals[(k * (i + 1) + k / SIMPLE_REALS + 2 * i) % SIMPLE_REALS];
    if (i > 0 && k % 8 == 7)
        return related(a, s, &so_far->values[i - 1], k / 8);
    at %= n;
    return at < s->n_reals ? s->reals[at] : s->complexes[at - s->n_reals];
}

void sampler_special(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k)
{
    out->n_symbols = 0;
    for (size_t i = 0; i < s->n; i++)
        out->values[i] = special(a, s, i, k, out);
}

/* ---- designed instances ---- */

/* Gives a symbol its value, and returns it as a number: a binary fraction. */
static struct expr set_symbol(struct instance *out, struct arena *a, const struct sampler *s,
                              const struct expr *symbol, const fmpq_t value)
{
    arf_t x;
    struct design_number number;
    arf_init(x);
    design_number_init(&number);
    arf_set_fmpq(x, value, SYMBOL_BITS, ARF_RND_NEAR);
    arf_get_fmpq(&number.re, x);
    struct expr term = term_of(a, s, &number);
    out->symbols[out->n_symbols++] =
        (struct sample_symbol){symbol->nodes->leaf, arf_get_d(x, ARF_RND_NEAR)};
    design_number_clear(&number);
    arf_clear(x);
    return term;
}

/* A term in x with this value at the place, and any derivatives there:
 * value + b (x - place) + c (x - place)^2. */
static struct expr with_derivatives(struct arena *a, const struct sampler *s, struct expr value,
                                    struct expr place, size_t i, uint32_t k)
{
    struct expr moved = expr_binary(a, X_SUB, s->terms[0], place);
    struct expr square = expr_binary(a, X_MUL, moved, moved);
    struct expr first = expr_binary(a, X_MUL, level_of(a, s, i, s->n + i, k), moved);
    struct expr second = expr_binary(a, X_MUL, level_of(a, s, i, 2 * s->n + i, k), square);
    return expr_binary(a, X_ADD, value, expr_binary(a, X_ADD, first, second));
}

/* The instance at which the variables have these values. */
static void designed(struct instance *out, struct arena *a, const struct sampler *s,
                     const struct design_number *values, uint32_t k)
{
    struct expr place = s->terms[0];
    unsigned symbols = 0;
    out->n_symbols = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->form[i] < SAMPLE_SYMBOL)
            continue;
        bool literal = s->form[i] == SAMPLE_LITERAL;
        out->values[i] = literal ? expr_leaf(a, s->lang, X_SYM, s->variables[i].name)
                                 : s->terms[symbols ? 6 : 0];
        struct expr at = set_symbol(out, a, s, &out->values[i], &values[i].re);
        if (!literal && symbols++ == 0)
            place = at;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->form[i] >= SAMPLE_SYMBOL)
            continue;
        out->values[i] = term_of(a, s, &values[i]);
        if (symbols && s->form[i] == SAMPLE_TERM)
            out->values[i] = with_derivatives(a, s, out->values[i], place, i, k);
    }
}

void sampler_level(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k)
{
    struct design_number values[SAMPLE_MAX_VARIABLES];
    for (size_t i = 0; i < s->n; i++) {
        design_number_init(&values[i]);
        design_level(&values[i], &s->variables[i], (unsigned)i, s->salt, k);
    }
    designed(out, a, s, values, k);
    for (size_t i = 0; i < s->n; i++)
        design_number_clear(&values[i]);
}

size_t sampler_find_cells(struct sampler *s, struct arena *a)
{
    const struct rule *r = s->rule;
    const struct expr sides[] = {r->lhs, r->rhs};
    struct expr *borders = arena_array(a, struct expr, r->n_conditions + 1);
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *c = &r->conditions[i];
        borders[i] = c->predicate == RULE_LESS || c->predicate == RULE_LESS_EQUAL
                         ? expr_binary(a, X_SUB, c->args[0], c->args[1])
                         : c->args[0];
    }
    const struct design_limits limits = {.points = CELL_POINTS, .salt = s->salt, .exact = true};
    design_cells(&s->cells, s->variables, s->n, sides, 2, borders, r->n_conditions, &limits);
    return s->cells.n;
}

void sampler_cell(struct instance *out, struct arena *a, const struct sampler *s, size_t k)
{
    designed(out, a, s, design_point(&s->cells, k), (uint32_t)k);
}

struct binding {
    const struct sampler *sampler;
    const struct instance *values;
};

static bool value_of(struct expr *out, void *arg, const struct expr *leaf)
{
    const struct binding *b = arg;
    for (size_t i = 0; i < b->sampler->n; i++)
        if (expr_node_is(leaf->nodes, b->sampler->variables[i].op,
                         b->sampler->variables[i].name)) {
            *out = b->values->values[i];
            return true;
        }
    return false;
}

struct expr sampler_substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                               const struct instance *values)
{
    return expr_substitute(a, x, value_of, &(struct binding){s, values});
}
