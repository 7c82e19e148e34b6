/* Walks the trees of lineage.h and prints them on the way, as text or lines of JSON:
 *
 *     quickstart/model  checkpoint 2e0763b826c7  <- train steps=20 seed=42
 *       batches: quickstart/train-tokens  259 of token-batch 322468e104bc  <- tokenize
 *     quickstart/rules  1379 of rule b3f926509227
 *       certify rules -> quickstart/certified  1379 of rule b48ba20b43af
 *
 * Up: below each record are the inputs of the action that made it. Below an element without an
 * action of its own (an expression of a source) is its collection.
 *
 * Down: below each item are the outputs of the actions that read its records, directly or as
 * elements of collections. A map is followed element by element from elements and as a whole from
 * collections, never both. If an op knows which elements of a side input took part in an output
 * (op.took_part), an element leads to those outputs only; upward, an output leads to the elements
 * that took part. */
#include "engine/cli/provenance/lineage.h"

#include "base/buf.h"
#include "engine/export/reflect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_INPUTS = 12, SHOWN_IDS = 4, SHOWN_TEXT = 40 };

/* A set of records that share a line of the tree: one record, a collection, a file, or, downward,
 * all outputs of one op for the item above. */
struct item {
    const struct digest *ids;
    size_t n;
    const char *role; /* the input port between it and the item above, or "element" */
    /* Up: the action that made it. Down: the first of `actions` that made it from the item above.
     * NULL if unknown. */
    const Eqloom__Action *action;
    struct digest action_key;
    size_t actions;
    bool above; /* already printed further up, with everything below it */
};

struct walk {
    struct cli *c;
    struct lineage *l;
    bool down;
    struct digest_map seen; /* items already followed, by the digest of their ids */
    size_t items;           /* printed */
};

static bool follow(struct walk *w, struct item *item)
{
    struct span ids = span_of(item->ids, item->n * sizeof *item->ids);
    struct digest what = digest_of(&ids, 1);
    bool added;
    digest_map_put(&w->seen, &what, 1, &added);
    item->above = !added;
    return added;
}

/* ---- a line ---- */

static void put_what(struct buf *b, const struct lineage_text *text, const struct item *item)
{
    char hex[DIGEST_HEX];
    if (item->n > 1) {
        buf_printf(b, "%zu of %s", item->n, text->kind);
        for (size_t i = 0; i < item->n && i < SHOWN_IDS; i++)
            buf_printf(b, "%s%.12s", i ? ", " : ": ", digest_hex(hex, &item->ids[i]));
        if (item->n > SHOWN_IDS)
            buf_puts(b, ", ...");
        return;
    }
    buf_printf(b, "%s%s", text->name, *text->name ? "  " : "");
    if (text->element_kind)
        buf_printf(b, "%" PRIu64 " of %s", text->elements, text->element_kind);
    else
        buf_puts(b, text->kind);
    buf_printf(b, " %.12s", digest_hex(hex, item->ids));
}

static bool is_initial(const struct op *op, const Eqloom__KeyParam *p)
{
    for (size_t i = 0; op && op->params && op->params[i].name; i++)
        if (!strcmp(op->params[i].name, p->name)) {
            const char *initial = op->params[i].initial;
            if (op->params[i].type == OP_REAL && initial) /* "1e-8" is "1e-08" */
                return strtod(initial, NULL) == strtod(p->value, NULL);
            return initial && !strcmp(initial, p->value);
        }
    return false;
}

