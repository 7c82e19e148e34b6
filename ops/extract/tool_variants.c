/* `eqloom variants EXPR`: lists other forms of an expression: terms of its e-class in a saturated
 * e-graph, each compared with it. Forms that differ only in the order or grouping of sums and
 * products or in the position of signs count as one. */
#include "base/buf.h"
#include "base/map.h"
#include "ops/egraph/run/rewrite_options.h"
#include "ops/expr/edit_distance.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/syntax/expr_texts.h"
#include "ops/expr/undefined/undefined.h"
#include "ops/extract/extract_grammar.h"
#include "ops/rules/check/certify.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 10000, MAX_NODES = 100000000, MAX_FORMS = 100000, LONGER = 6, LEAST = 12 };
enum {
    RANKS = 2000, /* terms of one length that are examined */
    POOL = 300,   /* forms from which the most different ones are chosen */
    POINTS = 8,
    RULE_POINTS = 64 /* at which a user's rule is tried */
};
#define SELF UINT64_MAX /* in place of a form: the expression itself */

struct search {
    struct arena *a;
    const struct expr *x;
    const struct language *lang; /* of the e-graph's terms */
    struct equality_test test;
    struct name_map seen;
    struct expr *found;
    uint32_t n, most;
};

/* ---- one text for all orders, groupings and positions of signs ---- */

struct chain {
    struct arena *a;
    const struct expr *x;
    bool sum;
    bool negative; /* the product is negated */
    char **texts;
    size_t n, cap;
};

static char *canonical(bool *negative, struct arena *a, const struct expr *x, uint32_t at);

static char *with_sign(struct arena *a, bool negative, char *text)
{
    return negative ? arena_printf(a, "-%s", text) : text;
}

static void collect(struct chain *c, uint32_t at, bool negative)
{
    const struct expr_node *nodes = c->x->nodes;
    uint16_t op = nodes[at].op;
    if (c->sum ? op == X_ADD || op == X_SUB : op == X_MUL) {
        collect(c, at + 1, negative);
        collect(c, at + 1 + nodes[at + 1].size, negative != (op == X_SUB));
        return;
    }
    bool minus;
    char *text = canonical(&minus, c->a, c->x, at);
    c->negative ^= minus;
    if (!c->sum && strcmp(text, "1") == 0)
        return;
    c->texts = vec_grow(c->texts, &c->cap, c->n + 1, sizeof *c->texts);
    c->texts[c->n++] = c->sum ? with_sign(c->a, minus != negative, text) : text;
}

static char *canonical(bool *negative, struct arena *a, const struct expr *x, uint32_t at)
{
    const struct expr_node *node = &x->nodes[at];
    const struct op_info *op = &x->lang->ops[node->op];
    struct chain c = {.a = a, .x = x, .sum = node->op == X_ADD || node->op == X_SUB};
    *negative = node->leaf && node->leaf[0] == '-';
    if (node->leaf)
        return arena_strdup(a, node->leaf + *negative);
    if (c.sum || node->op == X_MUL) {
        collect(&c, at, false);
        qsort(c.texts, c.n, sizeof *c.texts, text_compare);
        *negative = !c.sum && c.negative;
    } else {
        c.texts = vec_grow(NULL, &c.cap, op->arity, sizeof *c.texts);
        for (uint32_t child = at + 1; c.n < op->arity; child += x->nodes[child].size) {
            bool minus;
            char *text = canonical(&minus, a, x, child);
            c.texts[c.n++] = with_sign(a, minus && node->op != X_DIV, text);
            *negative ^= minus && node->op == X_DIV;
        }
        if (op->commutative)
            qsort(c.texts, c.n, sizeof *c.texts, text_compare);
    }
    struct buf b = {0};
    bool alone = c.n == 1 && node->op == X_MUL; /* -1*x is x with a sign */
    if (!alone)
        buf_printf(&b, "(%s", c.sum ? "+" : op->name);
    for (size_t i = 0; i < c.n; i++)
        buf_printf(&b, alone ? "%s" : " %s", c.texts[i]);
    if (!alone)
        buf_putc(&b, ')');
    free(c.texts);
    return buf_text(&b, a);
}

