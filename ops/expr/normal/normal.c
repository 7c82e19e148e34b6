/* Equality of elements: by normal form, by constancy, and by pieces of a domain; see normal.h. */
#include "ops/expr/normal/normal.h"

#include "ops/expr/equality/algebraic.h"
#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_sign.h"
#include "ops/expr/normal/normal_translate.h"
#include "ops/expr/own/own.h"
#include "ops/expr/rational.h"

#include <flint/fmpq.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 600, MAX_SUMS = 4000, MAX_PIECES = 4 };

const char *const normal_ways[NORMAL_WAYS] = {"expansion", "exponentials", "exact numbers",
                                              "derivatives"};

uint32_t normal_way_number(const char *way)
{
    uint32_t i = 0;
    while (i < NORMAL_WAYS && strcmp(way, normal_ways[i]) != 0)
        i++;
    return i;
}

static const char *way_of(const struct field *f)
{
    bool numbers = false, functions = false, variables = false;
    for (size_t i = 1; i < f->n; i++) {
        variables = variables || f->g[i].kind == GENERATOR_VARIABLE;
        functions = functions || f->g[i].kind > GENERATOR_CONSTANT;
        numbers = numbers || f->g[i].kind == GENERATOR_CONSTANT;
    }
    return variables && functions ? "exponentials" : numbers ? "exact numbers" : "expansion";
}

/* A number in the domain of a real variable. */
static const char *number_within(struct arena *a, const struct generator *g)
{
    if (g->low && g->high)
        return number_combine(a, '/', number_combine(a, '+', g->low, g->high, EXPR_MAX_DIGITS), "2",
                              EXPR_MAX_DIGITS);
    return g->low    ? number_combine(a, '+', g->low, "1", EXPR_MAX_DIGITS)
           : g->high ? number_combine(a, '-', g->high, "1", EXPR_MAX_DIGITS)
                     : "1";
}

static bool equal_terms(const char **way, const struct expr *x, const struct expr *y,
                        const struct ball_domain *domains, size_t n_domains);

/* Whether a difference is independent of some real variable, and zero at one value of it. */
static bool equal_by_constancy(struct field *f, const element *difference, const struct expr *x,
                               const struct expr *y)
{
    if (!difference || expr_has(x, X_D, NULL) || expr_has(y, X_D, NULL) ||
        !sign_is_meromorphic(f, difference))
        return false;
    for (size_t i = 1, n = f->n; i < n; i++) {
        const struct generator g = f->g[i];
        if (g.kind != GENERATOR_VARIABLE || !g.real || g.integer ||
            !field_is_zero(f, normal_derive(f, difference, i)))
            continue;
        struct arena a = {0};
        const char *way;
        struct expr value = expr_leaf(&a, x->lang, X_NUM, number_within(&a, &g));
        struct expr left = expr_replace(&a, x, g.variable->op, g.variable->leaf, &value);
        struct expr right = expr_replace(&a, y, g.variable->op, g.variable->leaf, &value);
        bool equal = equal_terms(&way, &left, &right, f->domains, f->n_domains);
        arena_free(&a);
        return equal;
    }
    return false;
}

static bool equal_terms(const char **way, const struct expr *x, const struct expr *y,
                        const struct ball_domain *domains, size_t n_domains)
{
    struct field *f = field_open(x->lang->n_ops < y->lang->n_ops ? y->lang : x->lang, domains,
                                 n_domains, FIELD_WORK);
    const element *left = normal_translate(f, x->nodes),
                  *right = left ? normal_translate(f, y->nodes) : NULL;
    bool equal = field_equal(f, left, right);
    *way = way_of(f);
    if (!equal && right && equal_by_constancy(f, field_sub(f, left, right), x, y)) {
        *way = "derivatives";
        equal = true;
    }
    field_close(f);
    return equal;
}

/* ---- pieces of a domain ---- */

