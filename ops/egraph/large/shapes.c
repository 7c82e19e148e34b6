/* Shapes and their sets; see shapes.h. */
#include "ops/egraph/large/shapes.h"

#include "ops/egraph/graph/egraph_memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SHAPES = 1 << 10,
    MOST_SETS = UINT16_MAX,
    SLOTS = 1 << 17,
    MADE = 1 << 14,
    FIRST_SWEEP = 1 << 14
};

static void *new_array(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

void shapes_init(struct shapes *s, uint32_t n_ops)
{
    *s = (struct shapes){.n_ops = n_ops};
    s->first = new_array(n_ops + 1, sizeof *s->first);
    memset(s->first, 0xff, (n_ops + 1) * sizeof *s->first);
}

void shapes_free(struct shapes *s)
{
    free(s->items);
    free(s->first);
    egraph_memory_free(s->sets, s->sets_cap * sizeof *s->sets);
    free(s->by_op);
    free(s->by_kid);
    free(s->slots);
    free(s->joined);
    free(s->applied);
}

/* ---- shapes ---- */

/* Leaves have the entry after the operators. */
static uint16_t *first_of(struct shapes *s, uint32_t op)
{
    return &s->first[op & OP_LEAF ? s->n_ops : op];
}

static uint16_t intern(struct shapes *s, uint32_t op, uint16_t a, uint16_t b)
{
    uint16_t *first = first_of(s, op);
    for (uint16_t i = *first; i != SHAPE_ANY; i = s->items[i].next)
        if (s->items[i].op == op && s->items[i].kid[0] == a && s->items[i].kid[1] == b)
            return i;
    if (s->n == MOST_SHAPES)
        return SHAPE_ANY;
    s->items = vec_grow(s->items, &s->cap, s->n + 1, sizeof *s->items);
    s->items[s->n] = (struct shape){op, {a, b}, *first};
    return *first = (uint16_t)s->n++;
}

static uint32_t leaf_number(const struct ruleset *set, const struct expr_node *node)
{
    const struct pattern_leaves *t = &set->leaves;
    uint32_t i = 0;
    while (t->items[i].op != node->op || strcmp(t->items[i].text, node->leaf) != 0)
        i++; /* every leaf of a pattern is there */
    return i;
}

uint16_t shapes_add(struct shapes *s, const struct ruleset *set, const struct expr *x,
                    uint32_t position)
{
    const struct expr_node *node = &x->nodes[position];
    uint16_t kid[2] = {SHAPE_ANY, SHAPE_ANY};
    if (node->op == X_VAR)
        return SHAPE_ANY;
    if (node->leaf)
        return intern(s, OP_LEAF | leaf_number(set, node), SHAPE_ANY, SHAPE_ANY);
    if (node->op >= s->n_ops)
        return SHAPE_ANY;
    for (uint32_t k = 0, at = position + 1; k < node->arity; at += x->nodes[at].size, k++)
        kid[k] = shapes_add(s, set, x, at);
    return intern(s, node->op, kid[0], kid[1]);
}

/* ---- sets ---- */

static void add_bit(uint64_t *set, uint32_t shape)
{
    set[shape / 64] |= 1ull << shape % 64;
}

static void add_all(uint64_t *to, const uint64_t *from, size_t words)
{
    for (size_t w = 0; w < words; w++)
        to[w] |= from[w];
}

/* The shapes for whose arguments a class with this set fits. */
static void find_uses(const struct shapes *s, uint64_t *set)
{
    uint64_t *uses = set + s->words;
    memcpy(uses, s->by_kid + 2 * s->n * s->words, 2 * s->words * sizeof *uses);
    for (size_t w = 0; w < s->words; w++)
        for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
            size_t shape = 64 * w + (unsigned)__builtin_ctzll(bits);
            if (shape < s->n)
                add_all(uses, s->by_kid + 2 * shape * s->words, 2 * s->words);
        }
}

static uint64_t *row(const struct shapes *s, size_t set)
{
    return s->sets + 3 * set * s->words;
}

/* The row after the last, to be filled in. */
static uint64_t *next_row(struct shapes *s)
{
    s->sets =
        egraph_memory_grow(s->sets, &s->sets_cap, 3 * (s->n_sets + 1) * s->words, sizeof *s->sets);
    return row(s, s->n_sets);
}

