/* eqloom ls, tag and untag: the names in the store. Tags are refs "tag/NAME", a part of the name
 * space that jobs may not write to: no run moves or removes a tag, and gc keeps the records that
 * refs name. */
#include "engine/cli/cmd/cmd.h"

#include "collection.pb-c.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/reflect.h"
#include "engine/job/job.h"

#include <inttypes.h>
#include <string.h>

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
        reflect_line(c->out, "ref:s id:s kind:s count:u", name, hex, kind, count);
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
    code = err_fail(e, ERR_CORRUPT, "%zu of these names refer%s to missing or damaged records",
                    l.lost, l.lost == 1 ? "s" : "");
    err_hint(e, "the next run makes a record again if the job still needs it; 'eqloom fsck "
                "--repair' removes the names of the others");
    return code;
}

/* Returns "tag/v1" for "v1" and for "tag/v1". */
static char *tag_name(struct arena *a, const char *text)
{
    size_t n = strlen(JOB_TAGS);
    return arena_printf(a, JOB_TAGS "%s", strncmp(text, JOB_TAGS, n) ? text : text + n);
}

/* Sets the ref, or removes it if `id` is NULL. */
static enum err_code set_ref(struct cli *c, const char *event, const char *name,
                             const struct digest *id, const struct digest *named, struct err *e)
{
    struct store_batch *b = store_batch_new(c->store);
    enum err_code code = id ? store_batch_ref(b, name, id, e) : store_batch_ref_delete(b, name, e);
    if (!code)
        code = store_batch_commit(b, e);
    store_batch_free(b);
    if (code)
        return err_up(e, code);
    char hex[DIGEST_HEX];
    struct record r;
    bool there = !store_get(&r, c->store, named, c->arena, NULL) && kind_info(r.kind);
    const char *kind = there ? kind_info(r.kind)->name : "missing";
    digest_hex(hex, named);
    if (c->json)
        reflect_line(c->out, "event:s ref:s id:s kind:s", event, name, hex, kind);
    else
        fprintf(c->out, "%s: %s  %s %.12s\n", event, name, kind, hex);
    return OK;
}

enum err_code cli_tag(int *status, struct cli *c, struct err *e)
{
    struct resolved target;
    struct digest before;
    char *name = tag_name(c->arena, c->arguments[0]);
    enum err_code code = resolve(&target, c, c->arguments[1], e);
    if (code)
        return err_up(e, code);
    if (!store_has(c->store, &target.id))
        return err_fail(e, ERR_NOTFOUND, "the record that '%.100s' names is not in the store",
                        c->arguments[1]);
    bool moved = !store_ref(&before, c->store, name, NULL) && !digest_equal(&before, &target.id);
    if (moved && !cli_flag(c, "force")) {
        char hex[DIGEST_HEX];
        code = err_fail(e, ERR_INPUT, "'%.100s' is taken: it names %.12s", name,
                        digest_hex(hex, &before));
        err_hint(e, "--force moves it");
        return code;
    }
    return err_up(e, set_ref(c, moved ? "moved" : "tagged", name, &target.id, &target.id, e));
}

enum err_code cli_untag(int *status, struct cli *c, struct err *e)
{
    struct digest id;
    struct resolved other;
    char *name = tag_name(c->arena, c->arguments[0]), *given = name + strlen(JOB_TAGS);
    enum err_code code = store_ref(&id, c->store, name, NULL);
    if (code != ERR_NOTFOUND)
        return err_up(e, set_ref(c, "untagged", name, NULL, &id, e));
    if ((code = resolve(&other, c, given, e)))
        return err_up(e, code); /* with a suggestion */
    code = err_fail(e, ERR_INPUT, "'%.100s' is not a tag", given);
    err_hint(e, "'eqloom ls " JOB_TAGS "' lists them");
    return code;
}