/* The value of the variable at which a linear term equals `value`; NULL if it is not linear. */
static const char *place_of(struct arena *a, const struct expr *x, uint32_t at, slong value,
                            const struct ball_domain *domain)
{
    struct expr term = expr_sub(x, at);
    struct field *f = field_open(x->lang, domain, 1, FIELD_WORK);
    const element *t = normal_translate(f, term.nodes), *zero = NULL;
    t = field_sub(f, t, field_rational(f, value, 1));
    bool ours = t && f->n == 2 && f->g[1].kind == GENERATOR_VARIABLE &&
                strcmp(f->g[1].variable->leaf, domain->name + (*domain->name == '?')) == 0;
    if (ours && fmpz_mpoly_degree_si(fmpz_mpoly_q_numref(t), 1, f->ring) == 1) {
        const element *slope = normal_derive(f, t, 1);
        zero = field_sub(f, field_generator(f, 1), field_div(f, t, slope));
    }
    const char *text = NULL;
    fmpq_t q;
    fmpq_init(q);
    if (field_get_rational(q, f, zero)) {
        char *number = fmpq_get_str(NULL, 10, q);
        text = arena_strdup(a, number);
        flint_free(number);
    }
    fmpq_clear(q);
    field_close(f);
    return text;
}

/* The points at which linear arguments of absolute values are zero or those of acosh are 1, and 0.
 */
static size_t find_breaks(const char **out, struct arena *a, const struct expr *x,
                          const struct ball_domain *domain, size_t n)
{
    for (uint32_t i = 0; i <= x->n && n < MAX_PIECES - 1; i++) {
        uint16_t op = i < x->n ? x->nodes[i].op : X_NUM;
        const char *at = i == x->n ? "0"
                         : op == X_ABS || op == X_ACOSH
                             ? place_of(a, x, i + 1, op == X_ACOSH, domain)
                             : NULL;
        bool inside = at && (!domain->low || number_compare(domain->low, at) < 0) &&
                      (!domain->high || number_compare(at, domain->high) < 0) &&
                      (number_sign(at) > 0 || strcmp(domain->domain, "positive") != 0);
        for (size_t k = 0; k < n; k++)
            inside = inside && number_compare(out[k], at) != 0;
        if (inside)
            out[n++] = at;
    }
    return n;
}

/* The given domains, and those of symbols without one. */
static struct ball_domain *list_domains(size_t *n, struct arena *a, const struct expr *x,
                                        const struct ball_domain *given, size_t n_given)
{
    struct ball_domain *all = arena_array(a, struct ball_domain, n_given + x->n + 1);
    if (n_given)
        memcpy(all, given, n_given * sizeof *all);
    *n = n_given;
    for (uint32_t i = 0; i < x->n; i++) {
        bool known = x->nodes[i].op != X_SYM || lang_is_constant(x->nodes[i].leaf);
        for (size_t k = 0; k < *n && !known; k++)
            known = strcmp(all[k].name, x->nodes[i].leaf) == 0;
        if (!known)
            all[(*n)++] = (struct ball_domain){x->nodes[i].leaf, "positive", NULL, NULL};
    }
    return all;
}

static int compare_numbers(const void *a, const void *b)
{
    return number_compare(*(const char *const *)a, *(const char *const *)b);
}

static bool equal_by_pieces(const char **way, const struct expr *x, const struct expr *y,
                            struct ball_domain *domains, size_t n_domains, size_t from)
{
    struct arena a = {0};
    bool equal = false;
    for (size_t i = from; i < n_domains && !equal; i++) {
        struct ball_domain whole = domains[i];
        const char *ends[MAX_PIECES + 1] = {0};
        size_t n = 0;
        if (strcmp(whole.domain, "real") != 0 && strcmp(whole.domain, "positive") != 0)
            continue;
        n = find_breaks(ends + 1, &a, x, &whole, n);
        n = find_breaks(ends + 1, &a, y, &whole, n);
        if (!n)
            continue;
        qsort(ends + 1, n, sizeof *ends, compare_numbers);
        ends[0] = whole.low;
        ends[n + 1] = whole.high;
        equal = true;
        for (size_t k = 0; k <= n && equal; k++) {
            bool positive =
                (ends[k] && number_sign(ends[k]) >= 0) || strcmp(whole.domain, "positive") == 0;
            domains[i] = (struct ball_domain){whole.name, positive ? "positive" : "real", ends[k],
                                              ends[k + 1]};
            equal = equal_terms(way, x, y, domains, n_domains) ||
                    equal_by_pieces(way, x, y, domains, n_domains, i + 1);
        }
        domains[i] = whole;
    }
    arena_free(&a);
    return equal;
}

