/* See fact_steps.h. Facts are found anew, in a table of their own, from the leaves up: what classes
 * of the e-graph know may come from the very rules that contradict themselves. */
#include "ops/egraph/facts/fact_steps.h"

#include "ops/egraph/explain/explain_check.h"
#include "ops/egraph/graph/least_terms.h"

#include <string.h>

struct tracer {
    const struct egraph *g;
    struct arena *a;
    struct facts facts;
    struct buf *out;
    const char *indent;
    struct name_map said; /* parts that have a line */
};

static uint32_t leaf_fact(struct tracer *t, const struct expr_node *leaf)
{
    struct facts *facts = &t->facts;
    if (leaf->op == X_NUM)
        return facts_constant(facts, numbers_parse(&facts->numbers, leaf->leaf));
    if (leaf->op == X_SYM && lang_is_constant(leaf->leaf))
        return facts_known_symbol(facts, leaf->leaf);
    const struct name_map *index = &t->g->leaf_index;
    const uint64_t *known = name_map_get(index, leaf->leaf);
    if (!known)
        return facts_unknown(facts, UINT64_MAX);
    /* A variable's fact has no number: it means the same in any table. */
    return facts_intern(facts, t->g->facts.items[t->g->leaves[*known].fact]);
}

static const char *reason_of(const struct expr_node *node, bool number)
{
    return node->op == X_SYM && lang_is_constant(node->leaf) ? "its value"
           : node->leaf                                      ? "its domain"
           : number                                          ? "arithmetic"
                                                             : "interval";
}

static void say(struct tracer *t, const struct expr *x, uint32_t fact)
{
    const struct fact *f = &t->facts.items[fact];
    bool number = f->constant != NO_NUMBER, added;
    struct buf text = {0};
    struct err doubt = {0};
    fact_write(&text, &t->facts, fact);
    const char *term = expr_infix(t->a, x);
    name_map_put(&t->said, term, 0, &added);
    if (added && text.len && x->nodes[0].op != X_NUM) {
        bool interval = text.data[0] == '(' || text.data[0] == '[';
        bool holds = !(f->flags & FACT_REAL) ||
                     !explain_check_interval(x, f->lo, f->hi, t->g->interpreted, &doubt);
        buf_printf(t->out, "%s%s%s%s%s   [%s]", t->indent, term,
                   interval ? " in "
                   : number ? " "
                            : " is ",
                   text.data, f->flags & FACT_VARIES ? " varies" : "", reason_of(x->nodes, number));
        if (!holds)
            buf_printf(t->out, "   false: %s", doubt.message);
        buf_putc(t->out, '\n');
    }
    buf_free(&text);
}

/* Depth is bounded by that of terms. */
static uint32_t trace(struct tracer *t, const struct expr *whole, uint32_t position)
{
    struct expr x = expr_sub(whole, position);
    const struct expr_node *node = x.nodes;
    uint32_t args[LANG_MAX_ARITY], fact;
    for (uint32_t i = 0, at = position + 1; i < node->arity; at += whole->nodes[at].size, i++)
        args[i] = trace(t, whole, at);
    if (node->leaf)
        fact = leaf_fact(t, node);
    else
        fact =
            facts_apply(&t->facts, node->op, t->g->interpreted && x.lang->ops[node->op].interpreted,
                        args, node->arity);
    say(t, &x, fact);
    return fact;
}

void fact_steps_write(struct buf *out, char **fact, struct arena *a, const struct egraph *g,
                      const struct expr *x, const char *indent)
{
    struct tracer t = {.g = g, .a = a, .out = out, .indent = indent};
    struct buf text = {0};
    facts_init(&t.facts);
    fact_write(&text, &t.facts, trace(&t, x, 0));
    *fact = arena_strndup(a, text.data, text.len);
    buf_free(&text);
    name_map_free(&t.said);
    facts_free(&t.facts);
}
