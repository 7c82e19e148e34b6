/* Names to ids; see resolve.h. */
#include "engine/cli/records/resolve.h"

#include "engine/cache/label.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/reflect.h"
#include "engine/job/job.h"
#include "schemas/canonical.h"

#include <string.h>

enum { MAX_CANDIDATES = 32, MIN_DIGITS = 4 };

/* Refs whose path ends in what the user wrote, and all names for 'did you mean'. */
struct search {
    struct arena *arena;
    const char *text;
    struct resolved found[MAX_CANDIDATES], variants[MAX_CANDIDATES], tag;
    size_t n_found, n_variants, n_names, cap;
    const char **names;
};

static void add_name(struct search *s, const char *name)
{
    if (s->n_names == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        const char **moved = arena_array(s->arena, const char *, cap);
        if (s->n_names)
            memcpy(moved, s->names, s->n_names * sizeof *moved);
        s->names = moved;
        s->cap = cap;
    }
    s->names[s->n_names++] = name;
}

/* "model@pool=mean" is one of "model". */
static bool is_variant(const char *name, const char *base)
{
    size_t n = strlen(base);
    return n && !strncmp(name, base, n) && name[n] == '@';
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
    if ((is_variant(copy, s->text) || (slash && is_variant(slash + 1, s->text))) &&
        s->n_variants < MAX_CANDIDATES)
        s->variants[s->n_variants++] = (struct resolved){*id, copy};
    if (slash && !strcmp(slash + 1, s->text) && s->n_found < MAX_CANDIDATES)
        s->found[s->n_found++] = (struct resolved){*id, copy};
    return OK;
}

/* What tells records apart that have no name: a title, the first text, the step. */
static const char *describe(struct arena *a, const ProtobufCMessage *m)
{
    static const char *const fields[] = {"title", "text", "encoding", "step", "media_type"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field_by_name(m->descriptor, fields[i]);
        const char *text =
            f && reflect_count(m, f) ? reflect_text(a, f, reflect_item(m, f, 0)) : NULL;
        if (!text || !*text)
            continue;
        return !strcmp(f->name, "step")   ? arena_printf(a, "step %s", text)
               : strlen(text) > LABEL_MAX ? arena_printf(a, "%.*s...", LABEL_MAX, text)
                                          : text;
    }
    return "";
}

const char *resolve_label(struct arena *a, struct store *s, const struct digest *id)
{
    struct arena scratch = {0};
    struct record r;
    ProtobufCMessage *m;
    const char *label = "";
    if (!store_get(&r, s, id, &scratch, NULL) && kind_info(r.kind) &&
        !canonical_unpack(&m, &scratch, kind_info(r.kind)->descriptor, r.payload, NULL)) {
        label = label_of_message(a, m);
        if (!label)
            label = describe(a, m);
    }
    arena_free(&scratch);
    return label;
}

static void print_candidates(struct cli *c, struct store *s, const struct resolved *found, size_t n)
{
    struct table *t = table_new(c->arena, "id|kind|name");
    for (size_t i = 0; i < n; i++) {
        char hex[DIGEST_HEX];
        struct record r;
        bool known = !store_get(&r, s, &found[i].id, c->arena, NULL) && kind_info(r.kind);
        const char *label =
            found[i].name ? found[i].name : resolve_label(c->arena, s, &found[i].id);
        table_add(
            t, (const char *const[]){arena_printf(c->arena, "%.16s", digest_hex(hex, &found[i].id)),
                                     known ? kind_info(r.kind)->name : "?", label});
    }
    table_print(c->narration, t);
}

static enum err_code resolve_digits(struct resolved *out, struct cli *c, struct store *s,
                                    const char *text, struct err *e)
{
    struct digest ids[MAX_CANDIDATES];
    size_t n = 0;
    enum err_code code = store_resolve_prefix(ids, &n, MAX_CANDIDATES, s, text, e);
    *out = (struct resolved){.id = ids[0]};
    if (code != ERR_AMBIGUOUS)
        return err_up(e, code);
    struct resolved found[MAX_CANDIDATES];
    for (size_t i = 0; i < n; i++)
        found[i] = (struct resolved){.id = ids[i]};
    print_candidates(c, s, found, n);
    return err_fail(e, ERR_AMBIGUOUS, "'%s' begins %zu%s ids: give more digits", text, n,
                    n == MAX_CANDIDATES ? " or more" : "");
}

enum err_code resolve(struct resolved *out, struct cli *c, struct store *s, const char *text,
                      struct err *e)
{
    *out = (struct resolved){.name = text};
    enum err_code code = store_ref(&out->id, s, text, NULL);
    if (code != ERR_NOTFOUND)
        return code ? err_up(e, store_ref(&out->id, s, text, e)) : OK;
    struct search *search = arena_new(c->arena, struct search);
    search->arena = c->arena;
    search->text = text;
    if ((code = err_up(e, store_each_ref(s, "", visit_ref, search, e))))
        return code;
    if (search->n_found == 1) {
        *out = search->found[0];
        return OK;
    }
    if (search->n_found) {
        print_candidates(c, s, search->found, search->n_found);
        return err_fail(e, ERR_AMBIGUOUS, "'%.100s' is in several jobs: write JOB/%.100s", text,
                        text);
    }
    if (search->tag.name) {
        *out = search->tag;
        return OK;
    }
    if (search->n_variants) {
        print_candidates(c, s, search->variants, search->n_variants);
        return err_fail(e, ERR_AMBIGUOUS, "'%.100s' has variants: name one of them", text);
    }
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (digits >= MIN_DIGITS && !text[digits]) {
        code = resolve_digits(out, c, s, text, e);
        if (code != ERR_NOTFOUND)
            return err_up(e, code);
    }
    if (!*text)
        return err_fail(e, ERR_INPUT, "an empty name stands for nothing");
    err_fail(e, ERR_INPUT, "nothing in the store is called '%.100s'", text);
    const char *near = err_nearest(text, search->names, search->n_names);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "'eqloom ls' lists names; an id needs at least %d digits", MIN_DIGITS);
    return ERR_INPUT;
}
