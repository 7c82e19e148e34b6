/* Values of a rule's terms at one instance; between the files of certification. */
#ifndef OPS_RULES_CHECKER_H
#define OPS_RULES_CHECKER_H

#include "ops/expr/ball/ball_eval.h"
#include "ops/rules/sample.h"

enum { CHECK_FIRST_PRECISION = 96, CHECK_LAST_PRECISION = 800, CHECK_MAX_SYMBOLS = 8 };

struct checker {
    struct sampler sampler;
    struct ball_evaluator left, right; /* each keeps its last value */
    struct {
        const char *name;
        double value;
        acb_struct ball;
    } symbols[CHECK_MAX_SYMBOLS];
    size_t n_symbols;
    uint64_t seed;
    uint32_t instance; /* its number: symbols have other values in each */
};

/* Whether the instance meets all the conditions; what stays open at the last precision does not. */
bool checker_admits(struct checker *c, struct arena *a, const struct rule_condition *conditions,
                    size_t n, const struct instance *values);
/* A variable of the user's, not pi or e. */
bool checker_is_symbol(const struct expr *x);

#endif
