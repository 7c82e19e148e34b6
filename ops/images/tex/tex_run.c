/* See tex_run.h. Infinite macro loops are detected by a count and not by the clock: a run that
 * takes too long is repeated for each of its equations alone, and an equation that takes too long
 * alone is repeated with macro tracing, until TRACE_BYTES are written. */
#include "ops/images/tex/tex_run.h"

#include "base/io/out_file.h"
#include "base/os.h"
#include "base/process/process.h"
#include "base/process/scratch.h"
#include "engine/op.h"
#include "ops/images/tex/tex_source.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LENGTH_MAX = 10000, /* characters of an equation */
    RUN_S = 20,         /* of processor time */
    ALONE_S = 5,
    TRACED_S = 120,
    RUN_BYTES = 16 << 20,
    TRACE_BYTES = 32 << 20,
};

struct tex {
    struct scratch folder; /* of the format; contains the folders of runs */
    unsigned dpi;
    atomic_uint runs;
};

/* ---- files ---- */

static enum err_code write_file(struct arena *a, const char *folder, const char *name,
                                struct span data, struct err *e)
{
    return err_up(e, out_file_write(os_join(a, folder, name), data.data, data.len, e));
}

static enum err_code read_file(struct span *out, struct arena *a, const char *folder,
                               const char *name, struct err *e)
{
    return err_up(e, os_read_file(out, a, os_join(a, folder, name), TRACE_BYTES, e));
}

static bool has_file(struct arena *a, const char *folder, const char *name)
{
    return access(os_join(a, folder, name), R_OK) == 0;
}

/* ---- the programs ---- */

/* The environment of both programs. */
static const char *const *environment(struct arena *a, const char *home)
{
    const char *path = getenv("PATH");
    const char *const env[] = {arena_printf(a, "PATH=%s", path ? path : "/usr/bin:/bin"),
                               arena_printf(a, "HOME=%s", home),
                               arena_printf(a, "TEXFORMATS=%s:", home),
                               "LC_ALL=C",
                               "openin_any=p",
                               "openout_any=p",
                               "shell_escape=f",
                               "MKTEXFMT=0",
                               "MKTEXPK=0",
                               "MKTEXTFM=0",
                               "MKTEXMF=0",
                               "SOURCE_DATE_EPOCH=0",
                               "FORCE_SOURCE_DATE=1",
                               "max_print_line=10000",
                               NULL};
    return arena_memdup(a, env, sizeof env);
}

static enum err_code missing(enum err_code code, struct err *e)
{
    if (code != ERR_NOTFOUND)
        return code;
    *e = (struct err){0};
    return err_fail(e, ERR_NOTFOUND,
                    "drawing equations needs TeX and dvipng: "
                    "apt-get install texlive-latex-base dvipng");
}

static enum err_code first_line(const char **out, struct arena *a, const char *program,
                                struct err *e)
{
    struct process_end end;
    struct process p = {.argv = (const char *const[]){program, "--version", NULL},
                        .env = environment(a, "/"),
                        .in = -1,
                        .out_is_errors = true,
                        .limit_cpu_s = RUN_S};
    enum err_code code = process_run(&end, a, &p, e);
    if (!code && !*end.errors)
        code = err_fail(e, ERR_FAILED, "%s --version prints nothing", program);
    if (!code)
        *out = arena_strndup(a, end.errors, strcspn(end.errors, "\n"));
    return missing(code, e);
}

enum err_code tex_version(const char **out, struct arena *a, struct err *e)
{
    const char *tex = NULL, *dvipng = NULL;
    enum err_code code = first_line(&tex, a, "pdftex", e);
    if (!code)
        code = first_line(&dvipng, a, "dvipng", e);
    if (!code)
        *out = arena_printf(a, "%s, %s", tex, dvipng);
    return err_up(e, code);
}

static bool cancelled(void *ctx)
{
    return ctx && op_cancelled(ctx);
}

/* ctx: of the op that waits for the program, or NULL. */
static enum err_code run_program(struct process_end *end, struct arena *a, const struct tex *t,
                                 const char *folder, struct op_ctx *ctx, const char *const *argv,
                                 uint32_t limit_s, uint64_t limit_bytes, struct err *e)
{
    struct process p = {.argv = argv,
                        .dir = folder,
                        .env = environment(a, t->folder.path),
                        .in = -1,
                        .out = -1,
                        .limit_cpu_s = limit_s,
                        .limit_bytes = limit_bytes,
                        .limit_memory = (uint64_t)1 << 30,
                        .cancelled = cancelled,
                        .arg = ctx};
    return missing(process_run(end, a, &p, e), e);
}

