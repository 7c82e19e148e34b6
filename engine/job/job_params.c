/* Job parameters: --set, and ${name} within values.
 *
 * A value that consists of ${name} alone, quoted or not, becomes the parameter's value, which may
 * be a list. Within a longer text, ${name} becomes the parameter's text. $${ is an escaped ${.
 * Parameters may use each other. The total size of substituted values is limited, so that
 * exponential growth ends in an error. */
#include "engine/job/job_draft.h"

#include "base/buf.h"

#include <string.h>

/* ---- ${name} ---- */

static enum err_code resolve_param(const struct yaml_node **out, struct draft *d,
                                   struct draft_pair *p, struct err *e);

static struct draft_pair *find_pair(struct draft_pairs *in, const char *name)
{
    for (size_t i = 0; i < in->n; i++)
        if (!strcmp(in->items[i].key->text, name))
            return &in->items[i];
    return NULL;
}

static enum err_code count_expanded(struct draft *d, const struct yaml_node *at, size_t bytes,
                                    struct err *e)
{
    d->expanded += bytes;
    if (d->expanded <= JOB_MAX_EXPANDED)
        return OK;
    return yaml_fail(e, at, "values grow past %d bytes by substitution", JOB_MAX_EXPANDED);
}

/* Returns the position of the placeholder, which is exact if no escapes precede it in the value. */
static size_t placeholder_offset(const struct yaml_node *at, const char *placeholder, size_t len)
{
    const struct source_text *s = at->source;
    const char *p = memmem(s->text + at->offset, s->len - at->offset, placeholder, len);
    return p ? (size_t)(p - s->text) : at->offset;
}

static enum err_code find_param(struct draft_pair **out, struct draft *d,
                                const struct yaml_node *at, const char *placeholder, size_t len,
                                struct err *e)
{
    char *name = arena_strndup(d->arena, placeholder + 2, len - 3);
    struct draft_pairs *params = &d->sections[DRAFT_PARAMS];
    if ((*out = find_pair(params, name)))
        return OK;
    const char **names = arena_array(d->arena, const char *, params->n);
    for (size_t i = 0; i < params->n; i++)
        names[i] = params->items[i].key->text;
    enum err_code code = err_fail_at(e, at->source, placeholder_offset(at, placeholder, len),
                                     "there is no parameter '%.100s'", name);
    const char *near = err_nearest(name, names, params->n);
    if (near)
        err_hint(e, "did you mean '${%s}'?", near);
    else
        err_hint(e, "parameters are defined under 'params:'");
    return code;
}

/* Sets *len to the length of a placeholder at p, or 0. Fails with ERR_INPUT if the '}' is missing.
 */
static enum err_code scan_placeholder(size_t *len, const struct yaml_node *at, const char *p,
                                      struct err *e)
{
    *len = 0;
    if (p[0] != '$' || p[1] != '{')
        return OK;
    const char *end = strchr(p, '}');
    if (!end || end == p + 2)
        return err_fail_at(e, at->source, placeholder_offset(at, p, 2),
                           end ? "'${}' lacks a parameter name" : "'${' without '}'");
    *len = (size_t)(end - p) + 1;
    return OK;
}

static enum err_code add_param_text(struct buf *text, struct draft *d, const struct yaml_node *at,
                                    const char *placeholder, size_t len, struct err *e)
{
    enum err_code code;
    struct draft_pair *param;
    const struct yaml_node *value = NULL;
    if ((code = find_param(&param, d, at, placeholder, len, e)) ||
        (code = resolve_param(&value, d, param, e)))
        return err_up(e, code);
    if (value->type != YAML_SCALAR)
        return err_fail_at(e, at->source, placeholder_offset(at, placeholder, len),
                           "parameter '%s' is a list: it cannot be part of a text",
                           param->key->text);
    if ((code = count_expanded(d, at, value->len, e)))
        return err_up(e, code);
    buf_add(text, value->text, value->len);
    return OK;
}

static enum err_code substitute_text(const struct yaml_node **out, struct draft *d,
                                     const struct yaml_node *at, struct err *e)
{
    struct buf text = {0};
    enum err_code code = ERR_INPUT;
    for (const char *p = at->text; *p;) {
        size_t len;
        if (p[0] == '$' && p[1] == '$' && p[2] == '{') {
            buf_puts(&text, "${");
            p += 3;
            continue;
        }
        if (err_up(e, scan_placeholder(&len, at, p, e)))
            goto out;
        if (!len)
            buf_putc(&text, *p++);
        else if (err_up(e, add_param_text(&text, d, at, p, len, e)))
            goto out;
        p += len;
    }
    struct yaml_node *node = arena_memdup(d->arena, at, sizeof *at);
    node->text = arena_strndup(d->arena, text.data ? text.data : "", text.len);
    node->len = text.len;
    *out = node;
    code = OK;
out:
    buf_free(&text);
    return code;
}

