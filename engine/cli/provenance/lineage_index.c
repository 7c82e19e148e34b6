/* The index of lineage.h: one pass over records (kinds), actions, refs and source files. */
#include "engine/cli/provenance/lineage.h"

#include "base/buf.h"
#include "collection.pb-c.h"
#include "engine/cache/witness_counts.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/job/job.h"
#include "schemas/canonical.h"
#include "store/collection/collection.h"

#include <stdlib.h>
#include <string.h>

enum record_kind lineage_kind(const struct lineage *l, const struct digest *id)
{
    const uint64_t *kind = digest_map_get(&l->kinds, id);
    return kind ? (enum record_kind) * kind : KIND_NONE;
}

struct lineage_text lineage_describe(struct arena *a, const struct lineage *l,
                                     const struct digest *id)
{
    const struct kind_info *kind = kind_info(lineage_kind(l, id));
    const uint64_t *name = digest_map_get(&l->names, id);
    struct lineage_text text = {.kind = kind ? kind->name : "file",
                                .name = name ? (const char *)*name : ""};
    Eqloom__Collection *m;
    if (kind && kind->kind == KIND_COLLECTION &&
        !store_get_message(&m, l->c->store, id, KIND_COLLECTION, a, NULL)) {
        text.elements = m->count;
        text.element_kind = m->element_kind;
    } else if (!name && kind) {
        text.name = resolve_label(a, l->c, id);
    }
    return text;
}

/* ---- sets and links ---- */

void id_set_add(struct id_set *s, const struct digest *id)
{
    s->ids = vec_grow(s->ids, &s->cap, s->n + 1, sizeof *s->ids);
    s->ids[s->n++] = *id;
}

static int compare_digests(const void *a, const void *b)
{
    return digest_compare(a, b);
}

void id_set_sort(struct id_set *s)
{
    size_t kept = 0;
    if (s->n)
        qsort(s->ids, s->n, sizeof *s->ids, compare_digests);
    for (size_t i = 0; i < s->n; i++)
        if (!kept || !digest_equal(&s->ids[i], &s->ids[kept - 1]))
            s->ids[kept++] = s->ids[i];
    s->n = kept;
}

static void link_add(struct link_list *list, const struct digest *from, uint32_t to)
{
    list->links = vec_grow(list->links, &list->cap, list->n + 1, sizeof *list->links);
    list->links[list->n++] = (struct link){*from, to};
}

static int compare_links(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    int c = digest_compare(&x->from, &y->from);
    return c ? c : (x->to > y->to) - (x->to < y->to);
}

static void link_sort(struct link_list *list)
{
    if (list->n)
        qsort(list->links, list->n, sizeof *list->links, compare_links);
}

const struct link *link_find(size_t *n, const struct link_list *list, const struct digest *from)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (digest_compare(&list->links[middle].from, from) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *n = 0;
    while (low + *n < list->n && digest_equal(&list->links[low + *n].from, from))
        ++*n;
    return list->links + low;
}

/* ---- actions ---- */

static bool is_preferred(const struct act *a, const struct act *b)
{
    if (a->whole != b->whole)
        return a->whole;
    if (a->reused != b->reused)
        return !a->reused;
    return a->finished_ns < b->finished_ns;
}

static bool reused_later(const struct act *a, const struct act *b)
{
    return a->reused && (!b->reused || a->finished_ns > b->finished_ns);
}

static uint32_t best_act(const struct lineage *l, const struct digest *id,
                         bool (*is_better)(const struct act *a, const struct act *b))
{
    size_t n;
    const struct link *links = link_find(&n, &l->outputs, id);
    uint32_t best = n ? links->to : NO_ACT;
    for (size_t i = 1; i < n; i++)
        if (is_better(&l->acts[links[i].to], &l->acts[best]))
            best = links[i].to;
    return best;
}

uint32_t lineage_act(const struct lineage *l, const struct digest *id)
{
    return best_act(l, id, is_preferred);
}

uint32_t lineage_reuser(const struct lineage *l, const struct digest *id)
{
    uint32_t act = best_act(l, id, reused_later);
    return act != NO_ACT && l->acts[act].reused ? act : NO_ACT;
}

