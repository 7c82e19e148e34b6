/* Reads template files: converts YAML to sets and groups and resolves names; errors have
 * positions. */
#include "ops/corpus/template/templates_file.h"

#include "ops/expr/syntax/variable_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum err_code read_uint(uint64_t *out, const struct yaml_node *node, const char *what,
                               uint64_t min, uint64_t max, struct err *e)
{
    enum err_code code;
    char *end;
    if ((code = yaml_expect(node, YAML_SCALAR, what, e)))
        return err_up(e, code);
    unsigned long long value = strtoull(node->text, &end, 10);
    if (node->len == 0 || node->len > 18 || strspn(node->text, "0123456789") != node->len ||
        value < min || value > max)
        return yaml_fail(e, node, "%s must be a whole number from %llu to %llu", what,
                         (unsigned long long)min, (unsigned long long)max);
    *out = value;
    return OK;
}

/* Looks up the value of a key, NULL if absent; fails if it has another type. */
static enum err_code get(const struct yaml_node **out, const struct yaml_node *mapping,
                         const char *key, enum yaml_type type, struct err *e)
{
    char what[40];
    snprintf(what, sizeof what, "'%s'", key);
    *out = yaml_get(mapping, key);
    return *out ? err_up(e, yaml_expect(*out, type, what, e)) : OK;
}

static bool is_name(const char *s)
{
    if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')))
        return false;
    return s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == 0;
}

/* "-9..-2" */
static bool read_range(long *low, long *high, const char *text)
{
    char *end;
    *low = strtol(text, &end, 10);
    if (end == text || strncmp(end, "..", 2) != 0)
        return false;
    const char *second = end + 2;
    *high = strtol(second, &end, 10);
    return end != second && *end == 0 && labs(*low) < 1000000000 && labs(*high) < 1000000000;
}

static enum err_code read_set(struct template_set *set, struct arena *a,
                              const struct yaml_pair *pair, struct err *e)
{
    enum err_code code;
    set->name = pair->key->text;
    if (!is_name(set->name) || strcmp(set->name, "it") == 0)
        return yaml_fail(e, pair->key, "'%.60s' cannot name a set", set->name);
    if ((code = yaml_expect(pair->value, YAML_SEQUENCE, "a set", e)))
        return err_up(e, code);
    size_t cap = 0;
    for (size_t i = 0; i < pair->value->n; i++) {
        const struct yaml_node *item = pair->value->items[i];
        long low, high;
        if ((code = yaml_expect(item, YAML_SCALAR, "a value of a set", e)))
            return err_up(e, code);
        if (item->len == 0)
            return yaml_fail(e, item, "a value of a set is empty");
        bool range = read_range(&low, &high, item->text);
        if (range && low > high)
            return yaml_fail(e, item, "the range %s is empty", item->text);
        size_t n = range ? (size_t)(high - low) + 1 : 1;
        if (set->n + n > TEMPLATES_MAX_VALUES)
            return yaml_fail(e, item, "set '%s' has more than %d values", set->name,
                             TEMPLATES_MAX_VALUES);
        for (size_t k = 0; k < n; k++) {
            set->values = arena_grow(a, set->values, set->n, &cap, sizeof *set->values);
            set->values[set->n++] = range ? arena_printf(a, "%ld", low + (long)k) : item->text;
        }
    }
    return set->n ? OK : yaml_fail(e, pair->value, "set '%s' is empty", set->name);
}

static enum err_code find_set(int *out, const struct template_file *f, struct arena *a,
                              const char *name, size_t n, const struct source_text *source,
                              size_t offset, struct err *e)
{
    const char **names = arena_alloc(a, (f->n_sets + 1) * sizeof *names);
    for (size_t i = 0; i < f->n_sets; i++) {
        names[i] = f->sets[i].name;
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0) {
            *out = (int)i;
            return OK;
        }
    }
    const char *word = arena_strndup(a, name, n);
    enum err_code code = err_fail_at(e, source, offset, "unknown set '%.60s'", word);
    return err_suggest(code, word, names, f->n_sets, e);
}

