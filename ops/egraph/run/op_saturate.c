/* The op `saturate`: turns an expression and certified rules into an e-graph in canonical form. */
#include "engine/op.h"
#include "ops/egraph/graph/egraph.h"
#include "ops/egraph/reuse/saturation_reuse.h"
#include "ops/egraph/run/rules_input.h"
#include "ops/expr/ball/domain_record.h"
#include "ops/expr/undefined/undefined.h"
#include "ops/expr/own/own.h"

#include "expr.pb-c.h"
#include "rule.pb-c.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct op_param params[] = {
    {"iterations", OP_INT, "8", NULL, 1, 10000, "Maximum number of iterations."},
    {"max_nodes", OP_INT, "10000", NULL, 1, 100000000,
     "Maximum number of e-nodes: no rule is applied once there are as many."},
    {"max_matches", OP_INT, "0", NULL, 0, 1e15, "Maximum number of applied matches; 0: no limit."},
    {"match_limit", OP_INT, "1000", NULL, 1, 1000000000,
     "A rule with more matches in one iteration is banned. Doubles with each ban of the rule."},
    {"ban_length", OP_INT, "5", NULL, 0, 10000,
     "Number of iterations that a ban lasts. Doubles with each ban of the rule. 0: no rule is "
     "banned."},
    {"forms", OP_INT, "0", NULL, 0, 1000000000,
     "Maximum number of pairs of classes with equal values that are compared by normal forms and "
     "joined if equal."},
    DOMAINS_PARAM,
    {"real", OP_BOOL, "false", NULL, 0, 0,
     "Terms are equal if they agree where both are real. That is not transitive, so `extract` "
     "compares members with their seed and marks those that differ."},
    {0}};

/* The changes of the rules since earlier rule sets, computed once for each set. */
struct change {
    struct digest before;
    struct arena arena; /* owns the removed rules */
    struct reuse_change *found;
    struct change *next;
};

struct saturate_state {
    struct arena arena;
    struct op_rules from;
    struct reuse_rules *reuse;
    const char **names; /* "group/name" */
    struct domains domains;
    pthread_mutex_t lock; /* protects the fields below */
    struct change *changes;
    /* Spare graphs, which keep their memory and cached facts between elements; as many as elements
     * ran in parallel. */
    struct egraph **spares;
    size_t n_spares, cap_spares;
};

static struct egraph *take_graph(struct saturate_state *s, const struct language *lang)
{
    struct egraph *g = NULL;
    if (lang != s->from.rules.lang)
        return egraph_new(lang);
    pthread_mutex_lock(&s->lock);
    if (s->n_spares)
        g = s->spares[--s->n_spares];
    pthread_mutex_unlock(&s->lock);
    return g ? g : egraph_new(lang);
}

static void give_graph(struct saturate_state *s, struct egraph *g)
{
    if (egraph_language(g) != s->from.rules.lang) {
        egraph_free(g);
        return;
    }
    egraph_clear(g);
    pthread_mutex_lock(&s->lock);
    s->spares = vec_grow(s->spares, &s->cap_spares, s->n_spares + 1, sizeof *s->spares);
    s->spares[s->n_spares++] = g;
    pthread_mutex_unlock(&s->lock);
}

static enum err_code read_rules(struct saturate_state *s, struct op_ctx *ctx, struct err *e)
{
    enum err_code code;
    if ((code = op_rules_read(&s->from, &s->arena, ctx, op_bool(ctx, "real"), e)) ||
        (code = domains_read(&s->domains, &s->arena, ctx, e)))
        return err_up(e, code);
    const struct rules *rules = &s->from.rules;
    s->names = arena_array(&s->arena, const char *, rules->n);
    for (size_t i = 0; i < rules->n; i++)
        s->names[i] = arena_printf(&s->arena, "%s/%s", rules->rules[i].group, rules->rules[i].name);
    return OK;
}

