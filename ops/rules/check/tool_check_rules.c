/* `eqloom check-rules [FILE...]`: certifies rule files, or the shipped library. */
#include "base/os.h"
#include "base/pool.h"
#include "engine/tool.h"
#include "ops/expr/ball/ball.h"
#include "ops/expr/own/operator_files.h"
#include "ops/expr/syntax/claim_latex.h"
#include "ops/latex/read/expr_argument.h"
#include "ops/rules/check/certify.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Verdicts as counted in the table: a certified rule is proved or sampled. */
enum { PROVED = 6, N_VERDICTS = 7 };

static const char *const verdict_names[N_VERDICTS] = {
    [EQLOOM__VERDICT__UNKNOWN] = "unknown",
    [EQLOOM__VERDICT__CERTIFIED] = "certified",
    [EQLOOM__VERDICT__REFUTED] = "refuted",
    [EQLOOM__VERDICT__VACUOUS] = "vacuous",
    [EQLOOM__VERDICT__UNCHECKED] = "unchecked",
    [EQLOOM__VERDICT__UNDECIDED] = "undecided",
    [PROVED] = "proved",
};

static const struct language *const languages[] = {&lang_calculus, &lang_boolean, &lang_polynomial};
enum { N_LANGUAGES = sizeof languages / sizeof *languages, BLOCK = 16 };

struct report {
    struct rules rules; /* rules of all languages */
    expr_printer *show;
    const struct rule_check_options *options;
    Eqloom__Certificate *certificates; /* indexed by rule */
    struct arena *arenas;              /* one per worker; they own the texts of certificates */
    unsigned n_arenas;
    enum err_code *codes; /* indexed by block of rules */
    struct err *errors;
};

static enum err_code read_sources(const struct source_text **out, size_t *n,
                                  const struct tool_args *args, struct err *e)
{
    struct source_text *files = arena_array(args->arena, struct source_text, args->n_positional);
    enum err_code code = OK;
    *out = files;
    *n = args->n_positional;
    if (!*n)
        *n = rules_library(out);
    for (size_t i = 0; !code && i < args->n_positional; i++)
        code = rules_source(&files[i], args->arena, args->positional[i], e);
    return err_up(e, code);
}

/* The files of each language form one set; the report lists the rules of all sets. */
static enum err_code read_rules(struct rules *out, const struct tool_args *args, struct err *e)
{
    struct arena *a = args->arena;
    const struct source_text *files;
    size_t n;
    *out = (struct rules){0};
    enum err_code code = read_sources(&files, &n, args, e);
    for (int l = 0; l < N_LANGUAGES && !code; l++) {
        struct rules set = {.lang = languages[l]};
        if (l == 0)
            code = operator_options(&set.lang, args, e);
        for (size_t i = 0; i < n && !code; i++) {
            const struct language *lang = rules_language(a, &files[i]);
            if ((lang ? lang : languages[0]) == languages[l]) /* unknown ones fail later */
                code = rules_parse(&set, a, &files[i], e);
        }
        for (size_t i = 0; i < set.n && !code; i++) {
            out->rules = arena_grow(a, out->rules, out->n, &out->cap, sizeof *out->rules);
            out->rules[out->n++] = set.rules[i];
        }
    }
    rules_sort(out);
    return err_up(e, code);
}

/* ---- checking, in parallel ---- */

static void check_block(void *arg, size_t block, unsigned worker)
{
    struct report *t = arg;
    enum err_code *code = &t->codes[block];
    size_t end = (block + 1) * BLOCK < t->rules.n ? (block + 1) * BLOCK : t->rules.n;
    for (size_t i = block * BLOCK; i < end && !*code; i++)
        *code = rule_check(&t->certificates[i], &t->arenas[worker], &t->rules.rules[i], t->options,
                           &t->errors[block]);
    ball_thread_cleanup();
}