static enum err_code substitute_scalar(const struct yaml_node **out, struct draft *d,
                                       const struct yaml_node *at, struct err *e)
{
    enum err_code code;
    size_t len;
    *out = at;
    if (!strstr(at->text, "${"))
        return OK;
    if ((code = scan_placeholder(&len, at, at->text, e)))
        return err_up(e, code);
    if (at->style == YAML_BLOCK || len != at->len)
        return err_up(e, substitute_text(out, d, at, e));
    struct draft_pair *param;
    const struct yaml_node *value = NULL;
    if ((code = find_param(&param, d, at, at->text, len, e)) ||
        (code = resolve_param(&value, d, param, e)) ||
        (code = count_expanded(d, at, sizeof *value + value->len + 8 * value->n, e)))
        return err_up(e, code);
    /* Errors in the value are reported where it is used. */
    struct yaml_node *node = arena_memdup(d->arena, value, sizeof *value);
    node->source = at->source;
    node->offset = at->offset;
    *out = node;
    return OK;
}

/* Recursion is bounded by YAML_MAX_DEPTH. */
static enum err_code substitute(const struct yaml_node **out, struct draft *d,
                                const struct yaml_node *node, struct err *e)
{
    enum err_code code;
    if (node->type == YAML_SCALAR)
        return err_up(e, substitute_scalar(out, d, node, e));
    if ((code = count_expanded(d, node, 16 * node->n, e)))
        return err_up(e, code);
    struct yaml_node *copy = arena_memdup(d->arena, node, sizeof *node);
    const struct yaml_node **items = arena_array(d->arena, const struct yaml_node *, node->n);
    struct yaml_pair *pairs = arena_array(d->arena, struct yaml_pair, node->n);
    for (size_t i = 0; i < node->n; i++) {
        bool is_list = node->type == YAML_SEQUENCE;
        const struct yaml_node *from = is_list ? node->items[i] : node->pairs[i].value;
        if ((code = substitute(&items[i], d, from, e)))
            return err_up(e, code);
        if (!is_list)
            pairs[i] = (struct yaml_pair){node->pairs[i].key, items[i]};
    }
    if (node->type == YAML_SEQUENCE)
        copy->items = items;
    else
        copy->pairs = pairs;
    *out = copy;
    return OK;
}

static enum err_code resolve_param(const struct yaml_node **out, struct draft *d,
                                   struct draft_pair *p, struct err *e)
{
    enum err_code code;
    if (p->state == PARAM_OPEN)
        return yaml_fail(e, p->value, "parameter '%s' is defined by itself", p->key->text);
    if (p->state == PARAM_RAW) {
        const struct yaml_node *raw = p->value;
        p->state = PARAM_OPEN;
        if ((code = substitute(&p->value, d, raw, e)))
            return err_up(e, code);
        p->state = PARAM_DONE;
    }
    *out = p->value;
    return OK;
}

/* ---- --set ---- */

/* Marks a value or a list and its items as given by the user. */
static const struct yaml_node *mark_by_user(struct draft *d, const struct yaml_node *node)
{
    struct yaml_node *mine = arena_memdup(d->arena, node, sizeof *node);
    const struct yaml_node **items = arena_array(d->arena, const struct yaml_node *, node->n + 1);
    mine->by_user = true;
    if (node->type != YAML_SEQUENCE)
        return mine;
    for (size_t i = 0; i < node->n; i++)
        items[i] = mark_by_user(d, node->items[i]);
    mine->items = items;
    return mine;
}

/* Text that is not a YAML value or list is taken literally. */
static const struct yaml_node *set_value(struct draft *d, const char *key, const char *text)
{
    struct source_text *source = arena_new(d->arena, struct source_text);
    *source = (struct source_text){arena_printf(d->arena, "--set %s", key), text, strlen(text)};
    const struct yaml_node *node;
    bool good = !yaml_parse(&node, d->arena, source, NULL) && node;
    if (good && node->type != YAML_MAPPING)
        return mark_by_user(d, node);
    struct yaml_node *plain = arena_new(d->arena, struct yaml_node);
    *plain = (struct yaml_node){.type = YAML_SCALAR,
                                .style = YAML_PLAIN,
                                .text = text,
                                .len = source->len,
                                .source = source,
                                .by_user = true};
    return plain;
}