static void release(void *state)
{
    struct saturate_state *s = state;
    for (struct change *c = s->changes, *next; c; c = next) {
        next = c->next;
        reuse_change_free(c->found);
        arena_free(&c->arena);
        free(c);
    }
    for (size_t i = 0; i < s->n_spares; i++)
        egraph_free(s->spares[i]);
    free(s->spares);
    pthread_mutex_destroy(&s->lock);
    reuse_rules_free(s->reuse);
    ruleset_free(s->from.set);
    arena_free(&s->arena);
    free(s);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct saturate_state *s = must_calloc(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    enum err_code code = read_rules(s, ctx, e);
    if (code) {
        release(s);
        return err_up(e, code);
    }
    s->from.set = ruleset_new(&s->from.rules);
    s->reuse = reuse_rules_new(&s->from.rules, s->from.set, s->from.records, s->from.basis);
    *state = s;
    return OK;
}

static void write_statistics(Eqloom__EGraph *out, struct arena *a, const struct saturate_state *s,
                             const struct saturate_result *r)
{
    out->rules = arena_array(a, Eqloom__RuleStats *, s->from.rules.n);
    for (size_t i = 0; i < s->from.rules.n; i++) {
        if (!r->matched[i])
            continue;
        Eqloom__RuleStats *stats = arena_new(a, Eqloom__RuleStats);
        eqloom__rule_stats__init(stats);
        stats->rule = (char *)s->names[i];
        stats->matched = r->matched[i];
        stats->applied = r->applied[i];
        out->rules[out->n_rules++] = stats;
    }
}

static bool cancelled(void *ctx)
{
    return op_cancelled(ctx);
}

static enum err_code saturate_expr(struct egraph *g, struct op_ctx *ctx,
                                   const struct saturate_state *s, Eqloom__Expr *seed, bool proofs,
                                   struct err *e)
{
    enum err_code code;
    struct arena *a = op_arena(ctx);
    struct expr x;
    const struct language *lang = egraph_language(g);
    if ((code = expr_from_prefix(&x, a, lang, seed->prefix, e)))
        return err_up(e, code);
    if (proofs)
        egraph_keep_proofs(g);
    struct domains domains = domains_of(a, seed, &s->domains);
    Eqloom__Expr with_domains = *seed; /* the domains also apply to expressions derived from it */
    domains_store(&with_domains, a, &domains);
    with_domains.real_values = seed->real_values || op_bool(ctx, "real");
    for (size_t i = 0; i < domains.n; i++)
        if ((code = egraph_declare(g, &domains.all[i], e)))
            return err_up(e, code);
    const char *why;
    if (expr_is_undefined(&why, a, &x, domains.all, domains.n))
        return err_fail(e, ERR_INPUT, "the expression has no value: %s", why);
    eclass_id root = egraph_add_expr(g, &x);
    struct saturate_options o = {
        .iterations = (uint32_t)op_int(ctx, "iterations"),
        .max_nodes = (uint32_t)op_int(ctx, "max_nodes"),
        .max_matches = (uint64_t)op_int(ctx, "max_matches"),
        .match_limit = (uint32_t)op_int(ctx, "match_limit"),
        .ban_length = (uint32_t)op_int(ctx, "ban_length"),
        .forms = (uint32_t)op_int(ctx, "forms"),
        .explain = proofs,
        .cancelled = cancelled,
        .cancelled_arg = ctx,
    };
    struct saturate_result r;
    if ((code = egraph_saturate(&r, g, s->from.set, &o, a, e)))
        return err_up(e, code);
    Eqloom__EGraph message;
    egraph_to_message(&message, a, g, root);
    bool *used = arena_array(a, bool, lang->n_ops);
    for (size_t i = 0; i < message.n_operators; i++)
        used[lang_find(lang, message.operators[i], strlen(message.operators[i]))] = true;
    language_mark(used, &x);
    with_domains.language = language_text(a, lang, used);
    message.seed = &with_domains;
    message.stop = r.stop;
    message.iterations = r.iterations;
    message.basis = s->from.basis;
    write_statistics(&message, a, s, &r);
    struct span trace;
    if ((code = reuse_trace(&trace, a, s->reuse, &r, g, e)))
        return err_up(e, code);
    if (trace.data)
        op_set_witness(ctx, trace);
    return err_up(e, op_emit(NULL, ctx, "egraphs", &message.base, e));
}

static enum err_code find_change(struct change *out, struct op_ctx *ctx,
                                 const struct saturate_state *s, const struct op_earlier *x,
                                 struct err *e)
{
    enum err_code code;
    ProtobufCMessage **gone;
    const uint64_t *added;
    size_t n_gone, n_added;
    if ((code = op_earlier_removed(&gone, &n_gone, ctx, x, "rules", &out->arena, e)) ||
        (code = op_earlier_added(&added, &n_added, ctx, x, "rules", e)))
        return err_up(e, code);
    out->found =
        reuse_change_new(s->reuse, added, n_added, (const Eqloom__Rule *const *)gone, n_gone);
    return OK;
}

/* Returns NULL if the earlier rules cannot be read. */
static const struct reuse_change *change_since(struct op_ctx *ctx, struct saturate_state *s,
                                               const struct op_earlier *x)
{
    struct digest before = op_earlier_input_id(x, "rules");
    pthread_mutex_lock(&s->lock);
    struct change *c = s->changes;
    while (c && !digest_equal(&c->before, &before))
        c = c->next;
    if (!c) {
        c = must_calloc(1, sizeof *c);
        c->before = before;
        c->next = s->changes;
        s->changes = c;
        find_change(c, ctx, s, x, NULL);
    }
    pthread_mutex_unlock(&s->lock);
    return c->found;
}

/* Returns e.g. "2 new or edited rules match nowhere: 1 by an equal left side, 1 by the
 * operators". */
static const char *tell(struct arena *a, const struct reuse_answer *answer)
{
    size_t by_pattern = answer->by_pattern, by_signature = answer->by_signature,
           n = by_pattern + by_signature;
    if (!n)
        return "no rule that matched is new, edited or removed";
    const char *text =
        arena_printf(a, "%zu new or edited rule%s nowhere: ", n, n == 1 ? " matches" : "s match");
    if (by_pattern)
        text = arena_printf(a, "%s%zu by an equal left side", text, by_pattern);
    if (by_signature)
        text =
            arena_printf(a, "%s%s%zu by the operators", text, by_pattern ? ", " : "", by_signature);
    return text;
}

/* Decides about one expression by its trace, or about many by the union of their traces. */
static enum err_code reuse(bool *stands, const char **reason, struct op_ctx *ctx, void *state,
                           const struct op_earlier *x, struct err *e)
{
    enum err_code code;
    struct reuse_answer answer = {0};
    const struct reuse_change *change = change_since(ctx, state, x);
    if (change && (code = reuse_decide(&answer, op_arena(ctx), op_earlier_witness(x), change, e)))
        return err_up(e, code);
    *stands = answer.stands;
    *reason = tell(op_arena(ctx), &answer);
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct saturate_state *s = state;
    Eqloom__Expr *seed;
    enum err_code code;
    if ((code = op_get(&seed, ctx, "exprs", 0, e)))
        return err_up(e, code);
    if (op_cancelled(ctx))
        return err_fail(e, ERR_CANCELLED, "saturation was cancelled");
    const struct language *lang =
        s->from.rules.lang; /* includes operators that only the expression has */
    if ((code = language_join(&lang, op_arena(ctx), seed->language, e)))
        return err_up(e, code);
    struct egraph *g = take_graph(s, lang);
    code = saturate_expr(g, ctx, s, seed, false, e);
    if (code && egraph_contradicts(g)) { /* run again with proofs, for an explanation */
        egraph_clear(g);
        code = saturate_expr(g, ctx, s, seed, true, e);
    }
    give_graph(s, g);
    if (op_int(ctx, "forms"))
        ball_thread_cleanup();
    return code;
}

/* The statistics name each rule that matched; the rules of one run have unique names. */
static bool took_part(const ProtobufCMessage *output, const char *role,
                      const ProtobufCMessage *element)
{
    const Eqloom__EGraph *g = (const Eqloom__EGraph *)output;
    const Eqloom__Rule *r = (const Eqloom__Rule *)element;
    size_t n = strlen(r->group);
    for (size_t i = 0; i < g->n_rules; i++) {
        const char *name = g->rules[i]->rule;
        if (!strncmp(name, r->group, n) && name[n] == '/' && !strcmp(name + n + 1, r->name))
            return true;
    }
    return false;
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    struct domains domains;
    return err_up(e, domains_read(&domains, op_arena(ctx), ctx, e));
}

const struct op op_saturate = {
    .name = "saturate",
    .version = 16,
    .node = OP_MAP,
    .doc = "Finds everything that the rules prove equal to an expression and to its parts, as an "
           "e-graph in canonical form. Budgets are counts, so the result does not depend on the "
           "machine. The rules must be certified by `certify`. If they contradict each other, the "
           "element fails.",
    .params = params,
    .inputs = OP_PORTS({"exprs", KIND_EXPR, OP_COLLECTION, false, "Expressions to saturate."},
                       {"rules", KIND_RULE, OP_COLLECTION, false, "Certified rules.", "certified"}),
    .outputs = OP_PORTS(
        {"egraphs", KIND_EGRAPH, OP_COLLECTION, false, "One e-graph for each expression."}),
    .check = check,
    .prepare = prepare,
    .release = release,
    .run = run,
    .reuse = reuse,
    .merge_witnesses = reuse_unite,
    .took_part = took_part,
};