/* Writes the op with the parameters that differ from its defaults, and always the seed. */
static void put_op(struct buf *b, const Eqloom__ActionKey *key)
{
    const struct op *op = op_find(key->op);
    buf_puts(b, key->op);
    for (size_t i = 0; i < key->n_params; i++) {
        const Eqloom__KeyParam *p = key->params[i];
        if (!strcmp(p->name, "@segment") || (strcmp(p->name, "seed") && is_initial(op, p)))
            continue;
        size_t n = strlen(p->value);
        bool quoted = !n || strpbrk(p->value, " \n");
        buf_printf(b, " %s=%s", p->name, quoted ? "'" : "");
        for (size_t k = 0; k < n && k < SHOWN_TEXT; k++)
            buf_putc(b, p->value[k] == '\n' ? ' ' : p->value[k]);
        buf_printf(b, "%s%s", n > SHOWN_TEXT ? "..." : "", quoted ? "'" : "");
    }
}

static void print_text(FILE *to, const struct lineage_text *text, const struct item *item,
                       bool down, int depth)
{
    struct buf b = {0};
    if (down && item->action) {
        put_op(&b, item->action->key);
        buf_printf(&b, " (%s) -> ", item->role);
        put_what(&b, text, item);
    } else {
        if (depth)
            buf_printf(&b, "%s: ", item->role);
        put_what(&b, text, item);
        if (item->action && !item->above) {
            buf_puts(&b, "  <- ");
            put_op(&b, item->action->key);
        }
    }
    fprintf(to, "%*s%s%s\n", 2 * depth, "", b.data, item->above ? "  (above)" : "");
    buf_free(&b);
}

static json_t *id_json(const struct digest *id)
{
    char hex[DIGEST_HEX];
    return json_string(digest_hex(hex, id));
}

static json_t *action_json(const struct item *item)
{
    const Eqloom__ActionKey *key = item->action->key;
    json_t *params = json_object();
    for (size_t i = 0; i < key->n_params; i++)
        json_object_set_new(params, key->params[i]->name, json_string(key->params[i]->value));
    return json_pack("{s:s, s:I, s:o, s:s, s:I, s:o}", "op", key->op, "version",
                     (json_int_t)key->version, "key", id_json(&item->action_key), "run",
                     item->action->run, "actions", (json_int_t)item->actions, "params", params);
}

static void print_item(struct walk *w, const struct item *item, int depth)
{
    struct cli *c = w->c;
    struct lineage_text text = lineage_describe(c->arena, w->l, item->ids);
    w->items++;
    if (item->n > 1)
        text = (struct lineage_text){.kind = text.kind, .name = ""};
    if (!c->json) {
        print_text(c->out, &text, item, w->down, depth);
        return;
    }
    json_t *ids = json_array();
    for (size_t i = 0; i < item->n; i++)
        json_array_append_new(ids, id_json(&item->ids[i]));
    reflect_line(c->out,
                 w->down ? "depth:u role:s kind:s name:s ids:o elements:u above:b by:o"
                         : "depth:u role:s kind:s name:s ids:o elements:u above:b made_by:o",
                 (uint64_t)depth, item->role, text.kind, text.name, ids, text.elements, item->above,
                 item->action ? action_json(item) : NULL);
}

/* ---- elements that took part ---- */

/* Adds the outputs of an action; with `elements`, the elements of collections instead of the
 * collections. */
static enum err_code id_set_add_outputs(struct id_set *s, struct lineage *l, uint32_t act,
                                        bool elements, struct err *e)
{
    struct arena a = {0};
    const Eqloom__Action *action;
    enum err_code code = lineage_action(&action, &a, l, act, e);
    for (size_t i = 0; !code && i < action->n_outputs; i++) {
        ProtobufCBinaryData bytes = action->outputs[i]->output_ids;
        for (size_t k = 0; !code && k < bytes.len / DIGEST_SIZE; k++) {
            const struct digest *id = lineage_id(bytes, k);
            if (elements && lineage_kind(l, id) == KIND_COLLECTION)
                code = id_set_add_elements(s, l, id, e);
            else
                id_set_add(s, id);
        }
    }
    arena_free(&a);
    return err_up(e, code);
}

/* *out is NULL if gc removed the record. */
static enum err_code read_record(ProtobufCMessage **out, struct arena *a, struct lineage *l,
                                 const struct digest *id, struct err *e)
{
    enum record_kind kind = lineage_kind(l, id);
    *out = NULL;
    return kind_info(kind) ? err_up(e, store_get_message(out, l->c->store, id, kind, a, e)) : OK;
}

