/* Builds the automaton: the programs are merged into a tree of branches, which is then laid out as
 * states; the I_HAS tests of one register become a switch. */
#include "ops/egraph/match/ruleset.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* A node of the tree, before the layout. */
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
        if (a->bound[k] != b->bound[k])
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
    case I_BIND:
    case I_FIND: return same_bind(a, b);
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

static void add_program(struct arena *a, struct branch *root, const struct compiled_rule *r,
                        uint32_t rule)
{
    struct branch *b = root;
    uint8_t levels[2];
    for (int k = 0; k < 2; k++)
        levels[k] = r->levels[k] < STAMPS ? r->levels[k] : STAMPS;
    raise_levels(b->levels, levels);
    for (uint32_t i = 0; i < r->lhs.n_program; i++) {
        b = find_branch(a, b, &r->lhs.program[i]);
        raise_levels(b->levels, levels);
    }
    b->rule = rule;
}

/* ---- layout ---- */

struct layout {
    struct automaton *out;
    size_t states_cap, parent_cap, steps_cap;
    size_t n_steps;
};

static uint32_t add_state(struct layout *l, struct state s, uint32_t parent)
{
    struct automaton *out = l->out;
    out->states = vec_grow(out->states, &l->states_cap, out->n + 1u, sizeof *out->states);
    out->parent = vec_grow(out->parent, &l->parent_cap, out->n + 1u, sizeof *out->parent);
    out->states[out->n] = s;
    out->parent[out->n] = parent;
    return out->n++;
}

static void set_bind(struct state *s, const struct instruction *i)
{
    s->arity = i->arity;
    s->out = i->out;
    s->key = i->key;
    s->whole = i->whole;
    for (uint32_t k = 0; k < i->arity; k++)
        s->bound[k] = i->bound[k];
}

static uint32_t add_branch(struct layout *l, const struct branch *b, uint32_t parent)
{
    static const uint8_t kinds[] = {
        [I_LEAF] = STATE_LEAF, [I_SAME] = STATE_SAME, [I_HAS] = STATE_STEP,
        [I_BIND] = STATE_BIND, [I_FIND] = STATE_FIND, [I_DONE] = STATE_DONE};
    struct state s = {.kind = STATE_ROOT};
    s.depth = depth_of(b->levels);
    if (b->i) {
        s.kind = kinds[b->i->kind];
        s.a = b->i->a;
        s.x = b->i->kind == I_DONE ? b->rule : b->i->x;
    }
    if (s.kind == STATE_BIND || s.kind == STATE_FIND)
        set_bind(&s, b->i);
    uint32_t id = add_state(l, s, parent);
    if (s.kind == STATE_DONE)
        l->out->done[s.x] = id;
    return id;
}

static void raise_depth(uint8_t *depth, const uint8_t *levels)
{
    uint8_t both[] = {(uint8_t)depth_level(*depth, 0), (uint8_t)depth_level(*depth, 1)};
    raise_levels(both, levels);
    *depth = depth_of(both);
}

/* Adds the children: final ones, then the switches, then the others, except those after an I_HAS,
 * which go below switches. */
static uint32_t add_children(struct layout *l, const struct branch *b, uint32_t at)
{
    struct automaton *out = l->out;
    uint32_t first = out->n;
    for (const struct branch *k = b->child; k; k = k->next)
        if (k->i->kind == I_DONE)
            add_branch(l, k, at);
    uint32_t n_done = out->n - first, switches = out->n;
    for (const struct branch *k = b->child; k; k = k->next) {
        if (k->i->kind != I_HAS)
            continue;
        uint32_t i = switches;
        while (i < out->n && out->states[i].a != k->i->a)
            i++;
        if (i == out->n)
            add_state(l, (struct state){.kind = STATE_SWITCH, .a = k->i->a}, at);
        out->states[i].mask |= pattern_op_mask(k->i->x);
        raise_depth(&out->states[i].depth, k->levels);
    }
    uint32_t others = out->n;
    for (const struct branch *k = b->child; k; k = k->next)
        if (k->i->kind != I_HAS && k->i->kind != I_DONE)
            add_branch(l, k, at);
    out->states[at].first = first;
    out->states[at].n = out->n - first;
    out->states[at].n_done = (uint16_t)(n_done < UINT16_MAX ? n_done : UINT16_MAX);
    return others;
}

