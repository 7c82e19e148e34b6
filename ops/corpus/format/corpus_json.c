/* The JSON formats of corpora; see corpus_format.h. The only user of jansson here. */
#include "ops/corpus/format/corpus_format.h"
#include "ops/expr/own/own.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 64 << 20 };

static enum err_code malformed(const struct source_text *source, size_t at, struct err *e)
{
    return err_fail_at(e, source, at,
                       "expected an object such as {\"seed\": \"* 2 x\", \"members\": [\"+ x "
                       "x\"]}, the seed first");
}

/* "+ x 1", or {"prefix": "+ x 1"} as `eqloom export` writes it. */
static const char *tokens_of(const json_t *value)
{
    return json_string_value(json_is_object(value) ? json_object_get(value, "prefix") : value);
}

/* Where a string stands at or after `at`, if it is written there as it is read; else `at`. */
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

static enum err_code read_term(struct buf *out, struct corpus *c, const char *text, bool infix,
                               const struct source_text *source, size_t at, struct err *e)
{
    struct expr x;
    struct err why = {0};
    struct source_text inner = {source->name, text, strlen(text)};
    if (corpus_parse(&x, c, &inner, 0, inner.len, infix, &why)) {
        size_t place = place_of(text, source, at);
        if (place > at && why.line == 1 && why.column > 0)
            place += (size_t)why.column - 1;
        return err_fail_at(e, source, place, "'%.100s' is not an expression of the language %s: %s",
                           text, c->lang->name, why.message);
    }
    buf_add(out, &x, sizeof x);
    return OK;
}

static void add_terms(struct corpus *c, const struct buf *terms)
{
    if (terms->len)
        corpus_add(c, (const struct expr *)(const void *)terms->data,
                   terms->len / sizeof(struct expr));
}

static enum err_code read_line(struct corpus *c, const json_t *object,
                               const struct source_text *source, size_t at, struct err *e)
{
    const char *seed = tokens_of(json_object_get(object, "seed"));
    const json_t *members = json_object_get(object, "members");
    struct buf terms = {0};
    if (!seed || !json_is_array(members))
        return malformed(source, at, e);
    enum err_code code = err_up(e, read_term(&terms, c, seed, false, source, at, e));
    for (size_t i = 0; i < json_array_size(members) && !code; i++) {
        const char *text = tokens_of(json_array_get(members, i));
        code = text ? err_up(e, read_term(&terms, c, text, false, source, at, e))
                    : malformed(source, at, e);
    }
    if (!code)
        add_terms(c, &terms);
    buf_free(&terms);
    return code;
}

static enum err_code parse(json_t **out, const struct source_text *source, size_t at, size_t len,
                           struct err *e)
{
    json_error_t error;
    *out =
        len <= MAX_LINE ? json_loadb(source->text + at, len, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (!*out)
        return err_fail_at(e, source, at + (len <= MAX_LINE ? (size_t)error.position : 0),
                           "this is not JSON: %s", len <= MAX_LINE ? error.text : "too long");
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
    enum err_code code = err_up(e, parse(&object, source, at, len, e));
    if (code)
        return code;
    code = err_up(e, read_line(c, object, source, at, e));
    json_decref(object);
    return code;
}

static enum err_code read_jsonl(struct corpus *c, const struct source_text *source, struct err *e)
{
    for (size_t at = 0; at < source->len;) {
        const char *end = memchr(source->text + at, '\n', source->len - at);
        size_t len = end ? (size_t)(end - source->text) - at : source->len - at;
        enum err_code code = len ? corpus_skip(c, read_object(c, source, at, len, e), e) : OK;
        if (code)
            return err_up(e, code);
        at += len + 1;
    }
    return OK;
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

/* *from: where the class before begins; they stand in order. */
static enum err_code read_class(struct corpus *c, const char *name, const json_t *class,
                                const struct source_text *source, size_t *from, struct err *e)
{
    const json_t *noise = json_object_get(class, "Noise");
    struct buf terms = {0}, text = {0};
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
            code = err_up(e, read_term(&terms, c, text.data, true, source, at, e));
    }
    if (!code)
        add_terms(c, &terms);
    buf_free(&terms);
    buf_free(&text);
    return code;
}

enum err_code corpus_read_json(struct corpus *c, enum corpus_format format,
                               const struct source_text *source, struct err *e)
{
    json_t *root, *class;
    const char *name;
    size_t from = 0;
    if (format == CORPUS_JSONL)
        return err_up(e, read_jsonl(c, source, e));
    enum err_code code = err_up(e, parse(&root, source, 0, source->len, e));
    if (code)
        return code;
    json_object_foreach(root, name, class)
    {
        if ((code = corpus_skip(c, err_up(e, read_class(c, name, class, source, &from, e)), e)))
            break;
    }
    json_decref(root);
    return code;
}

/* The length of the token that infix text begins with; 0 at a blank. */
static size_t token_length(const char *at)
{
    size_t len = 0;
    while (isalnum((unsigned char)at[len]) || at[len] == '_')
        len++;
    return len ? len : *at == ' ' ? 0 : strncmp(at, "=>", 2) == 0 ? 2 : 1;
}

static json_t *tokens_json(struct arena *a, const char *prefix, const struct language *lang)
{
    json_t *term = json_object(), *tokens = json_array();
    struct expr x;
    const char *text = prefix;
    if (expr_from_prefix(&x, a, lang, prefix, NULL) == OK)
        text = expr_infix(a, &x);
    for (const char *at = text; *at;) {
        size_t len = token_length(at);
        if (len)
            json_array_append_new(tokens, json_stringn(at, len));
        at += len + (at[len] == ' ');
    }
    json_object_set_new(term, "Tokens", tokens);
    return term;
}

/* A class without its key; the first of its members is what the others are equal to. What a split
 * of members left has another seed, which is not among them. */
static json_t *class_json(const Eqloom__Cluster *c)
{
    const struct language *lang = &lang_calculus;
    struct arena a = {0};
    language_read(&lang, &a, c->seed->language, NULL);
    json_t *noise = json_array(), *first = tokens_json(&a, c->members[0]->prefix, lang);
    for (size_t k = 1; k < c->n_members; k++)
        json_array_append_new(noise, tokens_json(&a, c->members[k]->prefix, lang));
    arena_free(&a);
    return json_pack("{s:o, s:o}", "Original", first, "Noise", noise);
}

/* Classes that nobody has merged may begin with the same expression. */
static void add_class(json_t *all, const char *name, json_t *class)
{
    struct buf key = {0};
    buf_puts(&key, name);
    for (int n = 2; json_object_get(all, key.data); n++) {
        buf_clear(&key);
        buf_printf(&key, "%s (%d)", name, n);
    }
    json_object_set_new(all, key.data, class);
    buf_free(&key);
}

void corpus_write_semvec(struct buf *out, Eqloom__Cluster *const *clusters, size_t n)
{
    json_t *all = json_object();
    for (size_t i = 0; i < n; i++)
        if (clusters[i]->n_members)
            add_class(all, clusters[i]->members[0]->prefix, class_json(clusters[i]));
    char *text = json_dumps(all, JSON_COMPACT);
    buf_puts(out, text ? text : "");
    buf_putc(out, '\n');
    free(text);
    json_decref(all);
}
