/* The store as commands of ops see it; see tool_store.h. */
#include "engine/cli/cmd/tool_store.h"

#include "engine/cli/export/npy.h"
#include "engine/cli/export/out_file.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/job/job.h"

#include <string.h>

void tool_store_close(struct tool_store *t)
{
    if (t->store)
        store_close(t->store);
    t->store = NULL;
}

enum err_code tool_store_open(struct tool_store *t, struct err *e)
{
    char *path;
    if (t->store)
        return OK;
    return err_up(e, place_open(&t->store, &path, t->cli, NULL, PLACE_READ, e));
}

static const char *shown_name(struct arena *a, const char *ref)
{
    size_t n = strlen(JOB_TAGS);
    return arena_strdup(a, strncmp(ref, JOB_TAGS, n) ? ref : ref + n);
}

static enum err_code kind_of(enum record_kind *out, struct store *s, const struct digest *id,
                             struct err *e)
{
    struct arena a = {0};
    struct record r;
    enum err_code code = err_up(e, store_get(&r, s, id, &a, e));
    if (!code)
        *out = r.kind;
    arena_free(&a);
    return code;
}

enum err_code tool_find(struct tool_record *out, const struct tool_args *args, const char *ref,
                        struct err *e)
{
    struct tool_store *t = args->store;
    struct resolved found;
    if (err_up(e, tool_store_open(t, e)) || err_up(e, resolve(&found, t->cli, t->store, ref, e)))
        return e->code;
    *out = (struct tool_record){.id = found.id,
                                .name = found.name ? shown_name(args->arena, found.name)
                                                   : arena_strdup(args->arena, ref)};
    return err_up(e, kind_of(&out->kind, t->store, &out->id, e));
}

struct names {
    struct store *store;
    struct arena *arena;
    enum record_kind kind;
    bool tags; /* of this pass: tags, or all but tags */
    struct tool_record *list;
    size_t n, cap;
};

static enum err_code add_name(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct names *l = arg;
    enum record_kind kind;
    if (l->tags == (strncmp(name, JOB_TAGS, strlen(JOB_TAGS)) != 0) ||
        kind_of(&kind, l->store, id, NULL) || kind != l->kind)
        return OK; /* a name whose record is gone is for fsck */
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 16;
        struct tool_record *moved = arena_array(l->arena, struct tool_record, cap);
        if (l->n)
            memcpy(moved, l->list, l->n * sizeof *moved);
        l->list = moved;
        l->cap = cap;
    }
    l->list[l->n++] = (struct tool_record){*id, kind, shown_name(l->arena, name)};
    return OK;
}

enum err_code tool_names(struct tool_record **out, size_t *n, const struct tool_args *args,
                         enum record_kind kind, struct err *e)
{
    struct tool_store *t = args->store;
    enum err_code code = err_up(e, tool_store_open(t, e));
    struct names l = {.store = t->store, .arena = args->arena, .kind = kind};
    for (int pass = 0; pass < 2 && !code; pass++) {
        l.tags = pass == 0;
        code = err_up(e, store_each_ref(t->store, "", add_name, &l, e));
    }
    *out = l.list;
    *n = l.n;
    return code;
}

enum err_code tool_get(ProtobufCMessage **out, const struct tool_args *args,
                       const struct digest *id, enum record_kind kind, struct arena *a,
                       struct err *e)
{
    enum err_code code = err_up(e, tool_store_open(args->store, e));
    return code ? code : err_up(e, store_get_message(out, args->store->store, id, kind, a, e));
}

enum err_code tool_write_npy(const char *path, const Eqloom__EmbeddingBatch *batch, struct err *e)
{
    struct arena a = {0};
    struct out_file matrix = {0}, index = {0};
    struct npy npy;
    enum err_code code = err_up(e, out_file_open(&matrix, &a, path, e));
    if (!code)
        code = err_up(e, out_file_open(&index, &a, arena_printf(&a, "%s.jsonl", path), e));
    if (!code)
        code = err_up(e, npy_begin(&npy, matrix.f, index.f, e));
    if (!code)
        code = err_up(e, npy_add(&npy, batch, e));
    if (!code)
        code = err_up(e, npy_end(&npy, e));
    code = out_file_close(&index, code, e);
    code = out_file_close(&matrix, code, e);
    arena_free(&a);
    return err_up(e, code);
}
