/* Expands templates to expressions. A template's placeholders run over all combinations; if there
 * are too many, combinations are drawn, with the values of placeholders chosen by rendezvous
 * hashing. 'take' keeps the expressions with the lowest hashes. Both are stable: adding a value to
 * a set or an expression to a group changes only a proportional part of the choice. */
#include "ops/corpus/template/templates.h"

#include "base/map.h"
#include "base/rng.h"
#include "ops/corpus/template/templates_file.h"
#include "ops/expr/own/own.h"
#include "ops/expr/rational.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_ENUMERATED = 200000, /* combinations of a template without 'take' */
    MAX_CONSIDERED = 2000,   /* combinations with 'take'; of more, a sample is drawn */
    DRAWS_PER_TAKEN = 8,
    MAX_COMPARED = 1000000000, /* values, to draw from a template */
    MAX_INSTANCES = 2000000,
};

struct instance {
    struct expr x;
    const char *group;
    uint64_t rank; /* hash of its text */
    uint32_t cell; /* the cell for 'per' */
    bool kept;
};

struct expansion {
    struct arena *a;
    const struct template_file *file;
    const struct templates_options *options;
    struct instance *all; /* instances kept from all files, in order */
    size_t n, cap;
    size_t file_start;    /* index in `all` of this file's first instance */
    struct name_map seen; /* prefix texts of kept instances */
    /* The current group. */
    const struct template_group *group;
    struct instance *found;
    size_t n_found, cap_found;
    struct name_map found_texts;
    size_t *pool; /* for {it}: indices in `all` */
    size_t n_pool;
    struct buf text;
    struct err *e;
};

static uint64_t hash_text(uint64_t seed, const char *s)
{
    uint64_t h = rng_mix(seed);
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return rng_mix(h);
}

/* A number < 0, or a product or quotient that begins with one. */
static bool is_negative(const struct expr_node *node)
{
    if (node->op == X_MUL || node->op == X_DIV)
        node++;
    return node->op == X_NUM && number_sign(node->leaf) < 0;
}

/* Drops the sign of a negative expression. */
static struct expr drop_sign(struct arena *a, const struct expr *x)
{
    if (x->n == 1)
        return expr_leaf(a, x->lang, X_NUM, x->nodes->leaf + 1);
    struct expr parts[2] = {expr_sub(x, 1), expr_sub(x, 2)};
    parts[0] = drop_sign(a, &parts[0]);
    return expr_apply(a, x->lang, x->nodes->op, parts, 2);
}

/* Rewrites a template's sign followed by a negative value: x + -3*y as x - 3*y, x - -3 as x + 3. */
static struct expr tidy(struct arena *a, const struct expr *x)
{
    const struct expr_node *node = x->nodes;
    if (node->arity == 0)
        return *x;
    struct expr children[LANG_MAX_ARITY];
    uint32_t at = 1;
    for (unsigned i = 0; i < node->arity; i++, at += x->nodes[at].size) {
        struct expr child = expr_sub(x, at);
        children[i] = tidy(a, &child);
    }
    uint16_t op = node->op;
    if ((op == X_ADD || op == X_SUB) && is_negative(children[1].nodes)) {
        op = op == X_ADD ? X_SUB : X_ADD;
        children[1] = drop_sign(a, &children[1]);
    }
    return expr_apply(a, x->lang, op, children, node->arity);
}

static size_t slot_size(const struct expansion *t, const struct template_slot *slot)
{
    return slot->set == TEMPLATES_IT ? t->n_pool : t->file->sets[slot->set].n;
}

static void write_instance(struct expansion *t, const struct template *tpl, const size_t *choice)
{
    buf_clear(&t->text);
    for (size_t i = 0; i < tpl->n_pieces; i++) {
        int s = tpl->pieces[i].slot;
        if (s < 0) {
            buf_puts(&t->text, tpl->pieces[i].text);
        } else if (tpl->slots[s].set == TEMPLATES_IT) {
            buf_putc(&t->text, '(');
            expr_write_infix(&t->text, &t->all[t->pool[choice[s]]].x);
            buf_putc(&t->text, ')');
        } else {
            buf_puts(&t->text, t->file->sets[tpl->slots[s].set].values[choice[s]]);
        }
    }
}

/* Adds one combination of values. */
static enum err_code add_instance(struct expansion *t, const struct template *tpl, uint32_t cell,
                                  const size_t *choice)
{
    struct err inner;
    struct expr x;
    err_clear(&inner);
    write_instance(t, tpl, choice);
    struct source_text source = {"<template>", t->text.data ? t->text.data : "", t->text.len};
    if (expr_parse_infix(&x, t->a, t->file->lang, &source, 0, source.len, false, &inner)) {
        enum err_code code =
            yaml_fail(t->e, tpl->node, "this gives '%.120s': %s", source.text, inner.message);
        if (inner.hint[0])
            err_hint(t->e, "%s", inner.hint);
        return code;
    }
    x = tidy(t->a, &x);
    if (t->group->max_tokens && expr_tokens(&x) > t->group->max_tokens)
        return OK;
    char *prefix = expr_prefix(t->a, &x);
    bool added;
    if (name_map_get(&t->seen, prefix))
        return OK;
    name_map_put(&t->found_texts, prefix, 0, &added);
    if (!added)
        return OK;
    if (t->n_found == MAX_INSTANCES)
        return yaml_fail(t->e, tpl->node, "the group has more than %d expressions", MAX_INSTANCES);
    t->found = vec_grow(t->found, &t->cap_found, t->n_found + 1, sizeof *t->found);
    t->found[t->n_found++] = (struct instance){
        .x = x,
        .group = t->group->name,
        .rank = hash_text(t->options->seed, prefix),
        .cell = cell,
    };
    return OK;
}

