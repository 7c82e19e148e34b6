/* Language texts of records; see own.h. The text of the calculus with operators is their
 * statements, sorted by name; that of another language begins with its name. */
#include "ops/expr/own/own.h"

#include "ops/expr/syntax/lexical.h"

#include <stdlib.h>
#include <string.h>

static const char language_keyword[] = "language ";

/* Parses the name at the start of the text; *statements becomes the rest. */
static enum err_code read_base(const struct language **out, const char **statements,
                               struct arena *a, const char *text, struct err *e)
{
    const size_t n = strlen(language_keyword);
    *statements = strncmp(text, "operator ", strlen("operator ")) == 0 ? text : "";
    if (**statements)
        return err_up(e, lang_named(out, "", e));
    if (strncmp(text, language_keyword, n) != 0)
        return err_up(e, lang_named(out, text, e));
    size_t length = strcspn(text + n, "\n");
    *statements = text + n + length;
    return err_up(e, lang_named(out, arena_strndup(a, text + n, length), e));
}

enum err_code language_join(const struct language **lang, struct arena *a, const char *text,
                            struct err *e)
{
    const struct language *base;
    const char *statements;
    enum err_code code = read_base(&base, &statements, a, text, e);
    if (!code && !*lang)
        *lang = base;
    if (!code && !lang_is(*lang, base))
        code = err_fail(e, ERR_INPUT, "this is of the %s language, the rest is of the %s language",
                        base->name, (*lang)->name);
    if (code || !*statements)
        return err_up(e, code);
    const struct source_text source = {"operators", statements, strlen(statements)};
    const struct language *before = *lang;
    struct arena_mark mark = arena_mark(a);
    code = own_parse(lang, a, &source, false, e);
    if (*lang == before)
        arena_release(a, mark);
    return err_up(e, code);
}

enum err_code language_read(const struct language **out, struct arena *a, const char *text,
                            struct err *e)
{
    *out = NULL;
    return err_up(e, language_join(out, a, text, e));
}

bool language_mixes(const char *text, const char *other)
{
    struct arena a = {0};
    const struct language *x, *y;
    const char *statements;
    bool mixes =
        strcmp(text, other) == 0 || (!read_base(&x, &statements, &a, text, NULL) &&
                                     !read_base(&y, &statements, &a, other, NULL) && x == y);
    arena_free(&a);
    return mixes;
}

enum err_code language_unite(char **out, struct arena *a, const char *text, const char *other,
                             struct err *e)
{
    const struct language *lang;
    enum err_code code = language_read(&lang, a, text, e);
    if (!code)
        code = language_join(&lang, a, other, e);
    if (code)
        return err_up(e, code);
    *out = language_text_all(a, lang);
    return OK;
}

void language_mark(bool *used, const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        used[x->nodes[i].op] = true;
}

/* Marks the operators that the marked ones depend on. */
static void mark_needed(bool *used, const struct language *lang)
{
    bool *seen = calloc(lang->n_ops, sizeof *seen);
    for (bool more = true; more && seen;) {
        more = false;
        for (unsigned op = X_DECLARED; op < lang->n_ops; op++) {
            const struct own_operator *o = lang->ops[op].own;
            if (!used[op] || seen[op] || !o)
                continue;
            more = seen[op] = true;
            language_mark(used, &o->value);
            for (unsigned k = 0; k < LANG_MAX_ARITY; k++)
                language_mark(used, &o->derivative[k]);
        }
    }
    free(seen);
}

static int compare_names(const void *x, const void *y)
{
    return strcmp((*(const struct op_info *const *)x)->name,
                  (*(const struct op_info *const *)y)->name);
}

char *language_text(struct arena *a, const struct language *lang, const bool *given)
{
    struct buf b = {0};
    size_t n = 0;
    const struct op_info **ops = arena_array(a, const struct op_info *, lang->n_ops);
    bool *used = arena_memdup(a, given, lang->n_ops * sizeof *used);
    mark_needed(used, lang);
    for (unsigned op = X_DECLARED; op < lang->n_ops; op++)
        if (used[op] && lang->ops[op].token)
            ops[n++] = &lang->ops[op];
    bool calculus = lang_is(lang, &lang_calculus);
    if (!n)
        return arena_strdup(a, calculus ? "" : lang->name);
    qsort(ops, n, sizeof *ops, compare_names);
    if (!calculus)
        buf_printf(&b, "%s%s\n", language_keyword, lang->name);
    for (size_t i = 0; i < n; i++)
        if (ops[i]->own)
            buf_puts(&b, ops[i]->own->text);
        else
            buf_printf(&b, "operator %s\n", ops[i]->token);
    return buf_text(&b, a);
}

char *language_text_all(struct arena *a, const struct language *lang)
{
    bool *used = arena_array(a, bool, lang->n_ops);
    memset(used, true, lang->n_ops * sizeof *used);
    return language_text(a, lang, used);
}

char *language_text_of(struct arena *a, const struct expr *x, size_t n)
{
    if (!n)
        return arena_strdup(a, "");
    bool *used = arena_array(a, bool, x->lang->n_ops);
    for (size_t i = 0; i < n; i++)
        language_mark(used, &x[i]);
    return language_text(a, x->lang, used);
}

const struct language *language_guess(struct arena *a, const struct language *base,
                                      const char *prefix)
{
    for (const char *at = prefix; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " "), name = identifier_length(at, at + n);
        if (name && name + 2 == n && at[name] == '/' && is_digit(at[name + 1]) &&
            lang_find(base, at, n) < 0)
            lang_declare(&base, a, base, arena_strndup(a, at, name), (unsigned)(at[n - 1] - '0'),
                         NULL);
        at += n;
    }
    return base;
}
