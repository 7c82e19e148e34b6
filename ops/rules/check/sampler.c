/* Instances use values from the tables below, values near the bounds that conditions set, values
 * related to each other (equal, opposite, reciprocal), and random ones. The tables contain the
 * values at which rules fail: zero and one, values on branch cuts and on both sides of them, beyond
 * the radius of a series, multiples of pi, the borders of principal values, very large and very
 * small values. The simplest come first, since they make the most readable witnesses. */
#include "ops/rules/check/sampler.h"
#include "base/rng.h"
#include "ops/expr/rational.h"
#include "ops/rules/check/range.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_REALS = 400,
    MAX_VALUES = 10, /* rationals taken from a rule */
    MAX_NEAR = 64,
    SIMPLE_REALS = 9,      /* special reals that make a readable witness */
    SIMPLE_INSTANCES = 24, /* instances that use only these */
};

/* ---- initial values, in infix, separated by blanks; simplest first ---- */

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
static const char *const integers[] = {"0",  "1", "-1", "2", "-2", "3",
                                       "-3", "4", "-4", "5", "7",  "-6"};
enum { N_INTEGERS = sizeof integers / sizeof *integers };

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

/* The numbers in x, each with its opposite and neighbours: a rule may change there. */
static void add_neighbours(struct sampler *s, struct arena *a, const struct expr *x)
{
    static const char *const steps[] = {"0", "1/8", "-1/8"};
    for (uint32_t i = 0; i < x->n && s->n_reals + 4 <= MAX_REALS; i++) {
        if (x->nodes[i].op != X_NUM)
            continue;
        const char *v = x->nodes[i].leaf, *texts[4];
        for (int k = 0; k < 3; k++)
            texts[k] = number_combine(a, '+', v, steps[k], EXPR_MAX_DIGITS);
        texts[3] = number_combine(a, '-', "0", v, EXPR_MAX_DIGITS);
        for (int k = 0; k < 4; k++)
            if (texts[k])
                s->reals[s->n_reals++] = expr_leaf(a, s->lang, X_NUM, texts[k]);
    }
}

static void add_values(const char **values, size_t *n, struct arena *a, const struct expr *x)
{
    for (uint32_t i = 0; i < x->n && *n < MAX_VALUES;) {
        struct expr term = expr_sub(x, i);
        const char *value = number_of_term(a, &term, EXPR_MAX_DIGITS);
        bool known = false;
        for (size_t k = 0; value && k < *n; k++)
            known = known || strcmp(values[k], value) == 0;
        if (value && !known)
            values[(*n)++] = value;
        i += value ? x->nodes[i].size : 1;
    }
}

/* Adds values with |?a - c| < w for two rationals of the rule, which other samples would miss. */
static void add_pieces(struct sampler *s, struct arena *a, const struct rule *r)
{
    const char *values[MAX_VALUES];
    size_t n = 0;
    add_values(values, &n, a, &r->lhs);
    add_values(values, &n, a, &r->rhs);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            const char *half = number_combine(a, '/', values[k], "2", EXPR_MAX_DIGITS);
            for (int sign = 0; sign < 2 && half && s->n_reals < MAX_REALS; sign++) {
                const char *x =
                    number_combine(a, sign ? '+' : '-', values[i], half, EXPR_MAX_DIGITS);
                if (x)
                    s->reals[s->n_reals++] = expr_leaf(a, s->lang, X_NUM, x);
            }
        }
}

static void add_reals(struct sampler *s, struct arena *a, const struct rule *r)
{
    struct expr *specials = parse_all(&s->n_reals, a, s->lang, special_reals);
    s->reals = arena_array(a, struct expr, MAX_REALS);
    memcpy(s->reals, specials, s->n_reals * sizeof *specials);
    add_neighbours(s, a, &r->lhs);
    add_neighbours(s, a, &r->rhs);
    for (size_t i = 0; i < r->n_conditions; i++)
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            add_neighbours(s, a, &r->conditions[i].args[k]);
    add_pieces(s, a, r);
}

static enum err_code add_variables(struct sampler *s, const struct expr *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *v = &x->nodes[i];
        s->symbolic = s->symbolic || v->op == X_D;
        if (v->op != X_VAR)
            continue;
        size_t k = 0;
        while (k < s->n && strcmp(s->variables[k].name, v->leaf) != 0)
            k++;
        if (k == SAMPLE_MAX_VARIABLES)
            return err_fail(e, ERR_LIMIT, "a rule of more than %d variables cannot be checked",
                            SAMPLE_MAX_VARIABLES);
        if (k == s->n)
            s->variables[s->n++] = (struct sample_variable){.name = v->leaf};
    }
    return OK;
}