static char *canonical_text(struct arena *a, const struct expr *x)
{
    bool negative;
    char *text = canonical(&negative, a, x, 0);
    return with_sign(a, negative, text);
}

/* ---- candidates ---- */

static unsigned count_signs(const struct expr *x)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        n += x->nodes[i].leaf && x->nodes[i].leaf[0] == '-';
    return n;
}

/* Adds a form. Of forms that count as one, keeps the first of those with the fewest negative
 * numbers among the shortest. `room`: whether a new form may be added. */
static enum err_code add(struct search *s, const struct grammar *g, const struct term *t, bool room,
                         struct err *e)
{
    struct expr y;
    const char *witness;
    char *text = grammar_term_text(s->a, g, t);
    enum err_code code = expr_from_prefix(&y, s->a, s->lang, text, e);
    if (code)
        return err_up(e, code);
    const char *name = canonical_text(s->a, &y);
    const uint64_t *index = name_map_get(&s->seen, name);
    struct expr *before = index && *index != SELF ? &s->found[*index] : NULL;
    bool better =
        before && expr_tokens(&y) == expr_tokens(before) && count_signs(&y) < count_signs(before);
    if (index ? !better : !room)
        return OK;
    enum equality equal = expr_is_interpreted(&y) ? equality_test_ask(&witness, s->a, &s->test, &y)
                                                  : EQUALITY_UNDECIDED;
    if (equal == EQUALITY_REFUTED) {
        code = err_fail(e, ERR_FAILED, "the rules derive '%s', which is not equal: %s",
                        expr_infix(s->a, &y), witness);
        err_hint(e, "'eqloom explain' with both expressions and these rules shows which is false");
        return code;
    }
    if (equal == EQUALITY_AGREES && better) {
        *before = y;
    } else if (equal == EQUALITY_AGREES) {
        name_map_put(&s->seen, name, s->n, NULL);
        s->found[s->n++] = y;
    }
    return OK;
}

/* Collects forms from the shortest on; of a length with many terms, evenly spaced ones. `most_each`
 * is the maximum number of forms of one length. */
static enum err_code collect_forms(struct search *s, const struct grammar *g, uint32_t most_each,
                                   struct err *e)
{
    enum err_code code = OK;
    for (uint32_t length = 1;
         !code && g->root != GRAMMAR_NONE && length <= g->max_tokens && s->n < s->most; length++) {
        count_t total = grammar_total(g, g->root, length);
        count_t step = total > RANKS ? total / RANKS : 1;
        uint32_t end = s->most - s->n < most_each ? s->most : s->n + most_each;
        for (count_t rank = 0, looked = 0; !code && looked < RANKS && rank < total;
             rank += step, looked++) {
            struct term t = {0};
            grammar_unrank(&t, g, g->root, length, rank);
            code = add(s, g, &t, s->n < end, e);
        }
    }
    return err_up(e, code);
}

/* Farthest-first selection: each next form is the one whose nearest chosen form, including x, is
 * farthest. */
static enum err_code choose_different(struct search *s, uint32_t wanted, struct err *e)
{
    uint32_t *nearest = arena_array(s->a, uint32_t, s->n + 1);
    memset(nearest, 0xff, (s->n + 1) * sizeof *nearest);
    const struct expr *last = s->x;
    uint32_t n = 0;
    for (; n < wanted && n < s->n; n++) {
        uint32_t best = n;
        for (uint32_t i = n; i < s->n; i++) {
            uint32_t distance;
            enum err_code code = edit_distance(&distance, s->a, last, &s->found[i], e);
            if (code)
                return err_up(e, code);
            nearest[i] = distance < nearest[i] ? distance : nearest[i];
            best = nearest[i] > nearest[best] ? i : best;
        }
        struct expr form = s->found[best];
        uint32_t near = nearest[best];
        s->found[best] = s->found[n];
        nearest[best] = nearest[n];
        s->found[n] = form;
        nearest[n] = near;
        last = &s->found[n];
    }
    s->n = n;
    return OK;
}

/* ---- the command ---- */

