/* Reading corpora; see corpus_format.h. */
#include "ops/corpus/format/corpus_format.h"

#include "base/io/columns.h"
#include "base/text/utf8.h"
#include "ops/expr/own/own.h"
#include "ops/expr/rational.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

enum { LISTED_MAX = 10000 }; /* malformed lines */

enum corpus_format corpus_format_find(const char *name)
{
    static const char *const names[CORPUS_FORMATS] = {"e-gen", "pairs",  "triplets",
                                                      "jsonl", "semvec", "expressions"};
    for (int f = 0; f < CORPUS_FORMATS; f++)
        if (strcmp(names[f], name) == 0)
            return (enum corpus_format)f;
    return CORPUS_FORMATS;
}

enum corpus_notation corpus_notation_find(const char *name)
{
    static const char *const names[CORPUS_NOTATIONS] = {"prefix", "words", "infix", "latex",
                                                        "sympy"};
    int k = 0;
    while (k < CORPUS_NOTATIONS && strcmp(names[k], name))
        k++;
    return (enum corpus_notation)k;
}

size_t corpus_columns(enum corpus_format format)
{
    return format == CORPUS_PAIRS         ? 2
           : format == CORPUS_TRIPLETS    ? 3
           : format == CORPUS_EXPRESSIONS ? 0
                                          : 1;
}

/* ---- expressions and clusters ---- */

/* Whether n is a quotient p / q of integers that form a reduced fraction. */
static bool is_fraction(struct arena *a, const struct expr_node *n)
{
    if (n->op != X_DIV || n[1].op != X_NUM || n[2].op != X_NUM)
        return false;
    const char *text = arena_printf(a, "%s/%s", n[1].leaf, n[2].leaf);
    const char *number = number_read(a, text, strlen(text));
    return number && strcmp(number, text) == 0;
}

/* Turns fractions back into numbers; they have three tokens either way. */
char *corpus_prefix(struct arena *a, const struct expr *x)
{
    const struct expr_node *nodes = x->nodes;
    struct buf out = {0};
    for (uint32_t i = 0; i < x->n; i++) {
        if (i)
            buf_putc(&out, ' ');
        if (is_fraction(a, nodes + i)) {
            buf_printf(&out, "%s/%s", nodes[i + 1].leaf, nodes[i + 2].leaf);
            i += 2;
        } else if (nodes[i].leaf)
            buf_puts(&out, nodes[i].leaf);
        else
            buf_puts(&out, lang_token(x->lang, nodes[i].op));
    }
    return buf_text(&out, a);
}

/* Returns OK if the error was recorded among the malformed lines. */
static enum err_code skip_malformed(struct corpus *c, enum err_code code, struct err *e)
{
    if (!code || !c->skip || code != ERR_INPUT)
        return code;
    if (c->n_malformed++ < LISTED_MAX)
        buf_printf(&c->malformed, "%s:%d:%d: %s\n", e->input_file, e->line, e->column, e->message);
    err_clear(e);
    return OK;
}

/* The expressions of one cluster. */
struct terms {
    struct expr *all;
    size_t n, cap;
};

static void add_term(struct terms *t, struct arena *a, const struct expr *x)
{
    t->all = arena_grow(a, t->all, t->n, &t->cap, sizeof *t->all);
    t->all[t->n++] = *x;
}

/* Adds a cluster whose seed is the first expression, without duplicates; nothing if n is 0. */
static void add_cluster(struct corpus *c, const struct expr *exprs, size_t n)
{
    if (!n)
        return;
    struct name_map seen = {0};
    Eqloom__Cluster *cluster = arena_new(c->a, Eqloom__Cluster);
    eqloom__cluster__init(cluster);
    cluster->members = arena_array(c->a, Eqloom__Member *, n);
    for (size_t i = 0; i < n; i++) {
        char *prefix = corpus_prefix(c->a, &exprs[i]);
        bool added;
        name_map_put(&seen, prefix, 0, &added);
        if (!added)
            continue;
        Eqloom__Member *m = cluster->members[cluster->n_members++] =
            arena_new(c->a, Eqloom__Member);
        eqloom__member__init(m);
        m->prefix = prefix;
        m->tokens = expr_tokens(&exprs[i]);
    }
    name_map_free(&seen);
    cluster->seed = arena_new(c->a, Eqloom__Expr);
    eqloom__expr__init(cluster->seed);
    cluster->seed->prefix = cluster->members[0]->prefix;
    cluster->seed->language = language_text_of(c->a, exprs, n);
    c->clusters = arena_grow(c->a, c->clusters, c->n, &c->cap, sizeof *c->clusters);
    c->clusters[c->n++] = cluster;
}