/* Finds the slot of "{name}", adding it if it is new. */
static enum err_code find_slot(int *out, struct template *t, const struct template_group *group,
                               const struct template_file *f, struct arena *a, const char *name,
                               size_t n, size_t offset, struct err *e)
{
    enum err_code code;
    const struct source_text *source = t->node->source;
    for (size_t i = 0; i < t->n_slots; i++)
        if (strlen(t->slots[i].name) == n && memcmp(t->slots[i].name, name, n) == 0) {
            *out = (int)i;
            return OK;
        }
    if (t->n_slots == TEMPLATES_MAX_SLOTS)
        return err_fail_at(e, source, offset, "more than %d placeholders", TEMPLATES_MAX_SLOTS);
    struct template_slot *slot = &t->slots[t->n_slots];
    slot->name = arena_strndup(a, name, n);
    if (strcmp(slot->name, "it") == 0) {
        if (group->n_of == 0)
            return err_fail_at(
                e, source, offset,
                "{it} stands for the expressions of other groups; name them in 'of'");
        slot->set = TEMPLATES_IT;
    } else {
        const char *dot = memchr(name, '.', n);
        if ((code = find_set(&slot->set, f, a, name, dot ? (size_t)(dot - name) : n, source, offset,
                             e)))
            return err_up(e, code);
    }
    *out = (int)t->n_slots++;
    return OK;
}

static enum err_code read_template(struct template *t, const struct yaml_node *node,
                                   const struct template_group *group,
                                   const struct template_file *f, struct arena *a, struct err *e)
{
    enum err_code code;
    *t = (struct template){.node = node};
    if ((code = yaml_expect(node, YAML_SCALAR, "a template", e)))
        return err_up(e, code);
    /* Errors stand at the character where the file has the text as it is, without escapes and
     * line breaks; else where it begins. */
    const struct source_text *source = node->source;
    size_t begin = node->offset + (node->style == YAML_QUOTED);
    bool verbatim =
        begin + node->len <= source->len && !memcmp(source->text + begin, node->text, node->len);
    t->pieces = arena_alloc(a, (2 * node->len + 1) * sizeof *t->pieces);
    for (const char *s = node->text; *s;) {
        size_t offset = verbatim ? begin + (size_t)(s - node->text) : node->offset;
        if (*s == '{') {
            const char *end = strchr(s, '}');
            if (!end)
                return err_fail_at(e, source, offset, "this '{' is never closed");
            int slot = 0;
            if ((code = find_slot(&slot, t, group, f, a, s + 1, (size_t)(end - s) - 1, offset, e)))
                return err_up(e, code);
            t->pieces[t->n_pieces++] = (struct template_piece){NULL, slot};
            s = end + 1;
        } else {
            size_t n = strcspn(s, "{");
            t->pieces[t->n_pieces++] = (struct template_piece){arena_strndup(a, s, n), -1};
            s += n;
        }
    }
    return OK;
}

static enum err_code read_per(struct template_group *group, const struct yaml_node *node,
                              const struct template_file *f, struct arena *a, struct err *e)
{
    if (group->take == 0)
        return yaml_fail(e, node, "'per' needs 'take'");
    if (strcmp(node->text, "template") == 0) {
        group->per = PER_TEMPLATE;
        return OK;
    }
    group->per = PER_SET;
    return err_up(
        e, find_set(&group->per_set, f, a, node->text, node->len, node->source, node->offset, e));
}

static enum err_code read_of(struct template_group *group, const struct yaml_node *node,
                             const struct template_file *f, struct arena *a, struct err *e)
{
    enum err_code code;
    group->of = arena_alloc(a, (node->n + 1) * sizeof *group->of);
    for (size_t i = 0; i < node->n; i++) {
        const struct yaml_node *item = node->items[i];
        if ((code = yaml_expect(item, YAML_SCALAR, "a group's name", e)))
            return err_up(e, code);
        size_t g = 0;
        while (g < f->n_groups && strcmp(f->groups[g].name, item->text) != 0)
            g++;
        if (g == f->n_groups)
            return yaml_fail(e, item, "there is no group '%.60s' before this one", item->text);
        group->of[group->n_of++] = g;
    }
    return OK;
}

