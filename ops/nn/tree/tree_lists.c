#include "ops/nn/tree/tree_lists.h"

#include <stdlib.h>

bool tree_is_well_formed(const struct tree_model *m, const uint32_t *tokens, uint32_t n)
{
    uint64_t missing = 1; /* expressions still expected */
    for (uint32_t i = 0; i < n && missing; i++) {
        if (tokens[i] >= m->tokens || m->config.arity[tokens[i]] == 'x')
            return false;
        missing += tree_arity(m, tokens[i]);
        if (--missing == 0 && i + 1 < n)
            return false;
    }
    return n && missing == 0;
}

struct node {
    uint64_t order; /* by level, then token */
    uint32_t id;
};

static int compare_nodes(const void *x, const void *y)
{
    const struct node *a = x, *b = y;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Nodes by id, numbered across trees; a tree's root comes after its other nodes. */
struct draft {
    struct node *nodes;
    uint32_t (*kids)[TREE_ARITY];
    float *share;
    uint32_t *stack, *level;
    size_t n;
};

static void add_tree(struct draft *x, const struct tree_model *m, const uint32_t *tokens,
                     uint32_t length)
{
    size_t depth = 0, base = x->n;
    for (size_t i = length; i-- > 0;) {
        uint32_t level = 0, arity = tree_arity(m, tokens[i]), id = (uint32_t)(base + i);
        for (uint32_t k = 0; k < arity; k++) {
            uint32_t kid = x->stack[--depth];
            x->kids[id][k] = kid;
            level = x->level[kid] >= level ? x->level[kid] + 1 : level;
        }
        x->level[id] = level;
        x->nodes[id] = (struct node){(uint64_t)level << 32 | tokens[i], id};
        x->stack[depth++] = id;
    }
    uint32_t root = (uint32_t)(base + length);
    x->kids[root][0] = x->stack[0];
    x->nodes[root] = (struct node){(uint64_t)UINT32_MAX << 32 | m->tokens, root};
    x->n += length + 1;
    for (size_t i = base; i < x->n; i++)
        x->share[i] = 1 / (float)(length + 2);
}

static void add_group(struct tree_lists *out, const struct tree_model *m, const struct draft *x,
                      const uint32_t *place, size_t first, size_t n)
{
    uint32_t token = (uint32_t)x->nodes[first].order;
    struct tree_group *g = &out->groups[out->n_groups++];
    *g = (struct tree_group){token, m->combine[token].arity, first * m->rows, n * m->rows,
                             out->n_kids};
    for (size_t i = first; i < first + n; i++)
        for (uint32_t row = 0; row < m->rows; row++)
            for (uint32_t k = 0; k < g->arity; k++)
                out->kids[out->n_kids++] = place[x->kids[x->nodes[i].id][k]] * m->rows + row;
    out->largest = g->n > out->largest ? g->n : out->largest;
}

void tree_lists_make(struct tree_lists *out, struct arena *a, const struct tree_model *m,
                     const struct tree_set *s)
{
    size_t n = s->n, leaves = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->length[i];
    struct draft x = {arena_array(a, struct node, n), arena_alloc(a, n * sizeof *x.kids),
                      arena_array(a, float, n),       arena_array(a, uint32_t, n),
                      arena_array(a, uint32_t, n),    0};
    uint32_t *place = arena_array(a, uint32_t, n);
    for (size_t i = 0; i < s->n; i++)
        add_tree(&x, m, s->tokens[i], s->length[i]);
    qsort(x.nodes, n, sizeof *x.nodes, compare_nodes);
    *out = (struct tree_lists){.nodes = n * m->rows,
                               .roots = s->n * m->rows,
                               .leaves = arena_array(a, uint32_t, n * m->rows),
                               .kids = arena_array(a, uint32_t, n * m->rows),
                               .share = arena_array(a, float, n * m->rows),
                               .groups = arena_array(a, struct tree_group, n)};
    for (size_t i = 0; i < n; i++) {
        place[x.nodes[i].id] = (uint32_t)i;
        leaves += x.nodes[i].order >> 32 == 0;
        for (uint32_t row = 0; row < m->rows; row++) {
            out->share[i * m->rows + row] = x.share[x.nodes[i].id];
            if (x.nodes[i].order >> 32 == 0)
                out->leaves[out->n_leaves++] = (uint32_t)x.nodes[i].order * m->rows + row;
        }
    }
    for (size_t i = leaves, j; i < n; i = j) {
        for (j = i + 1; j < n && x.nodes[j].order == x.nodes[i].order; j++)
            ;
        add_group(out, m, &x, place, i, j - i);
    }
}
