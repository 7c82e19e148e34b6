#include "ops/latex/read/domain_option.h"

#include <string.h>

enum err_code domain_options_read(struct domain_options *out, const struct tool_args *args,
                                  struct err *e)
{
    struct ball_domain *domains = arena_array(args->arena, struct ball_domain, args->n_values + 1);
    *out = (struct domain_options){.domains = domains, .real_values = tool_value(args, "real")};
    for (size_t i = 0; i < args->n_values; i++) {
        bool real = strcmp(args->values[i].option, "real") == 0;
        const char *text = real ? "real values" : args->values[i].value;
        if (!real && strcmp(args->values[i].option, "domain") != 0)
            continue;
        enum err_code code = real ? OK : domain_parse(&domains[out->n++], args->arena, text, e);
        if (code)
            return err_up(e, code);
        out->assumed =
            out->assumed ? arena_printf(args->arena, "%s, %s", out->assumed, text) : text;
    }
    return OK;
}
