/* Facts: interning, conjunction, leaves, applications; see fact.h. */
#include "ops/egraph/facts/fact.h"

#include "base/buf.h"
#include "base/rng.h"
#include "ops/expr/own/own.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(sizeof(struct fact) == 32, "no padding");

void facts_init(struct facts *t, const struct language *lang)
{
    *t = (struct facts){.lang = lang};
    t->memo = must_calloc((size_t)2 << FACT_MEMO_BITS, sizeof *t->memo);
}

void facts_free(struct facts *t)
{
    constant_free(&t->constants);
    free(t->items);
    map64_free(&t->by_hash);
    free(t->answers);
    free(t->memo);
    *t = (struct facts){0};
}

void facts_remember(struct facts *t, uint32_t op, uint32_t a, uint32_t b, uint32_t value)
{
    struct fact_memo *m = facts_memo(t, op, a, b);
    m[1] = m[0];
    m[0] = (struct fact_memo){a, b, op, value};
}

/* Adds immediate consequences. Monotone, so that the facts of a graph do not depend on the order in
 * which they were found. */
static void normalize(struct fact *f, const struct constants *numbers)
{
    if (f->constant != NO_CONSTANT) {
        double lo, hi;
        constant_bounds(&lo, &hi, numbers, f->constant);
        bool nonzero = constant_sign(numbers, f->constant) != 0;
        f->vars = 0;
        f->flags = (uint16_t)(FACT_REAL | (nonzero ? FACT_NONZERO : 0) |
                              (constant_is_integer(numbers, f->constant) ? FACT_INTEGER : 0));
        f->degree = nonzero ? 0 : FACT_NO_DEGREE;
        fact_set_interval(f, interval_make(lo, hi, lo != hi, lo != hi));
        return;
    }
    if (f->degree != FACT_NO_DEGREE)
        f->flags |= f->degree ? FACT_VARIES : FACT_NONZERO;
    if (f->flags & FACT_VARIES)
        f->flags |= FACT_NONZERO;
    if (!(f->flags & FACT_REAL)) {
        f->lo = f->hi = 0;
        f->flags &= (uint16_t) ~(FACT_LO_OPEN | FACT_HI_OPEN);
        return;
    }
    struct interval v = interval_coarsen(fact_interval(f));
    if (f->flags & FACT_NONZERO) {
        v.lo_open |= v.lo == 0;
        v.hi_open |= v.hi == 0;
    }
    if (f->flags & FACT_VARIES) { /* ends are only taken on nowhere dense sets */
        v.lo_open = v.hi_open = true;
    }
    fact_set_interval(f, v);
    if (!interval_has_zero(v))
        f->flags |= FACT_NONZERO;
}

static uint64_t hash_fact(const struct fact *f)
{
    uint64_t w[4], h = 0;
    memcpy(w, f, sizeof w);
    for (int i = 0; i < 4; i++)
        h = rng_mix(h ^ w[i]);
    return h;
}

uint32_t facts_intern(struct facts *t, struct fact f)
{
    normalize(&f, &t->constants);
    uint64_t h = hash_fact(&f);
    for (uint64_t *known; (known = map64_get(&t->by_hash, h)); h++)
        if (memcmp(&t->items[*known], &f, sizeof f) == 0)
            return (uint32_t)*known;
    map64_put(&t->by_hash, h, t->n, NULL);
    t->items = vec_grow(t->items, &t->cap, t->n + 1, sizeof *t->items);
    t->answers = vec_grow(t->answers, &t->answers_cap, t->n + 1, sizeof *t->answers);
    t->items[t->n] = f;
    t->answers[t->n] = 0;
    return (uint32_t)t->n++;
}

uint32_t facts_unknown(struct facts *t, uint64_t vars)
{
    return facts_intern(
        t, (struct fact){.vars = vars, .constant = NO_CONSTANT, .degree = FACT_NO_DEGREE});
}

uint32_t facts_constant(struct facts *t, uint32_t number)
{
    return facts_intern(t, (struct fact){.constant = number, .degree = FACT_NO_DEGREE});
}

