#include "ops/latex/read/latex.h"

#include "base/text/utf8.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/read/latex_nodes.h"

#include <stdlib.h>
#include <string.h>

struct latex_reader {
    struct katex *katex;
};

void latex_reader_free(struct latex_reader *r)
{
    if (!r)
        return;
    katex_free(r->katex);
    free(r);
}

bool latex_is(const char *text, size_t len)
{
    return memchr(text, '\\', len) || memchr(text, '{', len);
}

/* Returns the number of bytes of so many UTF-16 units. */
static size_t bytes_of(const char *s, size_t len, size_t units)
{
    size_t at = 0;
    while (at < len && units) {
        unsigned char c = (unsigned char)s[at];
        size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        units -= units > 1 && n == 4 ? 2 : 1;
        at += n;
    }
    return at < len ? at : len;
}

enum err_code latex_parse(struct expr *out, struct latex_reader **r, struct arena *a,
                          const struct language *lang, const struct source_text *source,
                          size_t offset, size_t len, bool patterns, struct buf *notes,
                          struct err *e)
{
    const char *text = arena_strndup(a, source->text + offset, len);
    struct katex_answer answer;
    struct latex_refusal why;
    struct source_text before = {source->name, source->text, offset + len};
    enum err_code code = utf8_check(&before, e);
    if (!*r)
        *r = must_calloc(1, sizeof **r);
    if (!code && !(*r)->katex)
        code = katex_new(&(*r)->katex, e);
    if (!code)
        code = katex_tree(&answer, a, (*r)->katex, text, e);
    if (code)
        return err_up(e, code);
    if (!answer.text)
        return err_fail_at(e, source, offset + bytes_of(text, len, answer.position), "%s: %.200s",
                           answer.refused, answer.detail);
    const char *infix = latex_infix(&why, a, lang, answer.text, notes);
    if (!infix) {
        size_t units = why.begin == SIZE_MAX ? 0 : why.begin;
        code = err_fail_at(e, source, offset + bytes_of(text, len, units), "%s", why.message);
        if (why.hint)
            err_hint(e, "%s", why.hint);
        return code;
    }
    struct source_text inner = {source->name, infix, strlen(infix)};
    struct err problem = {0};
    if (expr_parse_infix(out, a, lang, &inner, 0, inner.len, patterns, &problem))
        return err_fail_at(e, source, offset, "read as %.200s: %.200s", infix, problem.message);
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
