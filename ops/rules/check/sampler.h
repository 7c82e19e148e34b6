/* Instances of a rule: substitutions for its variables. Without derivatives and conditions on
 * symbols, a variable is replaced by a value. Otherwise it is replaced by a term in x and y; where
 * the values are designed, by one with that value and any derivatives at x. First come special
 * values, which are the simplest, then levels, then the cells of the sides and of the conditions. An
 * instance is a function of the rule and its number, whatever the variables are called. */
#pragma once

#include "ops/expr/compare/design.h"
#include "ops/rules/rule.h"

enum { SAMPLE_MAX_VARIABLES = 16 };

enum sample_form {
    SAMPLE_TERM,
    SAMPLE_CONSTANT_OR_TERM, /* special terms, and constants where designed */
    SAMPLE_CONSTANT,
    SAMPLE_SYMBOL,  /* x or y */
    SAMPLE_LITERAL, /* a symbol of the rule itself */
};

struct sampler {
    const struct language *lang;
    const struct rule *rule;
    struct design_variable variables[SAMPLE_MAX_VARIABLES]; /* and what conditions demand of them */
    enum sample_form form[SAMPLE_MAX_VARIABLES];
    size_t n;
    bool symbolic;                          /* variables are replaced by terms in x and y */
    struct expr *reals, *complexes, *terms; /* simplest first */
    size_t n_reals, n_complexes, n_terms;
    uint64_t salt;
    struct design_points cells;
};

struct sample_symbol {
    const char *name;
    double value;
};

struct instance {
    struct expr values[SAMPLE_MAX_VARIABLES]; /* indexed as the sampler's variables */
    struct sample_symbol symbols[SAMPLE_MAX_VARIABLES]; /* whose values are given */
    size_t n_symbols;
};

/* Fails with ERR_LIMIT if the rule has too many variables. Borrows the rule. */
enum err_code sampler_init(struct sampler *s, struct arena *a, const struct rule *r, struct err *e);
uint32_t sampler_count_special(const struct sampler *s);
void sampler_special(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k);
void sampler_level(struct instance *out, struct arena *a, const struct sampler *s, uint32_t k);
/* Returns the number of cells; design_points_free(&s->cells) when they are done. */
size_t sampler_find_cells(struct sampler *s, struct arena *a);
void sampler_cell(struct instance *out, struct arena *a, const struct sampler *s, size_t k);
/* Replaces the variables of x by the values of the instance. */
struct expr sampler_substitute(struct arena *a, const struct sampler *s, const struct expr *x,
                               const struct instance *values);
