/* Explains why two terms are equal: rewriting steps from one to the other. A first list comes from
 * the proof forest, a shorter one from a search among the terms of the e-graph. A replay checks
 * them with only the rules. */
#pragma once

#include "ops/egraph/graph/egraph.h"
#include "ops/expr/ball/ball.h"

struct explain_step {
    const char *rule;  /* "group/name", "arithmetic", "given", or the method of a normal form */
    bool backwards;    /* the rule was applied from right to left */
    uint32_t position; /* position of the changed subterm, in prefix order */
    struct expr term;  /* the whole term after the step */
};
struct explanation {
    struct explain_step *steps; /* without the first term; the last step ends at the other */
    size_t n;
    /* No derivation through terms of the graph has fewer steps. This excludes derivations in which
     * a step, read from either end to the middle, applies arithmetic or a rule that loses a
     * variable backwards. */
    bool shortest;
    const struct ball_domain *domains; /* of the variables that are not positive */
    size_t n_domains;
    /* How explanation_check checked the steps by normal forms: the least exact method of
     * explanation_check_form among them. NULL: there are no such steps. */
    const char *checked;
};

/* ---- shorten.c ---- */
/* Finds steps from one term to another. The graph keeps proofs and was saturated with these rules
 * only. The result lives in the arena. Fails with ERR_NOTFOUND if the terms are not equal in the
 * graph, with ERR_LIMIT if the explanation is too long. */
enum err_code egraph_explain(struct explanation *out, struct arena *a, struct egraph *g,
                             const struct ruleset *rules, const struct expr *from,
                             const struct expr *to, struct err *e);
/* Writes a line per step, "  = TERM   [RULE, backwards]", each after `indent`. Marks the step with
 * index `mark` as false (SIZE_MAX: no step). */
void explanation_write(struct buf *out, struct arena *a, const struct explanation *x,
                       expr_printer *show, const char *indent, size_t mark);

/* ---- explanation.c ---- */
/* Returns the steps along the proof forest; fails like egraph_explain. */
enum err_code explanation_connect(struct explanation *out, struct arena *a, struct egraph *g,
                                  const struct ruleset *rules, const struct expr *from,
                                  const struct expr *to, struct err *e);
/* Returns the term that was added as node n, in a graph that keeps proofs; false if it is too
 * large. */
bool explanation_node_term(struct expr *out, struct arena *a, struct egraph *g, uint32_t n);

/* ---- derivation_search.c ---- */
/* Replaces *p by a shorter derivation if it finds one among `max_terms` terms, and sets
 * p->shortest. */
void explanation_search(struct explanation *p, struct arena *a, struct egraph *g,
                        const struct ruleset *rules, const struct expr *from, const struct expr *to,
                        size_t max_terms);

/* ---- replay.c ---- */
/* Checks that each step is, at its position, an instance of its rule or exact arithmetic, or passes
 * explanation_check_form. Otherwise fails with ERR_FAILED, which names the step. */
enum err_code explanation_check(struct explanation *x, const struct expr *from,
                                const struct expr *to, const struct rules *rules, struct err *e);
/* Checks a step by normal forms with methods that share no code with them: identities modulo random
 * primes, constants by a separation bound. *how names the method; it is "values" if neither applies
 * and only explanation_check_values can check the step. Fails with ERR_FAILED if the sides
 * differ. */
enum err_code explanation_check_form(const char **how, const struct expr *from,
                                     const struct expr *to, const struct ball_domain *domains,
                                     size_t n_domains, struct err *e);
/* Compares the values of both sides of each step. Fails with ERR_FAILED at the first refuted step;
 * *step is its index. Variables without one of these domains are positive. */
enum err_code explanation_check_values(size_t *step, const struct explanation *x,
                                       const struct expr *from, const struct ball_domain *domains,
                                       size_t n_domains, struct err *e);

/* ---- contradiction.c ---- */
/* For a graph with a contradiction: fails with ERR_FAILED, which names both terms, their facts and,
 * unless it is NULL, the rule that made them equal. If the graph keeps proofs, restores congruence
 * and puts into the error's detail the derivations, from a third term, of two terms that cannot be
 * equal, unless they are too long. */
enum err_code contradiction_fail(struct arena *a, struct egraph *g, const struct ruleset *rules,
                                 const struct rule *rule, struct err *e);
