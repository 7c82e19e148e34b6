#include "ops/egraph/run/rules_input.h"

#include <stdlib.h>

static enum err_code check_certificate(Eqloom__Basis *basis, const Eqloom__Rule *r, bool real,
                                       struct err *e)
{
    const Eqloom__Certificate *c = r->certificate;
    if (!c || c->verdict == EQLOOM__VERDICT__UNKNOWN)
        return err_fail(e, ERR_INPUT,
                        "rule %s/%s has no certificate: pass the rules through `certify` first",
                        r->group, r->name);
    if (c->real_values && !real)
        return err_fail(e, ERR_INPUT,
                        "rule %s/%s was certified only where both sides are real: only `saturate` "
                        "with real: true accepts it",
                        r->group, r->name);
    *basis = c->basis > *basis ? c->basis : *basis;
    return OK;
}

enum err_code op_rules_read(struct op_rules *out, struct arena *a, struct op_ctx *ctx, bool real,
                            struct err *e)
{
    enum err_code code;
    uint64_t n = op_count(ctx, "rules");
    *out = (struct op_rules){.rules.rules = arena_array(a, struct rule, n),
                             .records = arena_array(a, const Eqloom__Rule *, n)};
    for (uint64_t i = 0; i < n; i++) {
        const Eqloom__Rule *m;
        if ((code = op_get_in(&m, ctx, "rules", i, a, e)))
            return err_up(e, code);
        const Eqloom__Rule *r = out->records[i] = m;
        if ((code = check_certificate(&out->basis, r, real, e)) ||
            (code = rule_from_message(&out->rules.rules[i], &out->rules.lang, a, r, e)))
            return err_up(e, code);
        out->rules.n++;
    }
    if (!n)
        out->rules.lang = &lang_calculus;
    rules_sort(&out->rules);
    return OK;
}

void op_rules_release(void *state)
{
    struct op_rules_state *s = state;
    ruleset_free(s->rules.set);
    arena_free(&s->arena);
    free(s);
}

enum err_code op_rules_prepare(void **state, struct op_ctx *ctx, const char *true_ones,
                               struct err *e)
{
    struct op_rules_state *s = must_calloc(1, sizeof *s);
    enum err_code code = op_rules_read(&s->rules, &s->arena, ctx, false, e);
    if (!code && s->rules.basis == EQLOOM__BASIS__FALSEHOOD && true_ones)
        code = err_fail(e, ERR_INPUT, "a rule is refuted (allow_unsound): %s", true_ones);
    if (code) {
        op_rules_release(s);
        return err_up(e, code);
    }
    s->rules.set = ruleset_new(&s->rules.rules);
    *state = s;
    return OK;
}
