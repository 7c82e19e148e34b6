/* The op `merge`: clusters of the whole corpus, those with equal seeds joined. */
#include "engine/op.h"
#include "ops/corpus/cluster_merge.h"

static const struct op_param params[] = {
    {"max_members", OP_INT, "100", NULL, 1, 1e6, "The most members of a merged cluster."},
    {"points", OP_INT, "12", NULL, 1, 1000, "At how many points seeds are compared."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters of the corpus."},
    {"except", KIND_CLUSTER, OP_COLLECTION, true,
     "Clusters held out elsewhere: what is equal to one of them is dropped."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "No two of them with equal seeds."},
    {NULL},
};

static enum err_code get_all(Eqloom__Cluster ***out, size_t *n, struct op_ctx *ctx,
                             const char *role, struct err *e)
{
    *n = op_count(ctx, role);
    *out = arena_array(op_arena(ctx), Eqloom__Cluster *, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        enum err_code code = err_up(e, op_get((ProtobufCMessage **)&(*out)[i], ctx, role, i, e));
        if (code)
            return code;
    }
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n, n_except, n_merged;
    Eqloom__Cluster **in, **except, **merged;
    enum err_code code;
    if ((code = get_all(&in, &n, ctx, "clusters", e)) ||
        (code = get_all(&except, &n_except, ctx, "except", e)))
        return code;
    struct merge_options options = {.max_members = (uint32_t)op_int(ctx, "max_members"),
                                    .points = (uint32_t)op_int(ctx, "points"),
                                    .except = except,
                                    .n_except = n_except};
    if ((code = err_up(e, clusters_merge(&merged, &n_merged, a, in, n, &options, e))))
        return code;
    for (size_t i = 0; i < n_merged; i++) {
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "merge was interrupted");
        if ((code = err_up(e, op_emit(NULL, ctx, "clusters", &merged[i]->base, e))))
            return code;
    }
    op_progress(ctx, n, n, arena_printf(a, "%zu clusters of %zu", n_merged, n));
    return OK;
}

const struct op op_merge = {
    .name = "merge",
    .version = 3,
    .node = OP_TASK,
    .doc =
        "Joins clusters whose seeds are equal, though they come from different e-graphs: numeric "
        "fingerprints find the candidates, ball arithmetic decides. Without it, a 'negative' "
        "pair of the corpus could be equal. With `except`, nothing equal to what is held out "
        "elsewhere stays.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .run = run,
};