enum err_code lineage_action(const Eqloom__Action **out, struct arena *a, struct lineage *l,
                             uint32_t act, struct err *e)
{
    struct span bytes;
    const Eqloom__Action *m = NULL;
    enum err_code code = store_action(&bytes, l->c->store, &l->acts[act].key, a, e);
    if (!code)
        code = canonical_unpack(&m, a, &eqloom__action__descriptor, bytes, e);
    *out = m;
    return err_up(e, code);
}

/* Whether the action is that of a block, whose elements have actions of their own, or of a summary
 * or the like, which is not a record. Names of the engine's own inputs begin with '@'. */
static bool is_internal(const struct lineage *l, const Eqloom__ActionKey *key)
{
    for (size_t i = 0; i < key->n_inputs; i++) {
        const Eqloom__KeyInput *in = key->inputs[i];
        if (in->role[0] == '@')
            return true;
        if (in->input_ids.len == DIGEST_SIZE &&
            lineage_kind(l, lineage_id(in->input_ids, 0)) == KIND_COLLECTION_BLOCK)
            return true;
    }
    return false;
}

const char *lineage_role(const Eqloom__ActionKey *key, const struct digest *id)
{
    for (size_t i = 0; i < key->n_inputs; i++)
        for (size_t k = 0; k < key->inputs[i]->input_ids.len / DIGEST_SIZE; k++)
            if (digest_equal(lineage_id(key->inputs[i]->input_ids, k), id))
                return key->inputs[i]->role;
    return NULL;
}

static bool is_whole(const Eqloom__Action *action)
{
    const Eqloom__ActionKey *key = action->key;
    const struct op *op = op_find(key->op);
    bool segment = key->n_params == 1 && !strcmp(key->params[0]->name, "@segment");
    return !strncmp(action->note, "elements=", 9) || !(segment || (op && op->node == OP_MAP));
}

static void add_action(struct lineage *l, const struct digest *key, const Eqloom__Action *action)
{
    uint32_t index = (uint32_t)l->n_acts;
    struct act act = {.key = *key,
                      .whole = is_whole(action),
                      .reused = witness_reason(action->note),
                      .finished_ns = action->finished_ns,
                      .op = arena_strdup(&l->arena, action->key->op)};
    l->acts = vec_grow(l->acts, &l->cap_acts, l->n_acts + 1, sizeof *l->acts);
    l->acts[l->n_acts++] = act;
    for (size_t i = 0; i < action->key->n_inputs; i++) {
        ProtobufCBinaryData ids = action->key->inputs[i]->input_ids;
        for (size_t k = 0; k < ids.len / DIGEST_SIZE; k++)
            link_add(&l->uses, lineage_id(ids, k), index);
    }
    for (size_t i = 0; i < action->n_outputs; i++) {
        ProtobufCBinaryData ids = action->outputs[i]->output_ids;
        for (size_t k = 0; k < ids.len / DIGEST_SIZE; k++) {
            const struct digest *id = lineage_id(ids, k);
            if (lineage_role(action->key, id))
                continue; /* passed through, so made by an earlier action */
            link_add(&l->outputs, id, index);
            if (act.whole && lineage_kind(l, id) == KIND_COLLECTION)
                id_set_add(&l->collections, id);
        }
    }
}

static enum err_code take_action(void *arg, const struct digest *key, struct span bytes,
                                 struct err *e)
{
    struct lineage *l = arg;
    struct arena a = {0};
    const Eqloom__Action *action;
    bool good = !canonical_unpack(&action, &a, &eqloom__action__descriptor, bytes, NULL);
    if (good && action->key && !is_internal(l, action->key))
        add_action(l, key, action);
    arena_free(&a);
    return OK;
}

/* ---- collections ---- */

