/* Draws instances of a rule: substitutions for its pattern variables. Without derivatives and
 * conditions on symbols, a variable is replaced by a value: special reals (0, 1, -1, multiples of
 * pi, the numbers of the rule and their neighbours), random rationals, imaginary and complex
 * numbers. Otherwise it is replaced by a term in x and y. An instance is a function of the seed and
 * its number. */
#pragma once

#include "ops/rules/rule.h"

enum { SAMPLE_MAX_VARIABLES = 16 };

struct sample_variable {
    const char *name;
    bool real, integer, constant, symbol; /* demanded by single conditions */
    struct expr *near;                    /* values in its range and at the borders of conditions */
    size_t n_near;
};

struct sampler {
    const struct language *lang;
    uint64_t seed;
    struct sample_variable variables[SAMPLE_MAX_VARIABLES];
    size_t n;
    bool symbolic;                          /* variables are replaced by terms in x and y */
    struct expr *reals, *complexes, *terms; /* simplest first */
    size_t n_reals, n_complexes, n_terms;
    struct expr *borders; /* neighbours of the numbers with which a term is compared */
    size_t n_borders;
};

struct instance {
    struct expr values[SAMPLE_MAX_VARIABLES]; /* indexed as the sampler's variables */
};

/* Fails with ERR_LIMIT if the rule has more variables than can be sampled. */
enum err_code sampler_init(struct sampler *s, struct arena *a, const struct rule *r, uint64_t seed,
                           struct err *e);
/* The number of instances after which every special value has been tried. */
uint32_t sampler_min_instances(const struct sampler *s);
void sampler_draw(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k);
/* Replaces the pattern variables of x by the values of the instance. */
struct expr sampler_substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                               const struct instance *values);
