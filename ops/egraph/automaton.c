/* Building the automaton: the programs go into a tree of branches one after another, which is then
 * laid out level by level, the I_HAS tests of one register gathered in a switch. */
#include "ops/egraph/automaton.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* A state in the making. */
struct branch {
    const struct instruction *i; /* NULL: a root */
    uint32_t rule;               /* of I_DONE */
    uint8_t levels[2];
    struct branch *child, *last, *next;
};

static bool same_bind(const struct instruction *a, const struct instruction *b)
{
    if (a->x != b->x || a->out != b->out || a->arity != b->arity || a->key != b->key)
        return false;
    for (uint32_t k = 0; k < a->arity; k++)
        if (a->known[k].kind != b->known[k].kind || a->known[k].x != b->known[k].x)
            return false;
    return true;
}

static bool same_instruction(const struct instruction *a, const struct instruction *b)
{
    if (a->kind != b->kind || a->a != b->a)
        return false;
    switch ((enum instruction_kind)a->kind) {
    case I_LEAF:
    case I_SAME: return a->x == b->x;
    case I_HAS: return pattern_op_mask(a->x) == pattern_op_mask(b->x);
    case I_BIND: return same_bind(a, b);
    case I_DONE: return false;
    }
    return false;
}

static void raise_levels(uint8_t *to, const uint8_t *from)
{
    for (int k = 0; k < 2; k++)
        if (from[k] > to[k])
            to[k] = from[k];
}

static struct branch *find_branch(struct arena *a, struct branch *at, const struct instruction *i)
{
    struct branch *b = at->child;
    while (b && !same_instruction(b->i, i))
        b = b->next;
    if (b)
        return b;
    b = arena_new(a, struct branch);
    *b = (struct branch){.i = i};
    if (at->last)
        at->last->next = b;
    else
        at->child = b;
    return at->last = b;
}

static void add_program(struct arena *a, struct branch *root, const struct automaton_rule *r,
                        uint32_t rule)
{
    struct branch *b = root;
    raise_levels(b->levels, r->levels);
    for (uint32_t i = 0; i < r->pattern->n_program; i++) {
        b = find_branch(a, b, &r->pattern->program[i]);
        raise_levels(b->levels, r->levels);
    }
    b->rule = rule;
}

/* ---- layout ---- */

struct layout {
    struct automaton *out;
    struct arena *arena;
    const struct branch **branch; /* by state: what it was; of a switch NULL */
    size_t cap, branch_cap;
};

static uint32_t add_state(struct layout *l, const struct branch *b, struct state s)
{
    struct automaton *out = l->out;
    out->states = vec_grow(out->states, &l->cap, out->n + 1u, sizeof *out->states);
    l->branch = vec_grow(l->branch, &l->branch_cap, out->n + 1u, sizeof *l->branch);
    out->states[out->n] = s;
    l->branch[out->n] = b;
    return out->n++;
}

static struct state state_of(const struct branch *b, uint32_t parent)
{
    static const uint8_t kinds[] = {[I_LEAF] = STATE_LEAF,
                                    [I_SAME] = STATE_SAME,
                                    [I_HAS] = STATE_STEP,
                                    [I_BIND] = STATE_BIND,
                                    [I_DONE] = STATE_DONE};
    struct state s = {.kind = STATE_ROOT, .parent = parent};
    memcpy(s.levels, b->levels, sizeof s.levels);
    if (!b->i)
        return s;
    s.kind = kinds[b->i->kind];
    s.a = b->i->a;
    s.x = b->i->kind == I_DONE ? b->rule : b->i->x;
    s.bind = b->i->kind == I_BIND ? b->i : NULL;
    return s;
}

/* What follows a branch: one switch for each register with I_HAS tests, and the others. */
static void lay_out_branch(struct layout *l, uint32_t at)
{
    const struct branch *b = l->branch[at];
    uint32_t first = l->out->n;
    for (const struct branch *k = b->child; k; k = k->next) {
        struct state s = state_of(k, at);
        if (k->i->kind != I_HAS) {
            uint32_t id = add_state(l, k, s);
            if (s.kind == STATE_DONE)
                l->out->done[s.x] = id;
            continue;
        }
        uint32_t i = first;
        while (i < l->out->n &&
               (l->out->states[i].kind != STATE_SWITCH || l->out->states[i].a != s.a))
            i++;
        if (i == l->out->n)
            add_state(l, NULL, (struct state){.kind = STATE_SWITCH, .parent = at, .a = s.a});
        l->out->states[i].mask |= pattern_op_mask(k->i->x);
        raise_levels(l->out->states[i].levels, k->levels);
    }
    l->out->states[at].first = first;
    l->out->states[at].n = l->out->n - first;
}

/* The steps of a switch, by their bits. */
static void lay_out_switch(struct layout *l, uint32_t at)
{
    uint32_t parent = l->out->states[at].parent, first = l->out->n;
    uint16_t a = l->out->states[at].a;
    uint8_t *step = arena_array(l->arena, uint8_t, 64);
    for (uint64_t bits = l->out->states[at].mask; bits; bits &= bits - 1)
        for (const struct branch *k = l->branch[parent]->child; k; k = k->next)
            if (k->i->kind == I_HAS && k->i->a == a && pattern_op_mask(k->i->x) == (bits & -bits))
                step[__builtin_ctzll(bits)] = (uint8_t)(add_state(l, k, state_of(k, at)) - first);
    l->out->states[at].step = step;
    l->out->states[at].first = first;
    l->out->states[at].n = l->out->n - first;
}

void automaton_build(struct automaton *out, struct arena *a, const struct automaton_rule *rules,
                     size_t n, uint32_t n_ops)
{
    struct arena scratch = {0};
    struct layout l = {.out = out, .arena = a};
    struct branch *roots = arena_array(&scratch, struct branch, n_ops + 1u);
    *out = (struct automaton){.n_ops = n_ops, .any = NO_STATE};
    out->root = arena_array(a, uint32_t, n_ops);
    out->done = arena_array(a, uint32_t, n);
    memset(out->root, 0xff, n_ops * sizeof *out->root);
    memset(out->done, 0xff, n * sizeof *out->done);
    for (size_t i = 0; i < n; i++) {
        const struct pattern *p = rules[i].pattern;
        if (p && !p->constant)
            add_program(&scratch, &roots[p->any ? n_ops : p->op], &rules[i], (uint32_t)i);
    }
    for (uint32_t op = 0; op <= n_ops; op++)
        if (roots[op].child)
            *(op < n_ops ? &out->root[op] : &out->any) =
                add_state(&l, &roots[op], state_of(&roots[op], NO_STATE));
    for (uint32_t s = 0; s < out->n; s++) {
        if (l.branch[s])
            lay_out_branch(&l, s);
        else
            lay_out_switch(&l, s);
    }
    struct state *states = arena_memdup(a, out->states, out->n * sizeof *states);
    free(out->states);
    free(l.branch);
    out->states = states;
    arena_free(&scratch);
}
