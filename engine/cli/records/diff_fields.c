/* Messages field by field; see diff.h. */
#include "engine/cli/records/diff.h"

#include "engine/cli/console/text_table.h"
#include "engine/cli/records/reflect.h"
#include "schemas/canonical.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_TEXT = 48, SHOWN_ID = 12 };

static void add_row(struct field_changes *out, const char *path, const char *before,
                    const char *after, bool same)
{
    if (out->n == out->cap) {
        size_t cap = out->cap ? 2 * out->cap : 16;
        struct field_change *moved = arena_array(out->arena, struct field_change, cap);
        if (out->n)
            memcpy(moved, out->rows, out->n * sizeof *moved);
        out->rows = moved;
        out->cap = cap;
    }
    out->rows[out->n++] = (struct field_change){path, before, after, same};
    out->n_changed += !same;
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCFieldDescriptor *list,
                                                  const char *name)
{
    return protobuf_c_message_descriptor_get_field_by_name(list->descriptor, name);
}

/* ---- figures with names ---- */

static bool is_named(const ProtobufCFieldDescriptor *f)
{
    if (f->label != PROTOBUF_C_LABEL_REPEATED || f->type != PROTOBUF_C_TYPE_MESSAGE)
        return false;
    const ProtobufCFieldDescriptor *name = find_field(f, "name"), *value = find_field(f, "value");
    return name && name->type == PROTOBUF_C_TYPE_STRING && value &&
           value->type == PROTOBUF_C_TYPE_DOUBLE;
}

static const ProtobufCMessage *message_at(const ProtobufCMessage *m,
                                          const ProtobufCFieldDescriptor *f, size_t i)
{
    return *(const ProtobufCMessage *const *)reflect_item(m, f, i);
}

static const char *name_at(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, size_t i)
{
    return *(const char *const *)reflect_item(message_at(m, f, i), find_field(f, "name"), 0);
}

/* The last that is called so, as text; "" if none is. */
static const char *figure(struct arena *a, const ProtobufCMessage *m,
                          const ProtobufCFieldDescriptor *f, const char *name)
{
    for (size_t i = reflect_count(m, f); i-- > 0;)
        if (!strcmp(name_at(m, f, i), name))
            return reflect_text(a, find_field(f, "value"),
                                reflect_item(message_at(m, f, i), find_field(f, "value"), 0));
    return "";
}

static bool is_listed(const struct field_changes *out, size_t from, const char *path)
{
    for (size_t i = from; i < out->n; i++)
        if (!strcmp(out->rows[i].path, path))
            return true;
    return false;
}

static void compare_figures(struct field_changes *out, const char *path,
                            const ProtobufCFieldDescriptor *f, const ProtobufCMessage *before,
                            const ProtobufCMessage *after)
{
    size_t from = out->n;
    const ProtobufCMessage *both[] = {before, after};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < reflect_count(both[k], f); i++) {
            const char *name = name_at(both[k], f, i);
            const char *full = arena_printf(out->arena, "%s.%s", path, name);
            if (is_listed(out, from, full))
                continue;
            const char *a = figure(out->arena, before, f, name);
            const char *b = figure(out->arena, after, f, name);
            add_row(out, full, a, b, !strcmp(a, b));
        }
}

/* ---- lists ---- */

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = n ? memcmp(x->data, y->data, n) : 0;
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Items as bytes, sorted. */
static struct span *sorted_items(size_t *n, struct arena *a, const ProtobufCMessage *m,
                                 const ProtobufCFieldDescriptor *f)
{
    *n = reflect_count(m, f);
    struct span *items = arena_array(a, struct span, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        const void *item = reflect_item(m, f, i);
        const ProtobufCBinaryData *b = item;
        if (f->type == PROTOBUF_C_TYPE_MESSAGE)
            canonical_pack(&items[i], a, message_at(m, f, i), NULL);
        else if (f->type == PROTOBUF_C_TYPE_BYTES)
            items[i] = span_of(b->data, b->len);
        else
            items[i] = span_str(reflect_text(a, f, item));
    }
    qsort(items, *n, sizeof *items, compare_spans);
    return items;
}

static bool is_same_list(struct arena *a, const ProtobufCFieldDescriptor *f,
                         const ProtobufCMessage *before, const ProtobufCMessage *after)
{
    size_t n = reflect_count(before, f);
    if (n != reflect_count(after, f))
        return false;
    for (size_t i = 0; i < n; i++) {
        const void *x = reflect_item(before, f, i), *y = reflect_item(after, f, i);
        struct span p = {0}, q = {0};
        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
            canonical_pack(&p, a, message_at(before, f, i), NULL);
            canonical_pack(&q, a, message_at(after, f, i), NULL);
        } else if (f->type == PROTOBUF_C_TYPE_BYTES) {
            p = span_of(((ProtobufCBinaryData *)x)->data, ((ProtobufCBinaryData *)x)->len);
            q = span_of(((ProtobufCBinaryData *)y)->data, ((ProtobufCBinaryData *)y)->len);
        } else {
            p = span_str(reflect_text(a, f, x));
            q = span_str(reflect_text(a, f, y));
        }
        if (!span_equal(p, q))
            return false;
    }
    return true;
}

