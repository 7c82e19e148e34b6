/* Runs the commands that ops bring, and reads the store for them (engine/tool.h). */
#include "engine/cli/cmd/cmd.h"

#include "base/os.h"
#include "engine/cli/export/npy.h"
#include "engine/cli/export/out_file.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/job/job.h"

#include <string.h>

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
    enum err_code code = store_get(&r, s, id, &a, e);
    if (!code)
        *out = r.kind;
    arena_free(&a);
    return err_up(e, code);
}

enum err_code tool_find(struct tool_record *out, const struct tool_args *args, const char *ref,
                        struct err *e)
{
    struct cli *c = args->cli;
    struct resolved found;
    enum err_code code = place_open(c, NULL, CLI_STORE_READ, e);
    if (!code)
        code = resolve(&found, c, ref, e);
    if (code)
        return err_up(e, code);
    *out = (struct tool_record){.id = found.id,
                                .name = found.name ? shown_name(args->arena, found.name)
                                                   : arena_strdup(args->arena, ref)};
    return err_up(e, kind_of(&out->kind, c->store, &out->id, e));
}

struct names {
    struct store *store;
    struct arena *arena;
    enum record_kind kind;
    bool tags; /* this pass takes tags, else all other names */
    struct tool_record *list;
    size_t n, cap;
};

static enum err_code add_name(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct names *l = arg;
    enum record_kind kind = KIND_NONE;
    if (l->tags == (strncmp(name, JOB_TAGS, strlen(JOB_TAGS)) != 0) ||
        kind_of(&kind, l->store, id, NULL) || kind != l->kind)
        return OK; /* a ref to a missing record is for fsck */
    l->list = cli_grow(l->arena, l->list, l->n, &l->cap, sizeof *l->list);
    l->list[l->n++] = (struct tool_record){*id, kind, shown_name(l->arena, name)};
    return OK;
}

enum err_code tool_names(struct tool_record **out, size_t *n, const struct tool_args *args,
                         enum record_kind kind, struct err *e)
{
    enum err_code code = place_open(args->cli, NULL, CLI_STORE_READ, e);
    struct names l = {.store = args->cli->store, .arena = args->arena, .kind = kind};
    for (int pass = 0; pass < 2 && !code; pass++) {
        l.tags = pass == 0;
        code = store_each_ref(l.store, "", add_name, &l, e);
    }
    *out = l.list;
    *n = l.n;
    return err_up(e, code);
}

enum err_code tool_get(ProtobufCMessage **out, const struct tool_args *args,
                       const struct digest *id, enum record_kind kind, struct arena *a,
                       struct err *e)
{
    enum err_code code = place_open(args->cli, NULL, CLI_STORE_READ, e);
    if (!code)
        code = store_get_message(out, args->cli->store, id, kind, a, e);
    return err_up(e, code);
}

enum err_code tool_write_npy(const char *path, const Eqloom__EmbeddingBatch *batch, struct err *e)
{
    struct arena a = {0};
    struct out_file matrix = {0}, index = {0};
    struct npy npy;
    enum err_code code = out_file_open(&matrix, &a, path, e);
    if (!code)
        code = out_file_open(&index, &a, arena_printf(&a, "%s.jsonl", path), e);
    if (!code)
        code = npy_begin(&npy, matrix.f, index.f, e);
    if (!code)
        code = npy_add(&npy, batch, e);
    if (!code)
        code = npy_end(&npy, e);
    code = out_file_close(&index, code, e);
    code = out_file_close(&matrix, code, e);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- running one ---- */

const char *tool_value(const struct tool_args *args, const char *option)
{
    for (size_t i = args->n_values; i-- > 0;)
        if (!strcmp(args->values[i].option, option))
            return args->values[i].value;
    return NULL;
}

/* c->color is about narration; a tool colors its data, too. */
static bool wants_color(const struct cli *c)
{
    const char *when = cli_value(c, "color");
    bool always = when && !strcmp(when, "always");
    return c->color && (always || os_is_terminal(fileno(c->out)));
}

enum err_code cli_tool(int *status, struct cli *c, struct err *e)
{
    struct tool_value *values = arena_array(c->arena, struct tool_value, c->n_values);
    for (size_t i = 0; i < c->n_values; i++)
        values[i] = (struct tool_value){c->values[i].option->name, c->values[i].value};
    struct tool_args args = {
        .positional = c->arguments,
        .n_positional = c->n_arguments,
        .values = values,
        .n_values = c->n_values,
        .json = c->json,
        .color = wants_color(c),
        .out = c->out,
        .narration = c->narration,
        .arena = c->arena,
        .cli = c,
    };
    return err_up(e, c->command->tool->run(status, &args, e));
}
