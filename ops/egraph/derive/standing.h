/* Decides whether two expressions are equal. First it looks for a point at which both have a value.
 * Then values that differ on an open set refute, and normal forms, truth tables or a derivation by
 * rules prove. Every proof is replayed. */
#pragma once

#include "ops/egraph/derive/derive.h"
#include "ops/expr/decide/decide.h"
#include "ops/rules/check/certify.h"

enum standing { STANDING_PROVED, STANDING_REFUTED, STANDING_UNDECIDED, STANDING_NO_VALUE };
const char *standing_word(enum standing s); /* "proved", ..., "no value" */

struct standing_options {
    struct derive_options limits;
    bool own_rules;    /* only the rules may prove; false results that they derive are shown */
    bool sampled;      /* own rules prove even if they themselves are not proved */
    bool verdict_only; /* no derivation if normal forms prove the equality */
};

struct standing_result {
    enum standing standing;
    const char *witness;         /* the point and values that refute */
    struct ball_compare compare; /* comparison of the values */
    const char *undefined;       /* if there is no value: which of the two has none, and why */
    bool partial; /* derived, but both sides are not shown to have values almost everywhere */
    bool exact;   /* decided by truth tables or expansion in the expressions' language */
    struct exact_result table;
    const char *way; /* method of normal_equal, or NULL */
    struct derivation derivation;
    const char *positive; /* for a proof: "x>0, y>0", the assumptions without which values differ;
                             or NULL */
    Eqloom__Basis basis;  /* of a derivation by the user's own rules: that of the weakest ... */
    const char *rests_on; /* ... and what is known of it, "g/r is a claim"; or NULL */
    const char
        *contradiction; /* a contradiction among the rules that was found meanwhile; or NULL */
};

/* `set` is `rules` compiled; the result lives in the arena. */
enum err_code standing_decide(struct standing_result *out, struct arena *a,
                              const struct rules *rules, const struct ruleset *set,
                              const struct expr *x, const struct expr *y,
                              const struct standing_options *options, struct err *e);