/* Keeps the candidates that are related to one of the others. Candidates are outputs and the others
 * elements of the side input `role`; with by_output, it is the other way round. The relation is not
 * stored: it is computed from the records. */
static enum err_code keep_related(struct id_set *candidates, struct lineage *l, const struct op *op,
                                  const char *role, const struct digest *others, size_t n_others,
                                  bool by_output, struct err *e)
{
    struct arena arena = {0}, scratch = {0};
    ProtobufCMessage **read = arena_array(&arena, ProtobufCMessage *, n_others);
    size_t kept = 0;
    enum err_code code = OK;
    for (size_t i = 0; !code && i < n_others; i++)
        code = read_record(&read[i], &arena, l, &others[i], e);
    for (size_t i = 0; !code && i < candidates->n; i++) {
        ProtobufCMessage *m;
        bool related = false;
        code = read_record(&m, &scratch, l, &candidates->ids[i], e);
        for (size_t k = 0; !code && m && !related && k < n_others; k++)
            related = read[k] && (by_output ? op->took_part(read[k], role, m)
                                            : op->took_part(m, role, read[k]));
        if (related)
            candidates->ids[kept++] = candidates->ids[i];
        arena_reset(&scratch);
    }
    candidates->n = kept;
    arena_free(&arena);
    arena_free(&scratch);
    return err_up(e, code);
}

/* ---- up ---- */

static enum err_code walk_up(struct walk *w, const struct digest *id, const char *role, int depth,
                             struct err *e);

/* A source can have many files, and many rules can match: text shows only the first. */
static enum err_code walk_some(struct walk *w, const struct digest *ids, size_t n, bool many,
                               const char *role, int depth, struct err *e)
{
    enum err_code code = OK;
    size_t shown = many && !w->c->json && n > SHOWN_INPUTS ? SHOWN_INPUTS : n;
    for (size_t i = 0; !code && i < shown; i++)
        code = walk_up(w, &ids[i], role, depth, e);
    if (!code && shown < n)
        fprintf(w->c->out, "%*s... and %zu more\n", 2 * depth, "", n - shown);
    return err_up(e, code);
}

/* Walks the elements of a side input that took part in the item, which is one record. */
static enum err_code walk_parts(struct walk *w, const struct item *item, const char *role,
                                const struct digest *input, int depth, struct err *e)
{
    const struct op *op = op_find(item->action->key->op);
    if (!op || !op->took_part || lineage_kind(w->l, item->ids) == KIND_COLLECTION ||
        lineage_kind(w->l, input) != KIND_COLLECTION || !strcmp(role, op->inputs[0].role))
        return OK;
    struct id_set parts = {0};
    enum err_code code = id_set_add_elements(&parts, w->l, input, e);
    if (!code)
        code = keep_related(&parts, w->l, op, role, item->ids, 1, true, e);
    if (!code)
        code = walk_some(w, parts.ids, parts.n, true, role, depth, e);
    free(parts.ids);
    return err_up(e, code);
}

static enum err_code walk_inputs(struct walk *w, const struct item *item, int depth, struct err *e)
{
    const Eqloom__ActionKey *key = item->action->key;
    enum err_code code = OK;
    for (size_t i = 0; !code && i < key->n_inputs; i++) {
        const char *role = key->inputs[i]->role;
        ProtobufCBinaryData bytes = key->inputs[i]->input_ids;
        size_t n = bytes.len / DIGEST_SIZE;
        const struct digest *ids = lineage_id(bytes, 0);
        bool files = n && lineage_kind(w->l, &ids[0]) == KIND_NONE;
        code = walk_some(w, ids, n, files, role, depth, e);
        for (size_t k = 0; !code && k < n; k++)
            code = walk_parts(w, item, role, &ids[k], depth, e);
    }
    return err_up(e, code);
}

