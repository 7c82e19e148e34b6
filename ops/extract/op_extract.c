/* The op `extract`: draws clusters from e-graphs. */
#include "engine/op.h"
#include "ops/extract/extract_cluster.h"
#include "ops/extract/extract_reads.h"

#include <string.h>

static const struct op_param params[] = {
    {"max_tokens", OP_INT, "25", NULL, 1, EXTRACT_MAX_TOKENS - 1,
     "Maximum length of a member in prefix tokens; a fraction counts as three."},
    {"per_cluster", OP_INT, "100", NULL, 1, 1e6,
     "Maximum number of members of a cluster, including the seed."},
    {"min_members", OP_INT, "2", NULL, 1, 1e6, "Clusters with fewer members are left out."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the draw."},
    {"lengths", OP_ENUM, "uniform-lengths", "uniform-lengths|mean", 0, 0,
     "Equal shares of all lengths, or shares that change by a constant factor from length to "
     "length, such that the mean length is `mean_tokens`."},
    {"mean_tokens", OP_REAL, "15", NULL, 1, EXTRACT_MAX_TOKENS - 1,
     "Mean length for `lengths: mean`, or as close to it as the terms allow."},
    {"shapes", OP_ENUM, "even", "even|proportional", 0, 0,
     "Within a length, either all operators are equally likely at every place, or all terms are "
     "equally likely."},
    {"max_digits", OP_INT, "4", NULL, 0, 1000,
     "Leave out numbers with more digits in the numerator or denominator; 0: no limit."},
    {"verify", OP_BOOL, "true", NULL, 0, 0,
     "Compare each member with the seed, by normal forms or at points."},
    {"points", OP_INT, "5", NULL, 1, 1000, "Number of points at which members are compared."},
    {NULL},
};

static bool is(struct op_ctx *ctx, const char *param, const char *value)
{
    return strcmp(op_string(ctx, param), value) == 0;
}

static struct extract_options options_of(struct op_ctx *ctx)
{
    return (struct extract_options){
        .grammar = {.max_tokens = (uint32_t)op_int(ctx, "max_tokens"),
                    .max_digits = (uint32_t)op_int(ctx, "max_digits")},
        .per_cluster = (uint32_t)op_int(ctx, "per_cluster"),
        .draw = {.lengths = is(ctx, "lengths", "mean") ? DRAW_MEAN : DRAW_LENGTHS,
                 .shapes = is(ctx, "shapes", "even") ? DRAW_EVEN : DRAW_PROPORTIONAL,
                 .mean_tokens = op_real(ctx, "mean_tokens")},
        .verify = op_bool(ctx, "verify"),
        .points = (uint32_t)op_int(ctx, "points"),
    };
}

/* The draw depends only on the part of the grammar that terms come from. If an earlier e-graph of
 * the seed had the same part, the earlier cluster is the result. */
static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct extract_options options = options_of(ctx);
    ProtobufCMessage *egraph;
    struct extraction x;
    Eqloom__Cluster cluster;
    enum err_code code = op_get(&egraph, ctx, "egraphs", 0, e);
    if (!code)
        code = extract_begin(&x, a, (Eqloom__EGraph *)egraph, &options, e);
    if (code)
        return err_up(e, code);
    struct span reads = extract_reads(a, &x.grammar, x.egraph);
    if (op_recall(ctx, reads, "it has the same terms within the budget"))
        return OK;
    struct rng rng = op_rng_of(ctx, reads);
    if (!(code = extract_cluster(&cluster, a, &x, &rng, e)) &&
        cluster.n_members >= (size_t)op_int(ctx, "min_members"))
        code = op_emit(NULL, ctx, "clusters", &cluster.base, e);
    return err_up(e, code);
}

const struct op op_extract = {
    .name = "extract",
    .version = 10,
    .node = OP_MAP,
    .doc = "Draws terms of the seed's class from each e-graph. It counts the terms of each length "
           "exactly, draws without replacement by unranking, and compares every member with the "
           "seed. A refuted member fails its element; a member that has no value wherever the seed "
           "has one is replaced. It leaves out terms with neutral elements, operations on two "
           "numbers, functions of their own inverse, double negations, reciprocals of reciprocals, "
           "other terms for a number, and terms with a part that equals its own operand. The draw "
           "depends on the seed and on the e-nodes of such terms, so a change elsewhere in an "
           "e-graph does not change its cluster.",
    .params = params,
    .inputs = OP_PORTS({"egraphs", KIND_EGRAPH, OP_COLLECTION, false, "Saturated e-graphs."}),
    .outputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Expressions equal to each seed."}),
    .run = run,
};
