/* Parses a command line by the table: `eqloom [GLOBAL...] COMMAND [OPTION | ARGUMENT]...`. Global
 * options may also stand after the command; '--' ends options; short options may carry their value
 * ('-j2') and flags be joined ('-kn'). */
#include "engine/cli/console/cli.h"

#include "base/io/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct tool_option cli_global_options[] = {
    {"store", "DIR", false,
     "The store; the default is $EQLOOM_STORE, else an .eqloom found upward from the job and "
     "owned by the user."},
    {"color", "WHEN", false, "auto (the default), always or never; NO_COLOR is respected."},
    {"help", NULL, false, "Show help for eqloom, or for a command.", 'h'},
    {"version", NULL, false, "Print the version."},
    {"markdown", NULL, false, "Print the reference of the command line."},
    {0},
};

struct parser {
    struct cli *c;
    char **argv;
    int argc, at;
    const char **arguments;
    struct tool_value *values;
    bool only_arguments;
    const char *request;
};

static const struct tool_option *find_in(const struct tool_option *options, const char *name,
                                         size_t len, char letter)
{
    for (const struct tool_option *o = options; o && o->name; o++)
        if (letter ? o->letter == letter : strlen(o->name) == len && !strncmp(o->name, name, len))
            return o;
    return NULL;
}

static const struct tool_option *find_option(const struct parser *p, const char *name, size_t len,
                                             char letter)
{
    const struct cli_command *command = p->c->command;
    const struct tool_option *o = command ? find_in(command->options, name, len, letter) : NULL;
    return o ? o : find_in(cli_global_options, name, len, letter);
}

static bool is_global(const struct tool_option *o)
{
    const struct tool_option *g = cli_global_options;
    while (g->name && g != o)
        g++;
    return g == o;
}

static enum err_code refuse_option(const struct parser *p, const char *shown, const char *name,
                                   struct err *e)
{
    const struct cli_command *command = p->c->command;
    const struct tool_option *lists[] = {cli_global_options, command ? command->options : NULL};
    const char *names[128], *of = command ? command->name : "";
    size_t n = 0;
    for (size_t i = 0; i < 2; i++)
        for (const struct tool_option *o = lists[i]; o && o->name && n < 128; o++)
            names[n++] = arena_printf(p->c->arena, "--%s", o->name);
    enum err_code code =
        err_fail(e, ERR_INPUT, "'eqloom%s%s' has no option %.100s", command ? " " : "", of, shown);
    err_hint(e, "see 'eqloom %s%s--help'", of, command ? " " : "");
    return err_suggest(code, arena_printf(p->c->arena, "--%s", name), names, n, e);
}

/* `given`: the value joined to the option, or NULL. */
static enum err_code take_option(struct parser *p, const struct tool_option *o, const char *given,
                                 struct err *e)
{
    struct cli *c = p->c;
    bool optional = o->value && o->value[0] == '[';
    if (!o->value && given)
        return err_fail(e, ERR_INPUT, "--%s takes no value", o->name);
    if (o->value && !optional && !given && p->at == p->argc)
        return err_fail(e, ERR_INPUT, "--%s needs a value: --%s %s", o->name, o->name, o->value);
    if (!given)
        given = o->value && !optional ? p->argv[p->at++] : "";
    if (!strcmp(o->name, "store"))
        c->store_named = given;
    else if (!strcmp(o->name, "json"))
        c->json = true;
    else if (is_global(o) && strcmp(o->name, "color"))
        p->request = p->request ? p->request : o->name; /* --help, --version, ... */
    p->values[c->n_values++] = (struct tool_value){o->name, given};
    return OK;
}

static enum err_code read_long(struct parser *p, const char *arg, struct err *e)
{
    const char *name = arg + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct tool_option *o = find_option(p, name, len, 0);
    if (!o)
        return err_up(e, refuse_option(p, arg, arena_strndup(p->c->arena, name, len), e));
    return err_up(e, take_option(p, o, equals ? equals + 1 : NULL, e));
}

static enum err_code read_short(struct parser *p, const char *arg, struct err *e)
{
    for (const char *s = arg + 1; *s; s++) {
        const struct tool_option *o = find_option(p, NULL, 0, *s);
        const char shown[] = {'-', *s, 0};
        if (!o)
            return err_up(e, refuse_option(p, shown, shown, e));
        enum err_code code = take_option(p, o, o->value && s[1] ? s + 1 : NULL, e);
        if (code || o->value)
            return err_up(e, code);
    }
    return OK;
}

enum err_code cli_find_command(const struct cli_command **out, const struct cli *c,
                               const char *name, struct err *e)
{
    const char **names = arena_array(c->arena, const char *, c->n_commands);
    for (size_t i = 0; i < c->n_commands; i++) {
        names[i] = c->commands[i].name;
        if (!strcmp(names[i], name)) {
            *out = &c->commands[i];
            return OK;
        }
    }
    enum err_code code = err_fail(e, ERR_INPUT, "there is no command '%.100s'", name);
    err_hint(e, "'eqloom --help' lists them");
    return err_suggest(code, name, names, c->n_commands, e);
}

static enum err_code read_command(struct parser *p, const char *name, struct err *e)
{
    if (strcmp(name, "help") && strcmp(name, "version"))
        return err_up(e, cli_find_command(&p->c->command, p->c, name, e));
    p->request = name;
    p->only_arguments = true;
    return OK;
}

