/* The op `extract`: e-graphs to clusters. */
#include "engine/op.h"
#include "ops/extract/extract_cluster.h"
#include "ops/extract/extract_reads.h"

#include <stdlib.h>
#include <string.h>

static const struct op_param params[] = {
    {"max_tokens", OP_INT, "25", NULL, 1, EXTRACT_MAX_TOKENS - 1,
     "The longest members, in prefix tokens; a fraction is three."},
    {"per_cluster", OP_INT, "100", NULL, 1, 1e6, "The most members of a cluster, seed included."},
    {"min_members", OP_INT, "2", NULL, 1, 1e6, "Smaller clusters are left out."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Of the draw."},
    {"lengths", OP_ENUM, "uniform-lengths", "uniform-lengths|uniform-terms|mean", 0, 0,
     "Equal shares of all lengths, as a uniform draw from all terms, or shares that change by one "
     "factor from length to length, such that the mean is `mean_tokens`."},
    {"mean_tokens", OP_REAL, "15", NULL, 1, EXTRACT_MAX_TOKENS - 1,
     "The mean length that `lengths: mean` makes for, as far as there are terms."},
    {"shapes", OP_ENUM, "even", "even|root|proportional", 0, 0,
     "Within a length: operators equally likely at every place, equal shares of the e-nodes at the "
     "root, or all terms equally likely."},
    {"commutative", OP_ENUM, "keep", "keep|merge", 0, 0,
     "Keep terms that differ in the order of operands only, or take one of each."},
    {"filter", OP_ENUM, "standard", "standard|none", 0, 0,
     "Leave out neutral elements, operations on two numbers, functions of their own inverse, "
     "double "
     "negations and reciprocals of reciprocals."},
    {"loops", OP_ENUM, "drop", "drop|keep", 0, 0,
     "Leave out terms with a part that equals its own operand or an operand of that: x+0, "
     "a-(a-x)."},
    {"constants", OP_ENUM, "number", "number|all", 0, 0,
     "Write what equals a number as that number, or as any term equal to it."},
    {"max_digits", OP_INT, "4", NULL, 0, 1000,
     "Leave out numbers with more digits in numerator or denominator; 0 admits all."},
    {"verify", OP_BOOL, "true", NULL, 0, 0,
     "Compare each member with the seed by ball arithmetic."},
    {"points", OP_INT, "5", NULL, 1, 1000, "At how many points."},
    {"low", OP_REAL, "0.05", NULL, 0, 0, "Variables are positive and drawn from here ..."},
    {"high", OP_REAL, "12", NULL, 0, 0, "... to here."},
    {"never_both", OP_ENUM, "drop", "drop|keep", 0, 0,
     "What to do with members that could be evaluated at no point together with the seed: draw "
     "others in their place, or keep them."},
    {NULL},
};

static const struct op_port inputs[] = {
    {"egraphs", KIND_EGRAPH, OP_COLLECTION, false, "Saturated e-graphs."},
    {"rules", KIND_RULE, OP_COLLECTION, true,
     "Those of the e-graphs: where a member is refuted, the message says how it follows from them. "
     "Worth naming where false rules are let through; after an edited rule all e-graphs are then "
     "read again."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Expressions equal to each seed."},
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
                    .max_digits = (uint32_t)op_int(ctx, "max_digits"),
                    .filter = is(ctx, "filter", "standard"),
                    .leaf_constants = is(ctx, "constants", "number"),
                    .merge_commutative = is(ctx, "commutative", "merge"),
                    .drop_loops = is(ctx, "loops", "drop")},
        .per_cluster = (uint32_t)op_int(ctx, "per_cluster"),
        .draw = {.lengths = is(ctx, "lengths", "mean")            ? DRAW_MEAN
                            : is(ctx, "lengths", "uniform-terms") ? DRAW_TERMS
                                                                  : DRAW_LENGTHS,
                 .shapes = is(ctx, "shapes", "even")   ? DRAW_EVEN
                           : is(ctx, "shapes", "root") ? DRAW_ROOT
                                                       : DRAW_PROPORTIONAL,
                 .mean_tokens = op_real(ctx, "mean_tokens")},
        .verify = op_bool(ctx, "verify"),
        .keep_never_both = is(ctx, "never_both", "keep"),
        .points = (uint32_t)op_int(ctx, "points"),
        .low = op_real(ctx, "low"),
        .high = op_real(ctx, "high"),
    };
}

/* ---- rules, for messages ---- */

struct extract_state {
    struct arena arena;
    struct rules rules;
};

static void release(void *state)
{
    struct extract_state *s = state;
    if (s)
        arena_free(&s->arena);
    free(s);
}

static enum err_code read_rules(struct extract_state *s, struct op_ctx *ctx, struct err *e)
{
    uint64_t n = op_count(ctx, "rules");
    s->rules.rules = arena_array(&s->arena, struct rule, n);
    for (; s->rules.n < n; s->rules.n++) {
        ProtobufCMessage *m;
        enum err_code code = err_up(e, op_get_in(&m, ctx, "rules", s->rules.n, &s->arena, e));
        if (code || (code = err_up(e, rule_from_message(&s->rules.rules[s->rules.n], &s->rules.lang,
                                                        &s->arena, (Eqloom__Rule *)m, e))))
            return code;
    }
    rules_sort(&s->rules);
    return OK;
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    *state = NULL;
    if (op_count(ctx, "rules") == 0)
        return OK;
    struct extract_state *s = calloc(1, sizeof *s);
    if (!s)
        return err_fail(e, ERR_NOMEM, "out of memory");
    enum err_code code = read_rules(s, ctx, e);
    if (code)
        release(s);
    else
        *state = s;
    return code;
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    if (!(op_real(ctx, "low") < op_real(ctx, "high")))
        return err_fail(e, ERR_INPUT, "'low' (%g) must be below 'high' (%g)", op_real(ctx, "low"),
                        op_real(ctx, "high"));
    return OK;
}

/* What is drawn depends on the part of the grammar that terms come from; should an earlier e-graph
 * of the seed have had the same, neither draws nor comparisons are made again. */
static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct extract_options options = options_of(ctx);
    options.rules = state ? &((const struct extract_state *)state)->rules : NULL;
    ProtobufCMessage *egraph;
    struct extraction x;
    Eqloom__Cluster cluster;
    enum err_code code = err_up(e, op_get(&egraph, ctx, "egraphs", 0, e));
    if (!code)
        code = err_up(e, extract_begin(&x, a, (Eqloom__EGraph *)egraph, &options, e));
    if (code)
        return code;
    struct span reads = extract_reads(a, &x.grammar, x.egraph);
    if (op_recall(ctx, reads, "it has the same terms within the budget"))
        return OK;
    struct rng rng = op_rng_of(ctx, reads);
    code = err_up(e, extract_cluster(&cluster, a, &x, &rng, e));
    if (code || cluster.n_members < (size_t)op_int(ctx, "min_members"))
        return code;
    return err_up(e, op_emit(NULL, ctx, "clusters", &cluster.base, e));
}

const struct op op_extract = {
    .name = "extract",
    .version = 7,
    .node = OP_MAP,
    .doc =
        "Draws terms of the seed's class from each e-graph: counts exactly how many there are of "
        "each length, draws without replacement by unranking, and compares every member with the "
        "seed by ball arithmetic. A refuted member fails its element. What is drawn depends on the "
        "seed and on the e-nodes that such terms have, so an e-graph that changed elsewhere leaves "
        "its cluster as it was, without draws or comparisons.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .check = check,
    .prepare = prepare,
    .release = release,
    .run = run,
};
