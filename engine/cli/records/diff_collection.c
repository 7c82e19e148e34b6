/* Records, and collections element by element: added, removed, and changed, which is removed and
 * added under one label. */
#include "engine/cli/records/diff.h"

#include "base/buf.h"
#include "collection.pb-c.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/reflect.h"
#include "store/collection/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct element {
    struct digest id;
    uint64_t position;
    const char *label;
    const struct element *other; /* in the other collection, with the same label */
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
        list[i]->label = resolve_label(c->arena, c->store, &list[i]->id);
    }
    qsort(list, s->n, sizeof *list, by_label);
    return list;
}

/* Elements without a label are never taken for the same one changed. */
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
        reflect_dump(c->out,
                     json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "event", event, "label", x->label,
                               "id", hex, "after", x->other ? other : NULL, "fields", fields));
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
        reflect_dump(c->out,
                     json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "event", "elements", "before",
                               (json_int_t)n, "after", (json_int_t)m, "added", (json_int_t)added,
                               "removed", (json_int_t)removed, "changed", (json_int_t)changed));
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
    diff_print_fields(d->c, of, &changes);
    return OK;
}