static const char *const notation_hint =
    "this can be read as infix: set the parameter 'notation: infix'";

/* Parses `len` bytes from `at` on: in the given notation or, by latex_is, LaTeX. */
static enum err_code parse_term(struct expr *out, struct corpus *c,
                                const struct source_text *source, size_t at, size_t len,
                                enum corpus_notation notation, struct err *e)
{
    static expr_parser *const parsers[] = {[CORPUS_PREFIX] = expr_parse_prefix,
                                           [CORPUS_WORDS] = expr_parse_words,
                                           [CORPUS_INFIX] = expr_parse_infix};
    if (notation == CORPUS_SYMPY && !c->latex)
        c->latex = latex_reader_sympy();
    if (notation >= CORPUS_LATEX || latex_is(source->text + at, len))
        return err_up(e,
                      latex_parse(out, &c->latex, c->a, c->lang, source, at, len, false, NULL, e));
    enum err_code code = parsers[notation](out, c->a, c->lang, source, at, len, false, e);
    struct expr x;
    if (code && notation == CORPUS_PREFIX && !c->skip && e && !*e->hint &&
        !expr_parse_infix(&x, c->a, c->lang, source, at, len, false, NULL))
        err_hint(e, "%s", notation_hint);
    return err_up(e, code);
}

/* ---- pairs ---- */

static uint32_t root_of(struct corpus_pairs *j, uint32_t i)
{
    while (j->all[i].parent != i)
        i = j->all[i].parent = j->all[j->all[i].parent].parent;
    return i;
}

static uint32_t join_add(struct corpus_pairs *j, struct arena *a, const struct expr *x)
{
    bool added;
    uint32_t i = (uint32_t)*name_map_put(&j->index, corpus_prefix(a, x), j->n, &added);
    if (added) {
        j->all = arena_grow(a, j->all, j->n, &j->cap, sizeof *j->all);
        j->all[j->n++] = (struct corpus_paired){*x, i};
    }
    return i;
}

/* Where the expression begins in a cell of Lample and Charton's, "12|sub Y' EXPRESSION". */
static size_t skip_label(const char *text, size_t len)
{
    static const char difference[] = "sub Y' ";
    size_t digits = 0, at = 0, n = sizeof difference - 1;
    while (digits < len && isdigit((unsigned char)text[digits]))
        digits++;
    if (digits && digits < len && text[digits] == '|')
        at = digits + 1;
    return len - at > n && !memcmp(text + at, difference, n) ? at + n : at;
}

/* Reads a row of expressions; the first two of pairs and triplets are equal. Adds all or none. */
static enum err_code read_row(struct corpus *c, enum corpus_format format, const struct columns *t,
                              const struct text_line *line, struct err *e)
{
    struct column_cell *cells;
    size_t n;
    enum err_code code = columns_row(&cells, &n, &c->line, t, line, e);
    if (code && !t->header)
        err_hint(e, "of a table with a header, name the columns: 'columns: [A, B]'");
    struct expr *terms = code ? NULL : arena_array(&c->line, struct expr, n + 1);
    for (size_t i = 0; !code && i < n; i++) {
        size_t at = cells[i].at, len = cells[i].len;
        size_t label =
            format == CORPUS_EXPRESSIONS && !i ? skip_label(line->text.text + at, len) : 0;
        code = parse_term(&terms[i], c, &line->text, at + label, len - label, c->notation, e);
    }
    if (code)
        return err_up(e, code);
    struct corpus_pairs *j = &c->pairs;
    uint32_t first = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = join_add(j, c->a, &terms[i]);
        if (i == 0)
            first = k;
        else if (i == 1 && format != CORPUS_EXPRESSIONS) {
            uint32_t p = root_of(j, first), q = root_of(j, k);
            j->all[p > q ? p : q].parent = p < q ? p : q;
        }
    }
    return OK;
}

/* Adds the joined pairs as clusters, in the order of their first expressions. */
static void add_joined(struct corpus *c, struct corpus_pairs *j)
{
    uint32_t *begin = arena_array(c->a, uint32_t, j->n + 2);
    struct expr *sorted = arena_array(c->a, struct expr, j->n + 1);
    for (uint32_t i = 0; i < j->n; i++)
        begin[root_of(j, i) + 2]++;
    for (uint32_t i = 0; i + 2 <= j->n; i++)
        begin[i + 2] += begin[i + 1];
    for (uint32_t i = 0; i < j->n; i++)
        sorted[begin[root_of(j, i) + 1]++] = j->all[i].x;
    for (uint32_t i = 0; i < j->n; i++)
        add_cluster(c, sorted + begin[i], begin[i + 1] - begin[i]);
}