static struct sample_variable *find(struct sampler *s, const struct expr *x)
{
    if (x->nodes[0].op == X_VAR)
        for (size_t i = 0; i < s->n; i++)
            if (strcmp(s->variables[i].name, x->nodes[0].leaf) == 0)
                return &s->variables[i];
    return NULL;
}

/* The variable of a derivative is a symbol. */
static void add_derivatives(struct sampler *s, const struct expr *x)
{
    for (uint32_t i = 0; i + 1 < x->n; i++) {
        struct expr variable = expr_sub(x, i + 1);
        struct sample_variable *v = x->nodes[i].op == X_D ? find(s, &variable) : NULL;
        if (v)
            v->symbol = true;
    }
}

/* Collects what conditions demand of a variable, and numbers in its range and at its borders. */
static void add_ranges(struct sampler *s, struct arena *a, const struct rule *r)
{
    for (size_t i = 0; i < s->n; i++) {
        struct sample_variable *v = &s->variables[i];
        struct expr x = expr_leaf(a, s->lang, X_VAR, v->name);
        const char *numbers[MAX_NEAR];
        struct range range;
        range_of_term(&range, a, r, &x);
        v->real = range.real;
        v->integer = range.integer;
        v->constant = range.constant;
        v->symbol = v->symbol || range.symbol;
        size_t n = range_numbers(numbers, MAX_NEAR, a, &range);
        n += range_borders(numbers + n, MAX_NEAR - n, a, r, v->name);
        v->near = arena_array(a, struct expr, n);
        for (size_t k = 0; k < n; k++)
            v->near[v->n_near++] = expr_leaf(a, s->lang, X_NUM, numbers[k]);
    }
}

/* Adds borders for conditions such as less(?a*?b, 101/100). */
static void add_borders(struct sampler *s, struct arena *a, const struct rule *r)
{
    static const char *const factors[] = {"9999/10000", "9999999/10000000",
                                          "9999999999999/10000000000000", "10001/10000"};
    s->borders = arena_array(a, struct expr, 2 * r->n_conditions * 4 + 1);
    for (size_t i = 0; i < r->n_conditions; i++)
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            for (int j = 0; j < 4 && r->conditions[i].args[k].nodes[0].op == X_NUM; j++) {
                const char *x = number_combine(a, '*', r->conditions[i].args[k].nodes[0].leaf,
                                               factors[j], EXPR_MAX_DIGITS);
                if (x)
                    s->borders[s->n_borders++] = expr_leaf(a, s->lang, X_NUM, x);
            }
}

enum err_code sampler_init(struct sampler *s, struct arena *a, const struct rule *r, uint64_t seed,
                           struct err *e)
{
    enum err_code code;
    *s = (struct sampler){.lang = r->lhs.lang, .seed = seed};
    if ((code = add_variables(s, &r->lhs, e)) || (code = add_variables(s, &r->rhs, e)))
        return err_up(e, code);
    for (size_t i = 0; i < r->n_conditions; i++) {
        enum rule_predicate p = r->conditions[i].predicate;
        s->symbolic = s->symbolic || p == RULE_SYMBOL || p == RULE_FREE_OF ||
                      p == RULE_CONSTANT_OR_OTHER_SYMBOL;
    }
    add_derivatives(s, &r->lhs);
    add_derivatives(s, &r->rhs);
    add_reals(s, a, r);
    s->complexes = parse_all(&s->n_complexes, a, s->lang, special_complexes);
    s->terms = parse_all(&s->n_terms, a, s->lang, special_terms);
    add_ranges(s, a, r);
    add_borders(s, a, r);
    return OK;
}

/* The number of special values of a variable. */
static size_t count_special(const struct sampler *s, const struct sample_variable *v)
{
    return s->n_reals + v->n_near + (v->real ? 0 : s->n_complexes);
}

uint32_t sampler_min_instances(const struct sampler *s)
{
    if (s->n == 0)
        return 1;
    size_t most = s->n_terms;
    for (size_t i = 0; !s->symbolic && i < s->n; i++) {
        size_t count = count_special(s, &s->variables[i]);
        most = i == 0 || count > most ? count : most;
    }
    return (uint32_t)(s->n == 1 ? most : 2 * most);
}

