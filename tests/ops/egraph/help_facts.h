/* An oracle for facts: all of them found again from the final graph. */
#pragma once

#include "tests/ops/egraph/help.h"

#include "ops/egraph/record/least_terms.h"

/* Facts from nothing but the nodes that there are: those of the graph are the same, however they
 * came about, one union and one doubt after another. It ends, as intervals have finitely many ends;
 * but where x = x + 1 has no point, say, they rise by one as long as 12 bits tell, in thousands of
 * rounds. */
static inline void check_facts(struct egraph *g)
{
    enum { ROUNDS = 100000 };
    uint32_t *facts = malloc((g->n_cells + 1u) * sizeof *facts), kids[256], nothing;
    bool changed = true;
    assert_non_null(facts);
    nothing = facts_unknown(&g->facts, UINT64_MAX);
    for (uint32_t c = 0; c < g->n_cells; c++)
        facts[c] = nothing;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (uint32_t n = 0; n < g->n_cells; n++) {
            if (!graph_is_live(g, n))
                continue;
            uint32_t op = graph_op(g, n), arity = graph_arity(g, op), c = graph_find(g, n), told;
            for (uint32_t i = 0; i < arity; i++)
                kids[i] = facts[graph_find(g, *graph_kid(g, n, i))];
            told = op & OP_LEAF ? g->leaves[op & ~OP_LEAF].fact
                                : facts_apply(&g->facts, op, graph_interprets(g, op), kids, arity);
            uint32_t before = facts[c];
            assert_true(facts_meet(&facts[c], &g->facts, before, told));
            changed |= facts[c] != before;
        }
    }
    assert_false(changed);
    for (uint32_t c = 0; c < g->n_cells; c++)
        if (graph_is_class(g, c) && facts[c] != graph_eclass(g, c)->fact) {
            struct buf is = {0}, should = {0};
            fact_write(&is, &g->facts, graph_eclass(g, c)->fact);
            fact_write(&should, &g->facts, facts[c]);
            fail_msg("class %u: '%s' instead of '%s'", c, is.data, should.data);
        }
    free(facts);
}
