/* The e-graph: classes of equal terms, closed under congruence. It uses flat arrays, 32-bit ids,
 * hash-consing, union-find, and deferred rebuilding (Willsey et al. 2021, "egg"). Not
 * thread-safe. */
#pragma once

#include "egraph.pb-c.h"
#include "ops/expr/ball/ball.h"
#include "ops/expr/expr.h"
#include "ops/rules/rule.h"

typedef uint32_t eclass_id;
struct egraph;

struct egraph *egraph_new(const struct language *lang);
const struct language *egraph_language(const struct egraph *g);
void egraph_free(struct egraph *g);
/* Empties the graph for another term of the same language. Keeps its memory and cached facts, so
 * that the next graph is faster. */
void egraph_clear(struct egraph *g);
/* Declares a variable's domain, before its first use. Variables are real and positive unless
 * declared "nonnegative", "real", "nonzero", "integer" or "complex", or within an interval. The
 * texts are borrowed. Fails with ERR_INPUT for an unknown domain. */
enum err_code egraph_declare(struct egraph *g, const struct ball_domain *domain, struct err *e);
/* Records why terms are equal, for egraph_explain; call it before adding anything. */
void egraph_keep_proofs(struct egraph *g);
eclass_id egraph_add_expr(struct egraph *g, const struct expr *x);
eclass_id egraph_find(struct egraph *g, eclass_id c);
void egraph_rebuild(struct egraph *g);
uint32_t egraph_count_nodes(const struct egraph *g);
uint32_t egraph_count_classes(const struct egraph *g);

/* ---- saturation ---- */
struct ruleset; /* compiled: patterns as programs; shared by threads, read-only */
struct ruleset *ruleset_new(const struct rules *rules); /* keeps pointers into rules */
void ruleset_free(struct ruleset *r);

struct saturate_iteration {
    uint32_t nodes;    /* at the beginning */
    uint32_t searched; /* nodes searched */
    uint64_t matches;  /* matches found */
};
/* What one rule cost; struct saturate_result holds what it found. */
struct rule_profile {
    uint64_t searched; /* nodes searched, together with all rules of the same prefix */
    double steps;      /* its share of the search steps, see ematch.h */
    uint64_t applied;  /* matches whose conditions held, new or not */
    uint64_t nodes;    /* nodes added by these matches */
    uint32_t banned;   /* number of bans */
};
struct saturate_options {
    uint32_t iterations; /* limit */
    /* Once the graph has this many e-nodes, no match is applied and no constant is folded; the last
     * application may still add its whole right-hand side, and the last constant its fraction. */
    uint32_t max_nodes;
    uint64_t max_matches; /* in total; 0: no limit */
    uint32_t match_limit; /* backoff: a rule with more matches in one iteration is banned ... */
    uint32_t ban_length;  /* ... for this many iterations; both double each time. 0: no backoff */
    bool explain;         /* keep proofs */
    /* Maximum number of pairs of classes with equal values that are compared by normal forms and
     * joined if equal; calculus only. */
    uint32_t forms;
    bool (*cancelled)(void *arg); /* polled, if not NULL: true stops the run */
    void *cancelled_arg;
    /* Called after each iteration, if not NULL. */
    void (*observe)(void *arg, const struct saturate_iteration *i);
    void *observe_arg;
    /* By rule, if not NULL: receives the cost of each, also if the run fails. Does not change the
     * result. */
    struct rule_profile *profile;
    bool has_goal; /* stop as soon as the two goal classes are equal */
    eclass_id goal[2];
};
struct saturate_result {
    Eqloom__StopReason stop;
    uint32_t iterations;
    uint64_t *matched, *applied; /* by rule, in the given arena */
    /* What the run could see, also with one more rule that looks no deeper: no search read nodes
     * from `searched` on, and none began at nodes from `roots` on. */
    uint32_t searched, roots;
};
enum err_code egraph_saturate(struct saturate_result *out, struct egraph *g,
                              const struct ruleset *rules, const struct saturate_options *options,
                              struct arena *a, struct err *e);
/* Returns whether saturation failed because the rules contradict each other. With proofs kept, the
 * error's detail holds the two derivations that collide. */
bool egraph_contradicts(const struct egraph *g);
/* Writes the canonical form as a message that lives in the arena; see schemas/egraph.proto. */
void egraph_to_message(Eqloom__EGraph *out, struct arena *a, struct egraph *g, eclass_id root);
