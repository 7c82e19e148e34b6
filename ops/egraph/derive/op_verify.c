/* The op `verify`: decides which members of foreign clusters are equal to their seed. */
#include "cluster.pb-c.h"
#include "engine/op.h"
#include "ops/egraph/derive/standing.h"
#include "ops/egraph/run/rules_input.h"
#include "ops/expr/ball/domain_record.h"
#include "ops/expr/own/own.h"

#include <string.h>

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    struct domains domains;
    return err_up(e, domains_read(&domains, op_arena(ctx), ctx, e));
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, op_rules_prepare(state, ctx, "it can prove nothing", e));
}

static const Eqloom__Standing standings[] = {[STANDING_PROVED] = EQLOOM__STANDING__PROVED,
                                             [STANDING_REFUTED] = EQLOOM__STANDING__REFUTED,
                                             [STANDING_UNDECIDED] = EQLOOM__STANDING__UNDECIDED,
                                             [STANDING_NO_VALUE] = EQLOOM__STANDING__NO_VALUE};

static enum err_code verify(Eqloom__Cluster *c, struct op_ctx *ctx, const struct op_rules *from,
                            struct err *e)
{
    if (!c->n_members)
        return OK;
    struct arena *a = op_arena(ctx), work = {0};
    struct rules rules = from->rules;
    struct domains given, domains;
    enum err_code code = domains_read(&given, a, ctx, e);
    if (code)
        return err_up(e, code);
    domains = domains_of(a, c->seed, &given);
    if (rules.n && from->basis > c->basis)
        c->basis = from->basis;
    struct standing_options options = {
        .limits = {.iterations = (uint32_t)op_int(ctx, "iterations"),
                   .max_nodes = rules.n ? (uint32_t)op_int(ctx, "max_nodes") : 1,
                   .domains = domains.all,
                   .n_domains = domains.n,
                   .real_values = op_bool(ctx, "real") || c->seed->real_values},
        .verdict_only = true};
    struct expr first;
    code = rules.n ? language_join(&rules.lang, a, c->seed->language, e)
                   : language_read(&rules.lang, a, c->seed->language, e);
    if (!code)
        code = expr_from_prefix(&first, a, rules.lang, c->members[0]->prefix, e);
    for (size_t i = 0; i < c->n_members && !code; i++) {
        struct expr x;
        struct standing_result result;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = ERR_CANCELLED;
        else if (!(code = expr_from_prefix(&x, &work, rules.lang, c->members[i]->prefix, e)) &&
                 !(code = standing_decide(&result, &work, &rules, from->set, &first, &x, &options,
                                          e))) {
            c->members[i]->standing = standings[result.standing];
            c->members[i]->witness =
                result.standing == STANDING_REFUTED ? arena_strdup(a, result.witness) : "";
        }
    }
    arena_free(&work);
    return err_up(e, code);
}

static void drop(Eqloom__Cluster *c, const char *keep)
{
    bool undecided = strcmp(keep, "proved") != 0;
    size_t n = 0;
    for (size_t i = 0; i < c->n_members && strcmp(keep, "all") != 0; i++) {
        Eqloom__Standing standing = c->members[i]->standing;
        if (standing == EQLOOM__STANDING__PROVED ||
            (undecided && standing == EQLOOM__STANDING__UNDECIDED))
            c->members[n++] = c->members[i];
    }
    c->n_members = strcmp(keep, "all") == 0 ? c->n_members : n;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct op_rules_state *s = state;
    Eqloom__Cluster *c;
    enum err_code code = op_get(&c, ctx, "clusters", 0, e);
    if (!code)
        code = verify(c, ctx, &s->rules, e);
    ball_thread_cleanup();
    if (code)
        return err_up(e, code);
    drop(c, op_string(ctx, "keep"));
    return c->n_members ? err_up(e, op_emit(NULL, ctx, "clusters", &c->base, e)) : OK;
}

const struct op op_verify = {
    .name = "verify",
    .version = 8,
    .node = OP_MAP,
    .doc = "Decides for each member whether it is equal to the first one, like `explain`: by "
           "values that differ on an open set, by normal forms, or by a derivation with the rules. "
           "The standing is PROVED, REFUTED, UNDECIDED or NO_VALUE.",
    .params = OP_PARAMS(DOMAINS_PARAM,
                        {"real", OP_BOOL, "false", NULL, 0, 0,
                         "Members are equal if they agree where both values are real."},
                        {"keep", OP_ENUM, "all", "all|undecided|proved", 0, 0,
                         "Members to keep: all; those that are not refuted and have values; those "
                         "that are proved."},
                        {"iterations", OP_INT, "8", NULL, 1, 10000,
                         "Maximum number of iterations of the search for a derivation by the "
                         "rules, if normal forms do not decide."},
                        {"max_nodes", OP_INT, "2000", NULL, 1, 100000000,
                         "Maximum number of e-nodes of that search."}),
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false,
                        "Clusters to verify; nothing about them is assumed."},
                       {"rules", KIND_RULE, OP_COLLECTION, true,
                        "Rules for proofs; without them, only normal forms prove.", "certified"}),
    .outputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false,
                         "The clusters with the standing of each member, and the differing values "
                         "of a refuted one."}),
    .check = check,
    .prepare = prepare,
    .release = op_rules_release,
    .run = run,
};
