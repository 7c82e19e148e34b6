/* `eqloom check-rules [FILE...]`: certifies rule files, or the shipped library. */
#include "base/os.h"
#include "engine/tool.h"
#include "ops/rules/library.h"
#include "ops/rules/verdicts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { N_VERDICTS = 6 };

static const char *const verdict_names[N_VERDICTS] = {
    [EQLOOM__VERDICT__UNKNOWN] = "unknown",     [EQLOOM__VERDICT__CERTIFIED] = "certified",
    [EQLOOM__VERDICT__REFUTED] = "refuted",     [EQLOOM__VERDICT__VACUOUS] = "vacuous",
    [EQLOOM__VERDICT__UNCHECKED] = "unchecked", [EQLOOM__VERDICT__UNDECIDED] = "undecided",
};

static const struct language *const languages[] = {&lang_calculus, &lang_boolean, &lang_polynomial};
enum { N_LANGUAGES = sizeof languages / sizeof *languages };

static enum err_code read_sources(struct source_text *out, const struct tool_args *args,
                                  struct err *e)
{
    for (size_t i = 0; i < args->n_positional; i++) {
        struct span text;
        enum err_code code =
            os_read_file(&text, args->arena, args->positional[i], RULES_MAX_FILE, e);
        if (code)
            return err_up(e, code);
        out[i] = (struct source_text){args->positional[i], (const char *)text.data, text.len};
    }
    return OK;
}

/* Files of each language make a set; what is checked is all of them. */
static enum err_code read_rules(struct rules *out, Eqloom__Rule **messages,
                                const struct tool_args *args, struct err *e)
{
    struct arena *a = args->arena;
    const struct source_text *files;
    size_t n = rules_library(&files);
    if (args->n_positional) {
        struct source_text *given = arena_array(a, struct source_text, n = args->n_positional);
        enum err_code code = read_sources(given, args, e);
        if (code)
            return err_up(e, code);
        files = given;
    }
    struct rules sets[N_LANGUAGES];
    for (int s = 0; s < N_LANGUAGES; s++)
        sets[s] = (struct rules){.lang = languages[s]};
    for (size_t i = 0; i < n; i++) {
        const struct language *lang = rules_language(a, &files[i]);
        int s = 0; /* what has no language is refused where it is read */
        while (lang && languages[s] != lang)
            s++;
        if (err_up(e, rules_parse(&sets[s], a, &files[i], e)))
            return ERR_INPUT;
    }
    *out = (struct rules){.lang = &lang_calculus};
    for (int s = 0; s < N_LANGUAGES; s++)
        out->cap += sets[s].n;
    out->rules = arena_array(a, struct rule, out->cap);
    for (int s = 0; s < N_LANGUAGES; out->n += sets[s++].n)
        if (sets[s].n)
            memcpy(out->rules + out->n, sets[s].rules, sets[s].n * sizeof *out->rules);
    rules_sort(out);
    *messages = arena_array(a, Eqloom__Rule, out->n);
    for (size_t i = 0; i < out->n; i++) {
        int s = 0;
        while (!lang_is(out->rules[i].lhs.lang, languages[s]))
            s++;
        rule_to_message(&(*messages)[i], a, &sets[s], &out->rules[i]);
    }
    return OK;
}

static char *rule_text(struct arena *a, const struct rule *r)
{
    char *text = arena_printf(a, "%s -> %s", expr_infix(a, &r->lhs), expr_infix(a, &r->rhs));
    for (size_t i = 0; i < r->n_conditions; i++)
        text = arena_printf(a, "%s%s %s", text, i ? "," : "   if",
                            rule_condition_text(a, &r->conditions[i]));
    return text;
}

struct report {
    struct rules rules;
    Eqloom__Rule *messages;
    struct verdicts verdicts;
};

/* ---- for people ---- */

/* The first part of a group's name: the family that the table counts by. */
static size_t family_length(const char *group)
{
    return strcspn(group, ".");
}

static void print_row(FILE *f, int width, const char *name, size_t length, const size_t *counts)
{
    size_t all = 0;
    for (int v = 1; v < N_VERDICTS; v++)
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
            counts[t->verdicts.certificates[next]->verdict]++;
            total[t->verdicts.certificates[next]->verdict]++;
        }
        print_row(f, width, group, length, counts);
    }
    print_row(f, width, "all", strlen("all"), total);
}

/* What is not certified, and certified rules with a remark. */
static void print_findings(FILE *f, struct arena *a, const struct report *t)
{
    for (size_t i = 0; i < t->rules.n; i++) {
        const struct rule *r = &t->rules.rules[i];
        const Eqloom__Certificate *c = t->verdicts.certificates[i];
        if (c->verdict == EQLOOM__VERDICT__CERTIFIED && !c->remark[0])
            continue;
        fprintf(f, "\n%s:%d:%d: %s: %s/%s\n    %s\n", r->file, r->line, r->column,
                verdict_names[c->verdict], r->group, r->name, rule_text(a, r));
        if (c->witness[0] || c->remark[0])
            fprintf(f, "    %s%s\n", c->witness, c->remark);
        if (c->guard[0])
            fprintf(f, "    holds if %s\n", c->guard);
    }
}

/* ---- for programs ---- */