/* ---- substitutions that make roots rational ---- */

/* A function of ?t that maps onto a domain: with u = t^2, (u - 1/u)/2 makes sqrt(x^2 + 1) rational,
 * (u + 1/u)/2 sqrt(x^2 - 1) and sqrt((x + 1)/2), 2 t/(1 + u) sqrt(1 - x^2). */
static const char *rational_of(struct ball_domain *d)
{
    bool real = strcmp(d->domain, "real") == 0, positive = strcmp(d->domain, "positive") == 0;
    const char *low = d->low ? d->low : positive ? "0" : NULL, *high = d->high;
    if (!real && !positive)
        return NULL;
    if (low && strcmp(low, "1") == 0 && !high)
        return "/ + pow ?t 2 / 1 pow ?t 2 2";
    if (high && strcmp(high, "1") == 0 && low && (strcmp(low, "0") == 0 || strcmp(low, "-1") == 0))
        return "/ * 2 ?t + 1 pow ?t 2";
    if (high || (low && strcmp(low, "0") != 0))
        return NULL;
    d->low = low ? "1" : "0";
    d->domain = "positive";
    return "/ - pow ?t 2 / 1 pow ?t 2 2";
}

/* Substitutes the value, a function of ?t, for the variable in x, and names its ?t after the
 * variable. */
static struct expr substitute(struct arena *a, const struct expr *x, const struct ball_domain *d,
                              const char *value)
{
    bool pattern = *d->name == '?';
    uint16_t op = pattern ? X_VAR : X_SYM;
    struct expr t = expr_leaf(a, x->lang, op, d->name + pattern), by;
    if (expr_from_prefix(&by, a, x->lang, value, NULL))
        abort(); /* a bug in rational_of */
    by = expr_replace(a, &by, X_VAR, "t", &t);
    return expr_replace(a, x, op, d->name + pattern, &by);
}

/* Substitutes for one variable after the other; earlier substitutions are kept. */
static bool equal_by_rational(const char **way, struct arena *a, struct expr x, struct expr y,
                              struct ball_domain *domains, size_t n)
{
    bool roots = false;
    for (uint32_t i = 0; i < x.n + y.n; i++) {
        uint16_t op = i < x.n ? x.nodes[i].op : y.nodes[i - x.n].op;
        roots = roots || op == X_SQRT || op >= X_ASIN;
    }
    if (!roots || expr_has(&x, X_D, NULL) || expr_has(&y, X_D, NULL))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct ball_domain before = domains[i];
        const char *value = rational_of(&domains[i]);
        if (!value)
            continue;
        x = substitute(a, &x, &before, value);
        y = substitute(a, &y, &before, value);
        if (x.n + y.n > MAX_NODES)
            return false;
        if (equal_terms(way, &x, &y, domains, n))
            return true;
    }
    return false;
}

/* ---- sums ---- */

/* A summand of x - y with its sign, and a key that does not depend on the order of operands. */
struct summand {
    struct expr term;
    const char *key;
    bool negative, gone;
};

static size_t operands(const char **keys, struct arena *a, const struct expr *x, uint16_t op);

