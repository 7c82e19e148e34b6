/* The reference e-graph; see ref_egraph.h. Everything is a loop over everything. */
#include "tests/ref/ref_egraph.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VARS = 8 };

void ref_free(struct ref_egraph *g)
{
    free(g->nodes);
    free(g->class_of);
    *g = (struct ref_egraph){0};
}

static bool same_node(const struct ref_egraph *g, const struct ref_node *a,
                      const struct ref_node *b)
{
    if (a->op != b->op || a->arity != b->arity || (a->leaf && strcmp(a->leaf, b->leaf) != 0))
        return false;
    for (uint32_t i = 0; i < a->arity; i++)
        if (g->class_of[a->kid[i]] != g->class_of[b->kid[i]])
            return false;
    return true;
}

static uint32_t add_node(struct ref_egraph *g, const struct ref_node *node)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (same_node(g, &g->nodes[i], node))
            return g->class_of[i];
    size_t cap = g->cap;
    g->nodes = vec_grow(g->nodes, &cap, g->n + 1, sizeof *g->nodes);
    g->class_of = vec_grow(g->class_of, &g->cap, g->n + 1, sizeof *g->class_of);
    g->nodes[g->n] = *node;
    g->class_of[g->n] = g->n;
    return g->n++;
}

static bool merge(struct ref_egraph *g, uint32_t a, uint32_t b)
{
    a = g->class_of[a];
    b = g->class_of[b];
    if (a == b)
        return false;
    uint32_t keep = a < b ? a : b, drop = a < b ? b : a;
    for (uint32_t i = 0; i < g->n; i++)
        if (g->class_of[i] == drop)
            g->class_of[i] = keep;
    return true;
}

static void close_congruence(struct ref_egraph *g)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->n; i++)
            for (uint32_t k = 0; k < i; k++)
                if (same_node(g, &g->nodes[i], &g->nodes[k]))
                    changed |= merge(g, i, k);
    }
}

struct binding {
    const char *name[MAX_VARS];
    uint32_t class[MAX_VARS], n;
};

static uint32_t build(struct ref_egraph *g, const struct expr *x, uint32_t p,
                      const struct binding *b)
{
    const struct expr_node *node = &x->nodes[p];
    if (node->op == X_VAR)
        for (uint32_t i = 0; i < b->n; i++)
            if (strcmp(b->name[i], node->leaf) == 0)
                return g->class_of[b->class[i]];
    struct ref_node made = {.op = node->op, .leaf = node->leaf, .arity = node->arity};
    for (uint32_t k = 0, q = p + 1; k < node->arity; q += x->nodes[q].size, k++)
        made.kid[k] = build(g, x, q, b);
    return add_node(g, &made);
}

uint32_t ref_add(struct ref_egraph *g, const struct expr *x)
{
    return build(g, x, 0, &(struct binding){0});
}

/* All matches of a list of (pattern position, class) obligations, one after another; `found` is
 * called with each complete binding. */
struct search {
    struct ref_egraph *g;
    const struct expr *lhs;
    struct binding *results;
    size_t n, cap;
};

struct obligation {
    uint32_t position, class;
    const struct obligation *next;
};

static void solve(struct search *s, const struct obligation *todo, struct binding b)
{
    if (!todo) {
        s->results = vec_grow(s->results, &s->cap, s->n + 1, sizeof *s->results);
        s->results[s->n++] = b;
        return;
    }
    const struct expr_node *want = &s->lhs->nodes[todo->position];
    if (want->op == X_VAR) {
        for (uint32_t i = 0; i < b.n; i++)
            if (strcmp(b.name[i], want->leaf) == 0) {
                if (b.class[i] == todo->class)
                    solve(s, todo->next, b);
                return;
            }
        b.name[b.n] = want->leaf;
        b.class[b.n++] = todo->class;
        solve(s, todo->next, b);
        return;
    }
    for (uint32_t i = 0; i < s->g->n; i++) {
        const struct ref_node *n = &s->g->nodes[i];
        if (s->g->class_of[i] != todo->class || n->op != want->op ||
            (n->leaf && strcmp(n->leaf, want->leaf) != 0))
            continue;
        struct obligation more[4];
        const struct obligation *list = todo->next;
        uint32_t q = todo->position + 1;
        for (uint32_t k = 0; k < n->arity; k++) {
            more[k] = (struct obligation){q, s->g->class_of[n->kid[k]], list};
            list = &more[k];
            q += s->lhs->nodes[q].size;
        }
        solve(s, list, b);
    }
}

/* ---- conditions ---- */

static uint64_t symbol_bit(const struct ref_node *n)
{
    return n->leaf && n->op == X_SYM ? 1ull << (n->leaf[0] & 63) : 0;
}

