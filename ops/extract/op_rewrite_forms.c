/* The op `rewrite-forms`: turns expressions into clusters of the forms that eight transformations
 * produce, those by which EED was made. simplify and trigsimp take the cheapest term of an e-graph
 * saturated with all rules, or with those of trigonometric and hyperbolic functions; expand, factor
 * and cancel work on polynomials. The forms are not verified here: `verify` comes next. */
#include "base/map.h"
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/egraph/run/rules_input.h"
#include "ops/expr/forms/function_form.h"
#include "ops/expr/forms/polynomial_form.h"
#include "ops/extract/cheapest_term.h"

#include <stdlib.h>
#include <string.h>

#define ALL "simplify\nexpand\nfactor\ncancel\ntrigsimp\nexpand_log\nlogcombine\nrewrite"

enum transformation {
    SIMPLIFY,
    EXPAND,
    FACTOR,
    CANCEL,
    TRIGSIMP,
    EXPAND_LOG,
    LOGCOMBINE,
    REWRITE,
    TRANSFORMATIONS
};

static const char *const names[TRANSFORMATIONS] = {
    "simplify", "expand", "factor", "cancel", "trigsimp", "expand_log", "logcombine", "rewrite"};

struct state {
    struct arena arena;
    struct op_rules rules;
    struct rules circular; /* rules of trigonometric and hyperbolic functions */
    struct ruleset *trig;
};

static void release(void *state)
{
    struct state *s = state;
    ruleset_free(s->rules.set);
    ruleset_free(s->trig);
    arena_free(&s->arena);
    free(s);
}

static enum err_code wanted_of(bool wanted[TRANSFORMATIONS], struct op_ctx *ctx, struct err *e)
{
    const char *const *list;
    size_t n = op_strings(&list, ctx, "forms");
    memset(wanted, 0, TRANSFORMATIONS * sizeof *wanted);
    for (size_t i = 0; i < n; i++) {
        size_t t = 0;
        while (t < TRANSFORMATIONS && strcmp(names[t], list[i]) != 0)
            t++;
        if (t == TRANSFORMATIONS) {
            enum err_code code =
                err_fail(e, ERR_INPUT, "'forms': unknown transformation '%.60s'", list[i]);
            return err_suggest(code, list[i], names, TRANSFORMATIONS, e);
        }
        wanted[t] = true;
    }
    return OK;
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    bool wanted[TRANSFORMATIONS];
    return err_up(e, wanted_of(wanted, ctx, e));
}

static bool is_circular(const struct rule *r)
{
    return !strncmp(r->group, "trigonometry", 12) || !strncmp(r->group, "hyperbolic", 10) ||
           !strcmp(r->group, "arithmetic.cancel") || !strcmp(r->group, "arithmetic.identity");
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct state *s = must_calloc(1, sizeof *s);
    enum err_code code = op_rules_read(&s->rules, &s->arena, ctx, false, e);
    if (!code && !lang_is(s->rules.rules.lang, &lang_calculus))
        code = err_fail(e, ERR_INPUT, "the rules must be of the calculus");
    if (code) {
        release(s);
        return err_up(e, code);
    }
    s->circular = s->rules.rules;
    s->circular.rules = arena_array(&s->arena, struct rule, s->rules.rules.n + 1);
    s->circular.n = 0;
    for (size_t i = 0; i < s->rules.rules.n; i++)
        if (is_circular(&s->rules.rules.rules[i]))
            s->circular.rules[s->circular.n++] = s->rules.rules.rules[i];
    s->rules.set = ruleset_new(&s->rules.rules);
    s->trig = ruleset_new(&s->circular);
    *state = s;
    return OK;
}

static bool is_cancelled(void *arg)
{
    return op_cancelled(arg);
}

static uint32_t count_operators(const struct expr *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        n += x->nodes[i].op > X_VAR;
    return n;
}

struct forms {
    struct op_ctx *ctx;
    Eqloom__Cluster *cluster;
    struct name_map seen;
    uint32_t most;
    struct saturate_options limits;
};

static void add(struct forms *f, const struct expr *x)
{
    struct arena *a = op_arena(f->ctx);
    char *prefix = expr_prefix(a, x);
    bool added;
    if (f->most && count_operators(x) > f->most)
        return;
    name_map_put(&f->seen, prefix, 0, &added);
    if (!added)
        return;
    Eqloom__Member *m = f->cluster->members[f->cluster->n_members++] = arena_new(a, Eqloom__Member);
    eqloom__member__init(m);
    m->prefix = prefix;
    m->tokens = expr_tokens(x);
}

