/* YAML trees; see yaml.h. Built from libyaml's events rather than its documents, so that every
 * bound is checked before memory is allocated. */
#include "base/text/yaml.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A sequence or mapping under construction. */
struct frame {
    struct yaml_node *node;
    const struct yaml_node **items; /* for a mapping: keys and values alternate */
    size_t n, cap;
    struct name_map keys;
};

struct reader {
    struct arena *arena;
    const struct source_text *source;
    yaml_parser_t parser;
    size_t begin;     /* of what libyaml reads, after a byte order mark */
    size_t index, at; /* a mark that was converted: code points after `begin`, and its offset */
    struct frame stack[YAML_MAX_DEPTH];
    size_t depth;
    const struct yaml_node *root;
    size_t nodes;
};

/* ---- places ---- */

/* libyaml counts code points. Marks come nearly in order: their conversion costs one pass. */
static size_t mark_offset(struct reader *r, const yaml_mark_t *mark)
{
    const unsigned char *text = (const unsigned char *)r->source->text;
    for (; r->index > mark->index && r->at > r->begin; r->index--)
        do
            r->at--;
        while (r->at > r->begin && (text[r->at] & 0xc0) == 0x80);
    for (; r->index < mark->index && r->at < r->source->len; r->index++)
        do
            r->at++;
        while (r->at < r->source->len && (text[r->at] & 0xc0) == 0x80);
    return r->at;
}

/* What libyaml says, at the place where it noticed; at the end of the text, where that began which
 * is not closed. */
static enum err_code fail_parse(struct reader *r, struct err *e)
{
    const yaml_parser_t *p = &r->parser;
    const struct source_text *source = r->source;
    if (p->error == YAML_MEMORY_ERROR)
        return err_fail(e, ERR_NOMEM, "no memory to parse %s", source->name);
    if (p->error == YAML_READER_ERROR)
        return err_fail_at(e, source, r->begin + p->problem_offset, "YAML: %s", p->problem);
    size_t at = mark_offset(r, &p->problem_mark);
    if (at < source->len && source->text[at] == '\t')
        return err_fail_at(e, source, at, "YAML: a tab cannot stand here: indent by spaces");
    if (at == source->len && p->context)
        at = mark_offset(r, &p->context_mark);
    const yaml_mark_t *begin = &p->context_mark;
    char where[64] = "";
    if (p->context && strstr(p->context, "flow") && begin->line != p->problem_mark.line)
        snprintf(where, sizeof where, " that begins in line %zu", begin->line + 1);
    enum err_code code = err_fail_at(e, source, at, "YAML: %s%s%s%s", p->problem,
                                     p->context ? " " : "", p->context ? p->context : "", where);
    if (at && source->text[at - 1] == '$')
        err_hint(e, "within {} and [] a parameter is written in quotes: \"${name}\"");
    return code;
}

/* ---- the tree ---- */

static enum err_code count_node(struct reader *r, size_t offset, struct err *e)
{
    if (++r->nodes <= YAML_MAX_NODES)
        return OK;
    return err_fail_at(e, r->source, offset, "more than %d values in one file", YAML_MAX_NODES);
}

/* Adds a finished node to its parent. */
static enum err_code attach(struct reader *r, const struct yaml_node *node, struct err *e)
{
    if (!r->depth) {
        r->root = node;
        return OK;
    }
    struct frame *f = &r->stack[r->depth - 1];
    bool is_key = f->node->type == YAML_MAPPING && f->n % 2 == 0;
    if (is_key) {
        if (node->type != YAML_SCALAR)
            return yaml_fail(e, node, "a key must be a plain name, not %s",
                             yaml_type_name(node->type));
        if (!strcmp(node->text, "<<") && node->style == YAML_PLAIN)
            return yaml_fail(e, node, "merge keys ('<<') are not supported");
        bool added;
        name_map_put(&f->keys, node->text, 0, &added);
        if (!added)
            return yaml_fail(e, node, "key '%.100s' occurs twice", node->text);
    }
    f->items = vec_grow(f->items, &f->cap, f->n + 1, sizeof *f->items);
    f->items[f->n++] = node;
    return OK;
}

static struct yaml_node *new_node(struct reader *r, enum yaml_type type, size_t offset)
{
    struct yaml_node *node = arena_new(r->arena, struct yaml_node);
    node->type = type;
    node->source = r->source;
    node->offset = offset;
    return node;
}

