/* Reading what the user asks about; see queries.h. */
#include "ops/search/queries.h"

#include <stdlib.h>
#include <string.h>

enum err_code queries_open(struct queries *out, const struct tool_args *args,
                           const struct language *lang, struct err *e)
{
    expr_parser *ignored;
    *out = (struct queries){.args = args, .lang = lang};
    if (args->n_positional == 0) {
        enum err_code code = err_fail(e, ERR_INPUT, "no expressions are given");
        err_hint(e, "give them as arguments, or '-' and one a line on standard input");
        return code;
    }
    return err_up(e, expr_parser_find(&ignored, tool_value(args, "syntax"), e));
}

void queries_close(struct queries *q)
{
    free(q->text);
    q->text = NULL;
}

static enum err_code parse(struct expr *out, const struct queries *q, const char *name,
                           const char *text, struct arena *a, struct err *e)
{
    expr_parser *read;
    struct source_text source = {name, arena_strdup(a, text), strlen(text)};
    enum err_code code = err_up(e, expr_parser_find(&read, tool_value(q->args, "syntax"), e));
    return code ? code : err_up(e, read(out, a, q->lang, &source, 0, source.len, false, e));
}

/* *got is false at the end of standard input. */
static enum err_code next_line(struct expr *out, bool *got, struct queries *q, struct arena *a,
                               struct err *e)
{
    ssize_t n;
    while ((n = getline(&q->text, &q->cap, stdin)) >= 0) {
        q->line++;
        while (n > 0 && strchr(" \t\r\n", q->text[n - 1]))
            q->text[--n] = '\0';
        if (n == 0)
            continue;
        *got = true;
        return err_up(e, parse(out, q, arena_printf(a, "<standard input, line %zu>", q->line),
                               q->text, a, e));
    }
    *got = false;
    return OK;
}

enum err_code queries_next(struct expr *out, bool *more, struct queries *q, struct arena *a,
                           struct err *e)
{
    *more = true;
    for (;;) {
        if (q->reading) {
            enum err_code code = err_up(e, next_line(out, &q->reading, q, a, e));
            if (code || q->reading)
                return code;
        }
        if (q->next == q->args->n_positional) {
            *more = false;
            return OK;
        }
        size_t i = q->next++;
        const char *text = q->args->positional[i];
        if (strcmp(text, "-") == 0)
            q->reading = true;
        else
            return err_up(e, parse(out, q, arena_printf(a, "<expression %zu>", i + 1), text, a, e));
    }
}

enum err_code queries_answer(struct queries *q, query_answer *answer, void *arg, struct err *e)
{
    struct arena a = {0};
    struct expr question;
    bool more;
    enum err_code code;
    while (!(code = err_up(e, queries_next(&question, &more, q, &a, e))) && more &&
           !(code = err_up(e, answer(arg, &question, &a, e))))
        arena_reset(&a);
    arena_free(&a);
    return code;
}

void queries_print_line(FILE *to, char *text)
{
    fprintf(to, "%s\n", text ? text : "");
    free(text);
}

enum err_code queries_number(uint32_t *out, const struct tool_args *args, const char *option,
                             uint32_t initial, uint32_t max, struct err *e)
{
    const char *text = tool_value(args, option);
    *out = initial;
    if (!text)
        return OK;
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (*end || end == text || text[0] == '-' || v < 1 || v > max)
        return err_fail(e, ERR_INPUT, "--%s takes a number from 1 to %u, not '%.40s'", option, max,
                        text);
    *out = (uint32_t)v;
    return OK;
}

enum err_code queries_language(const struct language **out, const struct tool_args *args,
                               struct err *e)
{
    const char *name = tool_value(args, "language");
    *out = lang_by_name(name ? name : "");
    if (*out)
        return OK;
    enum err_code code = err_fail(e, ERR_INPUT, "there is no language '%.40s'", name);
    const char *near = lang_nearest(name);
    err_hint(e, near ? "did you mean '%s'?" : "calculus, boolean or polynomial", near);
    return code;
}