static enum err_code check_all(struct report *t, struct arena *a, struct err *e)
{
    size_t n_blocks = (t->rules.n + BLOCK - 1) / BLOCK;
    struct pool *pool = pool_new(os_cpus());
    enum err_code code = OK;
    t->certificates = arena_array(a, Eqloom__Certificate, t->rules.n);
    t->n_arenas = pool_threads(pool);
    t->arenas = arena_array(a, struct arena, t->n_arenas);
    t->codes = arena_array(a, enum err_code, n_blocks);
    t->errors = arena_array(a, struct err, n_blocks);
    pool_for(pool, n_blocks, check_block, t);
    for (size_t b = 0; b < n_blocks && !code; b++)
        if ((code = t->codes[b]) && e)
            *e = t->errors[b];
    pool_free(pool);
    return err_up(e, code);
}

/* ---- for people ---- */

/* A condition, guard or witness in the syntax in which expressions are shown. */
static const char *claim(struct arena *a, const struct rule *r, const char *text,
                         expr_printer *show)
{
    return show == expr_latex ? claim_latex(a, r->lhs.lang, text) : text;
}

static char *rule_text(struct arena *a, const struct rule *r, expr_printer *show)
{
    char *text = arena_printf(a, "%s -> %s", show(a, &r->lhs), show(a, &r->rhs));
    for (size_t i = 0; i < r->n_conditions; i++)
        text = arena_printf(a, "%s%s %s", text, i ? "," : "   if",
                            claim(a, r, rule_condition_text(a, &r->conditions[i]), show));
    return text;
}

/* Length of the first component of a group's name: the family that the table counts by. */
static size_t family_length(const char *group)
{
    return strcspn(group, ".");
}

static void count(size_t counts[N_VERDICTS], const Eqloom__Certificate *c)
{
    counts[c->verdict]++;
    counts[PROVED] += c->proof[0] != 0;
}

static void print_row(FILE *f, int width, const char *name, size_t length, const size_t *counts)
{
    size_t all = 0;
    for (int v = 1; v < PROVED; v++)
        all += counts[v];
    fprintf(f, "%-*.*s %6zu", width, (int)length, name, all);
    for (int v = 1; v < N_VERDICTS; v++)
        fprintf(f, " %*zu", (int)strlen(verdict_names[v]), counts[v]);
    fputc('\n', f);
}

static void print_table(FILE *f, const struct report *t)
{
    int width = (int)strlen("family");
    for (size_t i = 0; i < t->rules.n; i++) {
        int length = (int)family_length(t->rules.rules[i].group);
        width = length > width ? length : width;
    }
    fprintf(f, "%-*s  rules", width, "family");
    for (int v = 1; v < N_VERDICTS; v++)
        fprintf(f, " %s", verdict_names[v]);
    fputc('\n', f);
    size_t total[N_VERDICTS] = {0};
    for (size_t i = 0, next; i < t->rules.n; i = next) {
        const char *group = t->rules.rules[i].group;
        size_t length = family_length(group), counts[N_VERDICTS] = {0};
        for (next = i; next < t->rules.n; next++) {
            const char *other = t->rules.rules[next].group;
            if (family_length(other) != length || memcmp(other, group, length) != 0)
                break;
            count(counts, &t->certificates[next]);
            count(total, &t->certificates[next]);
        }
        print_row(f, width, group, length, counts);
    }
    print_row(f, width, "all", strlen("all"), total);
}

/* Rules that are not certified, and certified rules with a remark. */
static void print_findings(FILE *f, struct arena *a, const struct report *t)
{
    for (size_t i = 0; i < t->rules.n; i++) {
        const struct rule *r = &t->rules.rules[i];
        const Eqloom__Certificate *c = &t->certificates[i];
        if (c->verdict == EQLOOM__VERDICT__CERTIFIED && !c->remark[0])
            continue;
        fprintf(f, "\n%s:%d:%d: %s: %s/%s\n    %s\n", r->file, r->line, r->column,
                verdict_names[c->verdict], r->group, r->name, rule_text(a, r, t->show));
        if (c->witness[0] || c->remark[0])
            fprintf(f, "    %s%s\n", claim(a, r, c->witness, t->show), c->remark);
        if (c->guard[0])
            fprintf(f, "    holds if %s\n", claim(a, r, c->guard, t->show));
    }
}

/* ---- for programs ---- */