static void print_json(FILE *f, struct arena *a, const struct report *t)
{
    size_t counts[N_VERDICTS] = {0};
    for (size_t i = 0; i < t->rules.n; i++) {
        const struct rule *r = &t->rules.rules[i];
        const Eqloom__Certificate *c = t->verdicts.certificates[i];
        counts[c->verdict]++;
        json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:s, s:i, s:b, s:s}", "event",
                                 "rule", "group", r->group, "name", r->name, "file", r->file,
                                 "line", r->line, "column", r->column, "off", r->off, "verdict",
                                 verdict_names[c->verdict], "points", (int)c->points, "known",
                                 t->verdicts.known[i], "rule", rule_text(a, r));
        if (c->witness[0])
            json_object_set_new(line, "witness", json_string(c->witness));
        if (c->guard[0])
            json_object_set_new(line, "guard", json_string(c->guard));
        if (c->remark[0])
            json_object_set_new(line, "remark", json_string(c->remark));
        json_dumpf(line, f, JSON_COMPACT);
        fputc('\n', f);
        json_decref(line);
    }
    json_t *summary = json_pack(
        "{s:s, s:I, s:I, s:I}", "event", "summary", "rules", (json_int_t)t->rules.n, "checked",
        (json_int_t)(t->rules.n - t->verdicts.n_known), "known", (json_int_t)t->verdicts.n_known);
    for (int v = 1; v < N_VERDICTS; v++)
        json_object_set_new(summary, verdict_names[v], json_integer((json_int_t)counts[v]));
    json_dumpf(summary, f, JSON_COMPACT);
    fputc('\n', f);
    json_decref(summary);
}

/* A number of at least `min`; `initial` when the option is absent. */
static enum err_code read_number(uint64_t *out, const struct tool_args *args, const char *option,
                                 uint64_t initial, uint64_t min, uint64_t max, struct err *e)
{
    const char *text = tool_value(args, option);
    char *end;
    *out = text ? strtoull(text, &end, 10) : initial;
    if (text && (*text < '0' || *text > '9' || *end || *out < min || *out > max))
        return err_fail(e, ERR_INPUT, "--%s takes a number from %llu to %llu, not '%s'", option,
                        (unsigned long long)min, (unsigned long long)max, text);
    return OK;
}

/* "1548 rules: 1 checked in 0.1 s, 1547 known" */
static void narrate(FILE *f, const struct report *t, uint64_t elapsed_ns)
{
    size_t n = t->rules.n, known = t->verdicts.n_known;
    fprintf(f, "%zu %s: %zu checked in %.1f s", n, n == 1 ? "rule" : "rules", n - known,
            (double)elapsed_ns * 1e-9);
    if (known)
        fprintf(f, ", %zu known", known);
    fputc('\n', f);
    if (t->verdicts.not_kept)
        fprintf(f, "eqloom: verdicts are not kept: %s\n", t->verdicts.not_kept);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct report t;
    uint64_t points, seed, start = os_monotonic_ns();
    if (err_up(e, read_number(&points, args, "points", 64, 8, 100000, e)) ||
        err_up(e, read_number(&seed, args, "seed", 1, 0, 1ULL << 53, e)))
        return ERR_INPUT;
    enum err_code code = read_rules(&t.rules, &t.messages, args, e);
    if (code)
        return err_up(e, code);
    struct rule_check_options how = {(uint32_t)points, seed};
    code = verdicts_find(&t.verdicts, args, t.messages, t.rules.n, &how,
                         tool_value(args, "fresh") != NULL, e);
    if (code)
        return err_up(e, code);
    narrate(args->narration, &t, os_monotonic_ns() - start);
    if (args->json) {
        print_json(args->out, args->arena, &t);
    } else {
        print_table(args->out, &t);
        print_findings(args->out, args->arena, &t);
    }
    *exit_status = 0;
    for (size_t i = 0; i < t.rules.n; i++)
        if (t.verdicts.certificates[i]->verdict == EQLOOM__VERDICT__REFUTED)
            *exit_status = 3;
    return OK;
}

static const struct tool_option options[] = {
    {"points", "N", false, "instances at which both sides of a rule are compared (64)"},
    {"seed", "N", false, "chooses the random ones among them (1)"},
    {"fresh", NULL, false, "check every rule, whatever the store knows"},
    {"wait", "[=SECONDS]", false, "wait for another writer of the store, for ever or so long"},
    {0},
};

const struct tool tool_check_rules = {
    .name = "check-rules",
    .arguments = "[FILE...]",
    .summary = "certify rewrite rules by ball arithmetic",
    .help =
        "Checks every rule of the given rule files, or of the shipped library, at special and "
        "random values of its variables that meet its conditions. A rule is refuted by one "
        "point at which its sides have provably different values; the point is printed, and "
        "the condition that would make the rule hold, if one is found. A rule is vacuous if "
        "its sides are nowhere both defined, and unchecked if it has operators that a file "
        "declared, or asks maybe_nonzero.\n\n"
        "Where there is a store, verdicts are records in it, the same that the op certify makes: "
        "a rule that a job or an earlier check has decided, with as many points and the same "
        "seed, is not checked again. They stand under the name check-rules/verdicts.",
    .example = "eqloom check-rules\neqloom check-rules jobs/rules/powers.rules --points 200",
    .exit_codes = "0 no rule is refuted, 2 a file cannot be read, 3 a rule is refuted",
    .options = options,
    .run = run,
};
