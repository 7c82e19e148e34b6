/* eqloom ls: refs, and records of a kind. */
#include "engine/cli/cli.h"

#include "collection.pb-c.h"
#include "engine/cli/kinds.h"
#include "engine/cli/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/size.h"
#include "engine/cli/resolve.h"
#include "engine/cli/text_table.h"
#include "schemas/canonical.h"

#include <inttypes.h>
#include <string.h>

struct listing {
    struct cli *c;
    struct store *store;
    struct table *table;
    struct sizes *sizes; /* NULL: not asked for */
    const char *prefix;
    enum record_kind kind;
    uint64_t n;
};

/* ---- refs ---- */

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
    uint64_t bytes = l->sizes && there ? sizes_of(l->sizes, id, &r) : 0;
    digest_hex(hex, id);
    l->n++;
    if (list)
        kind = arena_printf(&a, "collection of %s", list->element_kind);
    if (c->json) {
        json_t *line = json_pack("{s:s, s:s, s:s, s:I}", "ref", name, "id", hex, "kind", kind,
                                 "count", (json_int_t)count);
        if (l->sizes)
            json_object_set_new(line, "stored_bytes", json_integer((json_int_t)bytes));
        reflect_dump(c->out, line);
    } else {
        table_add(l->table, (const char *const[]){
                                name, kind, arena_printf(&a, "%.12s", hex),
                                list || !there ? arena_printf(&a, "%" PRIu64, count) : "-",
                                l->sizes ? arena_printf(&a, "%.1f", (double)bytes / 1e3) : NULL});
    }
    arena_free(&a);
    return OK;
}

static enum err_code list_refs(struct listing *l, struct err *e)
{
    struct cli *c = l->c;
    l->table = table_new(c->arena, l->sizes ? "name|kind|id|elements|kB" : "name|kind|id|elements");
    enum err_code code = err_up(e, store_each_ref(l->store, l->prefix, list_ref, l, e));
    if (code || c->json)
        return code;
    if (l->n)
        table_print(c->out, l->table);
    else if (*l->prefix)
        fprintf(c->narration, "no name begins with '%s'\n", l->prefix);
    else
        fputs("the store has no names yet: nothing was run\n", c->narration);
    return OK;
}

/* ---- records ---- */

static enum err_code list_record(void *arg, const struct digest *id, enum record_kind kind,
                                 uint64_t stored, struct err *e)
{
    struct listing *l = arg;
    struct cli *c = l->c;
    char hex[DIGEST_HEX];
    digest_hex(hex, id);
    if (kind != l->kind || strncmp(hex, l->prefix, strlen(l->prefix)))
        return OK;
    struct arena a = {0};
    const char *label = resolve_label(&a, l->store, id);
    l->n++;
    if (c->json)
        reflect_dump(c->out,
                     json_pack("{s:s, s:s, s:I, s:s}", "id", hex, "kind", kind_info(kind)->name,
                               "stored_bytes", (json_int_t)stored, "label", label));
    else
        fprintf(c->out, "%.12s  %8" PRIu64 "%s%s\n", hex, stored, *label ? "  " : "", label);
    arena_free(&a);
    return OK;
}

static enum err_code list_records(struct listing *l, struct err *e)
{
    enum err_code code = err_up(e, store_each_record(l->store, list_record, l, e));
    if (!code && !l->n && !l->c->json)
        fprintf(l->c->narration, "the store has no %s%s%s\n", kind_info(l->kind)->name,
                *l->prefix ? " whose id begins with " : "", l->prefix);
    return code;
}

enum err_code cli_ls(int *status, struct cli *c, struct err *e)
{
    struct listing l = {.c = c, .prefix = c->n_arguments ? c->arguments[0] : ""};
    const char *kind = cli_value(c, "kind");
    char *path;
    enum err_code code = kind ? err_up(e, kind_parse(&l.kind, kind, e)) : OK;
    if (!code)
        code = err_up(e, place_open(&l.store, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    if (cli_flag(c, "long") && !kind)
        code = err_up(e, sizes_load(&l.sizes, l.store, e));
    if (!code)
        code = kind ? err_up(e, list_records(&l, e)) : err_up(e, list_refs(&l, e));
    sizes_free(l.sizes);
    store_close(l.store);
    return code;
}
