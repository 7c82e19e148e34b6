/* Differences of keys; see key_diff.h. Collections are compared as Merkle lists. Elements with
 * names are matched by name: a changed rule counts as edited, not as removed and added. */
#include "engine/cache/key_diff.h"

#include "base/buf.h"
#include "engine/cache/label.h"
#include "store/collection/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 64, SHOWN_MAX = 4 };

struct change {
    struct digest id;
    char *label;
    bool paired;
};

struct changes {
    struct change items[NAMED_MAX];
    uint64_t n; /* may exceed NAMED_MAX */
};

struct diff {
    struct changes added, removed;
    uint64_t now; /* elements of the new collection */
};

static enum err_code add_change(void *arg, bool added, uint64_t position, const struct digest *id,
                                struct err *e)
{
    struct diff *d = arg;
    struct changes *c = added ? &d->added : &d->removed;
    if (c->n < NAMED_MAX)
        c->items[c->n] = (struct change){.id = *id};
    c->n++;
    return OK;
}

static enum err_code diff_collections(struct diff *d, struct store *s, const struct digest *before,
                                      const struct digest *now)
{
    struct collection *c;
    enum err_code code = collection_open(&c, s, now, NULL);
    if (code)
        return code;
    d->now = collection_count(c);
    collection_close(c);
    return collection_diff(s, before, now, add_change, d, NULL);
}

static void add_group(struct buf *b, const char *verb, const struct changes *c, bool paired)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < c->n; i++)
        n += c->items[i].paired == paired;
    if (!n)
        return;
    if (b->len && b->data[b->len - 1] != ' ')
        buf_puts(b, ", ");
    buf_printf(b, "%" PRIu64 " %s (", n, verb);
    uint64_t shown = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        if (c->items[i].paired != paired)
            continue;
        if (shown == SHOWN_MAX) {
            buf_puts(b, ", ...");
            break;
        }
        buf_printf(b, "%s%s", shown++ ? ", " : "", c->items[i].label);
    }
    buf_putc(b, ')');
}

static void name_changes(struct changes *c, struct arena *a, struct store *s)
{
    for (uint64_t i = 0; i < c->n; i++)
        if (!c->items[i].label)
            c->items[i].label = label_of_record(a, s, &c->items[i].id);
}

static uint64_t pair_changes(struct diff *d)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < d->added.n; i++)
        for (uint64_t j = 0; j < d->removed.n; j++)
            if (!d->removed.items[j].paired &&
                strcmp(d->added.items[i].label, d->removed.items[j].label) == 0) {
                d->added.items[i].paired = d->removed.items[j].paired = true;
                n++;
                break;
            }
    return n;
}

static void describe_collection(struct buf *b, struct arena *a, struct store *s, const char *role,
                                const struct digest *before, const struct digest *now)
{
    struct diff *d = must_calloc(1, sizeof *d);
    if (diff_collections(d, s, before, now)) {
        buf_printf(b, "%s changed", role);
    } else if (d->added.n + d->removed.n == 0) {
        buf_printf(b, "%s changed: only the order", role);
    } else if (d->added.n > NAMED_MAX || d->removed.n > NAMED_MAX) {
        buf_printf(b, "%s changed: %" PRIu64 " of %" PRIu64 " elements", role,
                   d->added.n > d->removed.n ? d->added.n : d->removed.n, d->now);
    } else {
        name_changes(&d->added, a, s);
        name_changes(&d->removed, a, s);
        uint64_t paired = pair_changes(d);
        uint64_t added = d->added.n - paired, removed = d->removed.n - paired;
        /* Names are listed if they are few, or if some elements were edited. */
        if (!paired && added > SHOWN_MAX && removed > SHOWN_MAX) {
            buf_printf(b, "%s changed: %" PRIu64 " of %" PRIu64 " elements", role, d->added.n,
                       d->now);
        } else {
            buf_printf(b, "%s changed: ", role);
            add_group(b, "edited", &d->added, true);
            add_group(b, "added", &d->added, false);
            add_group(b, "removed", &d->removed, false);
            if (d->now > NAMED_MAX)
                buf_printf(b, " of %" PRIu64, d->now);
        }
    }
    free(d);
}