/* ---- the format ---- */

static enum err_code make_format(struct tex *t, struct arena *a, struct err *e)
{
    struct process_end end;
    struct span log;
    enum err_code code = scratch_open(&t->folder, "tex", e);
    if (!code)
        code = write_file(a, t->folder.path, "preamble.tex", span_str(tex_preamble), e);
    if (!code)
        code = run_program(&end, a, t, t->folder.path, NULL,
                           (const char *const[]){"pdftex", "-ini", "-no-shell-escape",
                                                 "-interaction=batchmode", "-halt-on-error",
                                                 "-output-format=dvi", "-jobname=eqloom", "&latex",
                                                 "preamble.tex", NULL},
                           TRACED_S, TRACE_BYTES, e);
    if (code || has_file(a, t->folder.path, "eqloom.fmt"))
        return err_up(e, code);
    if (read_file(&log, a, t->folder.path, "eqloom.log", e))
        log = span_str("");
    const char *at = strstr((const char *)log.data, "\n! ");
    return err_fail(e, ERR_FAILED,
                    "TeX cannot read its preamble: %.200s (is texlive-latex-base complete?)",
                    at ? arena_strndup(a, at + 1, strcspn(at + 1, "\n")) : end.errors);
}

enum err_code tex_new(struct tex **out, unsigned dpi, struct err *e)
{
    struct arena a = {0};
    struct tex *t = must_calloc(1, sizeof *t);
    t->dpi = dpi;
    enum err_code code = make_format(t, &a, e);
    arena_free(&a);
    if (code)
        tex_free(t);
    else
        *out = t;
    return err_up(e, code);
}

void tex_free(struct tex *t)
{
    if (!t)
        return;
    scratch_close(&t->folder);
    free(t);
}

/* ---- a run ---- */

struct run {
    struct tex *t;
    struct op_ctx *ctx;
    struct arena *a; /* the ctx's */
    const Eqloom__Equation *const *equations;
    struct tex_drawing *drawings;
    const size_t *which; /* indices into equations; file k + 1 is equation which[k] */
    size_t n;
    char *folder;
};

static void refuse(struct tex_drawing *d, const char *reason, const char *detail)
{
    *d = (struct tex_drawing){.refused = reason, .detail = detail};
}

static enum err_code write_sources(struct run *r, bool traced, struct err *e)
{
    struct buf all = {0};
    enum err_code code = OK;
    buf_puts(&all, "\\begin{document}\n");
    buf_puts(&all, traced ? "\\tracingmacros1\n" : "");
    for (size_t k = 0; k < r->n && !code; k++) {
        struct buf b = {0};
        tex_source_write(&b, r->a, r->equations[r->which[k]]);
        code = write_file(r->a, r->folder, arena_printf(r->a, "%zu.tex", k + 1),
                          span_of(b.data, b.len), e);
        buf_free(&b);
        buf_printf(&all, "\\eqloomset{%zu}\n", k + 1);
    }
    buf_puts(&all, "\\end{document}\n");
    if (!code)
        code = write_file(r->a, r->folder, "all.tex", span_of(all.data, all.len), e);
    buf_free(&all);
    return err_up(e, code);
}

static enum err_code read_page(struct run *r, size_t k, struct err *e)
{
    struct tex_drawing *d = &r->drawings[r->which[k]];
    struct span file;
    struct err why = {0};
    const char *name = arena_printf(r->a, "%zu.png", k + 1);
    if (!has_file(r->a, r->folder, name)) {
        refuse(d, "not drawn", "dvipng refuses the page");
        return OK;
    }
    enum err_code code = read_file(&file, r->a, r->folder, name, e);
    if (!code && picture_read_png(&d->picture, r->a, file, &why))
        refuse(d, "not drawn", arena_strdup(r->a, why.message));
    return err_up(e, code);
}

/* Sets *ended to the number of equations with an outcome: all before the one at which TeX
 * stopped. */
