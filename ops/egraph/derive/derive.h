/* Derivations by saturation: of an equality, and of the least term equal to a given one. */
#pragma once

#include "ops/egraph/explain/explanation.h"

struct derive_options {
    uint32_t iterations, max_nodes;
    const struct ball_domain *domains; /* of variables that are not positive */
    size_t n_domains;
    bool real_values; /* terms count as equal if they agree where both are real */
    uint32_t forms;   /* maximum number of pairs of classes that normal forms compare */
};

struct derivation {
    bool found;
    struct explanation proof; /* already replayed: each step is an instance of its rule */
    const char
        *checked;       /* how the step by a normal form was checked; NULL: there is no such step */
    struct err refuted; /* the first step whose values differ; code OK: no step was refuted */
    size_t refuted_step; /* index of that step */
    struct saturate_result run;
    uint32_t nodes;
};

/* Saturates both terms in one e-graph until they are equal. Everything lives in the arena. `set` is
 * `rules` compiled. Fails with ERR_FAILED if the rules contradict each other. */
enum err_code derive_equality(struct derivation *out, struct arena *a, const struct rules *rules,
                              const struct ruleset *set, const struct expr *from,
                              const struct expr *to, const struct derive_options *options,
                              struct err *e);
/* Makes a derivation of one step by normal forms, named after the method that proves it (normal.h),
 * and checks it. */
void derive_by_form(struct derivation *out, struct arena *a, const char *way,
                    const struct expr *from, const struct expr *to,
                    const struct derive_options *options);

/* Saturates one term. The steps lead to the least term in its class. It finds no steps if the term
 * is already the least, if the proof is too long, or if the values of a step differ. Everything
 * lives in the arena. `set` is `rules` compiled. Fails with ERR_FAILED if the rules contradict each
 * other. */
enum err_code derive_least(struct explanation *out, struct arena *a, const struct rules *rules,
                           const struct ruleset *set, const struct expr *from,
                           const struct derive_options *options, struct err *e);