void corpus_finish(struct corpus *c)
{
    latex_reader_free(c->latex);
    c->latex = NULL;
    arena_free(&c->line);
    add_joined(c, &c->pairs);
    name_map_free(&c->pairs.index);
    c->pairs = (struct corpus_pairs){0};
}

/* ---- JSON ---- */

static enum err_code malformed(const struct source_text *source, size_t at, struct err *e)
{
    return err_fail_at(e, source, at,
                       "expected an object such as {\"seed\": \"* 2 x\", \"members\": [\"+ x "
                       "x\"]}, the seed first");
}

/* Reads "+ x 1", or {"prefix": "+ x 1"} as `eqloom export` writes it. */
static const char *tokens_of(const json_t *value)
{
    return json_string_value(json_is_object(value) ? json_object_get(value, "prefix") : value);
}

/* Where a string first occurs from `at` on without escapes; `at` if it does not. */
static size_t place_of(const char *string, const struct source_text *source, size_t at)
{
    const char *text = source->text;
    size_t n = strlen(string), i = at;
    for (; i + n < source->len; i++) {
        const char *found = memmem(text + i, source->len - i, string, n);
        if (!found)
            break;
        i = (size_t)(found - text);
        if (i > at && i + n < source->len && text[i - 1] == '"' && text[i + n] == '"')
            return i;
    }
    return at;
}

static enum err_code read_term(struct terms *out, struct corpus *c, const char *text,
                               enum corpus_notation notation, const struct source_text *source,
                               size_t at, struct err *e)
{
    struct expr x;
    struct err why = {0};
    struct source_text inner = {source->name, text, strlen(text)};
    if (parse_term(&x, c, &inner, 0, inner.len, notation, &why)) {
        size_t place = place_of(text, source, at);
        if (place > at && why.line == 1 && why.column > 0)
            place += (size_t)why.column - 1;
        enum err_code code =
            err_fail_at(e, source, place, "'%.100s' is not an expression of the language %s: %s",
                        text, c->lang->name, why.message);
        err_hint(e, "%s", why.hint);
        return code;
    }
    add_term(out, c->a, &x);
    return OK;
}

static enum err_code read_cluster(struct corpus *c, const json_t *object,
                                  const struct source_text *source, size_t at, struct err *e)
{
    const char *seed = tokens_of(json_object_get(object, "seed"));
    const json_t *members = json_object_get(object, "members");
    struct terms terms = {0};
    if (!seed || !json_is_array(members))
        return malformed(source, at, e);
    enum err_code code = err_up(e, read_term(&terms, c, seed, c->notation, source, at, e));
    for (size_t i = 0; i < json_array_size(members) && !code; i++) {
        const char *text = tokens_of(json_array_get(members, i));
        code = text ? err_up(e, read_term(&terms, c, text, c->notation, source, at, e))
                    : malformed(source, at, e);
    }
    if (!code)
        add_cluster(c, terms.all, terms.n);
    return code;
}

static enum err_code parse_object(json_t **out, const struct source_text *source, size_t at,
                                  size_t len, struct err *e)
{
    json_error_t error;
    *out = json_loadb(source->text + at, len, JSON_REJECT_DUPLICATES, &error);
    if (!*out)
        return err_fail_at(e, source, at + (size_t)error.position, "this is not JSON: %s",
                           error.text);
    if (!json_is_object(*out)) {
        json_decref(*out);
        return err_fail_at(e, source, at, "expected a JSON object");
    }
    return OK;
}

static enum err_code read_object(struct corpus *c, const struct source_text *source, size_t at,
                                 size_t len, struct err *e)
{
    json_t *object;
    enum err_code code = err_up(e, parse_object(&object, source, at, len, e));
    if (code)
        return code;
    code = err_up(e, read_cluster(c, object, source, at, e));
    json_decref(object);
    return code;
}

/* {"Tokens": ["a", "&", "b"]} as infix text. */
static bool tokens_text(struct buf *out, const json_t *term)
{
    const json_t *tokens = json_object_get(term, "Tokens");
    buf_clear(out);
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        const char *token = json_string_value(json_array_get(tokens, i));
        if (!token)
            return false;
        if (i)
            buf_putc(out, ' ');
        buf_puts(out, token);
    }
    return out->len > 0;
}

