/* Runs the commands that ops define, and reads the store for them (engine/tool.h). */
#include "engine/cli/cmd/cmd.h"

#include "base/buf.h"
#include "base/io/out_file.h"
#include "base/io/terminal.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/npy.h"
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

static enum err_code find_named(struct tool_record *out, const struct tool_args *args,
                                const struct tool_choice *choice, const char *ref, struct err *e)
{
    struct resolved found;
    enum err_code code = resolve(&found, args->cli, ref, e);
    if (!code)
        code = kind_of(&out->kind, args->cli->store, &found.id, e);
    if (code)
        return err_up(e, code);
    out->id = found.id;
    out->name = found.name ? shown_name(args->arena, found.name) : ref;
    if (out->kind == choice->kind)
        return OK;
    code = err_fail(e, ERR_INPUT, "'%.100s' is not %s but a record of kind '%s'", ref, choice->what,
                    kind_info(out->kind) ? kind_info(out->kind)->name : "?");
    err_hint(e, "%s", choice->remedy);
    return code;
}

/* The names of records of the required kind. */
struct candidates {
    const struct tool_args *args;
    const struct tool_choice *choice;
    struct tool_record first, tagged;
    size_t n;
    bool several; /* they name different records */
    struct buf names;
};

static enum err_code add_candidate(void *arg, const char *name, const struct digest *id,
                                   struct err *e)
{
    enum { SHOWN = 6 };
    struct candidates *c = arg;
    struct tool_record r = {.id = *id, .name = shown_name(c->args->arena, name)};
    if (kind_of(&r.kind, c->args->cli->store, id, NULL) || r.kind != c->choice->kind)
        return OK; /* fsck reports refs to missing records */
    if (!strcmp(r.name, c->choice->tag))
        c->tagged = r;
    if (!c->n)
        c->first = r;
    c->several = c->several || !digest_equal(id, &c->first.id);
    if (c->n++ <= SHOWN)
        buf_printf(&c->names, "%s%.60s", c->n > 1 ? ", " : "", c->n > SHOWN ? "..." : r.name);
    return OK;
}

enum err_code tool_choose(struct tool_record *out, const struct tool_args *args,
                          const struct tool_choice *choice, struct err *e)
{
    const char *ref = tool_value(args, choice->option);
    struct candidates c = {.args = args, .choice = choice};
    enum err_code code = place_open(args->cli, NULL, CLI_STORE_READ, e);
    if (!code && ref)
        return err_up(e, find_named(out, args, choice, ref, e));
    if (!code)
        code = store_each_ref(args->cli->store, "", add_candidate, &c, e);
    *out = c.tagged.name ? c.tagged : c.first;
    if (!code && !c.n) {
        code = err_fail(e, ERR_NOTFOUND, "the store has no %s", kind_info(choice->kind)->name);
        err_hint(e, "%s", choice->remedy);
    } else if (!code && !c.tagged.name && c.several) {
        code = err_fail(e, ERR_AMBIGUOUS, "the store has several; choose %s by --%s REF: %s",
                        choice->what, choice->option, c.names.data);
    }
    buf_free(&c.names);
    return err_up(e, code);
}

enum err_code tool_get(void *out, const struct tool_args *args, const struct digest *id,
                       enum record_kind kind, struct arena *a, struct err *e)
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
    if (!code) {
        npy_begin(&npy, matrix.f, index.f);
        if (!(code = npy_add(&npy, batch, e)))
            code = npy_end(&npy, e);
    }
    code = out_file_close(&index, code, e);
    code = out_file_close(&matrix, code, e);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- running one ---- */

const char *tool_value(const struct tool_args *args, const char *option)
{
    return cli_value(args->cli, option);
}

enum err_code tool_number(uint32_t *out, const struct tool_args *args, const char *option,
                          uint32_t initial, uint32_t min, uint32_t max, struct err *e)
{
    uint64_t n;
    enum err_code code = cli_number(&n, args->cli, option, initial, min, max, e);
    *out = (uint32_t)n;
    return err_up(e, code);
}

/* c->color applies to narration; a tool also colors its data. */
static bool wants_color(const struct cli *c)
{
    const char *when = cli_value(c, "color");
    bool always = when && !strcmp(when, "always");
    return c->color && (always || terminal_is(c->out));
}

enum err_code cli_tool(int *status, struct cli *c, struct err *e)
{
    struct tool_args args = {
        .positional = c->arguments,
        .n_positional = c->n_arguments,
        .values = c->values,
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
