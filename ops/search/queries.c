/* Reads the expressions of a query; see queries.h. */
#include "ops/search/queries.h"

#include "ops/expr/own/own.h"

#include <stdlib.h>
#include <string.h>

enum err_code queries_check(const struct tool_args *args, struct err *e)
{
    if (args->n_positional)
        return err_up(e, expr_argument_check(args, e));
    enum err_code code = err_fail(e, ERR_INPUT, "no expressions are given");
    err_hint(e, "give them as arguments, or '-' and one per line on standard input");
    return code;
}

/* ---- texts ---- */

struct texts {
    query_take *take;
    void *arg;
    struct arena arena; /* for one text */
};

static enum err_code take_one(struct texts *t, const char *name, const char *text, struct err *e)
{
    enum err_code code = t->take(t->arg, name, text, &t->arena, e);
    arena_reset(&t->arena);
    return err_up(e, code);
}

static enum err_code take_lines(struct texts *t, struct err *e)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    enum err_code code = OK;
    for (size_t number = 1; !code && (n = getline(&line, &cap, stdin)) >= 0; number++) {
        while (n > 0 && strchr(" \t\r\n", line[n - 1]))
            line[--n] = '\0';
        if (n > 0)
            code =
                take_one(t, arena_printf(&t->arena, "<standard input, line %zu>", number), line, e);
    }
    free(line);
    return err_up(e, code);
}

enum err_code queries_each(const struct tool_args *args, query_take *take, void *arg, struct err *e)
{
    struct texts t = {.take = take, .arg = arg};
    enum err_code code = OK;
    for (size_t i = 0; i < args->n_positional && !code; i++)
        code = strcmp(args->positional[i], "-") == 0
                   ? take_lines(&t, e)
                   : take_one(&t, arena_printf(&t.arena, "<expression %zu>", i + 1),
                              args->positional[i], e);
    arena_free(&t.arena);
    return err_up(e, code);
}

/* ---- expressions ---- */

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

enum err_code queries_answer(const struct tool_args *args, const struct language *lang,
                             query_answer *answer, void *arg, struct err *e)
{
    struct answering q = {.args = args, .lang = lang, .answer = answer, .arg = arg};
    enum err_code code = queries_each(args, ask, &q, e);
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
