/* The shapes that the states of an automaton need. They are collected rule by rule, on the way from
 * the final state of the rule up to its root, as integers that are then sorted: the state, then a
 * register and a shape, or the shapes of two arguments. A state can reject a class only if all
 * rules below it need a shape there. */
#include "ops/egraph/large/prune_plan.h"

#include "ops/egraph/large/semijoin.h"

#include <stdlib.h>

enum { MOST_WANTED = 32 }; /* of one test, or pairs of one state; beyond that nothing is tested */

struct needs {
    uint64_t *items;
    size_t n, cap;
};

struct plan {
    struct pruner *a;
    const struct ematch *m;
    const struct automaton *automaton;
    uint32_t *below; /* by state: active rules below it */
    struct needs tests, pairs;
    uint16_t shape[PATTERN_MAX_REGISTERS]; /* of the registers of one rule */
};

static void need(struct needs *to, uint32_t state, uint16_t x, uint16_t y)
{
    to->items = vec_grow(to->items, &to->cap, to->n + 1, sizeof *to->items);
    to->items[to->n++] = (uint64_t)state << 32 | (uint64_t)x << 16 | y;
}

static bool is_active(const struct ematch *m, uint32_t rule)
{
    return m->set->automaton.done[rule] != NO_STATE &&
           (m->uniform || !(m->rules[rule].banned || m->rules[rule].exceeded));
}

static void find_shapes(struct plan *p, const struct compiled_rule *r)
{
    p->shape[0] = SHAPE_ANY;
    for (uint32_t q = 1; q < r->lhs.n_registers; q++)
        p->shape[q] =
            shapes_add(&p->a->shapes, p->m->set, &r->rule->lhs, r->lhs.register_position[q]);
}

/* An operator alone is tested by the mask of the class, and a leaf by a state of its own. */
static bool is_worth_a_test(const struct plan *p, uint16_t shape)
{
    if (shape == SHAPE_ANY)
        return false;
    const struct shape *s = &p->a->shapes.items[shape];
    return s->kid[0] != SHAPE_ANY || s->kid[1] != SHAPE_ANY;
}

/* What state s, below `at`, needs in the registers that `at` fills. */
static void need_in_registers(struct plan *p, uint32_t s, uint32_t at,
                              const struct pattern *pattern)
{
    const struct state *k = &p->automaton->states[at];
    bool binds = k->kind == STATE_BIND || k->kind == STATE_FIND, root = k->kind == STATE_ROOT;
    uint32_t q = root ? 1 : k->out, n = root ? pattern->arity : binds ? k->arity : 0;
    for (; n > 0; n--, q++)
        if (is_worth_a_test(p, p->shape[q]))
            need(&p->tests, s, (uint16_t)q, p->shape[q]);
}

/* What a node bound by this state needs below it. Only where the class alone decides which nodes
 * are candidates. */
static void need_in_nodes(struct plan *p, uint32_t state)
{
    const struct state *s = &p->automaton->states[state];
    if (s->kind != STATE_BIND || s->whole ||
        (s->key != PATTERN_NO_KEY && !(s->bound[s->key] & AUTOMATON_LEAF)))
        return;
    need(&p->pairs, state, p->shape[s->out], s->arity > 1 ? p->shape[s->out + 1] : SHAPE_ANY);
}

/* If all rules below the parent are also below the state, the parent has tested the earlier
 * registers. */