static enum err_code walk_up(struct walk *w, const struct digest *id, const char *role, int depth,
                             struct err *e)
{
    struct item item = {.ids = id, .n = 1, .role = role, .actions = 1};
    uint32_t maker = lineage_act(w->l, id);
    const struct digest *list = NULL;
    enum err_code code = OK;
    if (maker != NO_ACT) {
        if ((code = lineage_action(&item.action, w->c->arena, w->l, maker, e)))
            return err_up(e, code);
        item.action_key = w->l->acts[maker].key;
    }
    bool ends = (!item.action && lineage_kind(w->l, id) == KIND_NONE) || !follow(w, &item);
    print_item(w, &item, depth);
    if (ends)
        return OK;
    if (item.action)
        return err_up(e, walk_inputs(w, &item, depth + 1, e));
    code = lineage_holder(&list, w->l, id, e);
    if (!code && list)
        code = walk_up(w, list, "element", depth + 1, e);
    return err_up(e, code);
}

/* ---- down ---- */

/* How an action read the item. Of the actions of one op only those of the highest rank are
 * followed. */
enum rank { WHOLE_INTO_ELEMENT, WHOLE_INTO_NODE, RECORD_INTO_ELEMENT, RECORD_INTO_NODE };

struct use {
    uint32_t act;
    struct digest input; /* the record or collection that was read */
    enum rank rank;
};

struct uses {
    struct use *list;
    size_t n, cap;
    struct id_set wholes; /* collections that contain records of the item */
};

static void add_uses(struct uses *u, const struct lineage *l, const struct digest *id, bool whole)
{
    size_t n;
    const struct link *links = link_find(&n, &l->uses, id);
    for (size_t i = 0; i < n; i++) {
        bool node = l->acts[links[i].to].whole;
        if (i && links[i].to == links[i - 1].to)
            continue; /* the same action, under another role */
        u->list = vec_grow(u->list, &u->cap, u->n + 1, sizeof *u->list);
        u->list[u->n++] = (struct use){links[i].to, *id,
                                       whole  ? node ? WHOLE_INTO_NODE : WHOLE_INTO_ELEMENT
                                       : node ? RECORD_INTO_NODE
                                              : RECORD_INTO_ELEMENT};
    }
}

static void find_wholes(struct uses *u, const struct lineage *l, const struct item *item)
{
    for (size_t i = 0; i < item->n; i++) {
        size_t n;
        const struct link *links = link_find(&n, &l->members, &item->ids[i]);
        for (size_t k = 0; k < n; k++)
            id_set_add(&u->wholes, &l->collections.ids[links[k].to]);
    }
    id_set_sort(&u->wholes);
}

/* Orders by op, then by descending rank, then by the actions' keys. */
static int compare_uses(const void *a, const void *b, void *lineage)
{
    const struct lineage *l = lineage;
    const struct use *x = a, *y = b;
    int c = strcmp(l->acts[x->act].op, l->acts[y->act].op);
    c = c ? c : (x->rank < y->rank) - (x->rank > y->rank);
    return c ? c : (x->act > y->act) - (x->act < y->act);
}

static enum err_code find_uses(struct uses *u, struct walk *w, const struct item *item,
                               struct err *e)
{
    struct lineage *l = w->l;
    enum err_code code = lineage_members(l, e);
    if (code)
        return err_up(e, code);
    for (size_t i = 0; i < item->n; i++)
        add_uses(u, l, &item->ids[i], false);
    find_wholes(u, l, item);
    for (size_t i = 0; i < u->wholes.n; i++)
        add_uses(u, l, &u->wholes.ids[i], true);
    if (u->n)
        qsort_r(u->list, u->n, sizeof *u->list, compare_uses, l);
    return OK;
}

static enum err_code walk_down(struct walk *w, struct item *item, int depth, struct err *e);

