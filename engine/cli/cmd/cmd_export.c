/* eqloom export: records for other programs. Streams element by element into a file beside the
 * target, which then replaces it. */
#include "engine/cli/cmd/cmd.h"

#include "base/io/out_file.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/export.h"

#include <string.h>

/* --format, else by the ending of the path. */
static enum err_code choose_format(const struct export_format **out, struct cli *c,
                                   const char *path, struct err *e)
{
    const char *name = cli_value(c, "format");
    *out = name ? export_format_named(name) : export_format_of(path, KIND_NONE);
    if (*out)
        return OK;
    if (!name)
        return err_fail(e, ERR_INPUT,
                        "which format? Give --format jsonl, tsv, npy, safetensors or raw");
    enum err_code code = err_fail(e, ERR_INPUT, "there is no format '%.40s'", name);
    err_hint(e, "formats are " EXPORT_FORMATS_TEXT);
    return err_suggest(code, name, export_format_names, EXPORT_FORMATS, e);
}

static enum err_code export_to_file(struct cli *c, const struct digest *id,
                                    const struct export_format *format, const char *path,
                                    struct err *e)
{
    struct arena *a = c->arena;
    struct out_file file, index = {0};
    const char *ending = export_format_index(format);
    const char *index_path = ending ? arena_printf(a, "%s.%s", path, ending) : "";
    enum err_code code = out_file_open(&file, a, path, e);
    if (code)
        return err_up(e, code);
    if (ending)
        code = out_file_open(&index, a, index_path, e);
    if (!code)
        code = export_record(file.f, index.f, c->store, id, format, e);
    code = out_file_close(&index, code, e);
    code = out_file_close(&file, code, e);
    if (!code)
        fprintf(c->narration, "wrote %s%s%s\n", path, ending ? " and " : "", index_path);
    return err_up(e, code);
}

enum err_code cli_export(int *status, struct cli *c, struct err *e)
{
    const char *path = cli_value(c, "output");
    const struct export_format *format;
    struct resolved ref;
    bool to_stdout = !path || !strcmp(path, "-");
    enum err_code code = choose_format(&format, c, to_stdout ? "" : path, e);
    if (!code && to_stdout && export_format_index(format))
        code = err_fail(e, ERR_INPUT, "%s needs a file: -o PATH", cli_value(c, "format"));
    if (!code)
        code = resolve(&ref, c, c->arguments[0], e);
    if (!code)
        code = to_stdout ? export_record(c->out, NULL, c->store, &ref.id, format, e)
                         : export_to_file(c, &ref.id, format, path, e);
    return err_up(e, code);
}
