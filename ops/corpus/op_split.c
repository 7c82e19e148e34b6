/* The op `split`: divides whole clusters, or the expressions of each, into train, valid and
 * test. */
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/corpus/split.h"

#include <stdlib.h>
#include <string.h>

static const struct op_param params[] = {
    {"of", OP_ENUM, "clusters", "clusters|members", 0, 0,
     "Whether whole clusters are divided, or the expressions of each cluster. In the latter case "
     "all parts contain the same clusters, if these have enough expressions."},
    {"valid", OP_REAL, "0.05", NULL, 0, 1, "The fraction for validation."},
    {"test", OP_REAL, "0.15", NULL, 0, 1, "The fraction held out for tests."},
    {"largest", OP_REAL, "0", NULL, 0, 1e9,
     "With `of: clusters`, SemVec's rule: clusters with one member, or with more than this many "
     "times the mean number, are not held out; of the others exactly as many are held out as valid "
     "and test specify for all. 0: no such rule."},
    {"test_clusters", OP_INT, "0", NULL, 0, 1e9,
     "With `of: clusters`, the number held out instead of the fraction `test`; 0: use `test`."},
    {"test_members", OP_INT, "1", NULL, 1, 1e6,
     "With test_clusters: clusters with fewer members are not held out."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the split."},
    {NULL},
};

static bool of_members(const struct op_ctx *ctx)
{
    return strcmp(op_string(ctx, "of"), "members") == 0;
}

/* Depends on the text alone, so that adding or removing an expression moves no other. The hash
 * differs from that of clusters, so that the seeds of a part of the clusters are divided like other
 * members. */
static enum split_part part_of(const struct op_ctx *ctx, const char *prefix)
{
    uint64_t seed = (uint64_t)op_int(ctx, "seed");
    return split_part(of_members(ctx) ? ~seed : seed, prefix, op_real(ctx, "valid"),
                      op_real(ctx, "test"));
}

/* The data that decide the part of a cluster. */
struct place {
    double at; /* split_place */
    uint32_t members, cluster;
    enum split_part part;
};

static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    const Eqloom__Cluster *c = (const Eqloom__Cluster *)element;
    const char *prefix = c->seed ? c->seed->prefix : "";
    uint8_t *bytes = arena_alloc(a, 13);
    put_le(bytes, (uint64_t)(split_place((uint64_t)op_int(ctx, "seed"), prefix) * 0x1p53), 8);
    put_le(bytes + 8, c->n_members, 4);
    bytes[12] = (uint8_t)part_of(ctx, prefix);
    *out = span_of(bytes, 13);
    return OK;
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    double valid = op_real(ctx, "valid"), test = op_real(ctx, "test");
    if (valid + test > 1)
        return err_fail(e, ERR_INPUT, "'valid' (%g) and 'test' (%g) add up to more than 1", valid,
                        test);
    if (op_real(ctx, "largest") > 0 && of_members(ctx))
        return err_fail(e, ERR_INPUT, "'largest' requires 'of: clusters'");
    if (op_int(ctx, "test_clusters") > 0 && (of_members(ctx) || op_real(ctx, "largest") > 0))
        return err_fail(e, ERR_INPUT,
                        "'test_clusters' requires 'of: clusters' and excludes "
                        "'largest'");
    return OK;
}

static enum err_code read_places(struct place *out, struct op_ctx *ctx, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct span s;
        enum err_code code = op_summary(&s, ctx, "clusters", i, e);
        if (code)
            return err_up(e, code);
        if (s.len != 13 || s.data[12] >= SPLIT_PARTS)
            return err_fail(e, ERR_CORRUPT, "a summary does not name a part");
        out[i] =
            (struct place){(double)get_le(s.data, 8) * 0x1p-53, (uint32_t)get_le(s.data + 8, 4),
                           (uint32_t)i, (enum split_part)s.data[12]};
    }
    return OK;
}

static int compare_places(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at)
                          : (a->cluster > b->cluster) - (a->cluster < b->cluster);
}

static int compare_clusters(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    return (a->cluster > b->cluster) - (a->cluster < b->cluster);
}

