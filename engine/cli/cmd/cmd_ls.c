/* eqloom ls: the names in the store. */
#include "engine/cli/console/cli.h"

#include "collection.pb-c.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "schemas/canonical.h"

#include <inttypes.h>
#include <string.h>

struct listing {
    struct cli *c;
    struct store *store;
    struct table *table;
    uint64_t n;
};

static const Eqloom__Collection *as_collection(struct arena *a, const struct record *r)
{
    ProtobufCMessage *m;
    if (r->kind != KIND_COLLECTION ||
        canonical_unpack(&m, a, &eqloom__collection__descriptor, r->payload, NULL))
        return NULL;
    return (const Eqloom__Collection *)m;
}

static enum err_code list_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct listing *l = arg;
    struct cli *c = l->c;
    struct arena a = {0};
    struct record r = {0};
    char hex[DIGEST_HEX];
    bool there = !store_get(&r, l->store, id, &a, NULL) && kind_info(r.kind);
    const Eqloom__Collection *list = there ? as_collection(&a, &r) : NULL;
    const char *kind = there ? kind_info(r.kind)->name : "missing";
    uint64_t count = list ? list->count : there;
    digest_hex(hex, id);
    l->n++;
    if (list)
        kind = arena_printf(&a, "collection of %s", list->element_kind);
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:s, s:s, s:I}", "ref", name, "id", hex, "kind", kind,
                                       "count", (json_int_t)count));
    else
        table_add(l->table, (const char *const[]){
                                name, kind, arena_printf(&a, "%.12s", hex),
                                list || !there ? arena_printf(&a, "%" PRIu64, count) : "-"});
    arena_free(&a);
    return OK;
}

static enum err_code list_refs(struct listing *l, const char *prefix, struct err *e)
{
    struct cli *c = l->c;
    l->table = table_new(c->arena, "name|kind|id|elements");
    enum err_code code = store_each_ref(l->store, prefix, list_ref, l, e);
    if (code)
        return err_up(e, code);
    if (l->n && !c->json)
        table_print(c->out, l->table);
    else if (!l->n && *prefix)
        fprintf(c->narration, "no name begins with '%s'\n", prefix);
    else if (!l->n)
        fputs("the store has no names yet: nothing was run\n", c->narration);
    return OK;
}

enum err_code cli_ls(int *status, struct cli *c, struct err *e)
{
    struct listing l = {.c = c};
    char *path;
    enum err_code code = place_open(&l.store, &path, c, NULL, PLACE_READ, e);
    if (code)
        return err_up(e, code);
    code = list_refs(&l, c->n_arguments ? c->arguments[0] : "", e);
    store_close(l.store);
    return err_up(e, code);
}