static enum err_code choose_color(struct cli *c, struct err *e)
{
    const char *when = cli_value(c, "color"), *no = getenv("NO_COLOR");
    if (!when || !strcmp(when, "auto"))
        c->color = !(no && *no) && terminal_is(c->narration);
    else if (!strcmp(when, "always") || !strcmp(when, "never"))
        c->color = !strcmp(when, "always");
    else
        return err_fail(e, ERR_INPUT, "--color takes auto, always or never, not '%.40s'", when);
    return OK;
}

static enum err_code check_count(const struct cli *c, struct err *e)
{
    const struct cli_command *command = c->command;
    if (c->n_arguments >= command->min_arguments && c->n_arguments <= command->max_arguments)
        return OK;
    enum err_code code =
        c->n_arguments > command->max_arguments
            ? err_fail(e, ERR_INPUT, "'%.100s' is one argument too many",
                       c->arguments[command->max_arguments])
            : err_fail(e, ERR_INPUT, "'eqloom %s' needs more arguments", command->name);
    err_hint(e, "usage: eqloom %s %s", command->name, command->arguments);
    return code;
}

/* Arguments of tools may be expressions, which can begin with a minus. So only a single letter (-k
 * 5) or a letter before a number (-k5) is an option. */
static bool is_short_of_tool(const struct parser *p, const char *arg)
{
    bool alone = !arg[2] || arg[2 + strspn(arg + 2, "0123456789")] == '\0';
    return alone && find_option(p, NULL, 0, arg[1]);
}

static enum err_code read_words(struct parser *p, struct err *e)
{
    struct cli *c = p->c;
    while (p->at < p->argc) {
        const char *arg = p->argv[p->at++];
        enum err_code code = OK;
        if (p->only_arguments || arg[0] != '-' || !arg[1]) {
            if (c->command || p->request)
                p->arguments[c->n_arguments++] = arg;
            else
                code = read_command(p, arg, e);
        } else if (!strcmp(arg, "--")) {
            p->only_arguments = true;
        } else if (arg[1] == '-') {
            code = read_long(p, arg, e);
        } else if (c->command && c->command->tool && !is_short_of_tool(p, arg)) {
            p->arguments[c->n_arguments++] = arg; /* an expression: -1, -x */
        } else {
            code = read_short(p, arg, e);
        }
        if (code)
            return err_up(e, code);
    }
    return OK;
}

enum err_code cli_parse(struct cli *c, const char **request, int argc, char **argv, struct err *e)
{
    struct parser p = {.c = c, .argv = argv, .argc = argc, .at = 1};
    p.arguments = arena_array(c->arena, const char *, (size_t)argc + 1);
    /* Flags may be joined: at most one value for each letter. */
    size_t letters = 0;
    for (int i = 1; i < argc; i++)
        letters += strlen(argv[i]) + 1;
    p.values = arena_array(c->arena, struct tool_value, letters + 1);
    c->arguments = p.arguments;
    c->values = p.values;
    const char *store = getenv("EQLOOM_STORE");
    c->store_named = store && *store ? store : NULL;
    enum err_code code = read_words(&p, e);
    *request = p.request;
    if (code || (code = choose_color(c, e)))
        return err_up(e, code);
    if (!c->command && !p.request) {
        code = err_fail(e, ERR_INPUT, "eqloom needs a command");
        err_hint(e, "'eqloom --help' lists them");
        return code;
    }
    return p.request ? OK : err_up(e, check_count(c, e));
}

bool cli_flag(const struct cli *c, const char *option)
{
    return cli_value(c, option) != NULL;
}

const char *cli_value(const struct cli *c, const char *option)
{
    for (size_t i = c->n_values; i-- > 0;)
        if (!strcmp(c->values[i].option, option))
            return c->values[i].value;
    return NULL;
}

size_t cli_values(const char *const **out, const struct cli *c, const char *option)
{
    const char **values = arena_array(c->arena, const char *, c->n_values);
    size_t n = 0;
    for (size_t i = 0; i < c->n_values; i++)
        if (!strcmp(c->values[i].option, option))
            values[n++] = c->values[i].value;
    *out = values;
    return n;
}

enum err_code cli_number(uint64_t *out, const struct cli *c, const char *option, uint64_t fallback,
                         uint64_t min, uint64_t max, struct err *e)
{
    const char *text = cli_value(c, option);
    *out = fallback;
    if (!text)
        return OK;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || *out < min || *out > max)
        return err_fail(e, ERR_INPUT,
                        "--%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%.40s'", option,
                        min, max, text);
    return OK;
}

int cli_exit_status(enum err_code code)
{
    switch (code) {
    case OK: return CLI_DONE;
    case ERR_INPUT:
    case ERR_NOTFOUND:
    case ERR_AMBIGUOUS: return CLI_USAGE;
    case ERR_CANCELLED: return CLI_INTERRUPTED;
    case ERR_CORRUPT:
    case ERR_IO:
    case ERR_BUSY:
    case ERR_LIMIT:
    case ERR_NOMEM:
    case ERR_UNSUPPORTED:
    case ERR_FAILED: break;
    }
    return CLI_FAILED;
}