/* Adds all combinations with the given choice[fixed] (fixed -1: with no choice fixed). */
static enum err_code enumerate(struct expansion *t, const struct template *tpl, uint32_t cell,
                               size_t *choice, int fixed)
{
    enum err_code code;
    for (;;) {
        if ((code = add_instance(t, tpl, cell, choice)))
            return err_up(t->e, code);
        size_t s = tpl->n_slots;
        while (s-- > 0) {
            if ((int)s == fixed)
                continue;
            if (++choice[s] < slot_size(t, &tpl->slots[s]))
                break;
            choice[s] = 0;
        }
        if (s == SIZE_MAX)
            return OK;
    }
}

static enum err_code draw(struct expansion *t, const struct template *tpl, uint32_t cell,
                          size_t *choice, int fixed)
{
    enum err_code code;
    uint64_t base = hash_text(t->options->seed, tpl->node->text);
    for (uint64_t k = 0; k < t->group->take * DRAWS_PER_TAKEN; k++) {
        for (size_t s = 0; s < tpl->n_slots; s++) {
            const struct template_slot *slot = &tpl->slots[s];
            uint64_t best = 0, stream = rng_at(base, k, s);
            if ((int)s == fixed)
                continue;
            for (size_t v = 0; v < slot_size(t, slot); v++) {
                uint64_t score = slot->set == TEMPLATES_IT
                                     ? rng_mix(stream ^ t->all[t->pool[v]].rank)
                                     : hash_text(stream, t->file->sets[slot->set].values[v]);
                if (v == 0 || score > best) {
                    best = score;
                    choice[s] = v;
                }
            }
        }
        if ((code = add_instance(t, tpl, cell, choice)))
            return err_up(t->e, code);
    }
    return OK;
}

static enum err_code expand_template(struct expansion *t, const struct template *tpl,
                                     uint32_t index)
{
    enum err_code code;
    const struct template_group *group = t->group;
    int fixed = -1;
    double combinations = 1, values = 0;
    for (size_t s = 0; s < tpl->n_slots; s++) {
        if (slot_size(t, &tpl->slots[s]) == 0)
            return OK; /* {it} has no expressions */
        if (group->per == PER_SET && tpl->slots[s].set == group->per_set && fixed < 0)
            fixed = (int)s;
        else {
            combinations *= (double)slot_size(t, &tpl->slots[s]);
            values += (double)slot_size(t, &tpl->slots[s]);
        }
    }
    if (group->per == PER_SET && fixed < 0)
        return yaml_fail(t->e, tpl->node, "'per' counts by '%s', which this template does not use",
                         t->file->sets[group->per_set].name);
    bool drawn = group->take > 0 && combinations > MAX_CONSIDERED;
    if (group->take == 0 && combinations > MAX_ENUMERATED)
        return yaml_fail(t->e, tpl->node,
                         "this template makes %.0f expressions; limit them with 'take'",
                         combinations);
    size_t cells = fixed < 0 ? 1 : slot_size(t, &tpl->slots[fixed]);
    double compared = values * (double)cells * (double)group->take * DRAWS_PER_TAKEN;
    if (drawn && compared > MAX_COMPARED)
        return yaml_fail(t->e, tpl->node,
                         "to draw from this template compares %.3g values, at most %.3g are "
                         "allowed: lower 'take'",
                         compared, (double)MAX_COMPARED);
    for (size_t c = 0; c < cells; c++) {
        size_t choice[TEMPLATES_MAX_SLOTS] = {0};
        uint32_t cell = group->per == PER_TEMPLATE ? index : (uint32_t)c;
        if (fixed >= 0)
            choice[fixed] = c;
        if ((code = drawn ? draw(t, tpl, cell, choice, fixed)
                          : enumerate(t, tpl, cell, choice, fixed)))
            return err_up(t->e, code);
    }
    return OK;
}

static int by_cell_and_rank(const void *a, const void *b)
{
    const struct instance *x = *(struct instance *const *)a, *y = *(struct instance *const *)b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return expr_compare(&x->x, &y->x);
}