uint32_t facts_variable(struct facts *t, enum variable_domain domain, struct interval within,
                        unsigned bit)
{
    struct fact f = {.vars = 1ull << bit, .constant = NO_CONSTANT, .degree = 1};
    struct interval v = interval_all();
    f.flags = FACT_REAL;
    switch (domain) {
    case DOMAIN_POSITIVE: v.lo = 0; break;
    case DOMAIN_NONNEGATIVE:
        v.lo = 0;
        v.lo_open = false;
        break;
    case DOMAIN_REAL: break;
    case DOMAIN_INTEGER: /* no open sets among integers */
        f.flags |= FACT_INTEGER;
        f.degree = FACT_NO_DEGREE;
        break;
    case DOMAIN_COMPLEX: f.flags = 0; break;
    }
    if (f.flags & FACT_REAL)
        fact_set_interval(&f, interval_meet(v, within));
    return facts_intern(t, f);
}

uint32_t facts_known_symbol(struct facts *t, const char *name)
{
    bool pi = strcmp(name, "pi") == 0;
    struct fact f = {.constant = NO_CONSTANT, .degree = 0, .flags = FACT_REAL};
    double v = pi ? 3.141592653589793 : 2.718281828459045; /* both just below the true value */
    fact_set_interval(&f, interval_make(v, nextafter(v, INFINITY), true, true));
    return facts_intern(t, f);
}

static bool meet(struct fact *out, const struct fact *a, const struct fact *b)
{
    struct fact r = *a;
    r.vars = a->vars & b->vars;
    r.flags = a->flags | b->flags;
    if (a->constant != NO_CONSTANT && b->constant != NO_CONSTANT && a->constant != b->constant)
        return false;
    if (a->constant == NO_CONSTANT)
        r.constant = b->constant;
    if (a->flags & b->flags & FACT_REAL) {
        struct interval v = interval_meet(fact_interval(a), fact_interval(b));
        if (interval_is_empty(v))
            return false;
        fact_set_interval(&r, v);
    } else if (b->flags & FACT_REAL) {
        fact_set_interval(&r, fact_interval(b));
    } else if (a->flags & FACT_REAL) {
        fact_set_interval(&r, fact_interval(a));
    }
    bool zero = (a->constant != NO_CONSTANT && !(a->flags & FACT_NONZERO)) ||
                (b->constant != NO_CONSTANT && !(b->flags & FACT_NONZERO));
    if (zero && (r.flags & FACT_NONZERO))
        return false;
    if ((r.flags & FACT_VARIES) && r.vars == 0)
        return false;
    if (a->degree != FACT_NO_DEGREE && b->degree != FACT_NO_DEGREE && a->degree != b->degree)
        return false;
    if (a->degree == FACT_NO_DEGREE)
        r.degree = b->degree;
    *out = r;
    return true;
}

bool facts_meet_different(uint32_t *out, struct facts *t, uint32_t a, uint32_t b)
{
    uint32_t known;
    if (!facts_recall(&known, t, 0, a, b)) {
        struct fact f;
        known = meet(&f, &t->items[a], &t->items[b]) ? facts_intern(t, f) : FACT_CONFLICT;
        facts_remember(t, 0, a, b, known);
    }
    *out = known;
    return known != FACT_CONFLICT;
}

/* ---- applications ----
 *
 * This includes declared operators. A definition determines their facts as a term over the
 * arguments; what a file of operators states about values holds wherever the arguments are real, or
 * have a domain, since elsewhere there is no value. */

struct interval fact_interval_of(struct facts *t, const struct ball_domain *d)
{
    struct interval out = interval_all();
    double unused;
    uint32_t low = d->low ? constant_parse(&t->constants, d->low) : NO_CONSTANT;
    uint32_t high = d->high ? constant_parse(&t->constants, d->high) : NO_CONSTANT;
    if (low != NO_CONSTANT) {
        constant_bounds(&out.lo, &unused, &t->constants, low);
        out.lo_open = !d->low_closed;
    }
    if (high != NO_CONSTANT) {
        constant_bounds(&unused, &out.hi, &t->constants, high);
        out.hi_open = !d->high_closed;
    }
    return out;
}

/* Returns a fact with values in the domain and unknown variables. */
static uint32_t fact_of_domain(struct facts *t, const struct ball_domain *d)
{
    struct fact f = {.vars = UINT64_MAX, .constant = NO_CONSTANT, .degree = FACT_NO_DEGREE};
    struct interval v = fact_interval_of(t, d);
    if (strcmp(d->domain, "nonzero") == 0)
        f.flags = FACT_NONZERO;
    else if (strcmp(d->domain, "complex") != 0)
        f.flags = FACT_REAL;
    if (strcmp(d->domain, "integer") == 0)
        f.flags |= FACT_INTEGER;
    if (strcmp(d->domain, "nonnegative") == 0 || strcmp(d->domain, "positive") == 0)
        v = interval_meet(
            v, interval_make(0, INFINITY, strcmp(d->domain, "positive") == 0 && !d->low, true));
    if (f.flags & FACT_REAL)
        fact_set_interval(&f, v);
    return facts_intern(t, f);
}