static enum err_code collect(size_t *ended, struct run *r, struct err *e)
{
    struct tex_outcome *outcomes = arena_array(r->a, struct tex_outcome, r->n);
    struct process_end end;
    struct span log;
    bool any = false;
    enum err_code code = read_file(&log, r->a, r->folder, "all.log", e);
    if (code)
        return err_up(e, code);
    tex_log_read(outcomes, r->n, r->a, log);
    for (*ended = 0; *ended < r->n && outcomes[*ended].done; ++*ended) {
        const char *error = outcomes[*ended].error;
        if (error)
            refuse(&r->drawings[r->which[*ended]], tex_log_reason(error), error);
        any = any || !error;
    }
    if (r->n == 1 && !*ended) {
        const char *error = outcomes[0].error ? outcomes[0].error : "! TeX stopped.";
        refuse(&r->drawings[r->which[0]], tex_log_reason(error), error);
        *ended = 1;
    }
    if (!any)
        return OK;
    code = run_program(&end, r->a, r->t, r->folder, r->ctx,
                       (const char *const[]){"dvipng", "-q*", "--noghostscript", "--picky", "-bg",
                                             "White", "-D", arena_printf(r->a, "%u", r->t->dpi),
                                             "-T", "tight", "-o", "%d.png", "all.dvi", NULL},
                       TRACED_S, RUN_BYTES, e);
    for (size_t k = 0; k < *ended && !code; k++)
        if (!outcomes[k].error && outcomes[k].done)
            code = read_page(r, k, e);
    return err_up(e, code);
}

enum { TOO_LONG = 1, TOO_LARGE = 2 };

/* Sets *limit to TOO_LONG or TOO_LARGE if a limit stopped TeX; nothing is collected in that
 * case. */
static enum err_code run_once(size_t *ended, int *limit, struct run *r, bool traced, struct err *e)
{
    struct process_end end = {0};
    *ended = 0;
    *limit = 0;
    uint32_t limit_s = traced ? TRACED_S : r->n > 1 ? RUN_S : ALONE_S;
    r->folder =
        arena_printf(r->a, "%s/%u", r->t->folder.path, atomic_fetch_add(&r->t->runs, 1) + 1);
    enum err_code code = err_up(e, os_mkdirs(r->folder, e));
    if (!code)
        code = write_sources(r, traced, e);
    if (!code)
        code = run_program(&end, r->a, r->t, r->folder, r->ctx,
                           (const char *const[]){"pdftex", "-fmt=eqloom", "-no-shell-escape",
                                                 "-interaction=batchmode", "-output-format=dvi",
                                                 "all.tex", NULL},
                           limit_s, traced ? TRACE_BYTES : RUN_BYTES, e);
    if (!code && end.status == 128 + SIGXCPU && traced) {
        code = err_fail(e, ERR_LIMIT, "TeX does not terminate: %.200s",
                        r->equations[r->which[0]]->latex);
    } else if (!code && end.status == 128 + SIGXCPU) {
        *limit = TOO_LONG;
    } else if (!code && end.status == 128 + SIGXFSZ) {
        *limit = TOO_LARGE;
    } else if (!code) {
        code = collect(ended, r, e);
    }
    os_remove_tree(r->folder);
    return err_up(e, code);
}

static enum err_code draw_alone(struct run *r, size_t which, struct err *e)
{
    struct run one = *r;
    size_t ended;
    int limit;
    one.which = &which;
    one.n = 1;
    enum err_code code = run_once(&ended, &limit, &one, false, e);
    if (!code && limit == TOO_LONG)
        code = run_once(&ended, &limit, &one, true, e);
    if (!code && limit)
        refuse(&r->drawings[which], "too long",
               "! TeX expands macros without end, or writes too much");
    return err_up(e, code);
}

/* Draws all equations. If TeX stops at one, keeps the outcomes before it, draws that one alone, and
 * repeats the run with the rest. */
static enum err_code draw_many(struct run *r, struct err *e)
{
    enum err_code code = OK;
    while (r->n && !code) {
        size_t ended;
        int limit;
        code = run_once(&ended, &limit, r, false, e);
        if (!code && limit) {
            for (size_t k = 0; k < r->n && !code; k++)
                code = draw_alone(r, r->which[k], e);
            return err_up(e, code);
        }
        if (!code && ended < r->n)
            code = draw_alone(r, r->which[ended++], e);
        r->which += ended;
        r->n -= ended;
    }
    return err_up(e, code);
}

enum err_code tex_draw(struct tex_drawing *out, struct op_ctx *ctx, struct tex *t,
                       const Eqloom__Equation *const *equations, size_t n, struct err *e)
{
    struct run r = {
        .t = t, .ctx = ctx, .a = op_arena(ctx), .equations = equations, .drawings = out};
    size_t *together = arena_array(r.a, size_t, n + 1);
    enum err_code code = OK;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n && !code; i++)
        if (!equations[i]->latex[0])
            refuse(&out[i], "no LaTeX", "");
        else if (strlen(equations[i]->latex) > LENGTH_MAX)
            refuse(&out[i], "too long", "more than 10,000 characters");
        else if (tex_source_is_global(equations[i]))
            code = draw_alone(&r, i, e);
        else
            together[r.n++] = i;
    r.which = together;
    return code ? err_up(e, code) : err_up(e, draw_many(&r, e));
}
