/* The index of lineage.h: one pass over records (kinds), actions, refs and source files. */
#include "engine/cli/provenance/lineage_internal.h"

#include "base/buf.h"
#include "collection.pb-c.h"
#include "engine/cache/witness_counts.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/job/job.h"
#include "schemas/canonical.h"
#include "store/collection.h"

#include <stdlib.h>
#include <string.h>

enum record_kind lineage_kind(const struct lineage *l, const struct digest *id)
{
    const uint64_t *kind = digest_map_get(&l->kinds, id);
    return kind ? (enum record_kind) * kind : KIND_NONE;
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

static uint32_t op_index(struct lineage *l, const char *name)
{
    for (size_t i = 0; i < l->n_ops; i++)
        if (!strcmp(l->ops[i], name))
            return (uint32_t)i;
    l->ops = vec_grow(l->ops, &l->cap_ops, l->n_ops + 1, sizeof *l->ops);
    l->ops[l->n_ops] = arena_strdup(&l->arena, name);
    return (uint32_t)l->n_ops++;
}

static struct digest id_at(ProtobufCBinaryData bytes, size_t i)
{
    struct digest id;
    memcpy(id.bytes, bytes.data + i * DIGEST_SIZE, DIGEST_SIZE);
    return id;
}

/* A block of a map's elements: they have actions of their own. Or summaries, or chunks of a source,
 * which are no records. */
static bool is_of_block(const struct lineage *l, const Eqloom__ActionKey *key)
{
    for (size_t i = 0; i < key->n_inputs; i++)
        if (!strcmp(key->inputs[i]->role, "@summary") || !strcmp(key->inputs[i]->role, "@chunks"))
            return true;
        else if (key->inputs[i]->input_ids.len == DIGEST_SIZE) {
            struct digest id = id_at(key->inputs[i]->input_ids, 0);
            if (lineage_kind(l, &id) == KIND_COLLECTION_BLOCK)
                return true;
        }
    return false;
}

static bool is_input(const Eqloom__ActionKey *key, const struct digest *id)
{
    for (size_t i = 0; i < key->n_inputs; i++)
        for (size_t k = 0; k < key->inputs[i]->input_ids.len; k += DIGEST_SIZE)
            if (!memcmp(key->inputs[i]->input_ids.data + k, id->bytes, DIGEST_SIZE))
                return true;
    return false;
}

static enum act_class classify(const Eqloom__Action *action)
{
    const struct op *op = op_find(action->key->op);
    if (!strncmp(action->note, "elements=", 9))
        return ACT_NODE;
    if (action->key->n_params == 1 && !strcmp(action->key->params[0]->name, "@segment"))
        return ACT_SEGMENT;
    return op && op->node == OP_MAP ? ACT_ELEMENT : ACT_NODE;
}

/* Several may have made the same: a whole node says most, then what ran, then the last that did. */
static bool says_more(const struct act *a, const struct act *b)
{
    bool whole = a->class == ACT_NODE, other = b->class == ACT_NODE;
    if (whole != other)
        return whole;
    if (a->reused != b->reused)
        return !a->reused;
    return !whole && a->finished_ns > b->finished_ns;
}

static void take_reuse(struct lineage *l, const struct digest *id, uint32_t act)
{
    uint64_t *last = digest_map_put(&l->reusers, id, 0, NULL);
    if (!*last || l->acts[*last - 1].finished_ns < l->acts[act].finished_ns)
        *last = act + 1;
}

static void take_maker(struct lineage *l, const struct digest *id, uint32_t act)
{
    const struct act *acts = l->acts;
    uint64_t *maker = digest_map_put(&l->makers, id, 0, NULL);
    if (!*maker || says_more(&acts[act], &acts[*maker - 1]))
        *maker = act + 1;
    if (acts[act].reused) {
        take_reuse(l, id, act);
        return;
    }
    uint64_t *first = digest_map_put(&l->firsts, id, 0, NULL);
    if (!*first || acts[act].finished_ns < acts[*first - 1].finished_ns)
        *first = act + 1;
}

static enum err_code take_action(void *arg, const struct digest *key, struct span bytes,
                                 struct err *e)
{
    struct lineage *l = arg;
    struct arena a = {0};
    ProtobufCMessage *m;
    bool good = !canonical_unpack(&m, &a, &eqloom__action__descriptor, bytes, NULL);
    const Eqloom__Action *action = (const Eqloom__Action *)m;
    if (!good || !action->key || is_of_block(l, action->key)) {
        arena_free(&a);
        return OK;
    }
    uint32_t index = (uint32_t)l->n_acts;
    struct act act = {.key = *key,
                      .class = classify(action),
                      .reused = witness_reason(action->note),
                      .finished_ns = action->finished_ns,
                      .op = op_index(l, action->key->op)};
    l->acts = vec_grow(l->acts, &l->cap_acts, l->n_acts + 1, sizeof *l->acts);
    l->acts[l->n_acts++] = act;
    for (size_t i = 0; i < action->key->n_inputs; i++) {
        ProtobufCBinaryData ids = action->key->inputs[i]->input_ids;
        for (size_t k = 0; k < ids.len / DIGEST_SIZE; k++) {
            struct digest id = id_at(ids, k);
            link_add(&l->uses, &id, index);
        }
    }
    for (size_t i = 0; i < action->n_outputs; i++) {
        ProtobufCBinaryData ids = action->outputs[i]->output_ids;
        for (size_t k = 0; k < ids.len / DIGEST_SIZE; k++) {
            struct digest id = id_at(ids, k);
            if (is_input(action->key, &id))
                continue; /* given back as it came: made before */
            take_maker(l, &id, index);
            if (act.class == ACT_NODE && lineage_kind(l, &id) == KIND_COLLECTION) {
                l->collections = vec_grow(l->collections, &l->cap_collections, l->n_collections + 1,
                                          sizeof *l->collections);
                l->collections[l->n_collections++] = id;
            }
        }
    }
    arena_free(&a);
    return OK;
}

enum err_code lineage_action(const Eqloom__Action **out, struct arena *a, struct lineage *l,
                             uint32_t act, struct err *e)
{
    struct span bytes;
    ProtobufCMessage *m;
    enum err_code code = store_action(&bytes, l->store, &l->acts[act].key, a, e);
    if (!code)
        code = canonical_unpack(&m, a, &eqloom__action__descriptor, bytes, e);
    *out = code ? NULL : (const Eqloom__Action *)m;
    return err_up(e, code);
}

/* ---- collections ---- */

static int compare_digests(const void *a, const void *b)
{
    return digest_compare(a, b);
}

enum err_code lineage_members(struct lineage *l, struct err *e)
{
    enum { AT_ONCE = 1024 };
    if (l->has_members)
        return OK;
    l->has_members = true;
    if (l->n_collections)
        qsort(l->collections, l->n_collections, sizeof *l->collections, compare_digests);
    struct digest *ids = arena_array(&l->arena, struct digest, AT_ONCE);
    enum err_code code = OK;
    for (size_t i = 0; !code && i < l->n_collections; i++) {
        struct collection *list;
        if (i && digest_equal(&l->collections[i], &l->collections[i - 1]))
            continue;
        if ((code = collection_open(&list, l->store, &l->collections[i], e)))
            break;
        uint64_t count = collection_count(list);
        for (uint64_t at = 0; !code && at < count; at += AT_ONCE) {
            uint64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
            code = collection_ids(ids, list, at, n, e);
            for (uint64_t k = 0; !code && k < n; k++)
                link_add(&l->members, &ids[k], (uint32_t)i);
        }
        collection_close(list);
    }
    link_sort(&l->members);
    return err_up(e, code);
}

enum err_code lineage_maker(const char **op, int64_t *finished_ns, struct lineage *l,
                            const struct digest *id, struct err *e)
{
    const uint64_t *maker = digest_map_get(&l->makers, id);
    enum err_code code = OK;
    *op = "";
    *finished_ns = 0;
    if (!maker) {
        size_t n = 0;
        if (err_up(e, lineage_members(l, e)))
            return e ? e->code : ERR_FAILED;
        const struct link *link = link_find(&n, &l->members, id);
        maker = n ? digest_map_get(&l->makers, &l->collections[link->to]) : NULL;
    }
    if (maker) {
        struct arena a = {0};
        const Eqloom__Action *action;
        code = lineage_action(&action, &a, l, (uint32_t)(*maker - 1), e);
        *op = l->ops[l->acts[*maker - 1].op];
        *finished_ns = code ? 0 : action->finished_ns;
        arena_free(&a);
    }
    return err_up(e, code);
}

/* ---- names ---- */

/* A node's output ("job/node") says more than a ref or a tag. */
static bool is_of_node(const char *name)
{
    return strchr(name, '/') && strncmp(name, JOB_TAGS, strlen(JOB_TAGS));
}

static void add_name(struct lineage *l, const struct digest *id, const char *name)
{
    bool added;
    uint64_t *index = digest_map_put(&l->names, id, l->n_names, &added);
    if (!added && (is_of_node(l->name_list[*index]) || !is_of_node(name)))
        return;
    *index = l->n_names;
    l->name_list = vec_grow(l->name_list, &l->cap_names, l->n_names + 1, sizeof *l->name_list);
    l->name_list[l->n_names++] = arena_strdup(&l->arena, name);
}

static enum err_code take_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    add_name(arg, id, name);
    return OK;
}