static uint32_t fact_of_term(struct facts *t, const struct expr_node *x, const uint32_t *args)
{
    if (x->op == X_NUM) {
        uint32_t number = constant_parse(&t->constants, x->leaf);
        return number == NO_CONSTANT ? facts_unknown(t, 0) : facts_constant(t, number);
    }
    if (x->op == X_SYM)
        return lang_is_constant(x->leaf) ? facts_known_symbol(t, x->leaf)
                                         : args[own_argument_number(x->leaf)];
    uint32_t kids[LANG_MAX_ARITY] = {0};
    const struct expr_node *child = x + 1;
    for (unsigned k = 0; k < x->arity; k++, child += child->size)
        kids[k] = fact_of_term(t, child, args);
    return facts_apply(t, x->op, x->op < X_DECLARED, kids, x->arity);
}

/* Folding gives a class with a constant its number, but a definition folds nothing. */
static uint32_t without_constant(struct facts *t, uint32_t id)
{
    struct fact f = t->items[id];
    if (f.constant == NO_CONSTANT)
        return id;
    f.constant = NO_CONSTANT;
    return facts_intern(t, f);
}

static uint32_t fact_of_own(struct facts *t, unsigned op, const uint32_t *args)
{
    const struct op_info *info = &t->lang->ops[op];
    const struct own_operator *own = info->own;
    uint64_t vars = 0;
    bool holds = true;
    for (unsigned k = 0; k < info->arity; k++) {
        vars |= t->items[args[k]].vars;
        holds = holds && (own->domain[k].name || t->items[args[k]].flags & FACT_REAL);
    }
    uint32_t fact = facts_unknown(t, vars), met;
    if (own->value.n)
        fact = without_constant(t, fact_of_term(t, own->value.nodes, args));
    for (unsigned k = 0; k < own->n_values && holds; k++)
        if (facts_meet(&met, t, fact, fact_of_domain(t, &own->values[k])))
            fact = met; /* otherwise there is no value */
    return fact;
}

uint32_t facts_apply(struct facts *t, unsigned op, bool interpreted, const uint32_t *args, size_t n)
{
    bool own = !interpreted && n > 0 && n <= 2 && t->lang->ops[op].own;
    if (!own && (!interpreted || n == 0 || n > 2)) {
        uint64_t vars = 0;
        for (size_t i = 0; i < n; i++)
            vars |= t->items[args[i]].vars;
        return facts_unknown(t, vars);
    }
    uint32_t second = n == 2 ? args[1] : 0, id;
    if (facts_recall(&id, t, op, args[0], second))
        return id;
    if (own) {
        id = fact_of_own(t, op, args);
    } else {
        struct fact a = t->items[args[0]], b = t->items[second]; /* copies, since items may move */
        id = facts_intern(t, fact_of_operation(t, op, &a, n == 2 ? &b : NULL));
    }
    facts_remember(t, op, args[0], second, id);
    return id;
}

/* ---- text ---- */

static void write_end(struct buf *out, double v)
{
    if (isinf(v))
        buf_puts(out, v > 0 ? "inf" : "-inf");
    else
        buf_printf(out, "%.17g", v);
}

void fact_write(struct buf *out, const struct facts *t, uint32_t fact)
{
    const struct fact *f = &t->items[fact];
    buf_puts(out, ""); /* ensures a terminating NUL */
    if (f->constant != NO_CONSTANT) {
        buf_printf(out, "=%s", constant_text(&t->constants, f->constant));
        return;
    }
    size_t before = out->len;
    if (f->flags & FACT_REAL) {
        buf_putc(out, f->flags & FACT_LO_OPEN ? '(' : '[');
        write_end(out, f->lo);
        buf_putc(out, ',');
        write_end(out, f->hi);
        buf_putc(out, f->flags & FACT_HI_OPEN ? ')' : ']');
    }
    bool seen = f->flags & FACT_REAL && !interval_has_zero(fact_interval(f));
    if (f->flags & FACT_INTEGER)
        buf_puts(out, out->len > before ? " integer" : "integer");
    if (f->flags & FACT_NONZERO && !seen)
        buf_puts(out, out->len > before ? " nonzero" : "nonzero");
}
