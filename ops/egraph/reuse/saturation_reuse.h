/* Does a saturation that ended earlier stand under other rules? E-graphs only grow, so a rule
 * without a match in the final e-graph never matched, and a rule that never matched changes
 * nothing, unless it looks farther down than any other (it would make searches visit more nodes).
 * Hence the result stands if every rule that matched is still there, unchanged, the farthest look
 * is as far, and no rule that is new or edited matches. (Two rules that are there before and after
 * stand in the same order: a rule set is ordered by group and name.)
 *
 * For this a run leaves a SaturationTrace: the rules that matched (before their conditions were
 * asked), and a signature of what its searches could see (signature.h). That a new rule matches
 * nowhere follows
 * - from a rule that was there, did not match, has the same left side and looks as far: so it is
 *   with most edits, which change the other side, a condition or a name;
 * - else from the signature;
 * - else from the stored e-graph, if its canonical form left nothing out.
 *
 * Traces of many runs unite into one, by which all of them are known to stand at once. */
#ifndef OPS_EGRAPH_REUSE_SATURATION_REUSE_H
#define OPS_EGRAPH_REUSE_SATURATION_REUSE_H

#include "engine/op.h"
#include "ops/egraph/graph/egraph.h"

struct reuse_rules;
/* `records` as read, before they were sorted into `rules`; what they refer to must live as long.
 * `unsound`: what every e-graph made with them will say. */
struct reuse_rules *reuse_rules_new(const struct rules *rules, const struct ruleset *compiled,
                                    const Eqloom__Rule *const *records, bool unsound);
void reuse_rules_free(struct reuse_rules *r);

/* What became of the rules since an earlier set: `added` are the positions of records that are new
 * or edited, `gone` the records that are there no more. Read-only once made. */
struct reuse_change;
struct reuse_change *reuse_change_new(const struct reuse_rules *now, const uint64_t *added,
                                      size_t n_added, const Eqloom__Rule *const *gone,
                                      size_t n_gone);
void reuse_change_free(struct reuse_change *c);

/* The trace of a finished run of g, whose canonical form `m` is; none (data NULL) where nothing can
 * be proved. */
enum err_code reuse_trace(struct span *out, struct arena *a, const struct reuse_rules *r,
                          const struct saturate_result *result, struct egraph *g,
                          const Eqloom__EGraph *m, struct err *e);
enum err_code reuse_unite(struct span *out, struct arena *a, const struct span *traces, size_t n,
                          struct err *e);

struct reuse_question {
    struct span trace; /* of the earlier run, which stood under the rules before the change */
    const struct reuse_change *change;
    /* Gives the earlier e-graph; called at most once. NULL: it cannot be had. */
    enum err_code (*load)(void *arg, const Eqloom__EGraph **out, struct err *e);
    void *arg;
};
struct reuse_answer {
    bool stands;
    size_t by_pattern, by_signature, by_matching; /* new or edited rules refuted */
};
enum err_code reuse_decide(struct reuse_answer *out, struct arena *a,
                           const struct reuse_question *q, struct err *e);

#endif
