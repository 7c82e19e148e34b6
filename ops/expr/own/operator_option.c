#include "ops/expr/own/operator_option.h"

#include "base/os.h"
#include "ops/expr/own/own.h"

#include <string.h>

enum err_code operator_options(const struct language **lang, const struct tool_args *args,
                               struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; i < args->n_values && !code; i++) {
        struct span text;
        const char *name = args->values[i].value;
        if (strcmp(args->values[i].option, "operators") != 0)
            continue;
        if ((code = os_read_file(&text, args->arena, name, OWN_MAX_FILE, e)))
            break;
        struct source_text *source = arena_new(args->arena, struct source_text);
        *source = (struct source_text){name, (const char *)text.data, text.len};
        code = own_parse(lang, args->arena, source, true, e);
    }
    return err_up(e, code);
}
