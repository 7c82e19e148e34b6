/* Whether two expressions are equal. First of all, whether both have a value at some point; then
 * values that differ on an open set refute, and normal forms, truth tables or a derivation by rules
 * prove. Every proof is replayed. */
#pragma once

#include "ops/egraph/derive/derive.h"
#include "ops/expr/equality/exact.h"

enum standing { STANDING_PROVED, STANDING_REFUTED, STANDING_UNDECIDED, STANDING_NO_VALUE };
const char *standing_word(enum standing s); /* "proved", ..., "no value" */

struct standing_options {
    struct derive_options limits;
    bool own_rules;    /* nothing but the rules may prove; what they derive wrongly is shown */
    bool verdict_only; /* no derivation where normal forms prove */
};

struct standing_result {
    enum standing standing;
    const char *witness;         /* of a refutation */
    struct ball_compare compare; /* of the values */
    const char *undefined;       /* no value: which of the two never has one */
    bool exact;                  /* decided by truth tables or expansion in its language */
    struct exact_result table;
    const char *way; /* of normal_equal, or NULL */
    struct derivation derivation;
    const char *positive;      /* of a proof: "x>0, y>0", without which values differ; or NULL */
    const char *contradiction; /* of the rules with themselves, met on the way; or NULL */
};

/* `set` is `rules` compiled; everything lives in the arena. */
enum err_code standing_decide(struct standing_result *out, struct arena *a,
                              const struct rules *rules, const struct ruleset *set,
                              const struct expr *x, const struct expr *y,
                              const struct standing_options *options, struct err *e);
