/* The trees of lineage.h.
 *
 * Up: each record has a maker; what entered that stands below it. An element that no action of its
 * own made (the expressions of a source) came as part of a collection.
 *
 * Down: the item's records entered actions, directly or as elements of collections. A map is
 * followed element by element from elements and as a whole from collections, never both. Of a map
 * whose op knows which elements of a side input took part in what (op.took_part), an element leads
 * to those alone; and up, each leads to the elements that took part. */
#include "engine/cli/provenance/lineage_internal.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    struct lineage *l;
    struct arena *a;
    struct digest_map seen; /* items that were followed, by what identifies them */
};

static struct digest id_at(ProtobufCBinaryData bytes, size_t i)
{
    struct digest id;
    memcpy(id.bytes, bytes.data + i * DIGEST_SIZE, DIGEST_SIZE);
    return id;
}

static void add_item(struct walk *w, struct lineage_item *to, struct lineage_item *item)
{
    /* Grows by doubling: at powers of two. */
    if (!(to->n_items & (to->n_items - 1))) {
        size_t cap = to->n_items ? 2 * to->n_items : 1;
        struct lineage_item **moved = arena_array(w->a, struct lineage_item *, cap);
        if (to->n_items)
            memcpy(moved, to->items, to->n_items * sizeof *moved);
        to->items = moved;
    }
    to->items[to->n_items++] = item;
}

static bool follow(struct walk *w, struct lineage_item *item)
{
    struct span ids = span_of(item->ids, item->n * sizeof *item->ids);
    struct digest what = digest_of(&ids, 1);
    bool added;
    digest_map_put(&w->seen, &what, 1, &added);
    item->above = !added;
    return added;
}

/* ---- up ---- */

static enum err_code walk_up(struct walk *w, struct lineage_item *item, struct err *e);

/* Of a side input's elements, those that took part in the one record. */
static enum err_code add_parts(struct walk *w, struct lineage_item *item,
                               const struct lineage_item *input, struct err *e)
{
    const struct op *op = op_find(item->action->key->op);
    struct digest *ids;
    size_t n;
    if (!op || !op->took_part || item->kind == KIND_COLLECTION || input->kind != KIND_COLLECTION ||
        !strcmp(input->role, op->inputs[0].role))
        return OK;
    enum err_code code =
        lineage_parts_of(&ids, &n, w->a, w->l, op, item->ids, input->role, input->ids, e);
    for (size_t i = 0; !code && i < n; i++) {
        struct lineage_item *part = lineage_item_new(w->a, w->l, &ids[i], 1, input->role);
        part->part = true;
        add_item(w, item, part);
        code = walk_up(w, part, e);
    }
    return err_up(e, code);
}

static enum err_code add_inputs(struct walk *w, struct lineage_item *item, struct err *e)
{
    const Eqloom__ActionKey *key = item->action->key;
    for (size_t i = 0; i < key->n_inputs; i++) {
        ProtobufCBinaryData ids = key->inputs[i]->input_ids;
        for (size_t k = 0; k < ids.len / DIGEST_SIZE; k++) {
            struct digest *id = arena_new(w->a, struct digest);
            *id = id_at(ids, k);
            struct lineage_item *input = lineage_item_new(w->a, w->l, id, 1, key->inputs[i]->role);
            add_item(w, item, input);
            /* The segments before differ in nothing but their steps. */
            bool previous = !strcmp(input->role, "@previous");
            enum err_code code = previous ? OK : walk_up(w, input, e);
            if (!code)
                code = add_parts(w, item, input, e);
            if (code)
                return err_up(e, code);
        }
    }
    return OK;
}

/* The collection that an element came in: best one that no map made. */
static enum err_code add_whole(struct walk *w, struct lineage_item *item, struct err *e)
{
    struct lineage *l = w->l;
    size_t n;
    enum err_code code = lineage_members(l, e);
    if (code)
        return err_up(e, code);
    const struct link *links = link_find(&n, &l->members, item->ids);
    const struct digest *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct digest *list = &l->collections[links[i].to];
        const uint64_t *maker = digest_map_get(&l->makers, list);
        const struct op *op = maker && *maker ? op_find(l->ops[l->acts[*maker - 1].op]) : NULL;
        bool source = op && op->node == OP_SOURCE;
        if (!best || source)
            best = list;
        if (source)
            break;
    }
    const char *role = "element";
    if (!best) {
        struct digest *whole = arena_new(w->a, struct digest);
        bool found;
        if ((code = lineage_whole(whole, &found, l, item->ids, e)) || !found)
            return err_up(e, code);
        best = whole;
        role = "part";
    }
    struct lineage_item *whole = lineage_item_new(w->a, l, best, 1, role);
    add_item(w, item, whole);
    return err_up(e, walk_up(w, whole, e));
}