static const struct digest *id_at(const Eqloom__KeyInput *in, size_t i)
{
    return (const struct digest *)(in->input_ids.data + i * DIGEST_SIZE);
}

static void describe_list(struct buf *b, const struct node *node, const Eqloom__KeyInput *before,
                          const Eqloom__KeyInput *now)
{
    size_t n = now->input_ids.len / DIGEST_SIZE, m = before->input_ids.len / DIGEST_SIZE;
    if (n != m) {
        buf_printf(b, "%s: %zu -> %zu", now->role, m, n);
        return;
    }
    bool files = node->n_files == n && !strcmp(now->role, "files");
    size_t changed = 0;
    const char *name = NULL;
    for (size_t i = 0; i < n; i++)
        if (!digest_equal(id_at(before, i), id_at(now, i))) {
            changed++;
            if (files && !name)
                name = node->files[i];
        }
    if (name && changed == 1)
        buf_printf(b, "%s changed", name);
    else if (n == 1)
        buf_printf(b, "%s changed", now->role);
    else
        buf_printf(b, "%s changed: %zu of %zu", now->role, changed, n);
}

static void separate(struct buf *b)
{
    if (b->len)
        buf_puts(b, "; ");
}

static const Eqloom__KeyInput *find_input(const Eqloom__ActionKey *k, const char *role)
{
    for (size_t i = 0; i < k->n_inputs; i++)
        if (strcmp(k->inputs[i]->role, role) == 0)
            return k->inputs[i];
    return NULL;
}

static const Eqloom__KeyParam *find_param(const Eqloom__ActionKey *k, const char *name)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (strcmp(k->params[i]->name, name) == 0)
            return k->params[i];
    return NULL;
}

static void compare_inputs(struct buf *b, struct arena *a, struct store *s, const struct node *node,
                           const Eqloom__ActionKey *before, const Eqloom__ActionKey *now)
{
    for (size_t i = 0; i < now->n_inputs; i++) {
        const Eqloom__KeyInput *new = now->inputs[i], *old = find_input(before, new->role);
        const struct op_port *port = op_find_port(node->op->inputs, new->role);
        if (old && old->input_ids.len ==
                       new->input_ids.len &&memcmp(old->input_ids.data, new->input_ids.data,
                                                   new->input_ids.len) == 0)
            continue;
        separate(b);
        if (!old)
            buf_printf(b, "%s is new", new->role);
        else if (port && port->cardinality == OP_COLLECTION && old->input_ids.len == DIGEST_SIZE &&
                 new->input_ids.len == DIGEST_SIZE)
            describe_collection(b, a, s, new->role, id_at(old, 0), id_at(new, 0));
        else
            describe_list(b, node, old, new);
    }
    for (size_t i = 0; i < before->n_inputs; i++)
        if (!find_input(now, before->inputs[i]->role)) {
            separate(b);
            buf_printf(b, "%s is gone", before->inputs[i]->role);
        }
}

static void compare_params(struct buf *b, const Eqloom__ActionKey *before,
                           const Eqloom__ActionKey *now)
{
    for (size_t i = 0; i < now->n_params; i++) {
        const Eqloom__KeyParam *new = now->params[i], *old = find_param(before, new->name);
        if (old && strcmp(old->value, new->value) == 0)
            continue;
        separate(b);
        if (strchr(new->value, '\n') || (old && strchr(old->value, '\n')))
            buf_printf(b, "param %s changed", new->name);
        else
            buf_printf(b, "param %s: %s -> %s", new->name, old ? old->value : "(none)", new->value);
    }
}

char *explain_difference(struct arena *a, struct store *s, const struct node *node,
                         const Eqloom__ActionKey *before, const Eqloom__ActionKey *now)
{
    struct buf b = {0};
    if (strcmp(before->op, now->op) != 0) {
        buf_printf(&b, "op changed: %s -> %s", before->op, now->op);
    } else {
        if (before->version != now->version)
            buf_printf(&b, "op version %u -> %u", before->version, now->version);
        if (strcmp(before->numerics, now->numerics) != 0) {
            separate(&b);
            buf_printf(&b, "numerics %s -> %s", before->numerics, now->numerics);
        }
        compare_params(&b, before, now);
        compare_inputs(&b, a, s, node, before, now);
    }
    return buf_text(&b, a);
}
