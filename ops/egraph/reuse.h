/* Does a saturation that ended earlier stand under other rules? E-graphs only grow, so a rule
 * without a match in the final e-graph never matched, and a rule that never matched changes
 * nothing, unless it looks farther down than any other (it would make searches visit more nodes).
 * Hence the result stands if every rule that matched is still there, unchanged and in the same
 * order, the farthest look is as far, and no rule that is new or edited matches the final e-graph.
 *
 * For this a run leaves a SaturationTrace: the rules that matched (before their conditions were
 * asked), and a signature of what the last search could see: which operators and leaves stand under
 * which argument of which operator. Most new rules are refuted by it alone; the others are matched
 * against the stored e-graph, if its canonical form left nothing out. */
#ifndef OPS_EGRAPH_REUSE_H
#define OPS_EGRAPH_REUSE_H

#include "engine/op.h"
#include "ops/egraph/egraph.h"

/* Bytes of a rule's digest in a trace: as many as keep two rules apart. */
enum { REUSE_PRINT = 16 };

struct reuse_rules;
/* `records` as read, before they were sorted into `rules`; what they refer to must live as long.
 * `unsound`: what every e-graph made with them will say. */
struct reuse_rules *reuse_rules_new(const struct rules *rules, const struct ruleset *compiled,
                                    const Eqloom__Rule *const *records, bool unsound);
void reuse_rules_free(struct reuse_rules *r);

/* The trace of a finished run of g, whose canonical form `m` is; none (data NULL) where nothing can
 * be proved. */
enum err_code reuse_trace(struct span *out, struct arena *a, const struct reuse_rules *r,
                          const struct saturate_result *result, struct egraph *g,
                          const Eqloom__EGraph *m, struct err *e);

/* One trace for several, as `unite` in op.h wants it: what any of the runs matched or could see. */
enum err_code reuse_unite(struct span *out, struct arena *a, const struct span *traces, size_t n,
                          struct err *e);

struct reuse_question {
    struct span trace;         /* of the earlier run */
    const uint64_t *positions; /* of the records that are new or edited */
    size_t n;
    /* Gives the earlier e-graph; called at most once. NULL: there is none, or are many, and only
     * the signature is asked. */
    enum err_code (*load)(void *arg, const Eqloom__EGraph **out, struct err *e);
    void *arg;
};
struct reuse_answer {
    bool stands;
    size_t by_signature, by_matching; /* new or edited rules refuted */
};
enum err_code reuse_decide(struct reuse_answer *out, struct arena *a, const struct reuse_rules *r,
                           const struct reuse_question *q, struct err *e);

#endif
