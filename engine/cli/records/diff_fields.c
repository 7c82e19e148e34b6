/* Messages field by field, compared as the JSON that `show --json` prints; see diff.h. */
#include "engine/cli/records/diff.h"

#include "engine/cli/console/text_table.h"
#include "engine/export/reflect.h"

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

/* The last of that name, as text; "" if there is none. */
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

/* The items as JSON text, sorted; on the heap. */
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

void diff_print_fields(struct cli *c, const char *of, const struct field_changes *changes)
{
    struct table *t = table_new(c->arena, "field|before|after|difference");
    for (size_t i = 0; i < changes->n; i++) {
        const struct field_change *r = &changes->rows[i];
        if (*of && r->same)
            continue; /* one record of many */
        if (c->json)
            reflect_dump(c->out, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "event", "field", "of",
                                           of, "field", r->path, "before", r->before, "after",
                                           r->after, "same", r->same));
        table_add(t, (const char *const[]){r->path,
                                           *r->before ? cut(c->arena, r->before, SHOWN_TEXT) : "-",
                                           *r->after ? cut(c->arena, r->after, SHOWN_TEXT) : "-",
                                           difference(c->arena, r->before, r->after)});
    }
    if (!c->json && changes->n)
        table_print(c->out, t);
}