static enum err_code take_source(void *arg, const char *path, struct span value, struct err *e)
{
    struct lineage *l = arg;
    struct arena a = {0};
    ProtobufCMessage *m;
    if (!canonical_unpack(&m, &a, &eqloom__source_file__descriptor, value, NULL) &&
        ((Eqloom__SourceFile *)m)->file_id.len == DIGEST_SIZE) {
        struct digest id = id_at(((Eqloom__SourceFile *)m)->file_id, 0);
        add_name(l, &id, place_shown(&l->arena, path));
    }
    arena_free(&a);
    return OK;
}

struct lineage_item *lineage_item_new(struct arena *a, struct lineage *l, const struct digest *ids,
                                      size_t n, const char *role)
{
    struct lineage_item *item = arena_new(a, struct lineage_item);
    *item = (struct lineage_item){.ids = ids, .n = n, .role = role, .name = ""};
    if (!n)
        return item;
    struct record r;
    ProtobufCMessage *m;
    item->kind = lineage_kind(l, &ids[0]);
    if (n == 1 && item->kind == KIND_COLLECTION && !store_get(&r, l->store, ids, a, NULL) &&
        !canonical_unpack(&m, a, &eqloom__collection__descriptor, r.payload, NULL)) {
        item->elements = ((Eqloom__Collection *)m)->count;
        item->element_kind = ((Eqloom__Collection *)m)->element_kind;
    }
    const uint64_t *name = n == 1 ? digest_map_get(&l->names, ids) : NULL;
    if (name)
        item->name = l->name_list[*name];
    else if (n == 1 && item->kind != KIND_COLLECTION)
        item->name = resolve_label(a, l->store, ids);
    return item;
}

