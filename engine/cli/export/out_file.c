/* Files written beside their targets; see out_file.h. */
#include "engine/cli/export/out_file.h"

#include <stdbool.h>
#include <unistd.h>

enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e)
{
    char *beside = arena_printf(a, "%s.%ld.tmp", path, (long)getpid());
    *out = (struct out_file){.f = fopen(beside, "wb"), .path = path, .beside = beside};
    return out->f ? OK : err_fail(e, ERR_IO, "cannot write %s", path);
}

enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e)
{
    if (!x->f)
        return code;
    bool good = !ferror(x->f) && !fflush(x->f);
    good = !fclose(x->f) && good;
    x->f = NULL;
    if (!code && good && !rename(x->beside, x->path))
        return OK;
    unlink(x->beside);
    return code ? code : err_fail(e, ERR_IO, "cannot write %s", x->path);
}
