/* egraph_check: every invariant of egraph_core.h, the slow way. */
#include "tests/ref/ref_egraph.h"

#include "ops/egraph/graph/egraph_core.h"

#include <stdlib.h>

static enum err_code check_node(struct egraph *g, uint32_t n, struct err *e)
{
    uint32_t op = g->cells[n].op, arity = graph_arity(g, op);
    uint32_t kids[2];
    for (uint32_t i = 0; i < arity; i++) {
        kids[i] = *graph_kid(g, n, i);
        if (kids[i] >= g->n_cells || !graph_is_class(g, kids[i]))
            return err_fail(e, ERR_FAILED, "node %u: argument %u is not canonical", n, i);
    }
    if (op & OP_LEAF) {
        if (g->leaves[op & ~OP_LEAF].node != n)
            return err_fail(e, ERR_FAILED, "node %u: its leaf has another node", n);
    } else if (graph_lookup(g, op, kids) != n) {
        return err_fail(e, ERR_FAILED, "node %u: not found by its key: two congruent nodes?", n);
    }
    uint32_t c = graph_find(g, n);
    if (!(op & OP_LEAF) && !(graph_eclass(g, c)->mask & pattern_op_mask(op)))
        return err_fail(e, ERR_FAILED, "node %u: its operator is not in its class's mask", n);
    for (uint32_t i = 0; i < arity; i++) {
        uint32_t last = graph_eclass(g, kids[i])->parents, slot = last, steps = 0;
        do {
            if (slot == NO_NODE || steps++ > 2 * g->n_cells)
                return err_fail(e, ERR_FAILED, "node %u is not among its argument's parents", n);
            slot = g->cells[slot >> 1].link[slot & 1];
        } while (slot != 2 * n + i && slot != last);
        if (slot != 2 * n + i)
            return err_fail(e, ERR_FAILED, "node %u is not among its argument's parents", n);
    }
    return OK;
}

/* Each class has its own entry, and the others are free. */
static enum err_code check_entries(const struct egraph *g, struct err *e)
{
    uint32_t classes = 0, unused = 0;
    uint8_t *seen = must_calloc(g->n_entries + 1u, 1);
    enum err_code code = OK;
    for (uint32_t c = 0; c < g->n_cells && !code; c++) {
        if (!graph_is_class(g, c))
            continue;
        uint32_t entry = (uint32_t)(graph_eclass(g, c) - g->classes);
        if (entry >= g->n_entries || seen[entry]++)
            code = err_fail(e, ERR_FAILED, "class %u: entry %u is not its own", c, entry);
        classes++;
    }
    for (uint32_t i = g->free_entry; i != NO_NODE && !code; i = g->classes[i].parents, unused++)
        if (i >= g->n_entries || seen[i]++)
            code = err_fail(e, ERR_FAILED, "entry %u is not free", i);
    if (!code && classes + unused != g->n_entries)
        code = err_fail(e, ERR_FAILED, "%u classes and %u free entries are not all %u", classes,
                        unused, g->n_entries);
    free(seen);
    return code;
}

/* Classes, their circles, and that each live node is in exactly one. */
static enum err_code check_classes(struct egraph *g, uint8_t *seen, struct err *e)
{
    uint32_t classes = 0, nodes = 0;
    for (uint32_t c = 0; c < g->n_cells; c++) {
        if (!graph_is_class(g, c))
            continue;
        classes++;
        uint32_t n = c, live = 0;
        do {
            if (n >= g->n_cells || seen[n]++)
                return err_fail(e, ERR_FAILED, "class %u: its circle is broken at %u", c, n);
            if (graph_find(g, n) != c)
                return err_fail(e, ERR_FAILED, "class %u: node %u belongs elsewhere", c, n);
            live += graph_is_live(g, n);
            n = graph_next(g, n);
        } while (n != c);
        if (!live)
            return err_fail(e, ERR_FAILED, "class %u has no live node", c);
        nodes += live;
    }
    if (classes != g->n_classes || nodes != g->n_nodes || nodes != g->cons.n)
        return err_fail(e, ERR_FAILED,
                        "counted %u classes and %u nodes; the graph says %u and %u, its table %u",
                        classes, nodes, g->n_classes, g->n_nodes, g->cons.n);
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (graph_is_live(g, n) && !seen[n])
            return err_fail(e, ERR_FAILED, "node %u is in no class", n);
    return OK;
}

/* The fact of a node follows from that of its class. */
static enum err_code check_fact(struct egraph *g, uint32_t n, struct err *e)
{
    uint32_t op = g->cells[n].op, arity = graph_arity(g, op), facts[2], told;
    for (uint32_t i = 0; i < arity; i++)
        facts[i] = graph_eclass(g, *graph_kid(g, n, i))->fact;
    if (op & OP_LEAF)
        told = g->leaves[op & ~OP_LEAF].fact;
    else
        told = facts_apply(&g->facts, op,
                           g->interpreted && op < X_DECLARED && g->lang->ops[op].interpreted, facts,
                           arity);
    uint32_t c = graph_find(g, n), both;
    if (!facts_meet(&both, &g->facts, graph_eclass(g, c)->fact, told) ||
        both != graph_eclass(g, c)->fact)
        return err_fail(e, ERR_FAILED, "class %u knows less than its node %u says", c, n);
    uint32_t number = graph_fact(g, c)->constant;
    if (number == NO_CONSTANT || g->folding_stopped || !g->interpreted)
        return OK;
    uint64_t *leaf = name_map_get(&g->leaf_index, constant_text(&g->facts.constants, number));
    if (!leaf || g->leaves[*leaf].node == NO_NODE || graph_find(g, g->leaves[*leaf].node) != c)
        return err_fail(e, ERR_FAILED, "class %u is a constant without its number", c);
    return OK;
}

enum err_code egraph_check(struct egraph *g, struct err *e)
{
    if (g->pending.n || g->stale.n)
        return err_fail(e, ERR_FAILED, "the graph needs a rebuild");
    uint8_t *seen = must_calloc(g->n_cells + 1u, 1);
    enum err_code code = check_classes(g, seen, e);
    if (!code)
        code = check_entries(g, e);
    free(seen);
    for (uint32_t n = 0; !code && n < g->n_cells; n++) {
        if (!graph_is_live(g, n))
            continue;
        code = check_node(g, n, e);
        if (!code && !g->conflict)
            code = check_fact(g, n, e);
    }
    return code;
}
