/* The op `split`: whole clusters, or the expressions of each, into train, valid and test. */
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/corpus/split.h"

#include <string.h>

static const struct op_param params[] = {
    {"of", OP_ENUM, "clusters", "clusters|members", 0, 0,
     "Whole clusters are divided, or the expressions of each: all parts then have the same "
     "clusters, as far as these have expressions enough."},
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

static bool of_members(const struct op_ctx *ctx)
{
    return strcmp(op_string(ctx, "of"), "members") == 0;
}

/* By the text alone: one that comes or goes moves no other, in whatever cluster it is. The number
 * of members is not that of clusters, so that seeds which these kept are shared out as others are.
 */
static enum split_part part_of(const struct op_ctx *ctx, const char *prefix)
{
    uint64_t seed = (uint64_t)op_int(ctx, "seed");
    return split_part(of_members(ctx) ? ~seed : seed, prefix, op_real(ctx, "valid"),
                      op_real(ctx, "test"));
}

/* The part's index. */
static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    const Eqloom__Cluster *c = (const Eqloom__Cluster *)element;
    uint8_t *part = arena_alloc(a, 1);
    *part = (uint8_t)part_of(ctx, c->seed ? c->seed->prefix : "");
    *out = span_of(part, 1);
    return OK;
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    if (valid + test > 1)
        return err_fail(e, ERR_INPUT, "'valid' (%g) and 'test' (%g) add up to more than 1", valid,
                        test);
    return OK;
}

static enum err_code pass_cluster(size_t counts[SPLIT_PARTS], struct op_ctx *ctx, uint64_t i,
                                  struct err *e)
{
    struct span part;
    enum err_code code = op_summary(&part, ctx, "clusters", i, e);
    if (!code && (part.len != 1 || part.data[0] >= SPLIT_PARTS))
        return err_fail(e, ERR_CORRUPT, "a summary does not name a part");
    if (!code)
        code = op_pass(ctx, split_names[part.data[0]], "clusters", i, e);
    if (!code)
        counts[part.data[0]]++;
    return err_up(e, code);
}

static enum err_code split_members(size_t counts[SPLIT_PARTS], struct op_ctx *ctx, uint64_t i,
                                   struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct arena_mark mark = arena_mark(a);
    ProtobufCMessage *m;
    enum err_code code = op_get(&m, ctx, "clusters", i, e);
    if (code)
        return err_up(e, code);
    const Eqloom__Cluster *c = (const Eqloom__Cluster *)m;
    for (int p = 0; p < SPLIT_PARTS && !code; p++) {
        Eqloom__Cluster part = *c;
        part.members = arena_array(a, Eqloom__Member *, c->n_members);
        part.n_members = 0;
        for (size_t k = 0; k < c->n_members; k++)
            if ((int)part_of(ctx, c->members[k]->prefix) == p)
                part.members[part.n_members++] = c->members[k];
        counts[p] += part.n_members;
        if (part.n_members)
            code = op_emit(NULL, ctx, split_names[p], &part.base, e);
    }
    arena_release(a, mark);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    size_t n = op_count(ctx, "clusters"), counts[SPLIT_PARTS] = {0};
    bool members = of_members(ctx);
    for (size_t i = 0; i < n; i++) {
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "split was interrupted");
        enum err_code code =
            members ? split_members(counts, ctx, i, e) : pass_cluster(counts, ctx, i, e);
        if (code)
            return err_up(e, code);
    }
    op_progress(ctx, n, n,
                arena_printf(op_arena(ctx), "%strain %zu, valid %zu, test %zu",
                             members ? "expressions: " : "", counts[SPLIT_TRAIN],
                             counts[SPLIT_VALID], counts[SPLIT_TEST]));
    return OK;
}

const struct op op_split = {
    .name = "split",
    .version = 1,
    .node = OP_TASK,
    .doc =
        "Divides a corpus. The part of a cluster is decided by a hash of its seed expression and "
        "the parameter `seed`, that of an expression by its own: what is added or removed moves "
        "nothing else.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .check = check,
    .run = run,
    .summarize = summarize,
};
