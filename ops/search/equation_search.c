/* See equation_search.h. */
#include "ops/search/equation_search.h"

#include "base/os.h"
#include "ops/search/corpus_index.h"
#include "ops/search/equation_model.h"
#include "ops/search/queries.h"
#include "paper.pb-c.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN_LENGTH = 70 };

struct looking {
    const struct tool_args *args;
    const Eqloom__Index *record;
    uint32_t k;
    struct pool *pool;
    struct corpus_index index;
    struct equation_model model;
};

bool equation_search_is(const Eqloom__Index *index)
{
    return index->mathml_ids.len > 0;
}

/* Options that speak of expressions. */
static enum err_code check_options(const struct tool_args *args, const char *name, struct err *e)
{
    static const char *const others[] = {"domain", "real", "max-nodes", "per-cluster"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tool_value(args, others[i]))
            return err_fail(e, ERR_INPUT,
                            "--%s is of no use: %s is an index of equations, of which nothing is "
                            "proved",
                            others[i], name);
    return OK;
}

static enum err_code load(struct looking *x, struct err *e)
{
    struct digest checkpoint;
    const Eqloom__Index *r = x->record;
    memcpy(checkpoint.bytes, r->checkpoint_id.data, DIGEST_SIZE);
    enum err_code code = equation_model_load(&x->model, x->args, &checkpoint, e);
    if (!code)
        code = corpus_index_load(&x->index, x->args, r, e);
    if (code)
        return err_up(e, code);
    if (x->index.v.dim != x->model.dim)
        return err_fail(e, ERR_CORRUPT, "the vectors have %u dimensions, the network %u",
                        x->index.v.dim, x->model.dim);
    if (r->mathml_ids.len != (size_t)x->index.v.n * DIGEST_SIZE)
        return err_fail(e, ERR_CORRUPT, "the index has %u vectors and names %zu equations",
                        x->index.v.n, r->mathml_ids.len / DIGEST_SIZE);
    return OK;
}

/* On one line. */
static char *one_line(struct arena *a, const char *latex, bool cut)
{
    char *out = arena_strdup(a, latex);
    size_t n = 0;
    for (const char *s = latex; *s; s++)
        if (!isspace((unsigned char)*s))
            out[n++] = *s;
        else if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    out[n] = 0;
    if (!cut || n <= SHOWN_LENGTH)
        return out;
    for (n = SHOWN_LENGTH - 3; n && (out[n] & 0xc0) == 0x80;)
        n--;
    return arena_printf(a, "%.*s...", (int)n, out);
}

static void print_words(const struct looking *x, const char *latex, const struct neighbour *found,
                        Eqloom__MathML *const *equation, size_t n, struct arena *a)
{
    FILE *out = x->args->out;
    fprintf(out, "%s\n", one_line(a, latex, false));
    for (size_t i = 0; i < n; i++) {
        const Eqloom__Place *p = equation[i]->place;
        fprintf(out, "  %.4f  %-*s  %s", (double)found[i].similarity, SHOWN_LENGTH,
                one_line(a, equation[i]->latex, true), p ? p->paper : "");
        if (p)
            fprintf(out, ", section %u, equation %u", p->section + 1, p->number + 1);
        fprintf(out, "\n");
    }
    fflush(out);
}

static void print_json(const struct looking *x, const char *latex, const struct neighbour *found,
                       Eqloom__MathML *const *equation, size_t n, double ms)
{
    static const Eqloom__Place nowhere = EQLOOM__PLACE__INIT;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const Eqloom__Place *p = equation[i]->place ? equation[i]->place : &nowhere;
        json_array_append_new(
            list, json_pack("{s:f, s:s, s:s, s:s, s:i, s:i, s:s*}", "similarity",
                            (double)found[i].similarity, "latex", equation[i]->latex, "mathml",
                            equation[i]->mathml, "paper", p->paper, "section", (int)p->section + 1,
                            "equation", (int)p->number + 1, "label", *p->label ? p->label : NULL));
    }
    queries_print_json(x->args->out, json_pack("{s:s, s:o, s:f}", "question", latex, "neighbours",
                                               list, "ms", ms));
}

static enum err_code answer(void *arg, const char *name, const char *text, struct arena *a,
                            struct err *e)
{
    struct looking *x = arg;
    uint64_t start = os_monotonic_ns();
    struct neighbour *found = arena_array(a, struct neighbour, x->k);
    Eqloom__MathML **equation = arena_array(a, Eqloom__MathML *, x->k);
    char *latex;
    float *vector;
    enum err_code code = equation_model_embed(&latex, &vector, &x->model, name, text, true, a, e);
    if (code)
        return err_up(e, code);
    size_t n = corpus_index_nearest(found, x->k, 0, &x->index, vector, x->pool, a);
    for (size_t i = 0; i < n && !code; i++) {
        struct digest id;
        Eqloom__MathML *m;
        memcpy(id.bytes, x->record->mathml_ids.data + (size_t)found[i].row * DIGEST_SIZE,
               DIGEST_SIZE);
        code = tool_get(&m, x->args, &id, KIND_MATHML, a, e);
        equation[i] = m;
    }
    if (code)
        return err_up(e, code);
    double ms = (double)(os_monotonic_ns() - start) * 1e-6;
    if (x->args->json)
        print_json(x, latex, found, equation, n, ms);
    else
        print_words(x, latex, found, equation, n, a);
    fprintf(x->args->narration, "%zu of %u equations, in %.1f ms\n", n, x->index.v.n, ms);
    return OK;
}

enum err_code equation_search(const struct tool_args *args, const char *name,
                              const Eqloom__Index *index, uint32_t k, struct err *e)
{
    struct looking x = {.args = args, .record = index, .k = k};
    uint64_t start = os_monotonic_ns();
    enum err_code code;
    x.pool = pool_new(os_cpus());
    if (!(code = check_options(args, name, e)) && !(code = load(&x, e))) {
        fprintf(args->narration, "%s: %u equations, loaded in %.0f ms\n", name, x.index.v.n,
                (double)(os_monotonic_ns() - start) * 1e-6);
        code = queries_each(args, answer, &x, e);
    }
    equation_model_free(&x.model);
    corpus_index_free(&x.index);
    pool_free(x.pool);
    return err_up(e, code);
}
