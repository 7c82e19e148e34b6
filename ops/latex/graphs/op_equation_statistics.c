/* The op `equation-statistics`: counts of papers and equations, and of what was refused. */
#include "base/text/chart.h"
#include "engine/op.h"
#include "ops/eval/report/figures.h"
#include "ops/latex/graphs/feature_counts.h"
#include "ops/latex/graphs/graph_features.h"
#include "paper.pb-c.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum kind {
    COUNT_PAPERS, /* totals over papers, by name */
    COUNT_SUBJECTS,
    COUNT_ENVIRONMENTS,
    COUNT_PROBLEMS,
    COUNT_LISTED,
    COUNT_UNTAKEN,
    COUNT_EQUATIONS, /* totals over equations */
    COUNT_REFUSED,
    COUNT_DETAILS,
    COUNT_CHARACTERS,
    COUNTS,
    OF_NO_SUBJECT = COUNTS, /* papers whose subject may be in the metadata, */
    LISTED_SUBJECT,         /* as "id subject" */
};
enum { MOST_ROWS = 50 };

static void put(struct buf *b, enum kind kind, uint64_t n, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void put(struct buf *b, enum kind kind, uint64_t n, const char *format, ...)
{
    char name[400];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    counts_put(b, kind, n, name);
}

/* Whether it is a file of equations and not a document. */
static bool is_alone(const Eqloom__Paper *p)
{
    const Eqloom__Section *s = p->sections[0];
    return s->n_equations && !s->equations[0]->environment[0];
}

static void summarize_paper(struct buf *b, const Eqloom__Paper *p)
{
    uint64_t equations = 0;
    for (size_t i = 0; i < p->n_sections; i++) {
        const Eqloom__Section *s = p->sections[i];
        equations += s->n_equations;
        for (size_t k = 0; k < s->n_equations; k++)
            put(b, COUNT_ENVIRONMENTS, 1, "%s",
                s->equations[k]->environment[0] ? s->equations[k]->environment : "(alone)");
    }
    if (p->n_sections)
        put(b, COUNT_PAPERS, 1, "papers");
    if (equations)
        put(b, COUNT_PAPERS, 1, "papers with equations");
    put(b, COUNT_PAPERS, p->n_sections, "sections");
    put(b, COUNT_PAPERS, equations, "equations");
    if (p->n_cites)
        put(b, COUNT_PAPERS, 1, "papers that cite arXiv ids");
    put(b, COUNT_PAPERS, p->n_cites, "arXiv ids cited");
    if (p->n_subjects)
        put(b, COUNT_SUBJECTS, 1, "%s", p->subjects[0]);
    else if (p->n_sections && !is_alone(p)) /* of a folder or an archive: its name may be an id */
        put(b, OF_NO_SUBJECT, 1, "%.*s", (int)strcspn(p->paper, "/"), p->paper);
    for (size_t i = 0; i < p->n_listings; i++) { /* cs of cs.LG; the first is the primary one */
        const Eqloom__Listing *x = p->listings[i];
        put(b, LISTED_SUBJECT, 1, "%s %.*s", x->paper, (int)strcspn(x->categories, ". "),
            x->categories);
    }
    for (size_t i = 0; i < p->n_untaken; i++)
        put(b, COUNT_UNTAKEN, p->untaken[i]->count, "%s", p->untaken[i]->reason);
    for (size_t i = 0; i < p->n_problems; i++) {
        const Eqloom__Problem *x = p->problems[i];
        put(b, COUNT_PROBLEMS, 1, "%s", x->reason);
        if (x->line)
            put(b, COUNT_LISTED, 1, "%s:%u: %s (%s)", x->file, x->line, x->reason, x->detail);
        else
            put(b, COUNT_LISTED, 1, "%s: %s (%s)", x->file, x->reason, x->detail);
    }
}

static enum err_code summarize_mathml(struct buf *b, struct arena *a, const Eqloom__MathML *m,
                                      struct err *e)
{
    struct graph_nodes g = {0};
    if (!m->mathml[0]) {
        put(b, COUNT_EQUATIONS, 1, "refused");
        put(b, COUNT_REFUSED, 1, "%s", m->refused);
        put(b, COUNT_DETAILS, 1, "%s: %.80s", m->refused, m->detail);
        return OK;
    }
    if (graph_nodes_of(&g, a, m->mathml))
        return err_fail(e, ERR_CORRUPT, "a MathML record does not hold a MathML tree");
    put(b, COUNT_EQUATIONS, 1, "converted");
    put(b, COUNT_EQUATIONS, g.n, "nodes");
    for (uint32_t i = 0; i < g.n; i++)
        if (g.nodes[i].character[0])
            put(b, COUNT_CHARACTERS, 1, "%s", g.nodes[i].character);
    return OK;
}

static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    struct buf b = {0};
    enum err_code code = OK;
    if (element->descriptor == &eqloom__paper__descriptor)
        summarize_paper(&b, (const Eqloom__Paper *)element);
    else
        code = summarize_mathml(&b, a, (const Eqloom__MathML *)element, e);
    *out = span_of(arena_memdup(a, b.data, b.len), b.len);
    buf_free(&b);
    return err_up(e, code);
}