static enum yaml_style scalar_style(const yaml_event_t *event)
{
    switch (event->data.scalar.style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE: return YAML_QUOTED;
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE: return YAML_BLOCK;
    case YAML_ANY_SCALAR_STYLE:
    case YAML_PLAIN_SCALAR_STYLE: break;
    }
    return YAML_PLAIN;
}

static enum err_code read_scalar(struct reader *r, const yaml_event_t *event, size_t at,
                                 struct err *e)
{
    const char *text = (const char *)event->data.scalar.value;
    const struct frame *f = r->depth ? &r->stack[r->depth - 1] : NULL;
    bool is_value = f && f->node->type == YAML_MAPPING && f->n % 2;
    /* An omitted value takes the place of its key. */
    if (is_value && event->start_mark.index == event->end_mark.index)
        at = f->items[f->n - 1]->offset;
    struct yaml_node *node = new_node(r, YAML_SCALAR, at);
    node->len = event->data.scalar.length;
    node->style = scalar_style(event);
    if (memchr(text, 0, node->len))
        return yaml_fail(e, node, "a NUL character within a value");
    node->text = arena_strndup(r->arena, text, node->len);
    enum err_code code = count_node(r, at, e);
    return err_up(e, code ? code : attach(r, node, e));
}

static enum err_code begin(struct reader *r, enum yaml_type type, size_t at, struct err *e)
{
    if (r->depth == YAML_MAX_DEPTH)
        return err_fail_at(e, r->source, at, "nested deeper than %d", YAML_MAX_DEPTH);
    r->stack[r->depth++] = (struct frame){.node = new_node(r, type, at)};
    return err_up(e, count_node(r, at, e));
}

static enum err_code end(struct reader *r, struct err *e)
{
    struct frame *f = &r->stack[--r->depth];
    struct yaml_node *node = f->node;
    if (node->type == YAML_MAPPING) {
        struct yaml_pair *pairs = arena_array(r->arena, struct yaml_pair, f->n / 2);
        for (size_t i = 0; i < f->n / 2; i++)
            pairs[i] = (struct yaml_pair){f->items[2 * i], f->items[2 * i + 1]};
        node->pairs = pairs;
        node->n = f->n / 2;
    } else {
        node->items =
            arena_memdup(r->arena, f->items ? (const void *)f->items : "", f->n * sizeof *f->items);
        node->n = f->n;
    }
    free(f->items);
    f->items = NULL;
    name_map_free(&f->keys);
    return err_up(e, attach(r, node, e));
}

static enum err_code refuse_properties(struct reader *r, const yaml_char_t *anchor,
                                       const yaml_char_t *tag, size_t at, struct err *e)
{
    if (anchor)
        return err_fail_at(e, r->source, at, "YAML anchors ('&...') are not supported");
    if (tag)
        return err_fail_at(e, r->source, at, "YAML tags ('!...') are not supported");
    return OK;
}

/* libyaml reads "'a'#b" as a value with a comment. */
static enum err_code refuse_close_comment(struct reader *r, const yaml_event_t *event,
                                          struct err *e)
{
    size_t after = mark_offset(r, &event->end_mark);
    if (!after || after == r->source->len || r->source->text[after] != '#' ||
        !strchr("'\"]}", r->source->text[after - 1]))
        return OK;
    return err_fail_at(e, r->source, after, "YAML: a comment begins after a space");
}

static enum err_code read_event(struct reader *r, const yaml_event_t *event, struct err *e)
{
    size_t at = mark_offset(r, &event->start_mark);
    enum err_code code = refuse_close_comment(r, event, e);
    if (code)
        return err_up(e, code);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->root)
            return err_fail_at(e, r->source, at, "a second document in one file");
        return OK;
    case YAML_SCALAR_EVENT:
        code = refuse_properties(r, event->data.scalar.anchor, event->data.scalar.tag, at, e);
        return err_up(e, code ? code : read_scalar(r, event, at, e));
    case YAML_ALIAS_EVENT:
        return err_fail_at(e, r->source, at, "YAML aliases ('*...') are not supported");
    case YAML_SEQUENCE_START_EVENT:
        code = refuse_properties(r, event->data.sequence_start.anchor,
                                 event->data.sequence_start.tag, at, e);
        return err_up(e, code ? code : begin(r, YAML_SEQUENCE, at, e));
    case YAML_MAPPING_START_EVENT:
        code = refuse_properties(r, event->data.mapping_start.anchor, event->data.mapping_start.tag,
                                 at, e);
        return err_up(e, code ? code : begin(r, YAML_MAPPING, at, e));
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return err_up(e, end(r, e));
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: break;
    }
    return OK;
}

