/* Clusters with equal seeds are joined whatever their form; others are left alone. */
#include "tests/ops/corpus/cluster_of.h"
#include "tests/ops/in_memory.h"
#include "tests/unit.h"

extern const struct op op_merge;

static const char *const texts[][5] = {
    {"+ pow sin x 2 x", "+ x pow sin x 2"},
    {"sqrt - x 20", "pow - x 20 1/2"}, /* not real on most of the domain */
    {"- + x 1 pow cos x 2", "+ x pow sin x 2", "- x - pow cos x 2 1"},
    {"sin x"},
    {"sqrt + x -20"},
    {"+ x * 1/1000000000000 sin x"}, /* nearly x */
    {"x"},
    {"+ y pow sin y 2"}, /* another variable */
    {"+ x pow sin x 2", "- x * -1 pow sin x 2"},
};
enum { N = 9 };

/* The clusters above, and behind them some to be held out. */
static ProtobufCMessage **given(struct arena *a, const char *const *held_out, size_t n)
{
    ProtobufCMessage **all = arena_array(a, ProtobufCMessage *, N + n);
    for (size_t i = 0; i < N; i++) {
        size_t members = 0;
        while (members < 5 && texts[i][members])
            members++;
        all[i] = &cluster_of(a, "", texts[i], members)->base;
    }
    for (size_t i = 0; i < n; i++)
        all[N + i] = &cluster_of(a, "", &held_out[i], 1)->base;
    return all;
}

/* Of n clusters and, behind them, those to be held out. */
static struct op_ctx merge(ProtobufCMessage *const *in, size_t n, size_t n_except,
                           const char *max_members)
{
    struct op_ctx ctx = {.op = &op_merge,
                         .name = "max_members",
                         .value = max_members,
                         .inputs = {{"clusters", in, n}, {"except", in + n, n_except}}};
    struct err e = {0};
    if (op_merge.run(&ctx, NULL, &e))
        fail_msg("%s", e.message);
    return ctx;
}

static const Eqloom__Cluster *output(const struct op_ctx *ctx, size_t i)
{
    return (const Eqloom__Cluster *)ctx->outputs[i];
}

TEST_IN_ARENA(equal_seeds_are_joined)
{
    ProtobufCMessage **in = given(a, NULL, 0);
    struct op_ctx ctx = merge(in, N, 0, "4");
    assert_int_equal(ctx.n_outputs, 6);
    /* The three forms of x + sin(x)^2: in the first one's place, with the least seed. */
    const Eqloom__Cluster *first = output(&ctx, 0);
    static const char *const members[] = {"+ x pow sin x 2", "+ pow sin x 2 x",
                                          "- + x 1 pow cos x 2"};
    assert_string_equal(first->seed->prefix, members[0]);
    assert_int_equal(first->n_members, 4);
    for (int i = 0; i < 3; i++)
        assert_string_equal(first->members[i]->prefix, members[i]);
    assert_int_equal(output(&ctx, 1)->n_members, 3);
    static const int alone[] = {3, 5, 6, 7};
    for (int i = 0; i < 4; i++)
        assert_ptr_equal(ctx.outputs[2 + i], in[alone[i]]);
    arena_free(&ctx.a);
}

/* Equal where x < 20, and opposite beyond. */
TEST_IN_ARENA(equal_on_a_part_of_the_domain)
{
    static const char *const seeds[] = {"sqrt - x 20", "* sqrt -1 sqrt - 20 x"};
    ProtobufCMessage *in[2];
    for (size_t i = 0; i < 2; i++)
        in[i] = &cluster_of(a, "", &seeds[i], 1)->base;
    struct op_ctx ctx = merge(in, 2, 0, "100");
    assert_int_equal(ctx.n_outputs, 2);
    arena_free(&ctx.a);
}

TEST_IN_ARENA(exact_languages)
{
    static const struct {
        const char *language, *seeds[5];
        size_t n;
    } cases[] = {
        {"boolean", {"implies a b", "and a not a", "or b not a", "implies b a", "false"}, 3},
        {"polynomial", {"* e e", "- * + a b - a b * a a", "* a a", "- 0 * b b", "e"}, 4},
    };
    for (size_t k = 0; k < 2; k++) {
        ProtobufCMessage *in[5];
        for (size_t i = 0; i < 5; i++)
            in[i] = &cluster_of(a, cases[k].language, &cases[k].seeds[i], 1)->base;
        struct op_ctx ctx = merge(in, 5, 0, "100");
        assert_int_equal(ctx.n_outputs, cases[k].n);
        arena_free(&ctx.a);
    }
}

TEST_IN_ARENA(merging_twice_changes_nothing)
{
    struct op_ctx ctx = merge(given(a, NULL, 0), N, 0, "100");
    struct op_ctx again = merge(ctx.outputs, ctx.n_outputs, 0, "100");
    assert_int_equal(again.n_outputs, ctx.n_outputs);
    assert_memory_equal(again.outputs, ctx.outputs, ctx.n_outputs * sizeof *ctx.outputs);
    arena_free(&again.a);
    arena_free(&ctx.a);
}

TEST_IN_ARENA(what_is_held_out_is_dropped)
{
    static const char *const held_out[] = {"sqrt - x 20", "* x / 2 2", "cos x"};
    static const int alone[] = {3, 5, 7};
    ProtobufCMessage **in = given(a, held_out, 3);
    struct op_ctx ctx = merge(in, N, 3, "100"), none = merge(in + N, 0, 3, "100");
    /* Without the two of sqrt(x - 20) and x; cos x is no cluster of ours. */
    assert_int_equal(ctx.n_outputs, 4);
    assert_string_equal(output(&ctx, 0)->seed->prefix, "+ x pow sin x 2");
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(ctx.outputs[1 + i], in[alone[i]]);
    assert_int_equal(none.n_outputs, 0);
    arena_free(&ctx.a);
    arena_free(&none.a);
}
