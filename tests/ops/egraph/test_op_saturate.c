/* The op `saturate` behind a stand-in for the engine: the same record twice, what its statistics
 * and notes say, budgets, and what it refuses. */
#include "tests/ops/egraph/help.h"

#include "egraph.pb-c.h"
#include "engine/op.h"
#include "rule.pb-c.h"
#include "schemas/canonical.h"

extern const struct op op_saturate;

/* ---- the stand-in ---- */

struct op_ctx {
    struct arena a;
    const char *set; /* " name=value name=value": what is not the default */
    Eqloom__Expr expr;
    Eqloom__Rule **rules;
    size_t n_rules;
    bool cancelled;
    struct span emitted, trace; /* canonical bytes; data NULL: none */
};

int64_t op_int(const struct op_ctx *ctx, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = ctx->set ? strstr(ctx->set, key) : NULL;
    if (at)
        return strtoll(at + strlen(key), NULL, 10);
    for (const struct op_param *p = op_saturate.params; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return strtoll(p->initial, NULL, 10);
    fail_msg("parameter %s is not in the table", name);
    return 0;
}

uint64_t op_count(struct op_ctx *ctx, const char *role)
{
    return strcmp(role, "rules") == 0 ? ctx->n_rules : 1;
}

enum err_code op_get_in(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e)
{
    *(ProtobufCMessage **)out = strcmp(role, "rules") == 0 ? &ctx->rules[i]->base : &ctx->expr.base;
    return OK;
}

enum err_code op_get(void *out, struct op_ctx *ctx, const char *role, uint64_t i, struct err *e)
{
    return op_get_in(out, ctx, role, i, &ctx->a, e);
}

struct arena *op_arena(struct op_ctx *ctx)
{
    return &ctx->a;
}

bool op_bool(const struct op_ctx *ctx, const char *name)
{
    assert_string_equal(name, "real");
    return false;
}

size_t op_strings(const char *const **out, const struct op_ctx *ctx, const char *name)
{
    assert_string_equal(name, "domains");
    return 0;
}

bool op_cancelled(const struct op_ctx *ctx)
{
    return ctx->cancelled;
}

enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    assert_string_equal(role, "egraphs");
    assert_null(ctx->emitted.data); /* one for each expression */
    return canonical_pack(&ctx->emitted, &ctx->a, message, e);
}

void op_set_witness(struct op_ctx *ctx, struct span trace)
{
    ctx->trace = span_of(arena_memdup(&ctx->a, trace.data, trace.len), trace.len);
}

/* Reuse has its own tests, on the functions behind it (test_reuse.c), and end to end. */
struct span op_earlier_witness(const struct op_earlier *x)
{
    return (struct span){0};
}

enum err_code op_earlier_added(const uint64_t **positions, size_t *n, struct op_ctx *ctx,
                               const struct op_earlier *x, const char *role, struct err *e)
{
    return err_fail(e, ERR_NOTFOUND, "there is nothing earlier");
}

enum err_code op_earlier_removed(ProtobufCMessage ***out, size_t *n, struct op_ctx *ctx,
                                 const struct op_earlier *x, const char *role, struct arena *a,
                                 struct err *e)
{
    return err_fail(e, ERR_NOTFOUND, "there is nothing earlier");
}

struct digest op_earlier_input_id(const struct op_earlier *x, const char *role)
{
    return (struct digest){0};
}

/* ---- tests ---- */

static const char rule_text[] = "group g\n"
                                "add-comm: ?a + ?b -> ?b + ?a\n"
                                "double: ?a + ?a -> 2 * ?a\n"
                                "sinh-odd: sinh(-1 * ?a) -> -1 * sinh(?a)\n";

