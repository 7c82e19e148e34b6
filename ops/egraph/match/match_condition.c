/* Decides conditions of rules by facts of classes. The argument is a term over the classes of the
 * match. Its fact is that of its class if the term is in the graph, else it follows from the facts
 * of its arguments. Deciding adds nothing to the graph. */
#include "ops/egraph/match/ruleset.h"

#include <stdlib.h>

struct argument {
    uint32_t class; /* NO_NODE if it is not in the graph */
    uint32_t fact;
};

static void evaluate_term(struct argument *out, struct egraph *g, const struct build *b,
                          const uint32_t *classes, const uint32_t *leaf)
{
    uint32_t few[2][64], *class = few[0], *fact = few[1];
    uint32_t total = (uint32_t)b->n_vars + b->n;
    if (total > 64) {
        class = must_calloc(2 * total, sizeof *class);
        fact = class + total;
    }
    for (uint32_t v = 0; v < b->n_vars; v++) {
        class[v] = graph_find(g, classes[v]);
        fact[v] = graph_eclass(g, class[v])->fact;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        const struct build_node *node = &b->nodes[i];
        uint32_t at = b->n_vars + i, kids[2], facts[2];
        if (node->is_leaf) {
            const struct leaf *l = &g->leaves[leaf[node->op]];
            class[at] = l->node == NO_NODE ? NO_NODE : graph_find(g, l->node);
            fact[at] = l->fact;
            continue;
        }
        bool held = true;
        for (uint32_t k = 0; k < node->arity; k++) {
            kids[k] = class[node->kid[k]];
            facts[k] = fact[node->kid[k]];
            held &= kids[k] != NO_NODE;
        }
        uint32_t n = held ? graph_lookup(g, node->op, kids) : NO_NODE;
        class[at] = n == NO_NODE ? NO_NODE : graph_find(g, n);
        fact[at] = n == NO_NODE ? facts_apply(&g->facts, node->op, graph_interprets(g, node->op),
                                              facts, node->arity)
                                : graph_eclass(g, class[at])->fact;
    }
    *out = (struct argument){class[b->root], fact[b->root]};
    if (class != few[0])
        free(class);
}

static void evaluate(struct argument *out, struct egraph *g, const struct build *b,
                     const uint32_t *classes, const uint32_t *leaf)
{
    if (b->n) {
        evaluate_term(out, g, b, classes, leaf);
        return;
    }
    out->class = graph_find(g, classes[b->root]);
    out->fact = graph_eclass(g, out->class)->fact;
}

static bool holds_symbol(struct egraph *g, uint32_t class)
{
    return class != NO_NODE && graph_eclass(g, class)->mask >> MASK_VARIABLE & 1;
}

/* Returns whether the variable b does not occur in a. The bits of the variable itself are used,
 * whatever its class depends on. */
static bool is_free_of(struct egraph *g, const struct argument *a, const struct argument *x)
{
    if (!holds_symbol(g, x->class))
        return false;
    uint64_t bits = 0;
    uint32_t n = x->class;
    do {
        uint32_t op = graph_op(g, n);
        if (op & OP_LEAF && g->leaves[op & ~OP_LEAF].is_variable)
            bits |= 1ull << g->leaves[op & ~OP_LEAF].bit;
        n = graph_next(g, n);
    } while (n != x->class);
    return !(g->facts.items[a->fact].vars & bits);
}

static bool less(const struct fact *a, const struct fact *b, bool or_equal)
{
    if (!(a->flags & b->flags & FACT_REAL))
        return false;
    bool strict = (a->flags & FACT_HI_OPEN) || (b->flags & FACT_LO_OPEN);
    return a->hi < b->lo || (a->hi == b->lo && (or_equal || strict));
}

/* Decides a predicate; those of RULE_OF_FACTS read only the fact of a. `b` is the second argument,
 * if any. */
static bool predicate_holds(struct egraph *g, enum rule_predicate p, const struct argument *a,
                            const struct argument *b)
{
    const struct constants *numbers = &g->facts.constants;
    const struct fact *f = &g->facts.items[a->fact];
    struct interval v = fact_interval(f);
    bool real = f->flags & FACT_REAL, constant = f->constant != NO_CONSTANT;
    switch (p) {
    case RULE_POSITIVE: return real && interval_positive(v);
    case RULE_NONNEGATIVE: return real && interval_nonnegative(v);
    case RULE_NEGATIVE: return real && interval_positive(interval_neg(v));
    case RULE_NONPOSITIVE: return real && interval_nonnegative(interval_neg(v));
    case RULE_NONZERO: return f->flags & FACT_NONZERO;
    case RULE_MAYBE_NONZERO: return !constant || constant_sign(numbers, f->constant) != 0;
    case RULE_REAL: return real;
    case RULE_INTEGER: return f->flags & FACT_INTEGER;
    case RULE_EVEN: return constant && constant_is_even(numbers, f->constant);
    case RULE_ODD:
        return constant && constant_is_integer(numbers, f->constant) &&
               !constant_is_even(numbers, f->constant);
    case RULE_CONSTANT: return constant;
    case RULE_SYMBOL: return holds_symbol(g, a->class);
    case RULE_FREE_OF: return is_free_of(g, a, b);
    case RULE_CONSTANT_OR_OTHER_SYMBOL:
        return constant || (holds_symbol(g, a->class) && a->class != b->class);
    case RULE_LESS: return less(f, &g->facts.items[b->fact], false);
    case RULE_LESS_EQUAL: return less(f, &g->facts.items[b->fact], true);
    case RULE_N_PREDICATES: break;
    }
    return false;
}

/* Returns the answers of a fact to RULE_OF_FACTS, one bit each; the bit above them marks them as
 * computed. */
static uint32_t answers_of(struct egraph *g, const struct argument *a)
{
    uint32_t *answers = &g->facts.answers[a->fact];
    if (!*answers) {
        *answers = 1u << 31;
        for (uint32_t bits = RULE_OF_FACTS; bits; bits &= bits - 1)
            if (predicate_holds(g, (enum rule_predicate)__builtin_ctz(bits), a, NULL))
                *answers |= bits & -bits;
    }
    return *answers;
}

bool graph_condition_decide(struct egraph *g, const struct condition *c, const uint32_t *classes,
                            const uint32_t *leaf)
{
    struct argument a, b = {0};
    evaluate(&a, g, &c->args[0], classes, leaf);
    if (RULE_OF_FACTS >> c->predicate & 1)
        return answers_of(g, &a) >> c->predicate & 1;
    if (c->n_args > 1)
        evaluate(&b, g, &c->args[1], classes, leaf);
    return predicate_holds(g, (enum rule_predicate)c->predicate, &a, &b);
}
