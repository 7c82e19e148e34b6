/* eqloom tag and untag: names that a user gives. They are refs "tag/NAME", a part of the name space
 * that jobs may not write into, so that no run ever moves or removes one; being refs they keep
 * what they name from gc. */
#include "engine/cli/console/cli.h"

#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/resolve.h"
#include "engine/job/job.h"

#include <string.h>

/* "v1" and "tag/v1" are the same. */
static char *tag_name(struct arena *a, const char *text)
{
    size_t n = strlen(JOB_TAGS);
    return arena_printf(a, JOB_TAGS "%s", strncmp(text, JOB_TAGS, n) ? text : text + n);
}

static enum err_code set_ref(struct store *s, const char *name, const struct digest *id,
                             struct err *e)
{
    struct store_batch *b = store_batch_new(s);
    enum err_code code = id ? store_batch_ref(b, name, id, e) : store_batch_ref_delete(b, name, e);
    if (!code)
        code = store_batch_commit(b, e);
    store_batch_free(b);
    return err_up(e, code);
}

static void print_tag(struct cli *c, struct store *s, const char *event, const char *name,
                      const struct digest *id)
{
    char hex[DIGEST_HEX];
    struct record r;
    digest_hex(hex, id);
    bool there = !store_get(&r, s, id, c->arena, NULL) && kind_info(r.kind);
    const char *kind = there ? kind_info(r.kind)->name : "missing";
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:s, s:s, s:s}", "event", event, "ref", name, "id",
                                       hex, "kind", kind));
    else
        fprintf(c->out, "%s: %s  %s %.12s\n", event, name, kind, hex);
}

static enum err_code tag(struct cli *c, struct store *s, struct err *e)
{
    struct resolved target;
    struct digest before;
    char *name = tag_name(c->arena, c->arguments[0]);
    enum err_code code = err_up(e, resolve(&target, c, s, c->arguments[1], e));
    if (code)
        return code;
    if (!store_has(s, &target.id))
        return err_fail(e, ERR_NOTFOUND, "what '%.100s' names is not in the store",
                        c->arguments[1]);
    bool moved = !store_ref(&before, s, name, NULL) && !digest_equal(&before, &target.id);
    if (moved && !cli_flag(c, "force")) {
        char hex[DIGEST_HEX];
        err_fail(e, ERR_INPUT, "'%.100s' is taken: it names %.12s", name, digest_hex(hex, &before));
        err_hint(e, "--force moves it");
        return ERR_INPUT;
    }
    if ((code = err_up(e, set_ref(s, name, &target.id, e))))
        return code;
    print_tag(c, s, moved ? "moved" : "tagged", name, &target.id);
    return OK;
}

enum err_code cli_tag(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_WRITE, e));
    if (code)
        return code;
    code = err_up(e, tag(c, s, e));
    store_close(s);
    return code;
}

struct tags {
    struct arena *arena;
    const char *names[256]; /* enough to find what was meant */
    size_t n;
};

static enum err_code take_tag(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct tags *t = arg;
    if (t->n < sizeof t->names / sizeof *t->names)
        t->names[t->n++] = arena_strdup(t->arena, name + strlen(JOB_TAGS));
    return OK;
}

static enum err_code untag(struct cli *c, struct store *s, struct err *e)
{
    struct digest id;
    char *name = tag_name(c->arena, c->arguments[0]);
    enum err_code code = store_ref(&id, s, name, e);
    if (code == ERR_NOTFOUND) {
        struct tags tags = {.arena = c->arena};
        if ((code = err_up(e, store_each_ref(s, JOB_TAGS, take_tag, &tags, e))))
            return code;
        err_fail(e, ERR_INPUT, "there is no tag '%.100s'", name + strlen(JOB_TAGS));
        const char *near = err_nearest(name + strlen(JOB_TAGS), tags.names, tags.n);
        if (near)
            err_hint(e, "did you mean '%s'?", near);
        else
            err_hint(e, "'eqloom ls " JOB_TAGS "' lists them");
        return ERR_INPUT;
    }
    if (!code)
        code = set_ref(s, name, NULL, e);
    if (code)
        return err_up(e, code);
    print_tag(c, s, "untagged", name, &id);
    return OK;
}

enum err_code cli_untag(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_WRITE, e));
    if (code)
        return code;
    code = err_up(e, untag(c, s, e));
    store_close(s);
    return code;
}
