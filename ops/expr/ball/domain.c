/* See domain.h. The bounds of an interval are rational numbers. */
#include "ops/expr/ball/domain.h"

#include "base/buf.h"
#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"

#include <string.h>

static bool is_name(const char *text)
{
    text += *text == '?';
    size_t n = identifier_length(text, text + strlen(text));
    return n && !text[n];
}

static enum err_code fail(const char *text, struct err *e)
{
    return err_fail(e, ERR_INPUT,
                    "a domain is x:real (or positive, nonnegative, nonzero, integer, complex), "
                    "x>1, x<1 or 0<x<1, not '%s'",
                    text);
}

static bool is_word(const char *word)
{
    static const char *const words[] = {"positive", "nonnegative", "nonzero",
                                        "real",     "integer",     "complex"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Returns the text up to the next comparison; *sign is its character or 0, *closed whether it
 * includes equality. */
static char *next_part(const char **text, char *sign, bool *closed, struct arena *a)
{
    size_t n = strcspn(*text, "<>");
    char *part = arena_strndup(a, *text, n), *end = part + n;
    while (end > part && end[-1] == ' ')
        *--end = 0;
    part += strspn(part, " ");
    *sign = (*text)[n];
    *text += n + (*sign != 0);
    *closed = *sign && **text == '=';
    *text += *closed;
    return part;
}

enum err_code domain_parse(struct ball_domain *out, struct arena *a, const char *text,
                           struct err *e)
{
    *out = (struct ball_domain){0};
    const char *rest = text;
    size_t n = strcspn(text, ":");
    if (text[n]) {
        *out = (struct ball_domain){arena_strndup(a, text, n), arena_strdup(a, text + n + 1)};
        return is_name(out->name) && is_word(out->domain) ? OK : fail(text, e);
    }
    char signs[3] = {0}, *parts[3] = {0};
    bool closed[3] = {0};
    int k = 0;
    do
        parts[k] = next_part(&rest, &signs[k], &closed[k], a);
    while (signs[k] && ++k < 3);
    if (k < 1 || k > 2 || (k == 2 && signs[0] != signs[1]))
        return fail(text, e);
    int name = k == 2 || number_read(a, parts[0], strlen(parts[0]));
    out->name = parts[name];
    for (int i = 0; i <= k; i++) {
        if (i == name)
            continue;
        const char *number = number_read(a, parts[i], strlen(parts[i]));
        bool below = (i < name) == (signs[0] == '<');
        *(below ? &out->low : &out->high) = number;
        *(below ? &out->low_closed : &out->high_closed) = closed[i < name ? i : name];
        if (!number)
            return fail(text, e);
    }
    bool empty = out->low && out->high && number_compare(out->low, out->high) >= 0;
    if (empty || !is_name(out->name))
        return fail(text, e);
    out->domain = out->low && number_sign(out->low) >= 0 ? "positive" : "real";
    return OK;
}

void domain_write(struct buf *out, const struct ball_domain *d)
{
    if (!d->low && !d->high) {
        buf_printf(out, "%s:%s", d->name, d->domain);
        return;
    }
    if (d->low)
        buf_printf(out, "%s%s", d->low, d->low_closed ? "<=" : "<");
    buf_puts(out, d->name);
    if (d->high)
        buf_printf(out, "%s%s", d->high_closed ? "<=" : "<", d->high);
}
