/* Pruning; see prune.h. prune_plan.c finds what the states need. */
#include "ops/egraph/large/prune.h"

#include "ops/egraph/large/prune_plan.h"

#include <stdlib.h>
#include <string.h>

static void *new_array(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

/* ---- shapes of classes ---- */

/* The shapes that a node gives its class. */
static uint16_t shapes_at(struct pruner *a, uint32_t n)
{
    struct egraph *g = a->g;
    uint32_t op = g->cells[n].op, arity = graph_arity(g, op);
    uint16_t set[2] = {SHAPES_NONE, SHAPES_NONE};
    for (uint32_t k = 0; k < arity; k++)
        set[k] = a->held[graph_find(g, *graph_kid(g, n, k))];
    return shapes_apply(&a->shapes, op, set[0], set[1]);
}

static bool has_shapes(const struct pruner *a, uint32_t n)
{
    uint32_t op = a->g->cells[n].op; /* the op of a dead node or a leaf is no operator's number */
    return shapes_know(&a->shapes, op) && graph_arity(a->g, op) <= 2;
}

static void sweep(struct pruner *a)
{
    if (a->shapes.n_sets > a->shapes.sweep_at)
        shapes_sweep(&a->shapes, a->held, a->until);
}

static bool has_grown(const struct pruner *a, const uint8_t *grew, uint32_t n, uint8_t since)
{
    struct egraph *g = a->g;
    for (uint32_t k = 0, arity = graph_arity(g, g->cells[n].op); k < arity; k++)
        if (grew[graph_find(g, *graph_kid(g, n, k))] >= since)
            return true;
    return false;
}

/* Shapes of the whole graph. Each pass goes at least one step up, and shapes are few steps high. */
static void find_all(struct pruner *a, const struct ematch *m)
{
    struct egraph *g = a->g;
    for (uint32_t i = 0; i < m->set->leaves.n; i++) {
        if (m->leaf_node[i] == NO_NODE)
            continue;
        uint16_t *held = &a->held[graph_find(g, m->leaf_node[i])];
        *held = shapes_join(&a->shapes, *held, shapes_of_leaf(&a->shapes, i));
    }
    /* By class: the last pass in which it gained shapes. */
    uint8_t *grew = egraph_memory_resize(NULL, 0, a->until, "e-graph");
    memset(grew, 0, a->until);
    bool more = true;
    for (uint8_t pass = 1; more; pass++) {
        more = false;
        for (uint32_t n = 0; n < a->until; n++) {
            if (!has_shapes(a, n) || (pass > 1 && !has_grown(a, grew, n, pass - 1)))
                continue;
            sweep(a);
            uint32_t c = graph_find(g, n);
            uint16_t joined = shapes_join(&a->shapes, a->held[c], shapes_at(a, n));
            if (joined == a->held[c])
                continue;
            a->held[c] = joined;
            grew[c] = pass;
            more = true;
        }
    }
    egraph_memory_free(grew, a->until);
}

/* The parents of a class that has gained shapes. */
static void push_parents(struct pruner *a, uint32_t class)
{
    struct egraph *g = a->g;
    uint32_t last = graph_eclass(g, class)->parents, slot = last;
    if (last == NO_NODE)
        return;
    do {
        slot = *graph_slot_link(g, slot);
        uint32_t owner = graph_slot_owner(slot);
        if (owner < a->until && has_shapes(a, owner))
            u32_push(&a->outdated, owner);
    } while (slot != last);
}

/* ---- lists ---- */

static void drop_lists(struct pruner *a, uint32_t class)
{
    uint64_t *first = map64_get(&a->classes, class);
    if (first)
        *first = NO_NODE;
}

/* Lists take up to a fraction of the memory of the graph. */
static void drop_all_lists(struct pruner *a)
{
    a->nodes.n = a->n_lists = 0;
    map64_clear(&a->classes);
}

static bool node_fits(const struct pruner *a, const struct prune_state *k, uint16_t x, uint16_t y)
{
    const uint16_t *pair = a->wanted + k->pairs;
    for (const uint16_t *end = pair + 2 * k->n_pairs; pair < end; pair += 2)
        if ((pair[0] == SHAPE_ANY || shapes_have(&a->shapes, x, pair[0])) &&
            (pair[1] == SHAPE_ANY || shapes_have(&a->shapes, y, pair[1])))
            return true;
    return false;
}

static void list_nodes(struct pruner *a, struct node_range range, const struct prune_state *k,
                       uint32_t op, uint32_t arity)
{
    struct egraph *g = a->g;
    for (; range.begin < range.end; range.begin++) {
        uint32_t n = node_index_node(g->node_index, range.begin);
        if (g->cells[n].op != op) /* an operator that shares its mask bit, or a dead node */
            continue;
        uint16_t x = a->held[graph_find(g, *graph_kid(g, n, 0))];
        uint16_t y = arity > 1 ? a->held[graph_find(g, *graph_kid(g, n, 1))] : SHAPES_NONE;
        if (node_fits(a, k, x, y))
            u32_push(&a->nodes, n);
    }
}

bool pruner_list_of(struct node_range *out, struct pruner *a, uint32_t state, const struct state *s,
                    uint32_t c)
{
    const struct prune_state *k = &a->states[state];
    if (!k->n_pairs)
        return false;
    uint64_t *first = map64_put(&a->classes, c, NO_NODE, NULL);
    uint32_t i = (uint32_t)*first;
    while (i != NO_NODE && a->lists[i].state != state)
        i = a->lists[i].next;
    if (i == NO_NODE) {
        struct node_range range;
        const struct node_index_key key = {c, s->x, NODE_INDEX_ANY};
        if (!node_index_find(&range, a->g, &key, NO_NODE, true))
            return false;
        i = (uint32_t)a->n_lists;
        a->lists = egraph_memory_grow(a->lists, &a->lists_cap, a->n_lists + 1, sizeof *a->lists);
        a->lists[a->n_lists++] =
            (struct prune_list){state, (uint32_t)a->nodes.n, 0, (uint32_t)*first};
        *first = i;
        list_nodes(a, range, k, s->x, s->arity);
        a->lists[i].end = (uint32_t)a->nodes.n;
    }
    *out = (struct node_range){a->lists[i].begin, a->lists[i].end};
    return true;
}

/* ---- unions ---- */

/* The class that is merged away is not searched again. */
static void pruner_note_union(struct pruner *a, uint32_t into, uint32_t from)
{
    uint16_t joined = shapes_join(&a->shapes, a->held[into], a->held[from]);
    if (joined != a->held[into])
        push_parents(a, into);
    if (joined != a->held[from])
        push_parents(a, from);
    a->held[into] = a->held[from] = joined;
    drop_lists(a, into);
    drop_lists(a, from);
}

void pruner_begin(struct pruner *a)
{
    for (size_t i = 0; i < a->outdated.n; i++) {
        uint32_t n = a->outdated.items[i];
        if (!has_shapes(a, n)) /* it died */
            continue;
        sweep(a);
        uint32_t c = graph_find(a->g, n);
        uint16_t joined = shapes_join(&a->shapes, a->held[c], shapes_at(a, n));
        drop_lists(a, c);
        if (joined == a->held[c])
            continue;
        a->held[c] = joined;
        push_parents(a, c);
    }
    a->outdated.n = 0;
    if (a->nodes.n > a->until / 2 || a->n_lists > a->until / 4)
        drop_all_lists(a);
}

/* ---- beginning and end ---- */

static void pruner_free(struct pruner *a)
{
    shapes_free(&a->shapes);
    egraph_memory_free(a->held, a->until * sizeof *a->held);
    free(a->states);
    free(a->tests);
    free(a->wanted);
    u32_free(&a->outdated);
    u32_free(&a->nodes);
    egraph_memory_free(a->lists, a->lists_cap * sizeof *a->lists);
    map64_free(&a->classes);
    free(a);
}

struct pruner *pruner_new(const struct ematch *m)
{
    struct pruner *a = new_array(1, sizeof *a);
    a->g = m->g;
    a->until = m->until;
    a->held = egraph_memory_resize(NULL, 0, a->until * sizeof *a->held, "e-graph");
    memset(a->held, 0, a->until * sizeof *a->held);
    shapes_init(&a->shapes, m->g->lang->n_ops);
    pruner_plan(a, m);
    shapes_seal(&a->shapes);
    find_all(a, m);
    struct node_index *index = m->g->node_index;
    if (index->pruner) /* of another search in the same graph */
        index->pruner_free(index->pruner);
    index->pruner = a;
    index->pruner_note_union = pruner_note_union;
    index->pruner_free = pruner_free;
    return a;
}
