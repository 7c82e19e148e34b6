/* YAML trees; see yaml.h. Built from libfyaml's events rather than its documents: events carry byte
 * positions, and every bound is checked before memory is allocated. */
#include "base/text/yaml.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/text/utf8.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

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
    struct fy_parser *parser;
    struct frame stack[YAML_MAX_DEPTH];
    size_t depth;
    const struct yaml_node *root;
    size_t nodes;
};

static enum err_code fail_parse(struct reader *r, struct fy_diag *diag, struct err *e)
{
    void *iterator = NULL;
    struct fy_diag_error *d = fy_diag_errors_iterate(diag, &iterator);
    if (!d || !d->msg)
        return err_fail_at(e, r->source, 0, "this is not YAML");
    /* libfyaml counts lines from 1 and columns, in code points, from 1. */
    size_t at = 0;
    for (int line = 1; line < d->line && at < r->source->len; at++)
        line += r->source->text[at] == '\n';
    for (int column = 1; column < d->column && at < r->source->len; column++) {
        if (r->source->text[at] == '\n')
            break;
        do
            at++;
        while (at < r->source->len && ((unsigned char)r->source->text[at] & 0xc0) == 0x80);
    }
    enum err_code code = err_fail_at(e, r->source, at, "YAML: %s", d->msg);
    if (at && r->source->text[at - 1] == '$')
        err_hint(e, "within {} and [] a parameter is written in quotes: \"${name}\"");
    return code;
}

static enum err_code count_node(struct reader *r, size_t offset, struct err *e)
{
    if (++r->nodes <= YAML_MAX_NODES)
        return OK;
    return err_fail_at(e, r->source, offset, "more than %d values in one file", YAML_MAX_NODES);
}

/* An omitted value has no mark: it takes the position of its key. */
static size_t event_offset(const struct reader *r, struct fy_event *event)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    const struct frame *f = r->depth ? &r->stack[r->depth - 1] : NULL;
    if (!mark)
        return f && f->n ? f->items[f->n - 1]->offset : 0;
    return mark->input_pos < r->source->len ? mark->input_pos : r->source->len;
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

static enum yaml_style scalar_style(struct fy_token *token)
{
    switch (fy_token_scalar_style(token)) {
    case FYSS_SINGLE_QUOTED:
    case FYSS_DOUBLE_QUOTED: return YAML_QUOTED;
    case FYSS_LITERAL:
    case FYSS_FOLDED: return YAML_BLOCK;
    case FYSS_ANY:
    case FYSS_PLAIN:
    case FYSS_MAX: break;
    }
    return YAML_PLAIN;
}

static enum err_code read_scalar(struct reader *r, struct fy_event *event, size_t at, struct err *e)
{
    enum yaml_style style = scalar_style(event->scalar.value);
    /* Marks of quoted scalars point after the opening quote. */
    if (style == YAML_QUOTED && at && strchr("'\"", r->source->text[at - 1]))
        at--;
    struct yaml_node *node = new_node(r, YAML_SCALAR, at);
    size_t len = 0;
    const char *text = event->scalar.value ? fy_token_get_text(event->scalar.value, &len) : "";
    char *copy = arena_strndup(r->arena, text ? text : "", text ? len : 0);
    if (memchr(copy, 0, len))
        return yaml_fail(e, node, "a NUL character within a value");
    node->text = copy;
    node->len = len;
    node->style = style;
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

static enum err_code read_event(struct reader *r, struct fy_event *event, struct err *e)
{
    size_t at = event_offset(r, event);
    struct fy_token *tag = fy_event_get_tag_token(event);
    if (tag)
        return err_fail_at(e, r->source, at, "YAML tags ('!...') are not supported");
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (r->root)
            return err_fail_at(e, r->source, at, "a second document in one file");
        return OK;
    case FYET_SCALAR: return err_up(e, read_scalar(r, event, at, e));
    case FYET_ALIAS:
        return err_fail_at(e, r->source, at, "YAML aliases ('*...') are not supported");
    case FYET_SEQUENCE_START: return err_up(e, begin(r, YAML_SEQUENCE, at, e));
    case FYET_MAPPING_START: return err_up(e, begin(r, YAML_MAPPING, at, e));
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END: return err_up(e, end(r, e));
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_STREAM_END:
    case FYET_DOCUMENT_END: break;
    }
    return OK;
}

static enum err_code read_events(struct reader *r, struct fy_diag *diag, struct err *e)
{
    for (;;) {
        struct fy_event *event = fy_parser_parse(r->parser);
        if (!event)
            break;
        enum err_code code = err_up(e, read_event(r, event, e));
        fy_parser_event_free(r->parser, event);
        if (code)
            return code;
    }
    if (fy_parser_get_stream_error(r->parser) || fy_diag_got_error(diag))
        return fail_parse(r, diag, e);
    return OK;
}

static enum err_code check_text(const struct source_text *source, struct err *e)
{
    if (source->len > YAML_MAX_BYTES)
        return err_fail(e, ERR_INPUT, "%s: more than %d bytes", source->name, YAML_MAX_BYTES);
    const char *nul = memchr(source->text, 0, source->len);
    if (nul)
        return err_fail_at(e, source, (size_t)(nul - source->text), "a NUL character");
    return err_up(e, utf8_check(source, e));
}

static void discard(struct fy_diag *diag, void *user, const char *text, size_t len)
{
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
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.output_fn = discard;
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    struct fy_parse_cfg cfg = {.search_path = "",
                               .flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
                               .diag = diag};
    if (!diag) {
        code = err_fail(e, ERR_NOMEM, "no memory to parse %s", source->name);
        goto out;
    }
    fy_diag_set_collect_errors(diag, true);
    r->parser = fy_parser_create(&cfg);
    if (!r->parser || fy_parser_set_string(r->parser, source->text, source->len)) {
        code = err_fail(e, ERR_NOMEM, "no memory to parse %s", source->name);
        goto out;
    }
    code = err_up(e, read_events(r, diag, e));
    if (!code)
        *out = r->root;
out:
    while (r->depth) {
        struct frame *f = &r->stack[--r->depth];
        free(f->items);
        name_map_free(&f->keys);
    }
    if (r->parser)
        fy_parser_destroy(r->parser);
    if (diag)
        fy_diag_destroy(diag);
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