/* *from: where the previous class begins; classes are in file order. */
static enum err_code read_class(struct corpus *c, const char *name, const json_t *class,
                                const struct source_text *source, size_t *from, struct err *e)
{
    const json_t *noise = json_object_get(class, "Noise");
    struct terms terms = {0};
    struct buf text = {0};
    size_t at = *from = place_of(name, source, *from);
    enum err_code code = OK;
    if (noise && !json_is_array(noise))
        return err_fail_at(e, source, at, "'%.100s': expected \"Noise\": [...]", name);
    for (size_t i = 0; i <= json_array_size(noise) && !code; i++) {
        const json_t *term = i ? json_array_get(noise, i - 1) : json_object_get(class, "Original");
        if (!tokens_text(&text, term))
            code =
                err_fail_at(e, source, at, "'%.100s': expected {\"Tokens\": [\"...\", ...]}", name);
        else
            code = err_up(e, read_term(&terms, c, text.data, CORPUS_INFIX, source, at, e));
    }
    if (!code)
        add_cluster(c, terms.all, terms.n);
    buf_free(&text);
    return code;
}

static enum err_code read_semvec(struct corpus *c, const struct source_text *source, struct err *e)
{
    json_t *root, *class;
    const char *name;
    size_t from = 0;
    enum err_code code = err_up(e, parse_object(&root, source, 0, source->len, e));
    if (code)
        return code;
    json_object_foreach(root, name, class)
    {
        if ((code = skip_malformed(c, err_up(e, read_class(c, name, class, source, &from, e)), e)))
            break;
    }
    json_decref(root);
    return code;
}

/* ---- lines ---- */

static enum err_code read_member(struct terms *cluster, struct corpus *c,
                                 const struct text_line *line, struct err *e)
{
    struct expr x;
    const char *tab = memchr(line->text.text, '\t', line->text.len);
    if (tab)
        return err_fail_at(e, &line->text, (size_t)(tab - line->text.text),
                           "a tab: a line is one expression");
    enum err_code code = parse_term(&x, c, &line->text, 0, line->text.len, c->notation, e);
    if (!code)
        add_term(cluster, c->a, &x);
    return err_up(e, code);
}

/* Reads a line that is not empty. */
static enum err_code read_line(struct corpus *c, enum corpus_format format, struct terms *cluster,
                               const struct columns *table, const struct text_line *line,
                               struct err *e)
{
    enum err_code code = utf8_check(&line->text, e);
    if (code)
        return err_up(e, code);
    switch (format) {
    case CORPUS_E_GEN: return err_up(e, read_member(cluster, c, line, e));
    case CORPUS_PAIRS:
    case CORPUS_TRIPLETS:
    case CORPUS_EXPRESSIONS: return err_up(e, read_row(c, format, table, line, e));
    case CORPUS_JSONL: return err_up(e, read_object(c, &line->text, 0, line->text.len, e));
    case CORPUS_SEMVEC:
    case CORPUS_FORMATS: break;
    }
    return err_fail(e, ERR_INPUT, "unknown format of a corpus");
}

/* Reads the header, the first line that is not empty. */
static enum err_code read_header(struct columns *out, struct corpus *c, struct text_lines *lines,
                                 struct err *e)
{
    struct text_line line = {0};
    enum err_code code = OK;
    while (!code && !line.text.len)
        code = text_lines_next(&line, lines, e);
    if (code)
        return code == ERR_NOTFOUND
                   ? err_fail(e, ERR_INPUT, "%s: there is no header", lines->name)
                   : err_up(e, code);
    code = utf8_check(&line.text, e);
    if (!code)
        code = columns_header(out, c->a, &line, c->columns, c->n_columns, e);
    lines->separator = out->separator;
    return err_up(e, text_line_up(code, &line, e));
}

enum err_code corpus_read(struct corpus *c, enum corpus_format format,
                          const struct source_text *source, struct err *e)
{
    if (format == CORPUS_SEMVEC) {
        enum err_code code = utf8_check(source, e);
        return err_up(e, code ? code : read_semvec(c, source, e));
    }
    struct terms cluster = {0};
    struct text_line line;
    struct text_lines lines = text_lines_of(source);
    struct columns table = columns_plain(c->a, corpus_columns(format));
    enum err_code code = c->n_columns ? read_header(&table, c, &lines, e) : OK;
    while (!code && !(code = text_lines_next(&line, &lines, e))) {
        if (line.text.len) {
            code = text_line_up(read_line(c, format, &cluster, &table, &line, e), &line, e);
            code = skip_malformed(c, code, e);
            arena_reset(&c->line);
        } else {
            add_cluster(c, cluster.all, cluster.n);
            cluster.n = 0;
        }
    }
    if (code == ERR_NOTFOUND) {
        add_cluster(c, cluster.all, cluster.n);
        code = OK;
    }
    return err_up(e, code);
}
