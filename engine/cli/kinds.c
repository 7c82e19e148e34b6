/* Names of record kinds; see kinds.h. */
#include "engine/cli/kinds.h"

#include "base/buf.h"

enum err_code kind_parse(enum record_kind *out, const char *name, struct err *e)
{
    const struct kind_info *info = kind_by_name(name);
    if (info) {
        *out = info->kind;
        return OK;
    }
    const char *names[KIND_END];
    size_t n = 0;
    struct buf list = {0};
    for (int k = KIND_NONE + 1; k < KIND_END; k++)
        if (kind_info(k)) {
            names[n] = kind_info(k)->name;
            buf_printf(&list, "%s%s", n ? ", " : "", names[n]);
            n++;
        }
    err_fail(e, ERR_INPUT, "there is no kind '%.60s'", name);
    const char *near = err_nearest(name, names, n);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "kinds are %s", list.data);
    buf_free(&list);
    return ERR_INPUT;
}
