/* Instances: values from the tables, values that the conditions point at, values tied to each other
 * (equal, opposite, reciprocal), random ones. */
#include "ops/rules/sample.h"
#include "base/rng.h"
#include "ops/expr/rational.h"
#include "ops/rules/range.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_REALS = 200,
    MAX_NEAR = 64,
    SIMPLE_REALS = 9,   /* of the special ones: those that make a readable witness */
    SIMPLE_ROUNDS = 24, /* instances of several variables that take their values there */
};

static struct expr *parse_all(struct arena *a, const struct language *lang,
                              const char *const *texts, size_t n)
{
    struct expr *out = arena_array(a, struct expr, n);
    for (size_t i = 0; i < n; i++) {
        struct source_text source = {"<sample>", texts[i], strlen(texts[i])};
        if (expr_parse_infix(&out[i], a, lang, &source, 0, source.len, false, NULL))
            abort(); /* the tables above are wrong */
    }
    return out;
}

/* The numbers that occur in x, each with its opposite and neighbours: where a rule changes. */
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

static void add_reals(struct sampler *s, struct arena *a, const struct rule *r,
                      const struct rule_condition *more, size_t n_more)
{
    s->n_reals = sample_reals_n;
    struct expr *specials = parse_all(a, s->lang, sample_reals, s->n_reals);
    s->reals = arena_array(a, struct expr, MAX_REALS);
    memcpy(s->reals, specials, s->n_reals * sizeof *specials);
    add_neighbours(s, a, &r->lhs);
    add_neighbours(s, a, &r->rhs);
    for (size_t i = 0; i < r->n_conditions + n_more; i++) {
        const struct rule_condition *c =
            i < r->n_conditions ? &r->conditions[i] : &more[i - r->n_conditions];
        for (unsigned k = 0; k < c->n_args; k++)
            add_neighbours(s, a, &c->args[k]);
    }
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

static void add_condition(struct sampler *s, const struct rule_condition *c)
{
    struct sample_variable ignored, *v = find(s, &c->args[0]);
    struct sample_variable *w = c->n_args == 2 ? find(s, &c->args[1]) : NULL;
    if (!v)
        v = &ignored;
    switch (c->predicate) {
    case RULE_POSITIVE:
    case RULE_NONNEGATIVE:
    case RULE_NEGATIVE:
    case RULE_NONPOSITIVE:
    case RULE_REAL: v->real = true; break;
    case RULE_LESS:
    case RULE_LESS_EQUAL:
        v->real = true;
        if (w)
            w->real = true;
        break;
    case RULE_INTEGER:
    case RULE_EVEN:
    case RULE_ODD: v->integer = true; break;
    case RULE_CONSTANT: v->constant = true; break;
    case RULE_SYMBOL: s->symbolic = v->symbol = true; break;
    case RULE_FREE_OF:
    case RULE_CONSTANT_OR_OTHER_SYMBOL: s->symbolic = true; break;
    case RULE_NONZERO:
    case RULE_MAYBE_NONZERO:
    case RULE_N_PREDICATES: break;
    }
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

/* Values that the conditions point at. */
static void add_near(struct sampler *s, struct arena *a, const struct rule *r,
                     const struct rule_condition *more, size_t n_more)
{
    struct rule_condition *all = arena_array(a, struct rule_condition, r->n_conditions + n_more);
    struct range_conditions conditions = {all, r->n_conditions + n_more};
    for (size_t i = 0; i < conditions.n; i++)
        all[i] = i < r->n_conditions ? r->conditions[i] : more[i - r->n_conditions];
    for (size_t i = 0; i < s->n; i++) {
        struct sample_variable *v = &s->variables[i];
        struct expr x = expr_leaf(a, s->lang, X_VAR, v->name);
        const char *numbers[MAX_NEAR];
        struct range range;
        range_of_term(&range, &conditions, &x);
        size_t n = range_numbers(numbers, MAX_NEAR, a, &range);
        n += range_boundaries(numbers + n, MAX_NEAR - n, a, &conditions, v->name);
        v->near = arena_array(a, struct expr, n);
        for (size_t k = 0; k < n; k++)
            v->near[v->n_near++] = expr_leaf(a, s->lang, X_NUM, numbers[k]);
    }
}

enum err_code sampler_init(struct sampler *s, struct arena *a, const struct rule *r,
                           const struct rule_condition *more, size_t n_more, uint64_t seed,
                           struct err *e)
{
    *s = (struct sampler){.lang = r->lhs.lang, .seed = seed};
    if (err_up(e, add_variables(s, &r->lhs, e)) || err_up(e, add_variables(s, &r->rhs, e)))
        return ERR_LIMIT;
    for (size_t i = 0; i < r->n_conditions; i++)
        add_condition(s, &r->conditions[i]);
    for (size_t i = 0; i < n_more; i++)
        add_condition(s, &more[i]);
    add_derivatives(s, &r->lhs);
    add_derivatives(s, &r->rhs);
    add_reals(s, a, r, more, n_more);
    s->n_complexes = sample_complexes_n;
    s->n_terms = sample_terms_n;
    s->complexes = parse_all(a, s->lang, sample_complexes, s->n_complexes);
    s->terms = parse_all(a, s->lang, sample_terms, s->n_terms);
    add_near(s, a, r, more, n_more);
    return OK;
}

/* How many special values a variable has. */
static size_t count_special(const struct sampler *s, const struct sample_variable *v)
{
    return s->n_reals + v->n_near + (v->real ? 0 : s->n_complexes);
}

uint32_t sampler_rounds(const struct sampler *s)
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

/* A rational of random size, exact in binary. */
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

/* A value tied to the one before: equal, opposite or reciprocal. */
static bool draw_related(struct expr *out, struct arena *a, const struct sampler *s,
                         const struct expr *before, uint64_t u)
{
    *out = *before;
    if (before->nodes[0].op != X_NUM || u % 3 == 0)
        return true;
    const char *v = before->nodes[0].leaf;
    const char *text = u % 3 == 1 ? number_combine(a, '-', "0", v, EXPR_MAX_DIGITS)
                                  : number_combine(a, '/', "1", v, EXPR_MAX_DIGITS);
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
        return number(a, s, sample_integers[u % sample_integers_n]);
    if (v->constant)
        return draw_rational(a, s, u);
    if (s->symbolic)
        return s->terms[s->n == 1 ? k % s->n_terms : u % s->n_terms];
    if (s->n == 1 && k < count_special(s, v))
        return draw_special(s, v, k);
    if (k < SIMPLE_ROUNDS)
        return s->reals[w % SIMPLE_REALS];
    if (i > 0 && w % 8 == 0 && draw_related(&related, a, s, &so_far->values[i - 1], w >> 3))
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

static struct expr substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                              uint32_t at, const struct instance *values)
{
    const struct expr_node *node = &x->nodes[at];
    if (node->op == X_VAR)
        for (size_t i = 0; i < s->n; i++)
            if (strcmp(s->variables[i].name, node->leaf) == 0)
                return values->values[i];
    if (node->arity == 0)
        return expr_sub(x, at);
    struct expr *children = arena_array(a, struct expr, node->arity);
    uint32_t child = at + 1;
    for (unsigned i = 0; i < node->arity; i++, child += x->nodes[child].size)
        children[i] = substitute(a, s, x, child, values);
    return expr_apply(a, s->lang, node->op, children, node->arity);
}

struct expr sampler_substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                               const struct instance *values)
{
    return substitute(a, s, x, 0, values);
}