static void gather(struct plan *p, uint32_t rule)
{
    const struct compiled_rule *r = &p->m->set->rules[rule];
    const uint32_t *parent = p->automaton->parent;
    find_shapes(p, r);
    for (uint32_t s = p->automaton->done[rule]; parent[s] != NO_STATE; s = parent[s]) {
        uint32_t at = parent[s];
        need_in_nodes(p, s);
        need_in_registers(p, s, at, &r->lhs);
        if (p->below[s] == p->below[at])
            continue;
        while ((at = parent[at]) != NO_STATE)
            need_in_registers(p, s, at, &r->lhs);
    }
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static void want(struct pruner *a, uint16_t shape)
{
    a->wanted = vec_grow(a->wanted, &a->wanted_cap, a->n_wanted + 1, sizeof *a->wanted);
    a->wanted[a->n_wanted++] = shape;
}

/* One register of one state. There is a test only if each rule needs a shape. */
static void add_test(struct plan *p, const uint64_t *needs, size_t n)
{
    struct pruner *a = p->a;
    struct prune_state *s = &a->states[needs[0] >> 32];
    struct prune_test t = {.reg = (uint16_t)(needs[0] >> 16), .shapes = (uint32_t)a->n_wanted};
    if (n < p->below[needs[0] >> 32])
        return;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || needs[i] != needs[i - 1])
            want(a, (uint16_t)needs[i]);
    t.n = (uint16_t)(a->n_wanted - t.shapes);
    if (t.n > MOST_WANTED) {
        a->n_wanted = t.shapes;
        return;
    }
    if (!s->n_tests++)
        s->tests = (uint32_t)a->n_tests;
    a->tests = vec_grow(a->tests, &a->tests_cap, a->n_tests + 1, sizeof *a->tests);
    a->tests[a->n_tests++] = t;
}

/* The pairs of one state, unless some rule needs nothing. */
static void add_pairs(struct plan *p, const uint64_t *needs, size_t n)
{
    struct pruner *a = p->a;
    struct prune_state *s = &a->states[needs[0] >> 32];
    const uint32_t nothing = (uint32_t)SHAPE_ANY << 16 | SHAPE_ANY;
    if ((uint32_t)needs[n - 1] == nothing) /* the maximum */
        return;
    s->pairs = (uint32_t)a->n_wanted;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && needs[i] == needs[i - 1])
            continue;
        want(a, (uint16_t)(needs[i] >> 16));
        want(a, (uint16_t)needs[i]);
    }
    size_t pairs = (a->n_wanted - s->pairs) / 2;
    s->n_pairs = (uint16_t)(pairs <= MOST_WANTED ? pairs : 0);
}

/* Passes on groups of requests that are equal except for their last `bits`. */
static void take_runs(struct plan *p, struct needs *from, unsigned bits,
                      void (*take)(struct plan *, const uint64_t *, size_t))
{
    if (from->n)
        qsort(from->items, from->n, sizeof *from->items, by_number);
    for (size_t i = 0, end; i < from->n; i = end) {
        for (end = i + 1; end < from->n && from->items[end] >> bits == from->items[i] >> bits;)
            end++;
        take(p, from->items + i, end - i);
    }
}

/* The only state after this one, if semijoin_applies. */
static uint32_t find_semijoin(const struct plan *p, uint32_t state)
{
    const struct state *s = &p->automaton->states[state];
    uint32_t only = NO_STATE, n = 0;
    for (uint32_t i = s->first; i < s->first + s->n; i++)
        if (p->below[i]) {
            only = i;
            n++;
        }
    bool applies = s->kind == STATE_BIND && !s->whole && n == 1 &&
                   semijoin_applies(s, &p->automaton->states[only]);
    return applies ? only : NO_STATE;
}

void pruner_plan(struct pruner *a, const struct ematch *m)
{
    struct plan p = {.a = a, .m = m, .automaton = &m->set->automaton};
    p.below = calloc(p.automaton->n + 1, sizeof *p.below);
    a->states = calloc(p.automaton->n + 1, sizeof *a->states);
    if (!p.below || !a->states)
        abort();
    for (uint32_t r = 0; r < m->set->n; r++)
        for (uint32_t s = is_active(m, r) ? p.automaton->done[r] : NO_STATE; s != NO_STATE;
             s = p.automaton->parent[s])
            p.below[s]++;
    for (uint32_t r = 0; r < m->set->n; r++)
        if (is_active(m, r))
            gather(&p, r);
    for (uint32_t s = 0; s < p.automaton->n; s++)
        a->states[s].semijoin = find_semijoin(&p, s);
    take_runs(&p, &p.tests, 16, add_test);
    take_runs(&p, &p.pairs, 32, add_pairs);
    free(p.below);
    free(p.tests.items);
    free(p.pairs.items);
}