static void lay_out(struct layout *l, const struct branch *b, uint32_t at);

/* Lays out the steps of a switch, by bit, and their children. */
static void lay_out_switch(struct layout *l, const struct branch *b, uint32_t at)
{
    const struct branch *of[64];
    uint32_t first = l->out->n, n = 0, a = l->out->states[at].a;
    l->out->steps = vec_grow(l->out->steps, &l->steps_cap, l->n_steps + 64, 1);
    uint8_t *step = l->out->steps + l->n_steps;
    memset(step, 0, 64);
    for (uint64_t bits = l->out->states[at].mask; bits; bits &= bits - 1)
        for (const struct branch *k = b->child; k; k = k->next)
            if (k->i->kind == I_HAS && k->i->a == a && pattern_op_mask(k->i->x) == (bits & -bits)) {
                step[__builtin_ctzll(bits)] = (uint8_t)n;
                of[n++] = k;
                add_branch(l, k, at);
            }
    l->out->states[at].x = (uint32_t)l->n_steps;
    l->out->states[at].first = first;
    l->out->states[at].n = n;
    l->n_steps += 64;
    for (uint32_t i = 0; i < n; i++)
        lay_out(l, of[i], first + i);
}

static void lay_out(struct layout *l, const struct branch *b, uint32_t at)
{
    uint32_t other = add_children(l, b, at), first = l->out->states[at].first;
    for (uint32_t i = first; i < other; i++)
        if (l->out->states[i].kind == STATE_SWITCH)
            lay_out_switch(l, b, i);
    for (const struct branch *k = b->child; k; k = k->next)
        if (k->i->kind != I_HAS && k->i->kind != I_DONE)
            lay_out(l, k, other++);
}

/* Copies an array into the arena, aligned to cache lines. */
static void *keep(struct arena *a, void *array, size_t n, size_t size)
{
    char *p = arena_alloc(a, n * size + 64);
    p += -(uintptr_t)p & 63;
    if (n)
        memcpy(p, array, n * size);
    free(array);
    return p;
}

void automaton_build(struct automaton *out, struct ruleset *set)
{
    struct arena *a = &set->arena, scratch = {0};
    struct layout l = {.out = out};
    uint32_t n_ops = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->rules[i].lhs.op >= n_ops)
            n_ops = set->rules[i].lhs.op + 1u;
    struct branch *roots = arena_array(&scratch, struct branch, n_ops + 1u);
    *out = (struct automaton){.n_ops = n_ops, .any = NO_STATE};
    out->root = arena_array(a, uint32_t, n_ops);
    out->done = arena_array(a, uint32_t, set->n);
    memset(out->root, 0xff, n_ops * sizeof *out->root);
    memset(out->done, 0xff, set->n * sizeof *out->done);
    for (size_t i = 0; i < set->n; i++) {
        const struct pattern *p = &set->rules[i].lhs;
        if (!p->constant)
            add_program(&scratch, &roots[p->any ? n_ops : p->op], &set->rules[i], (uint32_t)i);
    }
    for (uint32_t op = 0; op <= n_ops; op++) {
        if (!roots[op].child)
            continue;
        uint32_t root = add_branch(&l, &roots[op], NO_STATE);
        *(op < n_ops ? &out->root[op] : &out->any) = root;
        lay_out(&l, &roots[op], root);
    }
    out->states = keep(a, out->states, out->n, sizeof *out->states);
    out->parent = keep(a, out->parent, out->n, sizeof *out->parent);
    out->steps = keep(a, out->steps, l.n_steps, 1);
    arena_free(&scratch);
}