struct request {
    const struct tool_args *args;
    struct arena *a; /* of one expression */
    struct rules rules;
    struct ruleset *set;
    struct latex_reader *latex;
    struct expr x;
    uint32_t n, max_tokens; /* maximum number of forms; maximum length of a form */
    bool different; /* choose forms far from each other by edit distance, instead of the shortest */
    struct saturate_options limits;
};

/* Leaves out the user's rules that are false or, without --sampled, not proved, and says so. */
static enum err_code keep_proved(struct request *q, struct err *e)
{
    const struct rule_check_options options = {RULE_POINTS, false};
    bool sampled = tool_value(q->args, "sampled");
    Eqloom__Basis accepted = sampled ? EQLOOM__BASIS__SAMPLE : EQLOOM__BASIS__CLAIM;
    size_t kept = 0;
    for (size_t i = 0; i < q->rules.n; i++) {
        const struct rule *r = &q->rules.rules[i];
        Eqloom__Certificate c;
        enum err_code code = rule_check(&c, q->args->arena, r, &options, e);
        if (code)
            return err_up(e, code);
        bool keep = c.basis <= accepted;
        if (c.basis != EQLOOM__BASIS__PROOF)
            fprintf(q->args->narration, "%s: %s\n", keep ? "given" : "left out",
                    rule_basis_text(q->args->arena, r, &c));
        if (keep)
            q->rules.rules[kept++] = *r;
    }
    q->rules.n = kept;
    return OK;
}

static enum err_code read_request(struct request *q, struct err *e)
{
    const struct tool_args *args = q->args;
    struct saturate_options *o = &q->limits;
    bool own_rules;
    enum err_code code;
    *o = (struct saturate_options){.match_limit = 1000, .ban_length = 5};
    if ((code = tool_number(&q->n, args, "count", 10, 1, MAX_FORMS, e)) ||
        (code = tool_number(&o->iterations, args, "iterations", 8, 1, MAX_ITERATIONS, e)) ||
        (code = tool_number(&o->max_nodes, args, "max-nodes", 10000, 1, MAX_NODES, e)) ||
        (code = rewrite_read_rules(&q->rules, &own_rules, args, e)) ||
        (own_rules && (code = keep_proved(q, e))))
        return err_up(e, code);
    q->different = tool_value(args, "different") != NULL;
    return OK;
}

static enum err_code read_expr(struct request *q, const char *name, const char *text, struct err *e)
{
    enum err_code code =
        expr_argument(&q->x, &q->latex, q->args, q->a, q->rules.lang, name, text, e);
    if (code)
        return err_up(e, code);
    uint32_t tokens = expr_tokens(&q->x) + LONGER, most = EXTRACT_MAX_TOKENS - 1;
    tokens = tokens < LEAST ? LEAST : tokens > most ? most : tokens;
    return err_up(e, tool_number(&q->max_tokens, q->args, "max-tokens", tokens, 1, most, e));
}

static void print_form(const struct request *q, const struct expr *x)
{
    const char *text = expr_shown(q->args)(q->a, x);
    if (!q->args->json) {
        fprintf(q->args->out, "%s\n", text);
        return;
    }
    json_t *o = json_pack("{s:s, s:s, s:i}", "expression", text, "prefix",
                          expr_prefix(q->a, x), "tokens", (int)expr_tokens(x));
    char *line = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    fprintf(q->args->out, "%s\n", line ? line : "");
    free(line);
    json_decref(o);
}

/* Fails with ERR_FAILED and a witness if a rule is false. */
static enum err_code find_forms(struct search *s, const struct grammar *g, const struct request *q,
                                struct err *e)
{
    const struct ball_options points = {.points = POINTS};
    *s = (struct search){.a = q->a,
                         .x = &q->x,
                         .lang = g->lang,
                         .most = q->different && q->n < POOL ? POOL : q->n};
    s->found = arena_array(s->a, struct expr, s->most);
    equality_test_begin(&s->test, s->x, &points);
    name_map_put(&s->seen, canonical_text(s->a, s->x), SELF, NULL);
    enum err_code code = collect_forms(s, g, q->different ? s->most / 10 : s->most, e);
    if (!code && q->different)
        code = choose_different(s, q->n, e);
    name_map_free(&s->seen);
    equality_test_end(&s->test);
    return err_up(e, code);
}

