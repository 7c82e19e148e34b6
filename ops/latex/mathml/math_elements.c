#include "ops/latex/mathml/math_elements.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool starts(const struct math_elements *m, size_t at, const char *with)
{
    size_t n = strlen(with);
    return m->len - at >= n && !strncasecmp(m->text + at, with, n);
}

/* Moves behind the next `end`, or to the end of the text; counts <math> on the way. */
static void skip_past(struct math_elements *m, const char *end)
{
    for (; m->at < m->len && !starts(m, m->at, end); m->at++)
        m->hidden += starts(m, m->at, "<math");
    m->at = m->len - m->at > strlen(end) ? m->at + strlen(end) : m->len;
}

/* At '<': moves behind the tag. */
static void skip_tag(struct math_elements *m, bool *empty)
{
    char quote = 0;
    for (; m->at < m->len && (quote || m->text[m->at] != '>'); m->at++) {
        char c = m->text[m->at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
    }
    *empty = m->at < m->len && m->text[m->at - 1] == '/';
    m->at += m->at < m->len;
}

/* At a name: whether it is this one, after any prefix. */
static bool is_named(const struct math_elements *m, size_t at, const char *name)
{
    size_t from = at, n = strlen(name);
    while (at < m->len && (isalnum((unsigned char)m->text[at]) || strchr(":-_.", m->text[at]))) {
        if (m->text[at] == ':')
            from = at + 1;
        at++;
    }
    return at - from == n && !strncasecmp(m->text + from, name, n);
}

/* Text that is not markup: true if there is some at '<', behind which it moves. */
static bool skip_raw(struct math_elements *m)
{
    static const char *const raw[] = {"script", "style", "textarea", "xmp", "title", "template"};
    bool empty;
    if (starts(m, m->at, "<!--")) {
        m->at += 2; /* "<!-->" is a whole comment */
        skip_past(m, "-->");
        return true;
    }
    if (starts(m, m->at, "<![CDATA[")) {
        skip_past(m, "]]>");
        return true;
    }
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++) {
        char end[16] = "</";
        if (!starts(m, m->at + 1, raw[i]) || !is_named(m, m->at + 1, raw[i]))
            continue;
        skip_tag(m, &empty);
        if (!empty)
            skip_past(m, strcat(end, raw[i]));
        return true;
    }
    return false;
}

bool math_elements_next(struct span *out, struct math_elements *m)
{
    size_t from = 0, depth = 0;
    bool empty;
    while (m->at < m->len) {
        const char *open = memchr(m->text + m->at, '<', m->len - m->at);
        m->at = open ? (size_t)(open - m->text) : m->len;
        if (m->at == m->len || skip_raw(m))
            continue;
        size_t at = m->at;
        bool end = starts(m, at, "</"), is_math = is_named(m, at + 1 + end, "math");
        skip_tag(m, &empty);
        if (!is_math || (end && depth == 0))
            continue;
        if (!end && depth == 0)
            from = at;
        depth += end ? (size_t)-1 : !empty;
        if (depth == 0) {
            *out = span_of(m->text + from, m->at - from);
            return true;
        }
    }
    if (depth)
        *out = span_of(m->text + from, m->len - from);
    return depth > 0;
}
