/* Reading the formats of lines; see corpus_format.h. */
#include "ops/corpus/format/corpus_format.h"

#include "base/text/utf8.h"

#include <ctype.h>
#include <string.h>

enum corpus_format corpus_format_find(const char *name)
{
    static const char *const names[CORPUS_FORMATS] = {"e-gen", "pairs",  "triplets",
                                                      "jsonl", "semvec", "expressions"};
    for (int f = 0; f < CORPUS_FORMATS; f++)
        if (strcmp(names[f], name) == 0)
            return (enum corpus_format)f;
    return CORPUS_FORMATS;
}

struct line {
    size_t begin, len; /* without the end of the line, which may be CR LF */
};

static bool next_line(struct line *out, size_t *at, const struct source_text *source)
{
    if (*at >= source->len)
        return false;
    const char *end = memchr(source->text + *at, '\n', source->len - *at);
    out->begin = *at;
    out->len = (end ? (size_t)(end - source->text) : source->len) - *at;
    *at += out->len + 1;
    if (out->len && source->text[out->begin + out->len - 1] == '\r')
        out->len--;
    return true;
}

static enum err_code read_clusters(struct corpus *c, const struct source_text *source,
                                   struct err *e)
{
    struct buf open = {0};
    struct line line;
    enum err_code code = OK;
    for (size_t at = 0; !code && next_line(&line, &at, source);) {
        struct expr x;
        if (line.len == 0) {
            if (open.len)
                corpus_add(c, (struct expr *)(void *)open.data, open.len / sizeof x);
            buf_clear(&open);
            continue;
        }
        code = err_up(e, corpus_parse(&x, c, source, line.begin, line.len, false, e));
        if (!code)
            buf_add(&open, &x, sizeof x);
        code = corpus_skip(c, code, e);
    }
    if (!code && open.len)
        corpus_add(c, (struct expr *)(void *)open.data, open.len / sizeof(struct expr));
    buf_free(&open);
    return code;
}

static uint32_t root_of(struct corpus_pairs *j, uint32_t i)
{
    uint32_t *parent = (uint32_t *)(void *)j->parents.data;
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static uint32_t join_add(struct corpus_pairs *j, struct arena *a, const struct expr *x)
{
    bool added;
    uint32_t i = (uint32_t)(j->exprs.len / sizeof *x);
    uint64_t *known = name_map_put(&j->index, corpus_prefix(a, x), i, &added);
    if (added) {
        buf_add(&j->exprs, x, sizeof *x);
        buf_add(&j->parents, &i, sizeof i);
    }
    return (uint32_t)*known;
}

static enum err_code read_columns(struct corpus *c, struct corpus_pairs *j, uint32_t columns,
                                  const struct source_text *source, const struct line *line,
                                  struct err *e)
{
    uint32_t first = 0;
    size_t at = line->begin, end = line->begin + line->len;
    for (uint32_t k = 0; k < columns; k++) {
        const char *tab = memchr(source->text + at, '\t', end - at);
        size_t len = tab ? (size_t)(tab - source->text) - at : end - at;
        struct expr x;
        if ((k + 1 < columns) != (tab != NULL))
            return err_fail_at(e, source, line->begin,
                               "a line of %u expressions separated by tabs is expected", columns);
        enum err_code code = err_up(e, corpus_parse(&x, c, source, at, len, false, e));
        if (code)
            return code;
        uint32_t i = join_add(j, c->a, &x);
        if (k == 0)
            first = i;
        else if (k == 1) {
            uint32_t p = root_of(j, first), q = root_of(j, i);
            ((uint32_t *)(void *)j->parents.data)[p > q ? p : q] = p < q ? p : q;
        }
        at += len + 1;
    }
    return OK;
}

/* Where the expression begins that a line of Lample and Charton's has: "12|sub Y' EXPRESSION". */
static size_t skip_label(const struct source_text *source, size_t at, size_t end)
{
    static const char difference[] = "sub Y' ";
    size_t digits = at, n = sizeof difference - 1;
    while (digits < end && isdigit((unsigned char)source->text[digits]))
        digits++;
    if (digits > at && digits < end && source->text[digits] == '|')
        at = digits + 1;
    return end - at > n && !memcmp(source->text + at, difference, n) ? at + n : at;
}

/* Each column is an expression of its own. */
static enum err_code read_alone(struct corpus *c, const struct source_text *source,
                                const struct line *line, struct err *e)
{
    size_t end = line->begin + line->len, at = skip_label(source, line->begin, end), len;
    struct expr x;
    enum err_code code = OK;
    for (; !code && at <= end; at += len + 1) {
        const char *tab = memchr(source->text + at, '\t', end - at);
        len = tab ? (size_t)(tab - source->text) - at : end - at;
        code = err_up(e, corpus_parse(&x, c, source, at, len, false, e));
        if (!code)
            join_add(&c->pairs, c->a, &x);
    }
    return code;
}

/* In the order of their first expressions. */
static void add_joined(struct corpus *c, struct corpus_pairs *j)
{
    const struct expr *exprs = (const struct expr *)(const void *)j->exprs.data;
    uint32_t n = (uint32_t)(j->exprs.len / sizeof *exprs);
    uint32_t *begin = arena_array(c->a, uint32_t, n + 2);
    struct expr *sorted = arena_array(c->a, struct expr, n + 1);
    for (uint32_t i = 0; i < n; i++)
        begin[root_of(j, i) + 2]++;
    for (uint32_t i = 0; i + 2 <= n; i++)
        begin[i + 2] += begin[i + 1];
    for (uint32_t i = 0; i < n; i++)
        sorted[begin[root_of(j, i) + 1]++] = exprs[i];
    for (uint32_t i = 0; i < n; i++)
        if (begin[i + 1] > begin[i])
            corpus_add(c, sorted + begin[i], begin[i + 1] - begin[i]);
}

/* columns 0: expressions alone */
static enum err_code read_pairs(struct corpus *c, uint32_t columns,
                                const struct source_text *source, struct err *e)
{
    struct line line;
    enum err_code code = OK;
    for (size_t at = 0; !code && next_line(&line, &at, source);)
        if (line.len)
            code = corpus_skip(c,
                               columns ? read_columns(c, &c->pairs, columns, source, &line, e)
                                       : read_alone(c, source, &line, e),
                               e);
    return code;
}

void corpus_finish(struct corpus *c)
{
    latex_reader_free(c->latex);
    c->latex = NULL;
    add_joined(c, &c->pairs);
    name_map_free(&c->pairs.index);
    buf_free(&c->pairs.exprs);
    buf_free(&c->pairs.parents);
    c->pairs = (struct corpus_pairs){0};
}

enum err_code corpus_read(struct corpus *c, enum corpus_format format,
                          const struct source_text *source, struct err *e)
{
    enum err_code code = utf8_check(source, e);
    if (code)
        return err_up(e, code);
    switch (format) {
    case CORPUS_E_GEN: return err_up(e, read_clusters(c, source, e));
    case CORPUS_PAIRS: return err_up(e, read_pairs(c, 2, source, e));
    case CORPUS_TRIPLETS: return err_up(e, read_pairs(c, 3, source, e));
    case CORPUS_EXPRESSIONS: return err_up(e, read_pairs(c, 0, source, e));
    case CORPUS_JSONL:
    case CORPUS_SEMVEC: return err_up(e, corpus_read_json(c, format, source, e));
    case CORPUS_FORMATS: break;
    }
    return err_fail(e, ERR_INPUT, "unknown format of a corpus");
}