/* Counts "id subject" if the paper exists. */
static void take_subject(struct counts *counts, const char *listed)
{
    char id[40] = "";
    size_t n = strcspn(listed, " ");
    struct counts *papers = &counts[OF_NO_SUBJECT];
    if (n >= sizeof id || !listed[n])
        return;
    memcpy(id, listed, n);
    const uint64_t *place = name_map_get(&papers->index, id);
    if (!place || !papers->items[*place].n)
        return;
    counts_add(&counts[COUNT_SUBJECTS], listed + n + 1, papers->items[*place].n);
    papers->items[*place].n = 0;
}

/* listed: collects only subjects from metadata, for papers that have been counted. */
static enum err_code collect(struct counts *counts, bool listed, struct op_ctx *ctx,
                             const char *role, struct err *e)
{
    enum err_code code = OK;
    for (uint64_t i = 0, n = op_count(ctx, role); i < n && !code; i++) {
        struct span s;
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "equation-statistics was interrupted");
        code = op_summary(&s, ctx, role, i, e);
        unsigned kind;
        for (struct named_count x; !code && counts_next(&kind, &x, &s);)
            if (listed && kind == LISTED_SUBJECT)
                take_subject(counts, x.name);
            else if (!listed && kind < LISTED_SUBJECT)
                counts_add(&counts[kind], x.name, x.n);
    }
    return err_up(e, code);
}

static enum err_code collect_subjects(struct counts *counts, struct op_ctx *ctx, struct err *e)
{
    const struct counts *papers = &counts[OF_NO_SUBJECT];
    enum err_code code = collect(counts, true, ctx, "papers", e);
    for (size_t i = 0; i < papers->n; i++)
        if (papers->items[i].n)
            counts_add(&counts[COUNT_SUBJECTS], "unknown", papers->items[i].n);
    return err_up(e, code);
}

/* ---- the report ---- */

static const struct {
    const char *title;
    const char *column;
    const char *prefix; /* of the figures' names; NULL if there is only a table */
} tables[COUNTS] = {
    {"Papers", "", "papers."},
    {"Figure 1: papers by subject", "subject", NULL},
    {"Equations by environment", "environment", NULL},
    {"What could not be read, by reason", "reason", "problem."},
    {"What could not be read", "file", NULL},
    {"What looked like displays and was not taken", "reason", "untaken."},
    {"Equations", "", "equations."},
    {"Refused equations by reason", "reason", "refused."},
    {"What is refused most", "reason", NULL},
    {"Figure 2: the most frequent characters", "character", NULL},
};

