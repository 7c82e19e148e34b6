/* Collections element by element: added, removed, and changed: gone and come under one label. */
#include "engine/cli/records/diff.h"

#include "base/buf.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/resolve.h"
#include "schemas/canonical.h"
#include "store/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct element {
    struct digest id;
    uint64_t position;
    const char *label;
    const struct element *other; /* of the other side, with the same label */
};

struct side {
    struct diff *d;
    struct element *list;
    size_t n, cap, alone;
};

struct both {
    struct side gone, come;
};

static void take(struct side *s, uint64_t position, const struct digest *id)
{
    s->list = vec_grow(s->list, &s->cap, s->n + 1, sizeof *s->list);
    s->list[s->n++] =
        (struct element){*id, position, resolve_label(s->d->c->arena, s->d->store, id), NULL};
}

static enum err_code take_gone(void *arg, uint64_t position, const struct digest *id, struct err *e)
{
    take(&((struct both *)arg)->gone, position, id);
    return OK;
}

static enum err_code take_come(void *arg, uint64_t position, const struct digest *id, struct err *e)
{
    take(&((struct both *)arg)->come, position, id);
    return OK;
}

static int by_label(const void *a, const void *b)
{
    const struct element *x = *(struct element *const *)a, *y = *(struct element *const *)b;
    int c = strcmp(x->label, y->label);
    return c ? c : (x->position > y->position) - (x->position < y->position);
}

static struct element **sorted(const struct side *s, struct arena *a)
{
    struct element **list = arena_array(a, struct element *, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        list[i] = &s->list[i];
    qsort(list, s->n, sizeof *list, by_label);
    return list;
}

/* What says nothing of itself is never the same thing changed. */
static size_t pair_up(struct side *gone, struct side *come, struct arena *a)
{
    struct element **x = sorted(gone, a), **y = sorted(come, a);
    size_t i = 0, k = 0, pairs = 0;
    while (i < gone->n && k < come->n) {
        int c = strcmp(x[i]->label, y[k]->label);
        if (!c && *x[i]->label) {
            x[i]->other = y[k];
            y[k]->other = x[i];
            pairs++;
        }
        i += c <= 0;
        k += c >= 0;
    }
    gone->alone = gone->n - pairs;
    come->alone = come->n - pairs;
    return pairs;
}

/* The names of the fields that differ. */
static const char *changed_fields(struct diff *d, const struct digest *before,
                                  const struct digest *after)
{
    struct arena *a = d->c->arena;
    struct record x, y;
    ProtobufCMessage *p, *q;
    struct buf names = {0};
    struct field_changes changes = {0};
    if (!store_get(&x, d->store, before, a, NULL) && !store_get(&y, d->store, after, a, NULL) &&
        x.kind == y.kind && kind_info(x.kind) &&
        !canonical_unpack(&p, a, kind_info(x.kind)->descriptor, x.payload, NULL) &&
        !canonical_unpack(&q, a, kind_info(y.kind)->descriptor, y.payload, NULL))
        diff_fields(&changes, a, p, q);
    for (size_t i = 0; i < changes.n; i++)
        if (!changes.rows[i].same)
            buf_printf(&names, "%s%s", names.len ? ", " : "", changes.rows[i].path);
    char *text = arena_strdup(a, names.data ? names.data : "");
    buf_free(&names);
    return text;
}

static void print_element(struct diff *d, char sign, const struct element *x)
{
    struct cli *c = d->c;
    char hex[DIGEST_HEX], other[DIGEST_HEX] = "";
    digest_hex(hex, &x->id);
    if (x->other)
        digest_hex(other, &x->other->id);
    const char *fields = x->other ? changed_fields(d, &x->id, &x->other->id) : "";
    if (c->json) {
        json_t *line = json_pack("{s:s, s:s, s:s}", "event",
                                 sign == '+'   ? "added"
                                 : sign == '-' ? "removed"
                                               : "changed",
                                 "label", x->label, "id", hex);
        if (x->other) {
            json_object_set_new(line, "after", json_string(other));
            json_object_set_new(line, "fields", json_string(fields));
        }
        reflect_dump(c->out, line);
        return;
    }
    fprintf(c->out, "%c %.12s%s%.12s%s%s%s%s\n", sign, hex, x->other ? " -> " : "", other,
            *x->label ? "  " : "", x->label, *fields ? ": " : "", fields);
}

static void print_side(struct diff *d, char sign, const struct side *s, bool paired, size_t total)
{
    uint64_t left = d->c->json ? UINT64_MAX : d->limit;
    for (size_t i = 0; i < s->n && left; i++)
        if ((s->list[i].other != NULL) == paired) {
            print_element(d, sign, &s->list[i]);
            left--;
        }
    if (!d->c->json && total > d->limit)
        fprintf(d->c->out, "%c ... and %" PRIu64 " more (--limit)\n", sign, total - d->limit);
}

static enum err_code count_elements(uint64_t *count, const struct kind_info **kind, struct store *s,
                                    const struct digest *id, struct err *e)
{
    struct collection *list;
    enum err_code code = err_up(e, collection_open(&list, s, id, e));
    if (code)
        return code;
    *count = collection_count(list);
    *kind = kind_info(collection_element_kind(list));
    collection_close(list);
    return OK;
}

static void print_differences(struct diff *d, struct both *b, uint64_t n, uint64_t m,
                              const char *kind)
{
    struct cli *c = d->c;
    size_t changed = pair_up(&b->gone, &b->come, c->arena);
    bool reordered = !b->gone.n && !b->come.n;
    if (!c->json)
        fprintf(c->out, "%" PRIu64 " -> %" PRIu64 " of %s: %zu added, %zu removed, %zu changed%s\n",
                n, m, kind, b->come.alone, b->gone.alone, changed,
                reordered ? "; the same elements in another order" : "");
    print_side(d, '~', &b->gone, true, changed);
    print_side(d, '-', &b->gone, false, b->gone.alone);
    print_side(d, '+', &b->come, false, b->come.alone);
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "event", "elements",
                                       "before", (json_int_t)n, "after", (json_int_t)m, "added",
                                       (json_int_t)b->come.alone, "removed",
                                       (json_int_t)b->gone.alone, "changed", (json_int_t)changed));
}