static const char *key_of(struct arena *a, const struct expr *x)
{
    const struct expr_node *node = &x->nodes[0];
    const char **keys = arena_array(a, const char *, x->n), *sorted = "";
    if (node->leaf)
        return arena_printf(a, "%s%s", node->op == X_VAR ? "?" : "", node->leaf);
    bool commutes = node->op == X_ADD || node->op == X_MUL;
    size_t n = operands(keys, a, x, commutes ? node->op : UINT16_MAX);
    if (commutes)
        qsort(keys, n, sizeof *keys, text_compare);
    for (size_t i = 0; i < n; i++)
        sorted = arena_printf(a, "%s%s,", sorted, keys[i]);
    return arena_printf(a, "%s(%s)", x->lang->ops[node->op].name, sorted);
}

/* The keys of the operands of x, flattening nested applications of the same operator. */
static size_t operands(const char **keys, struct arena *a, const struct expr *x, uint16_t op)
{
    size_t n = 0;
    for (uint32_t at = 1; at < x->n; at += x->nodes[at].size) {
        struct expr part = expr_sub(x, at);
        if (part.nodes[0].op == op)
            n += operands(keys + n, a, &part, op);
        else
            keys[n++] = key_of(a, &part);
    }
    return n;
}

static void add_summands(struct summand *all, size_t *n, struct arena *a, const struct expr *x,
                         bool negative)
{
    uint16_t op = x->nodes[0].op;
    if (op != X_ADD && op != X_SUB) {
        all[(*n)++] = (struct summand){*x, key_of(a, x), negative, false};
        return;
    }
    struct expr left = expr_sub(x, 1), right = expr_sub(x, 1 + x->nodes[1].size);
    add_summands(all, n, a, &left, negative);
    add_summands(all, n, a, &right, negative != (op == X_SUB));
}

/* The sum of the remaining summands with this sign. */
static struct expr sum_of(struct arena *a, const struct expr *like, const struct summand *all,
                          size_t n, bool negative)
{
    struct expr sum = expr_leaf(a, like->lang, X_NUM, "0");
    for (size_t i = 0, terms = 0; i < n; i++)
        if (!all[i].gone && all[i].negative == negative) {
            struct expr args[2] = {sum, all[i].term};
            sum = terms++ ? expr_apply(a, like->lang, X_ADD, args, 2) : all[i].term;
        }
    return sum;
}

/* Cancels equal summands of any number; returns false if there are none. */
static bool cancel_summands(struct expr *x, struct expr *y, struct arena *a)
{
    struct summand *all = arena_array(a, struct summand, x->n + y->n);
    size_t n = 0, gone = 0;
    add_summands(all, &n, a, x, false);
    add_summands(all, &n, a, y, true);
    for (size_t i = 0; i < n && n > 2; i++)
        for (size_t k = i + 1; k < n && !all[i].gone; k++)
            if (!all[k].gone && all[i].negative != all[k].negative &&
                strcmp(all[i].key, all[k].key) == 0) {
                all[i].gone = all[k].gone = true;
                gone++;
            }
    struct expr left = sum_of(a, x, all, n, false), right = sum_of(a, x, all, n, true);
    *x = left;
    *y = right;
    return gone > 0;
}

static bool equal_short(const char **way, struct arena *a, const struct expr *x,
                        const struct expr *y, const struct ball_domain *domains, size_t n_domains)
{
    if (equal_terms(way, x, y, domains, n_domains))
        return true;
    if (algebraic_equal(x, y)) {
        *way = "exact numbers";
        return true;
    }
    struct ball_domain *all = list_domains(&n_domains, a, x, domains, n_domains);
    return equal_by_pieces(way, x, y, all, n_domains, 0) ||
           equal_by_rational(way, a, *x, *y, all, n_domains);
}