/* Whether a collection contains only the item's records again, or others of their kind (split,
 * merge). Such collections are followed together with those that contain the item. */
static bool holds_alike(const struct walk *w, const struct item *item, const struct digest *made,
                        const struct uses *u)
{
    for (size_t i = 0; i < u->wholes.n; i++)
        if (digest_equal(&u->wholes.ids[i], made))
            return true;
    const struct kind_info *kind = kind_info(lineage_kind(w->l, item->ids));
    const char *of = lineage_describe(w->c->arena, w->l, made).element_kind;
    return of && kind && u->wholes.n && !strcmp(of, kind->name);
}

/* Walks the outputs of a group of actions of one op: those of a whole node one by one, those of
 * elements together. */
static enum err_code walk_made(struct walk *w, const struct item *item, const struct uses *u,
                               const struct use *use, size_t n_uses, bool by_part, int depth,
                               struct err *e)
{
    struct id_set made = {0};
    const Eqloom__Action *action;
    bool one_by_one = !by_part && w->l->acts[use->act].whole;
    enum err_code code = lineage_action(&action, w->c->arena, w->l, use->act, e);
    const char *role = code ? "" : lineage_role(action->key, &use->input);
    for (size_t i = 0; !code && i < n_uses; i++)
        code = id_set_add_outputs(&made, w->l, use[i].act, by_part, e);
    if (!one_by_one)
        id_set_sort(&made);
    if (!code && by_part)
        code = keep_related(&made, w->l, op_find(w->l->acts[use->act].op), role, item->ids, item->n,
                            false, e);
    size_t step = one_by_one ? 1 : made.n;
    for (size_t i = 0; !code && i < made.n; i += step) {
        struct item next = {&made.ids[i], step, role, action, w->l->acts[use->act].key,
                            n_uses,       false};
        bool same = item->n == 1 && digest_equal(next.ids, item->ids);
        if (!one_by_one || !(same || holds_alike(w, item, next.ids, u)))
            code = walk_down(w, &next, depth, e);
    }
    free(made.ids);
    return err_up(e, code);
}

static enum err_code walk_down(struct walk *w, struct item *item, int depth, struct err *e)
{
    struct uses u = {0};
    bool ends = !follow(w, item);
    print_item(w, item, depth);
    if (ends)
        return OK;
    enum err_code code = find_uses(&u, w, item, e);
    for (size_t i = 0, n; !code && i < u.n;) {
        const struct use *use = &u.list[i];
        const struct act *act = &w->l->acts[use->act];
        const struct op *op = op_find(act->op);
        bool by_part = op && op->took_part && use->rank <= WHOLE_INTO_NODE &&
                       lineage_kind(w->l, item->ids) != op->inputs[0].kind;
        bool apart = act->whole && !by_part;
        for (n = 0; i < u.n && !strcmp(w->l->acts[u.list[i].act].op, act->op); i++)
            n += u.list[i].rank == use->rank;
        for (size_t k = 0; !code && k < n; k += apart ? 1 : n)
            if (!apart || !k ||
                use[k].act != use[k - 1].act) /* the same action, through two collections */
                code = walk_made(w, item, &u, use + k, apart ? 1 : n, by_part, depth + 1, e);
    }
    free(u.list);
    free(u.wholes.ids);
    return err_up(e, code);
}

enum err_code lineage_print(struct cli *c, struct lineage *l, const struct digest *id, bool down,
                            struct err *e)
{
    struct walk w = {.c = c, .l = l, .down = down};
    struct item root = {.ids = id, .n = 1, .role = ""};
    enum err_code code = down ? walk_down(&w, &root, 0, e) : walk_up(&w, id, "", 0, e);
    if (!code && !c->json && w.items == 1 && (down || lineage_act(l, id) == NO_ACT))
        fprintf(c->out, "  %s\n",
                down ? "nothing was made with it" : "the store has no action that made it");
    digest_map_free(&w.seen);
    return err_up(e, code);
}
