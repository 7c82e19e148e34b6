/* Derivations found by saturation: of an equality, and of the least term equal to a given one. */
#pragma once

#include "ops/egraph/explain/explanation.h"

struct derive_options {
    uint32_t iterations, max_nodes;
    const struct ball_domain *domains; /* of variables that are not positive */
    size_t n_domains;
    bool real_values; /* equal where both are real */
    uint32_t forms;   /* pairs of classes that normal forms compare on the way */
};

struct derivation {
    bool found;
    struct explanation proof; /* replayed: each step is an instance of its rule */
    const char *checked;      /* how the step by a normal form was, or NULL: there is none */
    struct err refuted;       /* the first step whose values differ; code OK: there is none */
    size_t refuted_step;      /* its index */
    struct saturate_result run;
    uint32_t nodes;
};

/* Saturates both terms in one e-graph until they are equal. Everything lives in the arena. `set` is
 * `rules` compiled. ERR_FAILED: the rules contradict each other. */
enum err_code derive_equality(struct derivation *out, struct arena *a, const struct rules *rules,
                              const struct ruleset *set, const struct expr *from,
                              const struct expr *to, const struct derive_options *options,
                              struct err *e);
/* The one step of normal forms, named after the way in which they prove (normal.h); checked. */
void derive_by_form(struct derivation *out, struct arena *a, const char *way,
                    const struct expr *from, const struct expr *to,
                    const struct derive_options *options);

/* Saturates one term. The steps lead to the least term in its class; there are none if it is the
 * least already, if the proof is too long, or if the values of a step differ. Lives in the arena.
 * `set` is `rules` compiled. ERR_FAILED: the rules contradict each other. */
enum err_code derive_least(struct explanation *out, struct arena *a, const struct rules *rules,
                           const struct ruleset *set, const struct expr *from,
                           const struct derive_options *options, struct err *e);