static uint64_t hash_set(const struct shapes *s, const uint64_t *set)
{
    uint64_t h = 0;
    for (size_t w = 0; w < s->words; w++) {
        h = (h ^ set[w]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

/* The number of the set in the row after the last: an existing one, or a new one. */
static uint16_t number_set(struct shapes *s)
{
    uint64_t *set = row(s, s->n_sets), any = 0;
    for (size_t w = 0; w < s->words; w++)
        any |= set[w];
    if (!any)
        return SHAPES_NONE;
    for (uint64_t i = hash_set(s, set);; i++) {
        uint16_t *slot = &s->slots[i & (SLOTS - 1)];
        if (*slot && memcmp(row(s, *slot), set, s->words * sizeof *set) == 0)
            return *slot;
        if (*slot)
            continue;
        if (s->n_sets == MOST_SETS)
            return SHAPES_ALL;
        find_uses(s, set);
        return *slot = (uint16_t)s->n_sets++;
    }
}

void shapes_seal(struct shapes *s)
{
    s->words = s->n / 64 + 1;
    s->sweep_at = FIRST_SWEEP;
    s->slots = new_array(SLOTS, sizeof *s->slots);
    s->joined = new_array(MADE, sizeof *s->joined);
    s->applied = new_array(MADE, sizeof *s->applied);
    s->by_op = new_array((s->n_ops + 1) * s->words, sizeof *s->by_op);
    s->by_kid = new_array(2 * (s->n + 1) * s->words, sizeof *s->by_kid);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct shape *x = &s->items[i];
        add_bit(s->by_op + (x->op & OP_LEAF ? s->n_ops : x->op) * s->words, i);
        for (size_t k = 0; k < 2; k++) {
            size_t kid = x->kid[k] == SHAPE_ANY ? s->n : x->kid[k];
            add_bit(s->by_kid + (2 * kid + k) * s->words, i);
        }
    }
    for (int all = 0; all < 2; all++) {
        uint64_t *set = next_row(s);
        memset(set, all ? 0xff : 0, s->words * sizeof *set);
        find_uses(s, set);
        s->n_sets++;
    }
}

static struct shapes_made *made_at(struct shapes_made *made, uint64_t key)
{
    return &made[key * 0x9e3779b97f4a7c15u >> 50 & (MADE - 1)];
}

uint16_t shapes_of_leaf(struct shapes *s, uint32_t leaf)
{
    uint64_t *set = next_row(s);
    memset(set, 0, s->words * sizeof *set);
    for (uint16_t i = s->first[s->n_ops]; i != SHAPE_ANY; i = s->items[i].next)
        if (s->items[i].op == (OP_LEAF | leaf))
            add_bit(set, i);
    return number_set(s);
}

uint16_t shapes_join(struct shapes *s, uint16_t a, uint16_t b)
{
    if (a == b || b == SHAPES_NONE || a == SHAPES_ALL)
        return a;
    if (a == SHAPES_NONE || b == SHAPES_ALL)
        return b;
    uint64_t key = (uint64_t)a << 16 | b;
    struct shapes_made *made = made_at(s->joined, key);
    if (made->key == key)
        return made->set;
    uint64_t *set = next_row(s);
    const uint64_t *x = row(s, a), *y = row(s, b);
    for (size_t w = 0; w < s->words; w++)
        set[w] = x[w] | y[w];
    *made = (struct shapes_made){key, number_set(s)};
    return made->set;
}

uint16_t shapes_apply(struct shapes *s, uint32_t op, uint16_t a, uint16_t b)
{
    uint64_t key = (op + 1ull) << 32 | (uint64_t)a << 16 | b;
    struct shapes_made *made = made_at(s->applied, key);
    if (made->key == key)
        return made->set;
    uint64_t *set = next_row(s);
    const uint64_t *own = s->by_op + op * s->words;
    const uint64_t *first = row(s, a) + s->words, *second = row(s, b) + 2 * s->words;
    for (size_t w = 0; w < s->words; w++)
        set[w] = own[w] & first[w] & second[w];
    *made = (struct shapes_made){key, number_set(s)};
    return made->set;
}

/* Rows only move down. Probes are short: there are twice as many slots as sets. */
void shapes_sweep(struct shapes *s, uint16_t *held, size_t n)
{
    uint16_t *number = new_array(s->n_sets, sizeof *number);
    for (size_t i = 0; i < n; i++)
        number[held[i]] = 1;
    size_t kept = SHAPES_ALL + 1;
    number[SHAPES_NONE] = SHAPES_NONE;
    number[SHAPES_ALL] = SHAPES_ALL;
    memset(s->slots, 0, SLOTS * sizeof *s->slots);
    for (size_t i = kept; i < s->n_sets; i++) {
        if (!number[i])
            continue;
        uint64_t *set = row(s, kept);
        memmove(set, row(s, i), 3 * s->words * sizeof *set);
        uint64_t slot = hash_set(s, set);
        while (s->slots[slot & (SLOTS - 1)])
            slot++;
        s->slots[slot & (SLOTS - 1)] = number[i] = (uint16_t)kept++;
    }
    for (size_t i = 0; i < n; i++)
        held[i] = number[held[i]];
    free(number);
    s->n_sets = kept;
    s->sweep_at = 2 * kept > FIRST_SWEEP ? 2 * kept : FIRST_SWEEP;
    memset(s->joined, 0, MADE * sizeof *s->joined);
    memset(s->applied, 0, MADE * sizeof *s->applied);
}