enum err_code diff_collections(struct diff *d, const struct digest *before,
                               const struct digest *after, struct err *e)
{
    struct both b = {.gone.d = d, .come.d = d};
    const struct kind_info *x, *y;
    uint64_t n, m;
    enum err_code code = count_elements(&n, &x, d->store, before, e);
    if (!code)
        code = count_elements(&m, &y, d->store, after, e);
    if (!code && x != y)
        code = err_fail(e, ERR_INPUT, "a collection of %s has nothing in common with one of %s",
                        x ? x->name : "?", y ? y->name : "?");
    if (!code)
        code = collection_diff(d->store, before, after, take_come, take_gone, &b, e);
    if (!code)
        print_differences(d, &b, n, m, x ? x->name : "?");
    free(b.gone.list);
    free(b.come.list);
    return err_up(e, code);
}

enum err_code diff_records(struct diff *d, const char *of, const struct digest *before,
                           const struct digest *after, struct err *e)
{
    struct arena *a = d->c->arena;
    struct record x, y;
    ProtobufCMessage *p, *q;
    struct field_changes changes;
    enum err_code code = store_get(&x, d->store, before, a, e);
    if (!code)
        code = store_get(&y, d->store, after, a, e);
    if (code)
        return err_up(e, code);
    const struct kind_info *kind = kind_info(x.kind), *other = kind_info(y.kind);
    if (!kind || kind != other)
        return err_fail(e, ERR_INPUT, "%s and %s cannot be compared: they are of different kinds",
                        kind ? kind->name : "?", other ? other->name : "?");
    d->differ = d->differ || !digest_equal(before, after);
    if (x.kind == KIND_COLLECTION && !digest_equal(before, after))
        return err_up(e, diff_collections(d, before, after, e));
    code = canonical_unpack(&p, a, kind->descriptor, x.payload, e);
    if (!code)
        code = canonical_unpack(&q, a, kind->descriptor, y.payload, e);
    if (code)
        return err_up(e, code);
    diff_fields(&changes, a, p, q);
    diff_print_fields(d->c, of, &changes);
    return OK;
}
