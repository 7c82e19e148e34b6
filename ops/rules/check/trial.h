/* One trial of a rule: the values of both sides at many instances are compared. */
#pragma once

#include "ops/expr/ball/ball_eval.h"
#include "ops/rules/check/certify.h"
#include "ops/rules/check/sampler.h"

enum {
    TRIAL_FIRST_PRECISION = 96,
    TRIAL_LAST_PRECISION = 800,
    TRIAL_FINEST_PRECISION = 1 << 19, /* to tell narrow balls apart */
    TRIAL_MAX_SYMBOLS = 8
};

struct trial {
    struct sampler sampler;
    struct ball_evaluator left, right; /* each keeps its last value */
    struct {
        const char *name;
        double value;
        acb_struct ball;
    } symbols[TRIAL_MAX_SYMBOLS];
    size_t n_symbols;
    uint64_t seed;
    bool real_values;
    uint32_t instance; /* its number: symbols have other values in each */
};

struct trial_result {
    uint32_t points;   /* instances at which the sides were compared */
    uint32_t admitted; /* instances that met the conditions */
    char *witness;     /* where the sides differ; NULL: nowhere */
    char *one_sided;   /* where only one side has a value, and which; NULL: nowhere */
};

/* Tries instances until `points` of them could be compared or one refutes the rule. ERR_LIMIT: the
 * rule has too many variables. */
enum err_code trial_run(struct trial_result *out, struct arena *a, const struct rule *r,
                        const struct rule_check_options *options, struct err *e);

/* condition_at.c: whether the instance meets the rule's conditions. A condition that is undecided
 * at the last precision is not met. */
bool trial_admits(struct trial *c, struct arena *a, const struct rule *r,
                  const struct instance *values);
