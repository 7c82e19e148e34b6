/* The op `certify`: Rule -> Rule with its certificate. A refuted rule fails, with the witness, or
 * is passed on, marked unsound, where the job allows that. */
#include "engine/op.h"
#include "ops/expr/ball/ball.h"
#include "ops/rules/certify.h"

static enum err_code certify(Eqloom__Rule *rule, Eqloom__Certificate *certificate,
                             struct op_ctx *ctx, struct err *e)
{
    struct rule_check_options options = {(uint32_t)op_int(ctx, "points"),
                                         (uint64_t)op_int(ctx, "seed")};
    enum err_code code = rule_check_message(certificate, op_arena(ctx), rule, &options, e);
    if (code)
        return err_up(e, code);
    bool refuted = certificate->verdict == EQLOOM__VERDICT__REFUTED;
    if (refuted && !op_bool(ctx, "allow_unsound"))
        return err_fail(e, ERR_FAILED, "rule %s/%s is false: %s%s%s", rule->group, rule->name,
                        certificate->witness, certificate->guard[0] ? "; holds if " : "",
                        certificate->guard);
    certificate->unsound = refuted;
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    ProtobufCMessage *message;
    enum err_code code = op_get(&message, ctx, "rules", 0, e);
    if (code)
        return err_up(e, code);
    Eqloom__Rule rule = *(Eqloom__Rule *)message;
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
     .doc = "Instances at which both sides of a rule are compared."},
    {"seed", OP_INT, "1", .min = 0, .max = 9007199254740992.0,
     .doc = "Chooses the random ones among them."},
    {"allow_unsound", OP_BOOL, "false",
     .doc = "Refuted rules are passed on, marked unsound, instead of failing."},
    {0},
};

static const struct op_port inputs[] = {
    {"rules", KIND_RULE, OP_COLLECTION, .doc = "Rules."},
    {0},
};

static const struct op_port outputs[] = {
    {"rules", KIND_RULE, OP_COLLECTION, .doc = "The same with their certificates.",
     .property = "certified"},
    {0},
};

const struct op op_certify = {
    .name = "certify",
    .version = 10,
    .node = OP_MAP,
    .doc =
        "Checks each rule by ball arithmetic on principal branches, at special and random values "
        "of its variables that meet its conditions.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .run = run,
};