/* By class: the variables that all of its terms have, found from above. */
static uint64_t *find_vars(const struct ref_egraph *g)
{
    uint64_t *vars = must_calloc(g->n + 1, sizeof *vars);
    memset(vars, 0xff, (g->n + 1) * sizeof *vars);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->n; i++) {
            const struct ref_node *n = &g->nodes[i];
            uint64_t told = symbol_bit(n), *known = &vars[g->class_of[i]];
            for (uint32_t k = 0; k < n->arity; k++)
                told |= vars[g->class_of[n->kid[k]]];
            changed |= *known & ~told;
            *known &= told;
        }
    }
    return vars;
}

/* A term's class, or UINT32_MAX if it has none, and its variables. */
static uint32_t evaluate(uint64_t *out, const struct ref_egraph *g, const uint64_t *vars,
                         const struct expr *x, uint32_t p, const struct binding *b)
{
    const struct expr_node *node = &x->nodes[p];
    struct ref_node want = {.op = node->op, .leaf = node->leaf, .arity = node->arity};
    uint32_t class = UINT32_MAX;
    bool held = true;
    if (node->op == X_VAR) {
        for (uint32_t i = 0; i < b->n; i++)
            if (strcmp(b->name[i], node->leaf) == 0)
                class = g->class_of[b->class[i]];
        *out = vars[class];
        return class;
    }
    *out = symbol_bit(&want);
    for (uint32_t k = 0, q = p + 1; k < node->arity; q += x->nodes[q].size, k++) {
        uint64_t below;
        want.kid[k] = evaluate(&below, g, vars, x, q, b);
        held &= want.kid[k] != UINT32_MAX;
        *out |= below;
    }
    for (uint32_t i = 0; held && i < g->n && class == UINT32_MAX; i++)
        if (same_node(g, &g->nodes[i], &want))
            class = g->class_of[i];
    if (class != UINT32_MAX)
        *out = vars[class];
    return class;
}

static bool condition_holds(const struct ref_egraph *g, const uint64_t *vars,
                            const struct rule_condition *c, const struct binding *b)
{
    uint64_t first, ignored, bits = 0;
    uint32_t class = evaluate(&first, g, vars, &c->args[0], 0, b);
    if (c->predicate == RULE_FREE_OF)
        class = evaluate(&ignored, g, vars, &c->args[1], 0, b);
    for (uint32_t i = 0; i < g->n; i++)
        bits |= g->class_of[i] == class ? symbol_bit(&g->nodes[i]) : 0;
    return bits && (c->predicate != RULE_FREE_OF || !(first & bits));
}

/* Forgets the matches whose conditions fail. */
static void filter(struct search *s, const struct rule *r, size_t from)
{
    if (!r->n_conditions)
        return;
    uint64_t *vars = find_vars(s->g);
    size_t kept = from;
    for (size_t i = from; i < s->n; i++) {
        bool holds = true;
        for (size_t k = 0; k < r->n_conditions; k++)
            holds &= condition_holds(s->g, vars, &r->conditions[k], &s->results[i]);
        if (holds)
            s->results[kept++] = s->results[i];
    }
    s->n = kept;
    free(vars);
}

static bool apply(struct ref_egraph *g, const struct rule *r)
{
    struct search s = {.g = g, .lhs = &r->lhs};
    uint32_t *roots = must_calloc(g->n + 1, sizeof *roots);
    size_t n_roots = 0, done = 0;
    for (uint32_t c = 0; c < g->n; c++)
        if (g->class_of[c] == c)
            roots[n_roots++] = c;
    bool changed = false;
    size_t *end = must_calloc(n_roots + 1, sizeof *end);
    for (size_t i = 0; i < n_roots; i++) {
        size_t from = s.n;
        solve(&s, &(struct obligation){0, roots[i], NULL}, (struct binding){0});
        filter(&s, r, from);
        end[i] = s.n;
    }
    for (size_t i = 0; i < n_roots; i++)
        for (; done < end[i]; done++)
            changed |= merge(g, roots[i], build(g, &r->rhs, 0, &s.results[done]));
    free(s.results);
    free(roots);
    free(end);
    return changed;
}

bool ref_saturate(struct ref_egraph *g, const struct rules *rules, unsigned rounds,
                  uint32_t max_nodes)
{
    for (unsigned round = 0; round < rounds; round++) {
        bool changed = false;
        for (size_t i = 0; i < rules->n && g->n < max_nodes; i++) {
            changed |= apply(g, &rules->rules[i]);
            close_congruence(g);
        }
        if (g->n >= max_nodes)
            return false;
        if (!changed)
            return true;
    }
    return false;
}

void ref_count(uint32_t *nodes, uint32_t *classes, const struct ref_egraph *g)
{
    *nodes = *classes = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        *classes += g->class_of[i] == i;
        bool twin = false;
        for (uint32_t k = 0; k < i && !twin; k++)
            twin = same_node(g, &g->nodes[i], &g->nodes[k]);
        *nodes += !twin;
    }
}
