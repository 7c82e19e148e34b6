/* Words and JSON; see answer.h. */
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

static void write_undecided(struct buf *out, const struct answer *q)
{
    if (exact_applies(q->lang))
        buf_printf(out, "undecided: too large to compare");
    else if (!q->r.compare.points)
        buf_printf(out, "undecided: no point was found at which both can be computed");
    else
        buf_printf(out, "undecided: both agree to %d digits at %u points", q->r.compare.digits,
                   q->r.compare.points);
    if (q->r.contradiction)
        buf_printf(out, "; the rules contradict each other, so they prove nothing\n%s\n",
                   q->r.contradiction);
    else if (q->r.derivation.refuted.code)
        buf_printf(out, "; a derivation was found, but %s\n", q->r.derivation.refuted.message);
    else
        buf_printf(out, "; no proof in %u iterations and %u e-nodes (%s)\n",
                   q->r.derivation.run.iterations, q->r.derivation.nodes,
                   rewrite_stop_text(q->r.derivation.run.stop));
}

/* Values and domains, as expressions are shown; NULL is fine. */
static const char *claim(struct arena *a, const struct answer *q, const char *text)
{
    return text && q->show == expr_latex ? claim_latex(a, q->lang, text) : text;
}

/* What the user said of the variables, and which others must be positive; or NULL. */
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
    }
}

void answer_write_words(struct buf *out, struct arena *a, const struct answer *q)
{
    const struct derivation *d = &q->r.derivation;
    switch (q->r.standing) {
    case STANDING_REFUTED:
        /* "x = 1/2: 3 against 4"; constants have no place. */
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
    case STANDING_NO_VALUE:
        buf_printf(out, "no value: %s, at any point that was tried\n", q->r.undefined);
        return;
    case STANDING_UNDECIDED: write_undecided(out, q);
    }
}

static json_t *steps_json(struct arena *a, const struct answer *q)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < q->r.derivation.proof.n; i++) {
        const struct explain_step *s = &q->r.derivation.proof.steps[i];
        json_t *step = json_object();
        json_object_set_new(step, "rule", json_string(s->rule));
        json_object_set_new(step, "direction",
                            json_string(s->backwards ? "backwards" : "forwards"));
        json_object_set_new(step, "position", json_integer(s->position));
        json_object_set_new(step, "term", json_string(q->show(a, &s->term)));
        if (q->r.derivation.refuted.code && i == q->r.derivation.refuted_step)
            json_object_set_new(step, "false", json_string(q->r.derivation.refuted.message));
        json_array_append_new(steps, step);
    }
    return steps;
}

static void set_text(json_t *o, const char *key, const char *text)
{
    if (text)
        json_object_set_new(o, key, json_string(text));
}

static void set_number(json_t *o, const char *key, uint64_t n)
{
    json_object_set_new(o, key, json_integer((json_int_t)n));
}

void answer_write_json(struct buf *out, struct arena *a, const struct answer *q, size_t line)
{
    const struct standing_result *r = &q->r;
    json_t *o = json_object();
    if (line)
        set_number(o, "line", line);
    set_text(o, "verdict", standing_word(r->standing));
    set_text(o, "language", q->lang->name);
    set_text(o, "from", q->show(a, &q->from));
    set_text(o, "to", q->show(a, &q->to));
    set_text(o, "assumed", assumed_of(a, q));
    set_text(o, "witness", claim(a, q, r->witness));
    set_text(o, "reason", r->undefined);
    set_text(o, "contradiction", r->contradiction);
    if (r->derivation.found) {
        json_object_set_new(o, "steps", steps_json(a, q));
        set_text(o, "checked", r->derivation.checked);
        json_object_set_new(o, "shortest", json_boolean(r->derivation.proof.shortest));
    } else if (r->standing == STANDING_PROVED) {
        set_number(o, "compared", r->table.points);
    }
    if (r->standing == STANDING_UNDECIDED) {
        set_number(o, "points", r->compare.points);
        set_number(o, "digits", (uint64_t)r->compare.digits);
        set_number(o, "iterations", r->derivation.run.iterations);
        set_number(o, "nodes", r->derivation.nodes);
        set_text(o, "stop", rewrite_stop_text(r->derivation.run.stop));
    }
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    buf_puts(out, text ? text : "");
    free(text);
    json_decref(o);
}
