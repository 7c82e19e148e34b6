/* Options of commands that rewrite expressions; see rewrite_options.h. */
#include "ops/egraph/run/rewrite_options.h"

#include "ops/rules/rule.h"

#include <string.h>

enum err_code rewrite_read_rules(struct rules *out, bool *own, const struct tool_args *args,
                                 struct err *e)
{
    enum err_code code;
    const char *name = tool_value(args, "language");
    const struct language *lang;
    /* default: the language of the first rules file, or else the calculus */
    if ((code = lang_named(&lang, name ? name : "", e)))
        return err_up(e, code);
    if ((code = operator_options(&lang, args, e)))
        return err_up(e, code);
    *out = (struct rules){.lang = lang};
    *own = false;
    for (size_t i = 0; i < args->n_values; i++) {
        if (strcmp(args->values[i].option, "rules") != 0)
            continue;
        struct source_text *source = arena_new(args->arena, struct source_text);
        if ((code = rules_source(source, args->arena, args->values[i].value, e)) ||
            (code = rules_parse(out, args->arena, source, e)))
            return err_up(e, code);
        *own = true;
    }
    if (!*own && (code = rules_parse_library(out, args->arena, lang, e)))
        return err_up(e, code);
    if (name && !lang_is(out->lang, lang))
        return err_fail(e, ERR_INPUT, "the rules are of the %s language, not the %s language",
                        out->lang->name, lang->name);
    if ((code = rules_select(out, NULL, 0, NULL, 0, e)))
        return err_up(e, code);
    rules_sort(out);
    return OK;
}

enum err_code rewrite_read_expr(struct expr *out, const struct tool_args *args,
                                const struct language *lang, const char *name, const char *text,
                                struct err *e)
{
    struct latex_reader *latex = NULL;
    enum err_code code = expr_argument(out, &latex, args, args->arena, lang, name, text, e);
    latex_reader_free(latex);
    return err_up(e, code);
}

const char *rewrite_stop_text(Eqloom__StopReason stop)
{
    static const char *const texts[] = {[EQLOOM__STOP_REASON__STOP_UNKNOWN] = "unknown",
                                        [EQLOOM__STOP_REASON__SATURATED] = "saturated",
                                        [EQLOOM__STOP_REASON__ITERATION_LIMIT] = "iteration limit",
                                        [EQLOOM__STOP_REASON__NODE_LIMIT] = "e-node limit",
                                        [EQLOOM__STOP_REASON__MATCH_LIMIT] = "match limit",
                                        [EQLOOM__STOP_REASON__GOAL_REACHED] = "proved"};
    return texts[stop];
}
