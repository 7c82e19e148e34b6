/* Why two terms are equal: rewriting steps from one to the other. A first list comes from the proof
 * forest, a shorter one from a search among the terms of the e-graph; a replay checks them with
 * nothing but the rules. */
#pragma once

#include "ops/egraph/graph/egraph.h"
#include "ops/expr/ball/ball.h"

struct explain_step {
    const char *rule;  /* "group/name", "arithmetic", "given", or the way of a normal form */
    bool backwards;    /* the rule was read from right to left */
    uint32_t position; /* of the subterm that it changed, in prefix order */
    struct expr term;  /* the whole term after the step */
};
struct explanation {
    struct explain_step
        *steps; /* the first term is not among them; the last step ends at the other */
    size_t n;
    /* No derivation through terms of the graph has fewer steps, of those in which, read from both
     * ends to its middle, no step reads a rule backwards that loses a variable (or arithmetic). */
    bool shortest;
    const struct ball_domain *domains; /* of variables that are not positive */
    size_t n_domains;
    /* After explanation_check, how the steps by normal forms were checked: in the least exact way
     * of explanation_check_form. NULL: there are none. */
    const char *checked;
};

/* ---- shorten.c ---- */
/* Steps from one term to another. The graph keeps proofs and was saturated with these rules only.
 * Lives in the arena. ERR_NOTFOUND: the terms are not equal in the graph; ERR_LIMIT: too long. */
enum err_code egraph_explain(struct explanation *out, struct arena *a, struct egraph *g,
                             const struct ruleset *rules, const struct expr *from,
                             const struct expr *to, struct err *e);
/* A line a step, "  = TERM   [RULE, backwards]", each after `indent`. The step of index `mark` is
 * marked as false (SIZE_MAX: none). */
void explanation_write(struct buf *out, struct arena *a, const struct explanation *x,
                       expr_printer *show, const char *indent, size_t mark);

/* ---- explanation.c ---- */
/* The steps along the proof forest; errors as above. */
enum err_code explanation_connect(struct explanation *out, struct arena *a, struct egraph *g,
                                  const struct ruleset *rules, const struct expr *from,
                                  const struct expr *to, struct err *e);
/* The term that was added as node n, in a graph that keeps proofs; false if it is very large. */
bool explanation_node_term(struct expr *out, struct arena *a, struct egraph *g, uint32_t n);

/* ---- derivation_search.c ---- */
/* Replaces *p by a shorter derivation if one is found among `max_terms` terms, and says whether it
 * is a shortest one. */
void explanation_search(struct explanation *p, struct arena *a, struct egraph *g,
                        const struct ruleset *rules, const struct expr *from, const struct expr *to,
                        size_t max_terms);

/* ---- replay.c ---- */
/* Each step must be an instance of its rule, exact arithmetic, or pass explanation_check_form, at
 * its position. ERR_FAILED names the step that is not. */
enum err_code explanation_check(struct explanation *x, const struct expr *from,
                                const struct expr *to, const struct rules *rules, struct err *e);
/* A step by normal forms, checked by what shares nothing with them: identities modulo random
 * primes, constants by a separation bound; *how says which, or "values" where neither applies and
 * only explanation_check_values does. ERR_FAILED: the sides differ. */
enum err_code explanation_check_form(const char **how, const struct expr *from,
                                     const struct expr *to, const struct ball_domain *domains,
                                     size_t n_domains, struct err *e);
/* Compares the values of both sides of each step. ERR_FAILED at the first step that is refuted;
 * *step is its index. Variables have these domains, and are positive otherwise. */
enum err_code explanation_check_values(size_t *step, const struct explanation *x,
                                       const struct expr *from, const struct ball_domain *domains,
                                       size_t n_domains, struct err *e);

/* ---- contradiction.c ---- */
/* For a graph with a contradiction: ERR_FAILED names both terms, their facts and, unless it is
 * NULL, the rule that made them equal. If the graph keeps proofs, the detail has the derivations of
 * two terms that cannot be equal from a third, unless they are too long; and congruence is
 * restored. */
enum err_code contradiction_fail(struct arena *a, struct egraph *g, const struct ruleset *rules,
                                 const struct rule *rule, struct err *e);
