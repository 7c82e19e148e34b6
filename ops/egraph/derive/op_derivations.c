/* The op `derivations`: turns clusters and rules into derivations, some of them with a mistake. */
#include "engine/op.h"
#include "ops/egraph/derive/mistake.h"
#include "ops/egraph/run/rules_input.h"

#include <string.h>

static const struct op_param params[] = {
    {"per_cluster", OP_INT, "10", NULL, 1, 1e6,
     "Derivations from members of each cluster, at most."},
    {"by", OP_ENUM, "rules", "rules|evaluation", 0, 0,
     "Steps are rules of an e-graph; or evaluations, from the leaves to the root: derivatives, "
     "functions of their inverses, polynomials."},
    {"steps", OP_INT, "4", NULL, 1, 1000, "The fewest steps of a derivation."},
    {"max_steps", OP_INT, "8", NULL, 1, 1000, "The most; further ones are cut off."},
    {"wrong", OP_REAL, "0.9", NULL, 0, 1, "The share of derivations with a mistake, about."},
    {"max_tokens", OP_INT, "50", NULL, 1, 100000, "The length of any of its terms, at most."},
    {"iterations", OP_INT, "4", NULL, 1, 10000, "Iterations of rewriting a member, at most."},
    {"max_nodes", OP_INT, "500", NULL, 1, 100000000, "E-nodes, at most."},
    {"points", OP_INT, "8", NULL, 1, 1000, "At how many points values are compared."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the random choices."},
    {NULL},
};

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, op_rules_prepare(state, ctx, "derivations need true rules", e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct op_rules_state *s = state;
    const Eqloom__Cluster *cluster;
    Eqloom__Exercise *drawn;
    size_t n;
    struct mistake_options options = {
        .most = (uint32_t)op_int(ctx, "per_cluster"),
        .least_steps = (uint32_t)op_int(ctx, "steps"),
        .most_steps = (uint32_t)op_int(ctx, "max_steps"),
        .max_tokens = (uint32_t)op_int(ctx, "max_tokens"),
        .wrong = op_real(ctx, "wrong"),
        .evaluates = strcmp(op_string(ctx, "by"), "evaluation") == 0,
        .iterations = (uint32_t)op_int(ctx, "iterations"),
        .max_nodes = (uint32_t)op_int(ctx, "max_nodes"),
        .points = (uint32_t)op_int(ctx, "points"),
    };
    struct rng rng = op_rng(ctx);
    enum err_code code = op_get(&cluster, ctx, "clusters", 0, e);
    if (!code)
        code = derivations_draw(&drawn, &n, op_arena(ctx), cluster, &s->rules.rules, s->rules.set,
                                &options, &rng, e);
    for (size_t i = 0; !code && i < n; i++)
        code = op_emit(NULL, ctx, "exercises", &drawn[i].base, e);
    ball_thread_cleanup();
    return err_up(e, code);
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    if (op_int(ctx, "steps") > op_int(ctx, "max_steps"))
        return err_fail(e, ERR_INPUT, "'steps' (%d) is more than 'max_steps' (%d)",
                        (int)op_int(ctx, "steps"), (int)op_int(ctx, "max_steps"));
    return OK;
}

const struct op op_derivations = {
    .name = "derivations",
    .version = 2,
    .node = OP_MAP,
    .doc =
        "E-Gen's derivations for mistake detection. Members of a cluster are simplified, one rule "
        "at a time, to the least term that the rules lead to; each step is replayed and its values "
        "are compared. Some have a mistake: one step with one operator altered, refuted against "
        "the term before by values or normal form. They go on from the wrong term, so exactly one "
        "step is wrong. Members that need fewer steps are skipped. By evaluation no rule is used, "
        "so that the steps are none of those by which clusters are made.",
    .params = params,
    .inputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Whose members are to be simplified."},
        {"rules", KIND_RULE, OP_COLLECTION, false, "Certified rules, by which steps are made.",
         "certified"}),
    .outputs = OP_PORTS(
        {"exercises", KIND_EXERCISE, OP_COLLECTION, false, "Each the terms of one derivation."}),
    .check = check,
    .prepare = prepare,
    .release = op_rules_release,
    .run = run,
};