static enum err_code list_forms(const struct request *q, struct egraph *g, struct err *e)
{
    const struct tool_args *args = q->args;
    const struct grammar_options limits = {.max_tokens = q->max_tokens};
    struct saturate_result run;
    Eqloom__EGraph message;
    struct grammar grammar;
    struct search found;
    char terms[48];
    const char *why;
    enum err_code code;
    if (expr_is_undefined(&why, q->a, &q->x, NULL, 0))
        return err_fail(e, ERR_INPUT, "the expression has no value: %s", why);
    eclass_id root = egraph_add_expr(g, &q->x);
    if ((code = egraph_saturate(&run, g, q->set, &q->limits, q->a, e)))
        return err_up(e, code);
    egraph_to_message(&message, q->a, g, root);
    if ((code = grammar_init(&grammar, q->a, &message, q->x.lang, &limits, e)) ||
        (code = find_forms(&found, &grammar, q, e)))
        return err_up(e, code);
    bool many = expr_texts_are_lines(args); /* a cluster for each, as in the format e-gen */
    if (many)
        print_form(q, &q->x);
    for (uint32_t i = 0; i < found.n; i++)
        print_form(q, &found.found[i]);
    if (many && !args->json)
        fputc('\n', args->out);
    fflush(args->out);
    fprintf(args->narration, "%u form%s among %s terms of at most %u tokens (%u e-nodes: %s)\n",
            found.n, found.n == 1 ? "" : "s",
            count_text(terms, grammar_terms(&grammar), grammar.saturated), q->max_tokens,
            egraph_count_nodes(g), rewrite_stop_text(run.stop));
    return OK;
}

static enum err_code answer(void *arg, const char *name, const char *text, struct arena *a,
                            struct err *e)
{
    struct request *q = arg;
    q->a = a;
    enum err_code code = read_expr(q, name, text, e);
    struct egraph *g = code ? NULL : egraph_new(q->rules.lang);
    if (!code)
        code = list_forms(q, g, e);
    egraph_free(g);
    return err_up(e, code);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct request q = {.args = args};
    if (args->n_positional != 1)
        return err_fail(e, ERR_INPUT, "variants takes one expression, or - to read some");
    enum err_code code = read_request(&q, e);
    if (code)
        return err_up(e, code);
    q.set = ruleset_new(&q.rules);
    code = expr_texts_each(exit_status, args, answer, &q, e);
    ruleset_free(q.set);
    latex_reader_free(q.latex);
    return err_up(e, code);
}

static const struct tool_option options[] = {
    {"count", "N", false, "maximum number of forms (default 10)", 'n'},
    {"different", NULL, false, "forms that look different, instead of the shortest"},
    {"max-tokens", "N", false,
     "maximum length of a form (default 12, or 6 more than the expression)"},
    REWRITE_OPTIONS,
    {"iterations", "N", false, "maximum number of iterations of rewriting (default 8)"},
    {"max-nodes", "N", false, "maximum number of e-nodes (default 10000)"},
    TOOL_JSON,
    {0}};

const struct tool tool_variants = {
    .name = "variants",
    .arguments = "EXPR|-",
    .summary = "List equal forms of an expression",
    .help = "Rewrites the expression with all rules, and prints terms that are equal to it, the "
            "shortest first. Each has been compared with the expression, by normal forms or at "
            "points. Of forms that differ only in the order or grouping of sums and products or in "
            "the position of signs, only one is printed.\n\n"
            "With --different the first form is the one farthest from the expression, by tree edit "
            "distance, and each next one the farthest from those before.\n\n"
            "With '-' it reads expressions from standard input, one per line, and prints for each the "
            "expression, its forms and an empty line: clusters that 'import-clusters' reads "
            "(format e-gen, notation infix).",
    .example = "eqloom variants 'sin(2x)' -n 5\n"
               "eqloom variants --different 'tan(x)'",
    .exit_codes = EXPR_TEXTS_EXIT_CODES,
    .options = options,
    .run = run,
};