static enum err_code read_group(struct template_file *f, struct arena *a,
                                const struct yaml_pair *pair, struct err *e)
{
    enum err_code code;
    static const char *const keys[] = {"templates", "take", "per", "max_tokens", "of"};
    struct template_group *group = &f->groups[f->n_groups];
    const struct yaml_node *node = pair->value, *value;
    *group = (struct template_group){.name = pair->key->text};
    if (!is_name(group->name))
        return yaml_fail(e, pair->key, "'%.60s' cannot name a group", group->name);
    if ((code = yaml_expect(node, YAML_MAPPING, "a group", e)) ||
        (code = yaml_only_keys(node, keys, sizeof keys / sizeof *keys, "a group", e)))
        return err_up(e, code);
    if ((value = yaml_get(node, "take")) &&
        (code = read_uint(&group->take, value, "'take'", 1, 1000000, e)))
        return err_up(e, code);
    if ((code = get(&value, node, "per", YAML_SCALAR, e)) ||
        (value && (code = read_per(group, value, f, a, e))))
        return err_up(e, code);
    if ((value = yaml_get(node, "max_tokens"))) {
        uint64_t n;
        if ((code = read_uint(&n, value, "'max_tokens'", 1, EXPR_MAX_NODES, e)))
            return err_up(e, code);
        group->max_tokens = (uint32_t)n;
    }
    if ((code = get(&value, node, "of", YAML_SEQUENCE, e)) ||
        (value && (code = read_of(group, value, f, a, e))) ||
        (code = get(&value, node, "templates", YAML_SEQUENCE, e)))
        return err_up(e, code);
    if (!value)
        return yaml_fail(e, pair->key, "group '%s' has no 'templates'", group->name);
    group->templates = arena_alloc(a, (value->n + 1) * sizeof *group->templates);
    for (size_t i = 0; i < value->n; i++)
        if ((code = read_template(&group->templates[group->n++], value->items[i], group, f, a, e)))
            return err_up(e, code);
    f->n_groups++;
    return OK;
}

static enum err_code read_domain(struct templates_domain *out, struct arena *a,
                                 const struct language *lang, const struct yaml_pair *pair,
                                 struct err *e)
{
    enum err_code code;
    static const char *const known[] = {"positive", "nonnegative", "real",   "nonzero",
                                        "complex",  "integer",     "boolean"};
    const size_t n = sizeof known / sizeof *known;
    if ((code = yaml_expect(pair->value, YAML_SCALAR, "a variable's domain", e)))
        return err_up(e, code);
    const char *name = pair->key->text;
    *out = (struct templates_domain){variable_leaf(a, lang, name, strlen(name)), pair->value->text};
    for (size_t i = 0; i < n; i++)
        if (strcmp(out->domain, known[i]) == 0)
            return OK;
    const char *near = err_nearest(out->domain, known, n);
    code = yaml_fail(e, pair->value, "unknown domain '%.60s'", out->domain);
    err_hint(e, near ? "did you mean '%s'?" : "for example '%s'", near ? near : known[1]);
    return code;
}

enum err_code template_file_read(struct template_file *out, struct arena *a,
                                 const struct source_text *source, struct err *e)
{
    enum err_code code;
    static const char *const keys[] = {"templates", "language", "variables", "sets", "groups"};
    const struct yaml_node *root, *node;
    *out = (struct template_file){0};
    if ((code = yaml_parse(&root, a, source, e)))
        return err_up(e, code);
    if (!root)
        return err_fail_at(e, source, 0, "the template file is empty");
    if ((code = yaml_expect(root, YAML_MAPPING, "a template file", e)) ||
        (code = yaml_only_keys(root, keys, sizeof keys / sizeof *keys, "a template file", e)))
        return err_up(e, code);
    node = yaml_get(root, "templates");
    if (!node || node->type != YAML_SCALAR || strcmp(node->text, "1") != 0)
        return yaml_fail(e, node ? node : root, "a template file begins with 'templates: 1'");

    out->lang = &lang_calculus;
    if ((code = get(&node, root, "language", YAML_SCALAR, e)))
        return err_up(e, code);
    if (node && (code = lang_named(&out->lang, node->text, e))) {
        err_locate(e, node->source, node->offset);
        return err_up(e, code);
    }
    if ((code = get(&node, root, "variables", YAML_MAPPING, e)))
        return err_up(e, code);
    out->domains = arena_array(a, struct templates_domain, node ? node->n : 0);
    for (size_t i = 0; node && i < node->n; i++)
        if ((code = read_domain(&out->domains[out->n_domains++], a, out->lang, &node->pairs[i], e)))
            return err_up(e, code);
    if ((code = get(&node, root, "sets", YAML_MAPPING, e)))
        return err_up(e, code);
    out->sets = arena_array(a, struct template_set, node ? node->n : 0);
    for (size_t i = 0; node && i < node->n; i++)
        if ((code = read_set(&out->sets[out->n_sets++], a, &node->pairs[i], e)))
            return err_up(e, code);
    if ((code = get(&node, root, "groups", YAML_MAPPING, e)))
        return err_up(e, code);
    if (!node)
        return yaml_fail(e, root, "the template file has no 'groups'");
    out->groups = arena_array(a, struct template_group, node->n + 1);
    for (size_t i = 0; i < node->n; i++)
        if ((code = read_group(out, a, &node->pairs[i], e)))
            return err_up(e, code);
    return OK;
}