/* Marks the `take` instances with the lowest ranks of each cell (0: all). */
static void keep_least(struct instance *list, size_t n, uint64_t take)
{
    struct instance **order = vec_grow(NULL, &(size_t){0}, n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = &list[i];
    qsort(order, n, sizeof *order, by_cell_and_rank);
    uint64_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && order[i]->cell != order[i - 1]->cell)
            taken = 0;
        order[i]->kept = take == 0 || taken < take;
        taken++;
    }
    free(order);
}

static enum err_code expand_group(struct expansion *t, const struct template_group *group)
{
    enum err_code code;
    t->group = group;
    t->n_found = t->n_pool = 0;
    name_map_free(&t->found_texts);
    t->found_texts = (struct name_map){0};
    t->pool = arena_alloc(t->a, (t->n + 1) * sizeof *t->pool);
    for (size_t i = 0; i < group->n_of; i++)
        for (size_t k = t->file_start; k < t->n; k++)
            if (strcmp(t->all[k].group, t->file->groups[group->of[i]].name) == 0)
                t->pool[t->n_pool++] = k;
    for (size_t i = 0; i < group->n; i++)
        if ((code = expand_template(t, &group->templates[i], (uint32_t)i)))
            return err_up(t->e, code);
    keep_least(t->found, t->n_found, group->take);
    for (size_t i = 0; i < t->n_found; i++) {
        if (!t->found[i].kept)
            continue;
        t->all = vec_grow(t->all, &t->cap, t->n + 1, sizeof *t->all);
        t->all[t->n] = t->found[i];
        t->all[t->n].cell = 0;
        name_map_put(&t->seen, expr_prefix(t->a, &t->found[i].x), t->n++, NULL);
    }
    return OK;
}

/* Each variable has one domain in all files; "positive" is the default and not recorded. */
static enum err_code add_domains(struct templates *out, const struct template_file *f,
                                 const struct source_text *source, struct err *e)
{
    for (size_t i = 0; i < f->n_domains; i++) {
        struct templates_domain *x = &f->domains[i], *other = out->domains;
        while (other && strcmp(other->name, x->name) != 0)
            other = other->next;
        if (other && strcmp(other->domain, x->domain) != 0)
            return err_fail(e, ERR_INPUT, "%s: variable '%s' is %s here and %s in another file",
                            source->name, x->name, x->domain, other->domain);
        if (!other) {
            x->next = out->domains;
            out->domains = x;
        }
    }
    return OK;
}

enum err_code templates_expand(struct templates *out, struct arena *a,
                               const struct source_text *sources, size_t n_sources,
                               const struct templates_options *options, struct err *e)
{
    struct expansion t = {.a = a, .options = options, .e = e};
    enum err_code code = OK;
    *out = (struct templates){0};
    for (size_t i = 0; i < n_sources; i++) {
        struct template_file *file = arena_new(a, struct template_file);
        if ((code = err_up(e, template_file_read(file, a, &sources[i], e))) ||
            (code = err_up(e, add_domains(out, file, &sources[i], e))))
            goto out;
        if (file->lang == &lang_calculus && options->calculus)
            file->lang = options->calculus;
        if (t.file && !lang_is(t.file->lang, file->lang)) {
            code = err_fail(e, ERR_INPUT,
                            "%s: templates of the %s language cannot be combined with those of the "
                            "%s language",
                            sources[i].name, file->lang->name, t.file->lang->name);
            goto out;
        }
        for (size_t k = 0; k < file->n_domains; k++)
            lang_declare_name(&file->lang, a, file->lang, file->domains[k].name);
        t.file = file;
        t.file_start = t.n;
        for (size_t g = 0; g < file->n_groups; g++)
            if ((code = err_up(e, expand_group(&t, &file->groups[g]))))
                goto out;
    }
    keep_least(t.all, t.n, options->limit);
    out->exprs = arena_alloc(a, (t.n + 1) * sizeof *out->exprs);
    for (size_t i = 0; i < t.n; i++)
        if (t.all[i].kept)
            out->exprs[out->n++] = t.all[i].x;
out:
    free(t.all);
    free(t.found);
    name_map_free(&t.seen);
    name_map_free(&t.found_texts);
    buf_free(&t.text);
    return code;
}

void templates_to_message(Eqloom__Expr *out, struct arena *a, const struct templates *t, size_t i)
{
    const char **names;
    size_t n = expr_variables(&names, a, &t->exprs[i]);
    eqloom__expr__init(out);
    out->prefix = expr_prefix(a, &t->exprs[i]);
    out->language = language_text_of(a, &t->exprs[i], 1);
    out->variables = arena_alloc(a, (n + 1) * sizeof *out->variables);
    for (size_t k = 0; k < n; k++)
        for (const struct templates_domain *d = t->domains; d; d = d->next) {
            if (strcmp(names[k], d->name) != 0 || strcmp(d->domain, "positive") == 0)
                continue;
            Eqloom__VariableDomain *v = arena_new(a, Eqloom__VariableDomain);
            eqloom__variable_domain__init(v);
            v->name = arena_strdup(a, names[k]);
            v->domain = arena_strdup(a, d->domain);
            out->variables[out->n_variables++] = v;
        }
}