static enum err_code walk_up(struct walk *w, struct lineage_item *item, struct err *e)
{
    const uint64_t *maker = digest_map_get(&w->l->makers, item->ids);
    if (maker && *maker) {
        enum err_code code = lineage_action(&item->action, w->a, w->l, (uint32_t)(*maker - 1), e);
        if (code)
            return err_up(e, code);
        item->action_key = w->l->acts[*maker - 1].key;
        item->actions = 1;
        return follow(w, item) ? err_up(e, add_inputs(w, item, e)) : OK;
    }
    if (item->kind == KIND_NONE || !follow(w, item))
        return OK;
    return err_up(e, add_whole(w, item, e));
}

enum err_code lineage_up(struct lineage_item **out, struct arena *a, struct lineage *l,
                         const struct digest *id, struct err *e)
{
    struct walk w = {.l = l, .a = a};
    *out = lineage_item_new(a, l, arena_memdup(a, id, sizeof *id), 1, "");
    enum err_code code = walk_up(&w, *out, e);
    digest_map_free(&w.seen);
    return err_up(e, code);
}

/* ---- down ---- */

/* An action that something of the item entered. */
struct use {
    uint32_t act;
    struct digest input; /* the record or collection that entered */
};

struct uses {
    struct use *list;
    size_t n, cap;
};

struct wholes {
    struct digest_map set;
    struct digest *ids;
    size_t n, cap;
};

static void add_uses(struct uses *u, const struct lineage *l, const struct digest *id,
                     const bool *skip_op)
{
    size_t n;
    const struct link *links = link_find(&n, &l->uses, id);
    for (size_t i = 0; i < n; i++) {
        const struct act *act = &l->acts[links[i].to];
        if (i && links[i].to == links[i - 1].to)
            continue; /* under two roles */
        if (skip_op && skip_op[act->op] && act->class == ACT_NODE)
            continue;
        u->list = vec_grow(u->list, &u->cap, u->n + 1, sizeof *u->list);
        u->list[u->n++] = (struct use){links[i].to, *id};
    }
}

static void find_wholes(struct wholes *out, const struct lineage *l,
                        const struct lineage_item *item)
{
    for (size_t i = 0; i < item->n; i++) {
        size_t n;
        const struct link *links = link_find(&n, &l->members, &item->ids[i]);
        for (size_t k = 0; k < n; k++) {
            const struct digest *id = &l->collections[links[k].to];
            bool added;
            digest_map_put(&out->set, id, 1, &added);
            if (!added)
                continue;
            out->ids = vec_grow(out->ids, &out->cap, out->n + 1, sizeof *out->ids);
            out->ids[out->n++] = *id;
        }
    }
}

/* Whether something entered a map as an element of a side input, and the op knows for which of the
 * map's elements it mattered. */
static bool by_part(const struct lineage *l, const struct lineage_item *item, const struct use *use,
                    const struct wholes *wholes)
{
    const struct op *op = op_find(l->ops[l->acts[use->act].op]);
    return op && op->took_part && item->kind != op->inputs[0].kind &&
           digest_map_get(&wholes->set, &use->input);
}

static enum err_code find_uses(struct uses *out, struct wholes *wholes, struct walk *w,
                               const struct lineage_item *item, struct err *e)
{
    struct lineage *l = w->l;
    bool *by_element = arena_array(w->a, bool, l->n_ops + 1);
    enum err_code code = lineage_members(l, e);
    if (code)
        return err_up(e, code);
    for (size_t i = 0; i < item->n; i++)
        add_uses(out, l, &item->ids[i], NULL);
    for (size_t i = 0; i < out->n; i++)
        if (l->acts[out->list[i].act].class == ACT_ELEMENT)
            by_element[l->acts[out->list[i].act].op] = true;
    find_wholes(wholes, l, item);
    for (size_t i = 0; i < wholes->n; i++)
        add_uses(out, l, &wholes->ids[i], by_element);
    /* Where a whole map or chain took something in, its elements and segments did too. */
    bool *by_node = arena_array(w->a, bool, l->n_ops + 1);
    for (size_t i = 0; i < out->n; i++)
        if (l->acts[out->list[i].act].class == ACT_NODE)
            by_node[l->acts[out->list[i].act].op] = true;
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        const struct act *act = &l->acts[out->list[i].act];
        if (act->class == ACT_NODE || !by_node[act->op] || by_part(l, item, &out->list[i], wholes))
            out->list[kept++] = out->list[i];
    }
    out->n = kept;
    return OK;
}

