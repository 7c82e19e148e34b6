/* Compares two records field by field, as the JSON that `show --json` prints, and collections
 * element by element: added, removed, or changed, which means removed and added under one label. */
#include "engine/cli/records/diff.h"

#include "base/buf.h"
#include "collection.pb-c.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/reflect.h"
#include "store/collection/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_TEXT = 48, KEPT_TEXT = 200 };

static void add_row(struct field_changes *out, const char *path, const char *before,
                    const char *after)
{
    out->rows = arena_grow(out->arena, out->rows, out->n, &out->cap, sizeof *out->rows);
    out->rows[out->n++] = (struct field_change){path, before, after, !strcmp(before, after)};
}

static const char *cut(struct arena *a, const char *text, int n)
{
    return strlen(text) > (size_t)n ? arena_printf(a, "%.*s...", n, text) : text;
}

static const char *value_text(struct arena *a, const json_t *v)
{
    return cut(a, reflect_text(a, v), KEPT_TEXT);
}

/* ---- values with names ---- */

static bool has_names(const json_t *list)
{
    const json_t *first = json_array_get(list, 0);
    return json_is_string(json_object_get(first, "name")) && json_object_get(first, "value");
}

/* Returns the last value of that name as text, or "". */
static const char *named_value(struct arena *a, const json_t *list, const char *name)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *item = json_array_get(list, i);
        if (!strcmp(json_string_value(json_object_get(item, "name")), name))
            return value_text(a, json_object_get(item, "value"));
    }
    return "";
}

static void compare_named(struct field_changes *out, const char *path, const json_t *before,
                          const json_t *after)
{
    size_t from = out->n;
    const json_t *both[] = {before, after};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < json_array_size(both[k]); i++) {
            const char *name =
                json_string_value(json_object_get(json_array_get(both[k], i), "name"));
            const char *full = arena_printf(out->arena, "%s.%s", path, name);
            size_t seen = from;
            while (seen < out->n && strcmp(out->rows[seen].path, full))
                seen++;
            if (seen == out->n)
                add_row(out, full, named_value(out->arena, before, name),
                        named_value(out->arena, after, name));
        }
}

/* ---- lists ---- */

/* Returns the items as JSON text, sorted, on the heap. */
static char **sorted_items(const json_t *list)
{
    size_t n = json_array_size(list);
    char **items = must_calloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = json_dumps(json_array_get(list, i), JSON_COMPACT | JSON_ENCODE_ANY);
    qsort(items, n, sizeof *items, text_compare);
    return items;
}

static void compare_lists(struct field_changes *out, const char *path, const json_t *before,
                          const json_t *after)
{
    size_t n = json_array_size(before), m = json_array_size(after), i = 0, k = 0;
    size_t gone = 0, added = 0;
    char **x = sorted_items(before), **y = sorted_items(after);
    while (i < n || k < m) {
        int c = i == n ? 1 : k == m ? -1 : strcmp(x[i], y[k]);
        gone += c < 0;
        added += c > 0;
        i += c <= 0;
        k += c >= 0;
    }
    for (i = 0; i < n; i++)
        free(x[i]);
    for (k = 0; k < m; k++)
        free(y[k]);
    free(x);
    free(y);
    const char *change = gone || added ? arena_printf(out->arena, "%zu new, %zu gone", added, gone)
                                       : "another order";
    add_row(out, path, arena_printf(out->arena, "%zu item%s", n, n == 1 ? "" : "s"),
            arena_printf(out->arena, "%zu item%s: %s", m, m == 1 ? "" : "s", change));
}

/* ---- objects ---- */

static void compare(struct field_changes *out, const char *prefix, json_t *before, json_t *after)
{
    const char *key;
    json_t *x;
    json_object_foreach(before, key, x)
    {
        json_t *y = json_object_get(after, key);
        const char *path = arena_printf(out->arena, "%s%s", prefix, key);
        if (has_names(x) || has_names(y))
            compare_named(out, path, x, y);
        else if (json_equal(x, y))
            continue;
        else if (json_is_array(x))
            compare_lists(out, path, x, y);
        else if (json_is_object(x) && json_is_object(y))
            compare(out, arena_printf(out->arena, "%s.", path), x, y);
        else
            add_row(out, path, value_text(out->arena, x), value_text(out->arena, y));
    }
}

