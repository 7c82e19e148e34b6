#include "ops/eval/evaluation.h"

#include "ops/expr/ball/ball.h"
#include "ops/expr/own/own.h"

enum err_code evaluation_get(void *out, size_t n, struct op_ctx *ctx, const char *role,
                             struct err *e)
{
    void **messages = out;
    enum err_code code = OK;
    for (size_t i = 0; i < n && !code; i++)
        code = err_up(e, op_get(&messages[i], ctx, role, i, e));
    return code;
}

enum err_code evaluation_get_texts(Eqloom__EmbeddingBatch **out, const struct language **lang,
                                   size_t n, struct op_ctx *ctx, const char *role, struct err *e)
{
    enum err_code code = err_up(e, evaluation_get(out, n, ctx, role, e));
    for (size_t i = 0; i < n && !code; i++)
        if (out[i]->n_text != out[i]->count)
            code = err_fail(e, ERR_INPUT,
                            "embedding batch %zu of '%s' has no texts of its expressions", i + 1,
                            role);
        else
            code = err_up(e, language_join(lang, op_arena(ctx), out[i]->language, e));
    return code;
}

struct work {
    struct op_ctx *ctx;
    evaluation_item *item;
    void *arg;
    struct failure {
        size_t item;
        struct err err;
    } * failures; /* by worker: that of its lowest item */
};

static void run_item(void *arg, size_t i, unsigned worker)
{
    struct work *w = arg;
    struct failure *f = &w->failures[worker];
    struct arena a = {0};
    struct err e = {0};
    if (!op_cancelled(w->ctx) && w->item(w->arg, i, &a, &e) && (!f->err.code || i < f->item))
        *f = (struct failure){i, e};
    arena_free(&a);
    ball_thread_cleanup();
}

enum err_code evaluation_run(struct op_ctx *ctx, evaluation_item *item, void *arg, size_t n,
                             struct err *e)
{
    unsigned workers = pool_threads(op_pool(ctx));
    struct work w = {ctx, item, arg, arena_array(op_arena(ctx), struct failure, workers)};
    const struct failure *first = NULL;
    pool_for(op_pool(ctx), n, run_item, &w);
    if (op_cancelled(ctx))
        return err_fail(e, ERR_CANCELLED, "cancelled");
    for (unsigned i = 0; i < workers; i++)
        if (w.failures[i].err.code && (!first || w.failures[i].item < first->item))
            first = &w.failures[i];
    if (first && e)
        *e = first->err;
    return first ? err_up(e, first->err.code) : OK;
}

struct figures evaluation_figures(struct op_ctx *ctx, const char *title)
{
    static char *columns[] = {"figure", "value"};
    const char *label = op_string(ctx, "label");
    return figures_new(op_arena(ctx), label[0] ? label : title, columns);
}

enum err_code evaluation_emit(struct op_ctx *ctx, struct figures *f, Eqloom__Table *more,
                              struct err *e)
{
    Eqloom__Report report;
    Eqloom__Table *tables[] = {f->table, more};
    eqloom__report__init(&report);
    report.title = f->table->title;
    report.tables = tables;
    report.n_tables = more ? 2 : 1;
    report.values = f->values;
    report.n_values = f->n;
    return err_up(e, op_emit(NULL, ctx, "report", &report.base, e));
}