static struct expr number(struct arena *a, const struct sampler *s, const char *text)
{
    return expr_leaf(a, s->lang, X_NUM, number_read(a, text, strlen(text)));
}

/* A rational of random magnitude, exact in binary. */
static struct expr draw_rational(struct arena *a, const struct sampler *s, uint64_t u)
{
    int numerator = (int)(u % 255) - 127;
    int denominator = 1 << (2 + (u >> 32) % 8);
    return number(a, s, arena_printf(a, "%d/%d", numerator ? numerator : 1, denominator));
}

static struct expr draw_complex(struct arena *a, const struct sampler *s, uint64_t u)
{
    struct expr minus_one = number(a, s, "-1");
    struct expr im[2] = {draw_rational(a, s, rng_mix(u)),
                         expr_apply(a, s->lang, X_SQRT, &minus_one, 1)};
    struct expr parts[2] = {draw_rational(a, s, u), expr_apply(a, s->lang, X_MUL, im, 2)};
    return expr_apply(a, s->lang, X_ADD, parts, 2);
}

/* Draws a value related to the previous one: equal, opposite, reciprocal, or with a special sum or
 * product. */
static bool draw_related(struct expr *out, struct arena *a, const struct sampler *s,
                         const struct expr *before, uint64_t u)
{
    *out = *before;
    if (before->nodes[0].op != X_NUM || u % 5 == 0)
        return true;
    const struct expr *special = s->n_borders && u >> 7 & 1 ? &s->borders[(u >> 8) % s->n_borders]
                                                            : &s->reals[(u >> 8) % s->n_reals];
    const char *v = before->nodes[0].leaf, *target = u % 5 < 3 ? NULL
                                                     : special->nodes[0].op == X_NUM
                                                         ? special->nodes[0].leaf
                                                         : "1";
    const char *text = u % 2 ? number_combine(a, '-', target ? target : "0", v, EXPR_MAX_DIGITS)
                             : number_combine(a, '/', target ? target : "1", v, EXPR_MAX_DIGITS);
    if (text)
        *out = expr_leaf(a, s->lang, X_NUM, text);
    return text != NULL;
}

static struct expr draw_special(const struct sampler *s, const struct sample_variable *v,
                                uint64_t i)
{
    i %= count_special(s, v);
    if (i < s->n_reals)
        return s->reals[i];
    i -= s->n_reals;
    return i < v->n_near ? v->near[i] : s->complexes[i - v->n_near];
}

static struct expr draw_value(struct arena *a, const struct sampler *s, size_t i, uint32_t k,
                              const struct instance *so_far)
{
    const struct sample_variable *v = &s->variables[i];
    uint64_t u = rng_at(s->seed, i, k), w = rng_mix(u);
    struct expr related;
    if (v->symbol)
        return s->terms[u % 4 == 3 ? 6 : 0]; /* y or x */
    if (v->integer)
        return number(a, s, integers[u % N_INTEGERS]);
    if (v->constant)
        return draw_rational(a, s, u);
    if (s->symbolic)
        return s->terms[s->n == 1 ? k % s->n_terms : u % s->n_terms];
    if (s->n == 1 && k < count_special(s, v))
        return draw_special(s, v, k);
    if (k < SIMPLE_INSTANCES)
        return s->reals[w % SIMPLE_REALS];
    if (i > 0 && (w % 8 == 0 || (s->n_borders && w % 8 == 1)) &&
        draw_related(&related, a, s, &so_far->values[i - 1], w >> 3))
        return related;
    if (w % 8 < 4)
        return v->n_near && w % 16 < 4 ? v->near[u % v->n_near] : draw_special(s, v, u);
    return v->real || w % 8 < 6 ? draw_rational(a, s, u) : draw_complex(a, s, u);
}

void sampler_draw(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k)
{
    for (size_t i = 0; i < s->n; i++)
        out->values[i] = draw_value(a, s, i, k, out);
}

struct binding {
    const struct sampler *sampler;
    const struct instance *values;
};

static bool value_of(struct expr *out, void *arg, const struct expr *leaf)
{
    const struct binding *b = arg;
    struct sample_variable *v = find((struct sampler *)b->sampler, leaf);
    if (v)
        *out = b->values->values[v - b->sampler->variables];
    return v != NULL;
}

struct expr sampler_substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                               const struct instance *values)
{
    return expr_substitute(a, x, value_of, &(struct binding){s, values});
}