/* Holds out the fraction `test` of all from the lowest places on, and `valid` from the highest. */
static void hold_out(struct place *places, size_t n, double largest, double valid, double test)
{
    double mean = 0;
    size_t fit = 0, tests = (size_t)((double)n * test), valids = (size_t)((double)n * valid);
    for (size_t i = 0; i < n; i++)
        mean += (double)places[i].members / (double)n;
    for (size_t i = 0; i < n; i++) {
        struct place p = places[i];
        places[i].part = SPLIT_TRAIN;
        if (p.members > 1 && (double)p.members <= largest * mean) {
            places[i] = places[fit];
            places[fit++] = p;
        }
    }
    qsort(places, fit, sizeof *places, compare_places);
    for (size_t i = 0; i < fit; i++)
        places[i].part = i < tests ? SPLIT_TEST : fit - i <= valids ? SPLIT_VALID : SPLIT_TRAIN;
    qsort(places, n, sizeof *places, compare_clusters);
}

/* Holds out the clusters with the lowest places that are large enough, and no others for
 * testing. */
static enum err_code hold_out_number(struct place *places, size_t n, size_t number, uint32_t least,
                                     struct err *e)
{
    size_t left = number;
    qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n; i++) {
        bool held = left && places[i].members >= least;
        left -= held;
        if (held || places[i].part == SPLIT_TEST)
            places[i].part = held ? SPLIT_TEST : SPLIT_TRAIN;
    }
    qsort(places, n, sizeof *places, compare_clusters);
    return left ? err_fail(e, ERR_INPUT, "%zu clusters of at least %u members are too few for %zu",
                           number - left, least, number)
                : OK;
}

static enum err_code split_clusters(size_t counts[SPLIT_PARTS], struct op_ctx *ctx, size_t n,
                                    struct err *e)
{
    struct place *places = arena_array(op_arena(ctx), struct place, n);
    enum err_code code = read_places(places, ctx, n, e);
    if (code)
        return err_up(e, code);
    if (op_real(ctx, "largest") > 0)
        hold_out(places, n, op_real(ctx, "largest"), op_real(ctx, "valid"), op_real(ctx, "test"));
    if (op_int(ctx, "test_clusters") > 0)
        code = err_up(e, hold_out_number(places, n, (size_t)op_int(ctx, "test_clusters"),
                                         (uint32_t)op_int(ctx, "test_members"), e));
    for (size_t i = 0; i < n && !code; i++) {
        counts[places[i].part]++;
        code = op_pass(ctx, split_names[places[i].part], "clusters", i, e);
    }
    return err_up(e, code);
}

static enum err_code split_members(size_t counts[SPLIT_PARTS], struct op_ctx *ctx, uint64_t i,
                                   struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct arena_mark mark = arena_mark(a);
    const Eqloom__Cluster *c;
    enum err_code code = op_get(&c, ctx, "clusters", i, e);
    if (code)
        return err_up(e, code);
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
    enum err_code code = members ? OK : split_clusters(counts, ctx, n, e);
    for (size_t i = 0; i < n && members && !code; i++)
        code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "split was interrupted")
                                 : split_members(counts, ctx, i, e);
    if (code)
        return err_up(e, code);
    op_progress(ctx, n, n,
                arena_printf(op_arena(ctx), "%strain %zu, valid %zu, test %zu",
                             members ? "expressions: " : "", counts[SPLIT_TRAIN],
                             counts[SPLIT_VALID], counts[SPLIT_TEST]));
    return OK;
}

const struct op op_split = {
    .name = "split",
    .version = 2,
    .node = OP_TASK,
    .doc =
        "Divides a corpus. The part of a cluster depends on a hash of its seed expression and the "
        "parameter `seed`, the part of an expression on its own hash: adding or removing one moves "
        "no other.",
    .params = params,
    .inputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters, no two with equal seeds."}),
    .outputs = OP_PORTS({"train", KIND_CLUSTER, OP_COLLECTION, false, "For training."},
                        {"valid", KIND_CLUSTER, OP_COLLECTION, false, "For validation."},
                        {"test", KIND_CLUSTER, OP_COLLECTION, false, "Held out."}),
    .check = check,
    .run = run,
    .summarize = summarize,
};