static enum err_code read_events(struct reader *r, struct err *e)
{
    yaml_event_t event;
    bool ended = false;
    while (!ended) {
        if (!yaml_parser_parse(&r->parser, &event))
            return fail_parse(r, e);
        ended = event.type == YAML_STREAM_END_EVENT;
        enum err_code code = err_up(e, read_event(r, &event, e));
        yaml_event_delete(&event);
        if (code)
            return code;
    }
    return OK;
}

/* U+0085, U+2028 and U+2029 end a line in YAML 1.1 and are letters in YAML 1.2. */
static const char *find_odd_break(const struct source_text *source)
{
    static const char *const breaks[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    const char *first = NULL;
    for (size_t i = 0; i < 3; i++) {
        const char *found = memmem(source->text, source->len, breaks[i], strlen(breaks[i]));
        if (found && (!first || found < first))
            first = found;
    }
    return first;
}

static enum err_code check_text(const struct source_text *source, struct err *e)
{
    if (source->len > YAML_MAX_BYTES)
        return err_fail(e, ERR_INPUT, "%s: more than %d bytes", source->name, YAML_MAX_BYTES);
    const char *nul = memchr(source->text, 0, source->len);
    if (nul)
        return err_fail_at(e, source, (size_t)(nul - source->text), "a NUL character");
    enum err_code code = utf8_check(source, e);
    const char *odd = code ? NULL : find_odd_break(source);
    if (odd)
        return err_fail_at(e, source, (size_t)(odd - source->text),
                           "a line separator of Unicode: end lines by a line feed, and write it in "
                           "a value as \"\\N\", \"\\L\" or \"\\P\"");
    return err_up(e, code);
}

enum err_code yaml_parse(const struct yaml_node **out, struct arena *a,
                         const struct source_text *source, struct err *e)
{
    *out = NULL;
    enum err_code code = err_up(e, check_text(source, e));
    if (code)
        return code;
    struct reader *r = arena_new(a, struct reader);
    r->arena = a;
    r->source = source;
    if (source->len >= 3 && !memcmp(source->text, "\xef\xbb\xbf", 3))
        r->begin = r->at = 3;
    if (!yaml_parser_initialize(&r->parser))
        return err_fail(e, ERR_NOMEM, "no memory to parse %s", source->name);
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)source->text + r->begin,
                                 source->len - r->begin);
    code = err_up(e, read_events(r, e));
    if (!code)
        *out = r->root;
    while (r->depth) {
        struct frame *f = &r->stack[--r->depth];
        free(f->items);
        name_map_free(&f->keys);
    }
    yaml_parser_delete(&r->parser);
    return code;
}

const struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key)
{
    for (size_t i = 0; mapping->type == YAML_MAPPING && i < mapping->n; i++)
        if (!strcmp(mapping->pairs[i].key->text, key))
            return mapping->pairs[i].value;
    return NULL;
}

const char *yaml_type_name(enum yaml_type type)
{
    switch (type) {
    case YAML_SCALAR: return "a value";
    case YAML_SEQUENCE: return "a list";
    case YAML_MAPPING: return "a mapping";
    }
    return "?";
}

enum err_code yaml_expect(const struct yaml_node *node, enum yaml_type type, const char *what,
                          struct err *e)
{
    if (node->type == type)
        return OK;
    return yaml_fail(e, node, "%s must be %s, not %s", what, yaml_type_name(type),
                     yaml_is_null(node) ? "empty" : yaml_type_name(node->type));
}

enum err_code yaml_only_keys(const struct yaml_node *mapping, const char *const *names, size_t n,
                             const char *what, struct err *e)
{
    for (size_t i = 0; i < mapping->n; i++) {
        const struct yaml_node *key = mapping->pairs[i].key;
        size_t k = 0;
        while (k < n && strcmp(names[k], key->text))
            k++;
        if (k < n)
            continue;
        enum err_code code = yaml_fail(e, key, "unknown key '%.100s' in %s", key->text, what);
        return err_suggest(code, key->text, names, n, e);
    }
    return OK;
}

bool yaml_is_null(const struct yaml_node *node)
{
    return node->type == YAML_SCALAR && node->style == YAML_PLAIN &&
           (!node->len || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}