static bool has_functions(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        uint16_t op = x->nodes[i].op;
        if ((op >= X_SIN && op <= X_COT) || (op >= X_SINH && op <= X_COTH))
            return true;
    }
    return false;
}

/* Contradictory rules fail; if the contradiction comes from an expression without a value, there is
 * no form. */
static enum err_code make(struct forms *f, struct state *s, enum transformation t,
                          const struct expr *x, struct err *e)
{
    struct arena *a = op_arena(f->ctx);
    struct expr y;
    enum err_code code = OK;
    switch (t) {
    case SIMPLIFY:
    case TRIGSIMP:
        if (t == TRIGSIMP && !has_functions(x))
            return OK;
        code = cheapest_term(&y, a, x, t == SIMPLIFY ? s->rules.set : s->trig, &f->limits, e);
        if (!code)
            add(f, &y);
        if (code == ERR_FAILED) {
            err_clear(e);
            return OK;
        }
        return err_up(e, code);
    case EXPAND:
    case FACTOR:
    case CANCEL:
        if (polynomial_form(&y, a, x,
                            t == EXPAND   ? FORM_EXPAND
                            : t == FACTOR ? FORM_FACTOR
                                          : FORM_CANCEL))
            add(f, &y);
        return OK;
    case EXPAND_LOG:
        if (form_expand_logarithms(&y, a, x))
            add(f, &y);
        return OK;
    case LOGCOMBINE:
        if (form_combine_logarithms(&y, a, x))
            add(f, &y);
        return OK;
    case REWRITE:
        for (unsigned k = 0; form_rewrite(&y, a, x, k); k++)
            add(f, &y);
        return OK;
    case TRANSFORMATIONS: break;
    }
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum { MOST_FORMS = 32 };
    struct arena *a = op_arena(ctx);
    bool wanted[TRANSFORMATIONS];
    Eqloom__Expr *m;
    struct expr x;
    enum err_code code = op_get(&m, ctx, "exprs", 0, e);
    if (!code)
        code = expr_from_prefix(&x, a, &lang_calculus, m->prefix, e);
    if (!code)
        code = wanted_of(wanted, ctx, e);
    if (code)
        return err_up(e, code);
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    struct forms f = {.ctx = ctx,
                      .cluster = &cluster,
                      .most = (uint32_t)op_int(ctx, "max_operators"),
                      .limits = {.iterations = (uint32_t)op_int(ctx, "iterations"),
                                 .max_nodes = (uint32_t)op_int(ctx, "max_nodes"),
                                 .match_limit = 1000,
                                 .ban_length = 5,
                                 .cancelled = is_cancelled,
                                 .cancelled_arg = ctx}};
    cluster.seed = m;
    cluster.members = arena_array(a, Eqloom__Member *, MOST_FORMS);
    add(&f, &x);
    for (enum transformation t = 0; t < TRANSFORMATIONS && !code && cluster.n_members; t++)
        if (wanted[t])
            code = make(&f, state, t, &x, e);
    name_map_free(&f.seen);
    if (!code && cluster.n_members)
        code = op_emit(NULL, ctx, "clusters", &cluster.base, e);
    return err_up(e, code);
}

const struct op op_rewrite_forms = {
    .name = "rewrite-forms",
    .version = 1,
    .node = OP_MAP,
    .doc = "Rewrites each expression by eight transformations: simplify and trigsimp (the cheapest "
           "term of an e-graph), expand, factor and cancel (as polynomials in the non-polynomial "
           "subterms), expand_log, logcombine, and rewrite (trigonometric and hyperbolic functions "
           "in terms of others). The forms are not verified. With verify, merge and split it makes "
           "data like EED's (jobs/eed.yaml).",
    .params = OP_PARAMS({"forms", OP_STRINGS, ALL, NULL, 0, 0, "The transformations to use."},
                        {"max_operators", OP_INT, "0", NULL, 0, 1e6,
                         "Forms and expressions with more operators are left out; 0: no limit. e^x "
                         "has one operator."},
                        {"iterations", OP_INT, "6", NULL, 1, 10000,
                         "Maximum number of iterations of simplify and trigsimp."},
                        {"max_nodes", OP_INT, "2000", NULL, 1, 1e8,
                         "Maximum number of e-nodes of simplify and trigsimp."}),
    .inputs =
        OP_PORTS({"exprs", KIND_EXPR, OP_COLLECTION, false, "Expressions of the calculus."},
                 {"rules", KIND_RULE, OP_COLLECTION, false, "Rules of the e-graphs.", "certified"}),
    .outputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false,
                         "Each expression with its unverified forms; an expression that is left "
                         "out has no cluster."}),
    .check = check,
    .prepare = prepare,
    .release = release,
    .run = run,
};
