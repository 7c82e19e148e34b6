/* Decides whether findings are equal to a query: proved, refuted or undecided, with the reason in
 * words; "no value" if one is shown to have none. */
#pragma once

#include "cluster.pb-c.h"
#include "ops/egraph/graph/egraph.h"
#include "ops/expr/ball/domain_record.h"
#include "ops/rules/rule.h"

#include <stdio.h>

enum verdict { VERDICT_PROVED, VERDICT_REFUTED, VERDICT_UNDECIDED, VERDICT_NO_VALUE };
extern const struct verdict_name {
    const char *word, *color; /* color: of the word on a terminal */
} verdict_names[];
/* Prints the word and two blanks. */
void verdict_print(FILE *to, bool color, enum verdict v, const char *word);

/* An expression that was found. Members of a cluster that rules made are equal to its seed, so a
 * proof for one of them is a proof for all. */
struct finding {
    struct expr x;                 /* n is 0 if the text is not an expression */
    uint32_t cluster;              /* its number */
    const Eqloom__Cluster *source; /* NULL if unknown */
    bool by_rules;                 /* certified rules lead from the source's seed to it */
    enum verdict verdict;          /* filled by judge_all */
    const char *why;
};

struct judge {
    uint32_t max_nodes;     /* of an e-graph */
    struct domains domains; /* of variables, before those of a seed */
    bool real_values;       /* equal where both are real */
    /* filled on first use */
    struct arena arena;
    struct rules rules; /* the shipped ones */
    struct ruleset *set;
};
void judge_free(struct judge *j);

/* Fills verdict and why (in the arena) of n findings. Values at points refute; findings whose
 * values agree are saturated, in one e-graph for each cluster. */
enum err_code judge_all(struct judge *j, struct finding *findings, size_t n,
                        const struct expr *question, struct arena *a, struct err *e);