static void set_in_body(struct draft *d, struct draft_pair *node, const char *set, const char *key,
                        const struct yaml_node *value)
{
    const struct yaml_node *old = node->value;
    struct yaml_node *body = arena_memdup(d->arena, old, sizeof *old);
    struct yaml_pair *pairs = arena_array(d->arena, struct yaml_pair, old->n + 1);
    size_t i = 0;
    for (size_t k = 0; k < old->n; k++) {
        pairs[k] = old->pairs[k];
        if (strcmp(old->pairs[i].key->text, key))
            i += i == k;
    }
    if (i == old->n) {
        /* Errors in the key are reported on the command line. */
        struct source_text *source = arena_new(d->arena, struct source_text);
        *source = (struct source_text){"--set", set, strlen(set)};
        struct yaml_node *name = arena_memdup(d->arena, value, sizeof *value);
        *name = (struct yaml_node){.type = YAML_SCALAR,
                                   .text = key,
                                   .len = strlen(key),
                                   .source = source,
                                   .offset = (size_t)(strchr(set, '.') + 1 - set)};
        pairs[i].key = name;
        body->n++;
    }
    pairs[i].value = value;
    body->pairs = pairs;
    node->value = body;
}

static enum err_code refuse_set(struct draft *d, const char *key, struct err *e)
{
    const struct draft_pairs *params = &d->sections[DRAFT_PARAMS],
                             *nodes = &d->sections[DRAFT_NODES];
    const char **names = arena_array(d->arena, const char *, params->n + nodes->n);
    size_t n = 0;
    for (size_t i = 0; i < params->n; i++)
        names[n++] = params->items[i].key->text;
    const char *dot = strchr(key, '.');
    for (size_t i = 0; dot && i < nodes->n; i++)
        names[n++] = arena_printf(d->arena, "%s%s", nodes->items[i].key->text, dot);
    return err_suggest(err_fail(e, ERR_INPUT,
                                "--set %.100s: the job has no parameter of this name%s", key,
                                dot ? ", and no such node" : ""),
                       key, names, n, e);
}

static enum err_code apply_set(struct draft *d, const char *set, struct err *e)
{
    const char *equals = strchr(set, '=');
    if (!equals || equals == set)
        return err_fail(e, ERR_INPUT, "--set takes KEY=VALUE, not '%.200s'", set);
    char *key = arena_strndup(d->arena, set, (size_t)(equals - set));
    const struct yaml_node *value = set_value(d, key, equals + 1);
    const char *dot = strchr(key, '.');
    struct draft_pair *param = find_pair(&d->sections[DRAFT_PARAMS], key), *node = NULL;
    if (param)
        param->value = value;
    else if (dot)
        node =
            find_pair(&d->sections[DRAFT_NODES], arena_strndup(d->arena, key, (size_t)(dot - key)));
    if (node && (!strcmp(dot + 1, "op") || !strcmp(dot + 1, "matrix")))
        return err_fail(e, ERR_INPUT, "--set cannot change '%s' of a node", dot + 1);
    if (node)
        set_in_body(d, node, set, dot + 1, value);
    if (param || node)
        return OK;
    return err_up(e, refuse_set(d, key, e));
}

enum err_code draft_substitute(struct draft *d, struct err *e)
{
    enum err_code code;
    for (size_t i = 0; i < d->options->n_sets; i++)
        if ((code = apply_set(d, d->options->sets[i], e)))
            return err_up(e, code);
    for (enum draft_section k = 0; k < DRAFT_SECTIONS; k++)
        for (size_t i = 0; i < d->sections[k].n; i++) {
            struct draft_pair *pair = &d->sections[k].items[i];
            const struct yaml_node *value;
            if (k == DRAFT_PARAMS)
                code = resolve_param(&value, d, pair, e);
            else
                code = substitute(&pair->value, d, pair->value, e);
            if (!code && k == DRAFT_EXPORTS)
                code = substitute(&pair->key, d, pair->key, e);
            if (code)
                return err_up(e, code);
        }
    if (d->remote_at && (code = substitute(&d->remote_at, d, d->remote_at, e)))
        return err_up(e, code);
    if (d->executor_at && (code = substitute(&d->executor_at, d, d->executor_at, e)))
        return err_up(e, code);
    return err_up(e, substitute(&d->name_at, d, d->name_at, e));
}