/* x + x and the rules, each with a certificate of the verdict. */
static struct op_ctx *context(const char *set, Eqloom__Verdict verdict)
{
    struct op_ctx *ctx = calloc(1, sizeof *ctx);
    assert_non_null(ctx);
    ctx->set = set;
    eqloom__expr__init(&ctx->expr);
    ctx->expr.prefix = "+ x x";
    struct rules rules = rules_of(&ctx->a, rule_text);
    ctx->rules = arena_array(&ctx->a, Eqloom__Rule *, rules.n);
    for (size_t i = 0; i < rules.n; i++) {
        Eqloom__Rule *r = ctx->rules[i] = arena_new(&ctx->a, Eqloom__Rule);
        rule_to_message(r, &ctx->a, &rules, &rules.rules[i]);
        r->certificate = arena_new(&ctx->a, Eqloom__Certificate);
        eqloom__certificate__init(r->certificate);
        r->certificate->verdict = verdict;
        r->certificate->witness = "x = 1";
    }
    ctx->n_rules = rules.n;
    return ctx;
}

static void context_free(struct op_ctx *ctx)
{
    arena_free(&ctx->a);
    free(ctx);
}

static enum err_code run_op(struct op_ctx *ctx, struct err *e)
{
    void *state = NULL;
    enum err_code code = op_saturate.prepare(&state, ctx, e);
    if (!code) {
        code = op_saturate.run(ctx, state, e);
        op_saturate.release(state);
    }
    return code;
}

static const Eqloom__EGraph *egraph_of(struct op_ctx *ctx)
{
    struct err e = {0};
    const Eqloom__EGraph *m;
    if (run_op(ctx, &e))
        fail_msg("%s", e.message);
    assert_non_null(ctx->emitted.data);
    assert_int_equal(canonical_unpack(&m, &ctx->a, &eqloom__egraph__descriptor, ctx->emitted, NULL),
                     OK);
    return m;
}

TEST(an_egraph_and_its_statistics)
{
    struct op_ctx *ctx = context("", EQLOOM__VERDICT__CERTIFIED);
    const Eqloom__EGraph *g = egraph_of(ctx);
    assert_int_equal(g->stop, EQLOOM__STOP_REASON__SATURATED);
    assert_string_equal(g->seed->prefix, "+ x x");
    assert_int_equal(g->basis, EQLOOM__BASIS__PROOF);
    /* {x}, {2} and {x + x, 2 * x} */
    assert_int_equal(g->n_class_sizes, 3);
    assert_int_equal(g->n_node_ops, 4);
    assert_int_equal(g->class_sizes[g->root], 2);
    /* Rules that matched, in the order of the set, and they took part; the third did not. */
    assert_int_equal(g->n_rules, 2);
    assert_string_equal(g->rules[0]->rule, "g/add-comm");
    assert_string_equal(g->rules[1]->rule, "g/double");
    assert_int_equal(g->rules[0]->applied, 0);
    assert_int_equal(g->rules[1]->applied, 1);
    for (size_t i = 0; i < ctx->n_rules; i++)
        assert_int_equal(op_saturate.took_part(&g->base, "rules", &ctx->rules[i]->base),
                         strcmp(ctx->rules[i]->name, "sinh-odd") != 0);
    /* What reuse will want to know: two rules matched, by 8 bytes each. */
    Eqloom__SaturationTrace *m;
    assert_int_equal(
        canonical_unpack(&m, &ctx->a, &eqloom__saturation_trace__descriptor, ctx->trace, NULL), OK);
    assert_int_equal(m->matched.len, 16);
    context_free(ctx);
}

TEST(the_same_twice)
{
    /* Also with the rules in another order, by a state that has seen other graphs. */
    struct op_ctx *a = context("", EQLOOM__VERDICT__CERTIFIED);
    struct op_ctx *b = context("", EQLOOM__VERDICT__CERTIFIED);
    egraph_of(a);
    Eqloom__Rule *first = b->rules[0];
    b->rules[0] = b->rules[2];
    b->rules[2] = first;
    void *prepared;
    assert_int_equal(op_saturate.prepare(&prepared, b, NULL), OK);
    b->expr.prefix = "sinh + y y";
    assert_int_equal(op_saturate.run(b, prepared, NULL), OK);
    assert_false(span_equal(a->emitted, b->emitted));
    b->emitted = b->trace = (struct span){0};
    b->expr.prefix = "+ x x";
    assert_int_equal(op_saturate.run(b, prepared, NULL), OK);
    op_saturate.release(prepared);
    assert_true(span_equal(a->emitted, b->emitted));
    assert_true(span_equal(a->trace, b->trace));
    context_free(a);
    context_free(b);
}

