#include "engine/cli/console/naming.h"

#include "engine/op.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_OPS = 256 };

enum err_code naming_refuse(const char *name, const char *const *names, size_t n, const char *hint,
                            struct err *e, const char *format, ...)
{
    char message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    enum err_code code = err_fail(e, ERR_INPUT, "%s", message);
    const char *near = err_nearest(name, names, n);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "%s", hint);
    return code;
}

enum err_code naming_kind(const struct kind_info **out, const char *name, struct err *e)
{
    const char *names[KIND_END];
    size_t n = 0;
    struct buf list = {0};
    *out = kind_by_name(name);
    if (*out)
        return OK;
    for (int k = KIND_NONE + 1; k < KIND_END; k++)
        if (kind_info(k)) {
            names[n] = kind_info(k)->name;
            buf_printf(&list, "%s%s", n ? ", " : "kinds are ", names[n]);
            n++;
        }
    enum err_code code =
        naming_refuse(name, names, n, list.data, e, "there is no kind '%.60s'", name);
    buf_free(&list);
    return err_up(e, code);
}

enum err_code naming_op(const struct op **out, const char *name, struct err *e)
{
    const char *names[MAX_OPS];
    size_t n = 0;
    *out = op_find(name);
    if (*out)
        return OK;
    for (; op_table[n] && n < MAX_OPS; n++)
        names[n] = op_table[n]->name;
    return err_up(e, naming_refuse(name, names, n, "'eqloom ops' lists them", e,
                                   "there is no op '%.60s'", name));
}
