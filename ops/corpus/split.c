/* The op `split`: whole clusters into train, valid and test. */
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/corpus/split_part.h"

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
    {"train", KIND_CLUSTER, OP_COLLECTION, false, "To learn from."},
    {"valid", KIND_CLUSTER, OP_COLLECTION, false, "To watch learning with."},
    {"test", KIND_CLUSTER, OP_COLLECTION, false, "Held out."},
    {NULL},
};
static const char *const part_names[SPLIT_PARTS] = {"train", "valid", "test"};

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    if (valid + test > 1)
        return err_fail(e, ERR_INPUT, "'valid' (%g) and 'test' (%g) are more than 1 together",
                        valid, test);
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    size_t n = op_count(ctx, "clusters"), counts[SPLIT_PARTS] = {0};
    uint64_t seed = (uint64_t)op_int(ctx, "seed");
    struct arena a = {0};
    enum err_code code = OK;
    for (size_t i = 0; i < n && !code; i++) {
        ProtobufCMessage *m;
        arena_reset(&a);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "split was interrupted");
        else if (!(code = err_up(e, op_get_in(&m, ctx, "clusters", i, &a, e)))) {
            const Eqloom__Cluster *c = (const Eqloom__Cluster *)m;
            enum split_part part = split_part(seed, c->seed ? c->seed->prefix : "",
                                              op_real(ctx, "valid"), op_real(ctx, "test"));
            counts[part]++;
            code = err_up(e, op_emit(NULL, ctx, part_names[part], m, e));
        }
    }
    arena_free(&a);
    op_progress(ctx, n, n,
                arena_printf(op_arena(ctx), "train %zu, valid %zu, test %zu", counts[SPLIT_TRAIN],
                             counts[SPLIT_VALID], counts[SPLIT_TEST]));
    return code;
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
};
