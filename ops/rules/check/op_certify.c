/* The op `certify`: adds a certificate to each Rule. A refuted rule, or one that is not proved,
 * fails or, if the job allows it, is emitted with that mark. */
#include "engine/op.h"
#include "ops/expr/ball/domain_record.h"
#include "ops/rules/check/certify.h"

/* Adds the domains to the rule as conditions. */
static enum err_code certify(Eqloom__Rule *rule, Eqloom__Certificate *certificate,
                             struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct rule_check_options options = {(uint32_t)op_int(ctx, "points"),
                                         op_bool(ctx, "real")};
    struct domains domains;
    struct rules set = {0};
    struct rule r;
    enum err_code code;
    if ((code = domains_read(&domains, a, ctx, e)) ||
        (code = rule_from_message(&r, &set.lang, a, rule, e)))
        return err_up(e, code);
    for (size_t i = 0; i < domains.n; i++)
        rule_restrict(&r, a, &domains.all[i]);
    if (r.n_conditions > RULES_MAX_CONDITIONS)
        return err_fail(e, ERR_INPUT, "rule %s/%s: with its domains it has more than %d conditions",
                        r.group, r.name, (int)RULES_MAX_CONDITIONS);
    if (domains.n)
        rule_to_message(rule, a, &set, &r);
    if ((code = rule_check(certificate, a, &r, &options, e)))
        return err_up(e, code);
    if (certificate->basis == EQLOOM__BASIS__FALSEHOOD && !op_bool(ctx, "allow_unsound"))
        return err_fail(e, ERR_FAILED, "rule %s", rule_basis_text(a, &r, certificate));
    if (certificate->basis == EQLOOM__BASIS__SAMPLE && !op_bool(ctx, "sampled"))
        return err_fail(
            e, ERR_FAILED,
            "rule %s. Let `certify` pass it with sampled: true, and what is made with it says so",
            rule_basis_text(a, &r, certificate));
    certificate->real_values = options.real_values && !certificate->proof[0];
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    Eqloom__Rule *message;
    enum err_code code = op_get(&message, ctx, "rules", 0, e);
    if (code)
        return err_up(e, code);
    Eqloom__Rule rule = *message;
    Eqloom__Certificate certificate;
    code = certify(&rule, &certificate, ctx, e);
    ball_thread_cleanup();
    if (code)
        return err_up(e, code);
    rule.certificate = &certificate;
    return err_up(e, op_emit(NULL, ctx, "rules", &rule.base, e));
}

static const struct op_param params[] = {
    {"points", OP_INT, "64", .min = 8, .max = 100000,
     .doc = "Number of instances at which both sides of a rule are compared."},
    {"sampled", OP_BOOL, "false",
     .doc = "Emit rules that hold at all instances but are not proved, marked SAMPLE, instead of "
            "failing."},
    {"allow_unsound", OP_BOOL, "false",
     .doc = "Emit refuted rules, marked FALSEHOOD, instead of failing."},
    {"domains", OP_STRINGS, "",
     .doc = "Additional conditions on variables: 'a:real', 'n:integer', 'a>1', '0<a<1'. Rules that "
            "have the variable are emitted with them."},
    {"real", OP_BOOL, "false",
     .doc = "Compare the sides only where both are real; `saturate` then needs `real`, too."},
    {0},
};

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    struct domains domains;
    return err_up(e, domains_read(&domains, op_arena(ctx), ctx, e));
}

const struct op op_certify = {
    .name = "certify",
    .version = 17,
    .node = OP_MAP,
    .doc =
        "Checks each rule by ball arithmetic on principal branches, at special and designed "
        "values of its variables that meet its conditions.",
    .params = params,
    .inputs = OP_PORTS({"rules", KIND_RULE, OP_COLLECTION, .doc = "Rules."}),
    .outputs = OP_PORTS({"rules", KIND_RULE, OP_COLLECTION,
                         .doc = "The rules with their certificates.", .property = "certified"}),
    .check = check,
    .run = run,
};
