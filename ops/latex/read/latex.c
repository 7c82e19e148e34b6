#include "ops/latex/read/latex.h"

#include "base/text/utf8.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/read/latex_terms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct latex_reader {
    struct katex *katex;
    bool sympy;
};

struct latex_reader *latex_reader_sympy(void)
{
    struct latex_reader *r = must_calloc(1, sizeof *r);
    r->sympy = true;
    return r;
}

void latex_reader_free(struct latex_reader *r)
{
    if (!r)
        return;
    katex_free(r->katex);
    free(r);
}

bool latex_is(const char *text, size_t len)
{
    const char *end = text + len;
    bool script = false;
    if (memchr(text, '\\', len) || !memchr(text, '{', len))
        return memchr(text, '\\', len);
    for (const char *s = text; s + 1 < end; s++) {
        const char *brace = s[0] == '_' && s[1] == '{' ? memchr(s, '}', (size_t)(end - s)) : NULL;
        if (is_letter(s[0]) && is_letter(s[1]) && s[0] != '_' && s[1] != '_')
            return false;
        script |= s[1] == '{' && strchr("^_", s[0]);
        s = brace ? brace : s;
    }
    return script; /* {x} alone may be a fractional part */
}

static size_t letters_at(const char *s)
{
    size_t n = 0;
    while (isalpha((unsigned char)s[n]))
        n++;
    return n;
}

/* Letters side by side, outside commands, \operatorname{...} and indices; NULL if there are none.
 */
static const char *letters_beside(const char *s)
{
    static const char word[] = "\\operatorname{";
    for (size_t n; *s; s += n) {
        bool command = *s == '\\';
        size_t letters = letters_at(s + command);
        if (!strncmp(s, word, sizeof word - 1) || (s[0] == '_' && s[1] == '{'))
            n = strcspn(s, "}");
        else if (command)
            n = letters ? 1 + letters : 1 + (s[1] != 0);
        else if (letters > 1)
            return s;
        else
            n = 1;
    }
    return NULL;
}

enum err_code latex_parse(struct expr *out, struct latex_reader **r, struct arena *a,
                          const struct language *lang, const struct source_text *source,
                          size_t offset, size_t len, bool patterns, struct buf *notes,
                          struct err *e)
{
    const char *text = arena_strndup(a, source->text + offset, len);
    struct katex_answer answer;
    struct latex_reading reading = {.a = a,
                                    .lang = lang,
                                    .source = text,
                                    .len = len,
                                    .notes = notes,
                                    .sympy = *r && (*r)->sympy};
    struct source_text before = {source->name, source->text, offset + len};
    enum err_code code = utf8_check(&before, e);
    const char *beside = !code && reading.sympy ? letters_beside(text) : NULL;
    if (beside) {
        code = err_fail_at(e, source, offset + (size_t)(beside - text),
                           "a name of several letters, or a product?");
        err_hint(e,
                 "SymPy writes a product with blanks, 'a b', and a name with an index, 'x_{max}'");
        return code;
    }
    if (!*r)
        *r = must_calloc(1, sizeof **r);
    if (!code && !(*r)->katex)
        code = katex_new(&(*r)->katex, &katex_source.tree, e);
    if (!code)
        code = katex_tree(&answer, a, (*r)->katex, text, e);
    if (code)
        return err_up(e, code);
    if (!answer.text)
        return err_fail_at(e, source, offset + utf16_bytes(text, len, answer.position),
                           "%s: %.200s", answer.refused, answer.detail);
    const char *prefix = latex_read_tree(&reading, answer.text);
    if (!prefix) {
        code = err_fail_at(e, source, offset + reading.begin, "%s", reading.problem);
        if (reading.hint)
            err_hint(e, "%s", reading.hint);
        return code;
    }
    struct source_text inner = {source->name, prefix, strlen(prefix)};
    struct err problem = {0};
    if (expr_parse_prefix(out, a, lang, &inner, 0, inner.len, patterns, &problem))
        return err_fail_at(e, source, offset, "%.200s", problem.message);
    return OK;
}

bool latex_bare(const char *text, size_t *at, size_t *len)
{
    static const char *const signs[][2] = {
        {"$$", "$$"}, {"$", "$"}, {"\\[", "\\]"}, {"\\(", "\\)"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *s = text + *at;
        size_t n = strlen(signs[i][0]);
        if (*len > 2 * n && !strncmp(s, signs[i][0], n) && !strncmp(s + *len - n, signs[i][1], n)) {
            *at += n;
            *len -= 2 * n;
            return true;
        }
    }
    return false;
}