void diff_fields(struct field_changes *out, struct arena *a, const ProtobufCMessage *before,
                 const ProtobufCMessage *after)
{
    json_t *x = reflect_json(before, REFLECT_PREFIX), *y = reflect_json(after, REFLECT_PREFIX);
    *out = (struct field_changes){.arena = a};
    compare(out, "", x, y);
    json_decref(x);
    json_decref(y);
}

/* ---- printing ---- */

static const char *difference(struct arena *a, const char *before, const char *after)
{
    char *x_end, *y_end;
    double x = strtod(before, &x_end), y = strtod(after, &y_end);
    if (!*before || !*after || *x_end || *y_end)
        return "";
    return x == y ? "0" : arena_printf(a, "%+.6g", y - x);
}

/* Prints a table with the differences of numbers, or JSON lines; `of` is the record's name, or
 * "". */
static void print_fields(struct cli *c, const char *of, const struct field_changes *changes)
{
    struct table *t = table_new(c->arena, "field|before|after|difference");
    for (size_t i = 0; i < changes->n; i++) {
        const struct field_change *r = &changes->rows[i];
        if (*of && r->same)
            continue; /* one of several records: only differences are shown */
        if (c->json)
            reflect_line(c->out, "event:s of:s field:s before:s after:s same:b", "field", of,
                         r->path, r->before, r->after, r->same);
        table_add(t, (const char *const[]){r->path,
                                           *r->before ? cut(c->arena, r->before, SHOWN_TEXT) : "-",
                                           *r->after ? cut(c->arena, r->after, SHOWN_TEXT) : "-",
                                           difference(c->arena, r->before, r->after)});
    }
    if (!c->json && changes->n)
        table_print(c->out, t);
}

/* ---- collections ---- */

struct element {
    struct digest id;
    uint64_t position;
    const char *label;
    const struct element *other; /* the element of the other collection that has the same label */
};

struct elements {
    struct element *list;
    size_t n, cap;
};

struct collections {
    struct cli *c;
    struct elements gone, come;
};

static enum err_code take(void *arg, bool added, uint64_t position, const struct digest *id,
                          struct err *e)
{
    struct collections *b = arg;
    struct elements *to = added ? &b->come : &b->gone;
    to->list = vec_grow(to->list, &to->cap, to->n + 1, sizeof *to->list);
    to->list[to->n++] = (struct element){.id = *id, .position = position};
    return OK;
}

static int by_label(const void *a, const void *b)
{
    const struct element *x = *(struct element *const *)a, *y = *(struct element *const *)b;
    int c = strcmp(x->label, y->label);
    return c ? c : (x->position > y->position) - (x->position < y->position);
}

static struct element **sorted(const struct elements *s, struct cli *c)
{
    struct element **list = arena_array(c->arena, struct element *, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        list[i] = &s->list[i];
        list[i]->label = resolve_label(c->arena, c, &list[i]->id);
    }
    qsort(list, s->n, sizeof *list, by_label);
    return list;
}

/* Elements without a label are never paired. */
static size_t pair_up(struct collections *b)
{
    struct element **x = sorted(&b->gone, b->c), **y = sorted(&b->come, b->c);
    size_t i = 0, k = 0, pairs = 0;
    while (i < b->gone.n && k < b->come.n) {
        int c = strcmp(x[i]->label, y[k]->label);
        if (!c && *x[i]->label) {
            x[i]->other = y[k];
            y[k]->other = x[i];
            pairs++;
        }
        i += c <= 0;
        k += c >= 0;
    }
    return pairs;
}

static enum err_code read_both(ProtobufCMessage *m[2], enum record_kind *kind, struct cli *c,
                               const struct digest *before, const struct digest *after,
                               struct err *e)
{
    const struct digest *ids[] = {before, after};
    struct record r[2];
    for (size_t i = 0; i < 2; i++) {
        enum err_code code = store_get(&r[i], c->store, ids[i], c->arena, e);
        if (!code && kind_info(r[i].kind))
            code = store_get_message(&m[i], c->store, ids[i], r[i].kind, c->arena, e);
        if (code)
            return err_up(e, code);
    }
    const struct kind_info *x = kind_info(r[0].kind), *y = kind_info(r[1].kind);
    *kind = r[0].kind;
    if (!x || x != y)
        return err_fail(e, ERR_INPUT, "%s and %s cannot be compared: they are of different kinds",
                        x ? x->name : "?", y ? y->name : "?");
    return OK;
}

