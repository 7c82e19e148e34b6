/* Choosing a record by option, tag or lack of others; see choose_record.h. */
#include "ops/search/choose_record.h"

#include "base/buf.h"

#include <string.h>

static const char *kind_name(enum record_kind kind)
{
    const struct kind_info *info = kind_info(kind);
    return info ? info->name : "?";
}

static enum err_code choose_named(struct tool_record *out, const struct tool_args *args,
                                  const struct choice *c, const char *ref, struct err *e)
{
    enum err_code code = err_up(e, tool_find(out, args, ref, e));
    if (code || out->kind == c->kind)
        return code;
    code = err_fail(e, ERR_INPUT, "'%.100s' is not %s but a record of kind '%s'", ref, c->what,
                    kind_name(out->kind));
    err_hint(e, "%s", c->remedy);
    return code;
}

static enum err_code refuse_several(const struct tool_record *list, size_t n,
                                    const struct choice *c, struct err *e)
{
    enum { SHOWN = 6 };
    struct buf b = {0};
    for (size_t i = 0; i < n && i < SHOWN; i++)
        buf_printf(&b, "%s%.60s", i ? ", " : "", list[i].name);
    enum err_code code =
        err_fail(e, ERR_AMBIGUOUS, "the store has several; choose %s by --%s REF: %s%s", c->what,
                 c->option, b.data, n > SHOWN ? ", ..." : "");
    buf_free(&b);
    return code;
}

enum err_code choose_record(struct tool_record *out, const struct tool_args *args,
                            const struct choice *c, struct err *e)
{
    const char *ref = tool_value(args, c->option);
    struct tool_record *list;
    size_t n;
    if (ref)
        return err_up(e, choose_named(out, args, c, ref, e));
    enum err_code code = err_up(e, tool_names(&list, &n, args, c->kind, e));
    if (code)
        return code;
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, c->tag) == 0) {
            *out = list[i];
            return OK;
        }
    if (n == 0) {
        code = err_fail(e, ERR_NOTFOUND, "the store has no %s", kind_name(c->kind));
        err_hint(e, "%s", c->remedy);
        return code;
    }
    for (size_t i = 1; i < n; i++)
        if (!digest_equal(&list[i].id, &list[0].id))
            return err_up(e, refuse_several(list, n, c, e));
    *out = list[0];
    return OK;
}