static void compare_lists(struct field_changes *out, const char *path,
                          const ProtobufCFieldDescriptor *f, const ProtobufCMessage *before,
                          const ProtobufCMessage *after)
{
    struct arena scratch = {0};
    if (is_same_list(&scratch, f, before, after)) {
        arena_free(&scratch);
        return;
    }
    size_t n, m, i = 0, k = 0, gone = 0, added = 0;
    const struct span *x = sorted_items(&n, &scratch, before, f);
    const struct span *y = sorted_items(&m, &scratch, after, f);
    while (i < n || k < m) {
        int c = i == n ? 1 : k == m ? -1 : compare_spans(&x[i], &y[k]);
        gone += c < 0;
        added += c > 0;
        i += c <= 0;
        k += c >= 0;
    }
    const char *note = gone || added ? arena_printf(out->arena, "%zu new, %zu gone", added, gone)
                                     : "another order";
    add_row(out, path, arena_printf(out->arena, "%zu item%s", n, n == 1 ? "" : "s"),
            arena_printf(out->arena, "%zu item%s: %s", m, m == 1 ? "" : "s", note), false);
    arena_free(&scratch);
}

/* ---- single fields ---- */

static const char *bytes_text(struct arena *a, const ProtobufCFieldDescriptor *f,
                              const ProtobufCBinaryData *b)
{
    switch (reflect_bytes_kind(f)) {
    case BYTES_ID: return reflect_hex(a, b->data, b->len);
    case BYTES_IDS: return arena_printf(a, "%zu ids", b->len / 32);
    case BYTES_PLAIN: break;
    }
    return arena_printf(a, "%zu bytes", b->len);
}

static void compare(struct field_changes *out, const char *prefix, const ProtobufCMessage *before,
                    const ProtobufCMessage *after);

static void compare_single(struct field_changes *out, const char *path,
                           const ProtobufCFieldDescriptor *f, const void *x, const void *y)
{
    struct arena *a = out->arena;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        const ProtobufCMessage *p = *(const ProtobufCMessage *const *)x;
        const ProtobufCMessage *q = *(const ProtobufCMessage *const *)y;
        if (p && q)
            compare(out, arena_printf(a, "%s.", path), p, q);
        else if (p || q)
            add_row(out, path, p ? "present" : "", q ? "present" : "", false);
        return;
    }
    if (f->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *p = x, *q = y;
        bool same = span_equal(span_of(p->data, p->len), span_of(q->data, q->len));
        if (!same)
            add_row(out, path, bytes_text(a, f, p), bytes_text(a, f, q), false);
        return;
    }
    const char *p = reflect_text(a, f, x), *q = reflect_text(a, f, y);
    if (strcmp(p, q))
        add_row(out, path, p, q, false);
}

static void compare(struct field_changes *out, const char *prefix, const ProtobufCMessage *before,
                    const ProtobufCMessage *after)
{
    for (unsigned i = 0; i < before->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &before->descriptor->fields[i];
        const char *path = arena_printf(out->arena, "%s%s", prefix, f->name);
        if (is_named(f))
            compare_figures(out, path, f, before, after);
        else if (f->label == PROTOBUF_C_LABEL_REPEATED)
            compare_lists(out, path, f, before, after);
        else
            compare_single(out, path, f, reflect_item(before, f, 0), reflect_item(after, f, 0));
    }
}

void diff_fields(struct field_changes *out, struct arena *a, const ProtobufCMessage *before,
                 const ProtobufCMessage *after)
{
    *out = (struct field_changes){.arena = a};
    compare(out, "", before, after);
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

static const char *shown(struct arena *a, const char *text)
{
    return strlen(text) > SHOWN_TEXT ? arena_printf(a, "%.*s...", SHOWN_TEXT, text)
           : *text                   ? text
                                     : "-";
}

void diff_print_fields(struct cli *c, const char *of, const struct field_changes *changes)
{
    struct table *t = table_new(c->arena, "field|before|after|difference");
    for (size_t i = 0; i < changes->n; i++) {
        const struct field_change *r = &changes->rows[i];
        if (*of && r->same)
            continue; /* one artifact of many */
        if (c->json)
            reflect_dump(c->out, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "event", "field", "of",
                                           of, "field", r->path, "before", r->before, "after",
                                           r->after, "same", r->same));
        else
            table_add(t, (const char *const[]){r->path, shown(c->arena, r->before),
                                               shown(c->arena, r->after),
                                               difference(c->arena, r->before, r->after)});
    }
    if (!c->json && changes->n)
        table_print(c->out, t);
}