static void print_json(FILE *f, struct arena *a, const struct report *t)
{
    size_t counts[N_VERDICTS] = {0};
    for (size_t i = 0; i < t->rules.n; i++) {
        const struct rule *r = &t->rules.rules[i];
        const Eqloom__Certificate *c = &t->certificates[i];
        count(counts, c);
        json_t *line =
            json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:s, s:i, s:s, s:s*, s:s*, s:s*, s:s*}",
                      "event", "rule", "group", r->group, "name", r->name, "file", r->file, "line",
                      r->line, "column", r->column, "off", r->off, "verdict",
                      verdict_names[c->verdict], "points", (int)c->points, "rule",
                      rule_text(a, r, t->show), "proof", c->proof[0] ? c->proof : NULL, "witness",
                      c->witness[0] ? claim(a, r, c->witness, t->show) : NULL, "guard",
                      c->guard[0] ? claim(a, r, c->guard, t->show) : NULL, "remark",
                      c->remark[0] ? c->remark : NULL);
        json_dumpf(line, f, JSON_COMPACT);
        fputc('\n', f);
        json_decref(line);
    }
    json_t *summary = json_pack("{s:s, s:I}", "event", "summary", "rules", (json_int_t)t->rules.n);
    for (int v = 1; v < N_VERDICTS; v++)
        json_object_set_new(summary, verdict_names[v], json_integer((json_int_t)counts[v]));
    json_dumpf(summary, f, JSON_COMPACT);
    fputc('\n', f);
    json_decref(summary);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct report t = {.show = expr_shown(args)};
    struct domain_options given;
    uint32_t points;
    uint64_t start = os_monotonic_ns();
    enum err_code code;
    if ((code = tool_number(&points, args, "points", 64, 8, 100000, e)) ||
        (code = read_rules(&t.rules, args, e)) || (code = domain_options_read(&given, args, e)))
        return err_up(e, code);
    for (size_t i = 0; i < given.n; i++)
        for (size_t k = 0; k < t.rules.n; k++)
            rule_restrict(&t.rules.rules[k], args->arena, &given.domains[i]);
    t.options = &(struct rule_check_options){points, given.real_values};
    code = check_all(&t, args->arena, e);
    if (!code)
        fprintf(args->narration, "%zu %s checked%s in %.1f s\n", t.rules.n,
                t.rules.n == 1 ? "rule" : "rules",
                given.real_values ? ", where both sides are real," : "",
                (double)(os_monotonic_ns() - start) * 1e-9);
    if (!code && args->json) {
        print_json(args->out, args->arena, &t);
    } else if (!code) {
        print_table(args->out, &t);
        print_findings(args->out, args->arena, &t);
    }
    *exit_status = 0;
    for (size_t i = 0; i < t.rules.n && !code; i++)
        if (t.certificates[i].verdict == EQLOOM__VERDICT__REFUTED)
            *exit_status = 3;
    for (unsigned w = 0; w < t.n_arenas; w++)
        arena_free(&t.arenas[w]);
    return err_up(e, code);
}

static const struct tool_option options[] = {
    {"points", "N", false, "number of instances at which both sides of a rule are compared (64)"},
    {"domain", "a:DOMAIN", true,
     "additional condition on a variable: a:real, n:integer, 'a>1' or '0<a<1'; it is shown with "
     "the rule"},
    {"real", NULL, false, "compare the sides only where both are real"},
    OPERATORS_OPTION,
    EXPR_ARGUMENT_LATEX,
    TOOL_JSON,
    {0},
};

const struct tool tool_check_rules = {
    .name = "check-rules",
    .arguments = "[FILE...]",
    .summary = "Certify rewrite rules by ball arithmetic",
    .help =
        "Checks every rule of the given rule files (builtin:NAME names a built-in file, - is standard input), or of the "
        "built-in library, at special and designed values of its variables that meet its conditions. "
        "A rule is refuted by one point at which its sides have provably different values; the "
        "point is printed, with the condition that would make the rule hold, if one is found. Some "
        "certified rules are also proved, by normal forms; the others are only sampled. A "
        "rule is vacuous if its sides are never both defined, and unchecked if it has operators "
        "without a meaning or the condition maybe_nonzero.",
    .example = "eqloom check-rules\neqloom check-rules jobs/rules/powers.rules --points 200",
    .exit_codes = "0 no rule is refuted, 2 a file cannot be read, 3 a rule is refuted",
    .options = options,
    .run = run,
};
