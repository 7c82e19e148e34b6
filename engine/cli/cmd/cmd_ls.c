/* eqloom ls: the names in the store. */
#include "engine/cli/cmd/cmd.h"

#include "collection.pb-c.h"
#include "engine/cli/console/text_table.h"
#include "engine/export/reflect.h"

#include <inttypes.h>

struct listing {
    struct cli *c;
    struct table *table;
    size_t lost; /* names of records that cannot be read */
};

static enum err_code list_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct listing *l = arg;
    struct cli *c = l->c;
    struct arena a = {0};
    struct record r = {0};
    Eqloom__Collection *m;
    char hex[DIGEST_HEX];
    enum err_code code = store_get(&r, c->store, id, &a, NULL);
    bool there = code == OK && kind_info(r.kind);
    const char *kind = there                  ? kind_info(r.kind)->name
                       : code == ERR_NOTFOUND ? "missing"
                                              : "damaged";
    const char *elements = there ? "-" : "0";
    l->lost += !there;
    uint64_t count = there;
    digest_hex(hex, id);
    if (there && r.kind == KIND_COLLECTION &&
        !store_get_message(&m, c->store, id, KIND_COLLECTION, &a, NULL)) {
        count = m->count;
        kind = arena_printf(&a, "collection of %s", m->element_kind);
        elements = arena_printf(&a, "%" PRIu64, count);
    }
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:s, s:s, s:I}", "ref", name, "id", hex, "kind", kind,
                                       "count", (json_int_t)count));
    table_add(l->table,
              (const char *const[]){name, kind, arena_printf(&a, "%.12s", hex), elements});
    arena_free(&a);
    return OK;
}

enum err_code cli_ls(int *status, struct cli *c, struct err *e)
{
    struct listing l = {c, table_new(c->arena, "name|kind|id|elements")};
    const char *prefix = c->n_arguments ? c->arguments[0] : "";
    enum err_code code = store_each_ref(c->store, prefix, list_ref, &l, e);
    if (code)
        return err_up(e, code);
    if (l.table->n_rows == 1 && *prefix)
        fprintf(c->narration, "no name begins with '%s'\n", prefix);
    else if (l.table->n_rows == 1)
        fputs("the store has no names yet: nothing was run\n", c->narration);
    else if (!c->json)
        table_print(c->out, l.table);
    if (!l.lost)
        return OK;
    code = err_fail(e, ERR_CORRUPT, "%zu of these names lead%s to what is missing or damaged",
                    l.lost, l.lost == 1 ? "s" : "");
    err_hint(e, "the next run makes it again, if the job still asks for it; 'eqloom fsck --repair' "
                "drops the names of what is lost for good");
    return code;
}
