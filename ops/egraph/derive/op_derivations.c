/* The op `derivations`: turns clusters and rules into derivations, some of them with a mistake. */
#include "engine/op.h"
#include "ops/egraph/derive/mistake.h"
#include "ops/egraph/run/rules_input.h"

#include <string.h>

static const struct op_param params[] = {
    {"per_cluster", OP_INT, "10", NULL, 1, 1e6,
     "Maximum number of derivations from members of each cluster."},
    {"by", OP_ENUM, "rules", "rules|evaluation", 0, 0,
     "What the steps are: applications of rules; or evaluations, from the leaves to the root, of "
     "derivatives, functions of their inverses, and polynomials."},
    {"steps", OP_INT, "4", NULL, 1, 1000, "Minimum number of steps of a derivation."},
    {"max_steps", OP_INT, "8", NULL, 1, 1000,
     "Maximum number of steps; further steps are cut off."},
    {"wrong", OP_REAL, "0.9", NULL, 0, 1, "Approximate fraction of derivations with a mistake."},
    {"max_tokens", OP_INT, "50", NULL, 1, 100000,
     "Maximum length of each term of a derivation, in tokens."},
    {"iterations", OP_INT, "4", NULL, 1, 10000,
     "Maximum number of iterations of rewriting a member."},
    {"max_nodes", OP_INT, "500", NULL, 1, 100000000, "Maximum number of e-nodes."},
    {"points", OP_INT, "8", NULL, 1, 1000, "Number of points at which values are compared."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the random number generator."},
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
    .doc = "E-Gen's derivations for mistake detection. Members of a cluster are simplified, one "
           "rule at a time, to the least term that the rules derive; each step is replayed and its "
           "values are compared. Some derivations have a mistake: in one step one operator is "
           "altered, and values or normal forms show that the result differs from the previous "
           "term. They continue from the wrong term, so exactly one step is wrong. Members that "
           "need fewer steps are skipped. `by: evaluation` uses no rules, so that its steps differ "
           "from those by which clusters are made.",
    .params = params,
    .inputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters whose members are simplified."},
        {"rules", KIND_RULE, OP_COLLECTION, false, "Certified rules that the steps apply.",
         "certified"}),
    .outputs = OP_PORTS({"exercises", KIND_EXERCISE, OP_COLLECTION, false,
                         "One exercise per derivation, with its terms."}),
    .check = check,
    .prepare = prepare,
    .release = op_rules_release,
    .run = run,
};
