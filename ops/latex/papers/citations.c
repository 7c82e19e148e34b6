/* See citations.h. A number in the new style counts only near the word arXiv or in a field
 * `eprint`: elsewhere it may be a page, a date or a DOI. */
#include "ops/latex/papers/citations.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>

enum { NEAR = 60, IDS_MAX = 20000 };

static const char archives[] =
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas "
    "cond-mat cs dg-ga funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin "
    "nucl-ex nucl-th patt-sol physics plasm-ph q-alg q-bio quant-ph solv-int supr-con";

void citations_free(struct citations *c)
{
    name_map_free(&c->seen);
    name_map_free(&c->keys);
}

static void add(struct citations *c, const char *id)
{
    bool added;
    name_map_put(&c->seen, id, 0, &added);
    if (!added || c->n == IDS_MAX)
        return;
    c->ids = arena_grow(c->a, c->ids, c->n, &c->cap, sizeof *c->ids);
    c->ids[c->n++] = arena_strdup(c->a, id);
}

static size_t digits(const char *s, const char *end)
{
    size_t n = 0;
    while (s + n < end && isdigit((unsigned char)s[n]))
        n++;
    return n;
}

static bool is_month(const char *s)
{
    int month = (s[0] - '0') * 10 + s[1] - '0';
    return month >= 1 && month <= 12;
}

/* Returns the length of an id such as "1501.00001" at s, or 0. */
static size_t new_style(const char *s, const char *end)
{
    if (digits(s, end) != 4 || s + 4 >= end || s[4] != '.' || !is_month(s + 2))
        return 0;
    size_t n = digits(s + 5, end);
    return n == 4 || n == 5 ? 5 + n : 0;
}

/* Returns the length of an id such as "hep-th/9901001" or "math.AG/0101001" at s, or 0; the slash
 * may be absent in file names. Sets *archive to the length of its first part. */
static size_t old_style(size_t *archive, const char *s, const char *end, bool slash)
{
    size_t n = 0;
    while (s + n < end && (islower((unsigned char)s[n]) || s[n] == '-'))
        n++;
    if (n == 0 || n > 8 || !piece_in((struct piece){s, n}, archives))
        return 0;
    *archive = n;
    if (s + n + 3 < end && s[n] == '.' && isupper((unsigned char)s[n + 1]))
        n += 3;
    if (slash && (s + n >= end || s[n++] != '/'))
        return 0;
    return digits(s + n, end) == 7 && is_month(s + n + 2) ? n + 7 : 0;
}

static bool near_arxiv(const char *begin, const char *s)
{
    const char *from = s - begin > NEAR ? s - NEAR : begin;
    for (const char *p = from; p + 5 <= s; p++)
        if (!strncasecmp(p, "arxiv", 5) || !strncasecmp(p, "eprin", 5))
            return true;
    return false;
}

void citations_scan(struct citations *c, struct piece text)
{
    const char *end = text.s + text.len;
    char id[32];
    for (const char *s = text.s; s < end; s++) {
        size_t archive, n = 0;
        if (s > text.s && (isalnum((unsigned char)s[-1]) || s[-1] == '-' || s[-1] == '.'))
            continue;
        if (isdigit((unsigned char)*s) && (n = new_style(s, end)) && near_arxiv(text.s, s)) {
            memcpy(id, s, n);
            id[n] = 0;
            add(c, id);
        } else if (islower((unsigned char)*s) && (n = old_style(&archive, s, end, true))) {
            memcpy(id, s, archive);
            memcpy(id + archive, s + n - 8, 8); /* the slash and seven digits */
            id[archive + 8] = 0;
            add(c, id);
        }
        s += n ? n - 1 : 0;
    }
}

void citations_key(struct citations *c, struct piece keys)
{
    struct cursor list = cursor_of(keys);
    for (struct piece key; scan_item(&key, &list);)
        if (key.len && key.len < 200)
            name_map_put(&c->keys, arena_strndup(c->a, key.s, key.len), 0, NULL);
}

void citations_scan_bib(struct citations *c, struct piece text)
{
    struct cursor at = cursor_of(text);
    bool all = name_map_get(&c->keys, "*") != NULL;
    while (!cursor_end(&at)) {
        const char *entry = memchr(at.s + at.at, '@', at.len - at.at);
        if (!entry)
            break;
        at.at = (size_t)(entry - at.s) + 1;
        while (!cursor_end(&at) && isalpha((unsigned char)at.s[at.at]))
            at.at++;
        struct piece body, key;
        if (!scan_group(&body, &at))
            continue;
        struct cursor fields = cursor_of(body);
        if (scan_item(&key, &fields) && key.len && key.len < 200 &&
            (all || name_map_get(&c->keys, arena_strndup(c->a, key.s, key.len))))
            citations_scan(c, body);
    }
}

void citations_sort(struct citations *c)
{
    if (c->n)
        qsort(c->ids, c->n, sizeof *c->ids, text_compare);
}

const char *citations_id_of_name(struct arena *a, const char *name)
{
    const char *slash = strrchr(name, '/'), *s = slash ? slash + 1 : name, *end = s + strlen(s);
    size_t archive, n = new_style(s, end);
    const char *rest = s + n;
    if (n) {
        if (*rest == 'v')
            rest += 1 + digits(rest + 1, end);
        return *rest && *rest != '.' ? NULL : arena_strndup(a, s, n);
    }
    n = old_style(&archive, s, end, false);
    if (n)
        return arena_printf(a, "%.*s/%.*s", (int)archive, s, 7, s + n - 7);
    return NULL;
}
