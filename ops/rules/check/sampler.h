/* Instances of a rule to try: what its pattern variables stand for. Without derivatives and
 * conditions on symbols a variable stands for a value: special reals (0, 1, -1, multiples of pi,
 * the numbers of the rule and their neighbours), random rationals, imaginary and complex numbers.
 * Otherwise it stands for a term in x and y. An instance is a function of the seed and its number.
 */
#pragma once

#include "ops/rules/rule.h"

enum { SAMPLE_MAX_VARIABLES = 16 };

struct sample_variable {
    const char *name;
    bool real, integer, constant, symbol; /* demanded by single conditions */
    struct expr *near;                    /* in its range and at the borders of conditions */
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
    struct expr *borders; /* numbers just beside those with which a term is compared */
    size_t n_borders;
};

struct instance {
    struct expr values[SAMPLE_MAX_VARIABLES]; /* by variable of the sampler */
};

/* ERR_LIMIT: the rule has more variables than can be sampled. */
enum err_code sampler_init(struct sampler *s, struct arena *a, const struct rule *r, uint64_t seed,
                           struct err *e);
/* After so many instances every special value has been tried. */
uint32_t sampler_min_instances(const struct sampler *s);
void sampler_draw(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k);
/* x with the instance's values for its pattern variables. */
struct expr sampler_substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                               const struct instance *values);
