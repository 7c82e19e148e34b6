/* The public functions of the e-graph: create, free, terms in and out; see egraph.h and
 * egraph_core.h. */
#include "ops/egraph/graph/egraph.h"

#include "ops/egraph/graph/node_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { COMPACT_DEAD = 4096, COMPACT_PERCENT = 30, SIZE_ORDER_AT = 1 << 18 };
enum { MAX_FACTS_KEPT = 1 << 13, MAX_CELLS_KEPT = 1 << 18 };

static bool is_calculus(const struct language *lang)
{
    return lang->n_ops >= X_DECLARED && lang->ops[X_SIN].name &&
           strcmp(lang->ops[X_SIN].name, lang_calculus.ops[X_SIN].name) == 0;
}

struct egraph *egraph_new(const struct language *lang)
{
    struct egraph *g = must_calloc(1, sizeof *g);
    g->lang = lang;
    g->interpreted = is_calculus(lang);
    for (unsigned op = X_ADD; op < X_DECLARED && g->interpreted; op++)
        if (lang->ops[op].interpreted) {
            g->interpreted_ops |= 1ull << op;
            g->interpreted_binary |= (uint64_t)(lang->ops[op].arity == 2) << op;
        }
    g->node_limit = UINT32_MAX;
    g->free_entry = NO_NODE;
    g->compact_at.dead = COMPACT_DEAD;
    g->compact_at.percent = COMPACT_PERCENT;
    g->size_order_at = SIZE_ORDER_AT;
    g->node_index = node_index_new();
    facts_init(&g->facts, lang);
    return g;
}

const struct language *egraph_language(const struct egraph *g)
{
    return g->lang;
}

void egraph_free(struct egraph *g)
{
    if (!g)
        return;
    graph_free_cells(g);
    hashcons_free(&g->cons);
    facts_free(&g->facts);
    for (size_t i = 0; i < g->n_leaves; i++)
        free(g->leaves[i].text);
    free(g->leaves);
    name_map_free(&g->leaf_index);
    u32_free(&g->pending);
    u32_free(&g->stale);
    u32_free(&g->changed);
    u32_free(&g->died);
    u32_free(&g->wave[0]);
    u32_free(&g->wave[1]);
    node_index_free(g->node_index);
    free(g->domains);
    proofs_free(g->proofs);
    free(g);
}

void egraph_clear(struct egraph *g)
{
    for (size_t i = 0; i < g->n_leaves; i++)
        free(g->leaves[i].text);
    name_map_free(&g->leaf_index);
    proofs_free(g->proofs);
    struct egraph old = *g;
    *g = (struct egraph){.lang = old.lang,
                         .interpreted = old.interpreted,
                         .interpreted_ops = old.interpreted_ops,
                         .interpreted_binary = old.interpreted_binary,
                         .cap = old.cap,
                         .cells = old.cells,
                         .members = old.members,
                         .classes = old.classes,
                         .kind = old.kind,
                         .touched = old.touched,
                         .touched_block = old.touched_block,
                         .cons = old.cons,
                         .facts = old.facts,
                         .leaves = old.leaves,
                         .leaves_cap = old.leaves_cap,
                         .domains = old.domains,
                         .cap_domains = old.cap_domains,
                         .compact_at = old.compact_at,
                         .size_order_at = old.size_order_at,
                         .node_limit = UINT32_MAX,
                         .cap_entries = old.cap_entries,
                         .free_entry = NO_NODE,
                         .node_index = old.node_index};
    struct u32_list *kept[] = {&g->pending, &g->stale,   &g->changed,
                               &g->died,    &g->wave[0], &g->wave[1]};
    const struct u32_list was[] = {old.pending, old.stale,   old.changed,
                                   old.died,    old.wave[0], old.wave[1]};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        *kept[i] = (struct u32_list){.items = was[i].items, .cap = was[i].cap};
    hashcons_clear(&g->cons);
    node_index_forget(g->node_index);
    if (g->cap > MAX_CELLS_KEPT)
        graph_free_cells(g);
    else if (g->cap)
        memset(g->touched_block, 0, g->cap / 64 + 1);
    if (g->facts.n > MAX_FACTS_KEPT) {
        facts_free(&g->facts);
        facts_init(&g->facts, g->lang);
    }
}

void egraph_keep_proofs(struct egraph *g)
{
    assert(g->n_cells == 0 && !g->proofs);
    g->proofs = proofs_new();
    if (g->cap) /* the graph was used before */
        proofs_grow(g->proofs, g->cap);
}

/* ---- terms ---- */

/* Walks x from the last node to the first, so that arguments are visited before their parents. */
static bool walk_term(uint32_t *nodes, struct egraph *g, const struct expr *x, bool add)
{
    for (uint32_t i = x->n; i-- > 0;) {
        const struct expr_node *node = &x->nodes[i];
        if (node->leaf) {
            if (add) {
                nodes[i] = graph_add_leaf(g, graph_leaf(g, node->op, node->leaf));
            } else {
                uint64_t *leaf = name_map_get(&g->leaf_index, node->leaf);
                nodes[i] = leaf ? g->leaves[*leaf].node : NO_NODE;
            }
        } else {
            uint32_t kids[2], at = i + 1;
            for (uint32_t k = 0; k < node->arity; k++) {
                kids[k] = nodes[at];
                at += x->nodes[at].size;
            }
            nodes[i] = add ? graph_add(g, node->op, kids) : graph_lookup(g, node->op, kids);
        }
        if (nodes[i] == NO_NODE)
            return false;
    }
    return true;
}

bool graph_lookup_term(uint32_t *nodes, struct egraph *g, const struct expr *x)
{
    return walk_term(nodes, g, x, false);
}

eclass_id egraph_add_expr(struct egraph *g, const struct expr *x)
{
    uint32_t *nodes = must_calloc(x->n, sizeof *nodes);
    walk_term(nodes, g, x, true);
    uint32_t root = nodes[0];
    free(nodes);
    return graph_find(g, root);
}

eclass_id egraph_find(struct egraph *g, eclass_id c)
{
    return graph_find(g, c);
}

uint32_t egraph_count_nodes(const struct egraph *g)
{
    return g->n_nodes;
}

uint32_t egraph_count_classes(const struct egraph *g)
{
    return g->n_classes;
}
