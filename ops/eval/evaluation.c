#include "ops/eval/evaluation.h"

#include "ops/expr/ball/ball.h"
#include "ops/expr/own/own.h"

#include <pthread.h>

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
            code = err_fail(e, ERR_INPUT, "embedding batch %zu of '%s' has no expression texts",
                            i + 1, role);
        else
            code = err_up(e, language_join(lang, op_arena(ctx), out[i]->language, e));
    return code;
}

struct work {
    struct op_ctx *ctx;
    evaluation_item *item;
    void *arg;
    pthread_mutex_t lock;
    size_t failed; /* the lowest item that failed */
    struct err err;
};

static void run_item(void *arg, size_t i, unsigned worker)
{
    struct work *w = arg;
    struct arena a = {0};
    struct err e = {0};
    if (!op_cancelled(w->ctx) && w->item(w->arg, i, &a, &e)) {
        pthread_mutex_lock(&w->lock);
        if (i < w->failed) {
            w->failed = i;
            w->err = e;
        }
        pthread_mutex_unlock(&w->lock);
    }
    arena_free(&a);
    ball_thread_cleanup();
}

enum err_code evaluation_run(struct op_ctx *ctx, evaluation_item *item, void *arg, size_t n,
                             struct err *e)
{
    struct work w = {ctx, item, arg, PTHREAD_MUTEX_INITIALIZER, SIZE_MAX, {0}};
    pool_for(op_pool(ctx), n, run_item, &w);
    if (op_cancelled(ctx))
        return err_fail(e, ERR_CANCELLED, "cancelled");
    if (w.err.code && e)
        *e = w.err;
    return err_up(e, w.err.code);
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
