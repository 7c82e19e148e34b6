/* The op `merge`: clusters of the whole corpus, those with equal seeds joined. */
#include "engine/op.h"
#include "ops/corpus/cluster_merge.h"
#include "schemas/canonical.h"

#include <string.h>

/* What is known of a cluster without its members: enough for all that are not joined. */
static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    const Eqloom__Cluster *c = (const Eqloom__Cluster *)element;
    Eqloom__ClusterPrint m = EQLOOM__CLUSTER_PRINT__INIT;
    double fingerprint;
    if (!c->seed)
        return err_fail(e, ERR_CORRUPT, "a cluster has no seed");
    enum err_code code = cluster_fingerprint(&fingerprint, a, c->seed, e);
    m.seed = c->seed;
    memcpy(&m.fingerprint, &fingerprint, sizeof m.fingerprint);
    if (!code)
        code = canonical_pack(out, a, &m.base, e);
    return err_up(e, code);
}

/* Clusters with seeds alone, their fingerprints beside them. */
static enum err_code get_prints(Eqloom__Cluster **out, double *fingerprints, size_t n,
                                struct op_ctx *ctx, const char *role, struct err *e)
{
    struct arena *a = op_arena(ctx);
    for (size_t i = 0; i < n; i++) {
        struct span bytes;
        const Eqloom__ClusterPrint *print;
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "merge was interrupted");
        enum err_code code = op_summary(&bytes, ctx, role, i, e);
        /* The summary is good until the next one: strings are copied in unpacking. */
        if (!code)
            code = canonical_unpack(&print, a, &eqloom__cluster_print__descriptor, bytes, e);
        if (code)
            return err_up(e, code);
        out[i] = arena_new(a, Eqloom__Cluster);
        eqloom__cluster__init(out[i]);
        out[i]->seed = print->seed;
        memcpy(&fingerprints[i], &print->fingerprint, sizeof fingerprints[i]);
    }
    return OK;
}

static enum err_code load(void *arg, Eqloom__Cluster **whole, size_t i, struct err *e)
{
    return err_up(e, op_get(whole, arg, "clusters", i, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, "clusters"), n_except = op_count(ctx, "except"), all = n + n_except;
    Eqloom__Cluster **in = arena_array(a, Eqloom__Cluster *, all + 1);
    double *fingerprints = arena_array(a, double, all + 1);
    struct merged out;
    struct merge_options options = {.max_members = (uint32_t)op_int(ctx, "max_members"),
                                    .points = (uint32_t)op_int(ctx, "points"),
                                    .fingerprints = fingerprints,
                                    .load = load,
                                    .arg = ctx};
    enum err_code code;
    if ((code = err_up(e, get_prints(in, fingerprints, n, ctx, "clusters", e))) ||
        (code = err_up(e, get_prints(in + n, fingerprints + n, n_except, ctx, "except", e))) ||
        (code = err_up(e, clusters_merge(&out, a, in, all, n_except, &options, e))))
        return code;
    for (size_t i = 0; i < out.n && !code; i++)
        code = out.only[i] == UINT32_MAX ? op_emit(NULL, ctx, "clusters", &out.clusters[i]->base, e)
                                         : op_pass(ctx, "clusters", "clusters", out.only[i], e);
    op_progress(ctx, n, n, arena_printf(a, "%zu clusters of %zu", out.n, n));
    return err_up(e, code);
}

const struct op op_merge = {
    .name = "merge",
    .version = 5,
    .node = OP_TASK,
    .doc =
        "Joins clusters whose seeds are equal, though they come from different e-graphs: numeric "
        "fingerprints find the candidates, ball arithmetic decides. Without it, a 'negative' "
        "pair of the corpus could be equal. With `except`, nothing equal to what is held out "
        "elsewhere stays.",
    .params = OP_PARAMS({"max_members", OP_INT, "100", NULL, 1, 1e6,
                         "The maximum number of members of a merged cluster."},
                        {"points", OP_INT, "12", NULL, 1, 1000,
                         "The number of points at which seeds are compared."}),
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters of the corpus."},
                       {"except", KIND_CLUSTER, OP_COLLECTION, true,
                        "Clusters held out elsewhere: what is equal to one of them is dropped."}),
    .outputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "No two of them with equal seeds."}),
    .run = run,
    .summarize = summarize,
};