static Eqloom__Table *make_table(struct arena *a, const struct counts *c, enum kind kind)
{
    char **columns = arena_array(a, char *, 2);
    columns[0] = (char *)tables[kind].column;
    columns[1] = (char *)"count";
    Eqloom__Table *t = table_of(a, tables[kind].title, columns, 2, MOST_ROWS);
    for (size_t i = 0; i < c->n && i < MOST_ROWS; i++) {
        char **cells = table_row(a, t);
        cells[0] = (char *)c->items[i].name;
        cells[1] = arena_printf(a, "%" PRIu64, c->items[i].n);
    }
    if (c->n > MOST_ROWS)
        t->note = arena_printf(a, "and %zu more", c->n - MOST_ROWS);
    return t;
}

static void add_values(Eqloom__Report *r, struct arena *a, const struct counts *c, enum kind kind)
{
    for (size_t i = 0; tables[kind].prefix && i < c->n; i++) {
        Eqloom__Value *v = r->values[r->n_values++] = arena_new(a, Eqloom__Value);
        eqloom__value__init(v);
        v->name = arena_printf(a, "%s%s", tables[kind].prefix, c->items[i].name);
        v->value = (double)c->items[i].n;
    }
}

static void write_page(struct buf *b, const struct counts *counts)
{
    buf_puts(b, "<!doctype html><meta charset=utf-8><title>Equations</title><style>body{font:16px "
                "sans-serif;max-width:50em;margin:2em auto}svg{max-width:100%}</style>\n");
    for (enum kind k = 0; k < COUNTS; k++) {
        struct chart_bar bars[MOST_ROWS];
        size_t n = 0;
        for (; n < counts[k].n && n < MOST_ROWS; n++)
            bars[n] = (struct chart_bar){counts[k].items[n].name, (double)counts[k].items[n].n};
        if (n == 0)
            continue;
        buf_printf(b, "<h2>%s</h2>\n", tables[k].title);
        chart_bars(b, bars, n);
    }
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct counts counts[COUNTS + 1];
    struct buf page = {0};
    for (enum kind k = 0; k <= COUNTS; k++)
        counts[k] = (struct counts){.a = a};
    enum err_code code = collect(counts, false, ctx, "papers", e);
    if (!code)
        code = collect_subjects(counts, ctx, e);
    if (!code)
        code = collect(counts, false, ctx, "mathml", e);
    Eqloom__Report report = EQLOOM__REPORT__INIT;
    report.title = (char *)"Equations";
    report.tables = arena_array(a, Eqloom__Table *, COUNTS);
    size_t most = 0;
    for (enum kind k = 0; k < COUNTS; k++)
        most += counts[k].n;
    report.values = arena_array(a, Eqloom__Value *, most + 1);
    for (enum kind k = 0; k < COUNTS && !code; k++) {
        counts_sort(&counts[k]);
        add_values(&report, a, &counts[k], k);
        if (counts[k].n)
            report.tables[report.n_tables++] = make_table(a, &counts[k], k);
    }
    if (!code)
        code = op_emit(NULL, ctx, "report", &report.base, e);
    if (!code) {
        write_page(&page, counts);
        code =
            op_emit_file(ctx, "html", span_of(page.data, page.len), "text/html; charset=utf-8", e);
    }
    for (enum kind k = 0; k <= COUNTS; k++)
        counts_free(&counts[k]);
    buf_free(&page);
    return err_up(e, code);
}

const struct op op_equation_statistics = {
    .name = "equation-statistics",
    .version = 5,
    .node = OP_TASK,
    .doc = "Counts papers by subject (from an old-style arXiv id or arXiv's metadata among the "
           "papers; otherwise unknown), equations by environment, the most frequent characters, "
           "and what could not be read or converted, by reason.",
    .inputs =
        OP_PORTS({"mathml", KIND_MATHML, OP_COLLECTION, false, "Converted and refused equations."},
                 {"papers", KIND_PAPER, OP_COLLECTION, true, "The papers of the equations."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false, "Counts, also by name (`refused.unknown command`)."},
        {"html", KIND_FILE, OP_ONE, false, "The counts as a self-contained page with bar charts."}),
    .run = run,
    .summarize = summarize,
};
