/* The op `split-members`: the expressions of each cluster into train, valid and test. */
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/corpus/split.h"

static const struct op_param params[] = {
    {"valid", OP_REAL, "0.15", NULL, 0, 1, "The fraction of expressions for validation."},
    {"test", OP_REAL, "0.25", NULL, 0, 1, "The fraction held out for tests."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Chooses another split."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters, no two with equal seeds."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"train", KIND_CLUSTER, OP_COLLECTION, false,
     "The clusters, with the expressions for training."},
    {"valid", KIND_CLUSTER, OP_COLLECTION, false, "The same, with the expressions for validation."},
    {"test", KIND_CLUSTER, OP_COLLECTION, false, "The same, with the held-out expressions."},
    {NULL},
};

/* By the expression alone: one that comes or goes moves no other, in whatever cluster it is. The
 * number is not that of `split`, so that seeds which that kept are shared out as others are. */
static enum err_code split_cluster(uint64_t counts[SPLIT_PARTS], struct op_ctx *ctx,
                                   const Eqloom__Cluster *c, struct err *e)
{
    struct arena *a = op_arena(ctx);
    for (int p = 0; p < SPLIT_PARTS; p++) {
        Eqloom__Cluster part = *c;
        part.members = arena_array(a, Eqloom__Member *, c->n_members);
        part.n_members = 0;
        for (size_t i = 0; i < c->n_members; i++)
            if ((int)split_part(~(uint64_t)op_int(ctx, "seed"), c->members[i]->prefix,
                                op_real(ctx, "valid"), op_real(ctx, "test")) == p)
                part.members[part.n_members++] = c->members[i];
        counts[p] += part.n_members;
        enum err_code code = OK;
        if (part.n_members)
            code = op_emit(NULL, ctx, split_names[p], &part.base, e);
        if (code)
            return err_up(e, code);
    }
    return OK;
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    return err_up(e, split_check(op_real(ctx, "valid"), op_real(ctx, "test"), e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    uint64_t n = op_count(ctx, "clusters"), counts[SPLIT_PARTS] = {0};
    for (uint64_t i = 0; i < n; i++) {
        ProtobufCMessage *m;
        struct arena_mark mark = arena_mark(op_arena(ctx));
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "split-members was interrupted");
        enum err_code code = op_get(&m, ctx, "clusters", i, e);
        if (!code)
            code = split_cluster(counts, ctx, (const Eqloom__Cluster *)m, e);
        if (code)
            return err_up(e, code);
        arena_release(op_arena(ctx), mark);
    }
    op_progress(ctx, n, n,
                arena_printf(op_arena(ctx), "expressions: train %zu, valid %zu, test %zu",
                             (size_t)counts[SPLIT_TRAIN], (size_t)counts[SPLIT_VALID],
                             (size_t)counts[SPLIT_TEST]));
    return OK;
}

const struct op op_split_members = {
    .name = "split-members",
    .version = 1,
    .node = OP_TASK,
    .doc = "Shares out the expressions of each cluster, by their hashes: all parts have the same "
           "clusters, as far as these have expressions enough. Stable under additions.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .check = check,
    .run = run,
};
