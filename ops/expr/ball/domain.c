/* See domain.h. The bounds of an interval are rational numbers. */
#include "ops/expr/ball/domain.h"

#include "base/buf.h"
#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/variable_name.h"

#include <string.h>

/* Replaces x, ?x or "speed" by the name of its leaf; returns false if it is no name. */
static bool read_name(struct arena *a, const char **name)
{
    const char *text = *name;
    bool quoted = *text == '"';
    text += quoted || *text == '?';
    size_t n = identifier_length(text, text + strlen(text));
    if (**name != '?')
        *name = variable_leaf(a, &lang_calculus, text, n);
    return n && strcmp(text + n, quoted ? "\"" : "") == 0;
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
        return read_name(a, &out->name) && is_word(out->domain) ? OK : fail(text, e);
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
    if (empty || !read_name(a, &out->name))
        return fail(text, e);
    out->domain = out->low && number_sign(out->low) >= 0 ? "positive" : "real";
    return OK;
}

/* ---- intersections ---- */

/* From the widest; INTERVAL: also positive and nonnegative. */
enum width { COMPLEX, NONZERO, REAL, INTERVAL, INTEGER };

static enum width width_of(const struct ball_domain *d)
{
    static const char *const words[] = {"complex", "nonzero", "real"};
    for (unsigned i = 0; i < 3 && !d->low && !d->high; i++)
        if (strcmp(d->domain, words[i]) == 0)
            return (enum width)i;
    return strcmp(d->domain, "integer") == 0 ? INTEGER : INTERVAL;
}

static struct ball_domain with_bounds(const struct ball_domain *d)
{
    struct ball_domain out = *d;
    if (!d->low && strcmp(d->domain, "real") != 0) {
        out.low = "0";
        out.low_closed = strcmp(d->domain, "nonnegative") == 0;
    }
    return out;
}

/* Takes the narrower of two bounds; `side` is 1 for lower bounds, -1 for upper ones. */
static void narrow(const char **bound, bool *closed, const char *other, bool other_closed, int side)
{
    int order = !other ? 1 : !*bound ? -1 : side * number_compare(*bound, other);
    *closed = order > 0 ? *closed : order < 0 ? other_closed : *closed && other_closed;
    *bound = order < 0 ? other : *bound;
}

static enum err_code intersect_intervals(struct ball_domain *x, const struct ball_domain *y,
                                         struct err *e)
{
    struct ball_domain a = with_bounds(x), b = with_bounds(y);
    narrow(&a.low, &a.low_closed, b.low, b.low_closed, 1);
    narrow(&a.high, &a.high_closed, b.high, b.high_closed, -1);
    if (a.low && a.high && number_compare(a.low, a.high) >= 0)
        return err_fail(e, ERR_INPUT, "the domains of %s have no interval in common", x->name);
    bool positive = a.low && number_sign(a.low) >= 0;
    a.domain = positive ? "positive" : "real";
    if (positive && !a.high && number_sign(a.low) == 0) {
        a.domain = a.low_closed ? "nonnegative" : "positive";
        a.low = NULL;
        a.low_closed = false;
    }
    *x = a;
    return OK;
}

static enum err_code intersect(struct ball_domain *x, const struct ball_domain *y, struct err *e)
{
    const struct ball_domain *wide = width_of(x) <= width_of(y) ? x : y, *in = wide == x ? y : x;
    enum width from = width_of(wide), to = width_of(in);
    if (from == INTERVAL && to == INTERVAL)
        return err_up(e, intersect_intervals(x, y, e));
    if (to == INTEGER && (from == NONZERO || from == INTERVAL))
        return err_fail(e, ERR_INPUT, "%s:integer cannot have another domain as well", x->name);
    *x = *in; /* among real numbers, that one of them is not zero is no matter */
    if (from == NONZERO && strcmp(x->domain, "nonnegative") == 0)
        x->domain = "positive";
    return OK;
}

enum err_code domain_add(struct ball_domain *all, size_t *n, const struct ball_domain *d,
                         struct err *e)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(all[i].name, d->name) == 0)
            return err_up(e, intersect(&all[i], d, e));
    all[(*n)++] = *d;
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
