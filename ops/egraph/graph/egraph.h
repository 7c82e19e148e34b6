/* The e-graph: classes of equal terms, closed under congruence. Flat arrays, 32-bit ids,
 * hash-consing, union-find, deferred rebuilding (Willsey et al. 2021, "egg"). Not thread-safe. */
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
/* Empties the graph, as if it were new, for another term of the same language. Its memory and
 * cached facts are kept, so that the next graph is faster. */
void egraph_clear(struct egraph *g);
/* Variables are real and positive unless declared "nonnegative", "real", "nonzero", "integer" or
 * "complex", or within an interval, before their first use; the texts are borrowed. ERR_INPUT for
 * other words. */
enum err_code egraph_declare(struct egraph *g, const struct ball_domain *domain, struct err *e);
/* Remembers why terms are equal, for egraph_explain; to be called before anything is added. */
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
    uint32_t nodes;    /* when it began */
    uint32_t searched; /* nodes that were searched */
    uint64_t matches;  /* found */
};
/* What one rule cost, beside what it found (in struct saturate_result). */
struct rule_profile {
    uint64_t searched; /* nodes searched, with all rules of the same beginning */
    double steps;      /* its share of the search steps, see ematch.h */
    uint64_t applied;  /* matches whose conditions held, new or not */
    uint64_t nodes;    /* made by these */
    uint32_t banned;   /* times */
};
struct saturate_options {
    uint32_t iterations; /* limit */
    /* No match is applied, and no constant is folded, once there are so many e-nodes; the last
     * application may still add its whole right-hand side, and the last constant with its fraction.
     */
    uint32_t max_nodes;
    uint64_t max_matches; /* in all; 0: no limit */
    uint32_t match_limit; /* backoff: a rule with more matches in one iteration is banned ... */
    uint32_t ban_length;  /* ... for so many iterations; both double each time. 0: no backoff */
    bool explain;         /* keep proofs */
    /* Pairs of classes with equal values that normal forms compare, and join; calculus only. */
    uint32_t forms;
    bool (*cancelled)(void *arg); /* polled, if not NULL: true stops the run */
    void *cancelled_arg;
    /* Called after each iteration, if not NULL. */
    void (*observe)(void *arg, const struct saturate_iteration *i);
    void *observe_arg;
    /* By rule, if not NULL: counts what each costs; the result is the same. Also of runs that fail.
     */
    struct rule_profile *profile;
    bool has_goal; /* stop as soon as these two are equal */
    eclass_id goal[2];
};
struct saturate_result {
    Eqloom__StopReason stop;
    uint32_t iterations;
    uint64_t *matched, *applied; /* by rule, in the given arena */
    /* What the run could see, or could have seen with one more rule that looks no deeper: no search
     * read nodes from `searched` on, and none began at nodes from `roots` on. */
    uint32_t searched, roots;
};
enum err_code egraph_saturate(struct saturate_result *out, struct egraph *g,
                              const struct ruleset *rules, const struct saturate_options *options,
                              struct arena *a, struct err *e);
/* Whether saturation failed because the rules contradict themselves. With proofs kept, the error's
 * detail has the two derivations that collide. */
bool egraph_contradicts(const struct egraph *g);
/* Canonical form into a message that lives in the arena; see schemas/egraph.proto. */
void egraph_to_message(Eqloom__EGraph *out, struct arena *a, struct egraph *g, eclass_id root);