static const char *role_of(const Eqloom__Action *action, const struct digest *input)
{
    for (size_t i = 0; i < action->key->n_inputs; i++) {
        ProtobufCBinaryData ids = action->key->inputs[i]->input_ids;
        for (size_t k = 0; k < ids.len / DIGEST_SIZE; k++)
            if (!memcmp(ids.data + k * DIGEST_SIZE, input->bytes, DIGEST_SIZE))
                return action->key->inputs[i]->role;
    }
    return "";
}

static enum err_code walk_down(struct walk *w, struct lineage_item *item, struct err *e);

static bool holds_all(const struct lineage *l, uint32_t list, const struct digest *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t n_links, k = 0;
        const struct link *links = link_find(&n_links, &l->members, &ids[i]);
        while (k < n_links && links[k].to != list)
            k++;
        if (k == n_links)
            return false;
    }
    return true;
}

/* The name of a collection that the same op gave and that holds the records. */
static const char *name_of_whole(const struct lineage *l, const struct digest *ids, size_t n_ids,
                                 uint32_t act)
{
    size_t n;
    const struct link *links = link_find(&n, &l->members, ids);
    for (size_t i = 0; i < n; i++) {
        const struct digest *list = &l->collections[links[i].to];
        const uint64_t *maker = digest_map_get(&l->makers, list);
        const uint64_t *name = digest_map_get(&l->names, list);
        if (name && maker && *maker && l->acts[*maker - 1].op == l->acts[act].op &&
            holds_all(l, links[i].to, ids, n_ids))
            return l->name_list[*name];
    }
    return "";
}

static enum err_code add_made(struct walk *w, struct lineage_item *to, const struct digest *ids,
                              size_t n, const Eqloom__Action *action, const struct use *use,
                              size_t actions, struct err *e)
{
    struct lineage_item *made = lineage_item_new(w->a, w->l, ids, n, role_of(action, &use->input));
    if (n > 1)
        made->name = name_of_whole(w->l, ids, n, use->act);
    made->action = action;
    made->action_key = w->l->acts[use->act].key;
    made->actions = actions;
    add_item(w, to, made);
    return err_up(e, walk_down(w, made, e));
}

/* What a whole node made, an item for each output. Collections that only hold the item's own
 * records again (split, merge) were followed with the others that hold them. */
static enum err_code add_node(struct walk *w, struct lineage_item *item, const struct use *use,
                              const struct wholes *wholes, struct err *e)
{
    const Eqloom__Action *action;
    enum err_code code = lineage_action(&action, w->a, w->l, use->act, e);
    for (size_t i = 0; !code && i < action->n_outputs; i++) {
        ProtobufCBinaryData bytes = action->outputs[i]->output_ids;
        for (size_t k = 0; !code && k < bytes.len / DIGEST_SIZE; k++) {
            struct digest *id = arena_new(w->a, struct digest);
            *id = id_at(bytes, k);
            if (digest_map_get(&wholes->set, id) || (item->n == 1 && digest_equal(id, item->ids)))
                continue;
            struct lineage_item *peek = lineage_item_new(w->a, w->l, id, 1, "");
            const struct kind_info *kind = kind_info(item->kind);
            if (peek->element_kind && kind && wholes->n && !strcmp(peek->element_kind, kind->name))
                continue; /* of others */
            code = add_made(w, item, id, 1, action, use, 1, e);
        }
    }
    return err_up(e, code);
}

static int compare_ids(const void *a, const void *b)
{
    return digest_compare(a, b);
}

