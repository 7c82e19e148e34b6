/* Instances of a rule to try: what its pattern variables stand for. Without derivatives and
 * questions about symbols a variable stands for a value: special reals (0, 1, -1, multiples of
 * pi, the numbers of the rule and their neighbours), random rationals, imaginary and complex
 * numbers. Otherwise it stands for a term in x
 * and y. An instance is a function of the seed and its number. */
#ifndef OPS_RULES_SAMPLE_H
#define OPS_RULES_SAMPLE_H

#include "ops/rules/rule.h"

enum { SAMPLE_MAX_VARIABLES = 16 };

/* Values to begin with, in infix; see sample_tables.c. */
extern const char *const sample_reals[], *const sample_complexes[], *const sample_terms[],
                                                                        *const sample_integers[];
extern const size_t sample_reals_n, sample_complexes_n, sample_terms_n, sample_integers_n;

struct sample_variable {
    const char *name;
    bool real, integer, constant, symbol; /* what single conditions ask of it */
    struct expr *near;                    /* in its range and at the bounds of conditions */
    size_t n_near;
};

struct sampler {
    const struct language *lang;
    uint64_t seed;
    struct sample_variable variables[SAMPLE_MAX_VARIABLES];
    size_t n;
    bool symbolic;                          /* variables stand for terms in x and y */
    struct expr *reals, *complexes, *terms; /* the simplest first */
    size_t n_reals, n_complexes, n_terms;
};

struct instance {
    struct expr values[SAMPLE_MAX_VARIABLES]; /* by variable of the sampler */
};

/* ERR_LIMIT: more variables than can be sampled. The conditions are the rule's and further ones. */
enum err_code sampler_init(struct sampler *s, struct arena *a, const struct rule *r,
                           const struct rule_condition *more, size_t n_more, uint64_t seed,
                           struct err *e);
/* How many instances have to be tried so that each special value has had its turn. */
uint32_t sampler_rounds(const struct sampler *s);
void sampler_draw(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k);
/* x with the instance's values for its pattern variables. */
struct expr sampler_substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                               const struct instance *values);

#endif
