/* Resolves names to ids; see resolve.h. */
#include "engine/cli/records/resolve.h"

#include "engine/cache/label.h"
#include "engine/cli/console/text_table.h"
#include "engine/export/reflect.h"
#include "engine/job/job.h"
#include "engine/op.h"
#include "schemas/canonical.h"

#include <string.h>

enum { MAX_CANDIDATES = 32, MIN_DIGITS = 4 };

/* Collects refs whose path ends in the user's text, and all names for 'did you mean'. */
struct search {
    struct arena *arena;
    const char *text;
    struct resolved found[MAX_CANDIDATES], variants[MAX_CANDIDATES], tag;
    size_t n_found, n_variants, n_names, cap;
    const char **names;
};

static void add_name(struct search *s, const char *name)
{
    s->names = arena_grow(s->arena, s->names, s->n_names, &s->cap, sizeof *s->names);
    s->names[s->n_names++] = name;
}

static enum err_code visit_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct search *s = arg;
    const char *copy = arena_strdup(s->arena, name), *slash = strrchr(copy, '/');
    add_name(s, copy);
    if (!strncmp(name, JOB_TAGS, strlen(JOB_TAGS))) {
        add_name(s, copy + strlen(JOB_TAGS));
        if (!strcmp(name + strlen(JOB_TAGS), s->text))
            s->tag = (struct resolved){*id, copy};
        return OK;
    }
    if (slash)
        add_name(s, slash + 1);
    if ((job_name_fits(copy, s->text) || (slash && job_name_fits(slash + 1, s->text))) &&
        s->n_variants < MAX_CANDIDATES)
        s->variants[s->n_variants++] = (struct resolved){*id, copy};
    if (slash && !strcmp(slash + 1, s->text) && s->n_found < MAX_CANDIDATES)
        s->found[s->n_found++] = (struct resolved){*id, copy};
    return OK;
}

/* Describes a record without a name by its title, first text or step. */
static const char *describe(struct arena *a, const ProtobufCMessage *m)
{
    static const char *const fields[] = {"title", "text", "encoding", "step", "media_type"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field_by_name(m->descriptor, fields[i]);
        json_t *value = f ? reflect_field(m, f) : NULL;
        const char *text = reflect_text(a, json_is_array(value) ? json_array_get(value, 0) : value);
        json_decref(value);
        if (!*text)
            continue;
        return !strcmp(f->name, "step")   ? arena_printf(a, "step %s", text)
               : strlen(text) > LABEL_MAX ? arena_printf(a, "%.*s...", LABEL_MAX, text)
                                          : text;
    }
    return "";
}

const char *resolve_label(struct arena *a, const struct cli *c, const struct digest *id)
{
    label_expression *write = cli_flag(c, "prefix")  ? arena_strdup
                              : cli_flag(c, "latex") ? op_latex
                                                     : op_infix;
    struct arena scratch = {0};
    struct record r;
    ProtobufCMessage *m;
    const char *label = "";
    if (!store_get(&r, c->store, id, &scratch, NULL) && kind_info(r.kind) &&
        !canonical_unpack(&m, &scratch, kind_info(r.kind)->descriptor, r.payload, NULL)) {
        label = label_of_message(a, m, write);
        if (!label)
            label = describe(a, m);
    }
    arena_free(&scratch);
    return label;
}

static void print_candidates(struct cli *c, const struct resolved *found, size_t n)
{
    struct table *t = table_new(c->arena, "id|kind|name");
    for (size_t i = 0; i < n; i++) {
        char hex[DIGEST_HEX];
        struct record r;
        bool there = !store_get(&r, c->store, &found[i].id, c->arena, NULL) && kind_info(r.kind);
        const char *label =
            found[i].name ? found[i].name : resolve_label(c->arena, c, &found[i].id);
        table_add(
            t, (const char *const[]){arena_printf(c->arena, "%.16s", digest_hex(hex, &found[i].id)),
                                     there ? kind_info(r.kind)->name : "?", label});
    }
    table_print(c->narration, t);
}

/* ERR_NOTFOUND if no id begins with the digits. */
static enum err_code resolve_digits(struct resolved *out, struct cli *c, const char *text,
                                    struct err *e)
{
    struct digest ids[MAX_CANDIDATES];
    struct resolved found[MAX_CANDIDATES];
    size_t n = 0;
    enum err_code code = store_resolve_prefix(ids, &n, MAX_CANDIDATES, c->store, text, e);
    *out = (struct resolved){.id = ids[0]};
    if (code != ERR_AMBIGUOUS)
        return err_up(e, code);
    for (size_t i = 0; i < n; i++)
        found[i] = (struct resolved){.id = ids[i]};
    print_candidates(c, found, n);
    return err_fail(e, ERR_AMBIGUOUS, "'%s' begins %zu%s ids: give more digits", text, n,
                    n == MAX_CANDIDATES ? " or more" : "");
}

enum err_code resolve(struct resolved *out, struct cli *c, const char *text, struct err *e)
{
    *out = (struct resolved){.name = text};
    struct search *s = arena_new(c->arena, struct search);
    *s = (struct search){.arena = c->arena, .text = text};
    enum err_code code = store_ref(&out->id, c->store, text, NULL);
    if (code != ERR_NOTFOUND)
        return err_up(e, store_ref(&out->id, c->store, text, e));
    if ((code = store_each_ref(c->store, "", visit_ref, s, e)))
        return err_up(e, code);
    if (s->n_found > 1) {
        print_candidates(c, s->found, s->n_found);
        return err_fail(e, ERR_AMBIGUOUS, "'%.100s' is in several jobs: write JOB/%.100s", text,
                        text);
    }
    if (s->n_found || s->tag.name) {
        *out = s->n_found ? s->found[0] : s->tag;
        return OK;
    }
    if (s->n_variants == 1) {
        *out = s->variants[0];
        return OK;
    }
    if (s->n_variants) {
        print_candidates(c, s->variants, s->n_variants);
        return err_fail(e, ERR_AMBIGUOUS, "'%.100s' has variants: name one of them", text);
    }
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (digits >= MIN_DIGITS && !text[digits]) {
        code = resolve_digits(out, c, text, e);
        if (code != ERR_NOTFOUND)
            return err_up(e, code);
    }
    code = err_fail(e, ERR_INPUT, "nothing in the store is called '%.100s'", text);
    err_hint(e, "'eqloom ls' lists names; an id needs at least 4 digits");
    return err_suggest(code, text, s->names, s->n_names, e);
}
