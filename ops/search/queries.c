/* Reads the expressions of a query; see queries.h. */
#include "ops/search/queries.h"

#include "ops/expr/own/own.h"


enum err_code queries_check(const struct tool_args *args, struct err *e)
{
    if (args->n_positional)
        return err_up(e, expr_argument_check(args, e));
    enum err_code code = err_fail(e, ERR_INPUT, "no expressions are given");
    err_hint(e, "give them as arguments, or '-' and one per line on standard input");
    return code;
}

struct answering {
    const struct tool_args *args;
    const struct language *lang;
    query_answer *answer;
    void *arg;
    struct latex_reader *latex;
};

static enum err_code ask(void *arg, const char *name, const char *text, struct arena *a,
                         struct err *e)
{
    struct answering *q = arg;
    struct expr question;
    enum err_code code = expr_argument(&question, &q->latex, q->args, a, q->lang, name, text, e);
    return code ? err_up(e, code) : err_up(e, q->answer(q->arg, &question, a, e));
}

enum err_code queries_answer(int *exit_status, const struct tool_args *args,
                             const struct language *lang, query_answer *answer, void *arg,
                             struct err *e)
{
    struct answering q = {.args = args, .lang = lang, .answer = answer, .arg = arg};
    enum err_code code = expr_texts_each(exit_status, args, ask, &q, e);
    latex_reader_free(q.latex);
    return err_up(e, code);
}

void queries_print_json(FILE *to, json_t *value)
{
    json_dumpf(value, to, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', to);
    json_decref(value);
}

enum err_code queries_language(const struct language **out, const struct tool_args *args,
                               const char *more, struct err *e)
{
    const char *name = tool_value(args, "language");
    enum err_code code = lang_named(out, name ? name : "", e);
    if (!code && *more)
        code = language_join(out, args->arena, more, e);
    return err_up(e, code ? code : operator_options(out, args, e));
}