/* ---- opening ---- */

static enum err_code take_record(void *arg, const struct digest *id, enum record_kind kind,
                                 uint64_t stored, struct err *e)
{
    struct lineage *l = arg;
    digest_map_put(&l->kinds, id, kind, NULL);
    return OK;
}

enum err_code lineage_open(struct lineage **out, struct store *s, struct err *e)
{
    struct lineage *l = *out = calloc(1, sizeof *l);
    if (!l)
        return err_fail(e, ERR_NOMEM, "no memory for an index of actions");
    l->store = s;
    enum err_code code = store_each_record(s, take_record, l, e);
    if (!code)
        code = store_each_action(s, take_action, l, e);
    if (!code)
        code = store_each_ref(s, "", take_ref, l, e);
    if (!code)
        code = store_each_source(s, take_source, l, e);
    link_sort(&l->uses);
    return err_up(e, code);
}

void lineage_close(struct lineage *l)
{
    if (!l)
        return;
    digest_map_free(&l->kinds);
    digest_map_free(&l->makers);
    digest_map_free(&l->firsts);
    digest_map_free(&l->reusers);
    digest_map_free(&l->names);
    free(l->acts);
    free(l->ops);
    free(l->uses.links);
    free(l->members.links);
    free(l->collections);
    free(l->name_list);
    arena_free(&l->arena);
    free(l);
}
