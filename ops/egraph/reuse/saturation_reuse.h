/* Decides whether the result of an earlier saturation is still the result under changed rules.
 * E-graphs only grow, so a rule without a match in the final e-graph never matched. A rule that
 * never matched changes nothing, unless it is deeper than all others (then searches would visit
 * more nodes). Hence the result is still valid if every rule that matched is still present and
 * unchanged, the maximum depth is the same, and no new or edited rule matches. Unchanged rules keep
 * their order, since a rule set is ordered by group and name.
 *
 * A run leaves a SaturationTrace: the rules that matched (before their conditions were decided),
 * and a signature of what its searches could see (signature.h). A new rule is shown to match
 * nowhere by
 * - an earlier rule with the same left side and depth that did not match: this covers most edits,
 *   which change the right side, a condition or a name;
 * - or else the signature.
 * If neither shows it, the expression is saturated again.
 *
 * The traces of many runs can be united into one, which decides about all of them at once. */
#pragma once

#include "engine/op.h"
#include "ops/egraph/graph/egraph.h"

struct reuse_rules;
/* `records` are in the order of the input, before they were sorted into `rules`. All arguments must
 * outlive the result. `basis`: what they rest on. */
struct reuse_rules *reuse_rules_new(const struct rules *rules, const struct ruleset *compiled,
                                    const Eqloom__Rule *const *records, Eqloom__Basis basis);
void reuse_rules_free(struct reuse_rules *r);

/* The difference from an earlier set of rules: `added` holds the positions of records that are new
 * or edited, `gone` the records that were removed. Read-only once made. */
struct reuse_change;
struct reuse_change *reuse_change_new(const struct reuse_rules *now, const uint64_t *added,
                                      size_t n_added, const Eqloom__Rule *const *gone,
                                      size_t n_gone);
void reuse_change_free(struct reuse_change *c);

/* Returns the trace of a finished run of g; its data is NULL if nothing can be proved. */
enum err_code reuse_trace(struct span *out, struct arena *a, const struct reuse_rules *r,
                          const struct saturate_result *result, struct egraph *g, struct err *e);
enum err_code reuse_unite(struct span *out, struct arena *a, const struct span *traces, size_t n,
                          struct err *e);

struct reuse_answer {
    bool stands;
    size_t by_pattern, by_signature; /* new or edited rules shown not to match */
};
/* `trace` is that of the earlier run. */
enum err_code reuse_decide(struct reuse_answer *out, struct arena *a, struct span trace,
                           const struct reuse_change *change, struct err *e);
