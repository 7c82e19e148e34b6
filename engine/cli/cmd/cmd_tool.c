/* Runs the commands that ops bring (engine/tool.h). */
#include "engine/cli/cmd/tool_store.h"

#include "base/os.h"

#include <string.h>

const char *tool_value(const struct tool_args *args, const char *option)
{
    for (size_t i = args->n_values; i-- > 0;)
        if (!strcmp(args->values[i].option, option))
            return args->values[i].value;
    return NULL;
}

/* c->color is decided by where narration goes; a tool also colors its data. */
static bool wants_color(const struct cli *c)
{
    const char *when = cli_value(c, "color");
    bool always = when && !strcmp(when, "always");
    return c->color && (always || os_is_terminal(fileno(c->out)));
}

enum err_code cli_tool(int *status, struct cli *c, struct err *e)
{
    struct tool_value *values = arena_array(c->arena, struct tool_value, c->n_values);
    for (size_t i = 0; i < c->n_values; i++)
        values[i] = (struct tool_value){c->values[i].option->name, c->values[i].value};
    struct tool_store store = {.cli = c};
    struct tool_args args = {
        .positional = c->arguments,
        .n_positional = c->n_arguments,
        .values = values,
        .n_values = c->n_values,
        .json = c->json,
        .color = wants_color(c),
        .out = c->out,
        .narration = c->narration,
        .arena = c->arena,
        .store = &store,
    };
    enum err_code code = err_up(e, c->command->tool->run(status, &args, e));
    tool_store_close(&store);
    return code;
}