enum err_code id_set_add_elements(struct id_set *s, struct lineage *l,
                                  const struct digest *collection, struct err *e)
{
    struct collection_head all;
    struct arena a = {0};
    enum err_code code = collection_read(&all, l->c->store, collection, UINT64_MAX, &a, e);
    for (size_t i = 0; !code && i < all.n; i++)
        id_set_add(s, &all.ids[i]);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code lineage_members(struct lineage *l, struct err *e)
{
    enum err_code code = OK;
    if (l->has_members)
        return OK;
    l->has_members = true;
    id_set_sort(&l->collections);
    for (size_t i = 0; !code && i < l->collections.n; i++) {
        struct id_set elements = {0};
        code = id_set_add_elements(&elements, l, &l->collections.ids[i], e);
        for (size_t k = 0; k < elements.n; k++)
            link_add(&l->members, &elements.ids[k], (uint32_t)i);
        free(elements.ids);
    }
    link_sort(&l->members);
    return err_up(e, code);
}

enum err_code lineage_holder(const struct digest **out, struct lineage *l, const struct digest *id,
                             struct err *e)
{
    size_t n;
    *out = NULL;
    enum err_code code = lineage_members(l, e);
    if (code)
        return err_up(e, code);
    const struct link *links = link_find(&n, &l->members, id);
    for (size_t i = 0; i < n; i++) {
        const struct digest *list = &l->collections.ids[links[i].to];
        uint32_t maker = lineage_act(l, list);
        const struct op *op = maker == NO_ACT ? NULL : op_find(l->acts[maker].op);
        bool source = op && op->node == OP_SOURCE;
        if (!*out || source)
            *out = list;
        if (source)
            break;
    }
    return OK;
}

enum err_code lineage_maker(uint32_t *act, const struct digest **made, struct lineage *l,
                            const struct digest *id, struct err *e)
{
    *made = id;
    if ((*act = lineage_act(l, id)) != NO_ACT)
        return OK;
    enum err_code code = lineage_holder(made, l, id, e);
    if (!code && *made)
        *act = lineage_act(l, *made);
    return err_up(e, code);
}

/* ---- names ---- */

/* The name of a node's output ("job/node") is preferred to a ref or a tag. */
static bool is_of_node(const char *name)
{
    return strchr(name, '/') && strncmp(name, JOB_TAGS, strlen(JOB_TAGS));
}

static enum err_code take_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct lineage *l = arg;
    uint64_t copy = (uintptr_t)arena_strdup(&l->arena, name);
    bool added;
    uint64_t *known = digest_map_put(&l->names, id, copy, &added);
    if (!added && is_of_node(name) && !is_of_node((const char *)*known))
        *known = copy;
    return OK;
}

static enum err_code take_source(void *arg, const char *path, struct span value, struct err *e)
{
    struct lineage *l = arg;
    struct arena a = {0};
    Eqloom__SourceFile *m;
    if (!canonical_unpack(&m, &a, &eqloom__source_file__descriptor, value, NULL) &&
        m->file_id.len == DIGEST_SIZE)
        take_ref(l, place_shown(&l->arena, path), lineage_id(m->file_id, 0), e);
    arena_free(&a);
    return OK;
}

/* ---- opening ---- */

static enum err_code take_record(void *arg, const struct digest *id, enum record_kind kind,
                                 uint64_t stored, struct err *e)
{
    struct lineage *l = arg;
    digest_map_put(&l->kinds, id, kind, NULL);
    return OK;
}

enum err_code lineage_open(struct lineage **out, struct cli *c, struct err *e)
{
    struct lineage *l = *out = must_calloc(1, sizeof *l);
    l->c = c;
    enum err_code code = store_each_record(c->store, take_record, l, e);
    if (!code)
        code = store_each_action(c->store, take_action, l, e);
    if (!code)
        code = store_each_ref(c->store, "", take_ref, l, e);
    if (!code)
        code = store_each_source(c->store, take_source, l, e);
    link_sort(&l->uses);
    link_sort(&l->outputs);
    return err_up(e, code);
}

void lineage_close(struct lineage *l)
{
    if (!l)
        return;
    digest_map_free(&l->kinds);
    digest_map_free(&l->names);
    free(l->acts);
    free(l->uses.links);
    free(l->outputs.links);
    free(l->members.links);
    free(l->collections.ids);
    arena_free(&l->arena);
    free(l);
}
