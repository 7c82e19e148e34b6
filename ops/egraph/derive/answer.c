/* Formats answers as text and JSON; see answer.h. */
#include "ops/egraph/derive/answer.h"

#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/syntax/claim_latex.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void write_derivation(struct buf *out, struct arena *a, const struct answer *q)
{
    const struct derivation *d = &q->r.derivation;
    buf_printf(out, "    %s\n", q->show(a, &q->from));
    explanation_write(out, a, &d->proof, q->show, "", d->refuted.code ? d->refuted_step : SIZE_MAX);
}

static void write_table(struct buf *out, const struct answer *q)
{
    if (lang_is(q->lang, &lang_boolean))
        buf_printf(out, "proved: all %llu rows of the truth table agree\n",
                   (unsigned long long)q->r.table.points);
    else
        buf_printf(out, "proved: both expand to the same polynomial\n");
}

static void write_undecided(struct buf *out, struct arena *a, const struct answer *q)
{
    if (q->r.partial)
        buf_printf(out, "undecided: equal where both have a value, which may be on a part only\n");
    else if (exact_applies(q->lang))
        buf_printf(out, "undecided: too large to compare");
    else if (!q->r.compare.points)
        buf_printf(out, "undecided: no point was found at which both can be computed");
    else
        buf_printf(out, "undecided: both agree to %d digits at %u points", q->r.compare.digits,
                   q->r.compare.points);
    if (q->r.partial)
        return;
    if (q->r.basis > EQLOOM__BASIS__CLAIM && !q->r.derivation.refuted.code) {
        buf_printf(out, "; the rules derive it, but %s\n", q->r.rests_on);
        write_derivation(out, a, q);
    } else if (q->r.contradiction)
        buf_printf(out, "; the rules contradict each other, so they prove nothing\n%s\n",
                   q->r.contradiction);
    else if (q->r.derivation.refuted.code)
        buf_printf(out, "; a derivation was found, but %s\n", q->r.derivation.refuted.message);
    else
        buf_printf(out, "; no proof in %u iterations and %u e-nodes (%s)\n",
                   q->r.derivation.run.iterations, q->r.derivation.nodes,
                   rewrite_stop_text(q->r.derivation.run.stop));
}

/* Formats values and domains like expressions; accepts NULL. */
static const char *claim(struct arena *a, const struct answer *q, const char *text)
{
    return text && q->show == expr_latex ? claim_latex(a, q->lang, text) : text;
}

/* Returns the domains that the user declared and the variables that must also be positive; or
 * NULL. */
static const char *assumed_of(struct arena *a, const struct answer *q)
{
    const char *more = q->r.positive;
    return claim(a, q,
                 q->assumed && more ? arena_printf(a, "%s, %s", q->assumed, more)
                 : more             ? more
                                    : q->assumed);
}

static void write_proof(struct buf *out, struct arena *a, const struct answer *q)
{
    const struct derivation *d = &q->r.derivation;
    const char *assumed = assumed_of(a, q);
    size_t n = d->proof.n;
    if (!d->found) {
        write_table(out, q);
    } else if (q->r.way) {
        buf_printf(out, "proved by %s%s%s\n", q->r.way, assumed ? ", for " : "",
                   assumed ? assumed : "");
    } else {
        buf_printf(out, "proved in %zu step%s%s%s%s\n", n, n == 1 ? "" : "s",
                   n > 1 && d->proof.shortest ? ", the fewest" : "", assumed ? ", for " : "",
                   assumed ? assumed : "");
        write_derivation(out, a, q);
        if (q->r.rests_on)
            buf_printf(out, "    where %s\n", q->r.rests_on);
    }
}

void answer_write_words(struct buf *out, struct arena *a, const struct answer *q)
{
    const struct derivation *d = &q->r.derivation;
    switch (q->r.standing) {
    case STANDING_REFUTED:
        /* "x = 1/2: 3 against 4"; without variables there is no "at" */
        buf_printf(out, "refuted: %s%s\n", strchr(q->r.witness, '=') ? "at " : "",
                   claim(a, q, q->r.witness));
        if (q->r.contradiction)
            buf_printf(out, "%s\n", q->r.contradiction);
        if (!d->found)
            return;
        buf_printf(out, "but the rules derive it%s%s\n", d->refuted.code ? ": " : "",
                   d->refuted.code ? d->refuted.message : "");
        write_derivation(out, a, q);
        return;
    case STANDING_PROVED: write_proof(out, a, q); return;
    case STANDING_NO_VALUE: buf_printf(out, "no value: %s\n", q->r.undefined); return;
    case STANDING_UNDECIDED: write_undecided(out, a, q);
    }
}

static json_t *steps_json(struct arena *a, const struct answer *q)
{
    const struct derivation *d = &q->r.derivation;
    json_t *steps = json_array();
    for (size_t i = 0; i < d->proof.n; i++) {
        const struct explain_step *s = &d->proof.steps[i];
        bool refuted = d->refuted.code && i == d->refuted_step;
        json_array_append_new(steps,
                              json_pack("{s:s, s:s, s:I, s:s, s:s*}", "rule", s->rule, "direction",
                                        s->backwards ? "backwards" : "forwards", "position",
                                        (json_int_t)s->position, "term", q->show(a, &s->term),
                                        "false", refuted ? d->refuted.message : NULL));
    }
    return steps;
}

void answer_write_json(struct buf *out, struct arena *a, const struct answer *q, size_t line)
{
    const struct standing_result *r = &q->r;
    json_t *head = line ? json_integer((json_int_t)line) : NULL, *more = NULL;
    json_t *o = json_pack("{s:o*, s:s*, s:s, s:s, s:s, s:s*, s:s*, s:s*, s:s*}", "line", head,
                          "verdict", standing_word(r->standing), "language", q->lang->name, "from",
                          q->show(a, &q->from), "to", q->show(a, &q->to), "assumed",
                          assumed_of(a, q), "witness", claim(a, q, r->witness), "reason",
                          r->partial ? "equal where both have a value" : r->undefined,
                          "contradiction", r->contradiction);
    if (r->rests_on)
        json_object_update_new(o, json_pack("{s:s}", "rests_on", r->rests_on));
    if (r->derivation.found)
        more = json_pack("{s:o, s:s*, s:b}", "steps", steps_json(a, q), "checked",
                         r->derivation.checked, "shortest", r->derivation.proof.shortest);
    else if (r->standing == STANDING_PROVED)
        more = json_pack("{s:I}", "compared", (json_int_t)r->table.points);
    json_object_update_new(o, more);
    if (r->standing == STANDING_UNDECIDED)
        json_object_update_new(o, json_pack("{s:I, s:I, s:I, s:I, s:s*}", "points",
                                            (json_int_t)r->compare.points, "digits",
                                            (json_int_t)r->compare.digits, "iterations",
                                            (json_int_t)r->derivation.run.iterations, "nodes",
                                            (json_int_t)r->derivation.nodes, "stop",
                                            rewrite_stop_text(r->derivation.run.stop)));
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    buf_puts(out, text ? text : "");
    free(text);
    json_decref(o);
}