TEST(budgets)
{
    static const struct {
        const char *set;
        Eqloom__StopReason stop;
    } cases[] = {{" iterations=1", EQLOOM__STOP_REASON__ITERATION_LIMIT},
                 {" max_nodes=2", EQLOOM__STOP_REASON__NODE_LIMIT},
                 {" max_matches=1", EQLOOM__STOP_REASON__MATCH_LIMIT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct op_ctx *ctx = context(cases[i].set, EQLOOM__VERDICT__CERTIFIED);
        assert_int_equal(egraph_of(ctx)->stop, cases[i].stop);
        context_free(ctx);
    }
}

TEST(bounds_of_parameters)
{
    /* The engine refuses what lies outside: no budget may be zero where that means nothing. */
    for (const struct op_param *p = op_saturate.params; p->name; p++) {
        if (p->type != OP_INT)
            continue;
        bool may_be_zero = !strcmp(p->name, "max_matches") || !strcmp(p->name, "ban_length") ||
                           !strcmp(p->name, "forms");
        assert_true(p->min == (may_be_zero ? 0 : 1));
        int64_t initial = strtoll(p->initial, NULL, 10);
        assert_true((double)initial >= p->min && (double)initial <= p->max);
    }
}

static void refused(struct op_ctx *ctx, enum err_code code, const char *why)
{
    struct err e = {0};
    assert_int_equal(run_op(ctx, &e), code);
    if (!strstr(e.message, why))
        fail_msg("'%s' does not say '%s'", e.message, why);
    assert_null(ctx->emitted.data);
    assert_null(ctx->trace.data);
    context_free(ctx);
}

TEST(refusals)
{
    refused(context("", EQLOOM__VERDICT__UNKNOWN), ERR_INPUT, "g/add-comm has no certificate");
    struct op_ctx *ctx = context("", EQLOOM__VERDICT__CERTIFIED);
    ctx->expr.prefix = "+ x";
    refused(ctx, ERR_INPUT, "");
    ctx = context("", EQLOOM__VERDICT__CERTIFIED);
    ctx->expr.language = "boolean";
    refused(ctx, ERR_INPUT, "this is of the boolean language");
    ctx = context("", EQLOOM__VERDICT__CERTIFIED);
    ctx->cancelled = true;
    refused(ctx, ERR_CANCELLED, "cancelled");
    /* 1 = 2 is found out. */
    ctx = context("", EQLOOM__VERDICT__CERTIFIED);
    struct rules rules = rules_of(&ctx->a, "group g\nwrong: ?a + ?a -> 0 * ?a\nzero: 0 * ?a -> 0\n"
                                           "one: ?a + ?a -> 1\n");
    for (size_t i = 0; i < rules.n; i++) {
        Eqloom__Certificate *certificate = ctx->rules[i]->certificate;
        rule_to_message(ctx->rules[i], &ctx->a, &rules, &rules.rules[i]);
        ctx->rules[i]->certificate = certificate;
    }
    refused(ctx, ERR_FAILED, "");
}

TEST(unsound_rules_taint)
{
    struct op_ctx *ctx = context("", EQLOOM__VERDICT__REFUTED);
    for (size_t i = 0; i < ctx->n_rules; i++)
        ctx->rules[i]->certificate->basis = EQLOOM__BASIS__FALSEHOOD;
    assert_int_equal(egraph_of(ctx)->basis, EQLOOM__BASIS__FALSEHOOD);
    context_free(ctx);
}
