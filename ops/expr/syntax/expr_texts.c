#include "ops/expr/syntax/expr_texts.h"

#include "base/io/text_lines.h"
#include "base/text/utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_READ = 1 }; /* exit status */

struct texts {
    const struct tool_args *args;
    expr_text_take *take;
    void *arg;
    struct arena arena; /* for one text */
    size_t lines, bad;
};

bool expr_texts_are_lines(const struct tool_args *args)
{
    return args->n_positional == 1 && !strcmp(args->positional[0], "-");
}

char *expr_texts_malformed(struct arena *a, size_t line, const char *verdict, const struct err *e)
{
    const char *said = arena_printf(a, "%s%s%s", e->message, e->hint[0] ? "; " : "", e->hint);
    json_t *error = json_string(said);
    json_t *o = json_pack("{s:I, s:s*, s:s*, s:i, s:o}", "line", (json_int_t)line, "verdict",
                          verdict, "in", *e->input_file == '<' ? NULL : e->input_file, "column",
                          e->column, "error",
                          error ? error : json_string("the line is not UTF-8 text"));
    char *text = json_dumps(o, JSON_COMPACT), *out = arena_strdup(a, text ? text : "");
    free(text);
    json_decref(o);
    return out;
}

/* Where a second column begins, which is no factor of the first: a tab between two texts; or NULL. */
static const char *second_column(const char *text)
{
    const char *tab = strchr(text + strspn(text, " \t"), '\t');
    return tab && tab[strspn(tab, " \t")] ? tab : NULL;
}

static enum err_code check_line(const struct source_text *line, struct err *e)
{
    enum err_code code = utf8_check(line, e);
    const char *tab = code ? NULL : second_column(line->text);
    return tab ? err_fail_at(e, line, (size_t)(tab - line->text), "a tab: a line is one expression")
               : err_up(e, code);
}

static enum err_code take_line(struct texts *t, const struct text_line *line, struct err *e)
{
    struct err why = {0};
    const char *name = arena_printf(&t->arena, "%s:%zu", line->text.name, line->number);
    char *text = arena_strndup(&t->arena, line->text.text, line->text.len);
    struct source_text source = {name, text, line->text.len};
    enum err_code code = check_line(&source, &why);
    if (!code)
        code = t->take(t->arg, name, text, &t->arena, &why);
    t->lines++;
    if (code == ERR_INPUT) {
        t->bad++;
        fprintf(t->args->narration, "eqloom: %s:%d: error: %s\n", name, why.column, why.message);
        if (*why.hint)
            fprintf(t->args->narration, "%s\n", why.hint);
        if (t->args->json)
            fprintf(t->args->out, "%s\n", expr_texts_malformed(&t->arena, line->number, NULL, &why));
        code = OK;
    }
    fflush(t->args->out);
    if (code && e)
        *e = why;
    arena_reset(&t->arena);
    return err_up(e, code);
}

static enum err_code take_lines(struct texts *t, struct err *e)
{
    struct text_lines lines = text_lines_input(t->args->arena);
    struct text_line line;
    enum err_code code;
    while (!(code = text_lines_next(&line, &lines, e)))
        if (line.text.len && (code = take_line(t, &line, e)))
            break;
    text_lines_free(&lines);
    if (t->bad)
        fprintf(t->args->narration, "%zu of %zu lines could not be read\n", t->bad, t->lines);
    return code == ERR_NOTFOUND ? OK : err_up(e, code);
}

enum err_code expr_texts_each(int *exit_status, const struct tool_args *args, expr_text_take *take,
                              void *arg, struct err *e)
{
    struct texts t = {.args = args, .take = take, .arg = arg};
    enum err_code code = OK;
    for (size_t i = 0; i < args->n_positional && !code; i++) {
        const char *text = args->positional[i];
        const char *name = args->n_positional == 1
                               ? "<expression>"
                               : arena_printf(&t.arena, "<expression %zu>", i + 1);
        code = strcmp(text, "-") ? take(arg, name, text, &t.arena, e) : take_lines(&t, e);
        arena_reset(&t.arena);
    }
    arena_free(&t.arena);
    *exit_status = t.bad ? NOT_READ : 0;
    return err_up(e, code);
}