bool normal_equal(const char **way, const struct expr *x, const struct expr *y,
                  const struct ball_domain *domains, size_t n_domains)
{
    if (x->n + y->n > MAX_SUMS || !expr_is_interpreted(x) || !expr_is_interpreted(y))
        return false;
    struct arena a = {0};
    struct expr left, right;
    if (!own_expand(&left, &a, x) || !own_expand(&right, &a, y)) {
        arena_free(&a);
        return false;
    }
    x = &(struct expr){left.lang, left.nodes, left.n};
    y = &(struct expr){right.lang, right.nodes, right.n};
    bool equal = x->n + y->n <= MAX_NODES && equal_short(way, &a, x, y, domains, n_domains);
    if (!equal && cancel_summands(&left, &right, &a) && left.n + right.n <= MAX_NODES)
        equal = equal_short(way, &a, &left, &right, domains, n_domains);
    arena_free(&a);
    return equal;
}

/* Terms of operators without a meaning, as variables with the values that are stated of them. */
struct unknowns {
    struct arena *a;
    const struct ball_domain *given;
    size_t n_given, n, size;
    struct expr *term;
    struct ball_domain *domain;
    bool failed; /* an argument is not shown to have values */
};

static bool is_of_reals(const struct unknowns *u, const struct expr *x)
{
    for (size_t i = 0; i < u->n_given; i++)
        if (strcmp(u->given[i].domain, "complex") == 0 && expr_has(x, X_SYM, u->given[i].name))
            return false;
    return true;
}

static struct expr as_variable(struct unknowns *u, const struct expr *x)
{
    size_t k = 0;
    while (k < u->n && !expr_equal(&u->term[k], x))
        k++;
    const char *name = arena_printf(u->a, "#%zu", k); /* no name of a user's */
    if (k < u->n)
        return expr_leaf(u->a, x->lang, X_SYM, name);
    const struct own_operator *own = x->lang->ops[x->nodes->op].own;
    unsigned stated = own && is_of_reals(u, x) ? own->n_values : 0;
    u->term[u->n++] = *x;
    for (unsigned i = 0; i < stated; i++) {
        u->domain[u->size] = own->values[i];
        u->domain[u->size++].name = name;
    }
    if (!stated)
        u->domain[u->size++] = (struct ball_domain){.name = name, .domain = "complex"};
    return expr_leaf(u->a, x->lang, X_SYM, name);
}

static struct expr without_unknowns(struct unknowns *u, const struct expr *x)
{
    struct expr children[LANG_MAX_ARITY];
    unsigned arity = x->nodes->arity;
    bool known = x->nodes->op < X_ADD || x->lang->ops[x->nodes->op].interpreted;
    if (arity == 0 && known)
        return *x;
    for (unsigned k = 0, at = 1; k < arity; at += x->nodes[at].size, k++) {
        struct expr child = expr_sub(x, at);
        if (!known)
            u->failed = u->failed || !normal_has_values(&child, u->given, u->n_given);
        else
            children[k] = without_unknowns(u, &child);
    }
    return known ? expr_apply(u->a, x->lang, x->nodes->op, children, arity) : as_variable(u, x);
}

bool normal_has_values(const struct expr *x, const struct ball_domain *domains, size_t n_domains)
{
    if (x->nodes->op == X_ADD || x->nodes->op == X_SUB) {
        struct expr left = expr_child(x, 0), right = expr_child(x, 1);
        return normal_has_values(&left, domains, n_domains) &&
               normal_has_values(&right, domains, n_domains);
    }
    if (x->n > MAX_NODES)
        return false;
    struct arena a = {0};
    struct unknowns u = {.a = &a, .given = domains, .n_given = n_domains, .size = n_domains};
    u.term = arena_array(&a, struct expr, x->n);
    u.domain = arena_array(&a, struct ball_domain, n_domains + (size_t)OWN_MAX_VALUES * x->n);
    if (n_domains)
        memcpy(u.domain, domains, n_domains * sizeof *domains);
    struct expr known = without_unknowns(&u, x), expanded;
    const char *way;
    bool has = !u.failed && own_expand(&expanded, &a, &known) && expanded.n <= MAX_NODES &&
               equal_short(&way, &a, &expanded, &expanded, u.domain, u.size);
    arena_free(&a);
    return has;
}