/* What the elements' own actions of one op made, together. */
static enum err_code add_elements(struct walk *w, struct lineage_item *item, const struct use *uses,
                                  size_t n_uses, struct err *e)
{
    struct digest *ids = NULL;
    size_t n = 0, cap = 0, unique = 0;
    const Eqloom__Action *first = NULL;
    enum err_code code = OK;
    for (size_t i = 0; !code && i < n_uses; i++) {
        struct arena scratch = {0};
        const Eqloom__Action *action;
        code = lineage_action(&action, i ? &scratch : w->a, w->l, uses[i].act, e);
        first = i ? first : action;
        for (size_t k = 0; !code && k < action->n_outputs; k++) {
            ProtobufCBinaryData bytes = action->outputs[k]->output_ids;
            for (size_t m = 0; m < bytes.len / DIGEST_SIZE; m++) {
                ids = vec_grow(ids, &cap, n + 1, sizeof *ids);
                ids[n++] = id_at(bytes, m);
            }
        }
        arena_free(&scratch);
    }
    if (n)
        qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 0; i < n; i++)
        if (!unique || !digest_equal(&ids[i], &ids[unique - 1]))
            ids[unique++] = ids[i];
    const struct digest *kept = n ? arena_memdup(w->a, ids, unique * sizeof *ids) : NULL;
    free(ids);
    return code || !unique ? err_up(e, code)
                           : err_up(e, add_made(w, item, kept, unique, first, uses, n_uses, e));
}

/* The same of those outputs in which the item's records took part, whatever actions made them. */
static enum err_code add_by_part(struct walk *w, struct lineage_item *item, const struct use *uses,
                                 size_t n_uses, struct err *e)
{
    const Eqloom__Action *action;
    struct digest *ids;
    size_t n;
    uint32_t *acts = arena_array(w->a, uint32_t, n_uses);
    for (size_t i = 0; i < n_uses; i++)
        acts[i] = uses[i].act;
    enum err_code code = lineage_action(&action, w->a, w->l, acts[0], e);
    if (!code)
        code = lineage_with_part(&ids, &n, w->a, w->l, acts, n_uses, item->ids, item->n,
                                 role_of(action, &uses->input), e);
    return code || !n ? err_up(e, code)
                      : err_up(e, add_made(w, item, ids, n, action, uses, n_uses, e));
}

/* By op's name, whole nodes in the order of their keys. */
static int compare_uses(const void *a, const void *b, void *lineage)
{
    const struct lineage *l = lineage;
    const struct use *x = a, *y = b;
    int c = strcmp(l->ops[l->acts[x->act].op], l->ops[l->acts[y->act].op]);
    return c ? c : (x->act > y->act) - (x->act < y->act);
}

static enum err_code walk_down(struct walk *w, struct lineage_item *item, struct err *e)
{
    struct uses uses = {0};
    struct wholes wholes = {0};
    if (!follow(w, item))
        return OK;
    enum err_code code = find_uses(&uses, &wholes, w, item, e);
    if (!code && uses.n)
        qsort_r(uses.list, uses.n, sizeof *uses.list, compare_uses, w->l);
    for (size_t i = 0, n; !code && i < uses.n; i += n) {
        const struct act *act = &w->l->acts[uses.list[i].act];
        bool part = by_part(w->l, item, &uses.list[i], &wholes);
        for (n = 1; i + n < uses.n && w->l->acts[uses.list[i + n].act].op == act->op &&
                    (part || act->class != ACT_NODE || uses.list[i + n].act == uses.list[i].act);)
            n++;
        code = part                     ? add_by_part(w, item, &uses.list[i], n, e)
               : act->class == ACT_NODE ? add_node(w, item, &uses.list[i], &wholes, e)
                                        : add_elements(w, item, &uses.list[i], n, e);
    }
    free(uses.list);
    free(wholes.ids);
    digest_map_free(&wholes.set);
    return err_up(e, code);
}

enum err_code lineage_down(struct lineage_item **out, struct arena *a, struct lineage *l,
                           const struct digest *id, struct err *e)
{
    struct walk w = {.l = l, .a = a};
    struct digest *whole = arena_new(a, struct digest);
    bool part;
    *out = lineage_item_new(a, l, arena_memdup(a, id, sizeof *id), 1, "");
    enum err_code code = walk_down(&w, *out, e);
    if (!code && !(*out)->n_items && !(code = lineage_whole(whole, &part, l, id, e)) && part) {
        struct lineage_item *item = lineage_item_new(a, l, whole, 1, "part");
        add_item(&w, *out, item);
        code = walk_down(&w, item, e);
    }
    digest_map_free(&w.seen);
    return err_up(e, code);
}
