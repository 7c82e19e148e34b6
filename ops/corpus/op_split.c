/* The op `split`: whole clusters into train, valid and test. */
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/corpus/split.h"

static const struct op_param params[] = {
    {"valid", OP_REAL, "0.05", NULL, 0, 1, "The fraction for validation."},
    {"test", OP_REAL, "0.15", NULL, 0, 1, "The fraction held out for tests."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Chooses another split."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters, no two with equal seeds."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"train", KIND_CLUSTER, OP_COLLECTION, false, "For training."},
    {"valid", KIND_CLUSTER, OP_COLLECTION, false, "For validation."},
    {"test", KIND_CLUSTER, OP_COLLECTION, false, "Held out."},
    {NULL},
};

/* The part's index. */
static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    const Eqloom__Cluster *c = (const Eqloom__Cluster *)element;
    uint8_t *part = arena_alloc(a, 1);
    *part = (uint8_t)split_part((uint64_t)op_int(ctx, "seed"), c->seed ? c->seed->prefix : "",
                                op_real(ctx, "valid"), op_real(ctx, "test"));
    *out = span_of(part, 1);
    return OK;
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    return err_up(e, split_check(op_real(ctx, "valid"), op_real(ctx, "test"), e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    size_t n = op_count(ctx, "clusters"), counts[SPLIT_PARTS] = {0};
    for (size_t i = 0; i < n; i++) {
        struct span part;
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "split was interrupted");
        enum err_code code = op_summary(&part, ctx, "clusters", i, e);
        if (!code && (part.len != 1 || part.data[0] >= SPLIT_PARTS))
            code = err_fail(e, ERR_CORRUPT, "a summary does not name a part");
        if (!code)
            code = op_pass(ctx, split_names[part.data[0]], "clusters", i, e);
        if (code)
            return err_up(e, code);
        counts[part.data[0]]++;
    }
    op_progress(ctx, n, n,
                arena_printf(op_arena(ctx), "train %zu, valid %zu, test %zu", counts[SPLIT_TRAIN],
                             counts[SPLIT_VALID], counts[SPLIT_TEST]));
    return OK;
}

const struct op op_split = {
    .name = "split",
    .version = 1,
    .node = OP_TASK,
    .doc =
        "Divides a corpus by cluster. The part is decided by a hash of the seed expression and the "
        "parameter `seed`: clusters that are added or removed move no other.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .check = check,
    .run = run,
    .summarize = summarize,
};