/* The names of the fields that differ. */
static const char *changed_fields(struct cli *c, const struct digest *before,
                                  const struct digest *after)
{
    ProtobufCMessage *m[2];
    enum record_kind kind;
    struct field_changes changes = {0};
    const char *names = "";
    if (!read_both(m, &kind, c, before, after, NULL))
        diff_fields(&changes, c->arena, m[0], m[1]);
    for (size_t i = 0; i < changes.n; i++)
        if (!changes.rows[i].same)
            names =
                arena_printf(c->arena, "%s%s%s", names, *names ? ", " : "", changes.rows[i].path);
    return names;
}

static void print_element(struct cli *c, char sign, const struct element *x)
{
    char hex[DIGEST_HEX], other[DIGEST_HEX] = "";
    digest_hex(hex, &x->id);
    if (x->other)
        digest_hex(other, &x->other->id);
    const char *fields = x->other ? changed_fields(c, &x->id, &x->other->id) : NULL;
    const char *event = sign == '+' ? "added" : sign == '-' ? "removed" : "changed";
    if (c->json)
        reflect_line(c->out, "event:s label:s id:s after:s fields:s", event, x->label, hex,
                     x->other ? other : NULL, fields);
    else
        fprintf(c->out, "%c %.12s%s%.12s%s%s%s%s\n", sign, hex, x->other ? " -> " : "", other,
                *x->label ? "  " : "", x->label, fields && *fields ? ": " : "",
                fields ? fields : "");
}

static void print_elements(struct diff *d, char sign, const struct elements *s, bool paired,
                           size_t total)
{
    uint64_t left = d->c->json ? UINT64_MAX : d->limit;
    for (size_t i = 0; i < s->n && left; i++)
        if ((s->list[i].other != NULL) == paired) {
            print_element(d->c, sign, &s->list[i]);
            left--;
        }
    if (!d->c->json && total > d->limit)
        fprintf(d->c->out, "%c ... and %" PRIu64 " more (--limit)\n", sign, total - d->limit);
}

static void print_differences(struct diff *d, struct collections *b, uint64_t n, uint64_t m,
                              const char *kind)
{
    struct cli *c = d->c;
    size_t changed = pair_up(b), removed = b->gone.n - changed, added = b->come.n - changed;
    if (!c->json)
        fprintf(c->out, "%" PRIu64 " -> %" PRIu64 " of %s: %zu added, %zu removed, %zu changed%s\n",
                n, m, kind, added, removed, changed,
                b->gone.n || b->come.n ? "" : "; the same elements in another order");
    print_elements(d, '~', &b->gone, true, changed);
    print_elements(d, '-', &b->gone, false, removed);
    print_elements(d, '+', &b->come, false, added);
    if (c->json)
        reflect_line(c->out, "event:s before:u after:u added:u removed:u changed:u", "elements", n,
                     m, added, removed, changed);
}

static enum err_code diff_collections(struct diff *d, const struct digest *before,
                                      const Eqloom__Collection *x, const struct digest *after,
                                      const Eqloom__Collection *y, struct err *e)
{
    struct collections b = {.c = d->c};
    if (strcmp(x->element_kind, y->element_kind))
        return err_fail(e, ERR_INPUT, "a collection of %s has nothing in common with one of %s",
                        x->element_kind, y->element_kind);
    enum err_code code = collection_diff(d->c->store, before, after, take, &b, e);
    if (!code)
        print_differences(d, &b, x->count, y->count, x->element_kind);
    free(b.gone.list);
    free(b.come.list);
    return err_up(e, code);
}

bool diff_count(size_t *added, size_t *removed, struct cli *c, const struct digest *before,
                const struct digest *after)
{
    struct collections b = {.c = c};
    bool good = !collection_diff(c->store, before, after, take, &b, NULL);
    *added = b.come.n;
    *removed = b.gone.n;
    free(b.gone.list);
    free(b.come.list);
    return good;
}

enum err_code diff_records(struct diff *d, const char *of, const struct digest *before,
                           const struct digest *after, struct err *e)
{
    ProtobufCMessage *m[2];
    struct field_changes changes;
    enum record_kind kind;
    bool same = digest_equal(before, after);
    enum err_code code = read_both(m, &kind, d->c, before, after, e);
    if (code)
        return err_up(e, code);
    d->differ = d->differ || !same;
    if (kind == KIND_COLLECTION && !same)
        return err_up(e, diff_collections(d, before, (Eqloom__Collection *)m[0], after,
                                          (Eqloom__Collection *)m[1], e));
    diff_fields(&changes, d->c->arena, m[0], m[1]);
    print_fields(d->c, of, &changes);
    return OK;
}
